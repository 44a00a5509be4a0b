#ifndef SHOAL_REPORT_CHART_AXIS_H_
#define SHOAL_REPORT_CHART_AXIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

enum class AxisScale : uint8_t {
  kLinear = 0,
  kLog = 1,  // values of 0 and below have no place on it
};

// A place on an axis with a text beside it.
struct AxisTick {
  double value = 0;
  std::string text;
};

// What a chart is told of one of its axes.
struct ChartAxis {
  std::string title;  // with its unit: "samples/s"
  AxisScale scale = AxisScale::kLinear;
  // A linear axis that ends near the largest value begins at 0, or with false
  // near the smallest value.
  bool from_zero = true;
  // Ticks of the caller, in ascending order. Empty: round numbers.
  std::vector<AxisTick> ticks = {};
  // Ends of the axis. nullopt: chosen from the values and the ticks.
  std::optional<double> least = std::nullopt;
  std::optional<double> most = std::nullopt;
};

// An axis as it is drawn: its ends, its ticks, and the place of each value.
struct AxisLayout {
  AxisScale scale = AxisScale::kLinear;
  double least = 0;
  double most = 1;              // more than least; if kLog, both are above 0
  std::vector<AxisTick> ticks;  // within the ends

  // True if the axis has a place for the value: it is finite and, on a
  // logarithmic axis, above 0.
  bool Has(double value) const;
  // The place of a value from 0 (least) to 1 (most); beyond these where the
  // value is beyond the ends. REQUIRES: Has(value).
  double Place(double value) const;
};

// The layout of an axis for these values. Values that the axis does not have
// are left out. Round ticks are 1, 2 or 5 times a power of ten apart, and at
// most `max_ticks` (at least 2) on a linear axis; on a logarithmic axis they
// are at 1, 2 and 5 times each power of ten, or at powers alone where there
// would be too many.
AxisLayout LayOutAxis(const ChartAxis& axis, const std::vector<double>& values,
                      int max_ticks);

// A number for a tick that is `step` from the next one: "0", "250", "1.5 k",
// "20 M", "0.72", and as "2e-05" where the numbers are very small or large. The
// unit is the one for numbers as large as `largest`, so that all ticks of an
// axis have one.
std::string TickText(double value, double step, double largest);

}  // namespace shoal

#endif  // SHOAL_REPORT_CHART_AXIS_H_
