#include "wire/codec/pull_plan.h"

#include <algorithm>

namespace shoal {
namespace {

// Bytes of the tags, lengths and indices around one table or block.
constexpr uint64_t kPartOverhead = 64;

class Planner {
 public:
  Planner(const PullRequest& request, uint64_t max_bytes)
      : request_(request), max_bytes_(max_bytes) {
    NextPull();
  }

  void Add(const TablePull& table) {
    const uint64_t row_dim =
        table.ids.empty() ? 0 : table.values.size() / table.ids.size();
    // An id takes 8 bytes in the request and its row's floats in the reply. The
    // larger of the two counts.
    const uint64_t row_bytes =
        std::max<uint64_t>(sizeof(FeatureId), row_dim * sizeof(float));
    uint64_t begin = 0;
    do {
      const uint64_t n = TakeElements(table.ids.size() - begin, row_bytes);
      TablePull& part = pulls_.back().tables.emplace_back(table);
      part.ids = table.ids.subspan(begin, n);
      part.values = table.values.subspan(begin * row_dim, n * row_dim);
      begin += n;
    } while (begin < table.ids.size());
  }

  void Add(const BlockPull& block) {
    uint64_t begin = 0;
    do {
      const uint64_t n =
          TakeElements(block.values.size() - begin, sizeof(float));
      BlockPull& part = pulls_.back().blocks.emplace_back(block);
      part.offset = block.offset + begin;
      part.values = block.values.subspan(begin, n);
      begin += n;
    } while (begin < block.values.size());
  }

  std::vector<PullRequest> Finish() { return std::move(pulls_); }

 private:
  void NextPull() {
    pulls_.push_back({request_.identity, request_.read_only, {}, {}});
    bytes_ = 0;
  }

  // Returns how many of `wanted` elements go into the current pull. Starts a
  // new pull first if the current pull has no room left.
  uint64_t TakeElements(uint64_t wanted, uint64_t element_bytes) {
    if (bytes_ > 0 && bytes_ + kPartOverhead + element_bytes > max_bytes_) {
      NextPull();
    }
    bytes_ += kPartOverhead;
    const uint64_t room = max_bytes_ - std::min(max_bytes_, bytes_);
    uint64_t n = std::max<uint64_t>(1, room / element_bytes);
    n = std::min(n, wanted);
    bytes_ += n * element_bytes;
    return n;
  }

  const PullRequest& request_;
  const uint64_t max_bytes_;
  std::vector<PullRequest> pulls_;
  uint64_t bytes_ = 0;  // of the current pull
};

}  // namespace

std::vector<PullRequest> PlanPulls(const PullRequest& request,
                                   uint64_t max_bytes) {
  Planner planner(request, max_bytes);
  for (const TablePull& table : request.tables) planner.Add(table);
  for (const BlockPull& block : request.blocks) planner.Add(block);
  return planner.Finish();
}

}  // namespace shoal
