#include "launch/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/ignored_signal.h"
#include "base/stop_signals.h"

namespace shoal {
namespace {

absl::Status ErrnoStatus(const std::string& what, int error) {
  const std::string message = absl::StrCat(what, ": ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES) return absl::PermissionDeniedError(message);
  return absl::InternalError(message);
}

// Pipes of one child. The destructor closes those that are still open.
struct Pipes {
  int in[2] = {-1, -1};  // only if there is input
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  int failure[2] = {-1, -1};  // carries errno if exec fails

  // The input is written before the child exists: the write cannot fail because
  // the child has closed the pipe.
  bool Open(absl::string_view input) {
    if (!input.empty() && (pipe2(in, O_CLOEXEC) != 0 ||
                           write(in[1], input.data(), input.size()) !=
                               static_cast<ssize_t>(input.size()))) {
      return false;
    }
    return pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0 &&
           pipe2(failure, O_CLOEXEC) == 0;
  }
  ~Pipes() {
    for (int* ends : {in, out, err, failure}) {
      Close(&ends[0]);
      Close(&ends[1]);
    }
  }
  static void Close(int* fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  static int Release(int* fd) {
    const int released = *fd;
    *fd = -1;
    return released;
  }
};

// Runs in the child between fork and exec: only async-signal-safe calls.
// `keep_ignored`: a signal that stays ignored; 0: none.
[[noreturn]] void ExecChild(char* const* argv, Pipes* pipes, pid_t parent,
                            int keep_ignored) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before prctl.
  if (getppid() != parent) _exit(127);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal == keep_ignored) continue;
    struct sigaction by_default = {};
    by_default.sa_handler = SIG_DFL;
    sigaction(signal, &by_default, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = pipes->in[0] >= 0 ? pipes->in[0]
                                      : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input >= 0) dup2(input, STDIN_FILENO);
  dup2(pipes->out[1], STDOUT_FILENO);
  dup2(pipes->err[1], STDERR_FILENO);
  execv(argv[0], argv);
  const int error = errno;
  // Nothing is left to do if the parent cannot be told.
  [[maybe_unused]] const ssize_t told =
      write(pipes->failure[1], &error, sizeof(error));
  _exit(127);
}

}  // namespace

std::string ProcessExit::Describe() const {
  if (signal == 0) return absl::StrCat("exited with code ", code);
  const char* name = sigabbrev_np(signal);
  return absl::StrCat("was killed by ", name == nullptr
                                            ? absl::StrCat("signal ", signal)
                                            : absl::StrCat("SIG", name));
}

absl::StatusOr<ChildProcess> StartChild(const std::vector<std::string>& argv,
                                        absl::string_view input) {
  std::vector<char*> args;
  for (const std::string& arg : argv) {
    args.push_back(const_cast<char*>(arg.c_str()));
  }
  args.push_back(nullptr);
  Pipes pipes;
  if (!pipes.Open(input)) {
    return ErrnoStatus("cannot make pipes for a process", errno);
  }
  const pid_t parent = getpid();
  const int keep_ignored = IsIgnored(SIGHUP) ? SIGHUP : 0;
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus("cannot start a process", errno);
  if (pid == 0) ExecChild(args.data(), &pipes, parent, keep_ignored);
  // The parent does this too, so that the group exists before the first signal
  // to it.
  setpgid(pid, pid);
  Pipes::Close(&pipes.in[0]);
  Pipes::Close(&pipes.out[1]);
  Pipes::Close(&pipes.err[1]);
  Pipes::Close(&pipes.failure[1]);
  int error = 0;
  ssize_t read_bytes;
  do {
    read_bytes = read(pipes.failure[0], &error, sizeof(error));
  } while (read_bytes < 0 && errno == EINTR);
  if (read_bytes > 0) {
    waitpid(pid, nullptr, 0);
    return ErrnoStatus(absl::StrCat("cannot execute ", argv[0]), error);
  }
  if (pipes.in[1] >= 0) fcntl(pipes.in[1], F_SETFL, O_NONBLOCK);
  fcntl(pipes.out[0], F_SETFL, O_NONBLOCK);
  fcntl(pipes.err[0], F_SETFL, O_NONBLOCK);
  return ChildProcess{pid, Pipes::Release(&pipes.in[1]),
                      Pipes::Release(&pipes.out[0]),
                      Pipes::Release(&pipes.err[0])};
}

void PassOnSignal(pid_t pid, int signal) {
  sigval value = {};
  value.sival_int = StopSignals::kPassedOn;
  sigqueue(pid, signal, value);
}

void SignalGroup(pid_t pid, int signal) { kill(-pid, signal); }

bool ReapChild(pid_t pid, ProcessExit* exit) {
  // The group is killed before its leader is reaped: until then the kernel
  // gives the group's number to no other process.
  siginfo_t info = {};
  if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return false;
  }
  kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  *exit = {};
  if (WIFSIGNALED(status)) exit->signal = WTERMSIG(status);
  if (WIFEXITED(status)) exit->code = WEXITSTATUS(status);
  return true;
}

}  // namespace shoal
