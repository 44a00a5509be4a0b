#ifndef SHOAL_BENCH_COMPARE_RUN_FIGURES_H_
#define SHOAL_BENCH_COMPARE_RUN_FIGURES_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"

namespace shoal {

// What a summary says about the data.
struct SummaryData {
  uint64_t rows = 0;  // 0: not known
  uint64_t files = 0;
  double mean_batch = 0;  // rows of a batch; 0: not known
};

// Reads the figures of a job's summary (docs/summary.md) into *run, multiplied
// back by the cell's dilation: rates times it, seconds divided by it. Processor
// time is multiplied by run->paused_speed. Bytes and AUC stay as they are.
// Figures that the summary lacks stay std::nullopt. `target_auc`: for
// seconds_to_target, the first moment of the curve at which the progressive AUC
// was at least so high, in the first pass over the data alone, since later
// passes score rows that were trained on. *data is what the summary says about
// the data. INVALID_ARGUMENT, with the place: the text is no summary. Pure.
absl::Status ReadSummary(absl::string_view text, const Cell& cell,
                         std::optional<double> target_auc, CellRun* run,
                         SummaryData* data);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RUN_FIGURES_H_
