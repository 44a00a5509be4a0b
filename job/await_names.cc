#include "job/await_names.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "core/registration.h"
#include "rpc/address.h"

namespace shoal {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(500);
// A lookup that takes longer is named in the log while it blocks.
constexpr absl::Duration kQuiet = absl::Seconds(2);
constexpr size_t kNamesInText = 8;

// A name that is looked up, with the address of which it is a part.
struct Name {
  std::string host;
  NeededAddress needed;
};

absl::Status Look(const std::string& host, int flags) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error == 0) {
    freeaddrinfo(found);
    return absl::OkStatus();
  }
  return absl::UnavailableError(error == EAI_SYSTEM ? strerror(errno)
                                                    : gai_strerror(error));
}

// The reason for which no host can ever have this name, or "".
std::string WhyNever(absl::string_view host) {
  absl::ConsumeSuffix(&host, ".");
  if (host.size() > 253) return "a host name has at most 253 characters";
  const std::vector<absl::string_view> labels = absl::StrSplit(host, '.');
  for (const absl::string_view label : labels) {
    if (label.empty()) return "it has an empty part between its dots";
    if (label.size() > 63) {
      return "between two dots a host name has at most 63 characters";
    }
  }
  // A name may end in a number, as a container's does.
  if (labels.size() == 4 &&
      std::all_of(host.begin(), host.end(), [](unsigned char c) {
        return absl::ascii_isdigit(c) || c == '.';
      })) {
    return "it looks like an IP address, and is not a valid one";
  }
  return "";
}

// The names among the addresses, each once.
absl::StatusOr<std::vector<Name>> NamesOf(
    const std::vector<NeededAddress>& needed) {
  std::vector<Name> names;
  for (const NeededAddress& one : needed) {
    const absl::StatusOr<Address> address = ParseAddress(one.address);
    SHOAL_RETURN_IF_ERROR(Annotate(address.status(), one.owner));
    const std::string& host = address->host;
    const bool known =
        std::any_of(names.begin(), names.end(),
                    [&host](const Name& name) { return name.host == host; });
    if (known || Look(host, AI_NUMERICHOST).ok()) continue;
    const std::string never = WhyNever(host);
    if (!never.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the host name '", host, "' of ", one.owner,
                       " can never resolve: ", never, ": ", one.advice));
    }
    names.push_back({host, one});
  }
  return names;
}

// The lookups, on a thread of their own, and their results.
class Lookups {
 public:
  Lookups(const std::vector<Name>& names, NameLookup lookup, MainWait* wait)
      : lookup_(std::move(lookup)), wait_(wait) {
    for (const Name& name : names) {
      hosts_.push_back(name.host);
      results_.push_back(absl::UnavailableError("no answer yet"));
    }
  }

  // Returns when all names resolve, or after Abandon.
  void Run() {
    while (!Pass()) {
      MutexLock lock(&mu_);
      if (!abandoned_) wake_.WaitFor(&mu_, kPause);
    }
  }

  // From now on `wait` is not used.
  void Abandon() {
    MutexLock lock(&mu_);
    abandoned_ = true;
    wake_.SignalAll();
  }

  std::vector<absl::Status> results() const {
    MutexLock lock(&mu_);
    return results_;
  }
  bool tried_all() const {
    MutexLock lock(&mu_);
    return tried_all_;
  }

 private:
  // Returns true if there is nothing left to do.
  bool Pass() {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (NotNeeded(i)) continue;
      absl::Status result = lookup_(hosts_[i]);
      MutexLock lock(&mu_);
      if (abandoned_) return true;
      results_[i] = std::move(result);
      if (results_[i].ok()) wait_->Notify();
    }
    MutexLock lock(&mu_);
    if (abandoned_) return true;
    tried_all_ = true;
    wait_->Notify();
    return std::all_of(results_.begin(), results_.end(),
                       [](const absl::Status& result) { return result.ok(); });
  }

  bool NotNeeded(size_t i) const {
    MutexLock lock(&mu_);
    return abandoned_ || results_[i].ok();
  }

  const NameLookup lookup_;
  std::vector<std::string> hosts_;
  mutable Mutex mu_;
  CondVar wake_;
  MainWait* const wait_;  // used under mu_, and not once abandoned_
  bool abandoned_ ABSL_GUARDED_BY(mu_) = false;
  bool tried_all_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<absl::Status> results_ ABSL_GUARDED_BY(mu_);
};

// "'h2' of ps 1 (Name or service not known), 'h3' of ps 2 (…)", or "" if all
// resolve.
std::string UnresolvedText(const std::vector<Name>& names,
                           const std::vector<absl::Status>& results) {
  std::string text;
  size_t count = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (results[i].ok() || ++count > kNamesInText) continue;
    absl::StrAppend(&text, text.empty() ? "" : ", ", "'", names[i].host,
                    "' of ", names[i].needed.owner, " (", results[i].message(),
                    ")");
  }
  if (count > kNamesInText) {
    absl::StrAppend(&text, " and ", count - kNamesInText, " more");
  }
  return text;
}

