#include "ps/shard/step_sum.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ps/shard/request_check.h"

namespace shoal {

PushRequest StepSum::Build(const PushedBatches& batches,
                           absl::Span<const PushRequest* const> parts) {
  SHOAL_DCHECK(parts.size() == batches.size());
  PushRequest sum;
  std::vector<const PushRequest*> added;
  uint64_t examples = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == nullptr) {
      if (!batches[i].rejected) examples += batches[i].examples;
      continue;
    }
    const PushRequest& part = *parts[i];
    SHOAL_DCHECK(part.batches.size() == 1);
    if (sum.batches.empty()) {
      sum.identity = part.identity;
      sum.pulled = part.pulled;
    }
    sum.colour = std::max(sum.colour, part.colour);
    if (part.pulled.life == sum.identity.shard &&
        (sum.pulled.life != sum.identity.shard ||
         part.pulled.count < sum.pulled.count)) {
      sum.pulled = part.pulled;
    }
    PushedBatch& batch = sum.batches.emplace_back(batches[i]);
    batch.rejected |= part.batches[0].rejected || !IsSound(part);
    if (batch.rejected) continue;
    added.push_back(&part);
    examples += batch.examples;
  }
  SHOAL_DCHECK(!sum.batches.empty());
  if (added.empty()) return sum;
  AddTables(examples, added, &sum);
  AddBlocks(examples, added, &sum);
  return sum;
}

void StepSum::AddTables(uint64_t examples,
                        absl::Span<const PushRequest* const> parts,
                        PushRequest* sum) {
  std::map<uint32_t, std::vector<RowGradients>> tables;
  for (const PushRequest* part : parts) {
    for (const TablePush& rows : part->tables) {
      tables[rows.table].push_back({rows.ids, rows.gradients});
    }
  }
  merges_.resize(model_.tables.size());
  for (const auto& [table, ranks] : tables) {
    RowMerge& merge = merges_[table];
    merge.Build(model_.tables[table].row_dim(), ranks);
    if (DividesRows(model_, table)) DivideByExamples(examples, merge.rows());
    sum->tables.push_back({.table = table,
                           .ids = merge.ids(),
                           .gradients = merge.rows()});
  }
}

void StepSum::AddBlocks(uint64_t examples,
                        absl::Span<const PushRequest* const> parts,
                        PushRequest* sum) {
  std::map<uint32_t, std::vector<absl::Span<const float>>> blocks;
  for (const PushRequest* part : parts) {
    for (const BlockPush& block : part->blocks) {
      blocks[block.block].push_back(block.gradients);
    }
  }
  if (!blocks.empty() && dense_.size() <= blocks.rbegin()->first) {
    dense_.resize(blocks.rbegin()->first + 1);
  }
  for (const auto& [block, ranks] : blocks) {
    AlignedBuffer<float>& values = dense_[block];
    values.ResizeDiscard(ranks[0].size());
    SumInRankOrder(ranks, values.span());
    if (DividesDense(model_)) DivideByExamples(examples, values.span());
    sum->blocks.push_back({.block = block, .gradients = values.span()});
  }
}

}  // namespace shoal
