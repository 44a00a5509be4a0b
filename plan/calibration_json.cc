#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "plan/calibration.h"

namespace shoal {
namespace {

constexpr char kFormat[] = "shoal calibration";
constexpr int kVersion = 1;
constexpr size_t kMostEntries = 1000;
constexpr size_t kMostText = 10000;

// The figures of a calibration by key: the writer and the reader walk the same
// list.
template <typename Calibration, typename Visit>
void ForEachFigure(Calibration& c, Visit visit) {
  visit("batch_size", c.batch_size);
  visit("dense_bytes", c.dense_bytes);
  visit("row_floats", c.row_floats);
  visit("worker_memory", c.worker_memory);
  visit("server_memory", c.server_memory);
  visit("table_bytes", c.table_bytes);
  visit("final_share", c.final_share);
  visit("least_batch", c.least_batch);
  visit("most_batch", c.most_batch);
  visit("least_bits", c.least_bits);
  visit("most_bits", c.most_bits);
}

// Those that older files lack.
template <typename Calibration, typename Visit>
void ForEachNewFigure(Calibration& c, Visit visit) {
  visit("least_cores", c.least_cores);
  visit("most_cores", c.most_cores);
  visit("bucket_bytes", c.bucket_bytes);
}

template <typename Costs, typename Visit>
void ForEachCost(Costs& c, Visit visit) {
  visit("sample", c.sample);
  visit("row", c.row);
  visit("merged_row", c.merged_row);
  visit("dense_byte", c.dense_byte);
  visit("worker_byte", c.worker_byte);
  visit("worker_call", c.worker_call);
  visit("server_byte", c.server_byte);
  visit("server_call", c.server_call);
  visit("ring_byte", c.ring_byte);
  visit("ring_hop", c.ring_hop);
}

template <typename Times, typename Visit>
void ForEachQuantile(Times& t, Visit visit) {
  visit("p10", t.p10);
  visit("p50", t.p50);
  visit("p90", t.p90);
  visit("p99", t.p99);
  visit("max", t.max);
}

}  // namespace

std::string CalibrationToJson(const Calibration& c) {
  std::string text;
  JsonWriter w(&text);
  const auto write = [&w](const char* key, double value) {
    w.Field(key, value);
  };
  w.BeginObject(/*lines=*/true).Field("format", kFormat);
  w.Field("version", kVersion).Field("cpu", c.cpu).Field("source", c.source);
  ForEachFigure(c, write);
  ForEachNewFigure(c, write);
  w.Field("ssp_bound", c.ssp_bound);
  w.Field("pipeline_depth", c.pipeline_depth);
  w.Field("most_hosts", c.most_hosts);
  w.Field("network_measured", c.network_measured);
  w.Key("modes").Values(c.modes);
  w.Key("distinct_ids").BeginArray(/*lines=*/true);
  for (const DistinctIds& ids : c.distinct_ids) {
    w.BeginObject().Field("samples", ids.samples).Field("ids", ids.ids);
    w.EndObject();
  }
  w.EndArray().Key("work").BeginObject();
  ForEachFigureOf(c.work, write);
  w.EndObject().Key("step_times").BeginObject();
  ForEachQuantile(c.step_times, write);
  w.Field("count", c.step_times.count).Field("p98", c.step_times.p98);
  w.EndObject().Key("costs").BeginObject(/*lines=*/true);
  ForEachCost(c.costs, write);
  w.EndObject().Key("corrections").BeginArray();
  for (const ModeCorrection& correction : c.corrections) {
    w.BeginObject().Field("mode", correction.mode);
    w.Field("factor", correction.factor);
    w.Field("alone", correction.alone);
    w.Field("factor_is_own", correction.factor_is_own);
    w.Field("alone_is_own", correction.alone_is_own).EndObject();
  }
  w.EndArray().EndObject();
  return text + "\n";
}

absl::StatusOr<Calibration> CalibrationFromJson(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  const JsonNode& root = document->root();
  if (root.Field("format").String(kMostText) != kFormat ||
      root.Field("version").U64() != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat(
        "this is no calibration of version ", kVersion,
        "; make one with shoal plan --measure --calibration_out=FILE"));
  }
  Calibration c;
  c.cpu = root.Field("cpu").String(kMostText);
  c.source = root.Field("source").String(kMostText);
  ForEachFigure(c, [&root](const char* key, double& value) {
    value = root.Field(key).Double();
  });
  ForEachNewFigure(c, [&root](const char* key, double& value) {
    if (root.Has(key)) value = root.Field(key).Double();
  });
  if (root.Has("ssp_bound")) c.ssp_bound = root.Field("ssp_bound").Int(1 << 20);
  if (root.Has("pipeline_depth")) {
    c.pipeline_depth = root.Field("pipeline_depth").Int(1 << 20);
  }
  if (root.Has("modes")) {
    const JsonNode modes = root.Field("modes");
    for (size_t i = 0, n = modes.Size(kMostEntries); i < n; ++i) {
      c.modes.push_back(modes.At(i).String(kMostText));
    }
  }
  c.most_hosts = root.Field("most_hosts").Int(1 << 20);
  c.network_measured = root.Field("network_measured").Bool();
  const JsonNode ids = root.Field("distinct_ids");
  for (size_t i = 0, n = ids.Size(kMostEntries); i < n; ++i) {
    const JsonNode entry = ids.At(i);
    c.distinct_ids.push_back(
        {entry.Field("samples").Double(), entry.Field("ids").Double()});
  }
  // Older files lack it.
  if (root.Has("work")) {
    const JsonNode work = root.Field("work");
    ForEachFigureOf(c.work, [&work](const char* key, double& value) {
      value = work.Field(key).Double();
    });
  }
  const JsonNode times = root.Field("step_times");
  ForEachQuantile(c.step_times, [&times](const char* key, double& value) {
    value = times.Field(key).Double();
  });
  // Older files lack them.
  if (times.Has("count")) c.step_times.count = times.Field("count").Double();
  if (times.Has("p98")) c.step_times.p98 = times.Field("p98").Double();
  const JsonNode costs = root.Field("costs");
  ForEachCost(c.costs, [&costs](const char* key, double& value) {
    value = costs.Field(key).Double();
  });
  const JsonNode corrections = root.Field("corrections");
  for (size_t i = 0, n = corrections.Size(kMostEntries); i < n; ++i) {
    const JsonNode entry = corrections.At(i);
    ModeCorrection correction;
    correction.mode = entry.Field("mode").String(kMostText);
    correction.factor = entry.Field("factor").Double();
    correction.alone =
        entry.Has("alone") ? entry.Field("alone").Double() : correction.factor;
    // Files of older versions do not say it.
    if (entry.Has("factor_is_own")) {
      correction.factor_is_own = entry.Field("factor_is_own").Bool();
    }
    if (entry.Has("alone_is_own")) {
      correction.alone_is_own = entry.Field("alone_is_own").Bool();
    }
    c.corrections.push_back(std::move(correction));
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  SHOAL_RETURN_IF_ERROR(c.Validate());
  c.step_times = NormalizedTimes(c.step_times);
  return c;
}

}  // namespace shoal
