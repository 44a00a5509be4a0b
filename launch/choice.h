#ifndef SHOAL_LAUNCH_CHOICE_H_
#define SHOAL_LAUNCH_CHOICE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace shoal {

// A row in the table of a flag that takes one of a few words: a value and its
// word, as in
//   constexpr Choice<Task> kTasks[] = {{Task::kTrain, "train"}, …};
// The words are compared without regard to case, and printed as they stand.
template <typename T>
struct Choice {
  T value;
  const char* word;
};

// The word for `value`; empty if no row has it.
template <typename T, size_t N>
std::string ChoiceWord(const Choice<T> (&choices)[N], const T& value) {
  for (const Choice<T>& choice : choices) {
    if (choice.value == value) return choice.word;
  }
  return "";
}

// The place that the value of such a flag is stored in. The value and the table
// outlive the target. Thread-compatible.
class ChoiceTarget {
 public:
  template <typename T, size_t N>
  ChoiceTarget(T* value, const Choice<T> (&choices)[N])
      : words_(Words(choices)),
        take_([value, &choices](size_t i) { *value = choices[i].value; }),
        word_([value, &choices] { return ChoiceWord(choices, *value); }) {}

  // For a flag that may be left out: the value is empty until it is given.
  template <typename T, size_t N>
  ChoiceTarget(std::optional<T>* value, const Choice<T> (&choices)[N])
      : words_(Words(choices)),
        take_([value, &choices](size_t i) { *value = choices[i].value; }),
        word_([value, &choices] {
          return value->has_value() ? ChoiceWord(choices, **value) : "";
        }) {}

  // A flag whose value is the word itself.
  ChoiceTarget(std::string* value, std::vector<std::string> words)
      : words_(std::move(words)),
        take_([value, words = words_](size_t i) { *value = words[i]; }),
        word_([value] { return *value; }) {}

  const std::vector<std::string>& words() const { return words_; }

  // Sets the value to the one whose word is words()[i]. REQUIRES:
  // i < words().size().
  void Take(size_t i) const {
    SHOAL_DCHECK(i < words_.size());
    take_(i);
  }

  // The word for the current value; empty if that value has no word.
  std::string word() const { return word_(); }

 private:
  template <typename T, size_t N>
  static std::vector<std::string> Words(const Choice<T> (&choices)[N]) {
    std::vector<std::string> words;
    for (const Choice<T>& choice : choices) words.push_back(choice.word);
    return words;
  }

  std::vector<std::string> words_;
  std::function<void(size_t)> take_;
  std::function<std::string()> word_;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CHOICE_H_
