#include "checkpoint/safetensors_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/status_macros.h"

namespace shoal {

absl::Status SafetensorsReader::ReadExactly(uint64_t offset,
                                            absl::Span<char> out) const {
  SHOAL_ASSIGN_OR_RETURN(const size_t n, file_->Read(offset, out));
  if (n == out.size()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path_, ": the file ends at byte ",
                                          offset + n, ", and ", out.size() - n,
                                          " more are needed"));
}

absl::StatusOr<std::unique_ptr<SafetensorsReader>> SafetensorsReader::Open(
    const FileSystem& files, const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(auto file, files.OpenForRead(path));
  const uint64_t size = file->size();
  auto reader = std::unique_ptr<SafetensorsReader>(
      new SafetensorsReader(path, std::move(file)));
  char length[8];
  SHOAL_RETURN_IF_ERROR(reader->ReadExactly(0, absl::MakeSpan(length)));
  uint64_t json_bytes = 0;
  for (int i = 7; i >= 0; --i) {
    json_bytes = json_bytes << 8 | static_cast<unsigned char>(length[i]);
  }
  if (json_bytes > kSafetensorsHeaderMax || json_bytes > size - 8) {
    return absl::DataLossError(absl::StrCat(
        path, ": claims a header of ", json_bytes, " bytes; the file has ",
        size, ", and at most ", kSafetensorsHeaderMax,
        " are read: it is damaged, or not a safetensors file"));
  }
  std::string json(json_bytes, '\0');
  SHOAL_RETURN_IF_ERROR(reader->ReadExactly(8, absl::MakeSpan(json)));
  auto header = ParseSafetensorsHeader(json, size);
  if (!header.ok()) return Annotate(header.status(), path);
  reader->header_ = *std::move(header);
  reader->header_crc32c_ =
      Crc32cExtend(Crc32c(absl::string_view(length, 8)), json);
  return reader;
}

absl::StatusOr<std::unique_ptr<SafetensorsReader>> SafetensorsReader::Open(
    const FileSystem& files, const std::string& path,
    const WrittenFile& expected) {
  SHOAL_ASSIGN_OR_RETURN(auto reader, Open(files, path));
  const SafetensorsHeader& header = reader->header_;
  const auto damaged = [&path](absl::string_view what) {
    return absl::DataLossError(absl::StrCat(path, ": ", what));
  };
  if (reader->file_->size() != expected.size) {
    return damaged(absl::StrCat("has ", reader->file_->size(),
                                " bytes, and the manifest says ",
                                expected.size));
  }
  if (reader->header_crc32c_ != expected.header_crc32c) {
    return damaged(absl::StrCat("the header, bytes 0 to ", header.data_begin,
                                ", does not have the CRC of the manifest"));
  }
  bool same = header.tensors.size() == expected.tensors.size();
  for (const WrittenTensor& tensor : expected.tensors) {
    const TensorInfo* found = same ? header.Find(tensor.info.name) : nullptr;
    same = found != nullptr && *found == tensor.info;
    if (!same) break;
  }
  if (!same) return damaged("its tensors differ from those in the manifest");
  return reader;
}

absl::Status SafetensorsReader::Read(const TensorInfo& tensor, uint64_t offset,
                                     absl::Span<char> out) const {
  SHOAL_DCHECK(offset + out.size() <= tensor.bytes());
  return ReadExactly(header_.data_begin + tensor.begin + offset, out);
}

absl::Status CheckedTensor::LoadBlock(uint64_t block) {
  const uint64_t begin = block * kChecksumBlockBytes;
  const uint64_t bytes = std::min(kChecksumBlockBytes, info().bytes() - begin);
  loaded_ = ~uint64_t{0};
  buffer_.ResizeDiscard(bytes);
  SHOAL_RETURN_IF_ERROR(reader_->Read(info(), begin, buffer_.span()));
  const std::vector<uint32_t>& sums = tensor_->checksums.blocks;
  const uint32_t crc = Crc32c(absl::string_view(buffer_.data(), bytes));
  if (block >= sums.size() || crc != sums[block]) {
    const uint64_t at = reader_->header().data_begin + info().begin + begin;
    return absl::DataLossError(
        absl::StrCat(reader_->path(), ": tensor '", info().name, "', block ",
                     block, " (bytes ", at, " to ", at + bytes,
                     " of the file) does not have the CRC of the manifest"));
  }
  loaded_ = block;
  return absl::OkStatus();
}

absl::Status CheckedTensor::Read(uint64_t offset, absl::Span<char> out) {
  while (!out.empty()) {
    const uint64_t block = offset / kChecksumBlockBytes;
    if (block != loaded_) SHOAL_RETURN_IF_ERROR(LoadBlock(block));
    const uint64_t in_block = offset % kChecksumBlockBytes;
    const size_t n = std::min<uint64_t>(out.size(), buffer_.size() - in_block);
    std::memcpy(out.data(), buffer_.data() + in_block, n);
    out.remove_prefix(n);
    offset += n;
  }
  return absl::OkStatus();
}

}  // namespace shoal
