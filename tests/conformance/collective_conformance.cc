#include "tests/conformance/collective_conformance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "base/philox.h"

namespace shoal {

testing::internal::ParamGenerator<CollectiveCase> CollectiveCases(
    const CollectiveImplementation& implementation) {
  return testing::Combine(
      testing::Values(implementation), testing::Range(1, 8),
      testing::Values(Reduction::kFast, Reduction::kRankOrder));
}

std::string CollectiveCaseName(
    const testing::TestParamInfo<CollectiveCase>& info) {
  return absl::StrCat(
      std::get<0>(info.param).name, "_", std::get<1>(info.param), "_",
      std::get<2>(info.param) == Reduction::kFast ? "fast" : "rank_order");
}

namespace {

// Values of many magnitudes, so that another order of additions has another
// sum.
std::vector<float> RandomFloats(uint64_t seed, int rank, size_t length) {
  const Philox random(seed);
  std::vector<float> values(length);
  for (size_t i = 0; i < length; i += 4) {
    const Philox::Block words = random(static_cast<uint64_t>(rank), i);
    for (size_t j = i; j < std::min(i + 4, length); ++j) {
      values[j] = std::ldexp(UniformFloat(words[j - i]) - 0.5f,
                             static_cast<int>(words[j - i] % 20));
    }
  }
  return values;
}

std::vector<std::vector<float>> RandomRanks(uint64_t seed, int size,
                                            size_t length) {
  std::vector<std::vector<float>> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(RandomFloats(seed, r, length));
  return ranks;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

std::string RandomBytes(uint64_t seed, int rank, size_t length) {
  const Philox random(seed);
  std::string bytes(length, '\0');
  for (size_t i = 0; i < length; i += sizeof(Philox::Block)) {
    const Philox::Block words = random(static_cast<uint64_t>(rank), i);
    std::memcpy(bytes.data() + i, words.data(),
                std::min(sizeof(words), length - i));
  }
  return bytes;
}

std::string PartText(const GatheredParts& parts, int rank) {
  return std::string(parts.part(rank).data(), parts.part(rank).size());
}

}  // namespace

void CollectiveConformance::Start(uint64_t max_part_bytes) {
  harness_.reset();
  harness_ = implementation().make({.size = size(),
                                    .reduction = reduction(),
                                    .max_part_bytes = max_part_bytes});
  ASSERT_NE(harness_, nullptr);
}

CollectiveConformance::Call CollectiveConformance::AllReduce(
    int rank, CollectiveTag tag, std::vector<float>* values,
    absl::Duration timeout) {
  auto call = std::make_unique<Completion<CollectiveReply>>();
  call->Start([&](Done<CollectiveReply> done) {
    harness_->rank(rank).AllReduce(std::move(tag), absl::MakeSpan(*values),
                                   timeout, std::move(done));
  });
  return call;
}

CollectiveConformance::Call CollectiveConformance::AllGather(
    int rank, CollectiveTag tag, const std::string& bytes,
    GatheredParts* parts, absl::Duration timeout) {
  auto call = std::make_unique<Completion<CollectiveReply>>();
  call->Start([&](Done<CollectiveReply> done) {
    harness_->rank(rank).AllGather(std::move(tag), bytes, parts, timeout,
                                   std::move(done));
  });
  return call;
}

CollectiveConformance::Call CollectiveConformance::Broadcast(
    int rank, CollectiveTag tag, int root, std::string* bytes,
    absl::Duration timeout) {
  auto call = std::make_unique<Completion<CollectiveReply>>();
  call->Start([&](Done<CollectiveReply> done) {
    harness_->rank(rank).Broadcast(
        std::move(tag), root, absl::MakeSpan(bytes->data(), bytes->size()),
        timeout, std::move(done));
  });
  return call;
}

std::vector<absl::Status> CollectiveConformance::Wait(
    std::vector<Call>* calls) {
  harness_->Settle();
  std::vector<absl::Status> statuses;
  for (Call& call : *calls) statuses.push_back(call->Wait().status());
  calls->clear();
  return statuses;
}

void CollectiveConformance::Sum(std::vector<std::vector<float>>* values) {
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    calls.push_back(AllReduce(r, Tag(7), &(*values)[static_cast<size_t>(r)]));
  }
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status, absl::OkStatus());
  }
}

void CollectiveConformance::ExpectWorks() {
  ++works_;
  std::vector<std::vector<float>> values(
      static_cast<size_t>(size()), std::vector<float>(100, 1.5f));
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    calls.push_back(AllReduce(r, Tag(1000 + works_, "in step"),
                              &values[static_cast<size_t>(r)]));
  }
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status, absl::OkStatus());
  }
  for (const std::vector<float>& rank : values) {
    EXPECT_EQ(rank, std::vector<float>(100, 1.5f * static_cast<float>(size())));
  }
}

