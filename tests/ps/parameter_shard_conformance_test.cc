#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "ps/shard/parameter_shard.h"
#include "tests/conformance/parameter_service_conformance.h"

namespace shoal {
namespace {

// The shard itself, called directly.
class InProcessHarness : public ParameterServiceHarness {
 public:
  static std::unique_ptr<ParameterServiceHarness> Make(
      ParameterShardOptions options) {
    auto harness = std::make_unique<InProcessHarness>();
    auto shard =
        ParameterShard::Create(std::move(options), &harness->executor_);
    if (!shard.ok()) {
      ADD_FAILURE() << shard.status();
      return nullptr;
    }
    harness->shard_ = *std::move(shard);
    return harness;
  }

  ParameterService& service() override { return *shard_; }
  ParameterShard& shard() override { return *shard_; }

 private:
  RealClock clock_;
  ThreadExecutor executor_{{.name = "test", .threads = 2}, &clock_};
  std::unique_ptr<ParameterShard> shard_;
};

INSTANTIATE_TEST_SUITE_P(ParameterShard, ParameterServiceConformance,
                         testing::Values(ParameterServiceImplementation{
                             "in_process", InProcessHarness::Make}),
                         ImplementationName);

}  // namespace
}  // namespace shoal