const std::string& AdviceFor(const std::vector<Name>& names,
                             const std::vector<absl::Status>& results) {
  size_t i = 0;
  while (i + 1 < names.size() && results[i].ok()) ++i;
  return names[i].needed.advice;
}

std::string ToText(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(100)));
}

// Logs what becomes of the names, each news once.
class NameLog {
 public:
  NameLog(const std::vector<Name>& names, absl::Duration timeout,
          Logger* logger)
      : names_(names),
        timeout_(timeout),
        logger_(logger),
        waiting_(names.size(), false) {}

  void Waiting(const std::vector<absl::Status>& results) {
    if (said_) return;
    said_ = true;
    for (size_t i = 0; i < results.size(); ++i) waiting_[i] = !results[i].ok();
    logger_->Warn(absl::StrCat("waiting for a host name that does not resolve "
                               "yet: ",
                               UnresolvedText(names_, results),
                               "; tried again until --start_timeout (",
                               ToText(timeout_), "): ",
                               AdviceFor(names_, results)));
  }
  void Resolved(const std::vector<absl::Status>& results,
                absl::Duration elapsed) {
    for (size_t i = 0; i < results.size(); ++i) {
      if (!waiting_[i] || !results[i].ok()) continue;
      waiting_[i] = false;
      logger_->Info(absl::StrCat("the host name '", names_[i].host,
                                 "' resolves now, after ", ToText(elapsed)));
    }
  }

 private:
  const std::vector<Name>& names_;
  const absl::Duration timeout_;
  Logger* const logger_;
  bool said_ = false;
  std::vector<bool> waiting_;
};

}  // namespace

std::vector<NeededAddress> NeededAddresses(const JobFlags& flags) {
  if (!flags.HasServers()) {
    const std::string address = flags.CoordinatorAddress();
    const char* const advice =
        "check --coordinator and --worker_hosts, DNS and /etc/hosts";
    return {{address,
             flags.Leads() ? "this worker" : ProcessName(Role::kWorker, 0),
             advice}};
  }
  const std::vector<std::string> hosts =
      absl::StrSplit(flags.cluster.ps_hosts, ',');
  const bool worker = flags.command == Command::kWorker;
  const int own = flags.cluster.task_index;
  std::vector<NeededAddress> needed;
  for (int i = 0; i < static_cast<int>(hosts.size()); ++i) {
    if (!worker && (i > 0 || own == 0)) break;
    needed.push_back({hosts[i], ProcessName(Role::kPs, i),
                      "check --ps_hosts, DNS and /etc/hosts"});
  }
  if (worker) return needed;
  const std::string& listen = flags.cluster.listen;
  needed.push_back(
      {listen.empty() ? hosts[own] : listen, "this server",
       listen.empty() ? "check --ps_hosts, or give the address to listen on "
                        "with --listen, such as 0.0.0.0:2223"
                      : "check --listen"});
  return needed;
}

absl::Status SystemNameLookup(const std::string& host) {
  return Look(host, 0);
}

absl::Status AwaitNames(const std::vector<NeededAddress>& needed,
                        absl::Duration timeout, MainWait* wait, Logger* logger,
                        NameLookup lookup) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Name> names, NamesOf(needed));
  if (names.empty()) return absl::OkStatus();
  const RealClock clock;
  const absl::Time start = clock.Now();
  // Shared with the thread, which may outlive this call.
  const auto lookups =
      std::make_shared<Lookups>(names, std::move(lookup), wait);
  std::thread thread([lookups] { lookups->Run(); });
  NameLog log(names, timeout, logger);
  absl::Status ended;
  while (ended.ok()) {
    const absl::Duration elapsed = clock.Now() - start;
    const std::vector<absl::Status> results = lookups->results();
    const std::string unresolved = UnresolvedText(names, results);
    log.Resolved(results, elapsed);
    if (unresolved.empty()) {
      thread.join();
      return absl::OkStatus();
    }
    if (lookups->tried_all() || elapsed >= kQuiet) log.Waiting(results);
    if (elapsed >= timeout) {
      ended = absl::DeadlineExceededError(
          absl::StrCat("a host name does not resolve after ", ToText(elapsed),
                       " (--start_timeout): ", unresolved, ": ",
                       AdviceFor(names, results)));
      continue;
    }
    const MainWait::Event event = wait->Wait(
        std::min(timeout - elapsed + absl::Milliseconds(1), kPause));
    if (event.action == StopSignals::Action::kNone) continue;
    ended = absl::CancelledError(
        absl::StrCat("stopped by SIG", sigabbrev_np(event.signal),
                     " while it waited for a host name: ", unresolved));
  }
  lookups->Abandon();
  thread.detach();
  return ended;
}

}  // namespace shoal
