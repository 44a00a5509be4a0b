#include "job/await_end.h"

#include <optional>

#include "job/answer_signal.h"
#include "job/leave_hung_disk.h"
#include "job/process_outcome.h"
#include "job/stop_text.h"

namespace shoal {
namespace {

void OnSignal(const StartedProcess& process, const MainWait::Event& event,
              JobLink::StopPart stop_part) {
  const std::optional<absl::Status> reason = AnswerSignal(
      event, process.name, StopText(*process.flags),
      [&process] { return process.link->QuitAtOnce(); }, process.logger);
  // The work must not be lost: SIGTERM means that the machine is needed for
  // something else, SIGHUP that the terminal or the launcher is gone, and
  // SIGINT is soon pressed.
  if (reason.has_value()) process.link->Stop(*reason, stop_part);
}

}  // namespace

ExitCode AwaitEnd(const StartedProcess& process, JobLink::StopPart stop_part) {
  JobLink* const link = process.link;
  MainWait* const wait = process.wait;
  const absl::Duration pause = link->pause();
  while (!process.part_end->told() || !link->over()) {
    OnSignal(process, wait->Wait(pause), stop_part);
    link->OnTurn(process.part_end->Get());
  }
  wait->QuitOnInterrupt();
  const absl::Status written = link->Report(wait->first_signal());
  if (!written.ok()) process.logger->Error(written.message());
  ExitCode code =
      ReportOutcome(link->Outcome(*process.part_end->Get()), *process.flags,
                    wait->first_signal() != 0, process.logger);
  if (code == kExitOk && !written.ok()) code = kExitFailed;
  LeaveHungDisk(process.disk, process.flags->deadlines.shutdown_timeout, code,
                process.logger);
  return code;
}

}  // namespace shoal
