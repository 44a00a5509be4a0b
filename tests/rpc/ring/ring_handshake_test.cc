#include "rpc/ring/ring_handshake.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/ring/little_endian.h"
#include "rpc/ring/token_proof.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

RingSettings Settings(int rank) {
  RingSettings settings;
  settings.job = "demo";
  settings.start = 42;
  settings.generation = 4;
  settings.rank = rank;
  settings.size = 3;
  return settings;
}

RingAcceptor Acceptor(const std::string& token = "the-token") {
  return RingAcceptor(Settings(1), token, "acceptor's nonce");
}

std::unique_ptr<RingConnector> Connector(
    const std::function<void(RingSettings*)>& change = nullptr,
    const std::string& token = "the-token") {
  RingSettings settings = Settings(0);
  if (change != nullptr) change(&settings);
  return std::make_unique<RingConnector>(settings, token, "connector's nonc");
}

// Lets both talk, `step` bytes at a time, until neither has anything to say.
// Returns all that the connector said.
std::string Talk(RingHandshake* acceptor, RingHandshake* connector,
                 size_t step = 1000) {
  std::string to_connector;
  std::string to_acceptor;
  std::string said;
  while (true) {
    to_connector += acceptor->TakeOutput();
    const std::string more = connector->TakeOutput();
    to_acceptor += more;
    said += more;
    const auto give = [step](std::string* bytes, RingHandshake* to) {
      const size_t size = std::min({step, bytes->size(), to->wants()});
      to->Feed(bytes->substr(0, size));
      bytes->erase(0, size);
      return size > 0;
    };
    const bool first = give(&to_acceptor, acceptor);
    const bool second = give(&to_connector, connector);
    if (!first && !second) return said;
  }
}

