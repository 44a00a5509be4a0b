#ifndef SHOAL_PS_SHARD_SAVE_GATE_H_
#define SHOAL_PS_SHARD_SAVE_GATE_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace shoal {

// Keeps a shard as it is while it is saved: requests that may change it pass
// the gate or find it closed, and do not wait. Thread-safe; nothing is called
// under its lock.
class SaveGate {
 public:
  // A request on its way, for as long as this lives.
  class Passage {
   public:
    explicit Passage(SaveGate* gate) : gate_(gate), open_(gate->Enter(this)) {}
    ~Passage() {
      if (open_) gate_->Leave();
    }
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;

    // False: a save is in progress; nothing may change.
    bool open() const { return open_; }
    // No other request was on its way since this one came: what this one lacks
    // is not held by one that may give it back.
    bool alone() const { return open_ && gate_->Alone(*this); }

   private:
    friend class SaveGate;

    SaveGate* const gate_;
    uint64_t number_ = 0;  // of all that passed, from 1
    bool came_alone_ = false;
    const bool open_;
  };

  // Closes it and waits until nothing is on its way. DEADLINE_EXCEEDED:
  // something still is; this Close does not count. Whoever closed it opens it
  // again: it is open when nobody keeps it closed.
  absl::Status Close(absl::Duration timeout);
  void Open();

 private:
  bool Enter(Passage* passage);
  bool Alone(const Passage& passage);
  void Leave();

  Mutex mu_;
  CondVar empty_;
  int closers_ ABSL_GUARDED_BY(mu_) = 0;
  int inside_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t passed_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_SAVE_GATE_H_
