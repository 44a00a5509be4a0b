#include "job/await_end.h"

#include <string.h>

#include "absl/strings/str_cat.h"
#include "job/leave_hung_disk.h"
#include "job/process_outcome.h"
#include "job/quit_at_once.h"
#include "job/stop_text.h"

namespace shoal {
namespace {

void OnSignal(const StartedProcess& process, const MainWait::Event& event,
              JobLink::StopPart stop_part) {
  if (event.action == StopSignals::Action::kNone) return;
  if (event.action == StopSignals::Action::kQuit) {
    QuitAtOnce([&process] { return process.link->QuitAtOnce(); },
               process.logger);
  }
  const bool stop = event.action == StopSignals::Action::kStop;
  const std::string signal = absl::StrCat("SIG", sigabbrev_np(event.signal));
  if (!event.passed_on) {
    process.logger->Warn(absl::StrCat(
        signal, ": ", stop ? StopText(*process.flags) : RemindText()));
  }
  if (!stop) return;
  // The work must not be lost: SIGTERM means that the machine is needed for
  // something else, SIGHUP that the terminal or the launcher is gone, and
  // SIGINT is soon pressed.
  process.link->Stop(absl::CancelledError(absl::StrCat(
                         process.name, " was stopped by ", signal)),
                     stop_part);
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
