// How long the events of a coordinator take on its strand, by kind, in a large
// job: no process is served while one lasts, so none may take as long as a
// heartbeat. A job is driven by hand, on one thread, without a network: it
// begins afresh and trains some of its pieces; one of as many pieces as a
// checkpoint can hold saves; one resumes when all but the last hundredth of it
// is trained, and comes to its end with idle workers.
//
//   strand_bench [pieces [batches [ps [workers]]]]
//
// The times are of processor time: the sum, the mean and the longest.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bench/micro/thread_cpu.h"
#include "checkpoint/manifest.h"
#include "cluster/coordinator_state.h"

namespace shoal {
namespace {

constexpr uint64_t kPieceBytes = 64 << 10;
constexpr uint32_t kBatchSize = 1024;
// Pieces that the fresh job trains by messages before it is cut short.
constexpr uint32_t kTrainedPieces = 100'000;
constexpr uint32_t kMarksAtOnce = 1000;

struct Size {
  uint32_t pieces = 4'000'000;
  uint64_t batches = 50'000'000;
  int ps = 8;
  int workers = 1024;

  uint32_t batches_of_piece() const {
    return static_cast<uint32_t>(batches / pieces);
  }
};

// Times by kind of event, in the order in which the kinds were first met.
class Times {
 public:
  void Add(const std::string& kind, double seconds) {
    auto it = std::find_if(kinds_.begin(), kinds_.end(),
                           [&](const Kind& k) { return k.name == kind; });
    if (it == kinds_.end()) it = kinds_.insert(it, Kind{kind});
    ++it->count;
    it->sum += seconds;
    it->longest = std::max(it->longest, seconds);
  }

  void Print() const {
    std::printf("%-44s %9s %11s %11s %11s\n", "event", "count", "sum ms",
                "mean us", "longest ms");
    for (const Kind& kind : kinds_) {
      std::printf("%-44s %9llu %11.1f %11.2f %11.3f\n", kind.name.c_str(),
                  static_cast<unsigned long long>(kind.count), 1e3 * kind.sum,
                  1e6 * kind.sum / static_cast<double>(kind.count),
                  1e3 * kind.longest);
    }
  }

 private:
  struct Kind {
    std::string name;
    uint64_t count = 0;
    double sum = 0;
    double longest = 0;
  };
  std::vector<Kind> kinds_;
};

CoordinatorOptions OptionsOf(const Size& size) {
  CoordinatorOptions options;
  options.job = "bench";
  options.num_ps = size.ps;
  options.num_workers = size.workers;
  options.batch_size = kBatchSize;
  options.piece_bytes = kPieceBytes;
  return options;
}

std::vector<SourceInfo> Sources(const Size& size) {
  return {{"data", size.pieces * kPieceBytes, 1}};
}

class Job {
 public:
  Job(const Size& size, CoordinatorOptions options, std::string prefix,
      Times* times)
      : size_(size), prefix_(std::move(prefix)), times_(times) {
    state_ = std::make_unique<CoordinatorState>(std::move(options), now_);
  }

  // Runs `event` and does what its actions say.
  template <typename Event>
  void Do(const std::string& kind, Event event) {
    now_ += absl::Microseconds(10);
    const double start = ThreadCpuSeconds();
    CoordinatorActions actions = event(*state_, now_);
    const double seconds = ThreadCpuSeconds() - start;
    times_->Add(absl::StrCat(prefix_, kind), seconds);
    for (CoordinatorAction& action : actions) {
      if (auto* send = std::get_if<SendAction>(&action)) {
        if (auto* grant = std::get_if<LeaseGrant>(&send->message)) {
          leases_.emplace_back(send->session, std::move(grant->lease));
        } else if (auto* hold = std::get_if<Hold>(&send->message)) {
          holds_.emplace_back(send->session, hold->number);
        } else if (auto* save = std::get_if<SaveShard>(&send->message)) {
          saves_.emplace_back(send->session, save->number);
        }
      } else if (auto* commit = std::get_if<CommitAction>(&action)) {
        commits_.push_back(commit->number);
      } else if (auto* log = std::get_if<LogAction>(&action)) {
        if (log->level == LogLevel::kError) std::puts(log->line.c_str());
      }
    }
  }
  void Tell(const std::string& kind, uint64_t session, ProcessMessage message) {
    Do(kind, [&](CoordinatorState& state, absl::Time now) {
      return state.OnMessage(session, std::move(message), now);
    });
  }
  void Join(Role role, int index) {
    RegisterRequest request;
    request.job = "bench";
    request.role = role;
    request.index = index;
    if (role == Role::kPs) request.address = absl::StrCat("host", index, ":1");
    if (role == Role::kWorker) request.train_sources = Sources(size_);
    Life life;
    Do("a process registers", [&](CoordinatorState& state, absl::Time now) {
      const auto reply = state.Register(request, now);
      if (!reply.ok()) std::abort();
      life = reply->life;
      return CoordinatorActions();
    });
    const bool starts = role == Role::kWorker && index + 1 == size_.workers;
    Do(starts ? "training starts" : "a session opens",
       [&](CoordinatorState& state, absl::Time now) {
         return state.OpenSession(++sessions_, life, now);
       });
  }
  // Sessions from 1 on are of the PSs, then of the workers.
  void JoinAll() {
    for (int i = 0; i < size_.ps; ++i) Join(Role::kPs, i);
    for (int i = 0; i < size_.workers; ++i) Join(Role::kWorker, i);
  }
  uint64_t Worker(int i) const { return size_.ps + 1 + i; }

