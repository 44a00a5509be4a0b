#include "wire/messages/common_messages.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "wire/codec/verdict_codec.h"

namespace shoal {
namespace {

// The last code of google.rpc.Code (UNAUTHENTICATED).
constexpr uint32_t kLastStatusCode = 16;

}  // namespace

void ToProto(const Life& in, v1::Life* out) {
  out->set_start(in.start);
  out->set_n(in.n);
}

Life FromProto(const v1::Life& in) { return {in.start(), in.n()}; }

void ToProto(const BatchId& in, v1::BatchId* out) {
  out->set_epoch(in.epoch);
  out->set_piece(in.piece);
  out->set_index(in.index);
}

BatchId FromProto(const v1::BatchId& in) {
  return {in.epoch(), in.piece(), in.index()};
}

void ToProto(const Version& in, v1::Version* out) {
  ToProto(in.life, out->mutable_life());
  out->set_count(in.count);
}

Version FromProto(const v1::Version& in) {
  return {FromProto(in.life()), in.count()};
}

void ToProto(const CallIdentity& in, v1::Identity* out) {
  out->set_job(in.job);
  ToProto(in.worker, out->mutable_worker());
  ToProto(in.shard, out->mutable_shard());
  out->set_map_version(in.map_version);
}

CallIdentity FromProto(const v1::Identity& in) {
  return {in.job(), FromProto(in.worker()), FromProto(in.shard()),
          in.map_version()};
}

void ToProto(const absl::Status& in, v1::Status* out) {
  out->set_code(static_cast<uint32_t>(in.code()));
  out->set_message(std::string(in.message()));
}

absl::Status FromProto(const v1::Status& in, absl::Status* out) {
  if (in.code() > kLastStatusCode) {
    return absl::InvalidArgumentError(
        absl::StrCat("status code ", in.code(), " is unknown"));
  }
  *out = absl::Status(static_cast<absl::StatusCode>(in.code()), in.message());
  return absl::OkStatus();
}

void ToProto(const Histogram& in, v1::Histogram* out) {
  out->Clear();
  for (const auto& [edge, count] : in.buckets()) {
    out->add_edges(edge);
    out->add_counts(count);
  }
  out->set_sum(in.sum());
  out->set_max(in.max());
}

absl::Status FromProto(const v1::Histogram& in, Histogram* out) {
  std::map<uint64_t, uint64_t> buckets;
  const bool paired = in.edges_size() == in.counts_size();
  for (int i = 0; paired && i < in.edges_size(); ++i) {
    buckets.emplace_hint(buckets.end(), in.edges(i), in.counts(i));
  }
  std::optional<Histogram> histogram;
  if (paired && buckets.size() == static_cast<size_t>(in.edges_size())) {
    histogram = Histogram::FromParts(std::move(buckets), in.sum(), in.max());
  }
  if (!histogram.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Histogram: ", in.edges_size(), " edges, ",
                     in.counts_size(), " counts, sum ", in.sum(), " and max ",
                     in.max(), " do not fit together"));
  }
  *out = *std::move(histogram);
  return absl::OkStatus();
}

absl::Status FromProto(v1::Verdict in, Verdict* out) {
  return DecodeVerdict(static_cast<uint32_t>(in), out);
}

void ToProto(const PushedBatch& in, v1::PushedBatch* out) {
  ToProto(in.id, out->mutable_id());
  out->set_lease(in.lease);
  out->set_examples(in.examples);
  out->set_rejected(in.rejected);
}

PushedBatch FromProto(const v1::PushedBatch& in) {
  return {FromProto(in.id()), in.lease(), in.examples(), in.rejected()};
}

void ToProto(const ManifestOffer& in, v1::ManifestOffer* out) {
  out->set_bytes(in.name.bytes);
  out->set_crc32c(in.name.crc32c);
  out->set_text(in.text);
}

ManifestOffer FromProto(const v1::ManifestOffer& in) {
  return {{in.bytes(), in.crc32c()}, in.text()};
}

}  // namespace shoal
