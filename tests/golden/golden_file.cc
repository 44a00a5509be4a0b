#include "tests/golden/golden_file.h"

#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

constexpr char kMagic[] = "shoal-golden 1";

// False unless `text` holds exactly `count` numbers.
bool ParseTensor(const std::string& text, size_t count,
                 std::vector<double>* values) {
  for (const absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (!absl::SimpleAtod(word, &values->emplace_back())) return false;
  }
  return values->size() == count;
}

}  // namespace

absl::StatusOr<GoldenFile> GoldenFile::Read(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(absl::StrCat("no file ", path));
  GoldenFile file;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string kind, name, rest;
    words >> kind >> name >> rest;
    bool good = true;
    if (number == 1) {
      good = line == kMagic;
    } else if (number == 2) {
      good = kind == "made" && name == "by";
    } else if (kind == "set") {
      good = file.texts_.emplace(name, rest).second;
    } else if (kind == "tensor") {
      size_t count = 0;
      std::vector<double>& values = file.tensors_[name];
      good = values.empty() && absl::SimpleAtoi(rest, &count) &&
             std::getline(in, line) && ParseTensor(line, count, &values);
      ++number;
    } else {
      good = false;
    }
    if (!good) {
      return absl::DataLossError(
          absl::StrCat(path, ", line ", number, ": not as it must be"));
    }
  }
  if (file.tensors_.empty()) {
    return absl::DataLossError(absl::StrCat(path, ": no tensors"));
  }
  return file;
}

std::string GoldenFile::Text(const std::string& key) const {
  const auto at = texts_.find(key);
  if (at != texts_.end()) return at->second;
  ADD_FAILURE() << "the golden file sets no " << key;
  return "";
}

double GoldenFile::Number(const std::string& key) const {
  double value = 0;
  EXPECT_TRUE(absl::SimpleAtod(Text(key), &value)) << key;
  return value;
}

std::vector<double> GoldenFile::Numbers(const std::string& key) const {
  std::vector<double> values;
  for (const absl::string_view word :
       absl::StrSplit(Text(key), ',', absl::SkipEmpty())) {
    EXPECT_TRUE(absl::SimpleAtod(word, &values.emplace_back())) << key;
  }
  return values;
}

std::vector<double> GoldenFile::Tensor(const std::string& name) const {
  const auto at = tensors_.find(name);
  if (at != tensors_.end()) return at->second;
  ADD_FAILURE() << "the golden file has no tensor " << name;
  return {};
}

}  // namespace shoal
