#ifndef SHOAL_DATATOOLS_BEST_POSSIBLE_AUC_H_
#define SHOAL_DATATOOLS_BEST_POSSIBLE_AUC_H_

#include <string>

#include "base/file_system.h"

namespace shoal {

// A line for people about the best AUC that any model can reach on these
// evaluation files. "" unless `shoal data gen` wrote the files and recorded
// that AUC beside them.
std::string BestPossibleAucLine(const FileSystem& files,
                                const std::string& val_data_dir);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_BEST_POSSIBLE_AUC_H_
