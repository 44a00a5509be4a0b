#ifndef SHOAL_BASE_CPU_NAME_H_
#define SHOAL_BASE_CPU_NAME_H_

#include <string>

namespace shoal {

// The name of this machine's processor, as in "AMD EPYC 9354P", from
// /proc/cpuinfo; empty if the file does not say it. `root` is put before the
// path, for tests.
std::string CpuName(const std::string& root = "");

}  // namespace shoal

#endif  // SHOAL_BASE_CPU_NAME_H_
