#ifndef SHOAL_RPC_TRANSPORT_GRPC_STATUS_H_
#define SHOAL_RPC_TRANSPORT_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace shoal {

// absl's and gRPC's codes have the same numbers. A message is cut to what fits
// beside other metadata in an HTTP/2 header (4 KiB).
grpc::Status ToGrpcStatus(const absl::Status& status);

// Codes that gRPC does not define become UNKNOWN.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_GRPC_STATUS_H_