  void Beat() {
    for (int i = 0; i < size_.ps + size_.workers; ++i) {
      Tell("a heartbeat", i + 1, Heartbeat{});
    }
    for (int i = 0; i < 4; ++i) {
      Do("a tick", [](CoordinatorState& state, absl::Time now) {
        return state.Tick(now);
      });
    }
  }
  void AskAll(const std::string& kind) {
    for (int i = 0; i < size_.workers; ++i) {
      Tell(kind, Worker(i), LeaseRequest{});
    }
  }
  // The marks of some leases' batches on every shard, in deltas of a thousand.
  void MarkAll(const std::vector<std::pair<uint64_t, Lease>>& leases) {
    for (int ps = 0; ps < size_.ps; ++ps) {
      MarkDelta delta;
      const auto send = [&] {
        Tell("1,000 marks", ps + 1, std::exchange(delta, MarkDelta()));
      };
      for (const auto& [session, lease] : leases) {
        for (uint32_t i = 0; i < size_.batches_of_piece(); ++i) {
          if (lease.Skips(i)) continue;
          delta.marks.push_back({{lease.epoch, lease.piece.index, i},
                                 Verdict::kApplied,
                                 lease.number,
                                 false});
          if (delta.marks.size() == kMarksAtOnce) send();
        }
      }
      if (!delta.marks.empty()) send();
    }
  }
  // Trains what is leased; each worker asks for more.
  void TrainLeased() {
    const auto leases = std::exchange(leases_, {});
    MarkAll(leases);
    for (const auto& [session, lease] : leases) {
      PieceReport report;
      report.piece = lease.piece.index;
      report.examples = uint64_t{size_.batches_of_piece()} * kBatchSize;
      report.batches = size_.batches_of_piece();
      Tell("a piece is reported", session, report);
      Tell("a lease is done", session, LeaseDone{lease.number});
      Tell("a lease is asked for and granted", session, LeaseRequest{});
    }
  }
  void Save() {
    Do("a save is asked for", [](CoordinatorState& state, absl::Time now) {
      return state.RequestSave(1, now);
    });
    for (int round = 0; round < 2; ++round) {  // the workers, then the PSs
      for (const auto& [session, number] : std::exchange(holds_, {})) {
        Held held{number, {}};
        held.marks.applied = state_->Report(now_).batches;
        Tell(round == 0 ? "a worker is held" : "a ps is held", session, held);
      }
    }
    Beat();
    for (const auto& [session, number] : std::exchange(saves_, {})) {
      Tell("a shard is saved", session,
           ShardSaved{number, absl::OkStatus(), "{}"});
    }
  }

