#ifndef SHOAL_CORE_CONFIG_TEXT_H_
#define SHOAL_CORE_CONFIG_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// A canonical config text (RegisterRequest::config) with the names that its
// flags have now, sorted by name. Texts of older releases, in checkpoints and
// from processes of those releases, have a former name where a flag was
// renamed:
//
//   former name   name now     both mean
//   dropout       keep_prob    the chance to keep a unit, by hidden layer
//
// Release 0.5.0 also wrote a chance of 1 for each layer as it was given: now
// the list is empty if all units are kept.
//
// A text in which every flag has its present name and form is returned as it
// is.
std::string ConfigInPresentNames(absl::string_view config);

// The value of the flag `name` in a canonical config text; "" if the text does
// not have the flag. Refers to `config`.
absl::string_view ConfigValue(absl::string_view config, absl::string_view name);

}  // namespace shoal

#endif  // SHOAL_CORE_CONFIG_TEXT_H_
