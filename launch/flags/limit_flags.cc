#include "launch/flags/limit_flags.h"

namespace shoal {

void LimitFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Limits");
  rows->Add(kAllCommands, Canonical::kNo,
            {"max_ps_bytes", &max_ps_bytes,
             "Most bytes of rows, slots and dense blocks that a parameter "
             "server may hold; 0: no limit. Calls in progress need memory on "
             "top of this (docs/operations.md: 4 GiB or so at most).",
             ByteRange{}});
  rows->Add(kOverNetwork, Canonical::kInJob,
            {"max_message_bytes", &max_message_bytes,
             "Largest message that a process sends or accepts.",
             ByteRange{1 << 20, int64_t{2047} << 20}});
}

}  // namespace shoal
