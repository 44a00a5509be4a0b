#ifndef SHOAL_WIRE_MESSAGES_COMMON_MESSAGES_H_
#define SHOAL_WIRE_MESSAGES_COMMON_MESSAGES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/histogram.h"
#include "core/ids.h"
#include "core/parameter_service.h"
#include "core/pushed_batch.h"
#include "core/save_messages.h"
#include "proto/shoal.pb.h"

namespace shoal {

// Conversions between core's types and the messages of proto/shoal.proto that
// are not on the hot path. ToProto overwrites `out`. FromProto validates:
// INVALID_ARGUMENT says which field is wrong and why. Only wire/ and rpc/
// include this header.

void ToProto(const Life& in, v1::Life* out);
Life FromProto(const v1::Life& in);

void ToProto(const BatchId& in, v1::BatchId* out);
BatchId FromProto(const v1::BatchId& in);

void ToProto(const Version& in, v1::Version* out);
Version FromProto(const v1::Version& in);

void ToProto(const CallIdentity& in, v1::Identity* out);
CallIdentity FromProto(const v1::Identity& in);

void ToProto(const absl::Status& in, v1::Status* out);
absl::Status FromProto(const v1::Status& in, absl::Status* out);

void ToProto(const Histogram& in, v1::Histogram* out);
absl::Status FromProto(const v1::Histogram& in, Histogram* out);

absl::Status FromProto(v1::Verdict in, Verdict* out);

void ToProto(const PushedBatch& in, v1::PushedBatch* out);
PushedBatch FromProto(const v1::PushedBatch& in);

void ToProto(const ManifestOffer& in, v1::ManifestOffer* out);
ManifestOffer FromProto(const v1::ManifestOffer& in);

}  // namespace shoal

#endif  // SHOAL_WIRE_MESSAGES_COMMON_MESSAGES_H_
