#ifndef SHOAL_LAUNCH_FLAGS_CONFIG_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_CONFIG_FLAGS_H_

#include <string>

#include "launch/flags/job_flag_rows.h"

namespace shoal {

// Files that flags are read from and written to.
struct ConfigFlags {
  std::string config;
  std::string write_config;  // never read from a file

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // There is no Validate(): no flag of this group limits another one. The
  // command that opens the files reports a file that it cannot read or write
  // (cmd/parse_command_line.h).
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_CONFIG_FLAGS_H_
