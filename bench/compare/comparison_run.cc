#include "bench/compare/comparison_run.h"

#include <algorithm>
#include <random>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/dilation.h"
#include "bench/compare/text_file.h"
#include "bench/compare/verdict.h"

namespace shoal {
namespace {

constexpr char kRuns[] = "runs";
constexpr char kDilation[] = "dilation";
constexpr char kTwice[] = "_twice";  // of the name of a cell at 2τ

std::string IsoTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", time, absl::LocalTimeZone());
}

// The first line in which two texts differ: "was …, is …".
std::string Difference(const std::string& before, const std::string& now) {
  const std::vector<std::string> old_lines = absl::StrSplit(before, '\n');
  const std::vector<std::string> lines = absl::StrSplit(now, '\n');
  for (size_t i = 0; i < std::max(old_lines.size(), lines.size()); ++i) {
    const std::string was = i < old_lines.size() ? old_lines[i] : "nothing";
    const std::string is = i < lines.size() ? lines[i] : "nothing";
    if (was == is) continue;
    return absl::StrCat("was ", absl::StripAsciiWhitespace(was), ", is ",
                        absl::StripAsciiWhitespace(is));
  }
  return "";
}

// What a run depends on beside the settings.
std::string CellText(Cell cell) {
  cell.runs.clear();
  cell.grey.clear();
  cell.formula.reset();
  return RunFileJson({"", std::move(cell)});
}

bool Disturbed(const Cell& cell, const CellRun& run) {
  Cell alone = cell;
  alone.runs = {run};
  return run.ok && !GreyReason(alone).empty();
}

// "12,345 samples/s", or why there is none.
std::string Outcome(const Cell& cell, const CellRun& run) {
  if (!run.ok) return absl::StrCat("failed: ", run.error);
  std::string text =
      run.samples_per_second.has_value()
          ? absl::StrFormat("%.0f samples/s", *run.samples_per_second)
          : "it did not run long enough for a speed";
  if (run.auc.has_value()) absl::StrAppendFormat(&text, ", AUC %.5f", *run.auc);
  Cell alone = cell;
  alone.runs = {run};
  const std::string grey = GreyReason(alone);
  if (!grey.empty()) absl::StrAppend(&text, " (", grey, ")");
  return text;
}

}  // namespace

ComparisonRun::ComparisonRun(ComparisonRunOptions options)
    : options_(std::move(options)), time_left_(0, 0, absl::ZeroDuration()) {
  std::set<std::pair<std::string, int>> seen;
  for (const Cell& cell : options_.comparison.cells) {
    if (!options_.check_dilation || cell.straggler.has_value() ||
        cell.model != options_.comparison.cells.front().model) {
      continue;
    }
    const std::string mode = absl::StrCat(cell.mode, "+", cell.backup_workers);
    if (!seen.insert({mode, cell.hosts}).second) continue;
    dilation_cells_.push_back(cell);
  }
}

std::string ComparisonRun::PathOf(const Turn& turn) const {
  return JoinPath(
      JoinPath(options_.out, turn.folder),
      absl::StrCat(turn.cell.name, ".", turn.repeat + 1, ".json"));
}

// Cells in random order, repeats interleaved. The turns that check the dilation
// come first. The last one of the list is the next.
std::vector<ComparisonRun::Turn> ComparisonRun::Turns() const {
  std::mt19937_64 random(options_.order_seed);
  std::vector<Turn> turns;
  for (int repeat = options_.comparison.repeats - 1; repeat >= 0; --repeat) {
    std::vector<Turn> round;
    for (const Cell& cell : options_.comparison.cells) {
      round.push_back({cell, repeat, kRuns});
    }
    std::shuffle(round.begin(), round.end(), random);
    turns.insert(turns.end(), round.begin(), round.end());
  }
  for (const Cell& cell : dilation_cells_) {
    turns.push_back({cell, 0, kDilation});
    Turn twice{cell, 0, kDilation};
    twice.cell.dilation *= 2;
    twice.cell.name += kTwice;
    turns.push_back(std::move(twice));
  }
  return turns;
}

absl::Status ComparisonRun::ReadBefore(const Turn& turn, Runs* runs) {
  const std::string path = PathOf(turn);
  const auto text = ReadTextFile(*options_.files, path);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(text.status());
  auto before = ParseRunFile(*text);
  if (!before.ok()) return Annotate(before.status(), path);
  std::string difference = Difference(before->settings, options_.settings);
  if (difference.empty()) {
    difference = Difference(CellText(before->cell), CellText(turn.cell));
  }
  if (!difference.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is a run of another comparison (", difference,
        "); give another --out, or remove the directory"));
  }
  if (before->cell.formula.has_value()) {
    formulas_[turn.cell.name] = *before->cell.formula;
  }
  CellRun run = std::move(before->cell.runs.front());
  // What failed is tried again.
  if (run.ok) {
    (*runs)[{turn.cell.name, turn.repeat}] = std::move(run);
  }
  return absl::OkStatus();
}

