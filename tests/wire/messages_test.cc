// Conversions between core's messages and the wire's: no field is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "google/protobuf/message.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/shoal.pb.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/register_messages.h"
#include "wire/messages/session_messages.h"
#include "wire/messages/stats_messages.h"

namespace shoal {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;

// Sets every field of `message` to a value of its own that the conversions
// take, two elements in every repeated one. Of a oneof: the given field alone.
class Filler {
 public:
  void Fill(Message* message, const FieldDescriptor* only = nullptr) {
    if (FillSpecial(message)) return;
    const auto* descriptor = message->GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor* field = descriptor->field(i);
      if (only == nullptr || field == only) FillField(message, field);
    }
  }

 private:
  // Messages whose fields depend on each other.
  bool FillSpecial(Message* message) {
    if (auto* histogram = dynamic_cast<v1::Histogram*>(message)) {
      Histogram h;
      h.Add(++next_ % 1000, 3);
      h.Add(1'000'003);
      ToProto(h, histogram);
      return true;
    }
    if (auto* eval = dynamic_cast<v1::EvalResult*>(message)) {
      eval->set_lease(++next_);
      eval->set_epoch(static_cast<uint32_t>(++next_));
      eval->set_piece(static_cast<uint32_t>(++next_));
      const std::vector<float> logits = {1.5f, -2};
      eval->set_logits(logits.data(), 8);
      eval->set_labels(std::string("\1\0", 2));
      return true;
    }
    return false;
  }

  void FillField(Message* message, const FieldDescriptor* field) {
    const Reflection* r = message->GetReflection();
    const bool repeated = field->is_repeated();
    for (int i = 0; i < (repeated ? 2 : 1); ++i) {
      ++next_;
      const auto u32 = static_cast<uint32_t>(next_);
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          Fill(repeated ? r->AddMessage(message, field)
                        : r->MutableMessage(message, field));
          break;
        case FieldDescriptor::CPPTYPE_UINT32:
          r->SetUInt32(message, field,
                       field->name() == "code"               ? 9
                       : field->name() == "protocol_version" ? kProtocolVersion
                                                             : u32);
          break;
        case FieldDescriptor::CPPTYPE_INT32:
          r->SetInt32(message, field, -static_cast<int32_t>(next_));
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          r->SetUInt64(message, field, next_);
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          r->SetDouble(message, field, static_cast<double>(next_) + 0.5);
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          r->SetBool(message, field, true);
          break;
        case FieldDescriptor::CPPTYPE_ENUM:
          r->SetEnumValue(message, field, 2);
          break;
        case FieldDescriptor::CPPTYPE_STRING:
          r->SetString(message, field, "text " + std::to_string(next_));
          break;
        default:
          FAIL() << field->full_name();
      }
    }
  }

  uint64_t next_ = 0;
};

// wire → core → wire gives the same message.
template <typename Core, typename Wire>
void ExpectRoundTrip(const Wire& wire) {
  Core core;
  const absl::Status status = FromProto(wire, &core);
  ASSERT_TRUE(status.ok()) << status << "\n" << wire.DebugString();
  Wire back;
  ToProto(core, &back);
  std::string difference;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(wire, back)) << difference;
}

TEST(MessagesTest, EveryProcessMessageKeepsEveryField) {
  const auto* descriptor = v1::ProcessMessage::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    if (descriptor->field(i)->name() == "open") continue;
    SCOPED_TRACE(descriptor->field(i)->name());
    v1::ProcessMessage wire;
    Filler().Fill(&wire, descriptor->field(i));
    if (wire.has_shard_report()) {
      // A session has one process, so that reports on it carry no identity.
      wire.mutable_shard_report()->mutable_stats()->clear_identity();
    }
    ExpectRoundTrip<ProcessMessage>(wire);
  }
  EXPECT_EQ(static_cast<size_t>(descriptor->field_count()),
            std::variant_size_v<ProcessMessage> + 1);
}

TEST(MessagesTest, EveryCoordinatorMessageKeepsEveryField) {
  const auto* descriptor = v1::CoordinatorMessage::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    SCOPED_TRACE(descriptor->field(i)->name());
    v1::CoordinatorMessage wire;
    Filler().Fill(&wire, descriptor->field(i));
    ExpectRoundTrip<CoordinatorMessage>(wire);
  }
  EXPECT_EQ(static_cast<size_t>(descriptor->field_count()),
            std::variant_size_v<CoordinatorMessage>);
}

