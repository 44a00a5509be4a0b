#include "cluster/job_files.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/agreement.h"

namespace shoal {
namespace {

void Append(const std::vector<SourceInfo>& files, int host, FileList* list) {
  for (const SourceInfo& file : files) {
    list->files.push_back(file);
    list->hosts.push_back(host);
  }
}

}  // namespace

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
  const auto it = lists_.find(KeyOf(worker));
  if (it != lists_.end()) {
    const Listed& listed = it->second;
    SHOAL_RETURN_IF_ERROR(CheckSameSources(
        "training", who, worker.train_sources, listed.who, listed.train));
    return CheckSameSources("evaluation", who, worker.eval_sources, listed.who,
                            listed.eval);
  }
  if (pinned_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the job began without the files of ", who,
        "; with --data_scope=host every worker must be there at the start"));
  }
  return absl::OkStatus();
}

void JobFiles::Add(const RegisterRequest& worker) {
  SHOAL_DCHECK(Check(worker).ok());
  lists_.try_emplace(KeyOf(worker),
                     Listed{ProcessName(Role::kWorker, worker.index),
                            worker.train_sources, worker.eval_sources});
}

void JobFiles::ForgetUnlessPinned() {
  if (!pinned_) lists_.clear();
}

void JobFiles::Pin() {
  pinned_ = true;
  for (const auto& [host, listed] : lists_) {
    Append(listed.train, host, &train_);
    Append(listed.eval, host, &eval_);
  }
  if (!by_host_) {
    train_.hosts.clear();
    eval_.hosts.clear();
  }
}

}  // namespace shoal
