#include "worker/data/batch_prefetcher.h"

#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

size_t Bytes(const Batch& batch) {
  const ExampleBatch& e = batch.examples;
  return e.labels.size() * sizeof(e.labels[0]) +
         e.offsets.size() * sizeof(e.offsets[0]) +
         e.ids.size() * sizeof(e.ids[0]) +
         e.values.size() * sizeof(e.values[0]) +
         e.fields.size() * sizeof(e.fields[0]);
}

}  // namespace

// The state that the thread and the strand share. The thread holds a reference
// to it, because the thread may outlive the prefetcher in the one case where it
// cannot be joined (see the destructor).
struct BatchPrefetcher::State {
  using Read = absl::StatusOr<std::optional<Batch>>;

  State(std::unique_ptr<PieceReader> reader, Executor* strand,
        BatchPrefetcherOptions options, std::weak_ptr<bool> alive)
      : options(options),
        reader(std::move(reader)),
        strand(strand),
        alive(std::move(alive)) {}

  void Run();
  Read ReadOne();
  // Hands the first batch read to the waiting call, if there are both.
  void Deliver();
  bool Full() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu);

  const BatchPrefetcherOptions options;
  const std::unique_ptr<PieceReader> reader;  // used by the thread only, until
                                              // the thread ends
  Executor* const strand;
  const std::weak_ptr<bool> alive;

  Mutex mu;
  CondVar room;
  bool stopping ABSL_GUARDED_BY(mu) = false;
  bool all_read ABSL_GUARDED_BY(mu) = false;
  std::deque<Read> ready ABSL_GUARDED_BY(mu);
  size_t ready_bytes ABSL_GUARDED_BY(mu) = 0;
  Done<std::optional<Batch>> waiting ABSL_GUARDED_BY(mu);
  std::vector<Batch> spare ABSL_GUARDED_BY(mu);
};

void BatchPrefetcher::State::Run() {
  for (;;) {
    Read read = ReadOne();
    const bool last = !read.ok() || !read->has_value();
    {
      MutexLock lock(&mu);
      if (!last) ready_bytes += Bytes(**read);
      all_read = last && read.ok();
      ready.push_back(std::move(read));
    }
    Deliver();
    MutexLock lock(&mu);
    while (!stopping && !last && Full()) room.Wait(&mu);
    if (stopping || last) return;
  }
}

BatchPrefetcher::State::Read BatchPrefetcher::State::ReadOne() {
  Batch batch;
  {
    MutexLock lock(&mu);
    if (!spare.empty()) {
      batch = std::move(spare.back());
      spare.pop_back();
    }
  }
  SHOAL_ASSIGN_OR_RETURN(const bool more, reader->Next(&batch));
  if (!more) return std::optional<Batch>();
  return std::optional<Batch>(std::move(batch));
}

void BatchPrefetcher::State::Deliver() {
  Done<std::optional<Batch>> done;
  Read read;
  {
    MutexLock lock(&mu);
    if (stopping || waiting == nullptr || ready.empty()) return;
    done = std::exchange(waiting, nullptr);
    read = std::move(ready.front());
    ready.pop_front();
    if (read.ok() && read->has_value()) ready_bytes -= Bytes(**read);
    room.Signal();
  }
  // Post without the lock, because an executor that was shut down destroys the
  // task here.
  strand->Post([alive = alive, done = std::move(done),
                read = std::move(read)]() mutable {
    if (alive.expired()) return;
    std::move(done)(std::move(read));  // may destroy the prefetcher
  });
}

bool BatchPrefetcher::State::Full() const {
  return ready.size() >= options.max_batches ||
         (!ready.empty() && ready_bytes >= options.max_bytes);
}

BatchPrefetcher::BatchPrefetcher(std::unique_ptr<PieceReader> reader,
                                 Executor* strand,
                                 BatchPrefetcherOptions options)
    : alive_(std::make_shared<bool>(true)),
      state_(
          std::make_shared<State>(std::move(reader), strand, options, alive_)),
      thread_([state = state_] { state->Run(); }) {}

BatchPrefetcher::~BatchPrefetcher() {
  state_->reader->Cancel();
  {
    MutexLock lock(&state_->mu);
    state_->stopping = true;
    state_->room.Signal();
  }
  // A completion that is posted to a dead executor is destroyed on our own
  // thread, and may hold the last reference to this prefetcher. Then the thread
  // has nothing more to do.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void BatchPrefetcher::Next(Done<std::optional<Batch>> done) {
  {
    MutexLock lock(&state_->mu);
    state_->waiting = std::move(done);
  }
  // Keep the state, because a dead executor may destroy the prefetcher within
  // Post.
  const std::shared_ptr<State> state = state_;
  state->Deliver();
}

bool BatchPrefetcher::all_read() const {
  MutexLock lock(&state_->mu);
  return state_->all_read;
}

void BatchPrefetcher::Recycle(Batch batch) {
  MutexLock lock(&state_->mu);
  if (state_->spare.size() < state_->options.max_batches) {
    state_->spare.push_back(std::move(batch));
  }
}

const PieceReport& BatchPrefetcher::report() const {
  return state_->reader->report();
}

}  // namespace shoal
