#include "bench/compare/collective_cases.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/allreduce/bus_rate.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/dilation.h"

namespace shoal {
namespace {

// An AllReduce that takes as long is not measured, in seconds of the cluster
// that is played.
constexpr double kLongest = 2;
// Periods of a host's processor time in a turn.
constexpr int kPeriods = 12;
constexpr absl::Duration kSizeTime = absl::Seconds(1);
constexpr size_t kSettingsMost = 1 << 20;

}  // namespace

std::string CollectiveCase::name() const {
  return absl::StrCat("h", cell.hosts, "_", cell.network);
}

std::string CollectiveCase::text() const {
  return absl::StrCat(
      Counted(static_cast<uint64_t>(cell.hosts), "host"),
      cell.bits_per_second > 0 ? absl::StrCat(" over ", cell.network) : "");
}

std::vector<CollectiveCase> CollectiveCases(const std::vector<Cell>& cells) {
  std::vector<CollectiveCase> rings;
  std::set<std::string> seen;
  for (const Cell& cell : cells) {
    if (cell.hosts < 2 || cell.straggler.has_value() ||
        !ModeRowOf(cell).copies) {
      continue;
    }
    CollectiveCase ring{cell};
    if (seen.insert(ring.name()).second) rings.push_back(std::move(ring));
  }
  return rings;
}

CollectiveTurns TurnsOf(const CollectiveCase& ring, int repeats) {
  CollectiveTurns turns;
  const double bytes_per_second = ring.cell.bits_per_second / 8;
  for (const int bytes : AllReduceSizes()) {
    const double seconds =
        bytes_per_second > 0 ? 2.0 * bytes / bytes_per_second : 0;
    if (seconds < kLongest) turns.sizes.push_back(bytes);
  }
  turns.repeats = 2 * repeats + 1;
  turns.turn_time = kPeriods * ShareOf(ring.cell, /*host=*/0).period;
  turns.size_time = std::max(kSizeTime, turns.repeats * turns.turn_time);
  return turns;
}

std::vector<CollectivePoint> PointsOf(const CollectiveCase& ring,
                                      const AllReduceResult& result) {
  std::vector<CollectivePoint> points;
  for (const AllReducePoint& point : result.points) {
    points.push_back({ring.cell.network, result.ranks, point.bytes,
                      point.seconds / ring.cell.dilation});
  }
  return points;
}

std::string CollectiveFileJson(const CollectiveFile& file) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("settings", file.settings);
  w.Field("others_cores", file.others_cores);
  w.Field("paused_speed_known", file.paused_speed_known).Key("result");
  WriteAllReduce(file.result, &w);
  w.EndObject();
  return text + "\n";
}

absl::StatusOr<CollectiveFile> ParseCollectiveFile(absl::string_view json) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(json));
  const JsonNode& root = document->root();
  CollectiveFile file;
  file.settings = root.Field("settings").String(kSettingsMost);
  file.others_cores = root.Field("others_cores").Double();
  // Files of earlier versions lack it.
  if (root.Has("paused_speed_known")) {
    file.paused_speed_known = root.Field("paused_speed_known").Bool();
  }
  file.result = ReadAllReduce(root.Field("result"));
  SHOAL_RETURN_IF_ERROR(document->status());
  return file;
}

}  // namespace shoal
