#include "tests/harness/test_paths.h"

namespace shoal {

std::string SourceDir() { return SHOAL_SOURCE_DIR; }

std::string TestDataDir() { return SHOAL_TEST_DATA_DIR; }

}  // namespace shoal
