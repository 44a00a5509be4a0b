#ifndef SHOAL_RPC_TRANSPORT_GRPC_STATUS_H_
#define SHOAL_RPC_TRANSPORT_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace shoal {

// The codes of absl and gRPC have the same numbers. A message is truncated to
// 2 KiB, so that it fits beside other metadata into an HTTP/2 header (8 KiB).
grpc::Status ToGrpcStatus(const absl::Status& status);

// Codes that gRPC does not define become UNKNOWN.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_GRPC_STATUS_H_
