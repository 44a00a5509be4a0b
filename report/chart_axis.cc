#include "report/chart_axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"

namespace shoal {
namespace {

// The least of 1, 2, 5, 10 times a power of ten that is at least `least`.
double RoundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

void TickLinear(const ChartAxis& axis, int max_ticks, AxisLayout* layout) {
  const double step =
      RoundStep((layout->most - layout->least) / (max_ticks - 1));
  if (!axis.least.has_value()) {
    layout->least = std::floor(layout->least / step + 1e-9) * step;
  }
  if (!axis.most.has_value()) {
    layout->most = std::ceil(layout->most / step - 1e-9) * step;
  }
  const double first = std::ceil(layout->least / step - 1e-9);
  const double last = std::floor(layout->most / step + 1e-9);
  const double largest =
      std::max(std::abs(layout->least), std::abs(layout->most));
  for (double at = first; at <= last; ++at) {
    layout->ticks.push_back({at * step, TickText(at * step, step, largest)});
  }
}

// Numbers that are 1, 2 or 5 times a power of ten, or powers of ten alone,
// within a factor of 1 ± 1e-9 of the ends.
std::vector<double> LogTicks(double least, double most, bool powers_only) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(least) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(most) - 1e-9));
  for (int power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (powers_only && factor != 1) continue;
      const double value = factor * std::pow(10, power);
      if (value < least * (1 - 1e-9) || value > most * (1 + 1e-9)) continue;
      ticks.push_back(value);
    }
  }
  return ticks;
}

void TickLog(const ChartAxis& axis, int max_ticks, AxisLayout* layout) {
  // The ends move outward to the next tick.
  const std::vector<double> around =
      LogTicks(layout->least / 10, layout->most * 10, false);
  if (!axis.least.has_value()) {
    double before = layout->least;
    for (const double tick : around) {
      if (tick <= layout->least * (1 + 1e-9)) before = tick;
    }
    layout->least = before;
  }
  if (!axis.most.has_value()) {
    const auto after = std::find_if(
        around.begin(), around.end(),
        [&](double tick) { return tick >= layout->most * (1 - 1e-9); });
    if (after != around.end()) layout->most = *after;
  }
  std::vector<double> ticks = LogTicks(layout->least, layout->most, false);
  if (static_cast<int>(ticks.size()) > max_ticks) {
    ticks = LogTicks(layout->least, layout->most, true);
  }
  for (const double tick : ticks) {
    layout->ticks.push_back({tick, TickText(tick, tick, 10 * tick)});
  }
}

}  // namespace

bool AxisLayout::Has(double value) const {
  return std::isfinite(value) && (scale == AxisScale::kLinear || value > 0);
}

double AxisLayout::Place(double value) const {
  SHOAL_DCHECK(Has(value));
  if (scale == AxisScale::kLog) {
    return std::log(value / least) / std::log(most / least);
  }
  return (value - least) / (most - least);
}

AxisLayout LayOutAxis(const ChartAxis& axis, const std::vector<double>& values,
                      int max_ticks) {
  SHOAL_DCHECK(max_ticks >= 2);
  AxisLayout layout;
  layout.scale = axis.scale;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  const auto add = [&](double value) {
    if (!layout.Has(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  };
  for (const double value : values) add(value);
  for (const AxisTick& tick : axis.ticks) add(tick.value);
  const bool log = axis.scale == AxisScale::kLog;
  if (least > most) {  // no value
    least = log ? 1 : 0;
    most = log ? 10 : 1;
  }
  if (!log && axis.from_zero) {
    least = std::min(least, 0.0);
    most = std::max(most, 0.0);
  }
  least = axis.least.value_or(least);
  most = axis.most.value_or(most);
  const double size = std::max(std::abs(least), std::abs(most));
  if (!(most - least > size * 1e-9)) {  // a single value
    const double room = least == 0 ? 1 : std::abs(least) / 2;
    most = least + room;
    if (!axis.from_zero && !log && !axis.least.has_value()) least -= room;
  }
  layout.least = least;
  layout.most = most;
  if (!axis.ticks.empty()) {
    for (const AxisTick& tick : axis.ticks) {
      if (layout.Has(tick.value) && tick.value >= least && tick.value <= most) {
        layout.ticks.push_back(tick);
      }
    }
  } else if (log) {
    TickLog(axis, max_ticks, &layout);
  } else {
    TickLinear(axis, max_ticks, &layout);
  }
  return layout;
}

std::string TickText(double value, double step, double largest) {
  if (std::abs(value) < step * 1e-6) return "0";
  if (step < 5e-5 || largest >= 1e16) return absl::StrFormat("%.3g", value);
  double unit = 1;
  const char* suffix = "";
  for (const auto& [one, name] :
       {std::pair(1e3, " k"), {1e6, " M"}, {1e9, " G"}, {1e12, " T"}}) {
    // 2,000 is shorter than 2.0 k.
    if (largest < (unit == 1 ? 10 : 1) * one * (1 - 1e-9)) break;
    unit = one;
    suffix = name;
  }
  const double digits = -std::floor(std::log10(step / unit) + 1e-9);
  const int decimals = std::clamp(static_cast<int>(digits), 0, 6);
  return absl::StrCat(absl::StrFormat("%.*f", decimals, value / unit), suffix);
}

}  // namespace shoal
