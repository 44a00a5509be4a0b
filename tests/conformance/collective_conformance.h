#ifndef SHOAL_TESTS_CONFORMANCE_COLLECTIVE_CONFORMANCE_H_
#define SHOAL_TESTS_CONFORMANCE_COLLECTIVE_CONFORMANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/collective.h"
#include "core/reduction.h"
#include "gtest/gtest.h"
#include "tests/conformance/completion.h"

namespace shoal {

// The contract of Collective, tested on each implementation with 1 to 7 ranks
// and both reductions. To register an implementation, link
// tests_collective_conformance and write in the implementation's test:
//   INSTANTIATE_TEST_SUITE_P(Local, CollectiveConformance,
//       CollectiveCases({"local", MakeLocal}), CollectiveCaseName);

struct CollectiveConfig {
  int size = 1;
  Reduction reduction = Reduction::kFast;
  uint64_t max_part_bytes = 1 << 20;
};

// All ranks of one generation, in this process.
class CollectiveHarness {
 public:
  virtual ~CollectiveHarness() = default;
  virtual Collective& rank(int rank) = 0;
  // Destroys a rank's Collective, as the end of its process does.
  virtual void Destroy(int rank) = 0;
  // Runs what waits on simulated executors; nothing where threads do that.
  virtual void Settle() {}
  // False: the whole test runs on one thread.
  virtual bool takes_threads() const { return true; }
};

struct CollectiveImplementation {
  std::string name;
  // The suite fails on nullptr.
  std::function<std::unique_ptr<CollectiveHarness>(const CollectiveConfig&)>
      make;
  // The sums are those of core/ring_schedule.h, bit for bit.
  bool has_our_order = true;
  // A rank that is late or lost ends the operations of the others.
  bool survives_losses = true;

  friend void PrintTo(const CollectiveImplementation& implementation,
                      std::ostream* out) {
    *out << implementation.name;
  }
};

using CollectiveCase = std::tuple<CollectiveImplementation, int, Reduction>;

// All sizes and both reductions of an implementation.
testing::internal::ParamGenerator<CollectiveCase> CollectiveCases(
    const CollectiveImplementation& implementation);
std::string CollectiveCaseName(
    const testing::TestParamInfo<CollectiveCase>& info);

class CollectiveConformance : public testing::TestWithParam<CollectiveCase> {
 protected:
  using Call = std::unique_ptr<Completion<CollectiveReply>>;
  static constexpr absl::Duration kPatience = absl::Seconds(60);

  void SetUp() override { Start(); }
  // Makes all ranks anew.
  void Start(uint64_t max_part_bytes = 1 << 20);

  int size() const { return std::get<1>(GetParam()); }
  Reduction reduction() const { return std::get<2>(GetParam()); }
  const CollectiveImplementation& implementation() const {
    return std::get<0>(GetParam());
  }

  static CollectiveTag Tag(uint64_t step, std::string name = "values") {
    return {.step = step, .index = 1, .name = std::move(name)};
  }
  Call AllReduce(int rank, CollectiveTag tag, std::vector<float>* values,
                 absl::Duration timeout = kPatience);
  Call AllGather(int rank, CollectiveTag tag, const std::string& bytes,
                 GatheredParts* parts, absl::Duration timeout = kPatience);
  Call Broadcast(int rank, CollectiveTag tag, int root, std::string* bytes,
                 absl::Duration timeout = kPatience);
  // The status of each call, once all have completed.
  std::vector<absl::Status> Wait(std::vector<Call>* calls);

  // Sums `values`, a vector for each rank, which is replaced.
  void Sum(std::vector<std::vector<float>>* values);
  // Runs a small AllReduce on all ranks, which must succeed: the ranks are in
  // step.
  void ExpectWorks();

  // What the ranks' values must sum to, bit for bit, by the order of additions
  // that the header of Reduction states.
  std::vector<float> Oracle(
      const std::vector<std::vector<float>>& values) const;

  std::unique_ptr<CollectiveHarness> harness_;

 private:
  uint64_t works_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CONFORMANCE_COLLECTIVE_CONFORMANCE_H_
