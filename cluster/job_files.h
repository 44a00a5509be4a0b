#ifndef SHOAL_CLUSTER_JOB_FILES_H_
#define SHOAL_CLUSTER_JOB_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/id_kind.h"
#include "core/registration.h"

namespace shoal {

// The kinds of files that each host has for itself. Files of the other kind are
// shared: every worker can read all of them.
struct FileScopes {
  bool train_by_host = false;
  bool eval_by_host = false;

  bool any() const { return train_by_host || eval_by_host; }
  // The flags that say so: "--data_scope=host".
  std::string Flags() const;
};

// The files of one purpose, in the order of the job's sources.
struct FileList {
  std::vector<SourceInfo> files;
  // By file: number of the only host that has the file (JobFiles::HostOf).
  // Empty: every worker has all files.
  std::vector<int> hosts;

  // Index of files[source] in the lists of the workers that have it.
  uint32_t LocalIndex(uint32_t source) const;
};

// The kind of ids that a job's model knows already.
struct KnownIds {
  IdKind kind = IdKind::kUnknown;
  // Where the kind is from, with a verb, as in CheckSameIds (agreement.h).
  std::string from;
};

// The files that a job reads, as its workers list them when they register.
// Shared files can be read by every worker, so all lists of them must agree.
// Files by host can be read by the workers of one host alone, even if another
// host has files of the same names; the lists of a host's workers must agree.
// Workers are on one host if they register the same name of a host
// (RegisterRequest::host). Thread-compatible.
class JobFiles {
 public:
  // `trained`: the ids that the checkpoint was trained on from which the job
  // begins, if any.
  explicit JobFiles(FileScopes scopes, KnownIds trained = {})
      : scopes_(scopes), trained_(std::move(trained)), ids_(trained_) {}

  // Checks a worker's lists. Errors:
  //   FAILED_PRECONDITION  a list differs from that of another worker which
  //                        reads the same files, or of an earlier life of this
  //                        worker (the file is named), or the job began without
  //                        the files of this worker's host, or the files have
  //                        another kind of ids than those of other workers or
  //                        of the checkpoint (CheckSameIds)
  //   INVALID_ARGUMENT     the lists are empty
  absl::Status Check(const RegisterRequest& worker) const;
  // Adds a worker's lists. REQUIRES: Check was OK.
  void Add(const RegisterRequest& worker);
  // No worker is left. Lists that are not pinned are forgotten, so that a
  // worker that was started with wrong files can be started again.
  void ForgetUnlessPinned();

  // From now on the lists are the job's. Fills train(), eval() and
  // host_names(). Hosts are numbered from 0 in the order of their first
  // workers, and files by host are in the order of their hosts.
  void Pin();
  bool pinned() const { return pinned_; }
  const FileScopes& scopes() const { return scopes_; }
  const FileList& train() const { return train_; }
  const FileList& eval() const { return eval_; }
  // The kind of ids of the job's rows, as far as it is known.
  IdKind ids() const { return ids_.kind; }
  // The names of the hosts, by number.
  const std::vector<std::string>& host_names() const { return host_names_; }
  // Number of the worker's host. REQUIRES: Pin was called, and the worker was
  // added.
  int HostOf(int worker) const;

 private:
  struct Listed {
    std::string who;
    std::vector<SourceInfo> files;
  };
  // By name of the host; shared files have one list, under "".
  using Lists = std::map<std::string, Listed>;

  FileScopes scopes_;
  KnownIds trained_;
  KnownIds ids_;  // those of the checkpoint, or of the first worker to tell
  bool pinned_ = false;
  Lists train_lists_;
  Lists eval_lists_;
  std::map<int, std::string> host_of_;  // by worker: the name of its host
  std::map<std::string, int> numbers_;  // by name of the host
  std::vector<std::string> host_names_;
  FileList train_;
  FileList eval_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_JOB_FILES_H_
