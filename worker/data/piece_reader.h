#ifndef SHOAL_WORKER_DATA_PIECE_READER_H_
#define SHOAL_WORKER_DATA_PIECE_READER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "core/lease.h"
#include "core/session_messages.h"
#include "worker/data/bad_rows.h"
#include "worker/data/batch.h"
#include "worker/data/data_format.h"
#include "worker/data/example_reader.h"
#include "worker/data/quarantine.h"
#include "worker/data/summed_file.h"

namespace shoal {

struct PieceReaderOptions {
  DataFormat format = DataFormat::kAuto;
  uint64_t feature_size = 0;  // ids at or above it make a bad row; 0: none do
  int field_size = 0;         // rows with more features are bad
  uint64_t seed = 1;
  bool shuffle = true;
  // Rows shuffled together. Memory: this many parsed rows.
  uint32_t shuffle_rows = 65536;
  // A line or record longer than this is a bad row, and is not held.
  uint64_t max_record_bytes = 1 << 20;
  // Threads that parse, beside the one that reads; 1: that one parses.
  int parse_threads = 1;
  // Where bad rows are written too; must outlive the reader. nullptr: nowhere.
  Quarantine* quarantine = nullptr;

  // INVALID_ARGUMENT names the field that is out of range.
  absl::Status Validate() const;

  // What the rows that a reader holds take at most, in a lease of so many rows:
  // the window, whose arrays grow by doubling and leave their old places in the
  // heap. Without shuffling the window is a batch or less, and is not counted.
  uint64_t MemoryBytes(LeasePurpose purpose, uint64_t piece_rows) const;
};

// Reads a leased piece of a file as batches, in the order of the lease. What
// the file is its first bytes say (data_format.h); a compressed one must be
// leased whole.
//
// The piece is read whole, windows of shuffle_rows rows are shuffled by
// f(seed, epoch, piece, window), and cut into batches of lease.batch_size rows;
// the last is shorter, never dropped. Batch boundaries cross windows, so what a
// batch holds depends on the bytes and the seed alone. Evaluation pieces are
// never shuffled; in those of an inference labels are any numbers, and bad rows
// keep their places (kBadRowLabel).
//
// A lease that works backwards yields the same batches from the last to the
// first. Its first Next reads the piece once to learn where windows start; each
// window is then read again, so it costs two passes and no more memory. Of a
// compressed file each window costs another pass over all that is before it.
//
// Bad rows are counted, and written to the quarantine, as the first pass meets
// them. The piece's bytes are summed as the first pass reads them, and so are a
// window's rows where it is read again, so that a file whose bytes change is
// found out; times of files do not matter.
//
// Thread-compatible, but for Cancel. Errors: those of the file system, with the
// path; DATA_LOSS if the file is damaged or shorter than the piece, or its size
// or bytes changed meanwhile; INVALID_ARGUMENT where it is of no known format.
class PieceReader {
 public:
  // `file_system` must outlive the reader. `path` is the lease's source here,
  // and `size` its bytes when the job began, if they are known.
  // INVALID_ARGUMENT for options or a lease that make no sense. DATA_LOSS for a
  // file of another size, and for a lease of a part of a compressed file: it
  // was none when the job began.
  static absl::StatusOr<std::unique_ptr<PieceReader>> Open(
      const FileSystem* file_system, const std::string& path,
      const Lease& lease, const PieceReaderOptions& options,
      std::optional<uint64_t> size = std::nullopt);

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
  // Counts the bad rows of the first pass.
  class FirstPass final : public BadRowSink {
   public:
    explicit FirstPass(const PieceReader* reader) : reader_(reader) {}
    absl::Status Add(const BadRow& row) override;
    uint64_t count() const { return count_; }
    const BadRow& first() const { return first_; }

   private:
    const PieceReader* const reader_;
    uint64_t count_ = 0;
    BadRow first_;
  };

  struct Window {
    ExampleBatch rows;            // as read
    std::vector<uint32_t> order;  // in which they come
    uint32_t index = 0;
    uint32_t cursor = 0;  // forwards: next position in `order`
    bool last = false;    // forwards: no window comes after this one
  };
  // Of a lease that works backwards.
  struct Backwards {
    bool surveyed = false;         // starts and crcs are known
    std::vector<uint64_t> starts;  // of the windows, of examples_
    std::vector<uint32_t> crcs;    // of their rows
    ExampleBatch joined;           // scratch
  };

  PieceReader(const FileSystem* file_system, std::string path,
              std::unique_ptr<RandomAccessFile> file, const FileFormat& format,
              const Lease& lease, const PieceReaderOptions& options);

  absl::Status OpenExamples();
  absl::StatusOr<bool> NextForwards(Batch* batch);
  absl::StatusOr<bool> NextBackwards(Batch* batch);
  // Reads the piece for its report and the starts of its windows.
  absl::Status Survey();
  // Reads the rows that follow into the window, and puts them in order.
  absl::Status ReadWindow(uint32_t window, BadRowSink* bad);
  // Makes `window` the one held, by reading it again if it is not.
  absl::Status LoadWindow(uint32_t window);
  // Appends the rows at positions [begin, end) of the window's order.
  void AppendOrdered(uint32_t begin, uint32_t end, ExampleBatch* to) const;
  absl::Status FinishReport(uint64_t examples);
  // DATA_LOSS if the file at the path has another size than when it was opened.
  absl::Status CheckSize() const;
  std::string FirstError() const;
  absl::Status WithPath(const absl::Status& status) const;

  const FileSystem* const file_system_;
  const std::string path_;
  const SummedFile file_;
  const FileFormat format_;
  const Lease lease_;
  const PieceReaderOptions options_;
  const bool shuffle_;
  const uint32_t window_rows_;
  std::atomic<bool> cancelled_ = false;

  std::unique_ptr<ExampleReader> examples_;
  FirstPass bad_{this};
  PieceReport report_;

  uint64_t rows_ = 0;        // forwards: handed out or skipped; else all
  uint32_t next_batch_ = 0;  // backwards: one more than the next
  Window window_;            // the one held
  Backwards back_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_PIECE_READER_H_
