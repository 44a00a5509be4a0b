#ifndef SHOAL_CLUSTER_MEMBERS_VIEW_H_
#define SHOAL_CLUSTER_MEMBERS_VIEW_H_

#include <cstddef>
#include <iterator>

#include "absl/types/span.h"

namespace shoal {

struct Member;

// A list of members that another object owns, read by reference. Valid until
// the owner adds or removes a member.
class MembersView {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Member;
    using difference_type = ptrdiff_t;
    using pointer = const Member*;
    using reference = const Member&;

    Iterator() = default;
    explicit Iterator(const Member* const* at) : at_(at) {}
    const Member& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const Member* const* at_ = nullptr;
  };

  MembersView() = default;
  explicit MembersView(absl::Span<const Member* const> members)
      : members_(members) {}

  Iterator begin() const { return Iterator(members_.data()); }
  Iterator end() const { return Iterator(members_.data() + members_.size()); }
  size_t size() const { return members_.size(); }
  bool empty() const { return members_.empty(); }

 private:
  absl::Span<const Member* const> members_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_MEMBERS_VIEW_H_