absl::Status ComparisonRun::Run() {
  Comparison* const found = &options_.comparison;
  for (const char* folder :
       {kRuns, kDilation, "logs", "profiles"}) {
    SHOAL_RETURN_IF_ERROR(options_.files->CreateDirectories(
        JoinPath(options_.out, folder)));
  }
  for (Turn& turn : Turns()) {
    Runs* const runs = turn.folder == kRuns ? &runs_ : &dilation_runs_;
    SHOAL_RETURN_IF_ERROR(ReadBefore(turn, runs));
    if (runs->count({turn.cell.name, turn.repeat}) == 0) {
      open_.push_back(std::move(turn));
    }
  }
  const std::string path = JoinPath(options_.out, "compare.json");
  const auto before = ReadComparison(*options_.files, path);
  found->started = before.ok() && !runs_.empty() ? before->started
                                                 : IsoTime(options_.now());
  if (before.ok() && !runs_.empty()) found->data = before->data;
  const int done = static_cast<int>(runs_.size() + dilation_runs_.size());
  if (done > 0) {
    options_.say(absl::StrCat(done, " runs are there from before"));
  }
  time_left_ = TimeLeft(done + static_cast<int>(open_.size()), done,
                        options_.first_guess);
  const absl::Status measured = MeasureAll();
  Conclude(/*ended=*/measured.ok());
  const absl::Status written =
      options_.files->WriteFileAtomically(path, ComparisonJson(*found));
  return measured.ok() ? written : measured;
}

absl::Status ComparisonRun::MeasureAll() {
  while (!open_.empty()) {
    SHOAL_RETURN_IF_ERROR(options_.stopped());
    const Turn turn = std::move(open_.back());
    open_.pop_back();
    SHOAL_RETURN_IF_ERROR(Measure(turn));
  }
  return absl::OkStatus();
}

absl::Status ComparisonRun::Measure(const Turn& turn) {
  options_.say(absl::StrCat(time_left_.Text(), ": ", turn.cell.name));
  const absl::Time start = options_.now();
  SummaryData data;
  SHOAL_ASSIGN_OR_RETURN(const CellRun run,
                         options_.run_cell(turn.cell, turn.repeat, &data));
  Keep(data);
  const bool again =
      Disturbed(turn.cell, run) && turn.tries < options_.retries;
  time_left_.OnRun(options_.now() - start, again);
  options_.say(absl::StrCat("  ", Outcome(turn.cell, run),
                            again ? "; it is measured again later" : ""));
  Runs* const runs = turn.folder == kRuns ? &runs_ : &dilation_runs_;
  (*runs)[{turn.cell.name, turn.repeat}] = run;
  if (again) {
    Turn later = turn;
    ++later.tries;
    open_.insert(open_.begin(), std::move(later));
    return absl::OkStatus();
  }
  RunFile file{options_.settings, turn.cell};
  file.cell.formula = options_.formula(turn.cell, data.mean_batch);
  if (file.cell.formula.has_value()) {
    formulas_[turn.cell.name] = *file.cell.formula;
  }
  file.cell.runs = {run};
  return options_.files->WriteFileAtomically(PathOf(turn), RunFileJson(file));
}

void ComparisonRun::Keep(const SummaryData& data) {
  ComparedData* const known = &options_.comparison.data;
  if (data.rows > 0) known->rows = data.rows;
  if (data.files > 0) known->files = data.files;
}

void ComparisonRun::Conclude(bool ended) {
  Comparison* const found = &options_.comparison;
  for (Cell& cell : found->cells) {
    cell.runs.clear();
    const auto formula = formulas_.find(cell.name);
    if (formula != formulas_.end()) cell.formula = formula->second;
    for (int repeat = 0; repeat < found->repeats; ++repeat) {
      const auto run = runs_.find({cell.name, repeat});
      if (run == runs_.end()) continue;
      cell.runs.push_back(run->second);
      CellRun* const kept = &cell.runs.back();
      // A job that was stopped early does not know how many rows there are.
      if (found->data.rows > 0 && kept->samples_per_second.has_value()) {
        kept->epoch_seconds = static_cast<double>(found->data.rows) /
                              *kept->samples_per_second;
      }
    }
    cell.grey = GreyReason(cell);
  }
  AddDilationReasons();
  found->verdicts = VerdictsOf(*found);
  found->ended = ended ? IsoTime(options_.now()) : "";
}

void ComparisonRun::AddDilationReasons() {
  for (const Cell& checked : dilation_cells_) {
    const auto once = dilation_runs_.find({checked.name, 0});
    const auto twice =
        dilation_runs_.find({absl::StrCat(checked.name, kTwice), 0});
    if (once == dilation_runs_.end() || twice == dilation_runs_.end() ||
        !once->second.samples_per_second.has_value() ||
        !twice->second.samples_per_second.has_value()) {
      continue;
    }
    const std::string reason =
        DilationReason(checked, once->second, twice->second);
    for (Cell& cell : options_.comparison.cells) {
      if (cell.mode == checked.mode && cell.hosts == checked.hosts &&
          cell.backup_workers == checked.backup_workers &&
          cell.grey.empty()) {
        cell.grey = reason;
      }
    }
  }
}

}  // namespace shoal
