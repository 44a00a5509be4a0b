#include "bench/compare/asked_comparison.h"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/counted.h"
#include "base/cpu_name.h"
#include "base/host_memory.h"
#include "base/status_macros.h"
#include "bench/compare/cell_flags.h"
#include "bench/compare/known_data.h"
#include "bench/compare/not_played.h"
#include "job/data_sources.h"
#include "launch/ssh_command.h"

namespace shoal {
namespace {

uint64_t BytesOf(const std::vector<LocalSource>& sources) {
  uint64_t bytes = 0;
  for (const LocalSource& source : sources) {
    bytes += static_cast<uint64_t>(source.info.size);
  }
  return bytes;
}

// Those of other hosts are not known here.
bool KnowsTheData(const AskedComparison& asked) {
  return asked.flags.on.empty() && !asked.training.empty();
}

std::map<std::string, FlagMap> JobsByModel(const AskedComparison& asked) {
  std::map<std::string, FlagMap> jobs;
  for (const auto& [name, model] : asked.models) jobs[name] = model.flags;
  return jobs;
}

std::string CommandText(const std::vector<std::string>& args) {
  return absl::StrCat(
      "shoal bench compare ",
      absl::StrJoin(args, " ", [](std::string* out, const std::string& arg) {
        const bool plain =
            arg.find_first_of(" ;'\"*?$<>&|()") == std::string::npos;
        absl::StrAppend(out, plain ? arg : ShellQuote(arg));
      }));
}

// Epochs in which a job reads more than it can within a run: 20 GB, or as many
// as the coordinator keeps account of without large tables. Other hosts are
// taken to have the data that this one has.
int ManyEpochs(const std::vector<LocalSource>& training) {
  constexpr double kBytes = 20e9;
  if (training.empty()) return 100;
  const auto bytes = static_cast<double>(BytesOf(training));
  return static_cast<int>(
      std::clamp(kBytes / std::max(1.0, bytes), 1.0, 10000.0));
}

}  // namespace

absl::Status CompleteAsked(const FlagSet& set, const FlagSet& job_set,
                           const FileSystem& files, AskedComparison* asked) {
  SHOAL_RETURN_IF_ERROR(CompleteCompareFlags(set, &asked->flags));
  FlagMap job;
  for (const auto& [name, value] : job_set.Given()) job[name] = value;
  job.erase("print_config");
  SHOAL_RETURN_IF_ERROR(CheckJobFlags(job));
  job.merge(ModeFlagsOf(set));
  SHOAL_ASSIGN_OR_RETURN(asked->models, ModelJobs(asked->flags.models, job,
                                                  asked->job.model.model));
  asked->cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  SHOAL_ASSIGN_OR_RETURN(asked->cells,
                         CellsOf(asked->flags, asked->models, asked->cores));
  auto sources = SourcesFromFlags(files, asked->job);
  if (sources.ok()) asked->training = std::move(sources->train);
  return absl::OkStatus();
}

std::string UnusedFlagsText(const AskedComparison& asked) {
  if (asked.flags.cell_time == absl::ZeroDuration()) return "";
  std::vector<std::string> unused;
  for (const char* flag : kUnusedIfStopped) {
    if (absl::c_any_of(asked.models, [flag](const auto& model) {
          return model.second.flags.count(flag) > 0;
        })) {
      unused.push_back(absl::StrCat("--", flag));
    }
  }
  if (unused.empty()) return "";
  return absl::StrCat(
      absl::StrJoin(unused, ", "), unused.size() == 1 ? " does" : " do",
      " nothing: each run reads the data over and over and is stopped after "
      "--cell_time; with --target_auc or --cell_time=0 it ends by itself");
}

Comparison ComparisonBefore(const AskedComparison& asked,
                            const std::vector<std::string>& args,
                            const std::string& version,
                            const FileSystem& files) {
  const CompareFlags& flags = asked.flags;
  Comparison before;
  before.command = CommandText(args);
  before.cpu = CpuName();
  before.cores = asked.cores;
  before.memory_bytes = ReadHostMemory().total_bytes;
  before.version = version;
  before.where = WhereOf(flags);
  for (const Cell& cell : asked.cells) {
    before.dilation = std::max(before.dilation, cell.dilation);
  }
  before.equal_batch = flags.equal_global_batch ? "global" : "rank";
  if (flags.target_auc > 0) before.target_auc = flags.target_auc;
  if (flags.price > 0) before.price_per_host_hour = flags.price;
  before.repeats = flags.repeats;
  before.not_played = NotPlayed(before.where, asked.cells);
  before.cells = asked.cells;
  if (KnowsTheData(asked)) {
    std::vector<std::string> paths;
    for (const LocalSource& source : asked.training) {
      paths.push_back(source.path);
    }
    before.data = KnownData(files, paths);
  }
  return before;
}

std::string CommonSettings(const AskedComparison& asked,
                           const std::string& version) {
  const std::string data =
      KnowsTheData(asked)
          ? absl::StrCat(Counted(asked.training.size(), "file"), " of ",
                         BytesOf(asked.training), " bytes")
          : "not known";
  const std::vector<std::string> lines = {
      absl::StrCat("version=", version),
      absl::StrCat("data=", data),
      absl::StrCat("cpu=", CpuName()),
      absl::StrCat("cores=", asked.cores),
      absl::StrCat("where=", WhereOf(asked.flags)),
      absl::StrCat("on=", asked.flags.on),
      absl::StrCat("cell_time=", absl::FormatDuration(asked.flags.cell_time)),
      absl::StrCat("target_auc=", asked.flags.target_auc),
      absl::StrCat("make_up_pauses=", asked.flags.make_up_pauses),
      absl::StrCat("vary_seed=", asked.flags.vary_seed)};
  return absl::StrJoin(lines, "\n");
}

std::string ModelSettings(const std::string& name, const ModelJob& model) {
  std::string lines;
  for (const auto& [flag, value] : model.flags) {
    absl::StrAppend(&lines, "\n", name, ": ", flag, "=", value);
  }
  return lines;
}

CellRunnerOptions RunnerOptions(const AskedComparison& asked,
                                const FileSystem* files) {
  CellRunnerOptions options;
  CellLauncherOptions* const launcher = &options.launcher;
  launcher->where = WhereOf(asked.flags);
  if (!asked.flags.on.empty()) {
    launcher->on = absl::StrSplit(asked.flags.on, ',');
  }
  launcher->job = JobsByModel(asked);
  launcher->deadlines = asked.job.deadlines;
  launcher->cores = asked.cores;
  launcher->out = asked.flags.out;
  launcher->files = files;
  options.cell_time = asked.flags.cell_time;
  options.many_epochs = ManyEpochs(asked.training);
  if (asked.flags.target_auc > 0) options.target_auc = asked.flags.target_auc;
  if (asked.flags.vary_seed) options.first_seed = asked.job.model.seed;
  return options;
}

CellRunnerOptions MeterRunnerOptions(const AskedComparison& asked,
                                     const FileSystem* files) {
  CellRunnerOptions options = RunnerOptions(asked, files);
  constexpr absl::Duration kTime = absl::Seconds(4);
  const bool timed = options.cell_time > absl::ZeroDuration();
  options.cell_time = timed ? std::min(options.cell_time, kTime) : kTime;
  options.target_auc.reset();
  options.first_seed.reset();
  return options;
}

int MeterPairs(const CompareFlags& flags) { return flags.quick ? 1 : 4; }

ModelFactsOptions FactsOptions(const AskedComparison& asked,
                               const FileSystem* files) {
  ModelFactsOptions options;
  options.job = JobsByModel(asked);
  options.data_are_here = asked.flags.on.empty();
  options.files = files;
  return options;
}

}  // namespace shoal
