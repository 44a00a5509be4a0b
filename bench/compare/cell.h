#ifndef SHOAL_BENCH_COMPARE_CELL_H_
#define SHOAL_BENCH_COMPARE_CELL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/sample_work.h"

namespace shoal {

// What `shoal bench compare` measured, as in its compare.json
// (docs/comparing.md; comparison_json.h reads and writes it). The members have
// the names of the keys. Every figure of a dilated lab is multiplied back: it
// is that of the cluster that was played. std::nullopt is a figure that is not
// known, as those of loss and processor time are in a replay.
//
//   Comparison found = *ReadComparison(*files, "out/compare.json");
//   for (const Cell& cell : found.cells) {
//     if (!cell.grey.empty()) continue;  // out of verdicts, and why
//     for (const CellRun& run : cell.runs) … run.samples_per_second …
//   }

// Bytes that all processes of a role send and receive, a sample.
struct RoleBytes {
  double worker_sent = 0;
  double worker_received = 0;
  double ps_sent = 0;
  double ps_received = 0;
};

// A figure of the workers and one of the servers: seconds of processor time a
// sample, or bytes.
struct RoleFigures {
  double worker = 0;
  double ps = 0;
};

// Times of a worker's step, from the end of a batch to the end of the next, in
// seconds, of all workers after the warm-up.
struct RunSteps {
  uint64_t count = 0;
  double mean = 0;
  double deviation = 0;
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
};

// Numbers of pushes between a pull and its push.
struct RunStaleness {
  double mean = 0;
  double p50 = 0;
  double p99 = 0;
  double max = 0;
};

struct RunCurvePoint {
  double seconds = 0;  // since the first data
  uint64_t samples = 0;
  std::optional<double> loss;
  std::optional<double> auc;  // progressive
};

struct RunBalance {
  double max_over_mean_bytes = 1;  // of the shards
};

// One run of a cell.
struct CellRun {
  int repeat = 0;  // from 0
  bool ok = false;
  std::string error;   // why it is not
  double seconds = 0;  // wall time, from the first data to the end
  // A bare stream over a link just before the run, that of the link with the
  // largest error, and what it has to reach; nullopt: the links have no limit,
  // or there are none.
  std::optional<double> link_bits_per_second;
  std::optional<double> link_expected;
  // Cores that other programs used meanwhile; 0 on real hosts, which are not
  // watched.
  double others_cores = 0;
  // Speed of its hosts, which a lab pauses, as a share of one that is never
  // paused: they had 1 / this times the processor time, as far as the machine
  // has it (SharesOf). 1: they were not paused, or pauses are not made up for
  // (bench/compare/pause_meter.h).
  double paused_speed = 1;
  // False: it could not be measured, and is a guess, so the run does not count.
  bool paused_speed_known = true;
  std::optional<double> samples_per_second;
  // Of a host that is never paused: measured × paused_speed.
  std::optional<RoleFigures> cpu_seconds_per_sample;
  std::optional<RoleBytes> bytes_per_sample;
  // Shares of the workers' steady time by state ("compute", "wait_pull", …);
  // the sum is 1. Empty: not known.
  std::map<std::string, double> state_shares;
  std::optional<RunSteps> step_seconds;
  std::optional<RunStaleness> staleness;
  // Largest resident set of a process of each role.
  std::optional<RoleFigures> peak_rss_bytes;
  std::optional<RunBalance> balance;
  std::vector<RunCurvePoint> curve;  // empty in a replay
  std::optional<double> auc;      // of the final model
  std::optional<double> logloss;
  std::optional<double> seconds_to_target;  // nullopt: it was not reached
  std::optional<double> epoch_seconds;
};

// A host that computes slower than the others.
struct Straggler {
  int host = 0;      // from 0
  double share = 1;  // of the speed of the others, above 0 and at most 1
};

// The values of Cell::compute.
inline constexpr char kComputed[] = "computed";
inline constexpr char kReplayed[] = "replayed";

// The values of Cell::dilation_verdict: the samples/s are as many, differ but
// with spreads that overlap, or differ; or a try failed.
inline constexpr char kNotTried[] = "not_tried";
inline constexpr char kTriedSame[] = "same";
inline constexpr char kTriedWithinSpread[] = "within_spread";
inline constexpr char kTriedDiffers[] = "differs";
inline constexpr char kTriedFailed[] = "failed";

// A job that is measured: mode × hosts × batch × network × model.
struct Cell {
  std::string name;  // "A_async_h2_b1024_1gbit"
  std::string model;
  std::string mode;  // as --mode
  int hosts = 1;
  int batch_size = 1024;    // of one worker, in force
  int global_batch = 1024;  // of all workers
  double learning_rate = 0;
  std::string network = "none";  // as it was given
  double bits_per_second = 0;    // of each link; 0: not limited
  double cores_per_host = 1;     // 0: not known, as over loopback
  // "computed": it trained. "replayed": the computation was played by recorded
  // times, so there is no loss, AUC nor processor time.
  std::string compute = kComputed;
  int backup_workers = 0;
  int ssp_bound = 0;
  std::optional<Straggler> straggler;
  double dilation = 1;  // 1 unless in a lab
  // By which share the samples/s of its mode on so many hosts differed when
  // they were tried at twice the dilation (-0.03: 3 % fewer). nullopt: that was
  // not tried.
  std::optional<double> dilation_difference;
  // What these tries say of all cells of the mode on so many hosts; kNotTried
  // also in files of older versions.
  std::string dilation_verdict = kNotTried;
  std::string grey;     // why the cell is out of verdicts; "": it is not
  std::optional<RoleBytes> formula;  // of bytes a sample
  std::vector<CellRun> runs;         // by repeat

