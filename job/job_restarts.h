#ifndef SHOAL_JOB_JOB_RESTARTS_H_
#define SHOAL_JOB_JOB_RESTARTS_H_

#include <cstdint>
#include <optional>

namespace shoal {

// Decides whether a launcher starts a whole job again, as pure logic: (state,
// event) → restart or give up.
//
//   JobRestarts restarts(flags.cluster.MaxJobRestarts(flags), newest);
//   for (;;) {
//     ... run the job ...
//     const std::optional<int> number = restarts.OnEnd(ending, newest);
//     if (!number.has_value()) break;  // give up
//   }
//
//   ending                            restarts since the newest checkpoint
//                                     fewer than `most`       `most`
//   kOver                             give up                 give up
//   kNotBegun, of the first start     give up                 give up
//   kNotBegun, of a later start       restart                 give up
//   kLost                             restart                 give up
//
// The count begins again at 0 when the newest checkpoint has a larger step than
// at the last start. So a job that makes progress is started again without end,
// and one that makes none is given up. Thread-compatible.
class JobRestarts {
 public:
  enum class Ending {
    kOver,  // the job is done, was stopped, or would fail again
    // A process could not use its flags, files or ports, and may be able to
    // later. The same flags were good for the first start, so for a later one
    // the reason may pass: a port or a lock that a process of the last start
    // still has, on another host.
    kNotBegun,
    kLost,  // the job lost a process
  };

  // `newest`: step of the newest checkpoint before the first start; nullopt:
  // there is none, or it is not known. REQUIRES: most >= 0.
  JobRestarts(int most, std::optional<uint64_t> newest);

  // The job has ended, and `newest` is the newest checkpoint now. Returns the
  // number of the restart that is due, from 1 to `most`, or nullopt: give up.
  std::optional<int> OnEnd(Ending ending, std::optional<uint64_t> newest);

  int most() const { return most_; }
  int total() const { return total_; }  // all restarts so far

 private:
  const int most_;
  int total_ = 0;
  int used_ = 0;  // restarts since newest_ was made
  std::optional<uint64_t> newest_;  // at the last start
};

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_RESTARTS_H_
