#ifndef SHOAL_DATATOOLS_EXAMPLE_FILES_H_
#define SHOAL_DATATOOLS_EXAMPLE_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/file_system.h"
#include "datatools/example_format.h"

namespace shoal {

// The files that one part of a data set is written to: STEM-00000SUFFIX and so
// on, each begun when the one before it has file_bytes. While they are written
// they have hidden names, .STEM-00000SUFFIX.partial, which no listing of data
// shows; all get their own together, by Publish. Whatever has none by the end
// of this object is removed; what a killed process leaves, the next one
// replaces.
//
// Holds a megabyte. Thread-compatible. Errors: those of the file system, with
// the path; after one only destruction.
class ExampleFiles {
 public:
  // `file_system` must outlive the files.
  ExampleFiles(const FileSystem* file_system, std::string directory,
               std::string stem, ExampleFormat format, uint64_t file_bytes);
  ~ExampleFiles();
  ExampleFiles(const ExampleFiles&) = delete;
  ExampleFiles& operator=(const ExampleFiles&) = delete;

  // Append an example here, and then call Added. No file is made before the
  // first example.
  std::string* text() { return &text_; }
  absl::Status Added();

  // No more examples come.
  absl::Status Close();
  // Gives the files their names. REQUIRES: Close was OK.
  absl::Status Publish();

  uint64_t bytes() const { return bytes_; }  // of what was closed or flushed
  size_t files() const { return names_.size(); }

 private:
  absl::Status Flush();
  absl::Status CloseFile();
  std::string HiddenPath(const std::string& name) const;

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
  size_t published_ = 0;  // of names_
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_EXAMPLE_FILES_H_
