#include "wire/codec/pull_frame.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "wire/codec/identity_codec.h"
#include "wire/codec/message_reader.h"
#include "wire/codec/wire_writer.h"

namespace shoal {
namespace {

// Bytes before a part's values for its tags and lengths: two tags of a byte,
// two lengths, and the index (5 bytes) and the offset (10 bytes) with their
// tags.
constexpr uint64_t kHeadRoom = 64;
static_assert(kHeadRoom >= 1 + 10 + 1 + 5 + 1 + 10 + 1 + 10);

// Bytes for the reply's identity, version, colour and step.
constexpr uint64_t kPrefixRoom = kMaxJobBytes + 160;

constexpr uint64_t kAlign = AlignedBuffer<char>::kAlignment;

uint64_t RoundUp(uint64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

}  // namespace

absl::Status PullFrame::DecodeTableIds(FragmentReader body,
                                       const CodecLimits& limits, Part* part) {
  MessageReader reader("PullRequest.tables", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.Uint32(field, "table", &part->index);
        break;
      case 2:
        reader.Uint32(field, "row_dim", &part->row_dim);
        break;
      case 3:
        reader.Array(field, "ids", sizeof(FeatureId), &part->id_bytes);
        break;
    }
  }
  if (part->row_dim > limits.max_row_dim) {
    reader.Fail(absl::StrCat("row_dim = ", part->row_dim, " is above ",
                             limits.max_row_dim));
  }
  part->ids = part->id_bytes.remaining() / sizeof(FeatureId);
  // A message holds fewer than 2^32 bytes, so fewer than 2^29 ids.
  part->value_bytes = part->ids * part->row_dim * sizeof(float);
  return reader.status();
}

absl::Status PullFrame::DecodeBlockRange(FragmentReader body, Part* part) {
  uint64_t size = 0;
  MessageReader reader("PullRequest.blocks", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.Uint32(field, "block", &part->index);
        break;
      case 2:
        reader.Uint64(field, &size);
        break;
      case 3:
        reader.Uint64(field, &part->offset);
        break;
    }
  }
  constexpr uint64_t kMaxElements = uint64_t{1} << 48;
  if (size > kMaxElements || part->offset > kMaxElements) {
    reader.Fail(absl::StrCat("size = ", size, " at offset ", part->offset,
                             " is larger than any block"));
  }
  part->value_bytes = size * sizeof(float);
  return reader.status();
}

absl::Status PullFrame::DecodeFields(FragmentReader body,
                                     const CodecLimits& limits) {
  uint64_t value_bytes = 0;
  MessageReader reader("PullRequest", body);
  for (WireField field; reader.Next(&field);) {
    if (field.number == 2) reader.Bool(field, &request_.read_only);
    if (field.type != WireType::kBytes) continue;
    switch (field.number) {
      case 1:
        reader.Merge(DecodeIdentity(field.body, &request_.identity));
        break;
      case 3: {
        if (tables_.size() == limits.max_tables) {
          reader.Fail(absl::StrCat("more than ", limits.max_tables, " tables"));
          break;
        }
        Part& part = tables_.emplace_back();
        reader.Merge(DecodeTableIds(field.body, limits, &part));
        value_bytes += part.value_bytes;
        break;
      }
      case 4: {
        if (blocks_.size() == limits.max_blocks) {
          reader.Fail(absl::StrCat("more than ", limits.max_blocks, " blocks"));
          break;
        }
        Part& part = blocks_.emplace_back();
        reader.Merge(DecodeBlockRange(field.body, &part));
        value_bytes += part.value_bytes;
        break;
      }
    }
    if (value_bytes > limits.max_reply_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the pull asks for ", value_bytes,
                       " bytes or more; the limit is ", limits.max_reply_bytes,
                       ": pull fewer rows at once or raise "
                       "--max_message_bytes"));
    }
  }
  return reader.status();
}

uint64_t PullFrame::LayOut(uint64_t first) {
  uint64_t end = first;
  for (std::vector<Part>* parts : {&tables_, &blocks_}) {
    for (Part& part : *parts) {
      part.values_at = RoundUp(end + kHeadRoom);
      end = part.values_at + part.value_bytes;
    }
  }
  return end;
}

