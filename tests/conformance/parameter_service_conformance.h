#ifndef SHOAL_TESTS_CONFORMANCE_PARAMETER_SERVICE_CONFORMANCE_H_
#define SHOAL_TESTS_CONFORMANCE_PARAMETER_SERVICE_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/parameter_service.h"
#include "gtest/gtest.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// The contract of ParameterService, tested on each implementation. To register
// an implementation, link tests_conformance and write in the implementation's
// test:
//   INSTANTIATE_TEST_SUITE_P(Grpc, ParameterServiceConformance,
//       testing::Values(ParameterServiceImplementation{"grpc", MakeGrpc}),
//       ImplementationName);

// One ParameterShard and the service under test in front of it (the shard
// itself, or a client of a server that serves it).
class ParameterServiceHarness {
 public:
  virtual ~ParameterServiceHarness() = default;
  virtual ParameterService& service() = 0;
  // For ServeUntil and TakeMarks. At first the shard serves nothing.
  virtual ParameterShard& shard() = 0;
};

struct ParameterServiceImplementation {
  std::string name;
  // Real executors and sockets. The suite fails on nullptr.
  std::function<std::unique_ptr<ParameterServiceHarness>(ParameterShardOptions)>
      make;

  friend void PrintTo(const ParameterServiceImplementation& implementation,
                      std::ostream* out) {
    *out << implementation.name;
  }
};

std::string ImplementationName(
    const testing::TestParamInfo<ParameterServiceImplementation>& info);

class ParameterServiceConformance
    : public testing::TestWithParam<ParameterServiceImplementation> {
 protected:
  // Two shards, of which shard 0 is under test:
  //   table 0 "ids", ids [0, 100), own [0, 50): "wide" dim 1, SGD rate 1/2,
  //     zeros; "deep" dim 3, SGD rate 1/4, uniform
  //   table 1 "other", ids [0, 10), own [0, 5): "tail" dim 2, SGD rate 1, zeros
  //   block 0: rows 0..2 of dense "kernel" [6,4], SGD rate 1/2, uniform: own
  //   block 1: rows 3..5 of it: shard 1's
  //   block 2: dense "bias" [4], SGD rate 1, zeros: own
  static ParameterShardOptions Options();

  // Makes the harness and lets the shard serve.
  void Start(ParameterShardOptions options);
  void SetUp() override { Start(Options()); }

  CallIdentity Identity() const;

  // A pull of rows and blocks that owns its memory.
  struct Pulled {
    PullReply reply;
    std::vector<float> rows;    // of table 0, 4 floats an id
    std::vector<float> kernel;  // block 0
    std::vector<float> bias;    // block 2
  };
  // ids of table 0; both own blocks.
  absl::StatusOr<Pulled> Pull(const std::vector<FeatureId>& ids,
                              bool read_only = false);

  // Makes a call and waits for its result.
  absl::StatusOr<PullReply> Pull(PullRequest request);
  absl::StatusOr<PushReply> Push(PushRequest request);
  absl::StatusOr<StatsReply> Stats();

  // A push of the batches (0, 0, index) to (0, 0, index + batches - 1) under
  // lease 1; spans to be filled in.
  PushRequest NewPush(uint32_t index, uint32_t batches = 1) const;

  std::unique_ptr<ParameterServiceHarness> harness_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CONFORMANCE_PARAMETER_SERVICE_CONFORMANCE_H_
