#include "launch/flags/limit_flags.h"

namespace shoal {

void LimitFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Limits");
  rows->Add(kAllCommands, Canonical::kNo,
            {"max_ps_bytes", &max_ps_bytes,
             "Rows, slots and dense blocks that a parameter server may "
             "hold; 0: no limit. Calls that are under way come on top "
             "(docs/operations.md: some 4 GiB at most).",
             ByteRange{}});
  rows->Add(kOverNetwork, Canonical::kInJob,
            {"max_message_bytes", &max_message_bytes,
             "Largest message sent or taken.",
             ByteRange{1 << 20, int64_t{2047} << 20}});
}

}  // namespace shoal
