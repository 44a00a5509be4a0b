#include "wire/messages/register_messages.h"

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "wire/messages/common_messages.h"

namespace shoal {
namespace {

constexpr uint32_t kMaxIndex = 1 << 20;  // processes of a role
constexpr size_t kMaxHostBytes = 1024;
constexpr size_t kMaxAddressBytes = 1024;
// A day. A longer interval is a mistake, and a shorter one fits absl::Duration.
constexpr uint64_t kMaxIntervalUs = uint64_t{86'400} * 1'000'000;

void ToProto(const std::vector<SourceInfo>& in,
             google::protobuf::RepeatedPtrField<v1::SourceInfo>* out) {
  out->Clear();
  for (const SourceInfo& source : in) {
    v1::SourceInfo* s = out->Add();
    s->set_name(source.name);
    s->set_size(source.size);
    s->set_head_crc32c(source.head_crc32c);
    s->set_compressed(source.compressed);
  }
}

std::vector<SourceInfo> FromProto(
    const google::protobuf::RepeatedPtrField<v1::SourceInfo>& in) {
  std::vector<SourceInfo> out;
  out.reserve(static_cast<size_t>(in.size()));
  for (const v1::SourceInfo& s : in) {
    out.push_back({s.name(), s.size(), s.head_crc32c(), s.compressed()});
  }
  return out;
}

absl::Status ReadInterval(absl::string_view name, uint64_t us,
                          absl::Duration* out) {
  if (us == 0 || us > kMaxIntervalUs) {
    return absl::InvalidArgumentError(absl::StrCat("RegisterReply.", name,
                                                   " = ", us, " is not in [1, ",
                                                   kMaxIntervalUs, "]"));
  }
  *out = absl::Microseconds(static_cast<int64_t>(us));
  return absl::OkStatus();
}

}  // namespace

void ToProto(const RegisterRequest& in, v1::RegisterRequest* out) {
  out->set_protocol_version(in.protocol_version);
  out->set_job(in.job);
  out->set_role(static_cast<v1::Role>(in.role));
  out->set_index(static_cast<uint32_t>(in.index));
  out->set_address(in.address);
  out->set_config(in.config);
  out->set_process(in.process);
  out->set_attempt(in.attempt);
  ToProto(in.train_sources, out->mutable_train_sources());
  ToProto(in.eval_sources, out->mutable_eval_sources());
  out->set_host(in.host);
  out->set_train_row_bytes(in.train_row_bytes);
  out->set_ids(static_cast<v1::IdKind>(in.ids));
  out->set_ring_address(in.ring_address);
}

absl::Status FromProto(const v1::RegisterRequest& in, RegisterRequest* out) {
  if (in.protocol_version() != kProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the coordinator speaks protocol version ", kProtocolVersion,
        ", but the process that registers speaks ", in.protocol_version(),
        ": run the same version of Shoal on every host"));
  }
  out->protocol_version = in.protocol_version();
  out->job = in.job();
  switch (in.role()) {
    case v1::ROLE_PS:
      out->role = Role::kPs;
      break;
    case v1::ROLE_WORKER:
      out->role = Role::kWorker;
      break;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("RegisterRequest.role ", in.role(), " is unknown"));
  }
  if (in.index() >= kMaxIndex) {
    return absl::InvalidArgumentError(absl::StrCat(
        "RegisterRequest.index ", in.index(), " is not below ", kMaxIndex));
  }
  out->index = static_cast<int>(in.index());
  out->address = in.address();
  out->config = in.config();
  out->process = in.process();
  out->attempt = in.attempt();
  out->train_sources = FromProto(in.train_sources());
  out->eval_sources = FromProto(in.eval_sources());
  if (in.host().size() > kMaxHostBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("RegisterRequest.host has ", in.host().size(),
                     " bytes; at most ", kMaxHostBytes, " are read"));
  }
  // The name goes into log lines.
  if (!absl::c_all_of(in.host(), absl::ascii_isprint)) {
    return absl::InvalidArgumentError(
        "RegisterRequest.host has bytes that cannot be printed");
  }
  out->host = in.host();
  if (in.ring_address().size() > kMaxAddressBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "RegisterRequest.ring_address has ", in.ring_address().size(),
        " bytes; at most ", kMaxAddressBytes, " are read"));
  }
  out->ring_address = in.ring_address();
  out->train_row_bytes = in.train_row_bytes();
  if (in.ids() < v1::IDS_UNKNOWN || in.ids() > v1::IDS_HASHED) {
    return absl::InvalidArgumentError(
        absl::StrCat("RegisterRequest.ids ", in.ids(), " is unknown"));
  }
  out->ids = static_cast<IdKind>(in.ids());
  return absl::OkStatus();
}

void ToProto(const RegisterReply& in, v1::RegisterReply* out) {
  ToProto(in.life, out->mutable_life());
  out->set_initialise(in.initialise);
  if (in.load.has_value()) {
    out->mutable_load()->set_directory(in.load->directory);
    ToProto(in.load->manifest, out->mutable_load()->mutable_manifest());
  }
  out->set_heartbeat_interval_us(
      static_cast<uint64_t>(absl::ToInt64Microseconds(in.heartbeat_interval)));
  out->set_silent_after_us(
      static_cast<uint64_t>(absl::ToInt64Microseconds(in.silent_after)));
}

absl::Status FromProto(const v1::RegisterReply& in, RegisterReply* out) {
  out->life = FromProto(in.life());
  if (!out->life.valid()) {
    return absl::InvalidArgumentError("RegisterReply.life is missing");
  }
  out->initialise = in.initialise();
  out->load.reset();
  if (in.has_load()) {
    out->load =
        LoadFrom{in.load().directory(), FromProto(in.load().manifest())};
  }
  SHOAL_RETURN_IF_ERROR(ReadInterval("heartbeat_interval_us",
                                     in.heartbeat_interval_us(),
                                     &out->heartbeat_interval));
  return ReadInterval("silent_after_us", in.silent_after_us(),
                      &out->silent_after);
}

}  // namespace shoal
