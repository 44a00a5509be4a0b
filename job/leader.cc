#include "job/leader.h"

#include <utility>

#include "base/status_macros.h"
#include "core/job_loss.h"
#include "job/report_options.h"
#include "report/resume_text.h"
#include "rpc/port_probe.h"

namespace shoal {
namespace {

// Timeout of a probe of one address of a server's port.
constexpr absl::Duration kProbeTimeout = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<Leader>> Leader::Create(
    const JobFlags& flags, const JobPlan& plan, JobLinkDependencies deps) {
  std::unique_ptr<Leader> leader(new Leader(flags, plan.job, deps));
  SHOAL_RETURN_IF_ERROR(leader->TakeJob(flags, plan));
  return leader;
}

Leader::Leader(const JobFlags& flags, const std::string& job,
               JobLinkDependencies deps)
    : deps_(deps),
      job_(job),
      saves_(flags.Saves()),
      report_(deps.wait),
      reporter_(JobReporterOptionsFromFlags(flags, deps.files), deps.files),
      strand_({"coordinator", 1}, deps.clock),
      work_({"work", 1}, deps.clock),
      probes_({"probe", 1}, deps.clock) {}

absl::Status Leader::TakeJob(const JobFlags& flags, const JobPlan& plan) {
  SHOAL_ASSIGN_OR_RETURN(lead_, TakeLead(deps_.files, flags, plan,
                                         deps_.logger, deps_.clock->Now()));
  CoordinatorWork work = WorkOfLead(lead_, flags, deps_.files, &work_,
                                    deps_.disk, deps_.logger);
  work.probe = [this](std::string address,
                      absl::AnyInvocable<void(bool refused) &&> done) {
    Probe(std::move(address), std::move(done));
  };
  coordinator_ = ComposeCoordinator(plan, lead_.options, std::move(work),
                                    &strand_, deps_.logger, deps_.telemetry);
  coordinator_->OnFinished(
      [this](const JobReport& report) { report_.Tell(report); });
  return absl::OkStatus();
}

void Leader::Probe(std::string address,
                   absl::AnyInvocable<void(bool refused) &&> done) {
  probes_.Post([address = std::move(address),
                done = std::move(done)]() mutable {
    std::move(done)(ProbePort(address, kProbeTimeout) == PortState::kRefused);
  });
}

absl::Status Leader::Begin() {
  if (lead_.lock != nullptr) lead_.lock->Keep();
  local_saves_ = LocalSaves::Open(job_, lead_.lock.get(), coordinator_.get(),
                                  deps_.completions, deps_.logger);
  return reporter_.Start(deps_.clock->Now());
}

void Leader::OnTurn(const std::optional<MemberEnd>& part_end) {
  if (report_.told()) return;
  if (part_end.has_value() && !part_end->status.ok()) {
    coordinator_->Stop(part_end->status);
  }
  reporter_.Progress(coordinator_->Report(), deps_.clock->Now());
}

void Leader::Stop(absl::Status reason, StopPart) {
  saves_ ? coordinator_->SaveAndStop(std::move(reason))
         : coordinator_->Stop(std::move(reason));
}

std::string Leader::QuitAtOnce() {
  if (local_saves_ != nullptr) local_saves_->RemoveFiles();
  return ResumeText(coordinator_->Report());
}

absl::Status Leader::Report(int signal) {
  CloseRequests();
  return reporter_.End(*report_.Get(), deps_.clock->Now(), signal);
}

ProcessOutcome Leader::Outcome(const MemberEnd&) const {
  const JobReport report = *report_.Get();
  ProcessOutcome outcome;
  outcome.leads = true;
  outcome.over = true;
  outcome.status = report.status;
  outcome.lost = LostProcess(report.status);
  outcome.last_words = ResumeText(report);
  return outcome;
}

void Leader::Shutdown() {
  work_.Shutdown();
  probes_.Shutdown();
  strand_.Shutdown();
}

}  // namespace shoal
