#ifndef SHOAL_CORE_TRAINING_MODE_H_
#define SHOAL_CORE_TRAINING_MODE_H_

namespace shoal {

// The mode of training: what becomes of the gradients of a job's workers. Each
// mode is a row of the table in job/training_mode.cc, which does not compile if
// a mode is missing there.
enum class TrainingMode { kAsync, kSsp, kSync, kRing, kHybrid };

// What a mode is to the flags: a Choice (core/choice.h) with the depth of the
// pipeline (LeaseTrainerOptions::pipeline_depth) that a job of the mode has
// unless --pipeline_depth gives one.
struct TrainingModeRow {
  TrainingMode value;
  const char* word;
  const char* help;
  int depth_in_one_process;
  int depth_over_network;
  // True if the mode has these depths alone, so that --pipeline_depth may not
  // ask for another one.
  bool depth_is_fixed = false;
  // False: a job over the network has no shoal-ps, and worker 0 coordinates the
  // job.
  bool servers = true;
  // True: each worker holds a copy of the dense variables, and without servers
  // of all variables; the workers add up gradients in a ring.
  bool copies = false;
};

// The values of --mode.
inline constexpr TrainingModeRow kTrainingModes[] = {
    {TrainingMode::kAsync, "async", "applies gradients on arrival",
     /*depth_in_one_process=*/0, /*depth_over_network=*/1},
    {TrainingMode::kSsp, "ssp",
     "does so too, and makes a worker wait that is more than --ssp_bound steps "
     "ahead of the slowest",
     /*depth_in_one_process=*/0, /*depth_over_network=*/1},
    {TrainingMode::kSync, "sync",
     "adds up a batch of every worker and applies the sum as one step",
     /*depth_in_one_process=*/0, /*depth_over_network=*/0,
     /*depth_is_fixed=*/true},
    {TrainingMode::kRing, "ring",
     "makes such steps by allreduce between the workers, each of which holds "
     "all variables",
     /*depth_in_one_process=*/0, /*depth_over_network=*/0,
     /*depth_is_fixed=*/true, /*servers=*/false, /*copies=*/true},
    {TrainingMode::kHybrid, "hybrid",
     "does so for the dense variables, and applies gradients of table rows on "
     "arrival at parameter servers",
     /*depth_in_one_process=*/0, /*depth_over_network=*/0,
     /*depth_is_fixed=*/true, /*servers=*/true, /*copies=*/true}};

}  // namespace shoal

#endif  // SHOAL_CORE_TRAINING_MODE_H_
