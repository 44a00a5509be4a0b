#include "rpc/retrying_parameter_service.h"

#include <atomic>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "base/mutex.h"

namespace shoal {

// The state that calls need, also after the service was destroyed.
struct RetryingParameterService::Shared {
  Shared(std::unique_ptr<ParameterService> service, RetryOptions options,
         uint64_t seed, Executor* executor, Counter* retries)
      : options(options),
        seed(seed),
        executor(executor),
        retries(retries),
        service(std::move(service)) {}

  const RetryOptions options;
  const uint64_t seed;
  Executor* const executor;
  Counter* const retries;  // may be null
  std::atomic<uint64_t> calls{0};

  Mutex mu;
  CondVar idle;
  std::unique_ptr<ParameterService> service ABSL_GUARDED_BY(mu);
  bool ended ABSL_GUARDED_BY(mu) = false;
  int in_service ABSL_GUARDED_BY(mu) = 0;  // threads in a function of `service`
  // For each call that waits for its next attempt: the task that ends the call,
  // by the call's number.
  std::map<uint64_t, Task> waiting ABSL_GUARDED_BY(mu);
};

// One call with all its attempts.
template <typename Request, typename Reply>
class RetryingParameterService::Call
    : public std::enable_shared_from_this<Call<Request, Reply>> {
 public:
  using Method = void (ParameterService::*)(Request, absl::Duration,
                                            Done<Reply>);

  Call(std::shared_ptr<Shared> shared, Method method, Request request,
       absl::Duration timeout, const RetryOptions& options, Done<Reply> done)
      : shared_(std::move(shared)),
        number_(++shared_->calls),
        method_(method),
        request_(std::move(request)),
        timeout_(timeout),
        schedule_(options, shared_->executor->Now() + timeout,
                  shared_->seed + number_),
        done_(std::move(done)) {}

  void Start() { Attempt(/*waited=*/false); }

 private:
  void OnReply(absl::StatusOr<Reply> reply) {
    if (reply.ok()) return std::move(done_)(std::move(reply));
    const std::optional<absl::Duration> delay =
        schedule_.NextDelay(reply.status().code(), shared_->executor->Now());
    if (delay.has_value() && Wait()) {
      return shared_->executor->PostAfter(*delay,
                                          [self = this->shared_from_this()] {
                                            self->Attempt(/*waited=*/true);
                                          });
    }
    if (!RetrySchedule::IsRetryable(reply.status().code())) {
      return std::move(done_)(std::move(reply));
    }
    std::move(done_)(absl::Status(
        reply.status().code(),
        absl::StrCat("gave up after ", absl::FormatDuration(timeout_), " and ",
                     schedule_.attempts(), " attempts; the last error is ",
                     absl::StatusCodeToString(reply.status().code()), ": ",
                     reply.status().message())));
  }

  void Attempt(bool waited) {
    ParameterService* service;
    if (waited && shared_->retries != nullptr) shared_->retries->Add();
    {
      MutexLock lock(&shared_->mu);
      // The destructor completes the calls that it found waiting.
      if (waited && shared_->waiting.erase(number_) == 0) return;
      ++shared_->in_service;
      service = shared_->service.get();
    }
    (service->*method_)(
        request_, schedule_.AttemptTimeout(shared_->executor->Now()),
        [self = this->shared_from_this()](absl::StatusOr<Reply> reply) {
          self->OnReply(std::move(reply));
        });
    MutexLock lock(&shared_->mu);
    if (--shared_->in_service == 0) shared_->idle.SignalAll();
  }

  // Returns false if the service was destroyed.
  bool Wait() {
    MutexLock lock(&shared_->mu);
    if (shared_->ended) return false;
    shared_->waiting.emplace(number_, [self = this->shared_from_this()] {
      std::move(self->done_)(
          absl::CancelledError("the client is being destroyed"));
    });
    return true;
  }
  const std::shared_ptr<Shared> shared_;
  const uint64_t number_;
  const Method method_;
  const Request request_;
  const absl::Duration timeout_;
  // The following members are used by one attempt or wait at a time.
  RetrySchedule schedule_;
  Done<Reply> done_;
};

RetryingParameterService::RetryingParameterService(
    std::unique_ptr<ParameterService> service, RetryOptions options,
    uint64_t seed, Executor* executor, Counter* retries)
    : shared_(std::make_shared<Shared>(std::move(service), options, seed,
                                       executor, retries)) {}

RetryingParameterService::~RetryingParameterService() {
  std::unique_ptr<ParameterService> service;
  std::map<uint64_t, Task> waiting;
  {
    MutexLock lock(&shared_->mu);
    shared_->ended = true;
    waiting.swap(shared_->waiting);
    while (shared_->in_service > 0) shared_->idle.Wait(&shared_->mu);
    service.swap(shared_->service);
  }
  // Destroys the service, which ends the attempts in progress. Each of them
  // completes its call.
  service.reset();
  for (auto& [number, end] : waiting) shared_->executor->Post(std::move(end));
}

void RetryingParameterService::Pull(PullRequest request, absl::Duration timeout,
                                    Done<PullReply> done) {
  std::make_shared<Call<PullRequest, PullReply>>(
      shared_, &ParameterService::Pull, std::move(request), timeout,
      shared_->options, std::move(done))
      ->Start();
}

void RetryingParameterService::Push(PushRequest request, absl::Duration timeout,
                                    Done<PushReply> done) {
  RetryOptions options = shared_->options;
  // The answer waits for other workers, and not for the server.
  if (request.step > 0) options.attempt_timeout = absl::InfiniteDuration();
  std::make_shared<Call<PushRequest, PushReply>>(
      shared_, &ParameterService::Push, std::move(request), timeout, options,
      std::move(done))
      ->Start();
}

void RetryingParameterService::Stats(StatsRequest request,
                                     absl::Duration timeout,
                                     Done<StatsReply> done) {
  std::make_shared<Call<StatsRequest, StatsReply>>(
      shared_, &ParameterService::Stats, std::move(request), timeout,
      shared_->options, std::move(done))
      ->Start();
}

}  // namespace shoal
