// The coordinator in process does what every ClusterService does.
#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "tests/conformance/cluster_service_conformance.h"

namespace shoal {
namespace {

class InProcessHarness final : public ClusterServiceHarness {
 public:
  explicit InProcessHarness(CoordinatorOptions options)
      : coordinator_(std::move(options)) {}

  ClusterService& service() override { return *coordinator_.get(); }
  void StopCoordinator() override { coordinator_.Stop(); }

 private:
  CoordinatorOnStrand coordinator_;
};

INSTANTIATE_TEST_SUITE_P(InProcess, ClusterServiceConformance,
                         testing::Values(ClusterServiceImplementation{
                             "coordinator",
                             [](CoordinatorOptions options) {
                               return std::make_unique<InProcessHarness>(
                                   std::move(options));
                             }}),
                         ClusterImplementationName);

}  // namespace
}  // namespace shoal
