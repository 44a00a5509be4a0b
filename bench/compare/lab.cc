#include "bench/compare/lab.h"

#include <dirent.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "bench/compare/bare_stream.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/tool_command.h"

namespace shoal {
namespace {

constexpr char kPrefix[] = "shoal-lab";
constexpr char kNamespaces[] = "/run/netns";
constexpr char kNet[] = "10.213.61";  // private to the namespaces
constexpr int kHostsMost = 250;
// Links that are tried at once have at most so many bit/s together.
constexpr double kTogether = 1e9;
constexpr char kQueue[] = "2500000";  // bytes that wait for the link
constexpr absl::Duration kStreamWindow = absl::Milliseconds(500);
constexpr int kStreamTries = 4;  // of a link whose first stream was off

// When the process began, in ticks since the machine did; "": it does not run.
std::string StartOf(int pid) {
  constexpr int kFieldsBefore = 19;  // from the state on
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');  // a name may have anything in it
  if (name_end == std::string::npos) return "";
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int i = 0; i <= kFieldsBefore; ++i) fields >> field;
  return field;
}

// Names the process, by its number and start, and a lab of it: a group that the
// kernel still holds may outlive its lab.
std::string NewPrefix() {
  static std::atomic<int> labs{0};
  return absl::StrCat(kPrefix, getpid(), "-", StartOf(getpid()), "-", labs++,
                      "-");
}

// As `ip netns del`, without a process.
void RemoveNamespace(const std::string& name) {
  const std::string path = absl::StrCat(kNamespaces, "/", name);
  umount2(path.c_str(), MNT_DETACH);
  unlink(path.c_str());
}

std::vector<std::string> NamespacesWith(const std::string& prefix) {
  std::vector<std::string> names;
  DIR* const directory = opendir(kNamespaces);
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (absl::StartsWith(entry->d_name, prefix)) {
      names.emplace_back(entry->d_name);
    }
  }
  closedir(directory);
  return names;
}

// True for a name of a lab whose process does not run any more, though another
// process may have its number by now.
bool IsLeftover(absl::string_view name) {
  int pid = 0;
  if (!absl::ConsumePrefix(&name, kPrefix)) return false;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '-');
  return parts.size() > 2 && absl::SimpleAtoi(parts[0], &pid) &&
         StartOf(pid) != parts[1];
}

absl::Status Ip(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ip");
  return RunTool(arguments);
}

// What tbf lets through at once. It is little more than the largest packet, so
// that an idle link does not save up rate. It is not less: tbf cuts a packet
// that it cannot let through at once into those of the wire, and it counts
// their headers. A fast link has more: what it carries while a timer is late,
// which it would lose otherwise.
int BurstOf(const HostShare& share) {
  constexpr double kLateSeconds = 130e-6;
  return share.packet_bytes +
         std::max(share.packet_bytes / 4,
                  static_cast<int>(share.bits_per_second / 8 * kLateSeconds));
}

// Limits what leaves a device.
absl::Status Limit(const std::string& name, const std::string& device,
                   const HostShare& share) {
  if (share.bits_per_second <= 0) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(Ip({"-n", name, "link", "set", device, "gso_max_size",
                            absl::StrCat(share.packet_bytes)}));
  return RunTool({"tc", "-n", name, "qdisc", "add", "dev", device, "root",
                  "tbf", "rate",
                  absl::StrFormat("%.0fbit", share.bits_per_second), "burst",
                  absl::StrCat(BurstOf(share)), "limit", kQueue});
}

}  // namespace

Lab::Lab(std::vector<HostShare> shares) : shares_(std::move(shares)) {
  const std::string prefix = NewPrefix();
  hub_ = absl::StrCat(prefix, "hub");
  for (int i = 0; i < size(); ++i) {
    names_.push_back(absl::StrCat(prefix, i));
    addresses_.push_back(absl::StrCat(kNet, ".", i + 1));
  }
}

absl::Status Lab::Check() {
  if (geteuid() != 0) {
    return absl::PermissionDeniedError(
        "hosts are played in network namespaces, which need root");
  }
  SHOAL_RETURN_IF_ERROR(RunTool({"tc", "-V"}));
  HostShare share;
  share.bits_per_second = 1e8;
  share.quota = share.period;
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Lab> lab, Make({share}));
  return lab->LimitCores();
}

int Lab::RemoveLeftovers() {
  int removed = 0;
  for (const std::string& name : NamespacesWith(kPrefix)) {
    if (!IsLeftover(name)) continue;
    RemoveNamespace(name);
    ++removed;
  }
  const auto place = ControlGroup::Find();
  if (!place.ok()) return removed;
  for (const std::string& name : ControlGroup::List(*place, kPrefix)) {
    if (!IsLeftover(name)) continue;
    removed += ControlGroup::Remove(*place, name);
  }
  return removed;
}

