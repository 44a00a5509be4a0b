#ifndef SHOAL_WORKER_DATA_PIECE_READER_H_
#define SHOAL_WORKER_DATA_PIECE_READER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/cluster_service.h"
#include "worker/data/batch.h"
#include "worker/data/libsvm_parser.h"
#include "worker/data/line_source.h"
#include "worker/data/row_window.h"

namespace shoal {

struct PieceReaderOptions {
  uint64_t feature_size = 0;  // ids at or above it make a bad row; 0: none do
  int field_size = 0;         // rows with more features are bad
  uint64_t seed = 1;
  bool shuffle = true;
  // Rows shuffled together. Memory: this many parsed rows.
  uint32_t shuffle_rows = 65536;
  // A line longer than this is a bad row, and is skipped without being held.
  uint64_t max_line_bytes = 1 << 20;

  // INVALID_ARGUMENT names the field that is out of range.
  absl::Status Validate() const;
};

// Reads a leased piece of a LibSVM file as batches, in the order of the lease.
//
// The piece is read whole, windows of shuffle_rows rows are shuffled by
// f(seed, epoch, piece, window), and cut into batches of lease.batch_size rows;
// the last is shorter, never dropped. Batch boundaries cross windows, so what a
// batch holds depends on the bytes and the seed alone. Evaluation pieces are
// never shuffled.
//
// A lease that works backwards yields the same batches from the last to the
// first. Its first Next reads the piece once to learn where windows start; each
// window is then read again, so it costs two passes and no more memory.
//
// Thread-compatible, but for Cancel. Errors: those of the file system, with the
// path; DATA_LOSS if the file is shorter than the piece, or changed meanwhile.
class PieceReader {
 public:
  // `file_system` must outlive the reader. `path` is the lease's source here.
  // INVALID_ARGUMENT for options or a lease that make no sense.
  static absl::StatusOr<std::unique_ptr<PieceReader>> Open(
      const FileSystem* file_system, const std::string& path,
      const Lease& lease, const PieceReaderOptions& options);

  // Fills *batch with the next batch that the lease does not skip and returns
  // true; false at the end. Reuses the memory of *batch.
  absl::StatusOr<bool> Next(Batch* batch);

  // What the whole piece holds; the first error names the file without its
  // directory, since hosts mount it elsewhere. REQUIRES: Next returned false.
  const PieceReport& report() const { return report_; }

  // Makes a Next in progress, and every later one, return CANCELLED soon.
  // Thread-safe.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  PieceReader(std::string path, std::unique_ptr<RandomAccessFile> file,
              const Lease& lease, const PieceReaderOptions& options);

  absl::StatusOr<bool> NextForwards(Batch* batch);
  absl::StatusOr<bool> NextBackwards(Batch* batch);
  // Reads the piece for its report and the starts of its windows.
  absl::Status Survey();
  // Reads the rows that follow into the window, and puts them in order.
  absl::Status ReadWindow(uint32_t window, BadRows* bad);
  // Makes `window` the one held, by reading it again if it is not.
  absl::Status LoadWindow(uint32_t window);
  // Appends the rows at positions [begin, end) of the window's order.
  void AppendOrdered(uint32_t begin, uint32_t end, ExampleBatch* to) const;
  void FinishReport(uint64_t examples);
  absl::Status WithPath(const absl::Status& status) const;

  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
  const Lease lease_;
  const PieceReaderOptions options_;
  const bool shuffle_;
  const uint32_t window_rows_;
  std::atomic<bool> cancelled_ = false;

  LineSource lines_;
  LibSvmParser parser_;
  BadRows bad_;  // of the first pass
  PieceReport report_;

  // The window held: its rows as read, and the order in which they come.
  ExampleBatch window_;
  std::vector<uint32_t> order_;
  uint32_t window_index_ = 0;
  uint32_t cursor_ = 0;       // next position in order_ (forwards)
  bool lines_ended_ = false;  // forwards: no window comes after this one

  uint64_t rows_ = 0;        // forwards: handed out or skipped; else all
  uint32_t next_batch_ = 0;  // backwards: one more than the next
  bool surveyed_ = false;
  std::vector<uint64_t> window_starts_;  // backwards: positions in lines_
  ExampleBatch joined_;                  // backwards: scratch
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_PIECE_READER_H_
