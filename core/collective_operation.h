#ifndef SHOAL_CORE_COLLECTIVE_OPERATION_H_
#define SHOAL_CORE_COLLECTIVE_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/collective.h"

namespace shoal {

// What one rank says about one operation of a Collective (core/collective.h).
// The ranks compare what they say before they trust the data of each other. For
// implementations of Collective: callers do not need this header.

// The numbers are written into messages and never change their meaning.
enum class CollectiveKind : uint8_t {
  kAllReduce = 1,
  kAllGather = 2,
  kBroadcast = 3,
};
enum class ElementType : uint8_t { kFloat32 = 1, kByte = 2 };

struct CollectiveOperation {
  // Longest name, in bytes. A longer name is cut.
  static constexpr size_t kNameMax = 128;

  CollectiveKind kind = CollectiveKind::kAllReduce;
  ElementType type = ElementType::kFloat32;
  uint64_t generation = 0;
  uint64_t step = 0;
  uint32_t index = 0;
  uint32_t root = 0;  // of a Broadcast; otherwise 0
  // Elements. In an AllGather it is the length of the rank's own part, which
  // may differ from the other ranks' lengths.
  uint64_t length = 0;
  std::string name;

  // A hash of everything that all ranks must agree on: all fields, without the
  // length of an AllGather. The same on every machine and in every version.
  uint64_t Digest() const;

  // The operation for people: "AllReduce 'dense/0' of 12 float32 (generation 1,
  // step 3, index 0)".
  std::string ToString() const;
};

// The operation of a call; `length` is in elements of the kind. A Broadcast's
// root is still to be set.
CollectiveOperation MakeOperation(CollectiveKind kind, CollectiveTag tag,
                                  uint64_t generation, uint64_t length);

// Decides about an operation from what all ranks say about it, in the order of
// the ranks. All ranks that have the same arguments decide alike.
//   FAILED_PRECONDITION  the digests of two ranks differ: names rank 0 and the
//                        first rank that says something else, with what each
//                        says
//   INVALID_ARGUMENT     the root is not a rank
//   OUT_OF_RANGE         a part of an AllGather has more than `max_part_bytes`
//                        bytes: names the rank
absl::Status CheckOperations(absl::Span<const CollectiveOperation> by_rank,
                             uint64_t max_part_bytes);

}  // namespace shoal

#endif  // SHOAL_CORE_COLLECTIVE_OPERATION_H_
