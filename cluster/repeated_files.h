#ifndef SHOAL_CLUSTER_REPEATED_FILES_H_
#define SHOAL_CLUSTER_REPEATED_FILES_H_

#include <string>
#include <vector>

#include "cluster/job_files.h"

namespace shoal {

// Warnings about files by host that several hosts have alike, by name, size and
// first bytes: copies of one file, whose rows would count once for each host. A
// warning names the first such file, two of its hosts and the flag to change.
// At most one warning for each kind of files; files without a byte are left
// out. REQUIRES: files.Pin() was called.
std::vector<std::string> RepeatedFileWarnings(const JobFiles& files);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_REPEATED_FILES_H_
