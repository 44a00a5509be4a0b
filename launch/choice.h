#ifndef SHOAL_LAUNCH_CHOICE_H_
#define SHOAL_LAUNCH_CHOICE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "core/choice.h"

namespace shoal {

// The words of a table in core/ that has no values beside them.
inline std::vector<std::string> WordList(absl::Span<const char* const> words) {
  return {words.begin(), words.end()};
}

// The part of a flag's help that explains its words: each word of the table
// with its help, in the order of the table, as in "train; eval scores
// --val_data_dir". The word "auto" stands for a choice among the others, so it
// comes last. A row is a Choice, or has the same members and more.
template <typename Row, size_t N>
std::string ChoiceHelp(const Row (&rows)[N]) {
  std::vector<std::string> parts;
  std::string last;
  for (const Row& row : rows) {
    const std::string word = row.word;
    const std::string part = absl::StrCat(word, row.help[0] == '\0' ? "" : " ",
                                          row.help);
    if (word == "auto") {
      last = part;
    } else {
      parts.push_back(part);
    }
  }
  if (!last.empty()) parts.push_back(last);
  return absl::StrJoin(parts, "; ");
}

// The place that the value of a flag that takes one of a few words is stored
// in. The words are compared without regard to case, and printed as they stand.
// The value and the table outlive the target. Thread-compatible.
class ChoiceTarget {
 public:
  template <typename T, typename Row, size_t N>
  ChoiceTarget(T* value, const Row (&choices)[N])
      : words_(Words(choices)),
        take_([value, &choices](size_t i) { *value = choices[i].value; }),
        word_([value, &choices] { return ChoiceWord(choices, *value); }) {}

  // For a flag that may be left out: the value is empty until it is given.
  template <typename T, typename Row, size_t N>
  ChoiceTarget(std::optional<T>* value, const Row (&choices)[N])
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
  template <typename Row, size_t N>
  static std::vector<std::string> Words(const Row (&choices)[N]) {
    std::vector<std::string> words;
    for (const Row& choice : choices) words.push_back(choice.word);
    return words;
  }

  std::vector<std::string> words_;
  std::function<void(size_t)> take_;
  std::function<std::string()> word_;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_CHOICE_H_
