#ifndef SHOAL_CLUSTER_AGREEMENT_H_
#define SHOAL_CLUSTER_AGREEMENT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/registration.h"

namespace shoal {

// What every process of a job must be told alike. Each check returns OK or a
// FAILED_PRECONDITION that says which thing differs first, what each of the
// two said and what to do. `who` and `other` name the processes.

// "--name differs: …": the flag by which two canonical texts differ first, with
// both values; empty: they do not.
std::string FirstDifference(absl::string_view who, absl::string_view config,
                            absl::string_view other,
                            absl::string_view other_config);

// Two canonical texts, as RegisterRequest::config. The flag that differs first
// by name is named with both values.
absl::Status CheckSameConfig(absl::string_view who, absl::string_view config,
                             absl::string_view other,
                             absl::string_view other_config);

// Two lists of files; `kind` is "training" or "evaluation". The first file
// that one list lacks, or that differs in size or in its first bytes, is named.
absl::Status CheckSameSources(absl::string_view kind, absl::string_view who,
                              const std::vector<SourceInfo>& sources,
                              absl::string_view other,
                              const std::vector<SourceInfo>& other_sources);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_AGREEMENT_H_
