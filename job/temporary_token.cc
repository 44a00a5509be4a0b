#include "job/temporary_token.h"

#include <stdlib.h>
#include <string.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/token.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<TemporaryToken>> TemporaryToken::Create() {
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::temp_directory_path(error);
  if (error) {
    return absl::InternalError(
        absl::StrCat("no directory for temporary files: ", error.message()));
  }
  std::string directory = (parent / "shoal-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) {
    return absl::InternalError(absl::StrCat(
        "cannot make a directory in ", parent.string(), ": ", strerror(errno)));
  }
  std::unique_ptr<TemporaryToken> file(new TemporaryToken(directory));
  SHOAL_ASSIGN_OR_RETURN(const std::string token, MakeToken());
  SHOAL_RETURN_IF_ERROR(WriteTokenFile(file->path(), token));
  return file;
}

TemporaryToken::TemporaryToken(std::string directory)
    : directory_(std::move(directory)),
      path_(absl::StrCat(directory_, "/token")) {}

TemporaryToken::~TemporaryToken() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  std::filesystem::remove(directory_, ignored);
}

}  // namespace shoal
