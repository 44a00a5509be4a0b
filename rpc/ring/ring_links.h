#ifndef SHOAL_RPC_RING_RING_LINKS_H_
#define SHOAL_RPC_RING_RING_LINKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rpc/ring/ring_operations.h"
#include "rpc/ring/ring_reader.h"
#include "rpc/ring/ring_settings.h"
#include "rpc/ring/ring_writer.h"

namespace shoal {

// The two connections of a rank, in an epoll set. Frames come from the rank
// before and go to the next rank; against that direction only a failure goes.
// Owned by one thread.
class RingLinks {
 public:
  // Takes over the connections. `operations` and the descriptor of the epoll
  // set must outlive the links.
  RingLinks(RingSettings settings, int previous_fd, int next_fd, int epoll_fd,
            RingOperations* operations);
  ~RingLinks();

  // Writes to the next rank what there is and what it takes. False: it takes no
  // more at present.
  absl::StatusOr<bool> Write();
  // Reads one chunk from the rank before, or the frames before it.
  absl::StatusOr<RingReader::Result> Read();
  // Reads what the next rank says: a failure, or the end.
  absl::StatusOr<RingReader::Result> ReadNext();

  // The text of kFailure.
  const RingReader::Failure& failure() const { return reader_.failure(); }
  const RingReader::Failure& next_failure() const {
    return next_reader_.failure();
  }
  bool within_frame() const { return reader_.within_frame(); }
  bool previous_ended() const { return previous_.fd < 0; }
  bool next_ended() const { return next_.fd < 0; }
  void ClosePrevious() { Close(&previous_); }
  void CloseNext() { Close(&next_); }

  // What the epoll set waits for. The rank before is read unless `paused`.
  void Watch(bool paused, bool write_blocked);
  // The keys of the two in epoll_event::data.
  static constexpr uint64_t kPrevious = 1;
  static constexpr uint64_t kNext = 2;

  // Sends `failure`, a frame, to both sides as the last thing, and reads
  // nothing any more. Afterwards no caller's memory is touched.
  void Finish(const std::string& failure);
  // Tries for `patience` to get it out. REQUIRES: Finish was called.
  void Flush(absl::Duration patience);

  uint64_t bytes_sent() const { return writer_.bytes(); }

 private:
  struct Link {
    int fd = -1;
    uint32_t events = 0;
  };

  void SetEvents(Link* link, uint64_t key, uint32_t events);
  void Close(Link* link);
  // False: the connection takes no more at present, or is broken.
  bool WriteRest(Link* link, RingWriter* writer);

  const int epoll_fd_;
  Link previous_;
  Link next_;
  RingReader reader_;
  RingReader next_reader_;
  RingWriter writer_;
  RingWriter back_writer_;  // to the rank before
  bool finished_ = false;
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_LINKS_H_
