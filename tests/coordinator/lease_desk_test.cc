#include "coordinator/lease_desk.h"

#include <utility>
#include <vector>

#include "cluster/lease_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Workers 0 and 1, sessions 1 and 2; three pieces.
class LeaseDeskTest : public testing::Test {
 protected:
  LeaseDeskTest() : membership_({.scopes = {.train_by_host = true}}) {
    for (int i = 0; i < 2; ++i) {
      RegisterRequest request;
      request.index = i;
      request.train_sources = {{"a", 10, 1}};
      lives_.push_back(membership_.Register(request, now_).value());
      EXPECT_TRUE(
          membership_.Open(static_cast<uint64_t>(i) + 1, lives_[i], now_).ok());
    }
    membership_.Begin();
    table_ = Table({});
  }

  static LeaseTable Table(std::vector<int> hosts) {
    LeaseTableOptions options;
    options.num_pieces = 3;
    options.shuffle = false;
    options.hosts = std::move(hosts);
    return LeaseTable(options);
  }
  const Member& Worker(int i) const { return *membership_.FindLife(lives_[i]); }

  // (worker, piece) of what was given.
  std::vector<std::pair<int, uint32_t>> Serve() {
    std::vector<std::pair<int, uint32_t>> given;
    desk_.Serve(membership_, &table_, now_,
                [&](const Member& worker, const LeaseTable::Held& held) {
                  EXPECT_TRUE(desk_.Gave(held.number));
                  given.emplace_back(worker.index, held.piece);
                });
    return given;
  }

  absl::Time now_ = absl::UnixEpoch();
  Membership membership_;
  std::vector<Life> lives_;
  LeaseTable table_;
  LeaseDesk desk_;
};

TEST_F(LeaseDeskTest, ServesInTheOrderInWhichTheyAsk) {
  for (const int i : {1, 0, 1}) EXPECT_TRUE(desk_.Ask(Worker(i)).ok());
  EXPECT_THAT(Serve(), ElementsAre(Pair(1, 0), Pair(0, 1), Pair(1, 2)));
  EXPECT_TRUE(desk_.Ask(Worker(0)).ok());
  EXPECT_THAT(Serve(), IsEmpty()) << "nothing is left";
}

TEST_F(LeaseDeskTest, AWorkerWhoseConnectionIsBrokenKeepsItsPlace) {
  for (const int i : {0, 1}) EXPECT_TRUE(desk_.Ask(Worker(i)).ok());
  membership_.Suspend(1, now_);
  EXPECT_THAT(Serve(), ElementsAre(Pair(1, 0)));
  membership_.Resume(1, now_);
  EXPECT_THAT(Serve(), ElementsAre(Pair(0, 1)));
}

TEST_F(LeaseDeskTest, WhoIsGoneIsNotServed) {
  for (const int i : {0, 1}) EXPECT_TRUE(desk_.Ask(Worker(i)).ok());
  membership_.Remove(lives_[0]);
  EXPECT_THAT(Serve(), ElementsAre(Pair(1, 0)));
  EXPECT_TRUE(desk_.Ask(Worker(1)).ok());
  desk_.Remove(lives_[1]);
  EXPECT_THAT(Serve(), IsEmpty());
}

TEST_F(LeaseDeskTest, OneWhoseHostHasNoPieceWaitsUntilItHas) {
  table_ = Table({1, 1, 0});
  EXPECT_TRUE(desk_.Ask(Worker(0)).ok());
  EXPECT_TRUE(desk_.Ask(Worker(0)).ok());
  EXPECT_THAT(Serve(), ElementsAre(Pair(0, 2)));
  EXPECT_THAT(Serve(), IsEmpty());
  table_.EndOwner(lives_[0]);  // so that the piece is leasable again
  EXPECT_THAT(Serve(), ElementsAre(Pair(0, 2)));
}

TEST_F(LeaseDeskTest, SoManyRequestsOfAWorkerMayWait) {
  for (int i = 0; i < LeaseDesk::kMaxRequests; ++i) {
    EXPECT_TRUE(desk_.Ask(Worker(0)).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(desk_.Ask(Worker(0))));
  EXPECT_TRUE(desk_.Ask(Worker(1)).ok());
  desk_.Clear();
  EXPECT_TRUE(desk_.Ask(Worker(0)).ok());
}

TEST_F(LeaseDeskTest, ANumberIsGivenOnce) {
  EXPECT_FALSE(desk_.Gave(0));
  EXPECT_FALSE(desk_.Gave(1));
  EXPECT_EQ(desk_.TakeNumber(), 1u);
  EXPECT_TRUE(desk_.Gave(1));
  EXPECT_TRUE(desk_.Ask(Worker(0)).ok());
  EXPECT_THAT(Serve(), ElementsAre(Pair(0, 0)));
  EXPECT_EQ(desk_.TakeNumber(), 3u);
}

}  // namespace
}  // namespace shoal
