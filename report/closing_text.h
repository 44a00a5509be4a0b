#ifndef SHOAL_REPORT_CLOSING_TEXT_H_
#define SHOAL_REPORT_CLOSING_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cluster/job_report.h"
#include "report/compute_facts.h"

namespace shoal {

// The lines that a job prints at its end, for people: the ledger's line, AUC,
// speed, staleness and the balance of the shards. Empty for a job that failed
// before its first lease. `bad_rows_dir` is the directory into which workers
// write bad rows (JobFlags::QuarantineDir); empty: they write none. If the
// compute was replayed, a line says so, and no processor time is printed.
std::vector<std::string> ClosingText(const JobReport& report,
                                     absl::string_view bad_rows_dir = "",
                                     const ComputeFacts& compute = {});

}  // namespace shoal

#endif  // SHOAL_REPORT_CLOSING_TEXT_H_
