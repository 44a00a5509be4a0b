#ifndef SHOAL_TESTS_SIM_JOB_WORKER_H_
#define SHOAL_TESTS_SIM_JOB_WORKER_H_

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "core/cluster_member.h"
#include "job/worker_part.h"
#include "tests/harness/simulated_process.h"
#include "tests/harness/simulated_sessions.h"
#include "tests/sim/job_environment.h"
#include "tests/sim/mortal_sessions.h"

namespace shoal {

// One start of a worker process, composed like shoal-worker.
class JobWorker {
 public:
  // Starts the process. `on_end` runs once, on a strand of the process, when
  // the process would exit. All arguments outlive the process.
  JobWorker(const JobEnvironment& environment, int index,
            SimulatedProcess* process, const FileSystem* files,
            absl::AnyInvocable<void(MemberEnd) &&> on_end);

 private:
  std::vector<std::shared_ptr<ParameterService>> Connect();

  const JobEnvironment& environment_;
  const int index_;
  SimulatedProcess* const process_;
  std::unique_ptr<SimulatedSessions> sessions_;
  std::unique_ptr<MortalSessions> mortal_;
  std::unique_ptr<WorkerPart> part_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_JOB_WORKER_H_
