#include "job/stop_text.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace shoal {

std::string StopText(const JobFlags& flags) {
  constexpr char kAgain[] = "a second SIGINT (Ctrl-C) ends it at once";
  if (flags.Saves()) {
    return absl::StrCat("the job saves a checkpoint, within ",
                        absl::FormatDuration(flags.checkpoints.stop_timeout),
                        ", and stops; ", kAgain, ", without the checkpoint");
  }
  if (!flags.training.Trains()) {
    return absl::StrCat("the job stops; ", kAgain);
  }
  return absl::StrCat(
      "the job stops, and nothing is saved: to keep what a job has trained, "
      "start it with --model_dir; ",
      kAgain);
}

std::string RemindText() {
  return "the job is stopping already; one more SIGINT (Ctrl-C) ends it at "
         "once";
}

}  // namespace shoal
