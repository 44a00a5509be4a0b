#ifndef SHOAL_PS_TABLE_RECORD_LAYOUT_H_
#define SHOAL_PS_TABLE_RECORD_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model_spec.h"

namespace shoal {

// The layout of a row in memory. One record holds everything about the row, so
// that one cache miss finds it all.
//
//   byte 0    colour    low byte of the colour of the last push into the row
//        1    lock      0 free, 1 held (row_lock.h)
//        2    flags     bit 0: the row exists (its values are set)
//        3    reserved  0
//        4-7  reserved  0
//        8    weights of all columns, one column after the other
//             then, column by column, its slots: Adagrad's accumulators;
//             row-wise Adagrad's one accumulator; Adam's m, then v; FTRL's
//             accumulators, then its linear terms
//             then padding up to the stride, a multiple of 16 bytes
//
// A record of zeros, as in fresh memory, is the record of a row that does not
// exist. Records are consecutive cells; a slab has kCellsPerSlab cells and
// starts on a 64-byte boundary.
struct RecordHeader {
  uint8_t colour;
  uint8_t lock;
  uint8_t flags;
  uint8_t reserved;
  uint32_t reserved_word;
};
static_assert(sizeof(RecordHeader) == 8);

inline constexpr uint8_t kRowExists = 1;
inline constexpr uint64_t kCellsPerSlab = 1024;

// The places of one column's floats, counted in floats.
struct ColumnLayout {
  int dim = 0;
  // The column's place in the weights of a row, in memory and on the wire.
  int weights = 0;
  // The place of the column's slots in the record's floats (after the header).
  int slots = 0;
  int slot_count = 0;  // the optimizer's slot_floats(dim)
};

// The layout of a table's records. Sizes are in bytes. Immutable.
class RecordLayout {
 public:
  // REQUIRES: the spec validates.
  explicit RecordLayout(const TableSpec& spec);

  size_t stride() const { return stride_; }
  // The bytes that a pull reads: header and weights.
  size_t read_bytes() const { return sizeof(RecordHeader) + 4 * row_dim_; }
  // The bytes of weights and slots, without header and padding.
  size_t payload_bytes() const { return 4 * (row_dim_ + slot_dim_); }
  size_t row_dim() const { return row_dim_; }
  const std::vector<ColumnLayout>& columns() const { return columns_; }

 private:
  size_t row_dim_;
  size_t slot_dim_;
  size_t stride_;
  std::vector<ColumnLayout> columns_;
};

// Neighbouring columns that one call of an optimizer updates together. This is
// possible if the optimizer updates each weight by itself and the slots are
// neighbours too: SGD and Adagrad. For other optimizers a run is one column.
struct ColumnRun {
  size_t column = 0;  // the first; all use its step
  ColumnLayout lies;  // the layout of all together
};
// One table's runs, in order. REQUIRES: `layout` is the layout of `spec`.
std::vector<ColumnRun> ColumnRuns(const TableSpec& spec,
                                  const RecordLayout& layout);

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_RECORD_LAYOUT_H_
