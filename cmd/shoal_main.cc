#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cmd/own_terminal.h"
#include "cmd/process_setup.h"
#include "cmd/subcommand.h"
#include "cmd/version.h"
#include "job/exit_code.h"
#include "launch/edit_distance.h"

namespace shoal {
namespace {

struct Subcommand {
  const char* name;  // one word or two
  const char* about;
  int (*run)(const Args& args);
};

constexpr Subcommand kSubcommands[] = {
    {"train", "Train a model in one process.", TrainCommand},
    {"run", "Train a model with servers and workers, on one or more hosts.",
     RunCommand},
    {"eval", "Evaluate a checkpoint in one process.", EvalCommand},
    {"infer", "Write the predictions of a checkpoint, in one process.",
     InferCommand},
    {"plan", "Predict the speed of each mode on a cluster.", PlanCommand},
    {"token", "Make a file with a new secret for a job on several hosts.",
     TokenCommand},
    {"ckpt save", "Ask a running job to save a checkpoint now.",
     CkptSaveCommand},
    {"bench compare",
     "Compare modes, numbers of hosts and networks by one job.",
     BenchCompareCommand},
    {"bench report", "Write the report of a comparison again.",
     BenchReportCommand},
    {"bench allreduce",
     "Measure the network between hosts by the AllReduce of a ring.",
     BenchAllReduceCommand},
    {"data gen", "Write synthetic data for experiments.", DataGenCommand},
    {"data prepare", "Turn raw Criteo files into examples to train on.",
     DataPrepareCommand},
    {"data stat", "Print statistics of data files.", DataStatCommand},
    {"ckpt ls", "List the checkpoints of a model directory.", CkptLsCommand},
    {"ckpt show", "Show the variables and files of a checkpoint.",
     CkptShowCommand},
    {"ckpt balance", "Show how evenly a checkpoint is spread.",
     CkptBalanceCommand},
    {"ckpt verify", "Read all of a checkpoint and report damage.",
     CkptVerifyCommand},
};

std::string HelpText() {
  std::string text =
      "Shoal trains click-through-rate models with parameter servers.\n\n"
         "Usage: shoal SUBCOMMAND [--flag=value ...]\n\n";
  for (const Subcommand& subcommand : kSubcommands) {
    absl::StrAppendFormat(&text, "  shoal %-15s %s\n", subcommand.name,
                          subcommand.about);
  }
  absl::StrAppend(
      &text,
      "\n`shoal SUBCOMMAND --help` lists its flags. A host of a cluster "
         "runs\n`shoal-ps` and `shoal-worker`; see their --help. `shoal "
         "--version` prints the version.\n");
  return text;
}

// Removes the words of `name` from the front of *args, if it begins with them.
bool TakeName(const char* name, Args* args) {
  const Args words = absl::StrSplit(name, ' ');
  if (args->size() < words.size() ||
      !std::equal(words.begin(), words.end(), args->begin())) {
    return false;
  }
  args->erase(args->begin(), args->begin() + words.size());
  return true;
}

// What may be typed in place of words that are no subcommand: those that follow
// the first word, or the nearest name; "" if nothing is near.
std::string Instead(const std::string& wanted) {
  std::vector<std::string> names;
  std::vector<std::string> second;  // words that follow `wanted`
  for (const Subcommand& subcommand : kSubcommands) {
    names.push_back(subcommand.name);
    absl::string_view rest = subcommand.name;
    if (absl::ConsumePrefix(&rest, absl::StrCat(wanted, " "))) {
      second.emplace_back(rest);
    }
  }
  if (!second.empty()) {
    return absl::StrCat("a word must follow: ", absl::StrJoin(second, ", "));
  }
  const std::string nearest = NearestName(wanted, names);
  return nearest.empty()
             ? nearest
             : absl::StrCat("did you mean 'shoal ", nearest, "'?");
}

int Unknown(const Args& args) {
  std::string wanted = args[0];
  if ((wanted == "data" || wanted == "ckpt" || wanted == "bench") &&
      args.size() > 1) {
    absl::StrAppend(&wanted, " ", args[1]);
  }
  const std::string instead = Instead(wanted);
  // The error is the last line, which does not scroll away.
  std::cerr << HelpText() << "\nshoal: there is no subcommand '" << wanted
            << "'" << (instead.empty() ? "" : "; ") << instead << "\n";
  return kExitUsage;
}

int Main(Args args) {
  if (args.empty()) {
    std::cerr << HelpText();
    return kExitUsage;
  }
  if (args[0] == "--help" || args[0] == "-h" || args[0] == "help") {
    return PrintResult("shoal", HelpText());
  }
  if (const auto exit = PrintVersion(args, "shoal")) return *exit;
  for (const Subcommand& subcommand : kSubcommands) {
    if (TakeName(subcommand.name, &args)) return subcommand.run(args);
  }
  return Unknown(args);
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::SetUpProcess();
  return shoal::Main(shoal::Args(argv + 1, argv + argc));
}
