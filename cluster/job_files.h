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
  // By file: index of the only worker that has the file. Empty: every worker
  // has all files.
  std::vector<int> hosts;

  // Index of files[source] in the list of the worker that has it.
  uint32_t LocalIndex(uint32_t source) const;
};

// The files that a job reads, as its workers list them when they register. If
// files are shared, every worker can read all of them, so all lists must agree.
// If files are by host, only the worker of this index can read the files that
// it lists, even if another worker lists files of the same names.
// Thread-compatible.
class JobFiles {
 public:
  explicit JobFiles(bool by_host) : by_host_(by_host) {}

  // Checks a worker's lists. Errors:
  //   FAILED_PRECONDITION  the lists differ from those of the other workers or
  //                        of an earlier life of this worker, or the job began
  //                        without this worker's files
  //   INVALID_ARGUMENT     the lists are empty
  absl::Status Check(const RegisterRequest& worker) const;
  // Adds a worker's lists. REQUIRES: Check was OK.
  void Add(const RegisterRequest& worker);
  // No worker is left. Lists that are not pinned are forgotten, so that a
  // worker that was started with wrong files can be started again.
  void ForgetUnlessPinned();

  // From now on the lists are the job's. Fills train() and eval(); files by
  // host are in the order of the workers' indices.
  void Pin();
  const FileList& train() const { return train_; }
  const FileList& eval() const { return eval_; }

 private:
  struct Listed {
    std::string who;
    std::vector<SourceInfo> train;
    std::vector<SourceInfo> eval;
  };

  // The key in lists_: the worker's index if files are by host; otherwise 0,
  // for the first worker's lists.
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
