#include "cluster/job_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/agreement.h"

namespace shoal {
namespace {

// A kind of files, for messages.
struct Kind {
  absl::string_view name;
  absl::string_view flag;
};
constexpr Kind kTrain = {"training", "--data_scope"};
constexpr Kind kEval = {"evaluation", "--val_data_scope"};

// A worker without the name of a host is on a host of its own.
std::string HostName(const RegisterRequest& worker) {
  return worker.host.empty() ? ProcessName(Role::kWorker, worker.index)
                             : worker.host;
}

std::string Rule(const Kind& kind, bool by_host, const std::string& host) {
  if (!by_host) {
    return absl::StrCat("every worker must read the same ", kind.name,
                        " files; if each host has its own, give ", kind.flag,
                        "=host");
  }
  return absl::StrCat("both are on host ", host, ", and with ", kind.flag,
                      "=host the workers of a host must read the same files; "
                      "--worker_hosts says which host a worker is on");
}

// "worker 1 (first file: day_0.tsv) reads", for CheckSameIds.
std::string Reads(const RegisterRequest& worker) {
  const std::vector<SourceInfo>& files = worker.train_sources.empty()
                                             ? worker.eval_sources
                                             : worker.train_sources;
  return absl::StrCat(ProcessName(Role::kWorker, worker.index),
                      " (first file: ", files[0].name, ") reads");
}

void Append(const std::vector<SourceInfo>& files, FileList* list) {
  list->files.insert(list->files.end(), files.begin(), files.end());
}

}  // namespace

std::string FileScopes::Flags() const {
  return absl::StrCat(train_by_host ? "--data_scope=host" : "",
                      train_by_host && eval_by_host ? " and " : "",
                      eval_by_host ? "--val_data_scope=host" : "");
}

uint32_t FileList::LocalIndex(uint32_t source) const {
  uint32_t first = source;
  while (first > 0 && !hosts.empty() && hosts[first - 1] == hosts[source]) {
    --first;
  }
  return hosts.empty() ? source : source - first;
}

absl::Status JobFiles::Check(const RegisterRequest& worker) const {
  const std::string who = ProcessName(Role::kWorker, worker.index);
  if (worker.train_sources.empty() && worker.eval_sources.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(who,
                     " lists no file to train or evaluate on; check "
                     "--training_data_dir and --val_data_dir there"));
  }
  const std::string host = HostName(worker);
  if (pinned_ && scopes_.any() && numbers_.count(host) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the job began without the files of ", who,
        worker.host.empty() ? "" : absl::StrCat(" on host ", host), "; with ",
        scopes_.Flags(), " every host must be there at the start"));
  }
  const auto check = [&](const Kind& kind, bool by_host, const Lists& lists,
                         const std::vector<SourceInfo>& files) {
    const auto it = lists.find(by_host ? host : "");
    if (it == lists.end()) return absl::OkStatus();
    return CheckSameSources(kind.name, who, files, it->second.who,
                            it->second.files, Rule(kind, by_host, host));
  };
  SHOAL_RETURN_IF_ERROR(check(kTrain, scopes_.train_by_host, train_lists_,
                              worker.train_sources));
  SHOAL_RETURN_IF_ERROR(
      check(kEval, scopes_.eval_by_host, eval_lists_, worker.eval_sources));
  return CheckSameIds(Reads(worker), worker.ids, ids_.from, ids_.kind);
}

void JobFiles::Add(const RegisterRequest& worker) {
  SHOAL_DCHECK(Check(worker).ok());
  const std::string who = ProcessName(Role::kWorker, worker.index);
  const std::string host = HostName(worker);
  host_of_[worker.index] = host;
  if (ids_.kind == IdKind::kUnknown) ids_ = {worker.ids, Reads(worker)};
  if (pinned_) {
    const auto number = static_cast<int>(host_names_.size());
    if (numbers_.try_emplace(host, number).second) host_names_.push_back(host);
    return;
  }
  train_lists_.try_emplace(scopes_.train_by_host ? host : "",
                           Listed{who, worker.train_sources});
  eval_lists_.try_emplace(scopes_.eval_by_host ? host : "",
                          Listed{who, worker.eval_sources});
}

void JobFiles::ForgetUnlessPinned() {
  if (pinned_) return;
  train_lists_.clear();
  eval_lists_.clear();
  host_of_.clear();
  ids_ = trained_;
}

void JobFiles::Pin() {
  pinned_ = true;
  for (const auto& [worker, host] : host_of_) {
    const auto number = static_cast<int>(host_names_.size());
    if (!numbers_.try_emplace(host, number).second) continue;
    host_names_.push_back(host);
    if (scopes_.train_by_host) {
      Append(train_lists_.at(host).files, &train_);
      train_.hosts.resize(train_.files.size(), number);
    }
    if (scopes_.eval_by_host) {
      Append(eval_lists_.at(host).files, &eval_);
      eval_.hosts.resize(eval_.files.size(), number);
    }
  }
  if (host_of_.empty()) return;
  if (!scopes_.train_by_host) Append(train_lists_.at("").files, &train_);
  if (!scopes_.eval_by_host) Append(eval_lists_.at("").files, &eval_);
}

int JobFiles::HostOf(int worker) const {
  const auto it = host_of_.find(worker);
  SHOAL_DCHECK(pinned_ && it != host_of_.end());
  return numbers_.at(it->second);
}

}  // namespace shoal
