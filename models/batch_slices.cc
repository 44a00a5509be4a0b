#include "models/batch_slices.h"

#include <cstdint>

#include "base/check.h"

namespace shoal {

void ForEachSlice(const BatchSlice& whole, int most,
                  absl::FunctionRef<void(const BatchSlice&)> visit) {
  SHOAL_DCHECK(most >= 1);
  const ModelInput& all = whole.input;
  const int slices = (all.batch_size + most - 1) / most;
  for (int i = 0; i < slices; ++i) {
    const auto position = [&](int number) {
      return static_cast<int>(int64_t{all.batch_size} * number / slices);
    };
    const int begin = position(i);
    const int count = position(i + 1) - begin;
    BatchSlice slice = {all, whole.first + begin};
    slice.input.batch_size = count;
    const int64_t cells = int64_t{all.field_size} * begin;
    const int64_t num_cells = int64_t{all.field_size} * count;
    for (TableInput& table : slice.input.tables) {
      table.row_index = table.row_index.subspan(cells, num_cells);
    }
    slice.input.values = all.values.subspan(cells, num_cells);
    if (!all.labels.empty()) {
      slice.input.labels = all.labels.subspan(begin, count);
    }
    visit(slice);
  }
}

}  // namespace shoal