std::vector<float> CollectiveConformance::Oracle(
    const std::vector<std::vector<float>>& values) const {
  const size_t n = values.size();
  const size_t length = values[0].size();
  std::vector<float> sums(length);
  for (size_t e = 0; e < length; ++e) {
    size_t first = 0;
    if (reduction() == Reduction::kFast) {
      // Segment s begins with element s (D / N) + min(s, D mod N).
      while (first + 1 < n && (first + 1) * (length / n) +
                                      std::min(first + 1, length % n) <= e) {
        ++first;
      }
    }
    float sum = values[first][e];
    for (size_t i = 1; i < n; ++i) sum += values[(first + i) % n][e];
    sums[e] = sum;
  }
  return sums;
}

TEST_P(CollectiveConformance, SumsOfIntegersAreExactForEveryLength) {
  const size_t n = static_cast<size_t>(size());
  for (const size_t length : {size_t{0}, size_t{1}, n - 1, n, n + 1,
                              size_t{31}, size_t{1009}, size_t{70001}}) {
    SCOPED_TRACE(length);
    std::vector<std::vector<float>> values(n);
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < length; ++i) {
        values[r].push_back(static_cast<float>((r + 1) * (i % 1000)));
      }
    }
    Sum(&values);
    const float ranks = static_cast<float>(n * (n + 1) / 2);
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < length; ++i) {
        ASSERT_EQ(values[r][i], ranks * static_cast<float>(i % 1000))
            << "rank " << r << ", element " << i;
      }
    }
  }
}

TEST_P(CollectiveConformance, SumsHaveTheSameBitsOnAllRanksAndInRepeats) {
  for (const uint64_t seed : {1, 2}) {
    const size_t length = 10000 + 17 * seed;
    const auto given = RandomRanks(seed, size(), length);
    std::vector<float> first;
    for (int repeat = 0; repeat < 3; ++repeat) {
      auto values = given;
      Sum(&values);
      if (repeat == 0) first = values[0];
      for (int r = 0; r < size(); ++r) {
        EXPECT_TRUE(SameBits(values[static_cast<size_t>(r)], first))
            << "seed " << seed << ", repeat " << repeat << ", rank " << r;
      }
    }
  }
}

TEST_P(CollectiveConformance, SumsHaveTheBitsOfTheStatedOrder) {
  if (!implementation().has_our_order) GTEST_SKIP() << "another order";
  for (const uint64_t seed : {11, 12}) {
    for (const size_t length : {size_t{5}, size_t{999}, size_t{60000}}) {
      auto values = RandomRanks(seed, size(), length);
      const std::vector<float> expected = Oracle(values);
      Sum(&values);
      for (int r = 0; r < size(); ++r) {
        EXPECT_TRUE(SameBits(values[static_cast<size_t>(r)], expected))
            << "seed " << seed << ", length " << length << ", rank " << r;
      }
    }
  }
}

TEST_P(CollectiveConformance, AllGatherBringsUnequalAndEmptyParts) {
  const size_t n = static_cast<size_t>(size());
  std::vector<GatheredParts> parts(n);
  uint64_t step = 0;
  for (const std::vector<size_t>& lengths :
       {std::vector<size_t>{0, 0, 0, 0, 0, 0, 0},
        std::vector<size_t>{5, 0, 1, 70000, 64, 0, 3},
        std::vector<size_t>{0, 300001, 0, 0, 0, 0, 0},
        std::vector<size_t>{8, 8, 8, 8, 8, 8, 8}}) {
    ++step;
    std::vector<std::string> given;
    for (size_t r = 0; r < n; ++r) {
      given.push_back(RandomBytes(step, static_cast<int>(r), lengths[r]));
    }
    std::vector<Call> calls;
    for (size_t r = 0; r < n; ++r) {
      calls.push_back(AllGather(static_cast<int>(r), Tag(step, "rows"),
                                given[r], &parts[r]));
    }
    for (const absl::Status& status : Wait(&calls)) {
      EXPECT_EQ(status, absl::OkStatus());
    }
    for (size_t r = 0; r < n; ++r) {
      ASSERT_EQ(parts[r].size(), size());
      for (int from = 0; from < size(); ++from) {
        EXPECT_EQ(PartText(parts[r], from), given[static_cast<size_t>(from)])
            << "rank " << r << ", part " << from;
      }
      EXPECT_EQ(parts[r].part(static_cast<int>(r)).data(), given[r].data());
    }
  }
}

TEST_P(CollectiveConformance, BroadcastCopiesTheBytesOfAnyRoot) {
  const size_t n = static_cast<size_t>(size());
  for (int root = 0; root < size(); ++root) {
    for (const size_t length : {size_t{0}, size_t{1}, size_t{500000}}) {
      std::vector<std::string> bytes;
      for (int r = 0; r < size(); ++r) {
        bytes.push_back(RandomBytes(3, r, length));
      }
      const std::string expected = bytes[static_cast<size_t>(root)];
      std::vector<Call> calls;
      for (size_t r = 0; r < n; ++r) {
        calls.push_back(
            Broadcast(static_cast<int>(r), Tag(length), root, &bytes[r]));
      }
      for (const absl::Status& status : Wait(&calls)) {
        EXPECT_EQ(status, absl::OkStatus());
      }
      for (size_t r = 0; r < n; ++r) {
        EXPECT_TRUE(bytes[r] == expected) << "rank " << r << ", root " << root;
      }
    }
  }
}

