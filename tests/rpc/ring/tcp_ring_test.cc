#include "rpc/tcp_ring.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/mutex.h"
#include "core/lost_rank.h"
#include "core/rank_board.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/address.h"
#include "rpc/ring/little_endian.h"
#include "rpc/ring/ring_frame.h"
#include "rpc/ring/ring_handshake.h"
#include "rpc/ring/token_proof.h"
#include "tests/conformance/completion.h"
#include "tests/rpc/ring/rank_zero.h"
#include "tests/rpc/ring/ring_ranks.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Code = absl::StatusCode;
using Call = std::unique_ptr<Completion<CollectiveReply>>;

constexpr absl::Duration kPatience = absl::Seconds(60);

Call AllReduce(TcpRing& ring, std::vector<float>* values,
               absl::Duration timeout = kPatience) {
  auto call = std::make_unique<Completion<CollectiveReply>>();
  call->Start([&](Done<CollectiveReply> done) {
    ring.AllReduce({.step = 1, .index = 0, .name = "values"},
                   absl::MakeSpan(*values), timeout, std::move(done));
  });
  return call;
}

CollectiveOperation OperationOf(const std::vector<float>& values) {
  return MakeOperation(CollectiveKind::kAllReduce,
                       {.step = 1, .index = 0, .name = "values"}, 1,
                       values.size());
}

TEST(TcpRingTest, SendsNoMoreBytesThanTheFormula) {
  for (const int size : {2, 3, 5}) {
    RingRanks ranks(size, TestRingOptions());
    std::vector<std::vector<float>> values(static_cast<size_t>(size),
                                           std::vector<float>(1 << 20, 1));
    std::vector<Call> calls;
    for (int r = 0; r < size; ++r) {
      calls.push_back(
          AllReduce(ranks.rank(r), &values[static_cast<size_t>(r)]));
    }
    for (Call& call : calls) EXPECT_TRUE(call->Wait().ok());
    const double formula = 2.0 * (size - 1) / size * (4 << 20);
    for (int r = 0; r < size; ++r) {
      // The thread counts after it has told us.
      while (ranks.rank(r).bytes_sent() < formula) std::this_thread::yield();
      EXPECT_LE(static_cast<double>(ranks.rank(r).bytes_sent()),
                1.05 * formula);
    }
  }
}

