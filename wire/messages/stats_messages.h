#ifndef SHOAL_WIRE_MESSAGES_STATS_MESSAGES_H_
#define SHOAL_WIRE_MESSAGES_STATS_MESSAGES_H_

#include "absl/status/status.h"
#include "core/parameter_service.h"
#include "proto/shoal.pb.h"

namespace shoal {

// Conversions of statistics, with the contract of common_messages.h. The caller
// converts the identity of a StatsReply.
void ToProto(const StatsReply& in, v1::StatsReply* out);
absl::Status FromProto(const v1::StatsReply& in, StatsReply* out);

}  // namespace shoal

#endif  // SHOAL_WIRE_MESSAGES_STATS_MESSAGES_H_
