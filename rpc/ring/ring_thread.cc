#include "rpc/ring/ring_thread.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "core/lost_rank.h"
#include "rpc/ring/ring_frame.h"

namespace shoal {
namespace {

// epoll_event::data, beside those of RingLinks.
constexpr uint64_t kWake = 0;
constexpr uint64_t kDoor = 3;
// Chunks that are read before calls and deadlines are looked at again.
constexpr int kChunksAtOnce = 64;

}  // namespace

RingThread::RingThread(TcpRingOptions options, RingSettings settings,
                       std::unique_ptr<RingLinker> linker,
                       std::unique_ptr<ListeningSockets> sockets,
                       Executor* executor)
    : options_(std::move(options)),
      settings_(std::move(settings)),
      executor_(executor),
      linker_(std::move(linker)),
      door_(std::move(sockets)),
      operations_(settings_, options_.max_queued,
                  options_.payload == nullptr ? nullptr
                                              : &options_.payload->ring) {}

RingThread::~RingThread() {
  if (thread_.joinable()) {
    {
      MutexLock lock(&mu_);
      stopping_ = true;
    }
    const uint64_t one = 1;
    (void)!write(wake_fd_, &one, sizeof(one));
    thread_.join();
  }
  if (wake_fd_ >= 0) close(wake_fd_);
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

absl::Status RingThread::Start() {
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  if (epoll_fd_ < 0 || wake_fd_ < 0 ||
      epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, wake_fd_, &event) != 0) {
    return absl::InternalError(
        absl::StrCat("cannot wait for ranks: ", std::strerror(errno)));
  }
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), "ring");
  return absl::OkStatus();
}

void RingThread::Submit(RingCall call, absl::Duration timeout) {
  call.deadline = Now() + timeout;
  bool wake;
  {
    MutexLock lock(&mu_);
    wake = inbox_.empty();
    inbox_.push_back(std::move(call));
  }
  const uint64_t one = 1;
  if (wake) (void)!write(wake_fd_, &one, sizeof(one));
}

void RingThread::Run() {
  bool running = linker_ == nullptr || FindNeighbours();
  // If this rank has not found both of its neighbours, the connection to one of
  // them stays until the end. The neighbour would take its end for a lost rank.
  if (ended_.ok()) linker_ = nullptr;
  door_.Watch(epoll_fd_, kDoor);
  while (running) {
    MoveData();
    // The neighbours are told before the callers.
    if (CheckDeadlines()) MoveData();
    // Before the board: what is done counts as waited for until then.
    Post();
    TellBoard();
    Wait();
    running = TakeCalls();
  }
  Leave();
}

void RingThread::TellBoard() {
  // A ring that is over leaves there what it waited for when it broke.
  if (options_.board == nullptr || !ended_.ok()) return;
  const std::optional<RingOperations::Waiting> waiting = operations_.waiting();
  if (waiting.has_value()) {
    options_.board->WaitFor(waiting->index, waiting->rank);
  } else {
    options_.board->WaitForNone();
  }
}

bool RingThread::FindNeighbours() {
  const absl::Time give_up =
      Now() + (settings_.generation <= 1 ? options_.connect_timeout
                                         : options_.reconnect_timeout);
  while (!linker_->linked()) {
    const absl::Status status = linker_->Step(
        wake_fd_, std::min(give_up, operations_.deadline()));
    ClearWake();
    if (!TakeCalls()) return false;
    if (!status.ok()) {
      Fail(linker_->missing_rank(), std::string(status.message()),
           NotLinked());
    } else if (Now() >= give_up) {
      Fail(linker_->missing_rank(), linker_->Missing(), NotLinked());
    } else {
      CheckDeadlines();
    }
    Post();
    if (!ended_.ok()) return true;
  }
  door_.Open(linker_->TakeSockets());
  links_ = std::make_unique<RingLinks>(settings_, linker_->TakePrevious(),
                                       linker_->TakeNext(), epoll_fd_,
                                       &operations_);
  return true;
}

absl::StatusCode RingThread::NotLinked() const {
  return settings_.generation <= 1 ? absl::StatusCode::kAborted
                                   : absl::StatusCode::kUnavailable;
}

void RingThread::ClearWake() {
  uint64_t calls;
  (void)!read(wake_fd_, &calls, sizeof(calls));
}

// Sleeps until there is something to do.
void RingThread::Wait() {
  const absl::Duration left =
      std::clamp(operations_.deadline() - Now(), absl::ZeroDuration(),
                 absl::Minutes(1));
  int millis = static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
  if (more_) millis = 0;
  epoll_event events[4];
  const int count = epoll_wait(epoll_fd_, events, 4, millis);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.u64 == kWake) {
      ClearWake();
    } else if (events[i].data.u64 == kDoor) {
      door_.Answer(epoll_fd_);
    } else if (events[i].data.u64 == RingLinks::kNext && links_ != nullptr &&
               (events[i].events & ~EPOLLOUT) != 0) {
      OnNext(absl::OkStatus());
    }
  }
}

bool RingThread::TakeCalls() {
  std::vector<RingCall> calls;
  bool stopping;
  {
    MutexLock lock(&mu_);
    calls.swap(inbox_);
    stopping = stopping_;
  }
  for (RingCall& call : calls) operations_.Call(std::move(call));
  return !stopping;
}