  bool replayed() const { return compute == kReplayed; }
};

// The distinct ids among so many samples in a row of the data.
struct IdCount {
  double samples = 0;
  double ids = 0;
};

struct ComparedModel {
  std::map<std::string, std::string> flags;
  uint64_t dense_bytes = 0;      // of all dense variables
  uint64_t row_bytes = 0;        // of a table row's weights
  double flop_per_sample = 0;    // of the plain network's products
  // All tables with their optimizer state; 0: not known, as with tables that
  // grow.
  uint64_t table_bytes = 0;
  SampleWork work;  // all 0: not known, as in files of older versions
  // Of 1, 2, 4, … batches, ascending; empty: not known.
  std::vector<IdCount> distinct_ids;
};

struct ComparedData {
  uint64_t rows = 0;  // 0: not known
  uint64_t files = 0;
};

// The time of one AllReduce by itself (`shoal bench allreduce`).
struct CollectivePoint {
  std::string network;  // as in the cells
  int ranks = 0;        // one on each host
  uint64_t bytes = 0;
  double seconds = 0;
};

// A mode that is behind the first one of a verdict.
struct ModeBehind {
  std::string mode;
  // As long as the first one takes; nullopt: it did not reach the target in
  // every run.
  std::optional<double> times;
};

// What a comparison says about the cells that are alike but for the mode: one
// model, network, number of hosts and batch, all computed or all replayed, and
// all with the same straggler or none.
struct ModeVerdict {
  std::string network;
  int hosts = 0;
  std::string model;
  int batch_size = 0;  // of one worker; 0: not known
  std::string compute = kComputed;  // or kReplayed
  std::optional<Straggler> straggler;
  // Modes are words: "sync+1" with a backup worker. All lists are empty in
  // files of older versions.
  std::string best;  // "": there is no difference, or no measurement
  std::vector<std::string> first;  // the first one, and those level with it
  std::vector<ModeBehind> behind;  // the best first
  std::vector<std::string> out;    // those that are grey or have no speed
  // Lines: what was decided; each mode that counts, the best first; what is
  // predicted; notes.
  std::string text;
  // Predicted, not measured: from which bandwidth on another mode would be
  // faster than the best one. "": nothing is predicted.
  std::string turn;
  std::string no_turn;  // why of some modes or of all nothing is predicted
  std::string rule;     // how `best` was decided
};

struct Comparison {
  std::string command;
  std::string cpu;
  int cores = 0;  // of this machine
  uint64_t memory_bytes = 0;
  std::string version;
  std::string started;  // ISO 8601
  std::string ended;    // empty: it was stopped
  std::string where = "loopback";  // or "lab" or "hosts"
  double dilation = 1;             // the largest of its cells
  std::string equal_batch = "rank";  // or "global"
  std::optional<double> target_auc;
  std::optional<double> price_per_host_hour;
  int repeats = 1;
  std::map<std::string, ComparedModel> models;
  ComparedData data;
  std::vector<std::string> not_played;
  std::vector<Cell> cells;
  std::vector<CollectivePoint> collective;
  // Where AllReduce was not measured by itself, or was disturbed, and why.
  std::vector<std::string> collective_notes;
  std::vector<ModeVerdict> verdicts;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_H_