TEST(TcpRingTest, CountsTheDataThatItSendsAndReceives) {
  constexpr int kSize = 3;
  std::vector<PayloadCounters> counters(kSize);
  RingRanks ranks(kSize, TestRingOptions(),
                  [&](int rank, TcpRingOptions* options) {
                    options->payload = &counters[static_cast<size_t>(rank)];
                  });
  std::vector<std::vector<float>> values(
      kSize, std::vector<float>(kSize * 100'000, 1));
  std::vector<Call> calls;
  for (int r = 0; r < kSize; ++r) {
    calls.push_back(AllReduce(ranks.rank(r), &values[static_cast<size_t>(r)]));
  }
  for (Call& call : calls) EXPECT_TRUE(call->Wait().ok());
  for (int r = 0; r < kSize; ++r) {
    const PayloadBytes bytes = counters[static_cast<size_t>(r)].Read();
    // 2 (N - 1) / N of all values, without the heads of frames.
    EXPECT_EQ(bytes.ring.sent, 2u * (kSize - 1) * 400'000) << r;
    EXPECT_EQ(bytes.ring.received, 2u * (kSize - 1) * 400'000) << r;
    EXPECT_EQ(bytes.pull.sent + bytes.push.sent, 0u);
  }
}

TEST(TcpRingTest, StrangersAreRefusedAndTheRingComesUp) {
  RankZero zero;
  std::vector<float> values(1000, 1);
  const Call call = AllReduce(zero.ring(), &values);

  RawSocket silent = RawSocket::Connect(zero.address());
  RawSocket half = RawSocket::Connect(zero.address());
  half.Send("SHOALRNG");
  RawSocket http = RawSocket::Connect(zero.address());
  http.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // The challenge comes, and no answer.
  EXPECT_LE(http.ReceiveAll().size(), kRingChallengeBytes);
  RawSocket large = RawSocket::Connect(zero.address());
  std::string hello = "SHOALRNG";
  AppendNumber(kRingVersion, &hello);
  AppendNumber(uint32_t{0xffffffff}, &hello);
  hello.resize(kRingHelloBytes);
  large.Send(hello);
  large.ReceiveAll();
  RawSocket wrong = RawSocket::Connect(zero.address());
  RingConnector connector(RankZero::RankOne(), "wrong", MakeNonce());
  EXPECT_TRUE(absl::IsUnauthenticated(wrong.Shake(&connector)));
  EXPECT_EQ(wrong.ReceiveAll(), "");
  RawSocket old = RawSocket::Connect(zero.address());
  RingSettings settings = RankZero::RankOne();
  settings.generation = 0;
  RingConnector before(settings, "the-token", MakeNonce());
  EXPECT_EQ(old.Shake(&before).message(),
            "it refuses this process: it is of generation 0 of start 1 of the "
            "job, here is generation 1 of start 1");

  zero.LinkUp();
  const std::string announced =
      EncodeAnnouncement(0, 1, OperationOf(values));
  zero.to_zero().Send(announced);
  // Rank 0 sends what it has: the neighbour is known.
  EXPECT_EQ(zero.from_zero().Receive(24).size(), 24u);
  // All strangers were of one host, which is named once.
  const std::vector<std::string> lines = zero.lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("127.0.0.1"));
  EXPECT_THAT(lines[0], HasSubstr("does not speak the ring's protocol"));
  // Nobody can connect any more.
  EXPECT_EQ(silent.ReceiveAll().size(), kRingChallengeBytes);
  EXPECT_EQ(half.ReceiveAll().size(), kRingChallengeBytes);
  zero.Destroy();
  EXPECT_TRUE(absl::IsCancelled(call->Wait().status()));
}

// So a probe of the port (rpc/port_probe.h) shows that the process lives.
TEST(TcpRingTest, ThePortListensAsLongAsTheRingLivesAndReadsNobody) {
  RankZero zero;
  zero.LinkUp();
  for (int i = 0; i < 50; ++i) {
    RawSocket late = RawSocket::Connect(zero.address());
    EXPECT_EQ(late.ReceiveAll(), "") << "no challenge either";
  }
  std::vector<float> values(1000, 1);
  const Call call = AllReduce(zero.ring(), &values);
  zero.to_zero().Send(EncodeAnnouncement(0, 1, OperationOf(values)));
  EXPECT_EQ(zero.from_zero().Receive(24).size(), 24u);
  zero.Destroy();
  EXPECT_TRUE(absl::IsCancelled(call->Wait().status()));
}

TEST(TcpRingTest, ErrorsNameTheWorkersAndHaveTheRank) {
  TcpRingOptions options = TestRingOptions();
  options.names = {"worker 0", "worker 2", "worker 5"};
  RingRanks ranks(3, options);
  std::vector<float> x(10, 1), y(10, 1), z(10, 1);
  const Call first[] = {AllReduce(ranks.rank(0), &x),
                        AllReduce(ranks.rank(1), &y),
                        AllReduce(ranks.rank(2), &z)};
  for (const Call& call : first) ASSERT_TRUE(call->Wait().ok());
  const Call waits = AllReduce(ranks.rank(2), &z);
  ranks.Destroy(1);
  const absl::Status status = waits->Wait().status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("worker 2 "));
  EXPECT_EQ(LostRankOf(status), 1);
  EXPECT_EQ(LostRankOf(absl::UnavailableError("worker 2")), -1);
}

TEST(TcpRingTest, TheBoardTellsForWhichRankTheRingWaits) {
  RankBoard board;
  TcpRingOptions options = TestRingOptions();
  RingRanks ranks(3, options, [&](int rank, TcpRingOptions* o) {
    if (rank == 0) o->board = &board;
  });
  board.SetRound(2, /*rows=*/true);
  board.EnterExchange(RankBoard::Phase::kRound, absl::Now());
  std::vector<float> x(10, 1), y(10, 1), z(10, 1);
  const Call call = AllReduce(ranks.rank(0), &x);
  const Call other = AllReduce(ranks.rank(2), &z);
  // The limit only ends a hanging test.
  RankStanding standing;
  for (int i = 0; i < 6000 && standing.waits_for != 1; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    standing = board.Read(absl::Now());
  }
  EXPECT_EQ(standing.waits_for, 1) << "rank 2 has told what it does";
  EXPECT_EQ(standing.phase, "sums");
  EXPECT_EQ(standing.tensor, "dense bucket 1 of 2");
  const Call last = AllReduce(ranks.rank(1), &y);
  EXPECT_TRUE(call->Wait().ok());
  EXPECT_TRUE(other->Wait().ok());
  EXPECT_TRUE(last->Wait().ok());
  // The callers are told a moment before the board.
  for (int i = 0; i < 6000 && board.Read(absl::Now()).waits_for != -1; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  // A broken ring tells what it waited for.
  const Call broken = AllReduce(ranks.rank(0), &x);
  for (int i = 0; i < 6000 && board.Read(absl::Now()).waits_for != 2; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  ranks.Destroy(1);
  EXPECT_TRUE(absl::IsUnavailable(broken->Wait().status()));
  EXPECT_EQ(board.Read(absl::Now()).waits_for, 2);
  EXPECT_EQ(board.Read(absl::Now()).tensor, "dense bucket 1 of 2");
  ranks.Destroy(0);
  EXPECT_EQ(board.Read(absl::Now()).waits_for, -1);
}

TEST(TcpRingTest, ManySilentStrangersDoNotKeepTheNeighbourOut) {
  TcpRingOptions options = TestRingOptions();
  options.max_strangers = 4;
  RankZero zero(options);
  std::vector<RawSocket> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(RawSocket::Connect(zero.address()));
  }
  // The oldest gave its place.
  EXPECT_EQ(strangers[0].ReceiveAll().size(), kRingChallengeBytes);
  zero.LinkUp();
}

TEST(TcpRingTest, ASilentStrangerIsClosedInTime) {
  TcpRingOptions options = TestRingOptions();
  options.handshake_timeout = absl::Milliseconds(50);
  RankZero zero(options);
  RawSocket silent = RawSocket::Connect(zero.address());
  EXPECT_EQ(silent.ReceiveAll().size(), kRingChallengeBytes);
  EXPECT_THAT(zero.lines(), ElementsAre(HasSubstr("does not say in time")));
}

TEST(TcpRingTest, RanksThatDoNotBelongTogetherSaySo) {
  struct Case {
    RingRanks::Change change;
    std::string text;
  };
  for (const Case& c : std::vector<Case>{
           {[](int rank, TcpRingOptions* o) { o->generation += rank; },
            "it is of generation"},
           {[](int rank, TcpRingOptions* o) {
              if (rank == 1) o->token = "another";
            },
            "it does not have the job's token"},
           {[](int rank, TcpRingOptions* o) {
              if (rank == 1) o->job = "another";
            },
            "it is of the job"},
           {[](int rank, TcpRingOptions* o) {
              if (rank == 1) o->reduction = Reduction::kRankOrder;
            },
            "it has reduction"}}) {
    TcpRingOptions options = TestRingOptions();
    // The rank that fails later finds nobody.
    options.connect_timeout = absl::Seconds(2);
    options.reconnect_timeout = absl::Seconds(2);
    RingRanks ranks(2, options, c.change);
    std::vector<float> x(10, 1), y(10, 1);
    const Call a = AllReduce(ranks.rank(0), &x);
    const Call b = AllReduce(ranks.rank(1), &y);
    const absl::Status first = a->Wait().status();
    const absl::Status second = b->Wait().status();
    EXPECT_EQ(first.code(), Code::kAborted) << first;
    // A ring of a later generation can be made anew.
    const bool later = absl::StrContains(c.text, "generation");
    EXPECT_EQ(second.code(), later ? Code::kUnavailable : Code::kAborted)
        << second;
    EXPECT_TRUE(absl::StrContains(first.message(), c.text) ||
                absl::StrContains(second.message(), c.text))
        << first << "; " << second;
  }
}

TEST(TcpRingTest, ANeighbourThatIsNotThereIsNamed) {
  TcpRingOptions options = TestRingOptions();
  options.connect_timeout = absl::Milliseconds(300);
  absl::StatusOr<RingPort> port = RingPort::Open("127.0.0.1:0", options.token);
  ASSERT_TRUE(port.ok());
  std::string nobody;
  { RawSocket closed = RawSocket::Listen(&nobody); }
  options.size = 3;
  options.rank = 1;
  options.next = nobody;
  RealClock clock;
  ThreadExecutor executor({.name = "rank 1"}, &clock);
  auto ring = TcpRing::Start(*std::move(port), options, &executor);
  ASSERT_TRUE(ring.ok()) << ring.status();
  std::vector<float> values(10, 1);
  const absl::Status status = AllReduce(**ring, &values)->Wait().status();
  EXPECT_EQ(status.code(), Code::kAborted) << "no rank was lost";
  EXPECT_EQ(status.message(),
            absl::StrCat("rank 2 at ", nobody,
                         " cannot be reached: Connection refused; rank 0 has "
                         "not connected"));
}

// Its connection broke half-way, and it connects again.
TEST(TcpRingTest, ANeighbourThatLeavesBeforeTheOtherIsThereIsFoundAgain) {
  const std::vector<float> values(1000, 1);
  for (const bool next : {true, false}) {
    SCOPED_TRACE(next);
    std::vector<float> own = values;  // as long as the ring
    RankZero zero;
    const Call call = AllReduce(zero.ring(), &own);
    if (next) {
      ASSERT_EQ(zero.LinkFromZero(), absl::OkStatus());
      zero.from_zero().Close();
      ASSERT_EQ(zero.LinkFromZero(), absl::OkStatus());
      ASSERT_EQ(zero.LinkToZero(), absl::OkStatus());
    } else {
      ASSERT_EQ(zero.LinkToZero(), absl::OkStatus());
      zero.to_zero().Close();
      const absl::Time give_up = absl::Now() + kPatience;
      absl::Status again;
      do {
        again = zero.LinkToZero();
      } while (!again.ok() && absl::Now() < give_up);
      ASSERT_EQ(again, absl::OkStatus());
      ASSERT_EQ(zero.LinkFromZero(), absl::OkStatus());
    }
    EXPECT_EQ(zero.from_zero().Receive(24).size(), 24u) << "a header";
  }
}

// The coordinator makes such a ring anew, as one that breaks.
TEST(TcpRingTest, ALaterRingWithoutANeighbourIsBroken) {
  TcpRingOptions options = TestRingOptions();
  options.generation = 2;
  options.reconnect_timeout = absl::Milliseconds(300);
  RankZero zero(options);
  std::vector<float> values(10, 1);
  const absl::Status status = AllReduce(zero.ring(), &values)->Wait().status();
  EXPECT_EQ(status.code(), Code::kUnavailable) << status;
  EXPECT_EQ(LostRankOf(status), 1);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 at "));
}

TEST(TcpRingTest, ADeadlineBeforeTheNeighboursAreThereNamesThem) {
  RankZero zero;
  std::vector<float> values(10, 1);
  const absl::Status status =
      AllReduce(zero.ring(), &values, absl::Milliseconds(100))
          ->Wait()
          .status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'values'"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 1 has not connected"));
}

// A neighbour that is frozen: its connections stay, and nothing comes.
TEST(TcpRingTest, AFrozenNeighbourIsNamedAtTheDeadline) {
  RankZero zero;
  zero.LinkUp();
  std::vector<float> values(4 << 20, 1);
  std::vector<float> other(10, 1);
  const Call late =
      AllReduce(zero.ring(), &values, absl::Milliseconds(200));
  const Call queued = AllReduce(zero.ring(), &other);
  const absl::Status status = late->Wait().status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("AllReduce 'values' of 4194304 float32"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("waits for rank 1"));
  EXPECT_EQ(queued->Wait().status().code(), Code::kUnavailable);
  // The memory is the caller's again, though the socket took half a chunk.
  values = std::vector<float>();
  zero.Destroy();
}

TEST(TcpRingTest, ALostNeighbourEndsAllQueuedCalls) {
  RankZero zero;
  zero.LinkUp();
  std::vector<float> values(1000, 1);
  std::vector<float> other(10, 1);
  const Call first = AllReduce(zero.ring(), &values);
  const Call second = AllReduce(zero.ring(), &other);
  std::string half = EncodeAnnouncement(0, 1, OperationOf(values));
  half.resize(half.size() - 1);
  zero.to_zero().Send(half);
  zero.to_zero().Close();
  zero.from_zero().Close();
  for (const Call* call : {&first, &second}) {
    const absl::Status status = (*call)->Wait().status();
    EXPECT_EQ(status.code(), Code::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 is lost"));
  }
}

TEST(TcpRingTest, GarbageFromANeighbourEndsTheRing) {
  struct Case {
    std::string bytes;
    std::string text;
  };
  const std::vector<float> values(1000, 1);
  std::string huge;
  AppendHeader({.kind = RingFrameKind::kData, .length = 0xffffffff}, &huge);
  for (const Case& c : std::vector<Case>{
           {std::string(24, 'g'), "rank 1 sent a frame with the unknown kind"},
           {huge, "rank 1 sent a frame with a body of 4294967295 bytes"},
           {EncodeAnnouncement(0, 0, OperationOf(values)),
            "rank 1 sent a frame out of order"}}) {
    RankZero zero;
    zero.LinkUp();
    std::vector<float> own = values;
    const Call call = AllReduce(zero.ring(), &own);
    zero.to_zero().Send(c.bytes);
    const absl::Status status = call->Wait().status();
    EXPECT_EQ(status.code(), Code::kUnavailable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.text));
    // The neighbour is told.
    EXPECT_THAT(zero.to_zero().ReceiveAll(), HasSubstr(c.text));
  }
}

TEST(TcpRingTest, APortBeyondLoopbackNeedsAToken) {
  EXPECT_EQ(RingPort::Open("0.0.0.0:0", "").status().code(),
            Code::kFailedPrecondition);
  EXPECT_TRUE(RingPort::Open("0.0.0.0:0", "token").ok());
  EXPECT_EQ(RingPort::Open("nonsense", "").status().code(),
            Code::kInvalidArgument);
  const auto port = RingPort::Open("127.0.0.1:0", "");
  ASSERT_TRUE(port.ok());
  EXPECT_EQ(RingPort::Open(port->address(), "").status().code(),
            Code::kAlreadyExists);
}

TEST(TcpRingTest, OptionsAreChecked) {
  struct Case {
    std::function<void(TcpRingOptions*)> change;
    std::string text;
  };
  for (const Case& c : std::vector<Case>{
           {[](TcpRingOptions* o) { o->size = 0; }, "size = 0"},
           {[](TcpRingOptions* o) { o->rank = 3; }, "rank = 3"},
           {[](TcpRingOptions* o) { o->next = "h:0"; }, "next = h:0"},
           {[](TcpRingOptions* o) { o->chunk_bytes = 100; }, "chunk_bytes"},
           {[](TcpRingOptions* o) { o->chunk_bytes = 4100; }, "chunk_bytes"},
           {[](TcpRingOptions* o) { o->max_queued = 1; }, "max_queued"},
           {[](TcpRingOptions* o) { o->max_strangers = 0; }, "max_strangers"},
           {[](TcpRingOptions* o) { o->job = std::string(257, 'j'); }, "job"},
           {[](TcpRingOptions* o) { o->token = "a b"; }, ""}}) {
    TcpRingOptions options = TestRingOptions();
    options.size = 3;
    options.next = "127.0.0.1:1";
    ASSERT_EQ(options.Validate(), absl::OkStatus());
    c.change(&options);
    EXPECT_EQ(options.Validate().code(), Code::kInvalidArgument);
    EXPECT_THAT(std::string(options.Validate().message()), HasSubstr(c.text));
  }
}

}  // namespace
}  // namespace shoal