TEST(MessagesTest, RegistrationAndStatsKeepEveryField) {
  v1::RegisterRequest request;
  Filler().Fill(&request);
  ExpectRoundTrip<RegisterRequest>(request);
  v1::RegisterReply reply;
  Filler().Fill(&reply);
  ExpectRoundTrip<RegisterReply>(reply);
  v1::SessionOpen open;
  Filler().Fill(&open);
  ExpectRoundTrip<SessionOpening>(open);
  v1::StatsReply stats;
  Filler().Fill(&stats);
  stats.clear_identity();
  ExpectRoundTrip<StatsReply>(stats);
}

TEST(MessagesTest, AnotherProtocolVersionIsRefusedByBothNumbers) {
  v1::RegisterRequest wire;
  wire.set_protocol_version(kProtocolVersion + 5);
  // The other fields are not read, because a later version may change them.
  wire.set_role(static_cast<v1::Role>(77));
  RegisterRequest core;
  const absl::Status status = FromProto(wire, &core);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 3,"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("speaks 8"));
}

template <typename Core, typename Wire>
absl::StatusCode CodeOf(const Wire& wire) {
  Core core;
  return FromProto(wire, &core).code();
}

TEST(MessagesTest, UnknownEnumsAndBadValuesAreRefused) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  v1::RegisterRequest registration;
  registration.set_protocol_version(kProtocolVersion);
  EXPECT_EQ(CodeOf<RegisterRequest>(registration), kInvalid) << "no role";
  registration.set_role(static_cast<v1::Role>(3));
  EXPECT_EQ(CodeOf<RegisterRequest>(registration), kInvalid);
  registration.set_role(v1::ROLE_PS);
  registration.set_index(~0u);
  EXPECT_EQ(CodeOf<RegisterRequest>(registration), kInvalid);
  registration.set_index(0);
  EXPECT_EQ(CodeOf<RegisterRequest>(registration), absl::StatusCode::kOk);
  registration.set_ids(static_cast<v1::IdKind>(3));
  EXPECT_EQ(CodeOf<RegisterRequest>(registration), kInvalid);
  registration.clear_ids();
  registration.set_host(std::string(1025, 'h'));
  EXPECT_EQ(CodeOf<RegisterRequest>(registration), kInvalid);

  v1::RegisterReply reply;
  Filler().Fill(&reply);
  v1::RegisterReply bad = reply;
  bad.clear_life();
  EXPECT_EQ(CodeOf<RegisterReply>(bad), kInvalid);
  bad = reply;
  bad.set_heartbeat_interval_us(0);
  EXPECT_EQ(CodeOf<RegisterReply>(bad), kInvalid);
  bad = reply;
  bad.set_silent_after_us(~uint64_t{0});
  EXPECT_EQ(CodeOf<RegisterReply>(bad), kInvalid);

  EXPECT_EQ(CodeOf<ProcessMessage>(v1::ProcessMessage()), kInvalid);
  EXPECT_EQ(CodeOf<CoordinatorMessage>(v1::CoordinatorMessage()), kInvalid);

  v1::ProcessMessage process;
  process.mutable_open();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid);
  process.mutable_failure();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid)
      << "a failure that is OK";
  process.mutable_failure()->mutable_status()->set_code(17);
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid);
  process.mutable_mark_delta()->add_marks();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "no verdict";
  process.mutable_eval_result()->set_labels("\1");
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "no logit";
  process.mutable_eval_result()->set_logits("1234");
  EXPECT_EQ(CodeOf<ProcessMessage>(process), absl::StatusCode::kOk);
  process.mutable_eval_result()->set_labels("\2");
  EXPECT_EQ(CodeOf<ProcessMessage>(process), absl::StatusCode::kOk);
  process.mutable_eval_result()->set_logits("12345678");
  EXPECT_EQ(CodeOf<ProcessMessage>(process), absl::StatusCode::kOk)
      << "two scores of a row";
  process.mutable_eval_result()->set_labels("\1\1\1");
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "less than one each";
  process.mutable_eval_result()->set_logits("1234567890123456");
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "one and a third";
  process.mutable_eval_result()->clear_labels();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "of no row";
  process.mutable_piece_report();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "no purpose";

  process.mutable_stop_request();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "no reason";
  v1::MarkRun* run = process.mutable_mark_runs()->add_runs();
  run->set_verdict(v1::VERDICT_APPLIED);
  run->set_end(1);
  EXPECT_EQ(CodeOf<ProcessMessage>(process), absl::StatusCode::kOk);
  run->set_begin(1);
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "no batch";
  run->set_begin(0);
  const v1::MarkRun good = *run;
  for (size_t i = 1; i < kRunsPerMessage; ++i) {
    *process.mutable_mark_runs()->add_runs() = good;
  }
  EXPECT_EQ(CodeOf<ProcessMessage>(process), absl::StatusCode::kOk);
  *process.mutable_mark_runs()->add_runs() = good;
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "too many runs";
  process.mutable_mark_runs()->clear_runs();
  EXPECT_EQ(CodeOf<ProcessMessage>(process), absl::StatusCode::kOk);
  process.mutable_mark_runs()->set_more(true);
  EXPECT_EQ(CodeOf<ProcessMessage>(process), kInvalid) << "no end";

  v1::CoordinatorMessage part;
  part.mutable_manifest_part()->set_text(std::string(kManifestPartBytes, 'x'));
  EXPECT_EQ(CodeOf<CoordinatorMessage>(part), absl::StatusCode::kOk);
  part.mutable_manifest_part()->mutable_text()->push_back('x');
  EXPECT_EQ(CodeOf<CoordinatorMessage>(part), kInvalid) << "too long";
  part.mutable_file_part()->set_bytes(std::string(kFilePartBytes, 'x'));
  EXPECT_EQ(CodeOf<CoordinatorMessage>(part), absl::StatusCode::kOk);
  part.mutable_file_part()->mutable_bytes()->push_back('x');
  EXPECT_EQ(CodeOf<CoordinatorMessage>(part), kInvalid) << "too long";

  v1::CoordinatorMessage grant;
  Filler().Fill(&grant, v1::CoordinatorMessage::descriptor()->field(1));
  ASSERT_TRUE(grant.has_lease_grant());
  grant.mutable_lease_grant()->mutable_lease()->mutable_piece()->set_begin(
      ~uint64_t{0});
  EXPECT_EQ(CodeOf<CoordinatorMessage>(grant), kInvalid);
}

