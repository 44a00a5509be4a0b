#include "cmd/ckpt_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "report/number_text.h"

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

// What stands for a checkpoint's state in a list.
std::string StateText(const CheckpointInfo& info) {
  if (!info.status.ok()) {
    return absl::StrCat("not valid: ", std::string(info.status.message()));
  }
  if (info.missing.empty()) return "valid";
  return absl::StrCat("valid, but not all here: shards ",
                      absl::StrJoin(info.missing, ", "),
                      " are on other hosts, or lost");
}

Json StateJson(const CheckpointInfo& info) {
  Json json;
  json["name"] = info.name;
  json["path"] = info.path;
  json["step"] = info.step;
  json["valid"] = info.status.ok();
  json["error"] = info.status.ok() ? Json(nullptr)
                                   : Json(std::string(info.status.message()));
  json["missing_shards"] = info.missing;
  if (!info.status.ok()) return json;
  json["time"] = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", info.manifest.time,
                                  absl::UTCTimeZone());
  json["bytes"] = info.manifest.bytes();
  json["shards"] = info.manifest.map.num_shards;
  json["model"] = info.manifest.model.model;
  json["job"] = info.manifest.job;
  return json;
}

// Bytes of a path are any; a document's are UTF-8.
std::string Dump(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

// A variable over all shards.
struct VariableSum {
  std::string name;
  std::string shape;
  std::string optimizer;
  uint64_t rows = 0;
  uint64_t bytes = 0;
  uint64_t lookups = 0;
};

std::vector<VariableSum> SumVariables(const Manifest& manifest) {
  std::map<std::string, VariableSum> sums;
  for (const ShardEntry& shard : manifest.shards) {
    for (const SavedVariable& variable : shard.variables) {
      VariableSum& sum = sums[variable.name];
      sum.rows += variable.rows;
      sum.bytes += variable.bytes;
      sum.lookups += variable.lookups;
    }
  }
  std::vector<VariableSum> variables;
  const auto add = [&](const std::string& name, std::string shape,
                       const OptimizerSpec& optimizer) {
    VariableSum sum = sums[name];
    sum.name = name;
    sum.shape = std::move(shape);
    sum.optimizer = std::string(OptimizerName(optimizer.kind));
    variables.push_back(std::move(sum));
  };
  for (const TableSpec& table : manifest.model.tables) {
    if (table.on_every_shard) continue;
    for (const ColumnSpec& column : table.columns) {
      add(column.variable,
          absl::StrCat(
              "[", table.dynamic() ? "any" : absl::StrCat(table.feature_size),
              ", ", column.dim, "]"),
          column.optimizer);
    }
  }
  for (const DenseSpec& dense : manifest.model.dense) {
    add(dense.name, absl::StrCat("[", absl::StrJoin(dense.shape, ", "), "]"),
        dense.optimizer);
  }
  return variables;
}

}  // namespace

std::string MegabytesText(uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return absl::StrFormat("%.2f GB", value / 1e9);
  if (value >= 1e5) return absl::StrFormat("%.1f MB", value / 1e6);
  return absl::StrFormat("%.1f kB", value / 1e3);
}

std::string CkptListText(const std::vector<CheckpointInfo>& checkpoints) {
  std::string text =
      absl::StrFormat("%-17s %15s  %-23s %10s %6s  %s\n", "checkpoint", "step",
                      "time", "size", "shards", "state");
  for (const CheckpointInfo& info : checkpoints) {
    if (!info.status.ok()) {
      absl::StrAppendFormat(&text, "%-17s %15s  %-23s %10s %6s  %s\n",
                            info.name, WithCommas(info.step), "-", "-", "-",
                            StateText(info));
      continue;
    }
    absl::StrAppendFormat(&text, "%-17s %15s  %-23s %10s %6d  %s\n", info.name,
                          WithCommas(info.manifest.step),
                          TimeText(info.manifest.time),
                          MegabytesText(info.manifest.bytes()),
                          info.manifest.map.num_shards, StateText(info));
  }
  return text;
}

std::string CkptListJson(const std::vector<CheckpointInfo>& checkpoints) {
  Json json = Json::array();
  for (const CheckpointInfo& info : checkpoints) {
    json.push_back(StateJson(info));
  }
  return Dump(json);
}

