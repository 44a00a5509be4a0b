#include "cmd/ckpt_report.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/counted.h"
#include "base/json_writer.h"
#include "core/config_text.h"
#include "report/number_text.h"

namespace shoal {
namespace {

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", time, absl::UTCTimeZone());
}

// The state of a checkpoint in a list.
std::string StateText(const CheckpointInfo& info) {
  if (!info.status.ok()) {
    return absl::StrCat("not valid: ", std::string(info.status.message()));
  }
  if (info.missing.empty()) return "valid";
  return absl::StrCat("valid, but not all here: the files of shards ",
                      absl::StrJoin(info.missing, ", "),
                      " are on other hosts, or lost");
}

// A path may hold any bytes; a document must be ASCII.
JsonWriter DocumentWriter(std::string* text) {
  return JsonWriter(text, JsonLayout::kIndented, /*ascii=*/true);
}

// Writes the first fields of an object that the caller opened.
void WriteState(const CheckpointInfo& info, JsonWriter* w) {
  w->Field("name", info.name).Field("path", info.path);
  w->Field("step", info.step).Field("valid", info.status.ok()).Key("error");
  info.status.ok() ? w->Null() : w->Text(info.status.message());
  w->Key("missing_shards").Values(info.missing);
  if (!info.status.ok()) return;
  w->Field("time", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", info.manifest.time,
                                    absl::UTCTimeZone()));
  w->Field("bytes", info.manifest.bytes());
  w->Field("shards", info.manifest.map.num_shards);
  w->Field("model", info.manifest.model.model).Field("job", info.manifest.job);
  w->Field("mode", ConfigValue(info.manifest.config, "mode"));
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
  std::string text;
  JsonWriter w = DocumentWriter(&text);
  w.BeginArray();
  for (const CheckpointInfo& info : checkpoints) {
    w.BeginObject();
    WriteState(info, &w);
    w.EndObject();
  }
  w.EndArray();
  return text + "\n";
}

std::string CkptShowText(const CheckpointInfo& info) {
  const Manifest& manifest = info.manifest;
  const SavedTotals& totals = manifest.totals;
  std::string text = absl::StrFormat(
      "checkpoint  %s (%s)\nmodel       %s, seed %d\nmode        %s\n"
      "step        %s batches: %s samples trained, %s rejected\n"
      "time        %s\njob         %s\n"
      "shards      %d, %s\n\n",
      info.path, StateText(info), manifest.model.model, manifest.model.seed,
      ConfigValue(manifest.config, "mode"),
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
  std::string text;
  JsonWriter w = DocumentWriter(&text);
  w.BeginObject();
  WriteState(info, &w);
  w.Field("seed", manifest.model.seed).Key("samples").BeginObject();
  w.Field("trained", manifest.totals.trained);
  w.Field("rejected", manifest.totals.rejected).EndObject();
  w.Field("config", manifest.config).Key("variables").BeginArray();
  for (const VariableSum& variable : SumVariables(manifest)) {
    w.BeginObject().Field("name", variable.name).Field("shape", variable.shape);
    w.Field("optimizer", variable.optimizer).Field("rows", variable.rows);
    w.Field("bytes", variable.bytes).Field("lookups", variable.lookups);
    w.EndObject();
  }
  w.EndArray().Key("files").BeginArray();
  for (const ShardEntry& shard : manifest.shards) {
    w.BeginObject().Field("shard", shard.shard).Field("file", shard.file.file);
    w.Field("bytes", shard.file.size).Key("tensors").BeginArray();
    for (const WrittenTensor& tensor : shard.file.tensors) {
      w.BeginObject().Field("name", tensor.info.name);
      w.Field("dtype", DTypeName(tensor.info.dtype));
      w.Key("shape").Values(tensor.info.shape);
      w.Field("bytes", tensor.info.bytes());
      w.Key("crc32c").Hex32(tensor.checksums.crc32c).EndObject();
    }
    w.EndArray().EndObject();
  }
  w.EndArray().EndObject();
  return text + "\n";
}

std::string CkptVerifyText(const VerifiedCheckpoints& verified) {
  std::string text;
  for (const auto& [info, report] : verified) {
    if (!info.status.ok() && report.ok()) {
      absl::StrAppend(&text, info.name, ": ", StateText(info), "\n");
      continue;
    }
    absl::StrAppendFormat(&text, "%s: %s: %s, %s, %s read\n", info.name,
                          report.ok() ? "whole" : "DAMAGED",
                          Counted(report.files, "file"),
                          MegabytesText(report.bytes),
                          Counted(report.blocks, "block"));
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
  std::string text;
  JsonWriter w = DocumentWriter(&text);
  w.BeginArray();
  for (const auto& [info, report] : verified) {
    w.BeginObject();
    WriteState(info, &w);
    w.Field("whole", info.status.ok() && report.ok());
    w.Field("files_read", report.files).Field("bytes_read", report.bytes);
    w.Field("blocks_read", report.blocks).Field("damaged", report.damaged);
    w.Key("damage").BeginArray();
    for (const Damage& d : report.damage) {
      w.BeginObject().Field("file", d.file).Field("tensor", d.tensor);
      w.Field("offset", d.offset).Field("bytes", d.bytes);
      w.Field("what", d.what).EndObject();
    }
    w.EndArray().EndObject();
  }
  w.EndArray();
  return text + "\n";
}

}  // namespace shoal
