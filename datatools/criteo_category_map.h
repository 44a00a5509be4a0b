#ifndef SHOAL_DATATOOLS_CRITEO_CATEGORY_MAP_H_
#define SHOAL_DATATOOLS_CRITEO_CATEGORY_MAP_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "worker/data/criteo_row.h"

namespace shoal {

// A map whose keys are the categories of one column; no category is empty. A
// category of at most eight bytes, as all of Criteo's are, takes 16 bytes and
// the map's slack (up to 40 bytes in all, 60 while the map grows).
// Thread-compatible.
template <typename Value>
class CriteoCategoryMap {
 public:
  Value& operator[](absl::string_view category) {
    if (category.size() <= kWordBytes) {
      return words_[CriteoCategoryKey(category)];
    }
    return texts_[category];
  }

  // nullptr if the category is not in the map.
  const Value* Find(absl::string_view category) const {
    if (category.size() <= kWordBytes) {
      const auto it = words_.find(CriteoCategoryKey(category));
      return it == words_.end() ? nullptr : &it->second;
    }
    const auto it = texts_.find(category);
    return it == texts_.end() ? nullptr : &it->second;
  }

  size_t size() const { return words_.size() + texts_.size(); }

  // Calls visit(category, value) for each category, in no particular order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [word, value] : words_) {
      char bytes[kWordBytes];
      size_t size = 0;
      for (uint64_t rest = word; rest != 0; rest >>= 8) {
        bytes[size++] = static_cast<char>(rest);
      }
      visit(absl::string_view(bytes, size), value);
    }
    for (const auto& [text, value] : texts_) {
      visit(absl::string_view(text), value);
    }
  }

 private:
  static constexpr size_t kWordBytes = 8;

  absl::flat_hash_map<uint64_t, Value> words_;
  absl::flat_hash_map<std::string, Value> texts_;  // longer categories
};

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_CRITEO_CATEGORY_MAP_H_