std::string CkptShowText(const CheckpointInfo& info) {
  const Manifest& manifest = info.manifest;
  const SavedTotals& totals = manifest.totals;
  std::string text = absl::StrFormat(
      "checkpoint  %s (%s)\nmodel       %s, seed %d\nstep        %s batches: "
      "%s samples trained, %s rejected\ntime        %s\njob         %s\n"
      "shards      %d, %s\n\n",
      info.path, StateText(info), manifest.model.model, manifest.model.seed,
      WithCommas(manifest.step), WithCommas(totals.trained),
      WithCommas(totals.rejected), TimeText(manifest.time), manifest.job,
      manifest.map.num_shards, MegabytesText(manifest.bytes()));
  absl::StrAppendFormat(&text, "%-24s %16s %-16s %14s %10s %16s\n", "variable",
                        "shape", "optimizer", "rows", "size", "look-ups");
  for (const VariableSum& variable : SumVariables(manifest)) {
    absl::StrAppendFormat(
        &text, "%-24s %16s %-16s %14s %10s %16s\n", variable.name,
        variable.shape, variable.optimizer, WithCommas(variable.rows),
        MegabytesText(variable.bytes), WithCommas(variable.lookups));
  }
  for (const ShardEntry& shard : manifest.shards) {
    absl::StrAppendFormat(&text, "\n%s  %s\n", shard.file.file,
                          MegabytesText(shard.file.size));
    for (const WrittenTensor& tensor : shard.file.tensors) {
      absl::StrAppendFormat(
          &text, "  %-36s %-4s %-18s %12d bytes  crc32c %s\n", tensor.info.name,
          DTypeName(tensor.info.dtype),
          absl::StrCat("[", absl::StrJoin(tensor.info.shape, ", "), "]"),
          tensor.info.bytes(),
          absl::StrCat(absl::Hex(tensor.checksums.crc32c, absl::kZeroPad8)));
    }
  }
  return text;
}

std::string CkptShowJson(const CheckpointInfo& info) {
  const Manifest& manifest = info.manifest;
  Json json = StateJson(info);
  json["seed"] = manifest.model.seed;
  json["samples"] = {{"trained", manifest.totals.trained},
                     {"rejected", manifest.totals.rejected}};
  json["config"] = manifest.config;
  Json variables = Json::array();
  for (const VariableSum& variable : SumVariables(manifest)) {
    variables.push_back({{"name", variable.name},
                         {"shape", variable.shape},
                         {"optimizer", variable.optimizer},
                         {"rows", variable.rows},
                         {"bytes", variable.bytes},
                         {"lookups", variable.lookups}});
  }
  json["variables"] = std::move(variables);
  Json files = Json::array();
  for (const ShardEntry& shard : manifest.shards) {
    Json tensors = Json::array();
    for (const WrittenTensor& tensor : shard.file.tensors) {
      tensors.push_back(
          {{"name", tensor.info.name},
           {"dtype", std::string(DTypeName(tensor.info.dtype))},
           {"shape", tensor.info.shape},
           {"bytes", tensor.info.bytes()},
           {"crc32c", absl::StrCat(absl::Hex(tensor.checksums.crc32c,
                                             absl::kZeroPad8))}});
    }
    files.push_back({{"shard", shard.shard},
                     {"file", shard.file.file},
                     {"bytes", shard.file.size},
                     {"tensors", std::move(tensors)}});
  }
  json["files"] = std::move(files);
  return Dump(json);
}

std::string CkptVerifyText(const VerifiedCheckpoints& verified) {
  std::string text;
  for (const auto& [info, report] : verified) {
    if (!info.status.ok() && report.ok()) {
      absl::StrAppend(&text, info.name, ": ", StateText(info), "\n");
      continue;
    }
    absl::StrAppendFormat(&text, "%s: %s: %d files, %s, %d blocks read\n",
                          info.name, report.ok() ? "whole" : "DAMAGED",
                          report.files, MegabytesText(report.bytes),
                          report.blocks);
    for (const Damage& damage : report.damage) {
      absl::StrAppend(&text, "  ", ToString(damage), "\n");
    }
    if (report.damaged > report.damage.size()) {
      absl::StrAppend(&text, "  and ", report.damaged - report.damage.size(),
                      " more\n");
    }
  }
  return text;
}

std::string CkptVerifyJson(const VerifiedCheckpoints& verified) {
  Json json = Json::array();
  for (const auto& [info, report] : verified) {
    Json one = StateJson(info);
    one["whole"] = info.status.ok() && report.ok();
    one["files_read"] = report.files;
    one["bytes_read"] = report.bytes;
    one["blocks_read"] = report.blocks;
    one["damaged"] = report.damaged;
    Json damage = Json::array();
    for (const Damage& d : report.damage) {
      damage.push_back({{"file", d.file},
                        {"tensor", d.tensor},
                        {"offset", d.offset},
                        {"bytes", d.bytes},
                        {"what", d.what}});
    }
    one["damage"] = std::move(damage);
    json.push_back(std::move(one));
  }
  return Dump(json);
}

}  // namespace shoal
