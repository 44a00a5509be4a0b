#include "wire/codec/push_frame.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "wire/codec/identity_codec.h"
#include "wire/codec/message_reader.h"
#include "wire/codec/wire_writer.h"

namespace shoal {
namespace {

// `n` rounded up to whole cache lines of floats, so that each part's gradients
// start on a cache line.
uint64_t RoundUpFloats(uint64_t n) {
  constexpr uint64_t kAlign = AlignedBuffer<float>::kAlignment / sizeof(float);
  return (n + kAlign - 1) / kAlign * kAlign;
}

absl::Status DecodePushedBatch(FragmentReader body, PushedBatch* out) {
  MessageReader reader("PushRequest.more_batches", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeBatchId(field.body, &out->id));
        break;
      case 2:
        reader.Uint64(field, &out->lease);
        break;
      case 3:
        reader.Uint32(field, "examples", &out->examples);
        break;
      case 4:
        reader.Bool(field, &out->rejected);
        break;
    }
  }
  return reader.status();
}

}  // namespace

absl::Status PushFrame::DecodeTable(FragmentReader body, Part* part) {
  MessageReader table("PushRequest.tables", body);
  for (WireField f; table.Next(&f);) {
    if (f.number == 1) table.Uint32(f, "table", &part->index);
    if (f.number == 2) table.Array(f, "ids", sizeof(FeatureId), &part->ids);
    if (f.number == 3) {
      table.Array(f, "gradients", sizeof(float), &part->gradients);
    }
  }
  return table.status();
}

absl::Status PushFrame::DecodeBlock(FragmentReader body, Part* part) {
  MessageReader block("PushRequest.blocks", body);
  for (WireField f; block.Next(&f);) {
    if (f.number == 1) block.Uint32(f, "block", &part->index);
    if (f.number == 2) {
      block.Array(f, "gradients", sizeof(float), &part->gradients);
    }
  }
  return block.status();
}

absl::Status PushFrame::DecodeFields(FragmentReader body,
                                     const CodecLimits& limits) {
  MessageReader reader("PushRequest", body);
  PushedBatch first;
  for (WireField field; reader.Next(&field);) {
    if (field.number == 3) reader.Uint64(field, &first.lease);
    if (field.number == 4) reader.Uint32(field, "colour", &request_.colour);
    if (field.number == 8) reader.Bool(field, &first.rejected);
    if (field.number == 9) reader.Uint32(field, "examples", &first.examples);
    if (field.number == 11) reader.Uint64(field, &request_.step);
    if (field.type != WireType::kBytes) continue;
    switch (field.number) {
      case 1:
        reader.Merge(DecodeIdentity(field.body, &request_.identity));
        break;
      case 2:
        reader.Merge(DecodeBatchId(field.body, &first.id));
        break;
      case 5:
        reader.Merge(DecodeVersion(field.body, &request_.pulled));
        break;
      case 6:
        if (tables_.size() == limits.max_tables) {
          reader.Fail(absl::StrCat("more than ", limits.max_tables, " tables"));
          break;
        }
        reader.Merge(DecodeTable(field.body, &tables_.emplace_back()));
        break;
      case 7:
        if (blocks_.size() == limits.max_blocks) {
          reader.Fail(absl::StrCat("more than ", limits.max_blocks, " blocks"));
          break;
        }
        reader.Merge(DecodeBlock(field.body, &blocks_.emplace_back()));
        break;
      case 10:
        if (request_.batches.size() == limits.max_batches) {
          reader.Fail(
              absl::StrCat("more than ", limits.max_batches, " batches"));
          break;
        }
        reader.Merge(
            DecodePushedBatch(field.body, &request_.batches.emplace_back()));
        break;
    }
  }
  request_.batches[0] = first;
  return reader.status();
}

absl::Status PushFrame::Decode(absl::Span<const absl::string_view> fragments,
                               const CodecLimits& limits, CopyCounter* copies) {
  request_ = {};
  request_.batches.emplace_back();  // the first, whose fields are the push's
  tables_.clear();
  blocks_.clear();
  SHOAL_RETURN_IF_ERROR(DecodeFields(FragmentReader(fragments), limits));
  uint64_t id_count = 0;
  uint64_t float_count = 0;
  for (const std::vector<Part>* parts : {&tables_, &blocks_}) {
    for (const Part& part : *parts) {
      id_count += part.ids.remaining() / sizeof(FeatureId);
      float_count += RoundUpFloats(part.gradients.remaining() / sizeof(float));
    }
  }
  ids_.ResizeDiscard(id_count);
  gradients_.ResizeDiscard(float_count);
  most_ids_ = std::max(most_ids_, id_count);
  most_floats_ = std::max(most_floats_, float_count);

  FeatureId* ids = ids_.data();
  float* gradients = gradients_.data();
  uint64_t payload = 0;
  const auto copy_gradients = [&](Part& part) {
    const uint64_t bytes = part.gradients.remaining();
    part.gradients.CopyTo(gradients, bytes);
    payload += bytes;
    const auto span = absl::MakeConstSpan(gradients, bytes / sizeof(float));
    gradients += RoundUpFloats(span.size());
    return span;
  };
  for (Part& part : tables_) {
    const uint64_t bytes = part.ids.remaining();
    part.ids.CopyTo(ids, bytes);
    payload += bytes;
    TablePush& table = request_.tables.emplace_back();
    table.table = part.index;
    table.ids = absl::MakeConstSpan(ids, bytes / sizeof(FeatureId));
    table.gradients = copy_gradients(part);
    ids += table.ids.size();
  }
  for (Part& part : blocks_) {
    BlockPush& block = request_.blocks.emplace_back();
    block.block = part.index;
    block.gradients = copy_gradients(part);
  }
  copies->Add(payload, payload);
  return absl::OkStatus();
}

WireMessage PushFrame::EncodeReply(const PushReply& reply,
                                   WireBufferPool* pool) const {
  const CallIdentity& asked = request_.identity;
  WireMessage message;
  message.size = FieldBytes(IdentitySize(asked)) +
                 VarintFieldBytes(static_cast<uint64_t>(reply.verdict)) +
                 VarintFieldBytes(reply.repeat) +
                 FieldBytes(VersionSize(reply.version)) +
                 VarintFieldBytes(reply.colour) +
                 VarintFieldBytes(reply.dropped);
  message.buffer = WireBufferRef(pool->Take(message.size));
  WireWriter out(message.buffer.data());
  out.BytesHeader(1, IdentitySize(asked));
  WriteIdentity(asked, &out);
  out.VarintField(2, static_cast<uint64_t>(reply.verdict));
  out.VarintField(3, reply.repeat);
  out.BytesHeader(4, VersionSize(reply.version));
  WriteVersion(reply.version, &out);
  out.VarintField(5, reply.colour);
  out.VarintField(6, reply.dropped);
  message.fragments.emplace_back(message.buffer.data(), message.size);
  return message;
}

}  // namespace shoal
