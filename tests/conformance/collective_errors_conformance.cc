// What the ranks of a Collective get when they differ, are late or are lost.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/conformance/collective_conformance.h"

namespace shoal {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

// One rank differs from the others in one thing. Every rank gets the error,
// which names both sides, and the next operation works. Long operations have
// data on the way when the difference is found.
TEST_P(CollectiveConformance, ADifferenceIsAnErrorOnEveryRankAndOnlyOnce) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const size_t n = static_cast<size_t>(size());
  struct Difference {
    std::string what;
    std::string expected;  // in the message, of the rank that differs
  };
  const std::vector<Difference> differences = {
      {"name", "AllReduce 'other'"}, {"length", "of 170001 float32"},
      {"empty", "of 0 float32"},     {"step", "step 6"},
      {"index", "index 9"},          {"kind", "AllGather 'values'"},
      {"broadcast", "Broadcast 'values'"}};
  for (const Difference& difference : differences) {
    for (const int odd : {1, size() - 1}) {
      SCOPED_TRACE(absl::StrCat(difference.what, " of rank ", odd));
      std::vector<std::vector<float>> values(n,
                                             std::vector<float>(150001, 1));
      std::string bytes(150001, 'b');
      GatheredParts parts;
      std::vector<Call> calls;
      for (int r = 0; r < size(); ++r) {
        CollectiveTag tag = Tag(5);
        std::vector<float>* own = &values[static_cast<size_t>(r)];
        if (r == odd) {
          if (difference.what == "name") tag.name = "other";
          if (difference.what == "step") tag.step = 6;
          if (difference.what == "index") tag.index = 9;
          if (difference.what == "length") own->resize(170001);
          if (difference.what == "empty") own->clear();
          if (difference.what == "kind") {
            calls.push_back(AllGather(r, tag, bytes, &parts));
            continue;
          }
          if (difference.what == "broadcast") {
            calls.push_back(Broadcast(r, tag, 0, &bytes));
            continue;
          }
        }
        calls.push_back(AllReduce(r, tag, own));
      }
      for (const absl::Status& status : Wait(&calls)) {
        EXPECT_EQ(status.code(), Code::kFailedPrecondition) << status;
        EXPECT_THAT(std::string(status.message()),
                    HasSubstr("rank 0 has AllReduce 'values' of 150001 "
                              "float32 (generation 1, step 5, index 1)"));
        EXPECT_THAT(std::string(status.message()),
                    HasSubstr(absl::StrCat("rank ", odd, " has ")));
        EXPECT_THAT(std::string(status.message()),
                    HasSubstr(difference.expected));
      }
      ExpectWorks();
    }
  }
}

TEST_P(CollectiveConformance, AnotherOrderOnOneRankFailsBothOperations) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const size_t n = static_cast<size_t>(size());
  std::vector<std::vector<float>> a(n, std::vector<float>(1000, 1));
  std::vector<std::vector<float>> b(n, std::vector<float>(1000, 1));
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    const size_t at = static_cast<size_t>(r);
    const bool turned = r == size() - 1;
    calls.push_back(AllReduce(r, Tag(1, turned ? "b" : "a"),
                              turned ? &b[at] : &a[at]));
    calls.push_back(AllReduce(r, Tag(1, turned ? "a" : "b"),
                              turned ? &a[at] : &b[at]));
  }
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status.code(), Code::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("'a'"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("'b'"));
  }
  ExpectWorks();
}

TEST_P(CollectiveConformance, OnlyTheOperationsThatDifferFail) {
  constexpr size_t kCalls = 30;
  const size_t n = static_cast<size_t>(size());
  std::vector<std::vector<std::vector<float>>> values(
      kCalls, std::vector<std::vector<float>>(n));
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    for (size_t i = 0; i < kCalls; ++i) {
      std::vector<float>& own = values[i][static_cast<size_t>(r)];
      own.assign(i % 7 == 3 ? 90000 : 50, 1);
      const bool odd = i % 5 == 3 && r == static_cast<int>(i % n);
      if (odd) own.push_back(1);
      calls.push_back(AllReduce(r, Tag(i), &own));
    }
  }
  const std::vector<absl::Status> statuses = Wait(&calls);
  for (size_t i = 0; i < statuses.size(); ++i) {
    const size_t call = i % kCalls;
    const bool differs = call % 5 == 3 && size() > 1;
    EXPECT_EQ(statuses[i].code(),
              differs ? Code::kFailedPrecondition : Code::kOk)
        << "call " << call << " of rank " << i / kCalls;
    if (!differs) {
      EXPECT_EQ(values[call][i / kCalls].back(), static_cast<float>(size()));
    }
  }
  ExpectWorks();
}

TEST_P(CollectiveConformance, ARootThatIsNoRankIsAnError) {
  for (const int root : {size(), -1, 1000}) {
    std::vector<std::string> bytes(static_cast<size_t>(size()), "bytes");
    std::vector<Call> calls;
    for (int r = 0; r < size(); ++r) {
      calls.push_back(
          Broadcast(r, Tag(1), root, &bytes[static_cast<size_t>(r)]));
    }
    for (const absl::Status& status : Wait(&calls)) {
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("Broadcast 'values' of 5 bytes"));
    }
  }
  ExpectWorks();
}

