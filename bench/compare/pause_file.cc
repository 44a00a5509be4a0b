#include "bench/compare/pause_file.h"

#include <memory>
#include <utility>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/compare/figure_json.h"
#include "bench/compare/text_file.h"

namespace shoal {
namespace {

// A lower paused speed is no measurement.
constexpr double kLeastSpeed = .01;

absl::Time ReadTime(const JsonNode& node) {
  const std::string text = node.String(kJsonNameMax);
  absl::Time time;
  std::string error;
  if (node.ok() && !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    node.Fail("is not a time such as 2026-11-28T03:00:00+00:00");
  }
  return time;
}

}  // namespace

std::string PauseFileJson(const std::vector<PausePair>& pairs) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("format", kComparisonFormat);
  w.Key("pairs").BeginArray();
  for (const PausePair& pair : pairs) {
    w.BeginObject().Field("settings", pair.kind.settings);
    w.Field("servers", pair.kind.servers).Field("copies", pair.kind.copies);
    w.Field("cores_per_host", pair.kind.cores);
    w.Field("dilation", pair.kind.dilation);
    w.Field("ended", absl::FormatTime(absl::RFC3339_sec, pair.ended,
                                      absl::LocalTimeZone()));
    w.Field("unpaused_cpu_seconds_per_sample", pair.unpaused);
    w.Field("paused_cpu_seconds_per_sample", pair.paused);
    w.EndObject();
  }
  w.EndArray().EndObject();
  return text + "\n";
}

absl::StatusOr<std::vector<PausePair>> ParsePauseFile(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  const JsonNode& root = document->root();
  CheckFormat(root.Field("format"));
  const JsonNode nodes = root.Field("pairs");
  const size_t size = nodes.Size(kJsonListMax);
  std::vector<PausePair> pairs;
  for (size_t i = 0; i < size && document->status().ok(); ++i) {
    const JsonNode node = nodes.At(i);
    PausePair pair;
    pair.kind.settings = node.Field("settings").String(kJsonTextMax);
    pair.kind.servers = node.Field("servers").Bool();
    pair.kind.copies = node.Field("copies").Bool();
    pair.kind.cores = ReadAbove0(node.Field("cores_per_host"));
    pair.kind.dilation = ReadAbove0(node.Field("dilation"));
    pair.ended = ReadTime(node.Field("ended"));
    pair.unpaused = ReadAbove0(node.Field("unpaused_cpu_seconds_per_sample"));
    pair.paused = ReadAbove0(node.Field("paused_cpu_seconds_per_sample"));
    if (node.ok() && pair.unpaused < kLeastSpeed * pair.paused) {
      node.Fail("says that pauses made a host over a hundred times slower");
    }
    pairs.push_back(std::move(pair));
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  return pairs;
}

absl::StatusOr<std::vector<PausePair>> ReadPauseFile(const FileSystem& files,
                                                     const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(files, path));
  return ParsePauseFile(text);
}

}  // namespace shoal
