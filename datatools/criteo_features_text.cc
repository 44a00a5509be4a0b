// CriteoFeatures as text and back: docs/criteo.md has the format.

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/crc32c.h"
#include "base/status_macros.h"
#include "datatools/criteo_features.h"

namespace shoal {
namespace {

constexpr absl::string_view kMagic = "shoal-criteo-features";
constexpr uint64_t kVersion = 1;
constexpr absl::string_view kNone = "-";

using Words = std::vector<absl::string_view>;

// The lines of the text, one by one, split at tabs into words.
class Lines {
 public:
  explicit Lines(absl::string_view text) : rest_(text) {}

  // The next line, which must have `words` words and begin with `name`, unless
  // `name` is empty.
  absl::StatusOr<Words> Take(absl::string_view name, size_t words) {
    ++number_;
    const size_t end = rest_.find('\n');
    if (end == absl::string_view::npos) {
      return absl::DataLossError(
          absl::StrCat("line ", number_, ": the text is cut off here"));
    }
    const Words line = absl::StrSplit(rest_.substr(0, end), '\t');
    if (line.size() != words || (!name.empty() && line[0] != name)) {
      return Error(absl::StrCat(
          name.empty() ? "a category and its count" : name,
          " was expected, but the line is '",
          absl::CHexEscape(rest_.substr(0, std::min<size_t>(end, 60))), "'"));
    }
    rest_.remove_prefix(end + 1);
    return line;
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("line ", number_, ": ", what));
  }

  template <typename Number>
  absl::Status Read(absl::string_view word, Number* number) const {
    if (absl::SimpleAtoi(word, number)) return absl::OkStatus();
    return Error(absl::StrCat("'", absl::CHexEscape(word.substr(0, 60)),
                              "' is not a number"));
  }

  // A line "name <tab> number".
  absl::Status TakeNumber(absl::string_view name, uint64_t* number) {
    SHOAL_ASSIGN_OR_RETURN(const Words words, Take(name, 2));
    return Read(words[1], number);
  }

  // A line "name <tab> number" whose number is known.
  absl::Status Expect(absl::string_view name, uint64_t number) {
    uint64_t found = 0;
    SHOAL_RETURN_IF_ERROR(TakeNumber(name, &found));
    if (found == number) return absl::OkStatus();
    return Error(absl::StrCat(name, " is ", found, "; it must be ", number));
  }

  size_t left() const { return rest_.size(); }

 private:
  absl::string_view rest_;
  uint64_t number_ = 0;
};

absl::Status ReadInteger(int i, Lines* lines, CriteoFacts::Range* range) {
  SHOAL_ASSIGN_OR_RETURN(const Words words,
                         lines->Take(absl::StrCat("I", i + 1), 4));
  int id = 0;
  SHOAL_RETURN_IF_ERROR(lines->Read(words[1], &id));
  if (id != i + 1) return lines->Error("its id is wrong");
  range->seen = words[2] != kNone;
  if (!range->seen) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(lines->Read(words[2], &range->min));
  return lines->Read(words[3], &range->max);
}

absl::Status ReadCategories(int c, uint64_t offset, Lines* lines,
                            std::vector<CriteoFacts::Category>* categories) {
  SHOAL_ASSIGN_OR_RETURN(const Words head,
                         lines->Take(absl::StrCat("C", c + 1), 3));
  uint64_t first = 0;
  uint64_t count = 0;
  SHOAL_RETURN_IF_ERROR(lines->Read(head[1], &first));
  SHOAL_RETURN_IF_ERROR(lines->Read(head[2], &count));
  if (first != offset) return lines->Error("its first id is wrong");
  // Memory is reserved only for categories that can be there: a line has at
  // least four bytes.
  if (count > lines->left() / 4) {
    return lines->Error(absl::StrCat(
        "the text is too short for ", count, " categories"));
  }
  categories->reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    SHOAL_ASSIGN_OR_RETURN(const Words words, lines->Take("", 2));
    CriteoFacts::Category category;
    category.value = std::string(words[0]);
    SHOAL_RETURN_IF_ERROR(lines->Read(words[1], &category.count));
    categories->push_back(std::move(category));
  }
  return absl::OkStatus();
}

}  // namespace

std::string CriteoFeatures::ToText() const {
  std::string text =
      absl::StrCat(kMagic, "\t", kVersion, "\nrows\t", facts_.rows,
                   "\ncutoff\t", facts_.cutoff, "\nfeature_size\t",
                   feature_size(), "\nfield_size\t", kCriteoFields, "\n");
  for (int i = 0; i < kCriteoIntegers; ++i) {
    const CriteoFacts::Range& range = facts_.integers[i];
    absl::StrAppend(&text, "I", i + 1, "\t", i + 1, "\t");
    if (range.seen) {
      absl::StrAppend(&text, range.min, "\t", range.max, "\n");
    } else {
      absl::StrAppend(&text, kNone, "\t", kNone, "\n");
    }
  }
  for (int c = 0; c < kCriteoCategories; ++c) {
    absl::StrAppend(&text, "C", c + 1, "\t", offsets_[c], "\t",
                    facts_.categories[c].size(), "\n");
    for (const CriteoFacts::Category& category : facts_.categories[c]) {
      absl::StrAppend(&text, category.value, "\t", category.count, "\n");
    }
  }
  absl::StrAppendFormat(&text, "end\t%08x\n", Crc32c(text));
  return text;
}

absl::StatusOr<CriteoFeatures> CriteoFeatures::FromText(
    absl::string_view text) {
  Lines lines(text);
  CriteoFacts facts;
  uint64_t size = 0;
  SHOAL_RETURN_IF_ERROR(lines.Expect(kMagic, kVersion));
  SHOAL_RETURN_IF_ERROR(lines.TakeNumber("rows", &facts.rows));
  SHOAL_RETURN_IF_ERROR(lines.TakeNumber("cutoff", &facts.cutoff));
  SHOAL_RETURN_IF_ERROR(lines.TakeNumber("feature_size", &size));
  SHOAL_RETURN_IF_ERROR(lines.Expect("field_size", kCriteoFields));
  for (int i = 0; i < kCriteoIntegers; ++i) {
    SHOAL_RETURN_IF_ERROR(ReadInteger(i, &lines, &facts.integers[i]));
  }
  uint64_t offset = kCriteoIntegers;
  for (int c = 0; c < kCriteoCategories; ++c) {
    SHOAL_RETURN_IF_ERROR(
        ReadCategories(c, offset, &lines, &facts.categories[c]));
    offset += 1 + facts.categories[c].size();
  }
  if (offset != size) {
    return lines.Error(absl::StrCat("the columns have ", offset,
                                    " ids, feature_size is ", size));
  }
  const size_t covered = text.size() - lines.left();
  SHOAL_ASSIGN_OR_RETURN(const Words end, lines.Take("end", 2));
  if (end[1] != absl::StrFormat("%08x", Crc32c(text.substr(0, covered)))) {
    return absl::DataLossError(
        "the checksum is wrong: the text was changed or damaged");
  }
  if (lines.left() > 0) {
    return lines.Error("there is text after the line 'end'");
  }
  return Make(std::move(facts));
}

}  // namespace shoal