TEST_P(CollectiveConformance, AnotherRootOnOneRankIsAnErrorOnEveryRank) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  std::vector<std::string> bytes(static_cast<size_t>(size()),
                                 std::string(200000, 'x'));
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    calls.push_back(Broadcast(r, Tag(1), r == size() - 1 ? 1 : 0,
                              &bytes[static_cast<size_t>(r)]));
  }
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status.code(), Code::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("from rank 0"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("from rank 1"));
  }
  ExpectWorks();
}

TEST_P(CollectiveConformance, APartThatIsTooLargeIsNamedOnEveryRank) {
  Start(/*max_part_bytes=*/1000);
  std::vector<GatheredParts> parts(static_cast<size_t>(size()));
  const std::string large(1001, 'x');
  const std::string most(1000, 'x');
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    calls.push_back(AllGather(r, Tag(1, "rows"), r == size() - 1 ? large : most,
                              &parts[static_cast<size_t>(r)]));
  }
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status.code(), Code::kOutOfRange) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("of rank ", size() - 1)));
  }
  ExpectWorks();
}

TEST_P(CollectiveConformance, ALateRankIsNamedWhenTheDeadlineComes) {
  if (size() == 1) GTEST_SKIP() << "no other rank can be late";
  if (!implementation().survives_losses) GTEST_SKIP() << "no such promise";
  for (const int late : {1, size() - 1}) {
    SCOPED_TRACE(late);
    Start();
    ExpectWorks();
    std::vector<std::vector<float>> values(
        static_cast<size_t>(size()), std::vector<float>(100000, 1));
    std::vector<std::vector<float>> queued = values;
    std::vector<Call> calls;
    for (int r = 0; r < size(); ++r) {
      if (r == late) continue;
      // Rank 0 alone gives up.
      calls.push_back(AllReduce(r, Tag(8, "dense"),
                                &values[static_cast<size_t>(r)],
                                r == 0 ? absl::Milliseconds(300) : kPatience));
      calls.push_back(
          AllReduce(r, Tag(9), &queued[static_cast<size_t>(r)]));
    }
    const std::vector<absl::Status> statuses = Wait(&calls);
    EXPECT_EQ(statuses[0].code(), Code::kDeadlineExceeded) << statuses[0];
    EXPECT_THAT(std::string(statuses[0].message()), HasSubstr("'dense'"));
    EXPECT_THAT(std::string(statuses[0].message()),
                HasSubstr(absl::StrCat("waits for rank ", late)));
    for (size_t i = 1; i < statuses.size(); ++i) {
      EXPECT_EQ(statuses[i].code(), Code::kUnavailable) << statuses[i];
      EXPECT_THAT(std::string(statuses[i].message()), HasSubstr("'dense'"));
      EXPECT_THAT(std::string(statuses[i].message()),
                  HasSubstr(absl::StrCat("waits for rank ", late)));
    }
    // The late rank hears of it too.
    calls.push_back(AllReduce(late, Tag(8, "dense"), &values[0]));
    const absl::Status status = Wait(&calls)[0];
    EXPECT_EQ(status.code(), Code::kUnavailable) << status;
  }
}

TEST_P(CollectiveConformance, ALostRankIsNamedToAllOthers) {
  if (size() == 1) GTEST_SKIP() << "no other rank can be lost";
  if (!implementation().survives_losses) GTEST_SKIP() << "no such promise";
  for (const int lost : {0, size() - 1}) {
    SCOPED_TRACE(lost);
    Start();
    ExpectWorks();
    std::vector<std::vector<float>> values(
        static_cast<size_t>(size()), std::vector<float>(100000, 1));
    std::vector<std::string> bytes(static_cast<size_t>(size()), "bytes");
    std::vector<Call> calls;
    for (int r = 0; r < size(); ++r) {
      if (r == lost) continue;
      calls.push_back(AllReduce(r, Tag(8), &values[static_cast<size_t>(r)]));
      calls.push_back(
          Broadcast(r, Tag(9), 0, &bytes[static_cast<size_t>(r)]));
    }
    harness_->Destroy(lost);
    for (const absl::Status& status : Wait(&calls)) {
      EXPECT_EQ(status.code(), Code::kUnavailable) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat("rank ", lost)));
    }
    const int other = lost == 0 ? 1 : 0;
    calls.push_back(
        AllReduce(other, Tag(10), &values[static_cast<size_t>(other)]));
    EXPECT_EQ(Wait(&calls)[0].code(), Code::kUnavailable);
  }
}

TEST_P(CollectiveConformance, DestroyingARankCancelsItsCalls) {
  if (size() == 1) GTEST_SKIP() << "one rank waits for no other";
  if (!implementation().survives_losses) GTEST_SKIP() << "no such promise";
  std::vector<float> values(10, 1);
  std::vector<Call> calls;
  calls.push_back(AllReduce(0, Tag(1), &values));
  calls.push_back(AllReduce(0, Tag(2), &values));
  harness_->Destroy(0);
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status.code(), Code::kCancelled) << status;
  }
}

}  // namespace shoal
