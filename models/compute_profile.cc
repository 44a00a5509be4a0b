#include "models/compute_profile.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr char kFormat[] = "shoal compute profile";
constexpr size_t kMostTextBytes = 1024;
constexpr int64_t kMostNanos = int64_t{3600} * 1'000'000'000;
// Ranges of one step: the layers of a network, and the fields of its first one.
constexpr size_t kMostFinalsOfStep = 1 << 17;
constexpr uint64_t kMostFloats = uint64_t{1} << 48;

uint64_t Nanos(absl::Duration time) {
  return static_cast<uint64_t>(absl::ToInt64Nanoseconds(time));
}

absl::Duration ReadNanos(const JsonNode& node) {
  return absl::Nanoseconds(node.U64(static_cast<uint64_t>(kMostNanos)));
}

// Makes it the document's error unless the ranges cover [0, size), each element
// once.
void CheckCovered(std::vector<StepTimeline::Final> finals, uint64_t size,
                  const JsonNode& node) {
  std::sort(finals.begin(), finals.end(),
            [](const StepTimeline::Final& a, const StepTimeline::Final& b) {
              return a.range.begin < b.range.begin;
            });
  uint64_t end = 0;
  bool is_once = true;
  for (const StepTimeline::Final& final : finals) {
    is_once = final.range.begin == end;
    if (!is_once) break;
    end = final.range.end;
  }
  if (is_once && end == size) return;
  node.Fail(absl::StrCat("its ranges do not cover the ", size,
                         " floats of dense_floats, each once: floats [0, ",
                         end, ") are covered"));
}

StepTimeline ReadStep(const JsonNode& node, uint64_t dense_floats) {
  StepTimeline step;
  step.total = ReadNanos(node.Field("ns"));
  const JsonNode finals = node.Field("final");
  const size_t count = finals.Size(kMostFinalsOfStep);
  absl::Duration before;
  for (size_t i = 0; i < count && node.ok(); ++i) {
    const JsonNode entry = finals.At(i);
    if (entry.Size(3) != 3) {
      entry.Fail("must have three numbers: begin, end and nanoseconds");
      break;
    }
    StepTimeline::Final final;
    final.range.begin = entry.At(0).U64(dense_floats);
    final.range.end = entry.At(1).U64(dense_floats);
    final.at = ReadNanos(entry.At(2));
    if (final.range.begin >= final.range.end) entry.Fail("is an empty range");
    if (final.at < before) entry.Fail("is before the range above it");
    if (final.at > step.total) entry.Fail("is after the end of the step");
    before = final.at;
    step.finals.push_back(final);
  }
  if (node.ok()) CheckCovered(step.finals, dense_floats, finals);
  return step;
}

// OK if the document is a profile of the version that is read here.
absl::Status CheckVersion(const JsonDocument& document) {
  const JsonNode& root = document.root();
  if (root.kind() != JsonKind::kObject || !root.Has("format") ||
      root.Field("format").kind() != JsonKind::kText ||
      root.Field("format").String(kMostTextBytes) != kFormat) {
    return absl::InvalidArgumentError(
        "is not a compute profile; give a file that --record_compute has "
        "written");
  }
  const uint64_t version = root.Field("version").U64();
  SHOAL_RETURN_IF_ERROR(document.status());
  if (version == ComputeProfile::kVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "is a compute profile of version ", version,
      ", and this program reads version ", ComputeProfile::kVersion,
      "; record it again with this program"));
}

}  // namespace

ComputeShape ComputeShape::Of(const ModelSpec& spec, int field_size,
                              int batch_size) {
  ComputeShape shape;
  shape.model = spec.model;
  shape.batch_size = batch_size;
  shape.field_size = field_size;
  for (const TableSpec& table : spec.tables) {
    shape.row_floats += static_cast<uint64_t>(table.row_dim());
  }
  shape.dense_floats = static_cast<uint64_t>(spec.dense_size());
  return shape;
}

