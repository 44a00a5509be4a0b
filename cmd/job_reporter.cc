#include "cmd/job_reporter.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "cmd/best_possible_auc.h"
#include "cmd/closing_text.h"
#include "cmd/job_summary.h"
#include "cmd/progress_json.h"

namespace shoal {
namespace {

// Points of a curve are no closer.
constexpr absl::Duration kEventInterval = absl::Seconds(1);

LiveOutputOptions OutputOptions(const JobFlags& flags) {
  LiveOutputOptions options = LiveOutputOptionsFor(STDERR_FILENO);
  options.print_every = flags.output.progress_every;
  return options;
}

}  // namespace

JobReporter::JobReporter(const JobFlags& flags, const FileSystem* files)
    : flags_(flags), files_(files), output_(OutputOptions(flags)) {}

absl::Status JobReporter::Start(absl::Time now) {
  std::string directory = flags_.monitoring.tensorboard_dir;
  if (directory.empty() && flags_.Saves()) {
    directory = absl::StrCat(flags_.checkpoints.model_dir, "/events");
  }
  if (directory.empty()) return absl::OkStatus();
  auto events = JobEvents::Create(
      *files_, directory,
      std::min(flags_.output.progress_every, kEventInterval), now);
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

absl::Duration JobReporter::interval() const { return absl::Milliseconds(250); }

void JobReporter::Progress(const JobReport& report, absl::Time now) {
  if (events_ != nullptr) CheckEvents(events_->Progress(report, now));
  // How far a job came that failed is in its closing lines.
  if (report.over && !report.status.ok()) return;
  const ProgressFigures figures = ProgressOf(report);
  if (flags_.output.progress == "json") {
    std::cout << ProgressJson(figures) << std::endl;
  } else if (flags_.output.progress == "text") {
    output_.Live(ProgressText(figures), now);
  }
}

absl::Status JobReporter::End(const JobReport& report, absl::Time now) {
  output_.EndLive();
  if (events_ != nullptr) CheckEvents(events_->End(report, now));
  absl::Status written;
  if (!flags_.output.summary.empty()) {
    written = WriteOutput(*files_, flags_.output.summary,
                          SummaryJson(flags_, report));
  }
  if (flags_.output.progress == "json") {
    std::cout << EndingJson({report.status.ok(),
                             std::string(report.status.message()),
                             ClosingText(report, flags_.QuarantineDir())})
              << std::endl;
  } else if (flags_.output.progress == "text") {
    for (const std::string& line :
         ClosingText(report, flags_.QuarantineDir())) {
      std::cout << line << "\n";
    }
    const std::string best =
        BestPossibleAucLine(*files_, flags_.data.val_data_dir);
    if (!best.empty() && !report.evals.empty()) std::cout << best << "\n";
    std::cout << std::flush;
  }
  return written;
}

}  // namespace shoal
