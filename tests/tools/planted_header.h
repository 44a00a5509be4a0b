#ifndef SHOAL_TESTS_TOOLS_PLANTED_HEADER_H_
#define SHOAL_TESTS_TOOLS_PLANTED_HEADER_H_

namespace shoal {

// Does not compile alone: <string> is missing.
inline std::string PlantedName() { return "planted"; }

}  // namespace shoal

#endif  // SHOAL_TESTS_TOOLS_PLANTED_HEADER_H_
