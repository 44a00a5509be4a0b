#include "bench/compare/kept_runs.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/run_file.h"
#include "bench/compare/text_file.h"

namespace shoal {
namespace {

using Lines = std::vector<std::string>;

// The name of a setting: "seed" of "seed=1", and of "\"seed\": 1," in JSON.
std::string NameIn(const std::string& line) {
  const size_t sign = line.find('=');
  return line.substr(0, sign == std::string::npos ? line.find(':') : sign);
}

// The line of a setting that has the name.
const std::string* Named(const Lines& lines, const std::string& name) {
  const auto it = std::find_if(
      lines.begin(), lines.end(),
      [&name](const std::string& line) { return NameIn(line) == name; });
  return it == lines.end() ? nullptr : &*it;
}

// A line for people.
std::string Bare(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  absl::ConsumeSuffix(&line, ",");
  return std::string(line);
}

// The first setting in which two texts with one in each line differ, "was …, is
// …"; empty: there is none.
std::string Difference(const std::string& before, const std::string& now) {
  const Lines old_lines = absl::StrSplit(before, '\n');
  const Lines lines = absl::StrSplit(now, '\n');
  for (const std::string& line : old_lines) {
    if (absl::c_linear_search(lines, line)) continue;
    const std::string* const is = Named(lines, NameIn(line));
    return absl::StrCat("was ", Bare(line), ", is ",
                        is == nullptr ? "not given" : Bare(*is));
  }
  for (const std::string& line : lines) {
    if (absl::c_linear_search(old_lines, line)) continue;
    return absl::StrCat("was not given, is ", Bare(line));
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

}  // namespace

std::string KeptRuns::PathOf(const RunPlace& place) const {
  return JoinPath(
      JoinPath(out_, place.folder),
      absl::StrCat(place.cell.name, ".", place.repeat + 1, ".json"));
}

absl::Status KeptRuns::Read(const RunPlace& place) {
  if (Has(place)) return absl::OkStatus();
  const std::string path = PathOf(place);
  const auto text = ReadTextFile(*files_, path);
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
      Difference(before->settings, settings_.at(place.cell.model));
  std::string hint;
  if (difference.empty()) {
    difference = Difference(CellText(before->cell), CellText(place.cell));
    if (before->cell.dilation != place.cell.dilation) {
      hint = absl::StrFormat(
          ". (It was played at dilation %.4g, and would be at %.4g now. "
          "--dilation=%.4g goes on, if all cells can be played at that.)",
          before->cell.dilation, place.cell.dilation, before->cell.dilation);
    }
  }
  if (!difference.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is a run of another comparison (", difference,
                     "); give another --out, or remove ", out_, hint));
  }
  if (before->cell.formula.has_value()) {
    formulas_[place.cell.name] = *before->cell.formula;
  }
  Learn(before->data);
  CellRun run = std::move(before->cell.runs.front());
  if (run.seconds > 0) {
    ++read_;
    read_took_ += absl::Seconds(run.seconds * place.cell.dilation);
  }
  // What failed is tried again.
  if (run.ok) runs_[{place.cell.name, place.repeat}] = std::move(run);
  return absl::OkStatus();
}

void KeptRuns::Add(const RunPlace& place, CellRun run,
                   const ComparedData& data) {
  runs_[{place.cell.name, place.repeat}] = std::move(run);
  Learn(data);
}

absl::Status KeptRuns::Write(const RunPlace& place,
                             const std::optional<RoleBytes>& formula) {
  const std::string& name = place.cell.name;
  if (formula.has_value()) formulas_[name] = *formula;
  RunFile file{settings_.at(place.cell.model), place.cell};
  file.cell.formula = formula;
  file.cell.runs = {runs_.at({name, place.repeat})};
  file.data = data_;
  return files_->WriteFileAtomically(PathOf(place), RunFileJson(file));
}

void KeptRuns::Learn(const ComparedData& data) {
  if (data.rows > 0) data_.rows = data.rows;
  if (data.files > 0) data_.files = data.files;
}

std::optional<absl::Duration> KeptRuns::MeanJobTime() const {
  if (read_ == 0) return std::nullopt;
  return read_took_ / read_;
}

int KeptRuns::OthersIn(const std::string& folder,
                       const std::vector<Cell>& cells) const {
  const auto entries = files_->ListDirectory(JoinPath(out_, folder));
  if (!entries.ok()) return 0;
  std::set<std::string> others;
  for (const DirectoryEntry& entry : *entries) {
    // CELL.N.json
    const std::vector<std::string> parts = absl::StrSplit(entry.name, '.');
    if (parts.size() < 3 || parts.back() != "json") continue;
    others.insert(absl::StrJoin(parts.begin(), parts.end() - 2, "."));
  }
  for (const Cell& cell : cells) others.erase(cell.name);
  return static_cast<int>(others.size());
}

bool KeptRuns::Has(const RunPlace& place) const {
  return runs_.count({place.cell.name, place.repeat}) > 0;
}

Cell KeptRuns::WithRuns(Cell cell, int most) const {
  cell.runs.clear();
  for (int repeat = 0; repeat < most; ++repeat) {
    const auto run = runs_.find({cell.name, repeat});
    if (run != runs_.end()) cell.runs.push_back(run->second);
  }
  return cell;
}

void KeptRuns::Settle(const std::string& name, int most, Cell* cell) const {
  const auto formula = formulas_.find(name);
  if (formula != formulas_.end()) cell->formula = formula->second;
  Cell found;
  found.name = name;
  cell->runs = WithRuns(std::move(found), most).runs;
  for (CellRun& run : cell->runs) {
    // A job that was stopped early does not know how many rows there are, but
    // another run may, or whoever made the data.
    if (data_.rows > 0 && run.samples_per_second.has_value()) {
      run.epoch_seconds =
          static_cast<double>(data_.rows) / *run.samples_per_second;
    }
  }
  cell->grey = GreyReason(*cell);
}

}  // namespace shoal
