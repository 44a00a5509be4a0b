// shoal ckpt balance: how evenly a checkpoint lies on its servers.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/json_writer.h"
#include "cmd/ckpt_report.h"
#include "partitioner/balance.h"
#include "partitioner/round_robin.h"
#include "report/number_text.h"

namespace shoal {
namespace {

constexpr int kBarColumns = 50;
// Look-ups are uneven from this ratio of the largest shard to the mean. Bytes
// are uneven if, in addition, the fullest shard holds this many bytes more than
// the mean: dense blocks are not cut finer than 64 KiB, and no host lacks
// memory for that.
constexpr double kUneven = 1.1;
constexpr uint64_t kUnevenBytes = 1 << 20;

BalanceReport MeasuredBalance(const Manifest& manifest) {
  BalanceReport report;
  for (const ShardEntry& shard : manifest.shards) {
    report.push_back({shard.bytes(), shard.rows, shard.lookups});
  }
  return report;
}

double Skew(const std::vector<uint64_t>& values) {
  BalanceReport report;
  for (const uint64_t value : values) report.push_back({value, 0, 0});
  return BytesSkew(report);
}

std::vector<uint64_t> BytesOf(const BalanceReport& report) {
  std::vector<uint64_t> bytes;
  for (const ShardLoad& load : report) bytes.push_back(load.bytes);
  return bytes;
}

// The bytes and look-ups of one variable, by shard.
struct VariableLoads {
  std::string name;
  std::vector<uint64_t> bytes;
  std::vector<uint64_t> lookups;
};

std::vector<VariableLoads> LoadsByVariable(const Manifest& manifest) {
  std::vector<VariableLoads> all;
  const size_t n = manifest.shards.size();
  for (size_t s = 0; s < n; ++s) {
    for (const SavedVariable& variable : manifest.shards[s].variables) {
      auto it = std::find_if(
          all.begin(), all.end(),
          [&](const VariableLoads& v) { return v.name == variable.name; });
      if (it == all.end()) {
        all.push_back({variable.name, std::vector<uint64_t>(n),
                       std::vector<uint64_t>(n)});
        it = all.end() - 1;
      }
      it->bytes[s] += variable.bytes;
      it->lookups[s] += variable.lookups;
    }
  }
  return all;
}

// A bar whose length is `value` relative to `most`, and the share of `value` in
// `all`.
std::string Bar(const char* what, uint64_t value, uint64_t most, uint64_t all,
                const std::string& text) {
  const double part =
      most == 0 ? 0 : static_cast<double>(value) / static_cast<double>(most);
  const int length = static_cast<int>(part * kBarColumns + 0.5);
  return absl::StrFormat(
      "  %-9s %-*s %5.1f %%  %s\n", what, kBarColumns, std::string(length, '#'),
      all == 0 ? 0
               : 100 * static_cast<double>(value) / static_cast<double>(all),
      text);
}

std::string BarPicture(const BalanceReport& report) {
  ShardLoad most;
  ShardLoad all;
  for (const ShardLoad& load : report) {
    most.bytes = std::max(most.bytes, load.bytes);
    most.lookups = std::max(most.lookups, load.lookups);
    all.bytes += load.bytes;
    all.lookups += load.lookups;
  }
  std::string text;
  for (size_t s = 0; s < report.size(); ++s) {
    absl::StrAppend(&text, "shard ", s, "\n");
    text += Bar("bytes", report[s].bytes, most.bytes, all.bytes,
                MegabytesText(report[s].bytes));
    text += Bar("look-ups", report[s].lookups, most.lookups, all.lookups,
                WithCommas(report[s].lookups));
  }
  return text;
}

// "128.0 + 14.8 MB, max/mean 1.793".
std::string SizesText(const std::vector<uint64_t>& bytes) {
  const uint64_t most = *std::max_element(bytes.begin(), bytes.end());
  const bool megabytes = most >= 100'000;
  return absl::StrFormat(
      "%s %s, max/mean %.3f",
      absl::StrJoin(bytes, " + ",
                    [megabytes](std::string* out, uint64_t b) {
                      absl::StrAppendFormat(
                          out, "%.1f",
                          static_cast<double>(b) / (megabytes ? 1e6 : 1e3));
                    }),
      megabytes ? "MB" : "kB", Skew(bytes));
}

// Bytes by shard of the model with every row of its arrays: as the checkpoint
// places them, and with whole variables placed round-robin.
struct Placements {
  std::vector<uint64_t> ours;
  std::vector<uint64_t> round_robin;
};
Placements ComparePlacements(const Manifest& manifest) {
  return {
      BytesOf(PlanBalance(manifest.model, manifest.map)),
      RoundRobinBytes(WholeVariables(manifest.model), manifest.map.num_shards)};
}

bool PartitionedAs(const Manifest& manifest, PartitionKind kind) {
  return std::any_of(
      manifest.map.tables.begin(), manifest.map.tables.end(),
      [kind](const TablePartition& table) { return table.kind == kind; });
}

bool BytesAreUneven(const BalanceReport& report) {
  uint64_t most = 0;
  uint64_t all = 0;
  for (const ShardLoad& load : report) {
    most = std::max(most, load.bytes);
    all += load.bytes;
  }
  return BytesSkew(report) >= kUneven &&
         most - all / report.size() >= kUnevenBytes;
}

// The findings in the figures, as sentences.
std::string Findings(const Manifest& manifest, const BalanceReport& report) {
  std::string text;
  const auto most = std::max_element(
      report.begin(), report.end(), [](const ShardLoad& a, const ShardLoad& b) {
        return a.lookups < b.lookups;
      });
  if (BytesAreUneven(report)) {
    absl::StrAppendFormat(
        &text, "bytes are uneven: the fullest shard holds %.2f x the mean\n",
        BytesSkew(report));
  }
  if (LookupsSkew(report) >= kUneven) {
    absl::StrAppendFormat(
        &text,
        "look-ups are uneven: shard %d serves %.2f x the mean, and a job waits "
        "for it%s\n",
        most - report.begin(), LookupsSkew(report),
        PartitionedAs(manifest, PartitionKind::kFixedSize)
            ? ": the ids that are looked up most are neighbours; a new "
              "training with --partition=mod deals them out"
            : "");
  }
  if (text.empty()) text = "bytes and look-ups are even\n";
  return text;
}

}  // namespace

std::string CkptBalanceText(const CheckpointInfo& info) {
  const Manifest& manifest = info.manifest;
  const BalanceReport report = MeasuredBalance(manifest);
  std::string text =
      absl::StrFormat("%s, step %s, %s\n\n%s\n%s\n", info.path,
                      WithCommas(manifest.step),
                      Counted(manifest.map.num_shards, "shard"),
                      FormatBalance(report), BarPicture(report));
  absl::StrAppendFormat(&text, "%-24s %10s %16s   %s\n", "variable", "size",
                        "look-ups", "max/mean of bytes, of look-ups");
  for (const VariableLoads& variable : LoadsByVariable(manifest)) {
    uint64_t bytes = 0;
    uint64_t lookups = 0;
    for (const uint64_t b : variable.bytes) bytes += b;
    for (const uint64_t l : variable.lookups) lookups += l;
    absl::StrAppendFormat(&text, "%-24s %10s %16s   %.3f  %.3f\n",
                          variable.name, MegabytesText(bytes),
                          WithCommas(lookups), Skew(variable.bytes),
                          Skew(variable.lookups));
  }
  const Placements placements = ComparePlacements(manifest);
  absl::StrAppend(
      &text, "\nwith every row of the arrays in existence\n  as placed here   ",
      SizesText(placements.ours), "\n  round_robin      ",
      SizesText(placements.round_robin),
      " (whole variables in turn, as TensorFlow without a partitioner)\n\n",
      Findings(manifest, report));
  return text;
}

std::string CkptBalanceJson(const CheckpointInfo& info) {
  const Manifest& manifest = info.manifest;
  const BalanceReport report = MeasuredBalance(manifest);
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented, /*ascii=*/true);
  w.BeginObject().Field("path", info.path).Field("step", manifest.step);
  w.Key("shards").BeginArray();
  for (size_t s = 0; s < report.size(); ++s) {
    w.BeginObject().Field("shard", s).Field("bytes", report[s].bytes);
    w.Field("rows", report[s].rows).Field("lookups", report[s].lookups);
    w.EndObject();
  }
  w.EndArray().Key("max_over_mean").BeginObject();
  w.Field("bytes", BytesSkew(report)).Field("rows", RowsSkew(report));
  w.Field("lookups", LookupsSkew(report)).EndObject();
  w.Key("variables").BeginArray();
  for (const VariableLoads& variable : LoadsByVariable(manifest)) {
    w.BeginObject().Field("name", variable.name);
    w.Key("bytes").Values(variable.bytes);
    w.Key("lookups").Values(variable.lookups).EndObject();
  }
  w.EndArray();
  const Placements placements = ComparePlacements(manifest);
  w.Key("planned_bytes").BeginObject();
  w.Key("as_placed").Values(placements.ours);
  w.Key("round_robin").Values(placements.round_robin).EndObject();
  w.EndObject();
  return text + "\n";
}

}  // namespace shoal
