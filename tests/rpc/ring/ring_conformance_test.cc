#include <memory>

#include "gtest/gtest.h"
#include "tests/conformance/collective_conformance.h"
#include "tests/rpc/ring/ring_ranks.h"

namespace shoal {
namespace {

TcpRingOptions OptionsOf(const CollectiveConfig& config, uint32_t chunk) {
  TcpRingOptions options;
  options.reduction = config.reduction;
  options.max_part_bytes = config.max_part_bytes;
  options.chunk_bytes = chunk;
  options.token = "a-token";
  return options;
}

class TcpRanks final : public CollectiveHarness {
 public:
  TcpRanks(const CollectiveConfig& config, uint32_t chunk)
      : ranks_(config.size, OptionsOf(config, chunk)) {}

  Collective& rank(int rank) override { return ranks_.rank(rank); }
  void Destroy(int rank) override { ranks_.Destroy(rank); }

 private:
  RingRanks ranks_;
};

INSTANTIATE_TEST_SUITE_P(
    Tcp, CollectiveConformance,
    CollectiveCases({"tcp", [](const CollectiveConfig& config) {
                       return std::make_unique<TcpRanks>(config, 128 << 10);
                     }}),
    CollectiveCaseName);

// Many chunks, so that they are cut at many places.
INSTANTIATE_TEST_SUITE_P(
    TcpSmallChunks, CollectiveConformance,
    CollectiveCases({"tcp_small_chunks", [](const CollectiveConfig& config) {
                       return std::make_unique<TcpRanks>(config, 4096);
                     }}),
    CollectiveCaseName);

}  // namespace
}  // namespace shoal
