#include "bench/compare/comparison_run.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/counted.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/verdict.h"

namespace shoal {
namespace {

constexpr char kRuns[] = "runs";
// What a run takes beside its job's training.
constexpr absl::Duration kAroundJob = absl::Seconds(3);

std::string IsoTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", time, absl::LocalTimeZone());
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
    : options_(std::move(options)),
      runs_(options_.files, options_.out, options_.settings,
            options_.comparison.data),
      slower_(options_.check_dilation ? options_.comparison.cells
                                      : std::vector<Cell>(),
              options_.comparison.repeats, &runs_),
      time_left_(0, 0, options_.first_guess) {}

// The runs of cells, and the tries among them, in random order, repeats
// interleaved. The last one of the list is the next.
std::vector<RunPlace> ComparisonRun::InTurn(const std::vector<Cell>& cells,
                                            const std::string& folder) const {
  std::mt19937_64 random(options_.order_seed);
  std::vector<RunPlace> places;
  for (int repeat = options_.comparison.repeats - 1; repeat >= 0; --repeat) {
    std::vector<RunPlace> round = slower_.TriesAmong(repeat);
    for (const Cell& cell : cells) round.push_back({cell, repeat, folder});
    std::shuffle(round.begin(), round.end(), random);
    places.insert(places.end(), round.begin(), round.end());
  }
  return places;
}

absl::Status ComparisonRun::Run() {
  Comparison* const found = &options_.comparison;
  for (const char* folder : {kRuns, SlowerCells::kFolder, "logs", "profiles"}) {
    SHOAL_RETURN_IF_ERROR(options_.files->CreateDirectories(
        JoinPath(options_.out, folder)));
  }
  SHOAL_RETURN_IF_ERROR(ReadBefore());
  begun_ = true;
  const std::string path = JoinPath(options_.out, "compare.json");
  const auto before = ReadComparison(*options_.files, path);
  const bool goes_on = before.ok() && runs_.size() > 0;
  found->started = goes_on ? before->started : IsoTime(options_.now());
  if (goes_on) runs_.Learn(before->data);
  if (runs_.size() > 0) {
    const auto runs = static_cast<uint64_t>(runs_.size());
    options_.say(absl::StrCat(Counted(runs, "run"), runs == 1 ? " is" : " are",
                              " there from before"));
  }
  const int others = runs_.OthersIn(kRuns, found->cells);
  if (others > 0) {
    options_.say(absl::StrCat(
        Counted(static_cast<uint64_t>(others), "cell"),
        " of commands before will not be in the report; a command that names "
        "these cells too has them all"));
  }
  if (const auto job = runs_.MeanJobTime()) {
    time_left_ = TimeLeft(0, 0, *job + kAroundJob);
  }
  time_left_.Add(runs_.size() + static_cast<int>(open_.size()), runs_.size());
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

// Reads all runs that may be there, so that nothing is measured or written if
// one cannot be used, and opens the turns of those that are missing.
absl::Status ComparisonRun::ReadBefore() {
  SHOAL_RETURN_IF_ERROR(Open(InTurn(options_.comparison.cells, kRuns)));
  for (const RunPlace& place : slower_.Possible()) {
    SHOAL_RETURN_IF_ERROR(runs_.Read(place));
  }
  OpenTries(slower_.Tries());
  return absl::OkStatus();
}

// Opens turns for those that have no run yet.
absl::Status ComparisonRun::Open(std::vector<RunPlace> places) {
  for (RunPlace& place : places) {
    SHOAL_RETURN_IF_ERROR(runs_.Read(place));
    if (!runs_.Has(place)) open_.push_back(Turn{std::move(place)});
  }
  return absl::OkStatus();
}

// Opens a turn behind all others.
void ComparisonRun::OpenLast(RunPlace place, int tries) {
  open_.insert(open_.begin(), Turn{std::move(place), tries});
}

bool ComparisonRun::IsOpen(const Cell& cell) const {
  return std::any_of(open_.begin(), open_.end(), [&](const Turn& turn) {
    return turn.place.cell.name == cell.name;
  });
}

// Opens a turn for each of the tries whose cell has none, behind all others.
// Returns how many these are.
int ComparisonRun::OpenTries(std::vector<RunPlace> tries) {
  int opened = 0;
  for (RunPlace& place : tries) {
    if (IsOpen(place.cell)) continue;
    OpenLast(std::move(place), 0);
    ++opened;
  }
  return opened;
}

// Measures the cells of all modes on numbers of hosts on which one mode differs
// from itself, with their tries.
absl::Status ComparisonRun::MeasureSlower() {
  const std::vector<Cell> cells = slower_.MeasureSlower(options_.say);
  if (cells.empty()) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(Open(InTurn(cells, SlowerCells::kFolder)));
  OpenTries(slower_.Tries());
  time_left_.Add(static_cast<int>(open_.size()), 0);
  return MeasureAll();
}

absl::Status ComparisonRun::MeasureAll() {
  while (!open_.empty()) {
    Turn turn = std::move(open_.back());
    open_.pop_back();
    auto place = slower_.InTurnOf(turn.place);
    if (!place.has_value()) {
      time_left_.Add(-1, 0);
      continue;
    }
    SHOAL_RETURN_IF_ERROR(options_.stopped());
    // A run that comes again replaces the one that was disturbed.
    if (turn.tries == 0) turn.place = *std::move(place);
    SHOAL_RETURN_IF_ERROR(Measure(turn));
  }
  return absl::OkStatus();
}

std::string ComparisonRun::TimeLeftText(const Turn& next) const {
  if (!options_.pauses_ahead) return time_left_.Text(absl::ZeroDuration());
  std::vector<Cell> cells = {next.place.cell};
  for (const Turn& turn : open_) cells.push_back(turn.place.cell);
  return time_left_.Text(options_.pauses_ahead(cells));
}

absl::Status ComparisonRun::Measure(const Turn& turn) {
  const Cell& cell = turn.place.cell;
  options_.say(absl::StrCat(TimeLeftText(turn), ": ", cell.name));
  PausedSpeed paused_speed;
  if (options_.paused_speed) {
    SHOAL_ASSIGN_OR_RETURN(paused_speed, options_.paused_speed(cell));
  }
  const absl::Time start = options_.now();
  SummaryData data;
  SHOAL_ASSIGN_OR_RETURN(
      CellRun run,
      options_.run_cell(cell, turn.place.repeat, paused_speed.share, &data));
  run.paused_speed_known = paused_speed.known;
  const bool again = Disturbed(run) && turn.tries < options_.retries;
  time_left_.OnRun(options_.now() - start, again);
  options_.say(absl::StrCat("  ", Outcome(run),
                            again ? "; it is measured again later" : ""));
  runs_.Add(turn.place, run, {data.rows, data.files});
  if (again) {
    OpenLast(turn.place, turn.tries + 1);
    return absl::OkStatus();
  }
  // A run that comes again may ask for more tries of its mode.
  time_left_.Add(OpenTries(slower_.TriesAfter(cell)), 0);
  return runs_.Write(turn.place, options_.formula(cell, data.mean_batch));
}

void ComparisonRun::Settle() {
  Comparison* const found = &options_.comparison;
  found->data = runs_.data();
  for (Cell& cell : found->cells) {
    runs_.Settle(cell.name, found->repeats, &cell);
  }
  slower_.Settle(&found->cells);
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
