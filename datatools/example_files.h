#ifndef SHOAL_DATATOOLS_EXAMPLE_FILES_H_
#define SHOAL_DATATOOLS_EXAMPLE_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "datatools/example_format.h"

namespace shoal {

// INVALID_ARGUMENT unless `out_dir` is a path at which data that is written
// there can be named to train on: not empty, and without globs and commas.
absl::Status CheckOutDir(const std::string& out_dir);

// The end of the name of a file that is still being written.
inline constexpr absl::string_view kPartialSuffix = ".partial";
// DIRECTORY/.NAME.partial, which listings of data leave out.
std::string PartialPath(absl::string_view directory, absl::string_view name);

// Writes one part of a data set to the files STEM-00000SUFFIX and so on. Each
// file begins when the file before it has file_bytes. Files have hidden names
// (PartialPath) while they are written; Publish gives all of them their final
// names. The destructor removes files that were not published. Files that a
// killed process left are replaced by the next run.
//
// Holds a megabyte. Thread-compatible. Errors: those of the file system, with
// the path; after an error only the destructor may be called.
class ExampleFiles {
 public:
  // `file_system` must outlive the files.
  ExampleFiles(const FileSystem* file_system, std::string directory,
               std::string stem, ExampleFormat format, uint64_t file_bytes);
  ~ExampleFiles();
  ExampleFiles(const ExampleFiles&) = delete;
  ExampleFiles& operator=(const ExampleFiles&) = delete;

  // Append one example to *text(), then call Added. No file is made before the
  // first example.
  std::string* text() { return &text_; }
  absl::Status Added();

  // Ends the last file. No examples may follow.
  absl::Status Close();
  // Gives the files their final names. REQUIRES: Close returned OK.
  absl::Status Publish();

  uint64_t bytes() const { return bytes_; }  // written to files so far
  size_t files() const { return names_.size(); }

 private:
  absl::Status Flush();
  absl::Status CloseFile();

  const FileSystem* const file_system_;
  const std::string directory_;
  const std::string stem_;
  const ExampleFormat format_;
  const uint64_t file_bytes_;

  std::string text_;  // not yet written
  std::unique_ptr<WritableFile> file_;
  uint64_t in_file_ = 0;  // bytes
  uint64_t bytes_ = 0;
  std::vector<std::string> names_;
  size_t published_ = 0;  // names_ before this index are published
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_EXAMPLE_FILES_H_