// The bytes of a lease of all batches are those of releases that know no other.
TEST(MessagesTest, ALeaseOfAllBatchesHasNoStride) {
  LeaseGrant grant;
  grant.lease.batch_size = 7;
  v1::CoordinatorMessage wire;
  ToProto(CoordinatorMessage(grant), &wire);
  v1::CoordinatorMessage expected;
  v1::Lease* lease = expected.mutable_lease_grant()->mutable_lease();
  lease->set_purpose(v1::LEASE_PURPOSE_TRAIN);
  lease->mutable_piece();
  lease->set_batch_size(7);
  EXPECT_EQ(wire.SerializeAsString(), expected.SerializeAsString());
  CoordinatorMessage read;
  ASSERT_TRUE(FromProto(expected, &read).ok());
  EXPECT_EQ(std::get<LeaseGrant>(read).lease.stride, 1u);

  lease->set_stride(1);
  EXPECT_EQ(CodeOf<CoordinatorMessage>(expected), absl::StatusCode::kOk);
  lease->set_offset(1);
  EXPECT_EQ(CodeOf<CoordinatorMessage>(expected),
            absl::StatusCode::kInvalidArgument);
  lease->set_stride(2);
  EXPECT_EQ(CodeOf<CoordinatorMessage>(expected), absl::StatusCode::kOk);
  lease->clear_stride();
  EXPECT_EQ(CodeOf<CoordinatorMessage>(expected),
            absl::StatusCode::kInvalidArgument);
}

