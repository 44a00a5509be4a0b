#include "job/checkpoint_reader.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/path.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

absl::StatusOr<std::string> ReadPart(const FileSystem& files,
                                     const std::string& model_dir,
                                     const FileRequest& request) {
  const std::string path =
      JoinPath(JoinPath(model_dir, request.directory), request.file);
  SHOAL_ASSIGN_OR_RETURN(const auto file, files.OpenForRead(path));
  std::string bytes(request.bytes, '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t read,
                         file->Read(request.offset, absl::MakeSpan(bytes)));
  if (read == bytes.size()) return bytes;
  return absl::DataLossError(
      absl::StrCat(path, ": ends before byte ", request.offset + request.bytes,
                   ", which its manifest has"));
}

}  // namespace

CoordinatorWork::ReadFile CheckpointReader(const FileSystem* files,
                                           std::string model_dir,
                                           Executor* executor) {
  return [files, model_dir = std::move(model_dir), executor](
             FileRequest request, Done<std::string> done) {
    executor->Post([files, model_dir, request = std::move(request),
                    done = std::move(done)]() mutable {
      std::move(done)(ReadPart(*files, model_dir, request));
    });
  };
}

}  // namespace shoal
