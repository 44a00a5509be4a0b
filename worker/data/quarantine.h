#ifndef SHOAL_WORKER_DATA_QUARANTINE_H_
#define SHOAL_WORKER_DATA_QUARANTINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "base/mutex.h"
#include "worker/data/bad_rows.h"

namespace shoal {

struct QuarantineOptions {
  // Where the file goes; made when there is something to write.
  std::string directory;
  // The file is directory/bad-rows-<name>.tsv, or bad-rows-<name>-2.tsv where
  // that is there already, and so on: an earlier run's, or an earlier life's.
  std::string name;
  // Rows and bytes written at most; further bad rows are only counted.
  uint64_t max_rows = 1'000'000;
  uint64_t max_bytes = 64 << 20;
  // Told once why nothing can be written there, on the thread that met the row;
  // from then on bad rows are only counted. Null: such an error is Add's and
  // Sync's to return, and ends the reading.
  std::function<void(const absl::Status& why)> on_failure;
};

// The bad rows that one process met, a line each, TAB between:
//   file    path on this host, with non-printable bytes as \xhh
//   record  line or record number in the file, from 1; "-" where the piece
//           does not begin the file, since nobody counted those before it
//   byte    offset of its first byte, after decompression
//   reason
// A row is written once, however often its piece is read by this process.
// Another process that reads the piece too (a copy of a lease, or the next
// life) writes it into its own file.
//
// Thread-safe. Errors: those of the file system, unless options.on_failure
// takes them.
class Quarantine {
 public:
  // `file_system` must outlive it.
  Quarantine(const FileSystem* file_system, QuarantineOptions options);
  ~Quarantine();

  // Takes a bad row of the piece of `path` that begins at byte `piece_begin`.
  // REQUIRES: of one piece in the order of their offsets in each reading.
  absl::Status Add(absl::string_view path, uint64_t piece_begin,
                   const BadRow& row);

  // Puts the rows so far on the disk. Called at the end of each piece.
  absl::Status Sync();

  // Where the rows are, or "" where none was written.
  std::string path() const;

 private:
  absl::Status Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Write(absl::string_view path, uint64_t piece_begin,
                     const BadRow& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Passes on the outcome of a write, or gives up where the options say so.
  absl::Status Judge(absl::Status written);

  const FileSystem* const file_system_;
  const QuarantineOptions options_;

  mutable Mutex mu_;
  std::string path_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<WritableFile> file_ ABSL_GUARDED_BY(mu_);
  bool given_up_ ABSL_GUARDED_BY(mu_) = false;
  bool unsynced_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t rows_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // By piece: the offset from which on its bad rows are not written yet.
  std::map<std::pair<std::string, uint64_t>, uint64_t> written_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_QUARANTINE_H_
