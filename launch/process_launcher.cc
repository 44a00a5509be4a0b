#include "launch/process_launcher.h"

#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ignored_signal.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Reads until the pipe is empty (false) or at its end (true).
template <typename OnBytes>
bool ReadAll(int fd, OnBytes on_bytes) {
  char buffer[16 << 10];
  for (;;) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size > 0) {
      on_bytes(absl::string_view(buffer, size));
    } else if (size == 0) {
      return true;
    } else if (errno != EINTR) {
      return errno != EAGAIN;
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessLauncher>> ProcessLauncher::Create(
    LauncherOptions options, LauncherEvents events) {
  std::unique_ptr<ProcessLauncher> launcher(
      new ProcessLauncher(options, std::move(events)));
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    if (signal != SIGHUP || !IsIgnored(signal)) sigaddset(&ours, signal);
  }
  if (sigprocmask(SIG_BLOCK, &ours, &launcher->old_mask_) != 0) {
    return absl::InternalError("cannot block signals");
  }
  launcher->signal_fd_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  if (launcher->signal_fd_ < 0) {
    return absl::InternalError(
        absl::StrCat("cannot make a signalfd: ", strerror(errno)));
  }
  return launcher;
}

ProcessLauncher::~ProcessLauncher() {
  draining_ = true;
  SignalAll(SIGKILL);
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i]->child.pid < 0) continue;
    waitpid(processes_[i]->child.pid, nullptr, 0);
    CloseOutput(static_cast<int>(i));
  }
  if (signal_fd_ >= 0) close(signal_fd_);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

absl::Status ProcessLauncher::Start(ProcessSpec spec) {
  SHOAL_ASSIGN_OR_RETURN(const ChildProcess child,
                         StartChild(spec.argv, spec.input));
  auto process = std::make_unique<Process>(std::move(spec));
  process->child = child;
  processes_.push_back(std::move(process));
  return absl::OkStatus();
}

LaunchOutcome ProcessLauncher::Run() {
  while (AnyRunning()) {
    Poll();
    Reap();
    CheckDeadlines();
  }
  return outcome_;
}

bool ProcessLauncher::AnyRunning() const {
  return std::any_of(
      processes_.begin(), processes_.end(),
      [](const auto& process) { return process->child.pid > 0; });
}

void ProcessLauncher::Poll() {
  struct Source {
    int process;
    OutputStream stream;
  };
  std::vector<pollfd> fds = {{signal_fd_, POLLIN, 0}};
  std::vector<Source> sources = {{}};
  for (size_t i = 0; i < processes_.size(); ++i) {
    const ChildProcess& child = processes_[i]->child;
    const int process = static_cast<int>(i);
    if (child.out >= 0) {
      fds.push_back({child.out, POLLIN, 0});
      sources.push_back({process, OutputStream::kStdout});
    }
    if (child.err >= 0) {
      fds.push_back({child.err, POLLIN, 0});
      sources.push_back({process, OutputStream::kStderr});
    }
  }
  // Run also looks at its children without a signal: a SIGCHLD that another
  // thread of this process took does not come here.
  constexpr absl::Duration kLookAgain = absl::Seconds(1);
  const absl::Duration left =
      std::clamp(std::min(stop_at_, kill_at_) - clock_.Now(),
                 absl::ZeroDuration(), kLookAgain);
  const int timeout_ms = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
  if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
  for (size_t i = 1; i < fds.size(); ++i) {
    if (fds[i].revents != 0) {
      ReadOutput(sources[i].process, sources[i].stream);
    }
  }
  if (fds[0].revents != 0) ReadSignals();
}

void ProcessLauncher::ReadSignals() {
  signalfd_siginfo info;
  while (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;  // Reap looks at every child
    const StopSignals::Action action = signals_.On(signal);
    if (action == StopSignals::Action::kNone) continue;
    if (action == StopSignals::Action::kStop) {
      outcome_.signal = signal;
      StopWith(signal, /*all=*/false, options_.stop_grace);
    } else if (action == StopSignals::Action::kQuit) {
      draining_ = true;
      SignalAll(SIGKILL);
    }
    if (events_.on_signal) events_.on_signal(signal, action);
  }
}

