#include "bench/compare/comparison_run.h"

#include <algorithm>
#include <random>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/counted.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/dilation_check.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/run_file.h"
#include "bench/compare/text_file.h"
#include "bench/compare/verdict.h"

namespace shoal {
namespace {

constexpr char kRuns[] = "runs";
constexpr char kDilation[] = "dilation";

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

bool Disturbed(const CellRun& run) {
  return run.ok && !GreyReason(run).empty();
}

// "12345 samples/s", or why there is none.
std::string Outcome(const CellRun& run) {
  if (!run.ok) return absl::StrCat("failed: ", run.error);
  std::string text =
      run.samples_per_second.has_value()
          ? absl::StrFormat("%.0f samples/s", *run.samples_per_second)
          : "it did not run long enough for a speed";
  if (run.auc.has_value()) absl::StrAppendFormat(&text, ", AUC %.5f", *run.auc);
  const std::string grey = GreyReason(run);
  if (!grey.empty()) absl::StrAppend(&text, " (", grey, ")");
  return text;
}

}  // namespace

ComparisonRun::ComparisonRun(ComparisonRunOptions options)
    : options_(std::move(options)), time_left_(0, 0, options_.first_guess) {
  if (options_.check_dilation) {
    at_twice_ = CellsAtTwiceTheDilation(options_.comparison.cells);
  }
}

std::string ComparisonRun::PathOf(const Turn& turn) const {
  return JoinPath(
      JoinPath(options_.out, turn.folder),
      absl::StrCat(turn.cell.name, ".", turn.repeat + 1, ".json"));
}

// Cells in random order, repeats interleaved. The last one of the list is the
// next.
std::vector<ComparisonRun::Turn> ComparisonRun::Turns(
    const std::vector<Cell>& cells, const std::string& folder) const {
  std::mt19937_64 random(options_.order_seed);
  std::vector<Turn> turns;
  for (int repeat = options_.comparison.repeats - 1; repeat >= 0; --repeat) {
    std::vector<Turn> round;
    for (const Cell& cell : cells) round.push_back({cell, repeat, folder});
    std::shuffle(round.begin(), round.end(), random);
    turns.insert(turns.end(), round.begin(), round.end());
  }
  return turns;
}

absl::Status ComparisonRun::ReadBefore(const Turn& turn) {
  const std::string path = PathOf(turn);
  const auto text = ReadTextFile(*options_.files, path);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(text.status());
  auto before = ParseRunFile(*text);
  if (!before.ok()) {
    return Annotate(before.status(),
                    absl::StrCat(path,
                                 " cannot be read (remove it to measure "
                                 "this run again)"));
  }
  std::string difference =
      Difference(before->settings, options_.settings.at(turn.cell.model));
  std::string hint;
  if (difference.empty()) {
    difference = Difference(CellText(before->cell), CellText(turn.cell));
    if (before->cell.dilation != turn.cell.dilation) {
      hint = absl::StrFormat(
          ". (It was played at dilation %.4g, and would be at %.4g now. "
          "--dilation=%.4g goes on, if all cells can be played at that.)",
          before->cell.dilation, turn.cell.dilation, before->cell.dilation);
    }
  }
  if (!difference.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is a run of another comparison (", difference,
                     "); give another --out, or remove the directory", hint));
  }
  if (before->cell.formula.has_value()) {
    formulas_[turn.cell.name] = *before->cell.formula;
  }
  Keep(before->data);
  CellRun run = std::move(before->cell.runs.front());
  // What failed is tried again.
  if (run.ok) {
    runs_[{turn.cell.name, turn.repeat}] = std::move(run);
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
  SHOAL_RETURN_IF_ERROR(OpenTurns(Turns(found->cells, kRuns)));
  SHOAL_RETURN_IF_ERROR(ReadSlower());
  for (const Cell& cell : at_twice_) TryDilation(cell);
  begun_ = true;
  const std::string path = JoinPath(options_.out, "compare.json");
  const auto before = ReadComparison(*options_.files, path);
  found->started = before.ok() && !runs_.empty() ? before->started
                                                 : IsoTime(options_.now());
  if (before.ok() && !runs_.empty()) Keep(before->data);
  if (!runs_.empty()) {
    options_.say(absl::StrCat(runs_.size(), " runs are there from before"));
  }
  const int done = static_cast<int>(runs_.size());
  time_left_.Add(done + static_cast<int>(open_.size()), done);
  absl::Status measured = MeasureAll();
  if (measured.ok()) measured = MeasureSlower();
  Settle();
  if (options_.add_collective) {
    const absl::Status added = options_.add_collective(measured.ok(), found);
    if (measured.ok()) measured = added;
  }
  Conclude(/*ended=*/measured.ok());
  const absl::Status written =
      options_.files->WriteFileAtomically(path, ComparisonJson(*found));
  return measured.ok() ? written : measured;
}

// Opens the turns that have no run yet.
absl::Status ComparisonRun::OpenTurns(std::vector<Turn> turns) {
  for (Turn& turn : turns) {
    SHOAL_RETURN_IF_ERROR(ReadBefore(turn));
    if (runs_.count({turn.cell.name, turn.repeat}) == 0) {
      open_.push_back(std::move(turn));
    }
  }
  return absl::OkStatus();
}

// Reads what is there of tries, and of cells that were played slower.
absl::Status ComparisonRun::ReadSlower() {
  if (at_twice_.empty()) return absl::OkStatus();
  for (const Cell& cell : options_.comparison.cells) {
    for (int i = 0; i < options_.comparison.repeats; ++i) {
      SHOAL_RETURN_IF_ERROR(
          ReadBefore({AtTwiceTheDilation(cell), i, kDilation}));
    }
  }
  for (const Cell& cell : at_twice_) {
    for (int i = 0; i < kDilationTries; ++i) {
      SHOAL_RETURN_IF_ERROR(ReadBefore({cell, i, kDilation}));
      SHOAL_RETURN_IF_ERROR(
          ReadBefore({AtTwiceTheDilation(cell), i, kDilation}));
    }
  }
  return absl::OkStatus();
}

// Measures the cells of all modes on a number of hosts at twice their dilation,
// if one mode differs from itself at that. The tries of before are the first of
// these runs.
absl::Status ComparisonRun::MeasureSlower() {
  std::vector<Cell> measured;
  for (const Cell& cell : options_.comparison.cells) {
    measured.push_back(WithRepeats(cell));
  }
  for (const Cell& at_twice : at_twice_) {
    if (!ShouldBeSlower(WithTries(at_twice), measured)) continue;
    const size_t before = slower_.size();
    for (const Cell& cell : options_.comparison.cells) {
      const Cell twice = AtTwiceTheDilation(cell);
      if (IsPlayedFaster(cell, at_twice) && !IsSlower(twice)) {
        slower_.push_back(twice);
      }
    }
    const std::string hosts = Counted(at_twice.hosts, "host");
    std::string then = ", as another mode does";
    if (slower_.size() > before) {
      then = absl::StrCat(
          "; so all modes on ", hosts,
          " are measured at that: ", Counted(slower_.size() - before, "cell"));
    }
    options_.say(absl::StrCat(
        ModeName(at_twice), " on ", hosts,
        " differs from itself when it is played twice as slow", then));
  }
  slower_at_twice_ = CellsAtTwiceTheDilation(slower_);
  SHOAL_RETURN_IF_ERROR(OpenTurns(Turns(slower_, kDilation)));
  for (const Cell& cell : slower_at_twice_) TryDilation(cell);
  time_left_.Add(static_cast<int>(open_.size()), 0);
  return MeasureAll();
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
  double paused_speed = 1;
  if (options_.paused_speed) {
    SHOAL_ASSIGN_OR_RETURN(paused_speed, options_.paused_speed(turn.cell));
  }
  const absl::Time start = options_.now();
  SummaryData data;
  SHOAL_ASSIGN_OR_RETURN(
      const CellRun run,
      options_.run_cell(turn.cell, turn.repeat, paused_speed, &data));
  Keep({data.rows, data.files});
  const bool again = Disturbed(run) && turn.tries < options_.retries;
  time_left_.OnRun(options_.now() - start, again);
  options_.say(absl::StrCat("  ", Outcome(run),
                            again ? "; it is measured again later" : ""));
  runs_[{turn.cell.name, turn.repeat}] = run;
  if (again) {
    Turn later = turn;
    ++later.tries;
    open_.insert(open_.begin(), std::move(later));
    return absl::OkStatus();
  }
  if (turn.tries_dilation && TryDilation(turn.cell)) time_left_.Add(1, 0);
  RunFile file{options_.settings.at(turn.cell.model), turn.cell};
  file.cell.formula = options_.formula(turn.cell, data.mean_batch);
  if (file.cell.formula.has_value()) {
    formulas_[turn.cell.name] = *file.cell.formula;
  }
  file.cell.runs = {run};
  file.data = options_.comparison.data;
  return options_.files->WriteFileAtomically(PathOf(turn), RunFileJson(file));
}

void ComparisonRun::Keep(const ComparedData& data) {
  ComparedData* const known = &options_.comparison.data;
  if (data.rows > 0) known->rows = data.rows;
  if (data.files > 0) known->files = data.files;
}

// The cell with the first `most` of its runs.
Cell ComparisonRun::WithRuns(Cell cell, int most) const {
  cell.runs.clear();
  for (int repeat = 0; repeat < most; ++repeat) {
    const auto run = runs_.find({cell.name, repeat});
    if (run != runs_.end()) cell.runs.push_back(run->second);
  }
  return cell;
}

Cell ComparisonRun::WithRepeats(Cell cell) const {
  return WithRuns(std::move(cell), options_.comparison.repeats);
}

Cell ComparisonRun::WithTries(Cell at_twice) const {
  return WithRuns(std::move(at_twice), kDilationTries);
}

// Puts one more try of a cell at twice its dilation behind all other turns, if
// it needs one.
bool ComparisonRun::TryDilation(Cell at_twice) {
  const Cell tried = WithTries(at_twice);
  for (const auto* cells : {&options_.comparison.cells, &slower_}) {
    for (const Cell& cell : *cells) {
      if (!IsTwinOf(cell, at_twice)) continue;
      if (!NeedsAnotherTry(WithRepeats(cell), tried)) return false;
      const int tries = static_cast<int>(tried.runs.size());
      open_.insert(open_.begin(),
                   {std::move(at_twice), tries, kDilation, true});
      return true;
    }
  }
  return false;
}

// Fills in what the runs of `name` say of the cell.
void ComparisonRun::SettleCell(const std::string& name, Cell* cell) const {
  const Comparison& found = options_.comparison;
  const auto formula = formulas_.find(name);
  if (formula != formulas_.end()) cell->formula = formula->second;
  cell->runs.clear();
  for (int repeat = 0; repeat < found.repeats; ++repeat) {
    const auto at = runs_.find({name, repeat});
    if (at == runs_.end()) continue;
    CellRun run = at->second;
    // A job that was stopped early does not know how many rows there are, but
    // another run may, or whoever made the data.
    if (found.data.rows > 0 && run.samples_per_second.has_value()) {
      run.epoch_seconds =
          static_cast<double>(found.data.rows) / *run.samples_per_second;
    }
    cell->runs.push_back(std::move(run));
  }
  cell->grey = GreyReason(*cell);
}

// Whether this cell at twice its dilation is one of those that are measured.
bool ComparisonRun::IsSlower(const Cell& at_twice) const {
  return std::any_of(slower_.begin(), slower_.end(), [&](const Cell& slower) {
    return slower.name == at_twice.name;
  });
}

// Whether all that has the hosts of `at_twice` was measured slower to the end,
// with its tries.
bool ComparisonRun::SlowerHasEnded(const Cell& at_twice) const {
  for (const Cell& cell : slower_) {
    if (!IsBeside(cell, at_twice)) continue;
    const Cell measured = WithRepeats(cell);
    if (static_cast<int>(measured.runs.size()) < options_.comparison.repeats) {
      return false;
    }
    for (const Cell& tried : slower_at_twice_) {
      if (IsTwinOf(cell, tried) &&
          NeedsAnotherTry(measured, WithTries(tried))) {
        return false;
      }
    }
  }
  return true;
}

// Judges the cells of the mode and hosts of `at_twice` by it, with those that
// were measured slower as they are played slower, if that was measured to the
// end.
void ComparisonRun::SettleSlower(const Cell& at_twice) {
  if (!SlowerHasEnded(at_twice)) return;
  for (Cell& cell : options_.comparison.cells) {
    if (!IsJudgedBy(cell, at_twice)) continue;
    const Cell twice = AtTwiceTheDilation(cell);
    const bool is_slower = IsSlower(twice);
    if (is_slower) cell.dilation = twice.dilation;
    SettleCell(is_slower ? twice.name : cell.name, &cell);
  }
  JudgeDilation(WithTries(at_twice), /*note=*/"", &options_.comparison.cells);
}

void ComparisonRun::Settle() {
  Comparison* const found = &options_.comparison;
  for (Cell& cell : found->cells) SettleCell(cell.name, &cell);
  for (const Cell& at_twice : at_twice_) {
    const Cell tried = WithTries(at_twice);
    // SettleSlower has the last word on those that were.
    JudgeDilation(tried,
                  ShouldBeSlower(tried, found->cells)
                      ? absl::StrFormat(
                            "; it was stopped before all of them were measured "
                            "at %.3g and tried at %.3g",
                            tried.dilation, 2 * tried.dilation)
                      : "",
                  &found->cells);
  }
  for (const Cell& at_twice : slower_at_twice_) SettleSlower(at_twice);
  for (const Cell& cell : found->cells) {
    found->dilation = std::max(found->dilation, cell.dilation);
  }
}

void ComparisonRun::Conclude(bool ended) {
  Comparison* const found = &options_.comparison;
  found->verdicts = VerdictsOf(*found, options_.calibrate);
  found->ended = ended ? IsoTime(options_.now()) : "";
}

}  // namespace shoal
