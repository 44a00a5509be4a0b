#include "bench/compare/figure_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace shoal {

void CheckFormat(const JsonNode& node) {
  const uint64_t format = node.U64();
  if (format != kComparisonFormat) {
    node.Fail(absl::StrCat("is ", format, ", and this version reads ",
                           kComparisonFormat,
                           "; use the `shoal` that wrote the file"));
  }
}

bool IsNull(const JsonNode& node) { return node.kind() == JsonKind::kNull; }

double ReadFigure(const JsonNode& node) {
  const double figure = node.Double();
  if (!std::isfinite(figure) || figure < 0) {
    node.Fail("is not a finite number of at least 0");
  }
  return figure;
}

double ReadAbove0(const JsonNode& node) {
  const double figure = ReadFigure(node);
  if (figure <= 0) node.Fail("is not above 0");
  return figure;
}

double ReadShare(const JsonNode& node) {
  const double share = ReadFigure(node);
  if (share > 1) node.Fail("is above 1");
  return share;
}

double ReadShareAbove0(const JsonNode& node) {
  const double share = ReadShare(node);
  if (share <= 0) node.Fail("is not above 0");
  return share;
}

std::optional<double> ReadFigureOrNull(const JsonNode& node) {
  return ReadOrNull(node, ReadFigure);
}

std::optional<double> ReadShareOrNull(const JsonNode& node) {
  return ReadOrNull(node, ReadShare);
}

std::optional<double> ReadDifferenceOrNull(const JsonNode& node) {
  if (IsNull(node)) return std::nullopt;
  const double difference = node.Double();
  if (!std::isfinite(difference) || difference < -1) {
    node.Fail("is not a finite number of at least -1");
  }
  return difference;
}

int ReadIntFrom(int min, int max, const JsonNode& node) {
  const int number = node.Int(max);
  if (number < min) node.Fail(absl::StrCat("is below ", min));
  return number;
}

std::string ReadName(const JsonNode& node) {
  std::string name = node.String(kJsonNameMax);
  if (name.empty()) node.Fail("is empty");
  return name;
}

std::string ReadWord(absl::Span<const absl::string_view> words,
                     const JsonNode& node) {
  std::string word = node.String(kJsonNameMax);
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    node.Fail(absl::StrCat("'", word, "' is not known here"));
  }
  return word;
}

RunSteps ReadRunSteps(const JsonNode& node) {
  RunSteps steps;
  steps.count = node.Field("count").U64();
  steps.mean = ReadFigure(node.Field("mean"));
  steps.deviation = ReadFigure(node.Field("deviation"));
  steps.p10 = ReadFigure(node.Field("p10"));
  steps.p50 = ReadFigure(node.Field("p50"));
  steps.p90 = ReadFigure(node.Field("p90"));
  steps.p99 = ReadFigure(node.Field("p99"));
  steps.max = ReadFigure(node.Field("max"));
  return steps;
}

RunStaleness ReadRunStaleness(const JsonNode& node) {
  return {ReadFigure(node.Field("mean")), ReadFigure(node.Field("p50")),
          ReadFigure(node.Field("p99")), ReadFigure(node.Field("max"))};
}

std::optional<Straggler> ReadStragglerOrNull(int hosts, const JsonNode& node) {
  if (IsNull(node)) return std::nullopt;
  Straggler straggler;
  straggler.host = node.Field("host").Int(kJsonHostsMax);
  if (straggler.host >= hosts) {
    node.Field("host").Fail(
        absl::StrCat("the cell has hosts 0 to ", hosts - 1));
  }
  straggler.share = ReadShareAbove0(node.Field("share"));
  return straggler;
}

void WriteFigure(const char* name, const std::optional<double>& figure,
                 JsonWriter* w) {
  w->Key(name);
  figure.has_value() ? w->Double(*figure) : w->Null();
}

void WriteStraggler(const std::optional<Straggler>& straggler, JsonWriter* w) {
  w->Key("straggler");
  if (!straggler.has_value()) {
    w->Null();
    return;
  }
  w->BeginObject().Field("host", straggler->host);
  w->Field("share", straggler->share).EndObject();
}

}  // namespace shoal
