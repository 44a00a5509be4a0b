#include "core/collective_operation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

absl::string_view KindName(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return "AllReduce";
    case CollectiveKind::kAllGather:
      return "AllGather";
    case CollectiveKind::kBroadcast:
      return "Broadcast";
  }
  return "an unknown operation";
}

absl::string_view TypeName(ElementType type) {
  return type == ElementType::kFloat32 ? "float32" : "bytes";
}

}  // namespace

uint64_t CollectiveOperation::Digest() const {
  uint64_t hash = StableHash(absl::string_view(name));
  for (const uint64_t word :
       {static_cast<uint64_t>(kind), static_cast<uint64_t>(type), generation,
        step, static_cast<uint64_t>(index), static_cast<uint64_t>(root),
        kind == CollectiveKind::kAllGather ? uint64_t{0} : length}) {
    hash = StableHashCombine(hash, word);
  }
  return hash;
}

std::string CollectiveOperation::ToString() const {
  return absl::StrCat(KindName(kind), " '", name, "' of ", length, " ",
                      TypeName(type),
                      kind == CollectiveKind::kBroadcast
                          ? absl::StrCat(" from rank ",
                                         static_cast<int32_t>(root))
                          : "",
                      " (generation ", generation, ", step ", step, ", index ",
                      index, ")");
}

CollectiveOperation MakeOperation(CollectiveKind kind, CollectiveTag tag,
                                  uint64_t generation, uint64_t length) {
  CollectiveOperation operation;
  operation.kind = kind;
  operation.type = kind == CollectiveKind::kAllReduce ? ElementType::kFloat32
                                                      : ElementType::kByte;
  operation.generation = generation;
  operation.step = tag.step;
  operation.index = tag.index;
  operation.length = length;
  operation.name = std::move(tag.name);
  if (operation.name.size() > CollectiveOperation::kNameMax) {
    operation.name.resize(CollectiveOperation::kNameMax);
  }
  return operation;
}

absl::Status CheckOperations(absl::Span<const CollectiveOperation> by_rank,
                             uint64_t max_part_bytes) {
  SHOAL_DCHECK(!by_rank.empty());
  const CollectiveOperation& first = by_rank[0];
  const uint64_t digest = first.Digest();
  for (size_t r = 1; r < by_rank.size(); ++r) {
    if (by_rank[r].Digest() == digest) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "the ranks do not agree on an operation: rank 0 has ",
        first.ToString(), ", rank ", r, " has ", by_rank[r].ToString()));
  }
  if (first.kind == CollectiveKind::kBroadcast &&
      first.root >= by_rank.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(first.ToString(), ": there is no such rank among ",
                     by_rank.size(), " ranks"));
  }
  if (first.kind != CollectiveKind::kAllGather) return absl::OkStatus();
  for (size_t r = 0; r < by_rank.size(); ++r) {
    if (by_rank[r].length <= max_part_bytes) continue;
    return absl::OutOfRangeError(absl::StrCat(
        by_rank[r].ToString(), " of rank ", r, ": a part has at most ",
        max_part_bytes, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
