#include "bench/compare/compare_flags.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "bench/compare/dilation.h"
#include "core/choice.h"
#include "launch/choice.h"

namespace shoal {
namespace {

// Flags of the comparison that the jobs of some modes have under the same name.
constexpr absl::string_view kModeFlags[] = {"reduction", "bucket_bytes"};

constexpr Choice<bool> kEqualBatches[] = {
    {false, "rank", "each worker has this batch, so more workers have a larger "
                    "global one"},
    {true, "global", "all workers together have this batch"}};

void AddGrid(CompareFlags* flags, FlagSet* set) {
  set->Group("Cells");
  set->Add({"modes", &flags->modes,
            "Modes to compare, separated by commas; sync+1 is sync with one "
            "backup worker."});
  set->Add({"ssp_bound", &flags->ssp_bound,
            "Number of steps that a worker may be ahead of the slowest one in "
            "mode ssp.",
            IntRange{0, 1 << 20}});
  set->Add({"reduction", ChoiceTarget(&flags->reduction, kReductions),
            absl::StrCat("Sum of the dense gradient in modes ring and hybrid: ",
                         ChoiceHelp(kReductions), ".")});
  set->Add({"bucket_bytes", &flags->bucket_bytes,
            "Size in bytes of the parts in which modes ring and hybrid add up "
            "the dense gradient.",
            ByteRange{4096, int64_t{1} << 30}});
  set->Add({"hosts", &flags->hosts,
            "Numbers of hosts, separated by commas. Each host has one worker "
            "and, in modes with servers, one parameter server.",
            IntRange{1, 250}});
  set->Add({"batch_sizes", &flags->batch_sizes,
            "Batch sizes, separated by commas.", IntRange{1, 1 << 24}});
  set->Add({"equal_batch",
            ChoiceTarget(&flags->equal_global_batch, kEqualBatches),
            absl::StrCat("Batch that is equal on all numbers of hosts: ",
                         ChoiceHelp(kEqualBatches), ".")});
  set->Add({"networks", &flags->networks,
            "Rates of the links of a lab, separated by commas, as 1gbit, "
            "250mbit or none. With --on the one rate that the hosts' links "
            "have, for what is predicted. Left out: 1gbit,10gbit with --lab, "
            "none otherwise. A host alone has no network."});
  set->Add({"rates", &flags->rates,
            "Learning rates by mode, as async:5e-4,ring:1e-3. Other modes have "
            "--learning_rate."});
  set->Add({"models", &flags->models,
            "Several models with the job flags in which they differ, as "
            "'A:--embedding_size=16 --deep_layers=400,400,400;"
            "B:--embedding_size=32 --deep_layers=256,128,64'. Left out: the "
            "one of the job's flags."});
  set->Add({"straggler", &flags->straggler,
            "A slow host, as HOST:SHARE with a number from 0 and a share of "
            "the others' speed. Cells with the most hosts are then measured "
            "with it too."});
  set->Add({"replay_hosts", &flags->replay_hosts,
            "Number of hosts from which on cells replay recorded times.",
            IntRange{1, 1 << 20}});
}

void AddPlace(CompareFlags* flags, FlagSet* set) {
  set->Group("Place");
  set->Add({"lab", &flags->lab,
            "Play the hosts on this machine, each with a network namespace, "
            "shaped links and a share of the cores. Needs root, ip and tc."});
  set->Add({"on", &flags->on,
            "Real hosts, separated by commas, which ssh reaches as with shoal "
            "run --hosts. Left out, without --lab: processes on this host over "
            "loopback, which tells nothing of networks."});
  set->Add({"cores", &flags->cores,
            "Number of cores of each host of a lab. With --on the number that "
            "each host has, for what is predicted; left out, it is not known.",
            RealRange{.01, 1024}});
  set->Add({"dilation", &flags->dilation,
            "Dilation of a lab: the factor by which a cluster is played "
            "slower than it is. 0: the least with which the hosts of every "
            "cell have half of this machine's cores at most, and its links 2.5 "
            "Gbit/s. A cell that would have more than nine tenths of the "
            "cores, or faster links, needs a larger one.",
            RealRange{0, kDilationMost}});
  set->Add({"same_dilation", &flags->same_dilation,
            "Whether all cells that train have the dilation of the one that "
            "needs the largest, and so have all that replay. false: each cell "
            "has its own, which takes less time, but cells of different "
            "dilations are not quite comparable."});
  set->Add({"make_up_pauses", &flags->make_up_pauses,
            "Whether hosts of a lab get more processor time for what pauses "
            "cost them, which is measured from time to time."});
  set->Add(
      {"check_dilation", &flags->check_dilation,
       "Also measure each mode and number of hosts at twice the dilation. "
       "If a mode differs by more than 5 %, with spreads that do not overlap, "
       "all cells on its number of hosts that are played faster than that are "
       "measured again at twice theirs, and a mode is left out of verdicts if "
       "it differs at four times too. Left out: true with --lab, without "
       "--quick."});
}

void AddRuns(CompareFlags* flags, FlagSet* set) {
  set->Group("Runs");
  set->Add({"out",
            &flags->out,
            "Directory for the results, made if it does not exist. A "
            "comparison that was stopped goes on from what is there.",
            {},
            "the directory for the results"});
  set->Add({"repeats", &flags->repeats, "Number of runs of each cell.",
            IntRange{1, 100}});
  set->Add({"vary_seed", &flags->vary_seed,
            "Give each repeat of a cell a seed of its own, from --seed on, so "
            "that the spread of an AUC is also that of the seed."});
  set->Add(
      {"cell_time", &flags->cell_time,
       "Time after which the job of a run is stopped, counted from its "
       "first data, on this machine's clock. A slow one has up to twelve "
       "times as long, a minute, or what a host does in 10 s, whichever is "
       "longest. 0: jobs run to the end of their "
       "data and are evaluated, as they always do with "
       "--target_auc.",
       DurationRange{absl::ZeroDuration(), absl::Hours(24)}});
  set->Add({"allreduce", &flags->allreduce,
            "Also measure AllReduce by itself, as shoal bench allreduce does, "
            "once for each network and number of hosts of modes with a "
            "ring."});
  set->Add({"target_auc", &flags->target_auc,
            "Progressive AUC to reach; the mode that reaches it first is best. "
            "0: the fastest mode is.",
            RealRange{0, 1}});
  set->Add({"price", &flags->price,
            "Price of a host for an hour, for the cost of an epoch and of the "
            "target. 0: not known.",
            RealRange{0, 1e9}});
  set->Add({"retries", &flags->retries,
            "Number of times that a disturbed run is repeated.",
            IntRange{0, 100}});
  set->Add({"order_seed", &flags->order_seed,
            "Random seed for the order of the runs.",
            IntRange{0, 2'000'000'000}});
  set->Add({"quick", &flags->quick,
            "Take a quick look: one run of each cell, of 8 s and without "
            "another try, unless --repeats, --cell_time or --retries say "
            "otherwise; and a quarter as many pairs of runs to find out what "
            "pauses cost."});
}

}  // namespace

FlagSet CompareFlagSet(CompareFlags* flags) {
  FlagSet set("shoal bench compare",
              "Runs one job in several modes, on several numbers of hosts and "
              "over several networks, and says which mode is best where "
              "(docs/comparing.md). All other flags are those of the job, as "
              "for shoal run.");
  AddGrid(flags, &set);
  AddPlace(flags, &set);
  AddRuns(flags, &set);
  return set;
}

absl::Status CompleteCompareFlags(const FlagSet& set, CompareFlags* flags) {
  if (flags->lab && !flags->on.empty()) {
    return absl::InvalidArgumentError(
        "--lab plays the hosts on this machine, and --on names real ones; "
        "leave one of the two out");
  }
  if (!set.given("check_dilation")) {
    flags->check_dilation = flags->lab && !flags->quick;
  }
  if (flags->quick) {
    if (!set.given("repeats")) flags->repeats = 1;
    if (!set.given("cell_time")) flags->cell_time = absl::Seconds(8);
    if (!set.given("retries")) flags->retries = 0;
  }
  if (flags->target_auc > 0) {
    if (set.given("cell_time") && flags->cell_time > absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          "--target_auc needs jobs that run to the end of their data; leave "
          "--cell_time out");
    }
    flags->cell_time = absl::ZeroDuration();
  }
  if (flags->networks.empty()) {
    flags->networks = flags->lab ? "1gbit,10gbit" : "none";
  } else if (WhereOf(*flags) == "loopback" && flags->networks != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("--networks=", flags->networks,
                     " needs --lab or --on: loopback has no links"));
  } else if (!flags->on.empty() && absl::StrContains(flags->networks, ',')) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--networks=", flags->networks,
        ": with --on it is the rate that the hosts' links have, so give one"));
  }
  if (!flags->lab && !flags->straggler.empty()) {
    return absl::InvalidArgumentError(
        "--straggler needs --lab: only played hosts can be made slower");
  }
  if (!flags->lab && (flags->check_dilation || flags->dilation > 0)) {
    return absl::InvalidArgumentError(
        "--dilation and --check_dilation need --lab: nothing else is dilated");
  }
  for (const char* flag : {"same_dilation", "make_up_pauses"}) {
    if (!flags->lab && set.given(flag)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, " needs --lab: nothing else is dilated"));
    }
  }
  if (flags->dilation > 0 && flags->dilation < 1) {
    return absl::InvalidArgumentError(
        "--dilation must be 0 or at least 1: a cluster cannot be played faster "
        "than it is");
  }
  if (WhereOf(*flags) == "loopback" && set.given("cores")) {
    return absl::InvalidArgumentError(
        "--cores needs --lab or --on: processes over loopback share the cores "
        "of this machine");
  }
  if (!flags->lab && !set.given("cores")) flags->cores = 0;
  return absl::OkStatus();
}

