#include "cmd/job_reporter.h"

#include <unistd.h>

#include <iostream>

#include "cmd/best_possible_auc.h"
#include "cmd/closing_text.h"
#include "cmd/job_summary.h"
#include "cmd/progress_json.h"

namespace shoal {
namespace {

LiveOutputOptions OutputOptions(const JobFlags& flags) {
  LiveOutputOptions options = LiveOutputOptionsFor(STDERR_FILENO);
  options.print_every = flags.progress_every;
  return options;
}

}  // namespace

JobReporter::JobReporter(const JobFlags& flags, const FileSystem* files)
    : flags_(flags), files_(files), output_(OutputOptions(flags)) {}

absl::Duration JobReporter::interval() const { return absl::Milliseconds(250); }

void JobReporter::Progress(const JobReport& report, absl::Time now) {
  const ProgressFigures figures = ProgressOf(report);
  if (flags_.progress == "json") {
    std::cout << ProgressJson(figures) << std::endl;
  } else if (flags_.progress == "text") {
    output_.Live(ProgressText(figures), now);
  }
}

absl::Status JobReporter::End(const JobReport& report) {
  output_.EndLive();
  absl::Status written;
  if (!flags_.summary.empty()) {
    written = files_->WriteFileAtomically(flags_.summary,
                                          SummaryJson(flags_, report));
  }
  if (flags_.progress == "json") {
    std::cout << EndingJson({report.status.ok(),
                             std::string(report.status.message()),
                             ClosingText(report)})
              << std::endl;
  } else if (flags_.progress == "text") {
    for (const std::string& line : ClosingText(report)) {
      std::cout << line << "\n";
    }
    const std::string best = BestPossibleAucLine(*files_, flags_.val_data_dir);
    if (!best.empty() && report.status.ok()) std::cout << best << "\n";
    std::cout << std::flush;
  }
  return written;
}

}  // namespace shoal
