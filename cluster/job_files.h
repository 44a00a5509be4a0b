#ifndef SHOAL_CLUSTER_JOB_FILES_H_
#define SHOAL_CLUSTER_JOB_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/registration.h"

namespace shoal {

// The files of one purpose, in the order of the job's sources.
struct FileList {
  std::vector<SourceInfo> files;
  // By file: index of the one worker that has it. Empty: every worker has all.
  std::vector<int> hosts;

  // Which of its worker's own files files[source] is.
  uint32_t LocalIndex(uint32_t source) const;
};

// Which files a job reads, as its workers list them when they register. Shared:
// every worker can read all, so all lists must agree. By host: a worker's files
// are its own, also where another one's have the same names, and only a worker
// of its index can read them. Thread-compatible.
class JobFiles {
 public:
  explicit JobFiles(bool by_host) : by_host_(by_host) {}

  // FAILED_PRECONDITION: the lists are not those of the other workers, of an
  // earlier life of this one, or come after the job began without them.
  // INVALID_ARGUMENT: there is no file at all.
  absl::Status Check(const RegisterRequest& worker) const;
  // REQUIRES: checked.
  void Add(const RegisterRequest& worker);
  // No worker is left. While the lists are not pinned they are forgotten, so
  // that a worker that was started wrongly can be started again.
  void ForgetUnlessPinned();

  // From now on the lists are the job's: by host, in the order of the workers'
  // indices. Fills the two below.
  void Pin();
  const FileList& train() const { return train_; }
  const FileList& eval() const { return eval_; }

 private:
  struct Listed {
    std::string who;
    std::vector<SourceInfo> train;
    std::vector<SourceInfo> eval;
  };

  // By host, each worker's list stands under its index; otherwise the first
  // under 0.
  int KeyOf(const RegisterRequest& worker) const {
    return by_host_ ? worker.index : 0;
  }

  bool by_host_;
  bool pinned_ = false;
  std::map<int, Listed> lists_;
  FileList train_;
  FileList eval_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_JOB_FILES_H_
