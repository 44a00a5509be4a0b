#include "report/mode_style.h"

namespace shoal {
namespace {

constexpr int kWithBackupWorkers = 5;
constexpr int kNotKnown = 7;

}  // namespace

int ModeStyle(absl::string_view mode, bool has_backup_workers) {
  if (has_backup_workers) return kWithBackupWorkers;
  int style = 0;
  for (const char* const known : {"async", "ssp", "sync", "ring", "hybrid"}) {
    if (mode == known) return style;
    ++style;
  }
  return kNotKnown;
}

}  // namespace shoal
