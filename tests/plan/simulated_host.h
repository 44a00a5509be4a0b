#ifndef SHOAL_TESTS_PLAN_SIMULATED_HOST_H_
#define SHOAL_TESTS_PLAN_SIMULATED_HOST_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace shoal {

// Events in the order of their times, and of their making at equal times.
// Owned by one thread, as all of this file.
class EventQueue {
 public:
  using Run = std::function<void()>;

  double now() const { return now_; }
  // REQUIRES: at >= now().
  void At(double at, Run run);
  void After(double seconds, Run run) { At(now_ + seconds, std::move(run)); }
  // Runs the next event. False: there is none.
  bool RunNext();

 private:
  struct Event {
    double at;
    uint64_t number;
    size_t run;  // index in runs_
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  double now_ = 0;
  uint64_t made_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  // Apart from the events, which the queue moves about.
  std::vector<Run> runs_;
  std::vector<size_t> free_;  // indices of runs_ that no event has
};

// Cores that serve all tasks at equal shares, a task at one core at most.
class SharedCores {
 public:
  // `queue` outlives the cores.
  SharedCores(EventQueue* queue, double cores) : queue_(queue), cores_(cores) {}

  // Runs `done` when the task has had `seconds` of a core.
  void Add(double seconds, EventQueue::Run done);

 private:
  double Rate() const;
  void Advance();
  void Schedule();

  EventQueue* const queue_;
  const double cores_;
  double served_ = 0;  // seconds that a task would have got since the beginning
  double since_ = 0;   // time of `served_`
  uint64_t version_ = 0;
  // By served_ at their end, which ascends. They are few.
  std::vector<std::pair<double, EventQueue::Run>> tasks_;
};

// A thread: its tasks run one after another on the cores of its host.
class SimulatedThread {
 public:
  explicit SimulatedThread(SharedCores* cores) : cores_(cores) {}

  // Runs `done` when the task has had `seconds` of a core.
  void Add(double seconds, EventQueue::Run done);

 private:
  void RunFirst();

  SharedCores* const cores_;
  std::deque<std::pair<double, EventQueue::Run>> tasks_;
};

// One direction of a host's link: messages one after another.
struct Link {
  double free_at = 0;
  double free_of_short_at = 0;
};

// Sends messages between hosts: over the sender's link out and, `latency`
// later, over the receiver's link in.
class Wire {
 public:
  Wire(EventQueue* queue, double bits_per_second, double latency)
      : queue_(queue), bits_(bits_per_second), latency_(latency) {}

  // Runs `arrived` when the last byte is there.
  void Send(double bytes, Link* out, Link* in, EventQueue::Run arrived);
  // Sends messages that share the link out evenly, as connections do on which
  // messages begin together: the last byte of each leaves with that of all.
  struct Part {
    double bytes = 0;
    Link* in = nullptr;
    EventQueue::Run arrived;
  };
  void SendTogether(Link* out, std::vector<Part> parts);
  // The same for a short message, which passes between the packets of long
  // ones and waits for other short ones alone.
  void SendShort(double bytes, Link* out, Link* in, EventQueue::Run arrived);

 private:
  EventQueue* const queue_;
  const double bits_;
  const double latency_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_PLAN_SIMULATED_HOST_H_
