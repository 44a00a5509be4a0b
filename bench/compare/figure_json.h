#ifndef SHOAL_BENCH_COMPARE_FIGURE_JSON_H_
#define SHOAL_BENCH_COMPARE_FIGURE_JSON_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bench/compare/cell.h"

namespace shoal {

// Single values of compare.json, of the files of runs and of a job's summary.
// A reader of these makes a value that cannot be the document's error, and the
// caller looks for an error once, at the end (base/json_reader.h). Pure.

// Most of what a file may have: bytes of a name and of a text, entries of a
// list, hosts, samples of a batch.
inline constexpr size_t kJsonNameMax = 256;
inline constexpr size_t kJsonTextMax = 1 << 16;
inline constexpr size_t kJsonListMax = 1 << 16;
inline constexpr int kJsonHostsMax = 1 << 20;
inline constexpr int kJsonBatchMax = 1 << 30;

// The key "format" of compare.json and of the files of runs.
inline constexpr int kComparisonFormat = 1;
// Another format is an error that says so.
void CheckFormat(const JsonNode& node);

bool IsNull(const JsonNode& node);

// A finite number of at least 0, above 0, at most 1; or null.
double ReadFigure(const JsonNode& node);
double ReadAbove0(const JsonNode& node);
double ReadShare(const JsonNode& node);
double ReadShareAbove0(const JsonNode& node);
std::optional<double> ReadFigureOrNull(const JsonNode& node);
std::optional<double> ReadShareOrNull(const JsonNode& node);
// One figure less another one, as a share of the other: at least -1; or null.
std::optional<double> ReadDifferenceOrNull(const JsonNode& node);
int ReadIntFrom(int min, int max, const JsonNode& node);
// Not empty.
std::string ReadName(const JsonNode& node);
// One of the words.
std::string ReadWord(absl::Span<const absl::string_view> words,
                     const JsonNode& node);
// The value of a key that may be null.
template <typename T>
std::optional<T> ReadOrNull(const JsonNode& node, T (*read)(const JsonNode&)) {
  if (IsNull(node)) return std::nullopt;
  return read(node);
}

// The figures of a run that a summary has as compare.json has them.
RunSteps ReadRunSteps(const JsonNode& node);
RunStaleness ReadRunStaleness(const JsonNode& node);
// A slow host of a cell with so many hosts.
std::optional<Straggler> ReadStragglerOrNull(int hosts, const JsonNode& node);

void WriteFigure(const char* name, const std::optional<double>& figure,
                 JsonWriter* w);
void WriteStraggler(const std::optional<Straggler>& straggler, JsonWriter* w);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_FIGURE_JSON_H_
