#ifndef SHOAL_WIRE_CODEC_IDENTITY_CODEC_H_
#define SHOAL_WIRE_CODEC_IDENTITY_CODEC_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/parameter_service.h"
#include "wire/codec/fragment_reader.h"
#include "wire/codec/wire_writer.h"

namespace shoal {

// Codecs of the small messages that every request and reply carries. XSize
// returns the bytes of the message's body, without the tag and length before
// the body. WriteX writes these bytes. DecodeX reads a body into `out`. A
// member of `out` that the body lacks stays as it is, because this is how
// protobuf merges a field that comes twice. INVALID_ARGUMENT says what is
// wrong.

// The most bytes that a job's label may have on the wire.
inline constexpr uint64_t kMaxJobBytes = 256;

uint64_t LifeSize(const Life& life);
void WriteLife(const Life& life, WireWriter* out);
absl::Status DecodeLife(FragmentReader body, Life* out);

uint64_t IdentitySize(const CallIdentity& identity);
void WriteIdentity(const CallIdentity& identity, WireWriter* out);
absl::Status DecodeIdentity(FragmentReader body, CallIdentity* out);

uint64_t BatchIdSize(const BatchId& batch);
void WriteBatchId(const BatchId& batch, WireWriter* out);
absl::Status DecodeBatchId(FragmentReader body, BatchId* out);

uint64_t VersionSize(const Version& version);
void WriteVersion(const Version& version, WireWriter* out);
absl::Status DecodeVersion(FragmentReader body, Version* out);

// OK if `reply` answers the request with the identity `asked`: it repeats this
// identity, and `version`, unless null, is of the shard life that was asked.
// FAILED_PRECONDITION names what differs. The caller must drop such a reply.
absl::Status CheckAnswers(const CallIdentity& asked, const CallIdentity& reply,
                          const Version* version);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_IDENTITY_CODEC_H_
