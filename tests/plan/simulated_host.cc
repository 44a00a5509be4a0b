#include "tests/plan/simulated_host.h"

#include <algorithm>

namespace shoal {

void EventQueue::At(double at, Run run) {
  if (free_.empty()) {
    free_.push_back(runs_.size());
    runs_.emplace_back();
  }
  const size_t place = free_.back();
  free_.pop_back();
  runs_[place] = std::move(run);
  events_.push({at, made_++, place});
}

bool EventQueue::RunNext() {
  if (events_.empty()) return false;
  const Event event = events_.top();
  events_.pop();
  now_ = std::max(now_, event.at);
  const Run run = std::exchange(runs_[event.run], nullptr);
  free_.push_back(event.run);
  run();
  return true;
}

double SharedCores::Rate() const {
  return tasks_.empty()
             ? 1
             : std::min(1.0, cores_ / static_cast<double>(tasks_.size()));
}

void SharedCores::Advance() {
  served_ += (queue_->now() - since_) * Rate();
  since_ = queue_->now();
}

void SharedCores::Schedule() {
  if (tasks_.empty()) return;
  const double left = std::max(0.0, tasks_.begin()->first - served_);
  queue_->After(left / Rate(), [this, version = ++version_] {
    if (version != version_) return;
    Advance();
    EventQueue::Run done = std::move(tasks_.begin()->second);
    served_ = std::max(served_, tasks_.begin()->first);
    tasks_.erase(tasks_.begin());
    Schedule();
    done();
  });
}

void SharedCores::Add(double seconds, EventQueue::Run done) {
  Advance();
  const double end = served_ + seconds;
  const auto later = std::upper_bound(
      tasks_.begin(), tasks_.end(), end,
      [](double at, const auto& task) { return at < task.first; });
  tasks_.emplace(later, end, std::move(done));
  Schedule();
}

void SimulatedThread::Add(double seconds, EventQueue::Run done) {
  tasks_.emplace_back(seconds, std::move(done));
  if (tasks_.size() == 1) RunFirst();
}

void SimulatedThread::RunFirst() {
  cores_->Add(tasks_.front().first, [this] {
    EventQueue::Run done = std::move(tasks_.front().second);
    tasks_.pop_front();
    if (!tasks_.empty()) RunFirst();
    done();
  });
}

void Wire::SendShort(double bytes, Link* out, Link* in,
                     EventQueue::Run arrived) {
  const double seconds = bytes * 8 / bits_;
  const double now = queue_->now();
  out->free_at = std::max(now, out->free_at) + seconds;
  in->free_at = std::max(now, in->free_at) + seconds;
  out->free_of_short_at = std::max(now, out->free_of_short_at) + seconds;
  queue_->At(out->free_of_short_at + latency_, std::move(arrived));
}

void Wire::Send(double bytes, Link* out, Link* in, EventQueue::Run arrived) {
  const double seconds = bytes * 8 / bits_;
  const double start = std::max(queue_->now(), out->free_at);
  out->free_at = start + seconds;
  queue_->At(start + latency_,
             [this, in, seconds, arrived = std::move(arrived)]() mutable {
               in->free_at = std::max(queue_->now(), in->free_at) + seconds;
               queue_->At(in->free_at, std::move(arrived));
             });
}

void Wire::SendTogether(Link* out, std::vector<Part> parts) {
  const double start = std::max(queue_->now(), out->free_at);
  double bytes = 0;
  for (const Part& part : parts) bytes += part.bytes;
  out->free_at = start + bytes * 8 / bits_;
  const double sent = out->free_at + latency_;
  for (Part& part : parts) {
    queue_->At(start + latency_,
               [this, sent, part = std::move(part)]() mutable {
                 Link* const in = part.in;
                 in->free_at = std::max(queue_->now(), in->free_at) +
                               part.bytes * 8 / bits_;
                 queue_->At(std::max(sent, in->free_at),
                            std::move(part.arrived));
               });
  }
}

}  // namespace shoal
