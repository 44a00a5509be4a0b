#ifndef SHOAL_RPC_SERVER_INCOMING_CALL_H_
#define SHOAL_RPC_SERVER_INCOMING_CALL_H_

#include <grpcpp/generic/async_generic_service.h>

namespace shoal {

// A call of any method, as gRPC hands it over: its metadata are here, and gRPC
// takes no more of its messages than the stream's window until one is read.
struct IncomingCall {
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter stream{&context};
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_INCOMING_CALL_H_
