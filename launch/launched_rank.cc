#include "launch/launched_rank.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "launch/host_list.h"

namespace shoal {
namespace {

// `cure`: what to do about the flag, as "leave --task_index out".
absl::Status Contradiction(const LaunchedRank& launched,
                           absl::string_view flag,
                           absl::string_view environment,
                           absl::string_view cure) {
  return absl::InvalidArgumentError(absl::StrCat(
      flag, " and ", environment, " contradict each other: ", cure,
      ". If this process is not one of those that the launcher has started for "
      "the job, start it with `env -u ",
      absl::StrJoin(launched.rank_variables, " -u "), " shoal-worker …`"));
}

// The hosts of all workers must be where the launcher has started them.
absl::Status CheckHosts(const LaunchedRank& launched,
                        const std::string& worker_hosts) {
  std::vector<std::string> hosts;
  for (absl::string_view entry : absl::StrSplit(worker_hosts, ',')) {
    hosts.push_back(HostOfEntry(entry));
  }
  if (launched.size.has_value() &&
      hosts.size() != static_cast<size_t>(launched.size->value)) {
    return Contradiction(
        launched,
        absl::StrCat("--worker_hosts with ",
                     hosts.size(), hosts.size() == 1 ? " entry" : " entries"),
        launched.size->Text(),
        "each worker has an entry; leave --worker_hosts out, and give "
        "--coordinator");
  }
  const auto own = static_cast<size_t>(launched.rank.value);
  if (own >= hosts.size()) return absl::OkStatus();  // the size is not known
  constexpr absl::string_view kOrder =
      "the entries must be in the order in which the launcher fills the "
      "hosts, or left out";
  const auto here = std::count(hosts.begin(), hosts.end(), hosts[own]);
  if (launched.local_size.has_value() && here != launched.local_size->value) {
    return Contradiction(
        launched,
        absl::StrCat("--worker_hosts with ",
                     Counted(static_cast<uint64_t>(here), "worker"), " on ",
                     hosts[own]),
        launched.local_size->Text(), kOrder);
  }
  const auto before =
      std::count(hosts.begin(), hosts.begin() + launched.rank.value,
                 hosts[own]);
  if (launched.local_rank.has_value() &&
      before != launched.local_rank->value) {
    return Contradiction(
        launched,
        absl::StrCat("--worker_hosts with ", before, " of the workers of ",
                     hosts[own], " before this one"),
        launched.local_rank->Text(), kOrder);
  }
  return absl::OkStatus();
}

}  // namespace

std::string LauncherNumber::Text() const {
  return absl::StrCat(variable, "=", value);
}

absl::Status CheckLaunchedRank(const LaunchedRank& launched,
                               const PlaceFlags& flags) {
  if (flags.task_index != launched.rank.value) {
    return Contradiction(
        launched, absl::StrCat("--task_index=", flags.task_index),
        launched.rank.Text(), "the index is the rank; leave --task_index out");
  }
  if (!flags.worker_hosts.empty()) {
    SHOAL_RETURN_IF_ERROR(CheckHosts(launched, flags.worker_hosts));
  }
  const bool other_hosts =
      launched.size.has_value() && launched.local_size.has_value() &&
      launched.local_size->value < launched.size->value;
  if (other_hosts && IsLoopbackHost(HostOfEntry(flags.coordinator))) {
    return Contradiction(
        launched, absl::StrCat("--coordinator=", flags.coordinator),
        absl::StrCat(launched.local_size->Text(), " of ",
                     launched.size->Text()),
        "workers of other hosts cannot reach a loopback address; give the "
        "name of the host of rank 0");
  }
  return absl::OkStatus();
}

}  // namespace shoal
