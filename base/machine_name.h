#ifndef SHOAL_BASE_MACHINE_NAME_H_
#define SHOAL_BASE_MACHINE_NAME_H_

#include <string>

namespace shoal {

// "h1 (boot 0c7a3f52)": the machine's host name, and the first digits of the
// kernel's boot id, which tell machines of one name apart. Equal for all
// processes of a machine until it boots again. Containers have host names of
// their own unless they share that of their machine; network namespaces do not.
// `root` is put before every path, for tests. Without a boot id: the host name.
std::string MachineName(const std::string& root = "");

}  // namespace shoal

#endif  // SHOAL_BASE_MACHINE_NAME_H_
