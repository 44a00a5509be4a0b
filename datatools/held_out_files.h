#ifndef SHOAL_DATATOOLS_HELD_OUT_FILES_H_
#define SHOAL_DATATOOLS_HELD_OUT_FILES_H_

#include <string>
#include <vector>

#include "base/file_system.h"
#include "worker/data/source_list.h"

namespace shoal {

// A warning if a job is to train on files that `shoal data prepare` or `shoal
// data gen` has written to validate or to test with (va-*, te-*, te.*), as it
// does where the directory of such data is given and not its tr-*. Empty if
// there are no such files. The warning has their number, the first of them, and
// what to give instead. A directory is known by the file that these commands
// leave beside the data.
//
// It is no error, because a model whose settings are chosen is often trained
// on all rows in the end.
std::string HeldOutFilesWarning(const FileSystem& files,
                                const std::vector<LocalSource>& train);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_HELD_OUT_FILES_H_