TEST(TokenProofTest, IsHmacSha256) {
  // RFC 4231, test case 2.
  EXPECT_EQ(
      absl::BytesToHexString(
          TokenProof("Jefe", "what do ya want for nothing?")),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(TokenProof("", "message").size(), kTokenProofBytes);
  EXPECT_EQ(MakeNonce().size(), kNonceBytes);
  EXPECT_NE(MakeNonce(), MakeNonce());
}

TEST(RingHandshakeTest, NeighboursKnowEachOtherHoweverTheirBytesAreCut) {
  for (const size_t step : {size_t{1}, size_t{7}, size_t{1000}}) {
    RingAcceptor acceptor = Acceptor();
    const auto connector = Connector();
    Talk(&acceptor, connector.get(), step);
    EXPECT_TRUE(acceptor.done() && connector->done());
    EXPECT_EQ(acceptor.status(), absl::OkStatus());
    EXPECT_EQ(connector->status(), absl::OkStatus());
    EXPECT_EQ(acceptor.wants(), 0u);
  }
}

TEST(RingHandshakeTest, TheTokenIsNotSent) {
  RingAcceptor acceptor = Acceptor();
  const auto connector = Connector();
  const std::string said = Talk(&acceptor, connector.get());
  EXPECT_FALSE(absl::StrContains(said, "the-token"));
  EXPECT_EQ(said.size(), kRingHelloBytes + 4);
}

TEST(RingHandshakeTest, AnotherTokenIsRefusedByBothSides) {
  RingAcceptor acceptor = Acceptor();
  const auto connector = Connector(nullptr, "another-token");
  Talk(&acceptor, connector.get());
  EXPECT_TRUE(acceptor.done() && connector->done());
  EXPECT_TRUE(absl::IsUnauthenticated(acceptor.status()));
  EXPECT_TRUE(absl::IsUnauthenticated(connector->status()));
  EXPECT_THAT(std::string(connector->status().message()), HasSubstr("token"));
}

// A process that does not have the token, but answers like a rank.
TEST(RingHandshakeTest, AnAcceptorWithoutTheTokenIsRefused) {
  RingAcceptor acceptor = Acceptor("");
  const auto connector = Connector();
  Talk(&acceptor, connector.get());
  EXPECT_TRUE(absl::IsUnauthenticated(connector->status()));
}

TEST(RingHandshakeTest, AnOverheardHelloIsWorthNothing) {
  RingAcceptor acceptor = Acceptor();
  const auto connector = Connector();
  const std::string said = Talk(&acceptor, connector.get());
  RingAcceptor same(Settings(1), "the-token", "acceptor's nonce");
  same.Feed(said.substr(0, 8));
  same.Feed(said.substr(8, kRingHelloBytes - 8));
  same.Feed(said.substr(kRingHelloBytes));
  EXPECT_EQ(same.status(), absl::OkStatus());  // the same nonce
  RingAcceptor later(Settings(1), "the-token", "another nonce...");
  later.Feed(said.substr(0, 8));
  later.Feed(said.substr(8, kRingHelloBytes - 8));
  later.Feed(said.substr(kRingHelloBytes));
  EXPECT_TRUE(absl::IsUnauthenticated(later.status()));
}

TEST(RingHandshakeTest, OtherSettingsAreRefusedAndNamed) {
  struct Case {
    std::function<void(RingSettings*)> change;
    std::string text;
  };
  for (const Case& c : std::vector<Case>{
           {[](RingSettings* s) { s->job = "other"; },
            "it is of the job 'other', here is the job 'demo'"},
           {[](RingSettings* s) { s->job = ""; }, "it is of the job ''"},
           {[](RingSettings* s) { s->rank = 2; },
            "it is rank 2, rank 1 waits for rank 0"},
           {[](RingSettings* s) { s->size = 4; },
            "its number of ranks is 4, here 3"},
           {[](RingSettings* s) { s->reduction = Reduction::kRankOrder; },
            "it has reduction 2, here 1"},
           {[](RingSettings* s) { s->chunk_bytes = 4096; },
            "it has chunks of bytes 4096, here 524288"},
           {[](RingSettings* s) { s->max_part_bytes = 5; },
            "it has a limit for parts of bytes 5"}}) {
    RingAcceptor acceptor = Acceptor();
    const auto connector = Connector(c.change);
    Talk(&acceptor, connector.get());
    EXPECT_EQ(acceptor.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(acceptor.status().message()), HasSubstr(c.text));
    EXPECT_EQ(connector->status().code(),
              absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(connector->status().message()), HasSubstr(c.text));
  }
}

// One of the two may not have heard of the newest generation, so that this is
// no reason to give up.
TEST(RingHandshakeTest, AnotherStartOrGenerationIsRefusedForNow) {
  struct Case {
    std::function<void(RingSettings*)> change;
    std::string text;
  };
  for (const Case& c : std::vector<Case>{
           {[](RingSettings* s) { s->generation = 3; },
            "it is of generation 3 of start 2a of the job, here is generation "
            "4 of start 2a"},
           {[](RingSettings* s) { s->generation = 5; },
            "it is of generation 5"},
           {[](RingSettings* s) { s->start = 43; },
            "it is of generation 4 of start 2b"}}) {
    RingAcceptor acceptor = Acceptor();
    const auto connector = Connector(c.change);
    Talk(&acceptor, connector.get());
    EXPECT_TRUE(absl::IsUnavailable(acceptor.status()));
    EXPECT_THAT(std::string(acceptor.status().message()), HasSubstr(c.text));
    EXPECT_TRUE(absl::IsUnavailable(connector->status()));
    EXPECT_THAT(std::string(connector->status().message()), HasSubstr(c.text));
  }
}

TEST(RingHandshakeTest, EveryByteOfAHelloCounts) {
  RingAcceptor acceptor = Acceptor();
  const auto connector = Connector();
  const std::string said = Talk(&acceptor, connector.get());
  for (size_t i = 0; i < said.size(); ++i) {
    std::string other = said;
    other[i] = static_cast<char>(other[i] ^ 1);
    RingAcceptor refuses = Acceptor();
    while (refuses.wants() > 0 && !other.empty()) {
      const size_t size = std::min(refuses.wants(), other.size());
      refuses.Feed(other.substr(0, size));
      other.erase(0, size);
    }
    // A longer label than was sent: the acceptor waits for the rest.
    EXPECT_TRUE(!refuses.done() || !refuses.status().ok()) << "byte " << i;
  }
}

TEST(RingHandshakeTest, NothingLargeIsEverWanted) {
  RingAcceptor garbage = Acceptor();
  EXPECT_EQ(garbage.wants(), 8u);
  garbage.Feed("GET / HT");
  EXPECT_TRUE(garbage.done());
  EXPECT_TRUE(absl::IsUnauthenticated(garbage.status()));
  garbage.TakeOutput();
  EXPECT_EQ(garbage.TakeOutput(), "");

  // A label of 4 GiB.
  std::string hello = "SHOALRNG";
  AppendNumber(kRingVersion, &hello);
  AppendNumber(uint32_t{0xffffffff}, &hello);
  hello.resize(kRingHelloBytes);
  RingAcceptor large = Acceptor();
  large.Feed(hello.substr(0, 8));
  EXPECT_EQ(large.wants(), kRingHelloBytes - 8);
  large.Feed(hello.substr(8));
  EXPECT_TRUE(large.done());
  EXPECT_TRUE(absl::IsUnauthenticated(large.status()));
}

TEST(RingHandshakeTest, AnotherVersionIsNamed) {
  std::string hello = "SHOALRNG";
  AppendNumber(uint32_t{9}, &hello);
  hello.resize(kRingHelloBytes);
  RingAcceptor acceptor = Acceptor();
  acceptor.Feed(hello.substr(0, 8));
  acceptor.Feed(hello.substr(8));
  EXPECT_EQ(acceptor.status().message(),
            "it has the ring's protocol version 9, here 2");
  const auto connector = Connector();
  connector->Feed(hello.substr(0, kRingChallengeBytes));
  EXPECT_EQ(connector->status().message(),
            "it has the ring's protocol version 9, here 2");
}

}  // namespace
}  // namespace shoal
