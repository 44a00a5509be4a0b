#ifndef SHOAL_CORE_MODEL_NAMES_H_
#define SHOAL_CORE_MODEL_NAMES_H_

namespace shoal {

// What a model is to the flags.
struct ModelName {
  const char* name;
  const char* note = "";  // --help has it in parentheses after the name
  // True if the trained model must not depend on the order in which pushes
  // arrive, so that flags that would let it depend on this order, or would
  // round its arithmetic, are refused.
  bool exact = false;
};

// The values of --model, in the order in which --help lists them. Each is a row
// of the table in models/model_table.cc, which does not compile if the two
// lists differ. The names are here so that the flags, which do not depend on
// models/, can list them.
inline constexpr ModelName kModelNames[] = {
    {"deepfm"},
    {"fm", "factorisation machine"},
    {"lr", "logistic regression"},
    {"linear_probe", "for tests", /*exact=*/true}};

// Models that are planned. The flag refuses them as not there yet.
inline constexpr const char* kPlannedModelNames[] = {"wide_deep"};

}  // namespace shoal

#endif  // SHOAL_CORE_MODEL_NAMES_H_
