#include "report/job_reporter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/json_writer.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "core/job_loss.h"
#include "report/closing_text.h"
#include "report/job_summary.h"
#include "report/progress_json.h"
#include "report/progress_text.h"
#include "report/resume_text.h"
#include "report/standard_output.h"

namespace shoal {
namespace {

// Least time between two points of a curve.
constexpr absl::Duration kEventInterval = absl::Seconds(1);
constexpr absl::Duration kInterval = absl::Milliseconds(250);
// Time between two looks at a job that has not begun to train.
constexpr absl::Duration kUntilItBegins = absl::Milliseconds(10);

}  // namespace

JobReporter::JobReporter(JobReporterOptions options, const FileSystem* files)
    : options_(std::move(options)),
      files_(files),
      output_(options_.output) {}

absl::Status JobReporter::Start(absl::Time now) {
  start_ = now;
  if (options_.events_dir.empty()) return absl::OkStatus();
  const absl::Duration interval =
      std::min(options_.output.print_every, kEventInterval);
  auto events =
      JobEvents::Create(*files_, options_.events_dir, interval, now);
  SHOAL_RETURN_IF_ERROR(Annotate(events.status(), "--tensorboard_dir"));
  events_ = *std::move(events);
  return absl::OkStatus();
}

void JobReporter::CheckEvents(const absl::Status& written) {
  if (written.ok()) return;
  output_.Line("", 0,
               absl::StrCat("no more TensorBoard events: ", written.message()));
  events_ = nullptr;
}

bool JobReporter::IsAwaited() const {
  return !begun_ && options_.style == ProgressStyle::kJson;
}

absl::Duration JobReporter::interval() const {
  return IsAwaited() ? kUntilItBegins : kInterval;
}

void JobReporter::Progress(const JobReport& report, absl::Time now) {
  begun_ = begun_ || report.started || report.over;
  if (IsAwaited() && now - shown_ < kInterval) return;
  shown_ = now;
  if (events_ != nullptr) CheckEvents(events_->Progress(report, now));
  // The closing lines say how far a failed job came.
  if (report.over && !report.status.ok()) return;
  const ProgressFigures figures = ProgressOf(report);
  if (options_.style == ProgressStyle::kJson) {
    // A launcher that is gone needs no line.
    WriteStandardOutput(absl::StrCat(ProgressJson(figures), "\n"))
        .IgnoreError();
  } else if (options_.style == ProgressStyle::kText) {
    output_.Live(ProgressParts(figures), now);
  }
}

absl::Status JobReporter::End(const JobReport& report, absl::Time now,
                              int signal) {
  output_.EndLive();
  if (events_ != nullptr) CheckEvents(events_->End(report, now));
  JobFacts facts = options_.facts;
  facts.start = start_;
  absl::Status written;
  if (!options_.summary.empty()) {
    written =
        WriteOutput(*files_, options_.summary, SummaryJson(facts, report));
  }
  const std::vector<std::string> closing = ClosingText(
      report, options_.bad_rows_dir, options_.facts.compute);
  std::string text;
  if (options_.style == ProgressStyle::kJson) {
    text = absl::StrCat(
        EndingJson({report.status.ok(), std::string(report.status.message()),
                    closing, report.first,
                    report.stopped, std::string(written.message()), signal,
                    ResumeText(report), LostProcess(report.status),
                    AfterEnd(report.status) == SameCommand::kFailsAgain,
                    SummaryJson(facts, report, JsonLayout::kCompact)}),
        "\n");
  } else if (options_.style == ProgressStyle::kText) {
    for (const std::string& line : closing) {
      absl::StrAppend(&text, line, "\n");
    }
    const std::string last = report.evals.empty() ? "" : options_.last_line();
    if (!last.empty()) absl::StrAppend(&text, last, "\n");
    // The caller says it with the error of a job that failed.
    const std::string resume = report.status.ok() ? ResumeText(report) : "";
    if (!resume.empty()) absl::StrAppend(&text, resume, "\n");
  }
  written.Update(WriteStandardOutput(text));
  return written;
}

}  // namespace shoal
