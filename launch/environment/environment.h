#ifndef SHOAL_LAUNCH_ENVIRONMENT_ENVIRONMENT_H_
#define SHOAL_LAUNCH_ENVIRONMENT_ENVIRONMENT_H_

#include <map>
#include <string>

namespace shoal {

// The environment variables of this process, as main found them: values by
// name.
using Environment = std::map<std::string, std::string>;

}  // namespace shoal

#endif  // SHOAL_LAUNCH_ENVIRONMENT_ENVIRONMENT_H_
