#include "launch/flags/config_flags.h"

namespace shoal {

void ConfigFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Config");
  rows->Add(kAllCommands, Canonical::kNo,
            {"config", &config,
             "File of flags in protobuf's text format (proto/config.proto, "
             "docs/operations.md). Flags of the command line win over it."},
            HandedDown::kNo);
  rows->Add(kAllCommands, Canonical::kNo,
            {"write_config", &write_config,
             "File into which all flags in force but this one are written, "
             "for --config. A file that exists is never overwritten."},
            HandedDown::kNo);
}

}  // namespace shoal
