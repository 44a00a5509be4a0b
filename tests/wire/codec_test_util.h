#ifndef SHOAL_TESTS_WIRE_CODEC_TEST_UTIL_H_
#define SHOAL_TESTS_WIRE_CODEC_TEST_UTIL_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// Bytes cut into pieces at given places, each in memory of its own size, so
// that AddressSanitizer sees a read beyond any of them.
class Pieces {
 public:
  Pieces(absl::string_view bytes, std::vector<size_t> cuts) {
    cuts.push_back(0);
    cuts.push_back(bytes.size());
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      const size_t size = cuts[i + 1] - cuts[i];
      memory_.push_back(std::make_unique<char[]>(size));
      if (size > 0) {
        std::memcpy(memory_.back().get(), bytes.data() + cuts[i], size);
      }
      fragments_.emplace_back(memory_.back().get(), size);
    }
  }

  static Pieces Whole(absl::string_view bytes) { return Pieces(bytes, {}); }
  static Pieces OfSize(absl::string_view bytes, size_t size) {
    std::vector<size_t> cuts;
    for (size_t at = size; at < bytes.size(); at += size) cuts.push_back(at);
    return Pieces(bytes, std::move(cuts));
  }
  // Some empty, some large.
  static Pieces Random(absl::string_view bytes, std::mt19937* random) {
    std::vector<size_t> cuts((*random)() % 8);
    for (size_t& cut : cuts) cut = (*random)() % (bytes.size() + 1);
    return Pieces(bytes, std::move(cuts));
  }

  absl::Span<const absl::string_view> fragments() const { return fragments_; }

 private:
  std::vector<std::unique_ptr<char[]>> memory_;
  std::vector<absl::string_view> fragments_;
};

inline std::string Join(const WireMessage& message) {
  std::string bytes;
  for (const absl::string_view fragment : message.fragments) {
    bytes.append(fragment.data(), fragment.size());
  }
  return bytes;
}

// The array's bytes, as a bulk field holds them.
template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

// The numbers of a bulk field.
template <typename T>
std::vector<T> Numbers(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_WIRE_CODEC_TEST_UTIL_H_
