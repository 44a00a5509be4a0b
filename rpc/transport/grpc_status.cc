#include "rpc/transport/grpc_status.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// A byte may take three bytes in the header (%XX). A header has at most 8 KiB
// by default.
constexpr size_t kMaxMessageBytes = 2048;

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(
      static_cast<grpc::StatusCode>(status.code()),
      std::string(status.message().substr(
          0, std::min(status.message().size(), kMaxMessageBytes))));
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::StatusCode code = static_cast<absl::StatusCode>(status.error_code());
  if (status.error_code() < 0 ||
      status.error_code() > grpc::StatusCode::UNAUTHENTICATED) {
    code = absl::StatusCode::kUnknown;
  }
  std::string message = status.error_message();
  if (code == absl::StatusCode::kResourceExhausted &&
      absl::StrContains(message, "larger than max")) {
    absl::StrAppend(&message,
                    ": raise --max_message_bytes in the process that receives "
                    "the message");
  }
  return absl::Status(code, message);
}

}  // namespace shoal
