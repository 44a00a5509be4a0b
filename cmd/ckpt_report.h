#ifndef SHOAL_CMD_CKPT_REPORT_H_
#define SHOAL_CMD_CKPT_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest.h"
#include "checkpoint/verify.h"

namespace shoal {

// The output of `shoal ckpt`, as text for people and as JSON for programs
// (docs/commands.md). Pure functions.

// 71,400,000 as "71.4 MB".
std::string MegabytesText(uint64_t bytes);

std::string CkptListText(const std::vector<CheckpointInfo>& checkpoints);
std::string CkptListJson(const std::vector<CheckpointInfo>& checkpoints);

std::string CkptShowText(const CheckpointInfo& checkpoint);
std::string CkptShowJson(const CheckpointInfo& checkpoint);

std::string CkptBalanceText(const CheckpointInfo& checkpoint);
std::string CkptBalanceJson(const CheckpointInfo& checkpoint);

// Each checkpoint with its report. The report of a checkpoint without a valid
// manifest is empty.
using VerifiedCheckpoints =
    std::vector<std::pair<CheckpointInfo, VerifyReport>>;
std::string CkptVerifyText(const VerifiedCheckpoints& verified);
std::string CkptVerifyJson(const VerifiedCheckpoints& verified);

}  // namespace shoal

#endif  // SHOAL_CMD_CKPT_REPORT_H_
