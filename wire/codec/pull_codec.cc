#include "wire/codec/pull_codec.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "wire/codec/fragment_reader.h"
#include "wire/codec/identity_codec.h"
#include "wire/codec/message_reader.h"
#include "wire/codec/wire_writer.h"

namespace shoal {
namespace {

uint64_t IdBytes(const TablePull& table) {
  return table.ids.size() * sizeof(FeatureId);
}

uint64_t RowDim(const TablePull& table) {
  return table.ids.empty() ? 0 : table.values.size() / table.ids.size();
}

uint64_t TableIdsSize(const TablePull& table) {
  return VarintFieldBytes(table.table) + VarintFieldBytes(RowDim(table)) +
         FieldBytesOrNone(IdBytes(table));
}

uint64_t BlockRangeSize(const BlockPull& block) {
  return VarintFieldBytes(block.block) + VarintFieldBytes(block.values.size()) +
         VarintFieldBytes(block.offset);
}

// A bulk field of a reply: the table or block that it names, and its values.
struct ReplyPart {
  uint32_t index = 0;   // of the table or block
  uint64_t offset = 0;  // of a block
  FragmentReader values;
};

absl::Status DecodeTableValues(FragmentReader body, ReplyPart* part) {
  MessageReader reader("TableValues", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.Uint32(field, "table", &part->index);
        break;
      case 2:
        reader.Body(field, &part->values);
        break;
    }
  }
  return reader.status();
}

absl::Status DecodeBlockValues(FragmentReader body, ReplyPart* part) {
  MessageReader reader("BlockValues", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.Uint32(field, "block", &part->index);
        break;
      case 2:
        reader.Uint64(field, &part->offset);
        break;
      case 3:
        reader.Body(field, &part->values);
        break;
    }
  }
  return reader.status();
}

// Copies the values of `part` to `out`. DATA_LOSS if `part` is not the table or
// block `index` from `offset` on, or has another length than `out`.
absl::Status CopyValues(absl::string_view what, ReplyPart part, uint32_t index,
                        uint64_t offset, absl::Span<float> out,
                        CopyCounter* copies) {
  if (part.index != index || part.offset != offset) {
    return absl::DataLossError(absl::StrCat(
        "the reply has ", what, " ", part.index, " from element ", part.offset,
        " on, but ", what, " ", index, " from element ", offset,
        " on was asked"));
  }
  const uint64_t bytes = out.size() * sizeof(float);
  if (part.values.remaining() != bytes) {
    return absl::DataLossError(
        absl::StrCat("the reply has ", part.values.remaining(), " bytes for ",
                     what, " ", index, ", but ", bytes, " were asked"));
  }
  part.values.CopyTo(out.data(), bytes);
  copies->Add(bytes, bytes);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPullRequest(const PullRequest& request) {
  for (const TablePull& table : request.tables) {
    if (table.ids.empty() ? !table.values.empty()
                          : table.values.size() % table.ids.size() != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("pull of table ", table.table, ": ", table.values.size(),
                       " floats are not a multiple of the ", table.ids.size(),
                       " ids"));
    }
  }
  return absl::OkStatus();
}

WireMessage EncodePullRequest(const PullRequest& request, WireBufferPool* pool,
                              CopyCounter* copies) {
  SHOAL_DCHECK(CheckPullRequest(request).ok());
  WireMessage message;
  const uint64_t identity_size = IdentitySize(request.identity);
  message.size =
      FieldBytes(identity_size) + VarintFieldBytes(request.read_only);
  for (const TablePull& table : request.tables) {
    message.size += FieldBytes(TableIdsSize(table));
  }
  for (const BlockPull& block : request.blocks) {
    message.size += FieldBytes(BlockRangeSize(block));
  }
  message.buffer = WireBufferRef(pool->Take(message.size));

  WireWriter out(message.buffer.data());
  out.BytesHeader(1, identity_size);
  WriteIdentity(request.identity, &out);
  out.VarintField(2, request.read_only);
  for (const TablePull& table : request.tables) {
    out.BytesHeader(3, TableIdsSize(table));
    out.VarintField(1, table.table);
    out.VarintField(2, RowDim(table));
    out.BytesHeaderOrNone(3, IdBytes(table));
    out.Raw(table.ids.data(), IdBytes(table));
    copies->Add(IdBytes(table), IdBytes(table));
  }
  for (const BlockPull& block : request.blocks) {
    out.BytesHeader(4, BlockRangeSize(block));
    out.VarintField(1, block.block);
    out.VarintField(2, block.values.size());
    out.VarintField(3, block.offset);
  }
  message.fragments.emplace_back(message.buffer.data(), message.size);
  return message;
}

absl::Status DecodePullReply(absl::Span<const absl::string_view> fragments,
                             const PullRequest& request, CopyCounter* copies,
                             PullReply* reply) {
  CallIdentity identity;
  size_t tables = 0;
  size_t blocks = 0;
  absl::Status values = absl::OkStatus();
  MessageReader reader("PullReply", FragmentReader(fragments));
  for (WireField field; values.ok() && reader.Next(&field);) {
    if (field.number == 3) reader.Uint32(field, "colour", &reply->colour);
    if (field.number == 6) reader.Uint64(field, &reply->step);
    if (field.type != WireType::kBytes) continue;
    switch (field.number) {
      case 1:
        reader.Merge(DecodeIdentity(field.body, &identity));
        break;
      case 2:
        reader.Merge(DecodeVersion(field.body, &reply->version));
        break;
      case 4: {
        ReplyPart part;
        reader.Merge(DecodeTableValues(field.body, &part));
        if (!reader.ok()) break;
        if (tables == request.tables.size()) {
          values = absl::DataLossError("the reply has more tables than asked");
          break;
        }
        const TablePull& table = request.tables[tables++];
        values =
            CopyValues("table", part, table.table, 0, table.values, copies);
        break;
      }
      case 5: {
        ReplyPart part;
        reader.Merge(DecodeBlockValues(field.body, &part));
        if (!reader.ok()) break;
        if (blocks == request.blocks.size()) {
          values = absl::DataLossError("the reply has more blocks than asked");
          break;
        }
        const BlockPull& block = request.blocks[blocks++];
        values = CopyValues("block", part, block.block, block.offset,
                            block.values, copies);
        break;
      }
    }
  }
  SHOAL_RETURN_IF_ERROR(values);
  if (!reader.ok()) return absl::DataLossError(reader.status().message());
  SHOAL_RETURN_IF_ERROR(
      CheckAnswers(request.identity, identity, &reply->version));
  if (tables != request.tables.size() || blocks != request.blocks.size()) {
    return absl::DataLossError(absl::StrCat(
        "the reply has ", tables, " tables and ", blocks, " blocks, but ",
        request.tables.size(), " and ", request.blocks.size(), " were asked"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
