#ifndef SHOAL_REPORT_NUMBER_TEXT_H_
#define SHOAL_REPORT_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

namespace shoal {

// 12345678 as "12,345,678".
inline std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<size_t>(i), ",");
  }
  return text;
}

}  // namespace shoal

#endif  // SHOAL_REPORT_NUMBER_TEXT_H_
