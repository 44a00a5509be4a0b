#ifndef SHOAL_BENCH_MICRO_BARE_RING_H_
#define SHOAL_BENCH_MICRO_BARE_RING_H_

#include <cstddef>
#include <vector>

namespace shoal {

// The ceiling of an AllReduce: a ring with nothing around it. One rank's end of
// two sockets, which sends and receives in turn, adds what arrives while it is
// in the cache, and sleeps in epoll_wait when neither goes on. It trusts its
// neighbours. Owned by one thread.
class BareRing {
 public:
  // Takes over non-blocking sockets from the rank before and to the next rank.
  BareRing(int rank, int size, int previous_fd, int next_fd);
  ~BareRing();

  // Sums `values` over the ranks in place: reduce-scatter, then allgather.
  void Sum(float* values, size_t length);

 private:
  void Exchange(const char* out, size_t out_bytes, char* in, size_t in_bytes,
                bool add);

  const int rank_;
  const int size_;
  const int previous_fd_;
  const int next_fd_;
  const int epoll_fd_;
  std::vector<float> scratch_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_BARE_RING_H_
