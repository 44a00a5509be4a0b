#ifndef SHOAL_RPC_SERVER_INCOMING_CALL_H_
#define SHOAL_RPC_SERVER_INCOMING_CALL_H_

#include <grpcpp/generic/async_generic_service.h>

namespace shoal {

// A call of any method, as gRPC hands it over. The metadata of the call is
// there. Until a message is read, gRPC accepts no more bytes of the call's
// messages than the stream's window.
struct IncomingCall {
  grpc::GenericServerContext context;
  grpc::GenericServerAsyncReaderWriter stream{&context};
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_INCOMING_CALL_H_
