#include "wire/codec/push_codec.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "wire/codec/fragment_reader.h"
#include "wire/codec/identity_codec.h"
#include "wire/codec/message_reader.h"
#include "wire/codec/verdict_codec.h"
#include "wire/codec/wire_writer.h"

namespace shoal {
namespace {

uint64_t IdBytes(const TablePush& table) {
  return table.ids.size() * sizeof(FeatureId);
}

uint64_t GradientBytes(absl::Span<const float> gradients) {
  return gradients.size() * sizeof(float);
}

uint64_t TableGradientsSize(const TablePush& table) {
  return VarintFieldBytes(table.table) + FieldBytesOrNone(IdBytes(table)) +
         FieldBytesOrNone(GradientBytes(table.gradients));
}

uint64_t BlockGradientsSize(const BlockPush& block) {
  return VarintFieldBytes(block.block) +
         FieldBytesOrNone(GradientBytes(block.gradients));
}

uint64_t PushedBatchSize(const PushedBatch& batch) {
  return FieldBytes(BatchIdSize(batch.id)) + VarintFieldBytes(batch.lease) +
         VarintFieldBytes(batch.examples) + VarintFieldBytes(batch.rejected);
}

// The batches after the first.
absl::Span<const PushedBatch> MoreBatches(const PushRequest& request) {
  return absl::MakeConstSpan(request.batches).subspan(1);
}

uint64_t PushRequestSize(const PushRequest& request) {
  const PushedBatch& first = request.batches[0];
  uint64_t size = FieldBytes(IdentitySize(request.identity)) +
                  FieldBytes(BatchIdSize(first.id)) +
                  VarintFieldBytes(first.lease) +
                  VarintFieldBytes(request.colour) +
                  FieldBytes(VersionSize(request.pulled));
  for (const TablePush& table : request.tables) {
    size += FieldBytes(TableGradientsSize(table));
  }
  for (const BlockPush& block : request.blocks) {
    size += FieldBytes(BlockGradientsSize(block));
  }
  size += VarintFieldBytes(first.rejected) + VarintFieldBytes(first.examples);
  for (const PushedBatch& batch : MoreBatches(request)) {
    size += FieldBytes(PushedBatchSize(batch));
  }
  size += VarintFieldBytes(request.step);
  return size;
}

void WriteMoreBatches(const PushRequest& request, WireWriter* out) {
  for (const PushedBatch& batch : MoreBatches(request)) {
    out->BytesHeader(10, PushedBatchSize(batch));
    out->BytesHeader(1, BatchIdSize(batch.id));
    WriteBatchId(batch.id, out);
    out->VarintField(2, batch.lease);
    out->VarintField(3, batch.examples);
    out->VarintField(4, batch.rejected);
  }
}

}  // namespace

WireMessage EncodePushRequest(const PushRequest& request, WireBufferPool* pool,
                              CopyCounter* copies) {
  SHOAL_DCHECK(CheckPushedBatches(request.batches).ok());
  const PushedBatch& first = request.batches[0];
  WireMessage message;
  message.size = PushRequestSize(request);
  message.buffer = WireBufferRef(pool->Take(message.size));
  WireWriter out(message.buffer.data());
  out.BytesHeader(1, IdentitySize(request.identity));
  WriteIdentity(request.identity, &out);
  out.BytesHeader(2, BatchIdSize(first.id));
  WriteBatchId(first.id, &out);
  out.VarintField(3, first.lease);
  out.VarintField(4, request.colour);
  out.BytesHeader(5, VersionSize(request.pulled));
  WriteVersion(request.pulled, &out);
  uint64_t payload = 0;
  for (const TablePush& table : request.tables) {
    out.BytesHeader(6, TableGradientsSize(table));
    out.VarintField(1, table.table);
    out.BytesHeaderOrNone(2, IdBytes(table));
    out.Raw(table.ids.data(), IdBytes(table));
    out.BytesHeaderOrNone(3, GradientBytes(table.gradients));
    out.Raw(table.gradients.data(), GradientBytes(table.gradients));
    payload += IdBytes(table) + GradientBytes(table.gradients);
  }
  for (const BlockPush& block : request.blocks) {
    out.BytesHeader(7, BlockGradientsSize(block));
    out.VarintField(1, block.block);
    out.BytesHeaderOrNone(2, GradientBytes(block.gradients));
    out.Raw(block.gradients.data(), GradientBytes(block.gradients));
    payload += GradientBytes(block.gradients);
  }
  out.VarintField(8, first.rejected);
  out.VarintField(9, first.examples);
  WriteMoreBatches(request, &out);
  out.VarintField(11, request.step);
  copies->Add(payload, payload);
  message.fragments.emplace_back(message.buffer.data(), message.size);
  return message;
}

absl::Status DecodePushReply(absl::Span<const absl::string_view> fragments,
                             const CallIdentity& asked, PushReply* reply) {
  CallIdentity identity;
  uint32_t verdict = 0;
  MessageReader reader("PushReply", FragmentReader(fragments));
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeIdentity(field.body, &identity));
        break;
      case 2:
        reader.Uint32(field, "verdict", &verdict);
        break;
      case 3:
        reader.Bool(field, &reply->repeat);
        break;
      case 4:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeVersion(field.body, &reply->version));
        break;
      case 5:
        reader.Uint32(field, "colour", &reply->colour);
        break;
      case 6:
        reader.Bool(field, &reply->dropped);
        break;
    }
  }
  reader.Merge(DecodeVerdict(verdict, &reply->verdict));
  if (!reader.ok()) return absl::DataLossError(reader.status().message());
  return CheckAnswers(asked, identity, &reply->version);
}

}  // namespace shoal
