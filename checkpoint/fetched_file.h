#ifndef SHOAL_CHECKPOINT_FETCHED_FILE_H_
#define SHOAL_CHECKPOINT_FETCHED_FILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "checkpoint/safetensors_writer.h"

namespace shoal {

// A part of a file that has a CRC in the manifest: the header, or a block of a
// tensor.
struct FileBlock {
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
  absl::string_view tensor;  // its name; empty: the header
};

// The blocks of a file, in order. They tile the file. The names are those in
// `file`, which must outlive them. INVALID_ARGUMENT: the header is too long, a
// tensor does not have a CRC for each block, or the blocks do not tile the
// file.
absl::StatusOr<std::vector<FileBlock>> BlocksOf(const WrittenFile& file);

// Bytes [offset, offset + bytes) of a file.
struct FileRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// One file of a checkpoint that is put together on this disk: blocks that are
// here and have their CRC are copied, and all others come from elsewhere.
//
//   SHOAL_ASSIGN_OR_RETURN(bool sound, file->IsSound());
//   if (sound) return;
//   SHOAL_RETURN_IF_ERROR(file->Begin());
//   for (;;) {
//     SHOAL_ASSIGN_OR_RETURN(auto range, file->Next());
//     if (!range.has_value()) break;
//     SHOAL_RETURN_IF_ERROR(file->Add(Fetch(*range)));
//   }
//   SHOAL_RETURN_IF_ERROR(file->Sync());
//   SHOAL_RETURN_IF_ERROR(file->Commit());
//
// The bytes go to the temporary file `.NAME.fetch-TAG`, which listings leave
// out, and which is removed with its checkpoint at the latest. If the fetch is
// cut off, even by a crash, the temporary file stays, and its blocks are not
// fetched again by the next FetchedFile with this tag. After an error in
// writing, as on a full disk, it is removed. Until Commit the file NAME is
// untouched. Holds one block in memory. Thread-compatible.
class FetchedFile {
 public:
  struct Options {
    const FileSystem* files = nullptr;
    std::string directory;  // the checkpoint's, which exists
    std::string tag;  // unlike that of every other process with this directory
    // Called between blocks that are read here. If it returns true, the call
    // ends (CANCELLED). May be empty.
    std::function<bool()> cancelled;
  };

  // `file` is the entry of the file in the manifest, and it and options.files
  // outlive this object. Errors: those of BlocksOf.
  static absl::StatusOr<std::unique_ptr<FetchedFile>> Create(
      Options options, const WrittenFile* file);
  ~FetchedFile();

  const WrittenFile& file() const { return *file_; }
  std::string path() const;

  // True if the file is here with its size and with all its CRCs. A file that
  // cannot be read is not sound. CANCELLED.
  absl::StatusOr<bool> IsSound();

  // Begins the temporary file. Call once. Errors of this call and of the
  // following ones are those of the file system, and CANCELLED.
  absl::Status Begin();
  // Copies blocks that are here. Returns the range that must come from
  // elsewhere next, of kFilePartBytes at most; nullopt: all bytes are there.
  absl::StatusOr<std::optional<FileRange>> Next();
  // Takes the bytes of the newest Next(). DATA_LOSS: these are not as many
  // bytes, or the block that they end does not have its CRC; the message says
  // which bytes of which tensor.
  absl::Status Add(absl::string_view bytes);
  // Brings all bytes of the temporary file to the disk, which may take long.
  // REQUIRES: the newest Next() has returned nullopt.
  absl::Status Sync();
  // Gives the temporary file the name of the file, which is then on the disk,
  // too. REQUIRES: Sync was OK.
  absl::Status Commit();

  uint64_t here() const { return here_; }  // bytes in the temporary file
  uint64_t fetched() const { return fetched_; }  // bytes that came by Add

 private:
  FetchedFile(Options options, const WrittenFile* file,
              std::vector<FileBlock> blocks);
  std::string Temporary(absl::string_view kind) const;
  // The file, if it can be opened.
  std::unique_ptr<RandomAccessFile> Open(const std::string& path) const;
  // Reads the block into block_; false: it is not in `from` with its CRC.
  bool Read(const RandomAccessFile& from, const FileBlock& block);
  // Keeps the temporary file of a fetch that was cut off, unless an earlier one
  // has more.
  absl::Status KeepEarlier();
  // Appends block_, which is whole. An error in writing is for good.
  absl::Status Append();

  const Options options_;
  const WrittenFile* const file_;
  const std::vector<FileBlock> blocks_;
  // The places where blocks may be: the file NAME, and a temporary file.
  std::vector<std::unique_ptr<RandomAccessFile>> sources_;
  std::unique_ptr<WritableFile> out_;  // null: not begun, or committed
  size_t next_ = 0;    // the block that is appended next
  std::string block_;  // its bytes so far
  bool failed_ = false;  // writing has failed
  uint64_t here_ = 0;
  uint64_t fetched_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_FETCHED_FILE_H_