FlagMap ModeFlagsOf(const FlagSet& set) {
  FlagMap flags;
  for (const auto& [name, value] : set.Given()) {
    if (absl::c_linear_search(kModeFlags, name)) flags[name] = value;
  }
  return flags;
}

std::string WhereOf(const CompareFlags& flags) {
  if (flags.lab) return "lab";
  return flags.on.empty() ? "loopback" : "hosts";
}

absl::StatusOr<std::vector<Cell>> CellsOf(
    const CompareFlags& flags, const std::map<std::string, ModelJob>& models,
    int cores) {
  GridOptions grid;
  SHOAL_ASSIGN_OR_RETURN(grid.models,
                         ParseModels(flags.models, models.begin()->first));
  for (GridModel& model : grid.models) {
    model.learning_rate = models.at(model.name).learning_rate;
  }
  SHOAL_ASSIGN_OR_RETURN(grid.modes, ParseModes(flags.modes));
  SHOAL_ASSIGN_OR_RETURN(grid.networks, ParseNetworks(flags.networks));
  SHOAL_ASSIGN_OR_RETURN(grid.rates, ParseRates(flags.rates));
  SHOAL_ASSIGN_OR_RETURN(grid.straggler, ParseStraggler(flags.straggler));
  grid.hosts = flags.hosts;
  grid.batch_sizes = flags.batch_sizes;
  grid.equal_global_batch = flags.equal_global_batch;
  grid.cores_per_host = flags.cores;
  grid.ssp_bound = flags.ssp_bound;
  grid.replay_hosts = flags.replay_hosts;
  if (grid.hosts.empty() || grid.batch_sizes.empty()) {
    return absl::InvalidArgumentError(
        "--hosts and --batch_sizes need at least one entry each");
  }
  SHOAL_ASSIGN_OR_RETURN(std::vector<Cell> cells, MakeGrid(grid));
  if (cells.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--modes=", flags.modes,
                     ": one host has no backup worker; give "
                     "--hosts with 2 or more, or a mode without one"));
  }
  if (flags.lab) Dilate({flags.dilation, flags.same_dilation}, cores, &cells);
  std::map<std::string, int> seen;
  for (const Cell& cell : cells) {
    if (++seen[cell.name] > 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the flags ask for cell ", cell.name,
          " twice; --hosts and --batch_sizes must have different entries"));
    }
  }
  return cells;
}

}  // namespace shoal
