#ifndef SHOAL_REPORT_MODE_STYLE_H_
#define SHOAL_REPORT_MODE_STYLE_H_

#include "absl/strings/string_view.h"

namespace shoal {

// The style of charts (ChartKey::style) that stands for a mode of training in
// all pictures: those of a report and those of a plan. `mode` is as --mode. A
// mode with backup workers has a style of its own, and so has a name that is
// not known.
int ModeStyle(absl::string_view mode, bool has_backup_workers = false);

}  // namespace shoal

#endif  // SHOAL_REPORT_MODE_STYLE_H_
