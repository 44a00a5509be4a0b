#ifndef SHOAL_PS_SHARD_SAVE_GATE_H_
#define SHOAL_PS_SHARD_SAVE_GATE_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace shoal {

// Keeps a shard unchanged while it is saved. A request that may change the
// shard passes the gate or finds it closed; it does not wait. Thread-safe; no
// callback runs under the gate's lock.
class SaveGate {
 public:
  // One request that is inside the gate for the lifetime of this object.
  class Passage {
   public:
    explicit Passage(SaveGate* gate) : gate_(gate), open_(gate->Enter(this)) {}
    ~Passage() {
      if (open_) gate_->Leave();
    }
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;

    // False if a save is in progress; then nothing may change.
    bool open() const { return open_; }
    // True if no other request was inside the gate since this one entered. Then
    // no other request holds a reservation that it may give back.
    bool alone() const { return open_ && gate_->Alone(*this); }

   private:
    friend class SaveGate;

    SaveGate* const gate_;
    uint64_t number_ = 0;  // number among all that passed, from 1
    bool came_alone_ = false;
    const bool open_;
  };

  // Closes the gate and waits until no request is inside. DEADLINE_EXCEEDED if
  // a request is still inside; then this Close has no effect. Each successful
  // Close must be followed by an Open: the gate is open when every Close has
  // had its Open.
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
