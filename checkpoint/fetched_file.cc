#include "checkpoint/fetched_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "core/save_messages.h"

namespace shoal {

absl::StatusOr<std::vector<FileBlock>> BlocksOf(const WrittenFile& file) {
  if (file.data_begin > sizeof(uint64_t) + kSafetensorsHeaderMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.file, ": has a header of ", file.data_begin, " bytes; at most ",
        kSafetensorsHeaderMax, " are read"));
  }
  std::vector<FileBlock> blocks = {
      {0, file.data_begin, file.header_crc32c, ""}};
  uint64_t end = file.data_begin;
  for (const WrittenTensor& tensor : file.tensors) {
    const uint64_t bytes = tensor.info.bytes();
    const std::vector<uint32_t>& crcs = tensor.checksums.blocks;
    if (file.data_begin + tensor.info.begin != end ||
        crcs.size() != ChecksumBlocks(bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.file, ": the manifest does not have a CRC for each "
                       "block of tensor '", tensor.info.name, "'"));
    }
    for (size_t i = 0; i < crcs.size(); ++i) {
      const uint64_t offset = i * kChecksumBlockBytes;
      blocks.push_back({end + offset,
                        std::min(kChecksumBlockBytes, bytes - offset), crcs[i],
                        tensor.info.name});
    }
    end += bytes;
  }
  if (end != file.size) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.file, ": has ", file.size, " bytes, and its tensors "
                     "end at byte ", end));
  }
  return blocks;
}

absl::StatusOr<std::unique_ptr<FetchedFile>> FetchedFile::Create(
    Options options, const WrittenFile* file) {
  SHOAL_ASSIGN_OR_RETURN(std::vector<FileBlock> blocks, BlocksOf(*file));
  return std::unique_ptr<FetchedFile>(
      new FetchedFile(std::move(options), file, std::move(blocks)));
}

FetchedFile::FetchedFile(Options options, const WrittenFile* file,
                         std::vector<FileBlock> blocks)
    : options_(std::move(options)), file_(file), blocks_(std::move(blocks)) {}

FetchedFile::~FetchedFile() {
  if (out_ == nullptr) return;
  // What is written is for the next fetch.
  (void)out_->Close();
  if (failed_) (void)options_.files->Remove(Temporary("fetch"));
}

std::string FetchedFile::path() const {
  return JoinPath(options_.directory, file_->file);
}

std::string FetchedFile::Temporary(absl::string_view kind) const {
  return JoinPath(options_.directory,
                  absl::StrCat(".", file_->file, ".", kind, "-", options_.tag));
}

std::unique_ptr<RandomAccessFile> FetchedFile::Open(
    const std::string& path) const {
  auto opened = options_.files->OpenForRead(path);
  return opened.ok() ? *std::move(opened) : nullptr;
}

bool FetchedFile::Read(const RandomAccessFile& from, const FileBlock& block) {
  if (from.size() < block.offset + block.bytes) return false;
  block_.resize(block.bytes);
  const auto read = from.Read(block.offset, absl::MakeSpan(block_));
  const bool found =
      read.ok() && *read == block.bytes && Crc32c(block_) == block.crc32c;
  if (!found) block_.clear();
  return found;
}

absl::StatusOr<bool> FetchedFile::IsSound() {
  const auto here = Open(path());
  if (here == nullptr || here->size() != file_->size) return false;
  for (const FileBlock& block : blocks_) {
    if (options_.cancelled && options_.cancelled()) {
      return absl::CancelledError("the check of a checkpoint's file was ended");
    }
    if (!Read(*here, block)) return false;
  }
  block_.clear();
  return true;
}

absl::Status FetchedFile::KeepEarlier() {
  const auto last = Open(Temporary("fetch"));
  if (last == nullptr) return absl::OkStatus();
  const auto earlier = Open(Temporary("fetched"));
  if (earlier != nullptr && earlier->size() >= last->size()) {
    return absl::OkStatus();
  }
  return options_.files->Rename(Temporary("fetch"), Temporary("fetched"));
}

absl::Status FetchedFile::Begin() {
  SHOAL_DCHECK(out_ == nullptr && next_ == 0);
  SHOAL_RETURN_IF_ERROR(KeepEarlier());
  block_.clear();
  for (const std::string& path : {path(), Temporary("fetched")}) {
    if (auto source = Open(path)) sources_.push_back(std::move(source));
  }
  SHOAL_ASSIGN_OR_RETURN(out_, options_.files->Create(Temporary("fetch")));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<FileRange>> FetchedFile::Next() {
  SHOAL_DCHECK(out_ != nullptr);
  while (next_ < blocks_.size()) {
    const FileBlock& block = blocks_[next_];
    bool found = false;
    if (block_.empty()) {
      if (options_.cancelled && options_.cancelled()) {
        return absl::CancelledError("the fetch of a checkpoint was ended");
      }
      for (const auto& source : sources_) {
        found = Read(*source, block);
        if (found) break;
      }
    }
    if (!found && block.bytes > 0) {
      return FileRange{block.offset + block_.size(),
                       std::min<uint64_t>(kFilePartBytes,
                                          block.bytes - block_.size())};
    }
    SHOAL_RETURN_IF_ERROR(Append());
  }
  return std::nullopt;
}

absl::Status FetchedFile::Add(absl::string_view bytes) {
  SHOAL_DCHECK(next_ < blocks_.size());
  const FileBlock& block = blocks_[next_];
  const uint64_t wanted =
      std::min<uint64_t>(kFilePartBytes, block.bytes - block_.size());
  if (bytes.size() != wanted) {
    return absl::DataLossError(absl::StrCat(
        file_->file, ": ", bytes.size(), " bytes came from byte ",
        block.offset + block_.size(), " on; ", wanted, " were asked for"));
  }
  block_.append(bytes.data(), bytes.size());
  fetched_ += bytes.size();
  if (block_.size() < block.bytes) return absl::OkStatus();
  if (Crc32c(block_) != block.crc32c) {
    return absl::DataLossError(absl::StrCat(
        file_->file, ": bytes ", block.offset, " to ",
        block.offset + block.bytes,
        block.tensor.empty() ? " (the header)"
                             : absl::StrCat(" (tensor '", block.tensor, "')"),
        " came without their CRC"));
  }
  return Append();
}

absl::Status FetchedFile::Append() {
  const absl::Status appended = out_->Append(block_);
  failed_ |= !appended.ok();
  here_ += block_.size();
  block_.clear();
  ++next_;
  return appended;
}

absl::Status FetchedFile::Sync() {
  SHOAL_DCHECK(next_ == blocks_.size() && out_ != nullptr);
  absl::Status status = out_->Sync();
  if (status.ok()) status = out_->Close();
  failed_ |= !status.ok();
  return status;
}

absl::Status FetchedFile::Commit() {
  SHOAL_DCHECK(next_ == blocks_.size() && out_ != nullptr);
  const absl::Status status =
      options_.files->Rename(Temporary("fetch"), path());
  failed_ |= !status.ok();
  SHOAL_RETURN_IF_ERROR(status);
  out_ = nullptr;
  sources_.clear();
  (void)options_.files->Remove(Temporary("fetched"));
  return absl::OkStatus();
}

}  // namespace shoal
