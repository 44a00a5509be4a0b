#include "bench/compare/cell_figures.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace shoal {
namespace {

bool SameBatch(const Comparison& comparison, const Cell& a, const Cell& b) {
  return comparison.equal_batch == "global" ? a.global_batch == b.global_batch
                                            : a.batch_size == b.batch_size;
}

// The same job, but for hosts, network, compute and straggler.
bool SameJob(const Comparison& comparison, const Cell& a, const Cell& b) {
  return a.model == b.model && a.mode == b.mode &&
         a.backup_workers == b.backup_workers && a.ssp_bound == b.ssp_bound &&
         SameBatch(comparison, a, b);
}

// "12346" as "12,346".
std::string Grouped(std::string digits) {
  const size_t begin = digits[0] == '-' ? 1 : 0;
  const size_t point = digits.find('.');
  for (size_t at = point == std::string::npos ? digits.size() : point;
       at > begin + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace

std::optional<FigureSpread> SpreadOfValues(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1
                            ? values[half]
                            : (values[half - 1] + values[half]) / 2;
  return FigureSpread{median, values.front(), values.back(),
                      static_cast<int>(values.size())};
}

std::optional<FigureSpread> SpreadOf(const Cell& cell, RunFigure figure) {
  std::vector<double> values;
  for (const CellRun& run : cell.runs) {
    if (!run.ok) continue;
    if (const std::optional<double> value = figure(run)) {
      values.push_back(*value);
    }
  }
  return SpreadOfValues(std::move(values));
}

FigureSpread WidenedIfOne(FigureSpread spread) {
  if (spread.count == 1) {
    spread.least *= 1 - kSpreadOfOne;
    spread.most *= 1 + kSpreadOfOne;
  }
  return spread;
}

std::optional<FigureSpread> RankedSpread(
    const Cell& cell, std::optional<double> CellRun::*figure) {
  const std::optional<FigureSpread> spread =
      SpreadOf(cell, [&](const CellRun& run) { return run.*figure; });
  if (!spread.has_value() ||
      spread->count < static_cast<int>(cell.runs.size())) {
    return std::nullopt;
  }
  return WidenedIfOne(*spread);
}

std::optional<FigureSpread> SamplesPerSecond(const Cell& cell) {
  return SpreadOf(cell, [](const CellRun& r) { return r.samples_per_second; });
}

std::optional<FigureSpread> BusyCoresOfHost(const Cell& cell) {
  return SpreadOf(cell, [&](const CellRun& run) -> std::optional<double> {
    if (!run.cpu_seconds_per_sample || !run.samples_per_second) return {};
    return (run.cpu_seconds_per_sample->worker +
            run.cpu_seconds_per_sample->ps) *
           *run.samples_per_second / cell.hosts;
  });
}

std::optional<FigureSpread> MemoryOfHost(const Cell& cell) {
  return SpreadOf(cell, [](const CellRun& run) -> std::optional<double> {
    if (!run.peak_rss_bytes) return {};
    return run.peak_rss_bytes->worker + run.peak_rss_bytes->ps;
  });
}

std::optional<FigureSpread> SecondsToTarget(const Cell& cell) {
  return SpreadOf(cell, [](const CellRun& r) { return r.seconds_to_target; });
}

std::optional<FigureSpread> CostOf(const Cell& cell, double price_per_host_hour,
                                   std::optional<double> CellRun::*seconds) {
  return SpreadOf(cell, [&](const CellRun& run) -> std::optional<double> {
    if (!(run.*seconds)) return {};
    return cell.hosts * price_per_host_hour * *(run.*seconds) / 3600;
  });
}

std::optional<double> StateShare(const Cell& cell, const std::string& state) {
  double sum = 0;
  int runs = 0;
  for (const CellRun& run : cell.runs) {
    if (!run.ok || run.state_shares.empty()) continue;
    ++runs;
    const auto found = run.state_shares.find(state);
    if (found != run.state_shares.end()) sum += found->second;
  }
  if (runs == 0) return std::nullopt;
  return sum / runs;
}

double SumOf(const RoleBytes& bytes) {
  return bytes.worker_sent + bytes.worker_received + bytes.ps_sent +
         bytes.ps_received;
}

double BytesThatLeaveHost(const RoleBytes& bytes, int hosts) {
  const double ring = bytes.worker_sent - bytes.ps_received;
  const double to_and_from_servers = bytes.ps_received + bytes.ps_sent;
  return std::max(ring, 0.0) + to_and_from_servers * (hosts - 1) / hosts;
}

std::optional<FigureSpread> LinkUse(const Cell& cell) {
  if (cell.bits_per_second <= 0) return std::nullopt;
  return SpreadOf(cell, [&](const CellRun& run) -> std::optional<double> {
    if (!run.bytes_per_sample || !run.samples_per_second) return {};
    return 8 * BytesThatLeaveHost(*run.bytes_per_sample, cell.hosts) *
           *run.samples_per_second / cell.hosts / cell.bits_per_second;
  });
}

std::optional<FigureSpread> BytesOfSample(const Cell& cell) {
  return SpreadOf(cell, [](const CellRun& run) -> std::optional<double> {
    if (!run.bytes_per_sample) return {};
    return SumOf(*run.bytes_per_sample);
  });
}

std::optional<double> Efficiency(const Comparison& comparison,
                                 const Cell& cell) {
  const std::optional<FigureSpread> rate = SamplesPerSecond(cell);
  if (!rate.has_value()) return std::nullopt;
  // Of several cells of one host, the one of the same network. One host uses no
  // network, so that another network's serves too.
  const Cell* one = nullptr;
  int most_like = -1;
  for (const Cell& other : comparison.cells) {
    if (other.hosts != 1 || other.straggler.has_value() ||
        other.model != cell.model || other.mode != cell.mode ||
        other.compute != cell.compute || !SameBatch(comparison, cell, other) ||
        !WhyOut(other).empty() || !SamplesPerSecond(other)) {
      continue;
    }
    const int like = (SameJob(comparison, cell, other) ? 2 : 0) +
                     (other.network == cell.network ? 1 : 0);
    if (like > most_like) {
      most_like = like;
      one = &other;
    }
  }
  if (one == nullptr) return std::nullopt;
  const double alone = SamplesPerSecond(*one)->median;
  if (!(alone > 0)) return std::nullopt;
  return rate->median / (cell.hosts * alone);
}

const Cell* WithoutStraggler(const Comparison& comparison, const Cell& cell) {
  for (const Cell& other : comparison.cells) {
    if (!other.straggler.has_value() && other.hosts == cell.hosts &&
        other.network == cell.network && other.compute == cell.compute &&
        SameJob(comparison, cell, other)) {
      return &other;
    }
  }
  return nullptr;
}

std::string WhyOut(const Cell& cell) {
  if (!cell.grey.empty()) return cell.grey;
  if (cell.runs.empty()) return "not run";
  for (const CellRun& run : cell.runs) {
    if (run.ok) return "";
  }
  return absl::StrCat("no run ended well: ", cell.runs.back().error);
}

std::string FigureText(double number) {
  const double size = std::abs(number);
  if (size == 0) return "0";
  if (size < 1e15 && number == std::round(number)) {
    return Grouped(absl::StrFormat("%.0f", number));
  }
  if (size < 1e-3) return absl::StrFormat("%.3e", number);
  if (size >= 1e15) return absl::StrFormat("%.6e", number);
  const int before = size < 1 ? 0 : 1 + static_cast<int>(std::log10(size));
  return Grouped(absl::StrFormat("%.*f", std::clamp(4 - before, 0, 4), number));
}

std::string FigureText(const std::optional<double>& number) {
  return number.has_value() ? FigureText(*number) : "–";
}

std::string SpreadText(const std::optional<FigureSpread>& spread,
                       double scale) {
  if (!spread.has_value()) return "–";
  const std::string median = FigureText(spread->median * scale);
  const std::string least = FigureText(spread->least * scale);
  const std::string most = FigureText(spread->most * scale);
  if (least == median && most == median) return median;
  return absl::StrCat(median, " (", least, " to ", most, ")");
}

std::string SettingText(double number) { return absl::StrFormat("%g", number); }

std::string CoresText(double cores) {
  return absl::StrCat(SettingText(cores), cores == 1 ? " core" : " cores");
}

std::string EqualBatchText(const Comparison& comparison) {
  return absl::StrCat("Equal in all cells: ",
                      comparison.equal_batch == "global"
                          ? "the batch of all workers together."
                          : "the batch of each worker.");
}

std::string DifferenceText(double measured, double expected) {
  if (expected == 0) return measured == 0 ? "0.0 %" : "–";
  const double percent = (measured / expected - 1) * 100;
  // No sign before a zero.
  if (std::abs(percent) < .05) return "0.0 %";
  return absl::StrFormat("%+.1f %%", percent);
}

}  // namespace shoal
