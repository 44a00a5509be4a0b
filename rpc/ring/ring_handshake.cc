#include "rpc/ring/ring_handshake.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "rpc/ring/little_endian.h"
#include "rpc/ring/ring_frame.h"
#include "rpc/ring/token_proof.h"
#include "rpc/token.h"

namespace shoal {
namespace {

constexpr size_t kMagicBytes = 8;
// Bytes of a hello before its proof.
constexpr size_t kClaimBytes = kRingHelloBytes - kTokenProofBytes;

void AppendStart(std::string* out) {
  out->append(kRingMagic, kMagicBytes);
  AppendNumber(kRingVersion, out);
}

// Proves to the side that listens: the claim is the hello without its proof.
std::string ConnectorProof(absl::string_view token, absl::string_view nonce,
                           absl::string_view claim, absl::string_view job) {
  return TokenProof(token, absl::StrCat("shoal ring connector", nonce, claim,
                                        job));
}

std::string AcceptorProof(absl::string_view token, absl::string_view nonce,
                          absl::string_view their_nonce, uint32_t code,
                          absl::string_view text) {
  return TokenProof(token, absl::StrCat("shoal ring acceptor", nonce,
                                        their_nonce, code, text));
}

// A hello without its proof.
std::string Claim(const RingSettings& settings, absl::string_view nonce) {
  std::string claim;
  AppendStart(&claim);
  AppendNumber(static_cast<uint32_t>(settings.job.size()), &claim);
  AppendNumber(settings.start, &claim);
  AppendNumber(settings.generation, &claim);
  AppendNumber(static_cast<uint32_t>(settings.rank), &claim);
  AppendNumber(static_cast<uint32_t>(settings.size), &claim);
  AppendNumber(settings.chunk_bytes, &claim);
  AppendNumber(static_cast<uint32_t>(settings.reduction), &claim);
  AppendNumber(settings.max_part_bytes, &claim);
  absl::StrAppend(&claim, nonce);
  SHOAL_DCHECK(claim.size() == kClaimBytes);
  return claim;
}

absl::Status Differs(absl::string_view what, uint64_t theirs, uint64_t ours) {
  return absl::FailedPreconditionError(
      absl::StrCat(what, " ", theirs, ", here ", ours));
}

}  // namespace

void RingHandshake::Feed(absl::string_view bytes) {
  SHOAL_DCHECK(bytes.size() <= wants());
  absl::StrAppend(&input_, bytes);
  while (!done_ && input_.size() == wanted_) OnInput();
}

std::string RingHandshake::TakeOutput() {
  return std::exchange(output_, std::string());
}

void RingHandshake::End(absl::Status status) {
  done_ = true;
  status_ = std::move(status);
}

RingAcceptor::RingAcceptor(RingSettings settings, std::string token,
                           std::string nonce)
    : RingHandshake(std::move(settings), std::move(token)),
      nonce_(std::move(nonce)) {
  SHOAL_DCHECK(nonce_.size() == kNonceBytes);
  AppendStart(&output_);
  AppendNumber(uint32_t{0}, &output_);
  output_.append(nonce_);
  wanted_ = kMagicBytes;
}

void RingAcceptor::OnInput() {
  if (input_.size() == kMagicBytes) {
    if (input_ != kRingMagic) {
      // Nothing is said to those who do not speak the protocol.
      End(absl::UnauthenticatedError("it does not speak the ring's protocol"));
    }
    wanted_ = kRingHelloBytes;
    return;
  }
  if (input_.size() == kRingHelloBytes) {
    NumberReader reader(input_);
    reader.Bytes(kMagicBytes);
    const uint32_t version = reader.Next<uint32_t>();
    const uint32_t job_bytes = reader.Next<uint32_t>();
    if (version != kRingVersion) {
      Answer(Differs("it has the ring's protocol version", version,
                     kRingVersion));
      return;
    }
    if (job_bytes > kRingJobMax) {
      Answer(absl::UnauthenticatedError("its job's label is too long"));
      return;
    }
    wanted_ += job_bytes;
    if (job_bytes > 0) return;
  }
  Answer(Check(input_));
}

absl::Status RingAcceptor::Check(absl::string_view hello) {
  const absl::string_view claim = hello.substr(0, kClaimBytes);
  const absl::string_view proof = hello.substr(kClaimBytes, kTokenProofBytes);
  const absl::string_view job = hello.substr(kRingHelloBytes);
  if (!ConstantTimeEquals(proof, ConnectorProof(token_, nonce_, claim, job))) {
    return absl::UnauthenticatedError("it does not have the job's token");
  }
  NumberReader reader(claim.substr(kMagicBytes + 2 * sizeof(uint32_t)));
  const uint64_t start = reader.Next<uint64_t>();
  const uint64_t generation = reader.Next<uint64_t>();
  const uint32_t rank = reader.Next<uint32_t>();
  const uint32_t size = reader.Next<uint32_t>();
  const uint32_t chunk_bytes = reader.Next<uint32_t>();
  const uint32_t reduction = reader.Next<uint32_t>();
  const uint64_t max_part_bytes = reader.Next<uint64_t>();
  if (job != settings_.job) {
    return absl::FailedPreconditionError(
        absl::StrCat("it is of the job '", PrintableText(job),
                     "', here is the job '", settings_.job, "'"));
  }
  const uint32_t previous = static_cast<uint32_t>(settings_.previous());
  const uint32_t ours = static_cast<uint32_t>(settings_.size);
  const uint32_t sum = static_cast<uint32_t>(settings_.reduction);
  if (start != settings_.start || generation != settings_.generation) {
    return absl::UnavailableError(absl::StrCat(
        "it is of generation ", generation, " of start ", absl::Hex(start),
        " of the job, here is generation ", settings_.generation, " of start ",
        absl::Hex(settings_.start)));
  }
  if (size != ours) return Differs("its number of ranks is", size, ours);
  if (rank != previous) {
    return absl::FailedPreconditionError(
        absl::StrCat("it is rank ", rank, ", rank ", settings_.rank,
                     " waits for rank ", previous));
  }
  if (reduction != sum) return Differs("it has reduction", reduction, sum);
  if (chunk_bytes != settings_.chunk_bytes) {
    return Differs("it has chunks of bytes", chunk_bytes,
                   settings_.chunk_bytes);
  }
  if (max_part_bytes != settings_.max_part_bytes) {
    return Differs("it has a limit for parts of bytes", max_part_bytes,
                   settings_.max_part_bytes);
  }
  return absl::OkStatus();
}

void RingAcceptor::Answer(const absl::Status& verdict) {
  const uint32_t code = static_cast<uint32_t>(verdict.code());
  const absl::string_view text =
      absl::string_view(verdict.message()).substr(0, kRingRefusalMax);
  const absl::string_view hello(input_);
  const absl::string_view their_nonce =
      hello.substr(kClaimBytes - kNonceBytes, kNonceBytes);
  AppendStart(&output_);
  AppendNumber(code, &output_);
  AppendNumber(static_cast<uint32_t>(text.size()), &output_);
  AppendNumber(uint32_t{0}, &output_);
  output_ += AcceptorProof(token_, nonce_, their_nonce, code, text);
  absl::StrAppend(&output_, text);
  End(verdict);
}

RingConnector::RingConnector(RingSettings settings, std::string token,
                             std::string nonce)
    : RingHandshake(std::move(settings), std::move(token)),
      nonce_(std::move(nonce)) {
  SHOAL_DCHECK(nonce_.size() == kNonceBytes);
  SHOAL_DCHECK(settings_.job.size() <= kRingJobMax);
  wanted_ = kRingChallengeBytes;
}

void RingConnector::OnInput() {
  const absl::string_view start(input_);
  NumberReader reader(start.substr(kMagicBytes));
  const uint32_t version = reader.Next<uint32_t>();
  if (start.substr(0, kMagicBytes) != kRingMagic) {
    End(absl::UnauthenticatedError("it does not speak the ring's protocol"));
  } else if (version != kRingVersion) {
    End(Differs("it has the ring's protocol version", version, kRingVersion));
  } else if (their_nonce_.empty()) {
    OnChallenge();
  } else {
    OnWelcome();
  }
}

void RingConnector::OnChallenge() {
  their_nonce_ = input_.substr(kRingChallengeBytes - kNonceBytes);
  const std::string claim = Claim(settings_, nonce_);
  output_ = claim;
  output_ += ConnectorProof(token_, their_nonce_, claim, settings_.job);
  output_ += settings_.job;
  input_.clear();
  wanted_ = kRingWelcomeBytes;
}

void RingConnector::OnWelcome() {
  NumberReader reader(
      absl::string_view(input_).substr(kMagicBytes + sizeof(uint32_t)));
  const uint32_t code = reader.Next<uint32_t>();
  const uint32_t text_bytes = reader.Next<uint32_t>();
  if (text_bytes > kRingRefusalMax) {
    End(absl::UnauthenticatedError("it answers with too long a text"));
    return;
  }
  if (input_.size() < kRingWelcomeBytes + text_bytes) {
    wanted_ = kRingWelcomeBytes + text_bytes;
    return;
  }
  const absl::string_view welcome(input_);
  const absl::string_view proof =
      welcome.substr(kRingWelcomeBytes - kTokenProofBytes, kTokenProofBytes);
  const absl::string_view text = welcome.substr(kRingWelcomeBytes);
  if (!ConstantTimeEquals(
          proof, AcceptorProof(token_, their_nonce_, nonce_, code, text))) {
    End(absl::UnauthenticatedError("it does not have the job's token"));
  } else if (code == static_cast<uint32_t>(absl::StatusCode::kOk)) {
    End(absl::OkStatus());
  } else if (code == static_cast<uint32_t>(absl::StatusCode::kUnavailable)) {
    End(absl::UnavailableError(
        absl::StrCat("it refuses this process: ", PrintableText(text))));
  } else {
    End(absl::FailedPreconditionError(
        absl::StrCat("it refuses this process: ", PrintableText(text))));
  }
}

}  // namespace shoal
