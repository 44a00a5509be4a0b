#ifndef SHOAL_TESTS_SIM_JOB_PS_H_
#define SHOAL_TESTS_SIM_JOB_PS_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "coordinator/coordinator.h"
#include "core/cluster_member.h"
#include "job/ps_part.h"
#include "tests/harness/simulated_process.h"
#include "tests/harness/simulated_sessions.h"
#include "tests/sim/job_environment.h"
#include "tests/sim/mortal_sessions.h"
#include "tests/sim/unsealing_service.h"
#include "tests/sim/view_watch.h"

namespace shoal {

// One start of a PS process, composed like shoal-ps. With index 0 the process
// has the coordinator of a new job, which begins from the newest checkpoint on
// the process's disk.
class JobPs {
 public:
  // How the process ended; with index 0 the job's report is in `report`.
  struct End {
    MemberEnd member;
    std::optional<JobReport> report;
  };

  // Starts the process. `on_end` runs once, on a strand of the process, when
  // the process would exit. All arguments outlive the process.
  JobPs(const JobEnvironment& environment, int index, SimulatedProcess* process,
        FileSystem* files, absl::AnyInvocable<void(End) &&> on_end);

  // With index 0: the present report of the job.
  const Coordinator* coordinator() const { return coordinator_.get(); }
  // With index 0: called with the job's report when there is one.
  void OnReport(std::function<void(const JobReport&)> on_report) {
    on_report_ = std::move(on_report);
  }

 private:
  ClusterService* Lead(FileSystem* files);
  ClusterService* Follow();
  void Serve(SimulatedServer* server,
             const std::shared_ptr<ParameterShard>& shard);
  void EndIfOver();

  const JobEnvironment& environment_;
  const int index_;
  SimulatedProcess* const process_;
  absl::AnyInvocable<void(End) &&> on_end_;
  std::function<void(const JobReport&)> on_report_;
  std::optional<MemberEnd> member_end_;
  std::optional<JobReport> report_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<SimulatedSessions> sessions_;
  std::unique_ptr<MortalSessions> mortal_;
  std::unique_ptr<ViewWatch> watch_;
  std::unique_ptr<UnsealingService> unsealing_;
  std::unique_ptr<PsPart> part_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_JOB_PS_H_