absl::Duration ComputeProfile::MeanTotal() const {
  SHOAL_DCHECK(!steps.empty());
  absl::Duration sum;
  for (const StepTimeline& step : steps) sum += step.total;
  return sum / static_cast<int64_t>(steps.size());
}

std::string ComputeProfileText(const ComputeProfile& profile) {
  std::string text;
  JsonWriter w(&text);
  w.BeginObject(/*lines=*/true).Field("format", kFormat);
  w.Field("version", ComputeProfile::kVersion);
  w.Field("model", profile.shape.model);
  w.Field("batch_size", profile.shape.batch_size);
  w.Field("field_size", profile.shape.field_size);
  w.Field("row_floats", profile.shape.row_floats);
  w.Field("dense_floats", profile.shape.dense_floats);
  w.Field("machine", profile.machine).Field("program", profile.program);
  w.Field("steps_seen", profile.steps_seen);
  w.Key("steps").BeginArray(/*lines=*/true);
  for (const StepTimeline& step : profile.steps) {
    w.BeginObject().Field("ns", Nanos(step.total));
    w.Key("final").BeginArray();
    for (const StepTimeline::Final& final : step.finals) {
      w.BeginArray().U64(final.range.begin).U64(final.range.end);
      w.U64(Nanos(final.at)).EndArray();
    }
    w.EndArray().EndObject();
  }
  w.EndArray().EndObject();
  return text + "\n";
}

absl::StatusOr<ComputeProfile> ParseComputeProfile(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  SHOAL_RETURN_IF_ERROR(CheckVersion(*document));
  const JsonNode& root = document->root();
  ComputeProfile profile;
  constexpr int kMostInt = std::numeric_limits<int>::max();
  profile.shape.model = root.Field("model").String(kMostTextBytes);
  profile.shape.batch_size = root.Field("batch_size").Int(kMostInt);
  profile.shape.field_size = root.Field("field_size").Int(kMostInt);
  profile.shape.row_floats = root.Field("row_floats").U64(kMostFloats);
  profile.shape.dense_floats = root.Field("dense_floats").U64(kMostFloats);
  profile.machine = root.Field("machine").String(kMostTextBytes);
  profile.program = root.Field("program").String(kMostTextBytes);
  profile.steps_seen = root.Field("steps_seen").U64();
  if (profile.shape.batch_size < 1) {
    root.Field("batch_size").Fail("is not at least 1");
  }
  const JsonNode steps = root.Field("steps");
  const size_t count = steps.Size(ComputeProfile::kMostSteps);
  if (count == 0) steps.Fail("there is no step");
  for (size_t i = 0; i < count && root.ok(); ++i) {
    profile.steps.push_back(
        ReadStep(steps.At(i), profile.shape.dense_floats));
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  return profile;
}

absl::Status CheckSameShape(const ComputeShape& recorded,
                            const ComputeShape& job) {
  const auto differs = [](absl::string_view what, const auto& profile,
                          const auto& mine) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the profile was recorded with ", what, " ", profile,
        ", and this job has ", mine,
        "; give the profile of a run with this job's flags, or record one "
        "(--record_compute)"));
  };
  if (recorded.model != job.model) {
    return differs("--model", recorded.model, job.model);
  }
  if (recorded.batch_size != job.batch_size) {
    return differs("--batch_size", recorded.batch_size, job.batch_size);
  }
  if (recorded.field_size != job.field_size) {
    return differs("--field_size", recorded.field_size, job.field_size);
  }
  if (recorded.row_floats != job.row_floats) {
    return differs("rows (--embedding_size) whose number of floats is",
                   recorded.row_floats, job.row_floats);
  }
  if (recorded.dense_floats != job.dense_floats) {
    return differs(
        "dense variables (--deep_layers and others) whose number of floats is",
        recorded.dense_floats, job.dense_floats);
  }
  return absl::OkStatus();
}

}  // namespace shoal
