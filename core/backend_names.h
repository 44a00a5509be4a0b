#ifndef SHOAL_CORE_BACKEND_NAMES_H_
#define SHOAL_CORE_BACKEND_NAMES_H_

namespace shoal {

// The values of --backend, in the order in which --help lists them. "auto" is
// the fastest backend that works on the machine. Each other name is a row of
// the table in models/backend/backend_table.cc, which does not compile if the
// two lists differ. The names are here so that the flags, which do not depend
// on models/, can list them.
inline constexpr const char* kBackendNames[] = {"auto", "reference", "onednn"};

// Backends that are planned. The flag refuses them as not there yet.
inline constexpr const char* kPlannedBackendNames[] = {"cuda"};

}  // namespace shoal

#endif  // SHOAL_CORE_BACKEND_NAMES_H_
