#include "ps/shard/request_check.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "core/sound_gradient.h"

namespace shoal {
namespace {

absl::Status Mismatch(absl::string_view what, absl::string_view mine,
                      absl::string_view theirs) {
  return absl::FailedPreconditionError(
      absl::StrCat("the request is for ", what, " ", theirs,
                   ", but this shard serves ", what, " ", mine));
}

absl::Status CheckRows(const ShardContents& contents, uint32_t table,
                       absl::Span<const FeatureId> ids, size_t floats) {
  if (table >= contents.tables.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no table ", table,
                                                   "; the model has ",
                                                   contents.tables.size()));
  }
  const EmbeddingTable& t = *contents.tables[table];
  if (floats != ids.size() * t.layout().row_dim()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "table '", t.spec().name, "': ", ids.size(), " ids of ",
        t.layout().row_dim(), " floats each came with ", floats, " floats"));
  }
  return t.CheckIds(ids);
}

absl::Status CheckOwned(const ShardContents& contents, uint32_t block) {
  if (contents.dense->Owns(block)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("dense block ", block, " is not on this shard"));
}

absl::Status CheckPulled(const ShardContents& contents, const BlockPull& pull) {
  SHOAL_RETURN_IF_ERROR(CheckOwned(contents, pull.block));
  const size_t size = contents.dense->Size(pull.block);
  if (pull.offset > size || pull.values.size() > size - pull.offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dense block ", pull.block, " has ", size, " elements, and the pull ",
        "wants ", pull.values.size(), " from element ", pull.offset, " on"));
  }
  return absl::OkStatus();
}

absl::Status CheckBlock(const ShardContents& contents, uint32_t block,
                        size_t floats) {
  SHOAL_RETURN_IF_ERROR(CheckOwned(contents, block));
  const size_t size = contents.dense->Size(block);
  if (floats != size) {
    return absl::InvalidArgumentError(
        absl::StrCat("dense block ", block, " has ", size,
                     " elements, and the request brought ", floats));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckIdentity(const CallIdentity& mine, const CallIdentity& call) {
  if (call.job != mine.job) {
    return Mismatch("job", absl::StrCat("'", mine.job, "'"),
                    absl::StrCat("'", call.job, "'"));
  }
  if (call.shard != mine.shard) {
    return Mismatch("shard life", ToString(mine.shard), ToString(call.shard));
  }
  if (call.worker.start != mine.shard.start) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the request comes from worker life ", ToString(call.worker),
        ", but shard life ", ToString(mine.shard),
        " is of another start of the job; register again"));
  }
  if (call.map_version != mine.map_version) {
    return Mismatch("map version", absl::StrCat(mine.map_version),
                    absl::StrCat(call.map_version));
  }
  return absl::OkStatus();
}

absl::Status CheckPull(const ShardContents& contents,
                       const PullRequest& request) {
  for (const TablePull& rows : request.tables) {
    SHOAL_RETURN_IF_ERROR(
        CheckRows(contents, rows.table, rows.ids, rows.values.size()));
  }
  for (const BlockPull& block : request.blocks) {
    SHOAL_RETURN_IF_ERROR(CheckPulled(contents, block));
  }
  return absl::OkStatus();
}

absl::Status CheckPush(const ShardContents& contents,
                       const PushRequest& request, RepeatFinder* finder) {
  if (AllRejected(request.batches) &&
      !(request.tables.empty() && request.blocks.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the push of ", ToString(request.batches),
                     " rejects all its batches, but has gradients"));
  }
  std::vector<bool> seen(contents.tables.size());
  for (const TablePush& rows : request.tables) {
    SHOAL_RETURN_IF_ERROR(
        CheckRows(contents, rows.table, rows.ids, rows.gradients.size()));
    const std::string& name = contents.tables[rows.table]->spec().name;
    if (seen[rows.table]) {
      return absl::InvalidArgumentError(
          absl::StrCat("the push names table '", name, "' twice"));
    }
    seen[rows.table] = true;
    const size_t repeat = finder->FirstRepeat(rows.ids);
    if (repeat < rows.ids.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("table '", name, "': the push names id ",
                       rows.ids[repeat], " twice; sum its gradients"));
    }
  }
  std::vector<FeatureId> blocks;
  blocks.reserve(request.blocks.size());
  for (const BlockPush& block : request.blocks) {
    SHOAL_RETURN_IF_ERROR(
        CheckBlock(contents, block.block, block.gradients.size()));
    blocks.push_back(block.block);
  }
  const size_t repeat = finder->FirstRepeat(blocks);
  if (repeat < blocks.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the push names dense block ", blocks[repeat], " twice"));
  }
  return absl::OkStatus();
}

bool IsSound(const PushRequest& request) {
  for (const TablePush& rows : request.tables) {
    if (!IsSound(rows.gradients)) return false;
  }
  for (const BlockPush& block : request.blocks) {
    if (!IsSound(block.gradients)) return false;
  }
  return true;
}

}  // namespace shoal
