#ifndef SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_GENERATIONS_FIXTURE_H_
#define SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_GENERATIONS_FIXTURE_H_

#include <string>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_save_fixture.h"

namespace shoal {

// A job of a synchronous mode whose ranks change while it runs.
class CoordinatorStateGenerationsTest : public CoordinatorStateSaveTest {
 protected:
  CoordinatorStateGenerationsTest() {
    options_.lanes = true;
    SetFiles(6);
  }

  // `n` files of one piece each.
  void SetFiles(uint32_t n) {
    train_.clear();
    for (uint32_t i = 0; i < n; ++i) {
      train_.push_back({"f" + std::to_string(i), 100, i});
    }
  }
  // The process of a worker or PS is gone, as its session shows.
  void Kill(uint64_t session) {
    Do(state_->OnSessionEnd(session, absl::UnavailableError("reset"), now_));
  }
  uint64_t Generation(uint64_t session) {
    return Newest<NewGeneration>(session).number;
  }
  void Ready(uint64_t session, uint64_t steps = 0) {
    Tell(session, GenerationReady{Generation(session), "h:9", steps});
  }
  size_t Grants(uint64_t session) { return Heard<LeaseGrant>(session).size(); }
  Lease LastGrant(uint64_t session) {
    return Newest<LeaseGrant>(session).lease;
  }
  // A request that is not answered now.
  void AskInVain(uint64_t session) {
    const size_t before = Grants(session);
    Tell(session, LeaseRequest{});
    EXPECT_EQ(Grants(session), before);
  }
  std::string Logs() { return absl::StrJoin(logs_, "\n"); }
};

}  // namespace shoal

#endif  // SHOAL_TESTS_COORDINATOR_COORDINATOR_STATE_GENERATIONS_FIXTURE_H_
