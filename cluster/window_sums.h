#ifndef SHOAL_CLUSTER_WINDOW_SUMS_H_
#define SHOAL_CLUSTER_WINDOW_SUMS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "absl/time/time.h"

namespace shoal {

// N sums that only grow, as the processes of one (role, index) tell them, over
// all lives and in a window of time. A life that was killed counts as of its
// last message. At the window's edges the sums are interpolated linearly
// between the messages before and after. Thread-compatible; times do not go
// back.
template <size_t N>
class WindowSums {
 public:
  using Sums = std::array<double, N>;

  // A process registered.
  void NewLife(absl::Time now) {
    earlier_lives_ = total();
    this_life_ = {};
    newest_ = now;
    // Between a life's last message and the next life nothing is added.
    Resolve(open_, now);
    Resolve(close_, now);
  }

  // The newest sums of the present life. One that went back counts as before.
  void Add(const Sums& sums, absl::Time now) {
    for (size_t i = 0; i < N; ++i) {
      this_life_[i] = std::max(this_life_[i], sums[i]);
    }
    Resolve(open_, now);
    Resolve(close_, now);
    newest_ = now;
  }

  // Open the job's window, once, and close it; closed again, it ends later. If
  // it was opened before the first life, or never, all that was added up to the
  // close counts. The window may be closed at a time that is past, if no
  // message has come since; otherwise nothing changes.
  void OpenWindow(absl::Time now) { open_ = NewEdge(now); }
  void CloseWindow(absl::Time at) {
    if (!newest_.has_value() || at >= *newest_) close_ = NewEdge(at);
  }

  Sums total() const {
    Sums sums;
    for (size_t i = 0; i < N; ++i) sums[i] = earlier_lives_[i] + this_life_[i];
    return sums;
  }

  // The sums in the window, up to now while the window is not closed.
  Sums InWindow() const {
    const Sums from = open_.has_value() ? open_->value : Sums{};
    Sums sums = close_.has_value() ? close_->value : total();
    for (size_t i = 0; i < N; ++i) sums[i] = std::max(0.0, sums[i] - from[i]);
    return sums;
  }

 private:
  // The values of the sums at a time between two messages.
  struct Edge {
    absl::Time at;
    absl::Time before;  // time of the newest message when the edge was set
    Sums value;         // the sums then; after the next message, those at `at`
    bool resolved = false;
  };

  Edge NewEdge(absl::Time at) const {
    return {at, newest_.value_or(at), total()};
  }

  void Resolve(std::optional<Edge>& edge, absl::Time now) const {
    if (!edge.has_value() || edge->resolved) return;
    const absl::Duration span = now - edge->before;
    if (span > absl::ZeroDuration()) {
      const double share =
          absl::FDivDuration(std::min(edge->at, now) - edge->before, span);
      const Sums sums = total();
      for (size_t i = 0; i < N; ++i) {
        edge->value[i] += (sums[i] - edge->value[i]) * share;
      }
    }
    edge->resolved = true;
  }

  Sums earlier_lives_ = {};
  Sums this_life_ = {};
  std::optional<absl::Time> newest_;
  std::optional<Edge> open_;
  std::optional<Edge> close_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_WINDOW_SUMS_H_
