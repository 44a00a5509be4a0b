#ifndef SHOAL_CLUSTER_AGREEMENT_H_
#define SHOAL_CLUSTER_AGREEMENT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/id_kind.h"
#include "core/registration.h"

namespace shoal {

// Checks of the settings that all processes of a job must share. Each check
// returns OK or a FAILED_PRECONDITION that names the first difference, the
// value of each of the two processes, and what to do. `who` and `other` name
// the processes.

// "--name differs: …": the first flag, by name, in which two canonical texts
// differ, with both values. Empty if the texts are equal. Texts of releases
// that had other names for flags are compared by the names that flags have now
// (core/config_text.h).
std::string FirstDifference(absl::string_view who, absl::string_view config,
                            absl::string_view other,
                            absl::string_view other_config);

// Compares two canonical texts (RegisterRequest::config). The error is made of
// FirstDifference.
absl::Status CheckSameConfig(absl::string_view who, absl::string_view config,
                             absl::string_view other,
                             absl::string_view other_config);

// Compares two lists of files; `kind` is "training" or "evaluation". The error
// names the first file that one list lacks, or that differs in its size or in
// its first bytes, and ends with `rule`: why the lists must be equal.
absl::Status CheckSameSources(absl::string_view kind, absl::string_view who,
                              const std::vector<SourceInfo>& sources,
                              absl::string_view other,
                              const std::vector<SourceInfo>& other_sources,
                              absl::string_view rule);

// Compares two kinds of ids. `who` and `other` end with the verb, as in "worker
// 1 reads" or "the checkpoint /m/ckpt-00000000004 was trained on". OK if a kind
// is unknown.
absl::Status CheckSameIds(absl::string_view who, IdKind ids,
                          absl::string_view other, IdKind other_ids);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_AGREEMENT_H_
