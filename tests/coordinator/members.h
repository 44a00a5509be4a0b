#ifndef SHOAL_TESTS_COORDINATOR_MEMBERS_H_
#define SHOAL_TESTS_COORDINATOR_MEMBERS_H_

#include <string>

#include "cluster/membership.h"
#include "gtest/gtest.h"

namespace shoal {

// Registers a process and opens its session. A PS is at "h0:1". A worker lists
// the training file "a" (100 bytes) and the evaluation file "e" (50), and has
// its port of a ring at "h0:7".
inline Member Join(Role role, int index, uint64_t session,
                   Membership* membership) {
  RegisterRequest request;
  request.role = role;
  request.index = index;
  if (role == Role::kPs) {
    request.address = "h" + std::to_string(index) + ":1";
  } else {
    request.ring_address = "h" + std::to_string(index) + ":7";
    request.train_sources = {{"a", 100, 1}};
    request.eval_sources = {{"e", 50, 2}};
  }
  const absl::Time now = absl::UnixEpoch();
  const Life life = membership->Register(request, now).value();
  const auto member = membership->Open(session, life, now);
  EXPECT_TRUE(member.ok()) << member.status();
  return **member;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_COORDINATOR_MEMBERS_H_
