#ifndef SHOAL_CORE_CHOICE_H_
#define SHOAL_CORE_CHOICE_H_

#include <cstddef>
#include <string>

namespace shoal {

// A row in the table of a value that users choose by a word: the value, its
// word, and what --help says after the word, as in
//   inline constexpr Choice<JobTask> kJobTasks[] = {
//       {JobTask::kTrain, "train"},
//       {JobTask::kEvaluate, "eval", "scores --val_data_dir"}, …};
// There is one table for each enum. It stands beside the enum, in core/ if a
// flag of a job sets the enum, so that the flag (launch/choice.h) and the
// component that the value is for use the same table. The order of the rows is
// that of --help.
template <typename T>
struct Choice {
  T value;
  const char* word;
  const char* help = "";
};

// The word for `value`; empty if no row has it. A row is a Choice, or has the
// same members and more.
template <typename Row, size_t N, typename T>
std::string ChoiceWord(const Row (&rows)[N], const T& value) {
  for (const Row& row : rows) {
    if (row.value == value) return row.word;
  }
  return "";
}

}  // namespace shoal

#endif  // SHOAL_CORE_CHOICE_H_