TEST_P(CollectiveConformance, MemoryBesideTheValuesIsNotTouched) {
  std::vector<std::vector<float>> values(static_cast<size_t>(size()),
                                         std::vector<float>(1003, 1));
  std::vector<Call> calls;
  for (int r = 0; r < size(); ++r) {
    auto call = std::make_unique<Completion<CollectiveReply>>();
    call->Start([&](Done<CollectiveReply> done) {
      harness_->rank(r).AllReduce(
          Tag(1),
          absl::MakeSpan(values[static_cast<size_t>(r)]).subspan(1, 1001),
          kPatience, std::move(done));
    });
    calls.push_back(std::move(call));
  }
  for (const absl::Status& status : Wait(&calls)) {
    EXPECT_EQ(status, absl::OkStatus());
  }
  for (const std::vector<float>& rank : values) {
    EXPECT_EQ(rank.front(), 1);
    EXPECT_EQ(rank.back(), 1);
    EXPECT_EQ(rank[1], static_cast<float>(size()));
    EXPECT_EQ(rank[1001], static_cast<float>(size()));
  }
}

// Operations of all kinds and sizes, queued by one thread for each rank before
// any result is awaited.
TEST_P(CollectiveConformance, ManyOperationsInFlightCompleteInTheirOrder) {
  constexpr size_t kCalls = 150;
  const size_t n = static_cast<size_t>(size());
  const Philox random(42);
  struct Operation {
    std::vector<std::vector<float>> values;
    std::vector<std::string> bytes;
    std::vector<std::string> given;
    int root = 0;
  };
  std::vector<Operation> operations(kCalls);
  for (size_t i = 0; i < kCalls; ++i) {
    const Philox::Block words = random(0, i);
    const size_t length = words[0] % (i % 10 == 0 ? 20000 : 300);
    operations[i].values = RandomRanks(i, size(), length);
    operations[i].root = static_cast<int>(words[1] % n);
    for (int r = 0; r < size(); ++r) {
      operations[i].bytes.push_back(RandomBytes(i, r, length));
      operations[i].given.push_back(
          RandomBytes(i, r, length / static_cast<size_t>(r + 1)));
    }
  }
  const std::vector<Operation> before = operations;
  std::vector<std::vector<GatheredParts>> parts(kCalls);
  for (std::vector<GatheredParts>& of_call : parts) of_call.resize(n);
  Mutex mu;
  std::vector<std::vector<size_t>> order(n);
  std::vector<std::vector<Call>> calls(n);
  const auto start = [&](size_t r) {
    Collective& rank = harness_->rank(static_cast<int>(r));
    for (size_t i = 0; i < kCalls; ++i) {
      Operation& operation = operations[i];
      calls[r].push_back(std::make_unique<Completion<CollectiveReply>>());
      calls[r].back()->Start([&](Done<CollectiveReply> done) {
        Done<CollectiveReply> noted =
            [&mu, &order, r, i, done = std::move(done)](
                absl::StatusOr<CollectiveReply> reply) mutable {
              {
                MutexLock lock(&mu);
                order[r].push_back(i);
              }
              std::move(done)(std::move(reply));
            };
        // One name for all: operations are told apart by their order.
        if (i % 3 == 0) {
          rank.AllReduce(Tag(1), absl::MakeSpan(operation.values[r]),
                         kPatience, std::move(noted));
        } else if (i % 3 == 1) {
          rank.AllGather(Tag(1), operation.given[r], &parts[i][r], kPatience,
                         std::move(noted));
        } else {
          rank.Broadcast(Tag(1), operation.root,
                         absl::MakeSpan(operation.bytes[r].data(),
                                        operation.bytes[r].size()),
                         kPatience, std::move(noted));
        }
      });
    }
  };
  std::vector<std::thread> threads;
  for (size_t r = 0; r < n; ++r) {
    if (harness_->takes_threads()) {
      threads.emplace_back(start, r);
    } else {
      start(r);
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t r = 0; r < n; ++r) {
    for (const absl::Status& status : Wait(&calls[r])) {
      EXPECT_EQ(status, absl::OkStatus());
    }
    MutexLock lock(&mu);
    EXPECT_TRUE(std::is_sorted(order[r].begin(), order[r].end()));
    EXPECT_EQ(order[r].size(), kCalls);
  }
  for (size_t i = 0; i < kCalls; ++i) {
    SCOPED_TRACE(i);
    const Operation& old = before[i];
    for (size_t r = 0; r < n; ++r) {
      if (i % 3 == 0) {
        const std::vector<float> expected = implementation().has_our_order
                                                ? Oracle(old.values)
                                                : operations[i].values[0];
        EXPECT_TRUE(SameBits(operations[i].values[r], expected));
      } else if (i % 3 == 1) {
        for (int from = 0; from < size(); ++from) {
          EXPECT_TRUE(PartText(parts[i][r], from) ==
                      old.given[static_cast<size_t>(from)]);
        }
      } else {
        EXPECT_TRUE(operations[i].bytes[r] ==
                    old.bytes[static_cast<size_t>(old.root)]);
      }
    }
  }
}

}  // namespace shoal
