#ifndef SHOAL_TESTS_HARNESS_TEST_PATHS_H_
#define SHOAL_TESTS_HARNESS_TEST_PATHS_H_

#include <string>

namespace shoal {

// The checkout that the tests were built from. Paths are compiled into one
// source, so that all others are the same in every clone for a compiler cache.
std::string SourceDir();

// The folder of the real data files, SHOAL_TEST_DATA_DIR of the CMake cache. It
// may not exist.
std::string TestDataDir();

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_TEST_PATHS_H_
