#ifndef SHOAL_CMD_CLOSING_TEXT_H_
#define SHOAL_CMD_CLOSING_TEXT_H_

#include <string>
#include <vector>

#include "cluster/job_report.h"

namespace shoal {

// What a job says at its end, for people: the ledger's line, AUC, speed,
// staleness, the balance of the shards; a line an entry. Nothing of a job that
// failed before its first lease.
std::vector<std::string> ClosingText(const JobReport& report);

}  // namespace shoal

#endif  // SHOAL_CMD_CLOSING_TEXT_H_
