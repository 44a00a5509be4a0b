#include "bench/compare/comparison_json.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json_reader.h"
#include "base/status_macros.h"
#include "bench/compare/cell_json.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/figure_json.h"
#include "bench/compare/text_file.h"

namespace shoal {
namespace {

// A mode of a verdict: with backup workers it is as "sync+1".
std::string ReadModeWord(const JsonNode& node) {
  const std::string name = node.String(kJsonNameMax);
  const std::string mode = name.substr(0, name.find('+'));
  int backups = 0;
  const bool known = FindModeRow(mode) != nullptr;
  const bool counted =
      mode == name || absl::SimpleAtoi(name.substr(mode.size() + 1), &backups);
  if (!known || !counted) {
    node.Fail(absl::StrCat("'", name, "' is not known here"));
  }
  return name;
}

std::vector<std::string> ReadModeWords(const JsonNode& node) {
  std::vector<std::string> words;
  const size_t size = node.Size(kJsonListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    words.push_back(ReadModeWord(node.At(i)));
  }
  return words;
}

std::vector<IdCount> ReadIdCounts(const JsonNode& node) {
  std::vector<IdCount> counts;
  const size_t size = node.Size(kJsonListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    counts.push_back(
        {ReadAbove0(entry.Field("samples")), ReadAbove0(entry.Field("ids"))});
  }
  return counts;
}

std::map<std::string, ComparedModel> ReadModels(const JsonNode& node) {
  std::map<std::string, ComparedModel> models;
  node.ForEachField(
      kJsonListMax, [&](const std::string& name, const JsonNode& entry) {
        ComparedModel model;
        entry.Field("flags").ForEachField(
            kJsonListMax, [&](const std::string& flag, const JsonNode& value) {
              model.flags[flag] = value.String(kJsonTextMax);
            });
        model.dense_bytes = entry.Field("dense_bytes").U64();
        model.row_bytes = entry.Field("row_bytes").U64();
        model.flop_per_sample = ReadFigure(entry.Field("flop_per_sample"));
        // Files of older versions lack these.
        if (entry.Has("table_bytes")) {
          model.table_bytes = entry.Field("table_bytes").U64();
        }
        if (entry.Has("work")) {
          const JsonNode work = entry.Field("work");
          ForEachFigureOf(model.work, [&work](const char* key, double& value) {
            value = ReadFigure(work.Field(key));
          });
        }
        if (entry.Has("distinct_ids")) {
          model.distinct_ids = ReadIdCounts(entry.Field("distinct_ids"));
        }
        models[name] = std::move(model);
      });
  return models;
}

std::vector<Cell> ReadCells(const JsonNode& node, const Comparison& found) {
  std::vector<Cell> cells;
  std::set<std::string> names;
  const size_t size = node.Size(kJsonListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    cells.push_back(ReadCell(entry));
    const Cell& cell = cells.back();
    if (!names.insert(cell.name).second) {
      entry.Field("name").Fail(
          absl::StrCat("'", cell.name, "' is there twice"));
    }
    if (found.models.count(cell.model) == 0) {
      entry.Field("model").Fail(
          absl::StrCat("'", cell.model, "' is not in `models`"));
    }
  }
  return cells;
}

std::vector<std::string> ReadTexts(const JsonNode& node) {
  std::vector<std::string> texts;
  const size_t size = node.Size(kJsonListMax);
  for (size_t i = 0; i < size; ++i) {
    texts.push_back(node.At(i).String(kJsonTextMax));
  }
  return texts;
}

std::vector<CollectivePoint> ReadCollective(const JsonNode& node) {
  std::vector<CollectivePoint> points;
  const size_t size = node.Size(kJsonListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    points.push_back({ReadName(entry.Field("network")),
                      ReadIntFrom(1, kJsonHostsMax, entry.Field("ranks")),
                      entry.Field("bytes").U64(),
                      ReadFigure(entry.Field("seconds"))});
  }
  return points;
}

// Files of earlier versions lack these keys.
void ReadLaterKeys(const JsonNode& node, ModeVerdict* verdict) {
  if (node.Has("batch_size")) {
    verdict->batch_size = node.Field("batch_size").Int(kJsonBatchMax);
  }
  if (node.Has("compute")) {
    verdict->compute =
        ReadWord({kComputed, kReplayed}, node.Field("compute"));
  }
  if (node.Has("straggler")) {
    verdict->straggler =
        ReadStragglerOrNull(verdict->hosts, node.Field("straggler"));
  }
  if (node.Has("first")) verdict->first = ReadModeWords(node.Field("first"));
  if (node.Has("behind")) {
    const JsonNode behind = node.Field("behind");
    const size_t size = behind.Size(kJsonListMax);
    for (size_t i = 0; i < size && behind.ok(); ++i) {
      verdict->behind.push_back(
          {ReadModeWord(behind.At(i).Field("mode")),
           ReadFigureOrNull(behind.At(i).Field("times"))});
    }
  }
  if (node.Has("out")) verdict->out = ReadModeWords(node.Field("out"));
  if (node.Has("turn")) {
    verdict->turn = node.Field("turn").String(kJsonTextMax);
  }
  if (node.Has("no_turn")) {
    verdict->no_turn = node.Field("no_turn").String(kJsonTextMax);
  }
}

std::vector<ModeVerdict> ReadVerdicts(const JsonNode& node) {
  std::vector<ModeVerdict> verdicts;
  const size_t size = node.Size(kJsonListMax);
  for (size_t i = 0; i < size && node.ok(); ++i) {
    const JsonNode entry = node.At(i);
    ModeVerdict verdict;
    verdict.network = ReadName(entry.Field("network"));
    verdict.hosts = ReadIntFrom(1, kJsonHostsMax, entry.Field("hosts"));
    verdict.model = ReadName(entry.Field("model"));
    ReadLaterKeys(entry, &verdict);
    const JsonNode best = entry.Field("best");
    if (!best.String(kJsonNameMax).empty()) verdict.best = ReadModeWord(best);
    verdict.text = entry.Field("text").String(kJsonTextMax);
    verdict.rule = entry.Field("rule").String(kJsonTextMax);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Comparison ReadAll(const JsonNode& node) {
  Comparison found;
  CheckFormat(node.Field("format"));
  found.command = node.Field("command").String(kJsonTextMax);
  found.cpu = node.Field("cpu").String(kJsonTextMax);
  found.cores = node.Field("cores").Int(kJsonHostsMax);
  found.memory_bytes = node.Field("memory_bytes").U64();
  found.version = node.Field("version").String(kJsonTextMax);
  found.started = node.Field("started").String(kJsonNameMax);
  const JsonNode ended = node.Field("ended");
  if (!IsNull(ended)) found.ended = ended.String(kJsonNameMax);
  found.where = ReadWord({"lab", "hosts", "loopback"}, node.Field("where"));
  found.dilation = ReadAbove0(node.Field("dilation"));
  found.equal_batch = ReadWord({"global", "rank"}, node.Field("equal_batch"));
  found.target_auc = ReadShareOrNull(node.Field("target_auc"));
  found.price_per_host_hour =
      ReadFigureOrNull(node.Field("price_per_host_hour"));
  found.repeats = ReadIntFrom(1, kJsonHostsMax, node.Field("repeats"));
  found.models = ReadModels(node.Field("models"));
  const JsonNode data = node.Field("data");
  found.data = {data.Field("rows").U64(), data.Field("files").U64()};
  found.not_played = ReadTexts(node.Field("not_played"));
  found.cells = ReadCells(node.Field("cells"), found);
  found.collective = ReadCollective(node.Field("collective"));
  // Files of earlier versions have none.
  if (node.Has("collective_notes")) {
    found.collective_notes = ReadTexts(node.Field("collective_notes"));
  }
  found.verdicts = ReadVerdicts(node.Field("verdicts"));
  return found;
}

}  // namespace

absl::StatusOr<Comparison> ParseComparison(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  Comparison found = ReadAll(document->root());
  SHOAL_RETURN_IF_ERROR(document->status());
  return found;
}

absl::StatusOr<Comparison> ReadComparison(const FileSystem& files,
                                          const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(files, path));
  auto found = ParseComparison(text);
  if (!found.ok()) {
    return Annotate(found.status(),
                    absl::StrCat(path,
                                 " is no compare.json that shoal bench "
                                 "compare wrote"));
  }
  return found;
}

}  // namespace shoal
