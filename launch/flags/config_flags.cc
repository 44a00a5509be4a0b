#include "launch/flags/config_flags.h"

namespace shoal {

void ConfigFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Config");
  rows->Add(kAllCommands, Canonical::kNo,
            {"config", &config,
             "A file of flags in protobuf's text format (proto/config.proto, "
             "docs/operations.md); flags given here win."},
            HandedDown::kNo);
  rows->Add(kAllCommands, Canonical::kNo,
            {"write_config", &write_config,
             "Write all flags in force to this file, for --config."},
            HandedDown::kNo);
}

}  // namespace shoal
