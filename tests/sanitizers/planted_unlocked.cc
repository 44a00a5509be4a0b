// The check of clang's lock analysis itself: must not compile with
// -Werror=thread-safety.
#include "base/mutex.h"

namespace shoal {

class UnlockedCounter {
 public:
  void CountUnlocked() { ++count_; }

 private:
  Mutex mu_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal

int main() {
  shoal::UnlockedCounter counter;
  counter.CountUnlocked();
}
