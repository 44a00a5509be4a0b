#include "worker/train/level_plan.h"

#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// "SHLV" as bytes.
constexpr uint32_t kLevelMagic = 0x564c4853;
constexpr uint32_t kLevelVersion = 1;
// A step with more bytes is none of ours.
constexpr uint64_t kMaxStepBytes = uint64_t{1} << 40;

struct Bytes {
  uint32_t magic = kLevelMagic;
  uint32_t version = kLevelVersion;
  uint64_t marked = 0;
  uint64_t newest = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(Bytes) == 32);

}  // namespace

std::string EncodeLevelPart(const LevelPart& part) {
  Bytes bytes;
  bytes.marked = part.marked;
  bytes.newest = part.newest;
  bytes.bytes = part.bytes;
  return std::string(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
}

absl::StatusOr<LevelPart> DecodeLevelPart(absl::Span<const char> bytes) {
  Bytes part;
  if (bytes.size() != sizeof(part)) {
    return absl::DataLossError(
        absl::StrCat("the level of a replica with ", bytes.size(), " bytes"));
  }
  std::memcpy(&part, bytes.data(), sizeof(part));
  if (part.magic != kLevelMagic) {
    return absl::DataLossError("the level of a replica with another magic");
  }
  if (part.version != kLevelVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("levels have version ", part.version, " there and ",
                     kLevelVersion, " here"));
  }
  if (part.newest > part.marked || (part.newest == 0) != (part.bytes == 0) ||
      part.bytes > kMaxStepBytes) {
    return absl::DataLossError(absl::StrCat(
        "the level of a replica with ", part.marked, " batches, ", part.newest,
        " of them in a step of ", part.bytes, " bytes"));
  }
  return LevelPart{part.marked, part.newest, part.bytes};
}

absl::StatusOr<LevelPlan> PlanLevel(
    absl::Span<const LevelPart> parts,
    const std::function<std::string(int)>& name) {
  size_t first = 0;  // the lowest rank with the most batches
  for (size_t rank = 1; rank < parts.size(); ++rank) {
    if (parts[rank].marked > parts[first].marked) first = rank;
  }
  const LevelPart& newest = parts[first];
  LevelPlan plan;
  plan.lacks.resize(parts.size(), false);
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const uint64_t lacks = newest.marked - parts[rank].marked;
    if (lacks == 0) continue;
    if (lacks != newest.newest) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the replica of ", name(static_cast<int>(first)), " has ",
          newest.marked, " batches, and that of ",
          name(static_cast<int>(rank)), " has ", parts[rank].marked,
          ", which is not one step less; start the job again from its newest "
          "checkpoint"));
    }
    plan.lacks[rank] = true;
    plan.sender = static_cast<int>(first);
    plan.bytes = newest.bytes;
  }
  return plan;
}

}  // namespace shoal
