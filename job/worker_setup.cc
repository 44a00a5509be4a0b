#include "job/worker_setup.h"

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "datatools/held_out_files.h"
#include "job/data_sources.h"
#include "job/options_from_flags.h"
#include "job/training_mode.h"
#include "job/worker_host.h"

namespace shoal {

absl::StatusOr<std::unique_ptr<WorkerSetup>> WorkerSetup::Create(
    const JobFlags& flags, const FileSystem* files, Logger* logger) {
  const int index = flags.cluster.task_index;
  std::unique_ptr<WorkerSetup> setup(new WorkerSetup(files));
  WorkerPartOptions& options = setup->options_;
  // Each host may have files of its own, so the coordinator checks whether all
  // of the job's files are empty.
  SHOAL_ASSIGN_OR_RETURN(options.sources, SourcesFromFlags(*files, flags));
  SHOAL_ASSIGN_OR_RETURN(setup->quarantine_,
                         QuarantineFromFlags(flags, files, index, logger));
  options.host = WorkerHost(flags.cluster);
  options.backend = flags.training.backend;
  options.mode = &KindOf(flags.training.mode);
  options.ring = AllReduceSettingsFromFlags(flags);
  options.reader = PieceReaderOptionsFromFlags(flags, setup->quarantine_.get(),
                                               &setup->line_numbers_);
  options.loop = WorkerLoopOptionsFromFlags(flags);
  SHOAL_ASSIGN_OR_RETURN(options.compute,
                         WorkerComputeFromFlags(flags, *files));
  if (flags.compute.Replays()) {
    setup->compute_text_ = absl::StrCat(", compute replayed from ",
                                        flags.compute.compute_profile);
  }
  if (index == 0) {
    const std::string warning =
        HeldOutFilesWarning(*files, options.sources.train);
    if (!warning.empty()) logger->Warn(warning);
  }
  if (!flags.cluster.job.empty()) {
    setup->label_ = absl::StrCat("job ", flags.cluster.job, ", ");
  }
  setup->files_text_ =
      absl::StrCat(Counted(options.sources.train.size(), "file"),
                   " to train on, ", options.sources.eval.size(),
                   " to evaluate on");
  return setup;
}

std::string WorkerSetup::Describe(const WorkerPart& part) const {
  return absl::StrCat(label_, files_text_, ", backend ",
                      part.backend().description(), compute_text_);
}

}  // namespace shoal
