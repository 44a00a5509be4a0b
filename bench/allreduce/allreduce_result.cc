#include "bench/allreduce/allreduce_result.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "bench/allreduce/bus_rate.h"

namespace shoal {
namespace {

constexpr int kReadRanksMost = 65536;
constexpr size_t kPointsMost = 1000;

// "21.3 µs", "4.52 ms", "1.07 s".
std::string TimeText(double seconds) {
  if (seconds < 1e-3) return absl::StrFormat("%.1f µs", 1e6 * seconds);
  if (seconds < 1) return absl::StrFormat("%.2f ms", 1e3 * seconds);
  return absl::StrFormat("%.2f s", seconds);
}

// `text` at the right end of a column of `width` characters.
std::string Right(const std::string& text, size_t width) {
  size_t characters = 0;
  for (const char c : text) {
    // All bytes of UTF-8 but those that go on with a character.
    characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  }
  return std::string(width > characters ? width - characters : 1, ' ') + text;
}

std::string Line(const std::string& size, const std::string& time,
                 const std::string& least, const std::string& most,
                 const std::string& rate, const std::string& calls) {
  return absl::StrCat(Right(size, 9), Right(time, 12), Right(least, 12),
                      Right(most, 12), Right(rate, 13), Right(calls, 9), "\n");
}

double BusRateOf(const AllReduceResult& result, const AllReducePoint& point) {
  return BusRate(result.ranks, static_cast<double>(point.bytes),
                 point.seconds);
}

}  // namespace

std::string SizeText(uint64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (bytes >= 1 << 20) return absl::StrFormat("%.3g MiB", size / (1 << 20));
  if (bytes >= 1 << 10) return absl::StrFormat("%.3g KiB", size / (1 << 10));
  return absl::StrCat(bytes, " B");
}

std::string AllReduceText(const AllReduceResult& result) {
  std::string text = absl::StrCat("AllReduce of ", result.ranks,
                                  " ranks in a ring, --reduction=",
                                  result.reduction, "\n\n");
  text += Line("size", "time", "fastest", "slowest", "busbw", "calls");
  for (const AllReducePoint& point : result.points) {
    text += Line(SizeText(point.bytes), TimeText(point.seconds),
                 TimeText(point.least), TimeText(point.most),
                 absl::StrFormat("%.3f GB/s", 1e-9 * BusRateOf(result, point)),
                 absl::StrCat(point.calls));
  }
  text +=
      "\ntime: of one AllReduce, the median of the turns; fastest and slowest "
      "turn\n"
      "busbw: 2 (n - 1) / n x size / time, as in nccl-tests; with "
      "--reduction=fast it\n"
      "is what each rank's link carries each way, headers left out\n";
  return text;
}

void WriteAllReduce(const AllReduceResult& result, JsonWriter* w) {
  w->BeginObject().Field("ranks", result.ranks);
  w->Field("reduction", result.reduction).Key("points").BeginArray();
  for (const AllReducePoint& point : result.points) {
    w->BeginObject().Field("bytes", point.bytes);
    w->Field("seconds", point.seconds).Field("least", point.least);
    w->Field("most", point.most).Field("calls", point.calls);
    w->Field("busbw", BusRateOf(result, point)).EndObject();
  }
  w->EndArray().EndObject();
}

std::string AllReduceJson(const AllReduceResult& result) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  WriteAllReduce(result, &w);
  return text + "\n";
}

AllReduceResult ReadAllReduce(const JsonNode& node) {
  AllReduceResult result;
  result.ranks = node.Field("ranks").Int(kReadRanksMost);
  result.reduction = node.Field("reduction").String(64);
  const JsonNode points = node.Field("points");
  const size_t size = points.Size(kPointsMost);
  for (size_t i = 0; i < size && points.ok(); ++i) {
    const JsonNode entry = points.At(i);
    AllReducePoint point;
    point.bytes = entry.Field("bytes").U64();
    point.seconds = entry.Field("seconds").Double();
    if (!(point.seconds > 0)) entry.Field("seconds").Fail("is not above 0");
    point.least = entry.Field("least").Double();
    point.most = entry.Field("most").Double();
    point.calls = entry.Field("calls").U64();
    result.points.push_back(point);
  }
  return result;
}

absl::StatusOr<AllReduceResult> ParseAllReduce(absl::string_view json) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(json));
  AllReduceResult result = ReadAllReduce(document->root());
  SHOAL_RETURN_IF_ERROR(document->status());
  return result;
}

}  // namespace shoal
