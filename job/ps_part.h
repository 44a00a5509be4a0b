#ifndef SHOAL_JOB_PS_PART_H_
#define SHOAL_JOB_PS_PART_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/telemetry.h"
#include "core/cluster_member.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "job/job_plan.h"
#include "ps/server/ps_loop.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// One parameter server of a job, in a process of its own or beside other parts:
// its loop and, once it is registered, its shard. With a telemetry the shard is
// measured. The process decides how the parameter server is reached.
class PsPart {
 public:
  // Fills the PS's index, as in plan.ps, and what it holds into `options`, and
  // fills in deps.serve. `telemetry`, which outlives the part, may be null.
  PsPart(const JobPlan& plan, int index, const std::string& address,
         PsLoopOptions options, PsLoopDependencies deps, Telemetry* telemetry);

  // Starts the loop and returns at once. `on_serve`, which may be null, runs
  // once on the control strand when there is a shard. `done` runs once on the
  // same strand, last.
  void Start(absl::AnyInvocable<void(const PsPart&)> on_serve,
             absl::AnyInvocable<void(MemberEnd) &&> done);

  // As PsLoop::Stop.
  void Stop(absl::Status reason,
            absl::Duration save_deadline = absl::ZeroDuration());

  // Drops the loop, which has ended. The other members live on for tasks that
  // are still queued on the strands.
  void DropLoop() { loop_ = nullptr; }

  // The shard; null before on_serve. Call on the control strand, or when the
  // part has ended. The shard and the service may outlive the part.
  const std::shared_ptr<ParameterShard>& shard() const { return shard_; }
  // The service that answers pulls and pushes; null before on_serve.
  const std::shared_ptr<ParameterService>& service() const { return service_; }

 private:
  void Serve(std::shared_ptr<ParameterShard> shard,
             std::shared_ptr<ParameterService> service);

  const int index_;
  Telemetry* const telemetry_;
  const PayloadCounters* const bytes_;
  Executor* const completions_;
  absl::AnyInvocable<void(const PsPart&)> on_serve_;
  std::shared_ptr<ParameterShard> shard_;
  std::shared_ptr<ParameterService> service_;
  std::unique_ptr<PsLoop> loop_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_PS_PART_H_