TEST(MessagesTest, AHistogramThatIsNoneIsRefused) {
  Histogram histogram;
  histogram.Add(3, 5);
  histogram.Add(5000);
  v1::Histogram good;
  ToProto(histogram, &good);
  ASSERT_EQ(CodeOf<Histogram>(good), absl::StatusCode::kOk);
  EXPECT_EQ(CodeOf<Histogram>(v1::Histogram()), absl::StatusCode::kOk);

  v1::Histogram bad = good;
  bad.add_edges(9000);
  EXPECT_EQ(CodeOf<Histogram>(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.set_edges(1, 4999);
  EXPECT_EQ(CodeOf<Histogram>(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.set_counts(0, 0);
  EXPECT_EQ(CodeOf<Histogram>(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.set_max(3);
  EXPECT_EQ(CodeOf<Histogram>(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.set_sum(1e9);
  EXPECT_EQ(CodeOf<Histogram>(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.set_counts(0, ~uint64_t{0});
  EXPECT_EQ(CodeOf<Histogram>(bad), absl::StatusCode::kInvalidArgument);
}

// Messages may have 1 MiB, if --max_message_bytes says so.
TEST(MessagesTest, APartOfAManifestOfMarksOrOfAFileIsSmall) {
  MarkRuns runs;
  runs.offset = ~uint64_t{0};
  runs.runs.assign(kRunsPerMessage,
                   {~0u, ~0u, ~0u - 1, ~0u, Verdict::kRejected});
  runs.more = true;
  v1::ProcessMessage wire;
  ToProto(ProcessMessage(runs), &wire);
  EXPECT_LE(wire.ByteSizeLong(), kRunsPerMessage * 32 + 64);
  EXPECT_LT(wire.ByteSizeLong(), (1u << 20) - (64u << 10));
  v1::CoordinatorMessage part;
  ToProto(CoordinatorMessage(ManifestPart{
              "ckpt-00000000001", 1, std::string(kManifestPartBytes, 'x')}),
          &part);
  EXPECT_LT(part.ByteSizeLong(), (1u << 20) - (64u << 10));
  ToProto(CoordinatorMessage(FilePart{
              "ckpt-00000000001", "shard-00000-of-00001.safetensors", 1,
              std::string(kFilePartBytes, 'x'), absl::OkStatus()}),
          &part);
  EXPECT_LT(part.ByteSizeLong(), (1u << 20) - (64u << 10));
}

TEST(MessagesTest, ATimeThatIsNoneIsRefused) {
  v1::ProcessMessage message;
  v1::WorkerTime* const time = message.mutable_heartbeat()->mutable_time();
  EXPECT_EQ(CodeOf<ProcessMessage>(message), absl::StatusCode::kOk);
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  for (const double bad :
       {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    time->set_wait_ring(bad);
    EXPECT_EQ(CodeOf<ProcessMessage>(message), kInvalid) << bad;
    time->clear_wait_ring();
    time->set_step_square_sum(bad);
    EXPECT_EQ(CodeOf<ProcessMessage>(message), kInvalid) << bad;
    time->clear_step_square_sum();
  }
  Histogram steps;
  steps.Add(StepTimes::kMostMicros);
  ToProto(steps, time->mutable_step_micros());
  EXPECT_EQ(CodeOf<ProcessMessage>(message), absl::StatusCode::kOk);
  steps.Add(2 * StepTimes::kMostMicros);
  ToProto(steps, time->mutable_step_micros());
  EXPECT_EQ(CodeOf<ProcessMessage>(message), kInvalid) << "above the limit";
}

// Processes of an older release of the same protocol tell neither.
TEST(MessagesTest, AHeartbeatWithoutBytesAndTimeHasZeros) {
  v1::ProcessMessage message;
  message.mutable_heartbeat()->set_number(3);
  ProcessMessage read;
  ASSERT_TRUE(FromProto(message, &read).ok());
  const auto& heartbeat = std::get<Heartbeat>(read);
  EXPECT_EQ(heartbeat.bytes.pull.sent, 0u);
  EXPECT_EQ(heartbeat.time.seconds, StateSeconds{});
  EXPECT_EQ(heartbeat.time.steps.micros.count(), 0u);
}

// A process sends it every second.
TEST(MessagesTest, AHeartbeatOfManyDifferentStepsIsSmall) {
  Heartbeat heartbeat;
  for (uint64_t micros = 1; micros < StepTimes::kMostMicros;
       micros += 1 + micros / 100) {
    heartbeat.time.steps.micros.Add(micros, 1'000'000);
  }
  v1::ProcessMessage wire;
  ToProto(ProcessMessage(heartbeat), &wire);
  EXPECT_LT(wire.ByteSizeLong(), 32u << 10);
}

TEST(MessagesTest, AMillionScoresFitIntoOneMessage) {
  EvalResult result;
  result.logits.assign(1'000'000, 0.25f);
  result.labels.assign(1'000'000, 1);
  v1::ProcessMessage wire;
  ToProto(ProcessMessage(result), &wire);
  EXPECT_LT(wire.ByteSizeLong(), 6u << 20);
  ProcessMessage back;
  ASSERT_TRUE(FromProto(wire, &back).ok());
  EXPECT_EQ(std::get<EvalResult>(back).logits, result.logits);
  EXPECT_EQ(std::get<EvalResult>(back).labels, result.labels);
}

}  // namespace
}  // namespace shoal
