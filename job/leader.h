#ifndef SHOAL_JOB_LEADER_H_
#define SHOAL_JOB_LEADER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/thread_executor.h"
#include "cluster/job_report.h"
#include "coordinator/coordinator.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/ids.h"
#include "job/coordinator_part.h"
#include "job/job_link.h"
#include "job/job_plan.h"
#include "job/local_saves.h"
#include "job/to_main.h"
#include "launch/job_flags.h"
#include "report/job_reporter.h"

namespace shoal {

// The link of the process that leads its job: it holds the coordinator, locks
// the job's output, reports the job, and takes the requests of `shoal ckpt
// save` on this host.
class Leader final : public JobLink {
 public:
  // Takes the lead of the job of these flags. Errors: those of TakeLead.
  static absl::StatusOr<std::unique_ptr<Leader>> Create(
      const JobFlags& flags, const JobPlan& plan, JobLinkDependencies deps);

  ClusterService* cluster() override { return coordinator_.get(); }
  ClusterService* served() override { return coordinator_.get(); }
  absl::AnyInvocable<absl::Status(StartNumber)> take_directory() override {
    return nullptr;  // locked by TakeLead
  }
  absl::Status Begin() override;
  bool over() const override { return report_.told(); }
  absl::Duration pause() const override { return reporter_.interval(); }
  void OnTurn(const std::optional<MemberEnd>& part_end) override;
  void Stop(absl::Status reason, StopPart stop_part) override;
  std::string QuitAtOnce() override;
  absl::Status Report(int signal) override;
  ProcessOutcome Outcome(const MemberEnd& part_end) const override;
  void CloseRequests() override { local_saves_ = nullptr; }
  void Shutdown() override;

 private:
  Leader(const JobFlags& flags, const std::string& job,
         JobLinkDependencies deps);
  absl::Status TakeJob(const JobFlags& flags, const JobPlan& plan);
  void Probe(std::string address,
             absl::AnyInvocable<void(bool refused) &&> done);

  const JobLinkDependencies deps_;
  const std::string job_;
  const bool saves_;
  ToMain<JobReport> report_;
  JobReporter reporter_;
  Lead lead_;
  ThreadExecutor strand_;
  ThreadExecutor work_;
  ThreadExecutor probes_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<LocalSaves> local_saves_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_LEADER_H_