void ProcessLauncher::ReadOutput(int index, OutputStream stream) {
  Process* process = processes_[index].get();
  const bool is_out = stream == OutputStream::kStdout;
  int* fd = is_out ? &process->child.out : &process->child.err;
  LineSplitter* lines = is_out ? &process->out : &process->err;
  auto on_line = [&](absl::string_view line) {
    if (events_.on_line) events_.on_line(index, stream, line);
  };
  const bool ended = ReadAll(
      *fd, [&](absl::string_view bytes) { lines->Add(bytes, on_line); });
  if (ended) {
    lines->Finish(on_line);
    close(*fd);
    *fd = -1;
  }
}

void ProcessLauncher::CloseInput(Process* process) {
  if (process->child.in >= 0) close(process->child.in);
  process->child.in = -1;
}

// Reads the last output of a process that has ended. A descendant that left the
// process group could hold the pipes open, so the end of the pipes is not
// awaited.
void ProcessLauncher::CloseOutput(int index) {
  Process* process = processes_[index].get();
  CloseInput(process);
  for (const OutputStream stream :
       {OutputStream::kStdout, OutputStream::kStderr}) {
    const bool is_out = stream == OutputStream::kStdout;
    int* fd = is_out ? &process->child.out : &process->child.err;
    if (*fd < 0) continue;
    ReadOutput(index, stream);
    if (*fd < 0) continue;
    LineSplitter* lines = is_out ? &process->out : &process->err;
    lines->Finish([&](absl::string_view line) {
      if (events_.on_line) events_.on_line(index, stream, line);
    });
    close(*fd);
    *fd = -1;
  }
}

void ProcessLauncher::Reap() {
  for (size_t i = 0; i < processes_.size(); ++i) {
    ChildProcess* child = &processes_[i]->child;
    ProcessExit exit;
    if (child->pid < 0 || !ReapChild(child->pid, &exit)) continue;
    CloseOutput(static_cast<int>(i));
    child->pid = -1;
    OnExit(static_cast<int>(i), exit);
  }
}

void ProcessLauncher::OnExit(int index, const ProcessExit& exit) {
  Process* process = processes_[index].get();
  const bool final = exit.signal == 0 && exit.code == options_.final_code;
  const bool again = process->spec.restart && exit.may_retry() && !final &&
                     !draining_ && process->restarts < options_.max_restarts;
  if (!again && !exit.ok() && !stopping_ && !outcome_.first_failure &&
      (!events_.is_failure || events_.is_failure(index, exit))) {
    outcome_.first_failure = {index, exit};
  }
  const int restarts = process->restarts;
  if (again) {
    ++process->restarts;
    const absl::StatusOr<ChildProcess> child =
        StartChild(process->spec.argv, process->spec.input);
    if (child.ok()) {
      process->child = *child;
    } else if (!outcome_.first_failure) {
      outcome_.first_failure = {index, exit};
    }
  }
  if (events_.on_exit) {
    events_.on_exit(index, exit, restarts, process->child.pid > 0);
  }
}

void ProcessLauncher::StopAfter(absl::Duration delay) {
  draining_ = true;
  stop_at_ = std::min(stop_at_, clock_.Now() + delay);
}

void ProcessLauncher::StopWith(int signal, bool all, absl::Duration grace) {
  draining_ = true;
  stop_at_ = absl::InfiniteFuture();
  kill_at_ = std::min(kill_at_, clock_.Now() + grace);
  stopping_ = true;
  for (const auto& process : processes_) {
    if (process->child.pid <= 0 || process->asked) continue;
    if (process->spec.ends_with_others && !all) continue;
    process->asked = true;
    if (process->child.in >= 0) {
      CloseInput(process.get());
    } else {
      PassOnSignal(process->child.pid, signal);
    }
  }
}

void ProcessLauncher::SignalAll(int signal) {
  for (const auto& process : processes_) {
    if (process->child.pid > 0) SignalGroup(process->child.pid, signal);
  }
}

void ProcessLauncher::CheckDeadlines() {
  const absl::Time now = clock_.Now();
  if (now >= kill_at_) {
    kill_at_ = absl::InfiniteFuture();
    SignalAll(SIGKILL);
  } else if (now >= stop_at_) {
    Stop();
  }
}

}  // namespace shoal