  const Size size_;
  std::string prefix_;
  Times* const times_;
  absl::Time now_ = absl::UnixEpoch();
  std::unique_ptr<CoordinatorState> state_;
  uint64_t sessions_ = 0;
  std::vector<std::pair<uint64_t, Lease>> leases_;
  std::vector<std::pair<uint64_t, uint64_t>> holds_;  // session, number
  std::vector<std::pair<uint64_t, uint64_t>> saves_;
  std::vector<uint64_t> commits_;
};

void RunFresh(const Size& size, Times* times) {
  Job job(size, OptionsOf(size), "", times);
  job.JoinAll();
  for (int i = 0; i < 2; ++i) {
    job.AskAll("a lease is asked for and granted");
  }
  while (job.state_->Report(job.now_).batches <
         uint64_t{std::min(kTrainedPieces, size.pieces / 2)} *
             size.batches_of_piece()) {
    job.TrainLeased();
    job.Beat();
  }
  job.Do("a worker dies", [&](CoordinatorState& state, absl::Time now) {
    return state.OnSessionEnd(job.Worker(3), absl::UnavailableError("x"), now);
  });
}

// As many pieces as a checkpoint can hold.
void RunSaved(Size size, Times* times) {
  size.pieces = std::min(size.pieces, 600'000u);
  CoordinatorOptions options = OptionsOf(size);
  options.checkpoints.save = true;
  options.checkpoints.model_dir = "m";
  options.checkpoints.map.num_shards = size.ps;
  Job job(size, std::move(options), "saving: ", times);
  job.JoinAll();
  job.AskAll("a lease is asked for and granted");
  job.TrainLeased();
  job.Save();
  const JobReport report = job.state_->Report(job.now_);
  if (report.checkpoint.voided != 1) std::abort();
}

// What every shard had marked, as it would be in a checkpoint: all but the last
// hundredth, of which every third batch is marked.
std::shared_ptr<Manifest> MakeCheckpoint(const Size& size,
                                         std::vector<MarkRun>* marks) {
  auto manifest = std::make_shared<Manifest>();
  manifest->data.sources = Sources(size);
  const uint32_t n = size.batches_of_piece();
  const uint32_t whole = size.pieces / 100 * 99;
  for (uint32_t i = 0; i < size.pieces; ++i) {
    SavedPiece piece{0, i * kPieceBytes, (i + 1) * kPieceBytes, {}};
    if (i < whole) {
      piece.facts = SavedPieceFacts{uint64_t{n} * kBatchSize, 0, n, i};
      marks->push_back({0, i, 0, n, Verdict::kApplied});
      manifest->step += n;
    }
    for (uint32_t b = 0; i >= whole && b < n; b += 3) {
      marks->push_back({0, i, b, b + 1, Verdict::kApplied});
      ++manifest->step;
    }
    manifest->data.pieces.push_back(std::move(piece));
  }
  return manifest;
}

void RunResumed(const Size& size, Times* times) {
  std::vector<MarkRun> marks;
  CoordinatorOptions options = OptionsOf(size);
  options.checkpoints.resume = MakeCheckpoint(size, &marks);
  options.checkpoints.resume_name = "ckpt";
  options.num_epochs = 1;
  Job job(size, std::move(options), "resumed: ", times);
  job.JoinAll();
  for (int i = 0; i < size.ps; ++i) {
    ShardLoaded loaded{marks};
    job.Tell(i + 1 < size.ps ? "a shard is loaded"
                             : "the last shard is loaded, training starts",
             i + 1, std::move(loaded));
  }
  const JobReport report = job.state_->Report(job.now_);
  if (!report.status.ok()) std::puts(report.status.ToString().c_str());
  if (report.batches == 0) std::abort();
  job.AskAll("a lease is asked for and granted");
  // One worker never ends; the others ask again and again.
  job.leases_.erase(job.leases_.begin());
  while (!job.leases_.empty()) {
    job.TrainLeased();
    job.Beat();
  }
  job.prefix_ = "idle: ";
  job.AskAll("a lease is asked for, none is left");
  for (int i = 0; i < 3; ++i) job.Beat();
}

Size SizeOf(int argc, char** argv) {
  Size size;
  const auto read = [&](int i, auto* to) {
    if (i < argc && !absl::SimpleAtoi(argv[i], to)) std::exit(2);
  };
  read(1, &size.pieces);
  read(2, &size.batches);
  read(3, &size.ps);
  read(4, &size.workers);
  return size;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  const shoal::Size size = shoal::SizeOf(argc, argv);
  std::printf("%u pieces, %llu batches, %d ps, %d workers\n", size.pieces,
              static_cast<unsigned long long>(size.batches), size.ps,
              size.workers);
  shoal::Times times;
  shoal::RunFresh(size, &times);
  shoal::RunSaved(size, &times);
  shoal::RunResumed(size, &times);
  times.Print();
  return 0;
}
