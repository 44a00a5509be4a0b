#ifndef SHOAL_RPC_RING_RING_HANDSHAKE_H_
#define SHOAL_RPC_RING_RING_HANDSHAKE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rpc/ring/ring_settings.h"

namespace shoal {

// What two processes say to each other before the first frame
// (docs/wire_protocol.md, "The ring of ranks"). Rank r connects to rank r + 1.
// Both prove that they have the token without sending it, and state their
// settings, before anything else is read. Pure: bytes come and go through
// arguments.

constexpr char kRingMagic[] = "SHOALRNG";  // 8 bytes
constexpr uint32_t kRingVersion = 2;
constexpr size_t kRingJobMax = 256;           // bytes
constexpr size_t kRingRefusalMax = 512;       // bytes of text
constexpr size_t kRingChallengeBytes = 32;    // of the side that listens
constexpr size_t kRingHelloBytes = 104;       // without the job's label
constexpr size_t kRingWelcomeBytes = 56;      // without the text

// One side of a handshake. Owned by one thread.
//
//   RingAcceptor acceptor(settings, token, MakeNonce());
//   Send(acceptor.TakeOutput());
//   while (!acceptor.done()) {
//     acceptor.Feed(Read(acceptor.wants()));  // at most so many bytes
//     Send(acceptor.TakeOutput());
//   }
//   if (!acceptor.status().ok()) // not a neighbour: close the connection
class RingHandshake {
 public:
  virtual ~RingHandshake() = default;

  // The bytes that may be read now. Never more than what belongs to the
  // handshake, so at most 600 bytes before the end. 0: done.
  size_t wants() const { return done_ ? 0 : wanted_ - input_.size(); }
  // REQUIRES: bytes.size() <= wants().
  void Feed(absl::string_view bytes);
  // The bytes to send now; they come before the end too.
  std::string TakeOutput();

  bool done() const { return done_; }
  // Once done: OK, or why the other side is not the neighbour.
  //   UNAUTHENTICATED      not a ring of ours, or a wrong token
  //   UNAVAILABLE          another start of the job or generation of its ranks;
  //                        both are named. One of the two has not heard of the
  //                        newest one yet: connect again later
  //   FAILED_PRECONDITION  another version, job, rank, size, reduction, size of
  //                        chunks or limit; both are named
  const absl::Status& status() const { return status_; }

 protected:
  RingHandshake(RingSettings settings, std::string token)
      : settings_(std::move(settings)), token_(std::move(token)) {}

  // Called when `wanted_` bytes are there. Either raises wanted_, or takes the
  // bytes out of input_ and sets another wanted_, or calls End.
  virtual void OnInput() = 0;
  void End(absl::Status status);

  const RingSettings settings_;
  const std::string token_;
  std::string input_;
  std::string output_;
  size_t wanted_ = 0;

 private:
  bool done_ = false;
  absl::Status status_;
};

// The side that listens: it waits for rank settings.previous().
class RingAcceptor final : public RingHandshake {
 public:
  // REQUIRES: `nonce` has kNonceBytes bytes.
  RingAcceptor(RingSettings settings, std::string token, std::string nonce);

 private:
  void OnInput() override;
  absl::Status Check(absl::string_view hello);
  void Answer(const absl::Status& verdict);

  const std::string nonce_;
};

// The side that connects, to rank settings.next().
class RingConnector final : public RingHandshake {
 public:
  // REQUIRES: `nonce` has kNonceBytes bytes.
  RingConnector(RingSettings settings, std::string token, std::string nonce);

 private:
  void OnInput() override;
  void OnChallenge();
  void OnWelcome();

  const std::string nonce_;
  std::string their_nonce_;  // empty: the challenge has not come yet
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_HANDSHAKE_H_
