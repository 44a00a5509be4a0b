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
#include "job/job_plan.h"
#include "ps/server/ps_loop.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// One parameter server of a job, wherever it runs: its loop and, once it has a
// life, its shard, measured where there is a telemetry. How it is reached is
// its process's business.
class PsPart {
 public:
  // Who the PS is and what it holds is filled into `options`, and
  // deps.serve. `telemetry`, which outlives the part, may be null.
  PsPart(const JobPlan& plan, int index, const std::string& address,
         PsLoopOptions options, PsLoopDependencies deps, Telemetry* telemetry);

  // Begins; returns at once. `on_serve`, which may be null, runs once on the
  // control strand when there is a shard; `done` once there, and last.
  void Start(absl::AnyInvocable<void(const PsPart&)> on_serve,
             absl::AnyInvocable<void(MemberEnd) &&> done);

  // As PsLoop::Stop.
  void Stop(absl::Status reason,
            absl::Duration save_deadline = absl::ZeroDuration());

  // Drops the loop, which has ended. The rest lives on for what is still queued
  // on the strands.
  void DropLoop() { loop_ = nullptr; }

  // From on_serve on; before it null. On the control strand, or when the part
  // has ended. What they point to may outlive the part.
  const std::shared_ptr<ParameterShard>& shard() const { return shard_; }
  // What answers pulls and pushes.
  const std::shared_ptr<ParameterService>& service() const { return service_; }

 private:
  void Serve(std::shared_ptr<ParameterShard> shard);

  const int index_;
  Telemetry* const telemetry_;
  Executor* const completions_;
  absl::AnyInvocable<void(const PsPart&)> on_serve_;
  std::shared_ptr<ParameterShard> shard_;
  std::shared_ptr<ParameterService> service_;
  std::unique_ptr<PsLoop> loop_;
};

}  // namespace shoal

#endif  // SHOAL_JOB_PS_PART_H_
