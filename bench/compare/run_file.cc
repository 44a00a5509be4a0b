#include "bench/compare/run_file.h"

#include <memory>
#include <utility>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "bench/compare/cell_json.h"
#include "bench/compare/figure_json.h"

namespace shoal {

std::string RunFileJson(const RunFile& run) {
  std::string text;
  JsonWriter w(&text, JsonLayout::kIndented);
  w.BeginObject().Field("format", kComparisonFormat);
  w.Field("settings", run.settings);
  w.Key("data").BeginObject().Field("rows", run.data.rows);
  w.Field("files", run.data.files).EndObject();
  w.Key("cell");
  WriteCell(run.cell, &w);
  w.EndObject();
  return text + "\n";
}

absl::StatusOr<RunFile> ParseRunFile(absl::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(text));
  const JsonNode& root = document->root();
  CheckFormat(root.Field("format"));
  RunFile run;
  run.settings = root.Field("settings").String(kJsonTextMax);
  // Files of earlier versions lack it.
  if (root.Has("data")) {
    const JsonNode data = root.Field("data");
    run.data = {data.Field("rows").U64(), data.Field("files").U64()};
  }
  const JsonNode cell = root.Field("cell");
  run.cell = ReadCell(cell);
  if (run.cell.runs.size() != 1) {
    cell.Field("runs").Fail("does not have exactly one entry");
  }
  SHOAL_RETURN_IF_ERROR(document->status());
  return run;
}

}  // namespace shoal
