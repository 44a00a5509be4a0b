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
#include "worker/data/line_numbers.h"
#include "worker/data/quarantine.h"
#include "worker/data/summed_file.h"

namespace shoal {

struct PieceReaderOptions {
  DataFormat format = DataFormat::kAuto;
  uint64_t feature_size = 0;  // ids at or above it make a bad row; 0: no limit
  int field_size = 0;         // rows with more features are bad
  int num_labels = 2;         // labels are 0 … num_labels - 1
  uint64_t seed = 1;
  bool shuffle = true;
  // Number of rows that are shuffled together. This many parsed rows are held
  // in memory.
  uint32_t shuffle_rows = 65536;
  // A line or record longer than this is a bad row, and is not held in memory.
  uint64_t max_record_bytes = 1 << 20;
  // Number of parsing threads beside the reading thread. With 1 the reading
  // thread parses.
  int parse_threads = 1;
  // File to which bad rows are written; must outlive the reader. nullptr: they
  // are not written.
  Quarantine* quarantine = nullptr;
  // Counts the lines before a piece, for messages about bad rows; must outlive
  // the reader. nullptr: the messages have the byte instead.
  LineNumbers* line_numbers = nullptr;

  // INVALID_ARGUMENT names the field that is out of range.
  absl::Status Validate() const;

  // The most memory, in bytes, of the rows that a reader holds for a lease of
  // `piece_rows` rows: the window, whose arrays grow by doubling and leave
  // their old memory in the heap. Without shuffling the window is at most a
  // batch and is not counted.
  uint64_t MemoryBytes(LeasePurpose purpose, uint64_t piece_rows) const;
};

// Reads a leased piece of a file as batches, in the order of the lease. The
// first bytes of the file decide its format (data_format.h). A compressed file
// must be leased whole.
//
// Windows of shuffle_rows rows are shuffled by f(seed, epoch, piece, window),
// and the rows are then divided into batches of lease.batch_size rows; the last
// batch may be shorter, and is never dropped. Batches may cross windows. The
// rows of a batch depend only on the bytes and the seed. Evaluation pieces are
// never shuffled. In the pieces of an inference labels may be any numbers, and
// bad rows keep their places (BadRowLabel).
//
// A lease that works backwards gives the same batches from the last to the
// first. Its first Next reads the piece once to find the starts of the windows;
// each window is then read again. This costs two passes and no more memory. In
// a compressed file each window costs another pass over all data before it.
//
// Bad rows are counted, and written to the quarantine, when the first pass
// meets them. The reader computes checksums of the piece's bytes in the first
// pass, and of the rows of windows that are read again, so that it detects a
// file whose bytes change. It does not look at file times.
//
// Thread-compatible, except Cancel. Errors: those of the file system, with the
// path; DATA_LOSS if the file is damaged or shorter than the piece, or if its
// size or bytes changed during the job; INVALID_ARGUMENT if its format is not
// known.
class PieceReader {
 public:
  // `file_system` must outlive the reader. `path` is the lease's source on this
  // host, `size` its size in bytes when the job began, if it is known, and
  // `name` its name on all hosts; empty: its base name.
  // INVALID_ARGUMENT if the options or the lease are not valid. DATA_LOSS if
  // the file has another size, or if the lease is a part of a compressed file,
  // because the file was not compressed when the job began.
  static absl::StatusOr<std::unique_ptr<PieceReader>> Open(
      const FileSystem* file_system, const std::string& path,
      const Lease& lease, const PieceReaderOptions& options,
      std::optional<uint64_t> size = std::nullopt,
      const std::string& name = "");

  // Fills *batch with the next batch that the lease does not skip and returns
  // true; false at the end. Reuses the memory of *batch.
  absl::StatusOr<bool> Next(Batch* batch);

  // The report on the whole piece. Its first error has the file's name, not its
  // path, because hosts may mount the directory at different places.
  // REQUIRES: Next returned false.
  const PieceReport& report() const;

  // Makes a Next in progress, and every later one, return CANCELLED soon.
  // Thread-safe.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  // Counts the bad rows of the first pass, and keeps the first of them.
  class FirstPass final : public BadRowSink {
   public:
    explicit FirstPass(const PieceReader* reader) : reader_(reader) {}
    absl::Status Add(const BadRow& row) override;
    uint64_t count() const { return count_; }
    const std::vector<BadRow>& first() const { return first_; }

   private:
    const PieceReader* const reader_;
    uint64_t count_ = 0;
    std::vector<BadRow> first_;
  };

  struct Window {
    ExampleBatch rows;            // in the order of the file
    std::vector<uint32_t> order;  // the order in which they are used
    uint32_t index = 0;
    uint32_t cursor = 0;  // forwards: next position in `order`
    bool last = false;    // forwards: no window comes after this one
  };
  // The state of a lease that works backwards.
  struct Backwards {
    bool surveyed = false;         // starts and crcs are known
    std::vector<uint64_t> starts;  // positions of the windows in examples_
    std::vector<uint32_t> crcs;    // CRC-32Cs of the windows' rows
    ExampleBatch joined;           // scratch
  };

  PieceReader(const FileSystem* file_system, std::string path,
              std::string name, std::unique_ptr<RandomAccessFile> file,
              const FileFormat& format, const Lease& lease,
              const PieceReaderOptions& options);

  absl::Status OpenExamples();
  absl::StatusOr<bool> NextForwards(Batch* batch);
  absl::StatusOr<bool> NextBackwards(Batch* batch);
  // Reads the whole piece for its report and the starts of its windows.
  absl::Status Survey();
  // Reads the next rows into the window, and computes their order.
  absl::Status ReadWindow(uint32_t window, BadRowSink* bad);
  // Makes `window` the held window, and reads it again if it is not.
  absl::Status LoadWindow(uint32_t window);
  // Appends the rows at positions [begin, end) of the window's order.
  void AppendOrdered(uint32_t begin, uint32_t end, ExampleBatch* to) const;
  absl::Status FinishReport(uint64_t examples);
  // DATA_LOSS if the file at the path has another size than when it was opened.
  absl::Status CheckSize() const;
  // A line for each of the first bad rows.
  std::string FirstErrors() const;
  // The number of the record in the file; 0: the records before it are not
  // counted.
  uint64_t NumberInFile(const BadRow& row) const;
  absl::Status WithPath(const absl::Status& status) const;

  const FileSystem* const file_system_;
  const std::string path_;
  const std::string name_;
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

  uint64_t rows_ = 0;        // forwards: rows handed out or skipped; backwards:
                             // all rows
  uint32_t next_batch_ = 0;  // backwards: index of the next batch plus 1
  Window window_;            // the held window
  Backwards back_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_PIECE_READER_H_
