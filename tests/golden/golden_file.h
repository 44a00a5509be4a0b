#ifndef SHOAL_TESTS_GOLDEN_GOLDEN_FILE_H_
#define SHOAL_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace shoal {

// A file of numbers from another framework, in lines of text:
//   shoal-golden 1                  magic and version
//   made by …                       generator and precision
//   set KEY VALUE
//   tensor NAME COUNT               and COUNT numbers on the next line
// Thread-compatible.
class GoldenFile {
 public:
  // NOT_FOUND: no such file. DATA_LOSS: not of this form; says which line.
  static absl::StatusOr<GoldenFile> Read(const std::string& path);

  // A missing entry, or a text that is no number, fails the test and is empty
  // or 0.
  std::string Text(const std::string& key) const;
  double Number(const std::string& key) const;
  std::vector<double> Numbers(const std::string& key) const;  // "1,2,3"
  std::vector<double> Tensor(const std::string& name) const;

  bool HasTensor(const std::string& name) const {
    return tensors_.count(name) > 0;
  }

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<double>> tensors_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_GOLDEN_GOLDEN_FILE_H_
