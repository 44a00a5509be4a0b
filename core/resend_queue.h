#ifndef SHOAL_CORE_RESEND_QUEUE_H_
#define SHOAL_CORE_RESEND_QUEUE_H_

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace shoal {

// The messages that one end of a session has sent and the other end has not
// acknowledged yet. They are sent again when the connection under the session
// breaks.
//
// Messages are numbered from 1 in the order in which they are sent, over all
// connections of the session. The number does not travel: each end counts the
// messages that it takes, and acknowledges by that count. Pure logic;
// thread-compatible.
//
//   queue.Add(message, bytes);        // at each sending
//   queue.Acknowledge(heard.taken);   // now and then
//   for (auto& m : *queue.After(reopened.taken)) connection->Send(m);
template <typename Message>
class ResendQueue {
 public:
  // Beyond `max_bytes` the oldest messages are dropped, never the newest. If
  // the connection breaks after that, the session can be resumed only if the
  // other end has taken all dropped messages.
  explicit ResendQueue(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // Keeps a message that is being sent. `bytes` is about the size of the
  // message in memory.
  void Add(Message message, uint64_t bytes) {
    kept_.push_back({std::move(message), bytes});
    bytes_ += bytes;
    while (bytes_ > max_bytes_ && kept_.size() > 1) DropFirst();
  }

  // The other end has taken the first `count` messages. A count above sent()
  // or below an earlier one changes nothing.
  void Acknowledge(uint64_t count) {
    if (count > sent()) return;
    while (dropped_ < count) DropFirst();
  }

  // The messages that follow the first `count`, in order. Errors:
  // INVALID_ARGUMENT (fewer than `count` messages were sent), OUT_OF_RANGE
  // (some of the messages are no longer kept).
  absl::StatusOr<std::vector<Message>> After(uint64_t count) const {
    if (count > sent()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the other end has taken ", count,
                       " messages of the session, but only ", sent(),
                       " were sent"));
    }
    if (count < dropped_) {
      return absl::OutOfRangeError(absl::StrCat(
          "the other end has taken ", count, " messages of the session, and ",
          dropped_ - count, " that follow are no longer kept"));
    }
    std::vector<Message> messages;
    for (uint64_t i = count - dropped_; i < kept_.size(); ++i) {
      messages.push_back(kept_[i].message);
    }
    return messages;
  }

  // Messages that were sent so far.
  uint64_t sent() const { return dropped_ + kept_.size(); }
  // Bytes of the messages that are kept.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Message message;
    uint64_t bytes = 0;
  };

  void DropFirst() {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
    ++dropped_;
  }

  const uint64_t max_bytes_;
  std::deque<Kept> kept_;
  uint64_t dropped_ = 0;  // messages before the first that is kept
  uint64_t bytes_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CORE_RESEND_QUEUE_H_