absl::StatusOr<std::unique_ptr<Lab>> Lab::Make(std::vector<HostShare> shares) {
  if (shares.size() > kHostsMost) {
    return absl::InvalidArgumentError(
        absl::StrCat("a lab has at most ", kHostsMost, " hosts"));
  }
  SHOAL_ASSIGN_OR_RETURN(const ControlGroup::Place place, ControlGroup::Find());
  std::unique_ptr<Lab> lab(new Lab(std::move(shares)));
  for (const std::string& name : lab->names_) {
    SHOAL_ASSIGN_OR_RETURN(ControlGroup group, ControlGroup::Make(place, name));
    SHOAL_RETURN_IF_ERROR(group.PutFirst());
    lab->groups_.push_back(std::move(group));
  }
  SHOAL_RETURN_IF_ERROR(lab->MakeNetwork());
  return lab;
}

Lab::~Lab() {
  for (const std::string& name : names_) RemoveNamespace(name);
  RemoveNamespace(hub_);
}

absl::Status Lab::MakeNetwork() {
  SHOAL_RETURN_IF_ERROR(Ip({"netns", "add", hub_}));
  SHOAL_RETURN_IF_ERROR(
      Ip({"-n", hub_, "link", "add", "br0", "type", "bridge"}));
  SHOAL_RETURN_IF_ERROR(Ip({"-n", hub_, "link", "set", "br0", "up"}));
  for (int i = 0; i < size(); ++i) SHOAL_RETURN_IF_ERROR(AddHost(i));
  return absl::OkStatus();
}

absl::Status Lab::AddHost(int host) {
  const std::string& name = names_[host];
  const std::string port = absl::StrCat("port", host);
  SHOAL_RETURN_IF_ERROR(Ip({"netns", "add", name}));
  SHOAL_RETURN_IF_ERROR(Ip({"-n", name, "link", "set", "lo", "up"}));
  SHOAL_RETURN_IF_ERROR(Ip({"-n", name, "link", "add", "eth0", "type", "veth",
                            "peer", "name", port, "netns", hub_}));
  SHOAL_RETURN_IF_ERROR(
      Ip({"-n", hub_, "link", "set", port, "master", "br0", "up"}));
  SHOAL_RETURN_IF_ERROR(Ip({"-n", name, "addr", "add",
                            absl::StrCat(addresses_[host], "/24"), "dev",
                            "eth0"}));
  SHOAL_RETURN_IF_ERROR(Limit(name, "eth0", shares_[host]));
  SHOAL_RETURN_IF_ERROR(Limit(hub_, port, shares_[host]));
  return Ip({"-n", name, "link", "set", "eth0", "up"});
}

std::string Lab::Hosts() const { return absl::StrJoin(addresses_, ","); }

HostCommand Lab::Command() const {
  return [this](const RemoteHost& host,
                const std::vector<std::string>& command) {
    const auto at = static_cast<size_t>(
        std::find(addresses_.begin(), addresses_.end(), host.address) -
        addresses_.begin());
    SHOAL_DCHECK(at < addresses_.size());
    std::vector<std::string> argv = {
        "/bin/sh", "-c",
        absl::StrCat("echo $$ > ",
                     ShellQuote(groups_[at].processes_file()),
                     " && exec ip netns exec \"$0\" \"$@\""),
        names_[at]};
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  };
}

absl::Status Lab::LimitCores() {
  for (int i = 0; i < size(); ++i) {
    SHOAL_RETURN_IF_ERROR(
        groups_[i].SetQuota(shares_[i].quota, shares_[i].period));
  }
  return absl::OkStatus();
}

absl::StatusOr<double> Lab::Stream(int from, int to) const {
  return MeasureStream(names_[from], names_[to], addresses_[to],
                       kStreamWindow);
}

absl::StatusOr<std::vector<double>> Lab::Streams() const {
  std::vector<absl::StatusOr<double>> found(size(), 0.0);
  std::vector<int> open(size());
  std::iota(open.begin(), open.end(), 0);
  while (!open.empty()) {
    std::vector<int> later;
    std::set<int> busy;  // hosts
    double sum = 0;
    // Threads, since a stream moves its thread into the namespaces.
    std::vector<std::thread> streams;
    for (int from : open) {
      const int to = (from + 1) % size();
      const double more = shares_[from].bits_per_second;
      if (!busy.empty() &&
          (busy.count(from) + busy.count(to) > 0 || sum + more > kTogether)) {
        later.push_back(from);
        continue;
      }
      busy.insert({from, to});
      sum += more;
      streams.emplace_back([&, from, to] { found[from] = Stream(from, to); });
    }
    for (std::thread& stream : streams) stream.join();
    open = std::move(later);
  }
  std::vector<double> rates;
  for (int i = 0; i < size(); ++i) {
    SHOAL_RETURN_IF_ERROR(found[i].status());
    rates.push_back(*found[i]);
    const double expected = StreamRate(shares_[i].bits_per_second);
    const auto error = [&](double rate) { return std::abs(rate - expected); };
    // A moment in which the machine stood still is no fault of the link.
    for (int again = 0;
         again < kStreamTries && error(rates[i]) > kLinkTolerance * expected;
         ++again) {
      SHOAL_ASSIGN_OR_RETURN(const double alone, Stream(i, (i + 1) % size()));
      if (error(alone) < error(rates[i])) rates[i] = alone;
    }
  }
  return rates;
}

}  // namespace shoal
