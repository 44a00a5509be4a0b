#include "checkpoint/safetensors_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/path.h"
#include "base/status_macros.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<SafetensorsWriter>> SafetensorsWriter::Create(
    const FileSystem* files, const std::string& path, uint64_t attempt,
    const std::map<std::string, std::string>& metadata,
    std::vector<TensorInfo> tensors) {
  SHOAL_ASSIGN_OR_RETURN(const std::string header,
                         BuildSafetensorsHeader(metadata, &tensors));
  const std::string temporary = JoinPath(
      Dirname(path), absl::StrCat(".", Basename(path), ".attempt-", attempt));
  auto writer = std::unique_ptr<SafetensorsWriter>(
      new SafetensorsWriter(files, path, temporary));
  WrittenFile& written = writer->written_;
  written.file = std::string(Basename(path));
  written.data_begin = header.size();
  written.size = header.size();
  written.header_crc32c = Crc32c(header);
  for (TensorInfo& tensor : tensors) {
    written.size += tensor.bytes();
    written.tensors.push_back({std::move(tensor), {}});
  }
  SHOAL_ASSIGN_OR_RETURN(writer->out_, files->Create(temporary));
  SHOAL_RETURN_IF_ERROR(writer->out_->Append(header));
  return writer;
}

SafetensorsWriter::SafetensorsWriter(const FileSystem* files, std::string path,
                                     std::string temporary)
    : files_(files), path_(std::move(path)), temporary_(std::move(temporary)) {}

SafetensorsWriter::~SafetensorsWriter() {
  if (stage_ == Stage::kCommitted || out_ == nullptr) return;
  // An error here was reported before, or the next clean-up finds the file.
  (void)out_->Close();
  (void)files_->Remove(temporary_);
}

absl::Status SafetensorsWriter::FinishTensor() {
  WrittenTensor& tensor = written_.tensors[current_];
  if (checksums_.bytes() != tensor.info.bytes()) {
    return absl::InternalError(absl::StrCat(
        path_, ": tensor '", tensor.info.name, "' has ", checksums_.bytes(),
        " of its ", tensor.info.bytes(), " bytes"));
  }
  tensor.checksums = std::exchange(checksums_, {}).Finish();
  ++current_;
  return absl::OkStatus();
}

absl::Status SafetensorsWriter::Append(size_t index, absl::string_view bytes) {
  while (current_ < index && current_ < written_.tensors.size()) {
    SHOAL_RETURN_IF_ERROR(FinishTensor());
  }
  if (current_ != index || current_ == written_.tensors.size() ||
      bytes.size() >
          written_.tensors[current_].info.bytes() - checksums_.bytes()) {
    return absl::InternalError(absl::StrCat(
        path_, ": more bytes than declared for tensor number ", index));
  }
  checksums_.Append(bytes);
  return out_->Append(bytes);
}

absl::StatusOr<WrittenFile> SafetensorsWriter::Finish() {
  while (current_ < written_.tensors.size()) {
    SHOAL_RETURN_IF_ERROR(FinishTensor());
  }
  SHOAL_RETURN_IF_ERROR(out_->Flush());
  stage_ = Stage::kFinished;
  return written_;
}

absl::Status SafetensorsWriter::Sync() {
  SHOAL_RETURN_IF_ERROR(out_->Sync());
  stage_ = Stage::kSynced;
  return absl::OkStatus();
}

absl::StatusOr<WrittenFile> SafetensorsWriter::Commit() {
  if (stage_ == Stage::kTensors) SHOAL_RETURN_IF_ERROR(Finish().status());
  if (stage_ == Stage::kFinished) SHOAL_RETURN_IF_ERROR(Sync());
  SHOAL_RETURN_IF_ERROR(out_->Close());
  SHOAL_RETURN_IF_ERROR(files_->Rename(temporary_, path_));
  stage_ = Stage::kCommitted;
  return written_;
}

}  // namespace shoal
