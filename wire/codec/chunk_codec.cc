#include "wire/codec/chunk_codec.h"

#include "base/status_macros.h"
#include "wire/codec/fragment_reader.h"
#include "wire/codec/identity_codec.h"
#include "wire/codec/message_reader.h"
#include "wire/codec/push_codec.h"
#include "wire/codec/wire_writer.h"

namespace shoal {

std::string EncodePushChunkHead(const PushChunk& chunk, uint64_t data_bytes) {
  // All fields have a bound: each is a tag and a varint of at most 10 bytes.
  std::string head(kMaxJobBytes + 256, '\0');
  WireWriter out(head.data());
  out.BytesHeader(1, IdentitySize(chunk.identity));
  WriteIdentity(chunk.identity, &out);
  out.BytesHeader(2, BatchIdSize(chunk.batch));
  WriteBatchId(chunk.batch, &out);
  out.VarintField(3, chunk.upload);
  out.VarintField(4, chunk.index);
  out.VarintField(5, chunk.count);
  out.VarintField(6, chunk.total_bytes);
  out.Fixed32Field(7, chunk.crc32c);
  out.BytesHeaderOrNone(8, data_bytes);
  head.resize(static_cast<size_t>(out.position() - head.data()));
  return head;
}

absl::Status DecodePushChunk(absl::Span<const absl::string_view> fragments,
                             PushChunk* chunk) {
  *chunk = {};
  FragmentReader data;
  MessageReader reader("PushChunkRequest", FragmentReader(fragments));
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeIdentity(field.body, &chunk->identity));
        break;
      case 2:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeBatchId(field.body, &chunk->batch));
        break;
      case 3:
        reader.Uint64(field, &chunk->upload);
        break;
      case 4:
        reader.Uint32(field, "index", &chunk->index);
        break;
      case 5:
        reader.Uint32(field, "count", &chunk->count);
        break;
      case 6:
        reader.Uint64(field, &chunk->total_bytes);
        break;
      case 7:
        reader.Fixed32(field, &chunk->crc32c);
        break;
      case 8:
        reader.Body(field, &data);
        break;
    }
  }
  data.ListFragments(&chunk->data);
  return reader.status();
}

std::string EncodePushChunkReply(const CallIdentity& asked,
                                 absl::string_view push) {
  std::string reply(kMaxJobBytes + 128 + push.size(), '\0');
  WireWriter out(reply.data());
  out.BytesHeader(1, IdentitySize(asked));
  WriteIdentity(asked, &out);
  out.BytesField(2, push);
  reply.resize(static_cast<size_t>(out.position() - reply.data()));
  return reply;
}

absl::Status DecodePushChunkReply(absl::Span<const absl::string_view> fragments,
                                  const CallIdentity& asked,
                                  std::optional<PushReply>* push) {
  push->reset();
  CallIdentity identity;
  FragmentReader body;
  MessageReader reader("PushChunkReply", FragmentReader(fragments));
  for (WireField field; reader.Next(&field);) {
    if (field.number == 1 && field.type == WireType::kBytes) {
      reader.Merge(DecodeIdentity(field.body, &identity));
    }
    if (field.number == 2) reader.Body(field, &body);
  }
  if (!reader.ok()) return absl::DataLossError(reader.status().message());
  SHOAL_RETURN_IF_ERROR(CheckAnswers(asked, identity, nullptr));
  if (body.remaining() == 0) return absl::OkStatus();
  std::vector<absl::string_view> push_fragments;
  body.ListFragments(&push_fragments);
  return DecodePushReply(push_fragments, asked, &push->emplace());
}

}  // namespace shoal
