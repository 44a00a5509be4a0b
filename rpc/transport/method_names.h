#ifndef SHOAL_RPC_TRANSPORT_METHOD_NAMES_H_
#define SHOAL_RPC_TRANSPORT_METHOD_NAMES_H_

namespace shoal {

// The paths that gRPC forms for the methods of proto/shoal.proto.
inline constexpr char kPullMethod[] = "/shoal.v1.ParameterServer/Pull";
inline constexpr char kPushMethod[] = "/shoal.v1.ParameterServer/Push";
inline constexpr char kPushChunkMethod[] =
    "/shoal.v1.ParameterServer/PushChunk";
inline constexpr char kStatsMethod[] = "/shoal.v1.ParameterServer/Stats";
inline constexpr char kRegisterMethod[] = "/shoal.v1.Cluster/Register";
inline constexpr char kSessionMethod[] = "/shoal.v1.Cluster/Session";
inline constexpr char kSaveCheckpointMethod[] =
    "/shoal.v1.Cluster/SaveCheckpoint";

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_METHOD_NAMES_H_
