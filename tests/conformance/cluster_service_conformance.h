#ifndef SHOAL_TESTS_CONFORMANCE_CLUSTER_SERVICE_CONFORMANCE_H_
#define SHOAL_TESTS_CONFORMANCE_CLUSTER_SERVICE_CONFORMANCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/thread_executor.h"
#include "coordinator/coordinator.h"
#include "core/cluster_service.h"
#include "core/registration.h"
#include "core/save_messages.h"
#include "core/session_messages.h"
#include "gtest/gtest.h"
#include "tests/conformance/session_listener.h"

namespace shoal {

// The contract of ClusterService, tested on each implementation. To register an
// implementation, link tests_cluster_conformance and write in the
// implementation's test:
//   INSTANTIATE_TEST_SUITE_P(Grpc, ClusterServiceConformance,
//       testing::Values(ClusterServiceImplementation{"grpc", MakeGrpc}),
//       ClusterImplementationName);

// One Coordinator on a strand of its own.
class CoordinatorOnStrand {
 public:
  explicit CoordinatorOnStrand(CoordinatorOptions options) {
    CoordinatorWork work;
    work.write_manifest = [](std::string, Manifest, Done<ManifestText> done) {
      std::move(done)(absl::InternalError("the test writes no manifest"));
    };
    coordinator_ = Coordinator::Create(std::move(options), &strand_,
                                       /*logger=*/nullptr, std::move(work));
  }
  Coordinator* get() { return coordinator_.get(); }
  Executor* strand() { return &strand_; }
  void Stop() { coordinator_.reset(); }

 private:
  RealClock clock_;
  ThreadExecutor strand_{{.name = "coordinator"}, &clock_};
  std::unique_ptr<Coordinator> coordinator_;
};

// A Coordinator and the service under test in front of it (the coordinator
// itself, or a client of a server that serves it).
class ClusterServiceHarness {
 public:
  virtual ~ClusterServiceHarness() = default;
  virtual ClusterService& service() = 0;
  // Ends the process with the coordinator as a process ends: first the server,
  // then the coordinator.
  virtual void StopCoordinator() = 0;
};

struct ClusterServiceImplementation {
  std::string name;
  // Real executors and sockets. The suite fails on nullptr.
  std::function<std::unique_ptr<ClusterServiceHarness>(CoordinatorOptions)>
      make;

  friend void PrintTo(const ClusterServiceImplementation& implementation,
                      std::ostream* out) {
    *out << implementation.name;
  }
};

std::string ClusterImplementationName(
    const testing::TestParamInfo<ClusterServiceImplementation>& info);

class ClusterServiceConformance
    : public testing::TestWithParam<ClusterServiceImplementation> {
 protected:
  // A job of one server and one worker that trains one file of 1000 bytes, one
  // piece, in batches of 10. No process is silent for long enough to die.
  static CoordinatorOptions Options();
  void Start(CoordinatorOptions options);
  void SetUp() override { Start(Options()); }

  static RegisterRequest Request(Role role, int index);
  absl::StatusOr<RegisterReply> Register(
      RegisterRequest request, absl::Duration timeout = absl::Seconds(30));
  absl::StatusOr<SavedCheckpoint> Save(const std::string& job,
                                       absl::Duration timeout);

  // A connection of a process.
  struct Connection {
    Life life;
    SessionListener listener;
    std::unique_ptr<ClusterSession> session;

    void Send(ProcessMessage message) {
      listener.During([&] { session->Send(std::move(message)); });
    }
    // Waits for message number `index`, which must be a T.
    template <typename T>
    T Hear(size_t index) {
      if (!listener.WaitForMessages(index + 1)) {
        ADD_FAILURE() << "no message " << index;
        return T();
      }
      const CoordinatorMessage message = listener.heard()[index];
      const T* const heard = std::get_if<T>(&message);
      EXPECT_NE(heard, nullptr) << "message " << index << " is another one";
      return heard != nullptr ? *heard : T();
    }
  };
  std::unique_ptr<Connection> Open(const SessionOpening& opening);
  // Registers, and opens the session.
  std::unique_ptr<Connection> Join(Role role);

  std::unique_ptr<ClusterServiceHarness> harness_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CONFORMANCE_CLUSTER_SERVICE_CONFORMANCE_H_
