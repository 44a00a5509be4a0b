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
  // Directory of the file. It is created when the first bad row is written.
  std::string directory;
  // Name in the file's name: directory/bad-rows-<name>.tsv, or
  // bad-rows-<name>-2.tsv if an earlier run or an earlier life has written that
  // file, and so on.
  std::string name;
  // The most rows and bytes that are written; further bad rows are only
  // counted.
  uint64_t max_rows = 1'000'000;
  uint64_t max_bytes = 64 << 20;
  // Called once with the reason if the file cannot be written, on the thread
  // that met the row; from then on bad rows are only counted. If null, Add and
  // Sync return the error, which ends the reading.
  std::function<void(const absl::Status& why)> on_failure;
};

// A file of the bad rows that one process met. Each row is a line of four
// columns, separated by TAB:
//   file    path on this host, with non-printable bytes as \xhh
//   record  line or record number in the file, from 1; "-" if the records
//           before it are not counted (BadRow::number is 0)
//   byte    offset of its first byte, after decompression
//   reason
// A row is written once, even if this process reads its piece several times.
// Another process that reads the piece too (a copy of a lease, or the next
// life) writes the row to its own file.
//
// Thread-safe. Errors: those of the file system, unless options.on_failure
// takes them.
class Quarantine {
 public:
  // `file_system` must outlive it.
  Quarantine(const FileSystem* file_system, QuarantineOptions options);
  ~Quarantine();

  // Takes a bad row of the piece of `path` that begins at byte `piece_begin`.
  // REQUIRES: each reading of a piece adds its rows in the order of their
  // offsets.
  absl::Status Add(absl::string_view path, uint64_t piece_begin,
                   const BadRow& row);

  // Syncs the rows so far to the disk. Called at the end of each piece.
  absl::Status Sync();

  // The path of the file, or "" if no row was written.
  std::string path() const;

 private:
  absl::Status Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Write(absl::string_view path, uint64_t piece_begin,
                     const BadRow& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the status of a write; or, if options.on_failure is set, calls it
  // after an error and stops writing.
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
  // For each piece, the offset from which on its bad rows are not written yet.
  std::map<std::pair<std::string, uint64_t>, uint64_t> written_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_QUARANTINE_H_
