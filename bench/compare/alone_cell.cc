#include "bench/compare/alone_cell.h"

namespace shoal {

Cell AloneOf(Cell cell) {
  cell.hosts = 1;
  cell.global_batch = cell.batch_size;
  cell.bits_per_second = 0;
  cell.network = "none";
  cell.compute = kComputed;
  cell.backup_workers = 0;
  cell.straggler.reset();
  cell.runs.clear();
  return cell;
}

}  // namespace shoal