absl::Status PullFrame::Decode(absl::Span<const absl::string_view> fragments,
                               const CodecLimits& limits, CopyCounter* copies) {
  request_ = {};
  tables_.clear();
  blocks_.clear();
  SHOAL_RETURN_IF_ERROR(DecodeFields(FragmentReader(fragments), limits));
  uint64_t total_ids = 0;
  for (const Part& part : tables_) total_ids += part.ids;
  ids_.ResizeDiscard(total_ids);
  most_ids_ = std::max(most_ids_, total_ids);
  reply_bytes_ = LayOut(kPrefixRoom);
  FeatureId* ids = ids_.data();
  for (Part& part : tables_) {
    const uint64_t bytes = part.id_bytes.remaining();
    part.id_bytes.CopyTo(ids, bytes);
    copies->Add(bytes, bytes);
    TablePull& table = request_.tables.emplace_back();
    table.table = part.index;
    table.ids = absl::MakeConstSpan(ids, part.ids);
    ids += part.ids;
  }
  for (const Part& part : blocks_) {
    BlockPull& block = request_.blocks.emplace_back();
    block.block = part.index;
    block.offset = part.offset;
  }
  return absl::OkStatus();
}

uint64_t PullFrame::reply_capacity() const {
  return WireBufferPool::Capacity(reply_bytes_);
}

uint64_t PullFrame::value_bytes() const {
  uint64_t bytes = 0;
  for (const std::vector<Part>* parts : {&tables_, &blocks_}) {
    for (const Part& part : *parts) bytes += part.value_bytes;
  }
  return bytes;
}

absl::Span<float> PullFrame::Values(const Part& part) const {
  return absl::MakeSpan(
      reinterpret_cast<float*>(reply_.data() + part.values_at),
      part.value_bytes / sizeof(float));
}

void PullFrame::MakeReply(WireBufferPool* pool) {
  reply_ = WireBufferRef(pool->Take(reply_bytes_));
  for (size_t i = 0; i < tables_.size(); ++i) {
    request_.tables[i].values = Values(tables_[i]);
  }
  for (size_t i = 0; i < blocks_.size(); ++i) {
    request_.blocks[i].values = Values(blocks_[i]);
  }
}

void PullFrame::WriteHead(const Part& part, bool table,
                          WireMessage* message) const {
  const uint64_t offset = table ? 0 : part.offset;
  const uint64_t body = VarintFieldBytes(part.index) +
                        VarintFieldBytes(offset) +
                        FieldBytesOrNone(part.value_bytes);
  const uint64_t head = 1 + VarintBytes(body) + body - part.value_bytes;
  char* start = reply_.data() + part.values_at - head;
  WireWriter out(start);
  out.BytesHeader(table ? 4 : 5, body);
  out.VarintField(1, part.index);
  out.VarintField(2, offset);
  out.BytesHeaderOrNone(table ? 2 : 3, part.value_bytes);
  message->fragments.emplace_back(start, head + part.value_bytes);
  message->size += head + part.value_bytes;
}

WireMessage PullFrame::EncodeReply(const PullReply& reply) {
  SHOAL_DCHECK(reply_.get() != nullptr);
  WireMessage message;
  WireWriter out(reply_.data());
  out.BytesHeader(1, IdentitySize(request_.identity));
  WriteIdentity(request_.identity, &out);
  out.BytesHeader(2, VersionSize(reply.version));
  WriteVersion(reply.version, &out);
  out.VarintField(3, reply.colour);
  out.VarintField(6, reply.step);
  message.size = static_cast<uint64_t>(out.position() - reply_.data());
  message.fragments.emplace_back(reply_.data(), message.size);
  for (const Part& part : tables_) WriteHead(part, true, &message);
  for (const Part& part : blocks_) WriteHead(part, false, &message);
  message.buffer = std::move(reply_);
  return message;
}

}  // namespace shoal