void RingThread::MoveData() {
  more_ = false;
  if (links_ == nullptr) return;
  bool paused = false;
  bool blocked = false;
  for (int chunks = 0; ended_.ok(); ++chunks) {
    more_ = chunks == kChunksAtOnce;
    if (more_) break;
    // First of all: what came may have to be passed on, without a chunk that
    // would bring another turn.
    const bool again = !links_->previous_ended() && ReadPrevious(&paused);
    if (ended_.ok() && !links_->next_ended()) {
      const absl::StatusOr<bool> all = links_->Write();
      if (!all.ok()) OnNext(all.status());
      blocked = all.ok() && !*all;
    }
    if (!again) break;
  }
  OnLinkEnd();
  if (!ended_.ok()) {
    const absl::StatusOr<bool> all = links_->Write();
    blocked = all.ok() && !*all;
  }
  links_->Watch(paused, blocked);
  bytes_sent_ = links_->bytes_sent();
}

bool RingThread::ReadPrevious(bool* paused) {
  const absl::StatusOr<RingReader::Result> result = links_->Read();
  const int previous = settings_.previous();
  if (!result.ok()) {
    Fail(previous, absl::StrCat(
                       settings_.Name(previous),
                       absl::IsUnavailable(result.status()) ? " is lost: "
                                                            : " sent ",
                       result.status().message()));
    return false;
  }
  switch (*result) {
    case RingReader::Result::kChunk:
      return true;
    case RingReader::Result::kBlocked:
      return false;
    case RingReader::Result::kWaits:
      *paused = true;
      return false;
    case RingReader::Result::kFailure:
      Fail(links_->failure().rank, links_->failure().text);
      return false;
    case RingReader::Result::kEnd:
      break;
  }
  if (links_->within_frame()) {
    Fail(previous, absl::StrCat(settings_.Name(previous),
                                " is lost: its connection ended"));
  } else {
    links_->ClosePrevious();
  }
  return false;
}

void RingThread::OnNext(const absl::Status& broken) {
  if (!ended_.ok() || links_->next_ended()) return;
  // The reason may have come before the end.
  const absl::StatusOr<RingReader::Result> result = links_->ReadNext();
  const int next = settings_.next();
  if (result.ok() && *result == RingReader::Result::kFailure) {
    Fail(links_->next_failure().rank, links_->next_failure().text);
  } else if (!result.ok() && !absl::IsUnavailable(result.status())) {
    Fail(next, absl::StrCat(settings_.Name(next), " sent ",
                            result.status().message()));
  } else if (!broken.ok() || !result.ok() ||
             *result == RingReader::Result::kEnd) {
    links_->CloseNext();
    why_next_ = !broken.ok() ? broken : result.status();
  }
}

// A rank may leave once it has done its part in all calls of this rank.
void RingThread::OnLinkEnd() {
  if (!ended_.ok()) return;
  if (links_->previous_ended() && operations_.NeedsPrevious()) {
    const int previous = settings_.previous();
    Fail(previous, absl::StrCat(settings_.Name(previous),
                                " is lost: its connection ended"));
  } else if (links_->next_ended() && operations_.NeedsNext()) {
    const int next = settings_.next();
    Fail(next, absl::StrCat(settings_.Name(next), " is lost: ",
                            why_next_.ok() ? "its connection ended"
                                           : why_next_.message()));
  }
}

bool RingThread::CheckDeadlines() {
  if (!ended_.ok()) return false;
  const std::optional<uint64_t> late = operations_.Late(Now());
  if (!late.has_value()) return false;
  std::string what = operations_.WaitsFor(*late);
  int culprit = settings_.rank;
  if (linker_ != nullptr) {
    absl::StrAppend(&what, "; ", linker_->Missing());
    culprit = linker_->missing_rank();
  }
  End(culprit,
      absl::StrCat(settings_.Name(settings_.rank), " gave up: ", what), late,
      absl::DeadlineExceededError(what),
      linker_ != nullptr ? NotLinked() : absl::StatusCode::kUnavailable);
  return true;
}

void RingThread::Fail(int rank, const std::string& text,
                      absl::StatusCode code) {
  End(rank, text, std::nullopt, absl::OkStatus(), code);
}

void RingThread::End(int rank, const std::string& text,
                     std::optional<uint64_t> late,
                     const absl::Status& its_status, absl::StatusCode code) {
  if (!ended_.ok()) return;
  ended_ = WithLostRank(absl::Status(code, text), rank);
  // First of all: it needs the callers' memory for the last time.
  if (links_ != nullptr) links_->Finish(EncodeFailure(rank, text));
  operations_.End(ended_, late, its_status);
}

void RingThread::Post() {
  for (RingOperations::Completed& completed : operations_.TakeCompleted()) {
    executor_->Post([done = std::move(completed.done),
                     status = std::move(completed.status)]() mutable {
      if (status.ok()) {
        std::move(done)(CollectiveReply());
      } else {
        std::move(done)(status);
      }
    });
  }
}

void RingThread::Leave() {
  const bool idle = operations_.idle();
  if (links_ != nullptr && ended_.ok() && !idle) {
    links_->Finish(EncodeFailure(
        settings_.rank,
        absl::StrCat(settings_.Name(settings_.rank), " has left")));
  }
  if (options_.board != nullptr) options_.board->WaitForNone();
  const absl::Status cancelled =
      absl::CancelledError("the collective was destroyed");
  operations_.End(cancelled, std::nullopt, cancelled);
  Post();
  if (links_ != nullptr && !(ended_.ok() && idle)) {
    links_->Flush(options_.linger);
  }
  links_ = nullptr;
}

}  // namespace shoal
