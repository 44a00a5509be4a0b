#include "bench/compare/comparison_json.h"

#include <map>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "bench/compare/cell_json.h"
#include "bench/compare/figure_json.h"

namespace shoal {
namespace {

void WriteModels(const std::map<std::string, ComparedModel>& models,
                 JsonWriter* w) {
  w->Key("models").BeginObject();
  for (const auto& [name, model] : models) {
    w->Key(name).BeginObject().Key("flags").BeginObject();
    for (const auto& [flag, value] : model.flags) w->Field(flag, value);
    w->EndObject().Field("dense_bytes", model.dense_bytes);
    w->Field("row_bytes", model.row_bytes);
    w->Field("flop_per_sample", model.flop_per_sample);
    w->Field("table_bytes", model.table_bytes);
    w->Key("work").BeginObject();
    ForEachFigureOf(model.work, [w](const char* key, double value) {
      w->Field(key, value);
    });
    w->EndObject();
    w->Key("distinct_ids").BeginArray();
    for (const IdCount& count : model.distinct_ids) {
      w->BeginObject().Field("samples", count.samples);
      w->Field("ids", count.ids).EndObject();
    }
    w->EndArray().EndObject();
  }
  w->EndObject();
}

void WriteVerdicts(const std::vector<ModeVerdict>& verdicts, JsonWriter* w) {
  w->Key("verdicts").BeginArray();
  for (const ModeVerdict& verdict : verdicts) {
    w->BeginObject().Field("network", verdict.network);
    w->Field("hosts", verdict.hosts).Field("model", verdict.model);
    w->Field("batch_size", verdict.batch_size);
    w->Field("compute", verdict.compute);
    WriteStraggler(verdict.straggler, w);
    w->Field("best", verdict.best).Key("first").Values(verdict.first);
    w->Key("behind").BeginArray();
    for (const ModeBehind& behind : verdict.behind) {
      w->BeginObject().Field("mode", behind.mode);
      WriteFigure("times", behind.times, w);
      w->EndObject();
    }
    w->EndArray().Key("out").Values(verdict.out);
    w->Field("text", verdict.text);
    w->Field("turn", verdict.turn).Field("no_turn", verdict.no_turn);
    w->Field("rule", verdict.rule).EndObject();
  }
  w->EndArray();
}

}  // namespace

std::string ComparisonJson(const Comparison& comparison) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("format", kComparisonFormat);
  w.Field("command", comparison.command).Field("cpu", comparison.cpu);
  w.Field("cores", comparison.cores);
  w.Field("memory_bytes", comparison.memory_bytes);
  w.Field("version", comparison.version);
  w.Field("started", comparison.started).Key("ended");
  comparison.ended.empty() ? w.Null() : w.Text(comparison.ended);
  w.Field("where", comparison.where).Field("dilation", comparison.dilation);
  w.Field("equal_batch", comparison.equal_batch);
  WriteFigure("target_auc", comparison.target_auc, &w);
  WriteFigure("price_per_host_hour", comparison.price_per_host_hour, &w);
  w.Field("repeats", comparison.repeats);
  WriteModels(comparison.models, &w);
  w.Key("data").BeginObject().Field("rows", comparison.data.rows);
  w.Field("files", comparison.data.files).EndObject();
  w.Key("not_played").Values(comparison.not_played);
  w.Key("cells").BeginArray();
  for (const Cell& cell : comparison.cells) WriteCell(cell, &w);
  w.EndArray().Key("collective").BeginArray();
  for (const CollectivePoint& point : comparison.collective) {
    w.BeginObject().Field("network", point.network);
    w.Field("ranks", point.ranks).Field("bytes", point.bytes);
    w.Field("seconds", point.seconds).EndObject();
  }
  w.EndArray().Key("collective_notes").Values(comparison.collective_notes);
  WriteVerdicts(comparison.verdicts, &w);
  w.EndObject();
  return text + "\n";
}

}  // namespace shoal
