// The time that each kind of coordinator event takes on its strand in a large
// job. No process is served while an event lasts, so no event may take as long
// as a heartbeat. The benchmark drives jobs by hand, on one thread, without a
// network. The first job begins afresh and trains some of its pieces. The
// second job saves. The third job resumes with all but the last hundredth of
// its pieces trained and every tenth piece before that half done, and ends with
// idle workers. With `hosts` that many workers have one file of pieces each
// (--data_scope=host).
//
//   strand_bench [pieces [batches [ps [workers [hosts]]]]]
//
// Prints processor times: the sum, the mean and the longest.
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
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest.h"
#include "checkpoint/manifest_parts.h"
#include "coordinator/coordinator_state.h"

namespace shoal {
namespace {

constexpr uint64_t kPieceBytes = 64 << 10;
constexpr uint32_t kBatchSize = 1024;
// Pieces that the fresh job trains by messages before it is stopped.
constexpr uint32_t kTrainedPieces = 100'000;
constexpr uint32_t kMarksAtOnce = 1000;

struct Size {
  uint32_t pieces = 4'000'000;
  uint64_t batches = 50'000'000;
  int ps = 8;
  int workers = 1024;
  int hosts = 0;  // 0: every worker can read every piece

  uint32_t batches_of_piece() const {
    return static_cast<uint32_t>(batches / pieces);
  }
};

// Times by kind of event, in the order in which the kinds first occurred.
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
  options.ps.count = size.ps;
  options.num_workers = size.workers;
  options.batch_size = kBatchSize;
  options.piece_bytes = kPieceBytes;
  options.scopes.train_by_host = size.hosts > 0;
  return options;
}

// The files of the job.
std::vector<SourceInfo> Sources(const Size& size) {
  if (size.hosts == 0) return {{"data", size.pieces * kPieceBytes, 1}};
  std::vector<SourceInfo> sources;
  for (int i = 0; i < size.hosts; ++i) {
    sources.push_back(
        {absl::StrCat("data", i), size.pieces / size.hosts * kPieceBytes, 1});
  }
  return sources;
}

// The files that worker `i` can read.
std::vector<SourceInfo> SourcesOf(const Size& size, int i) {
  std::vector<SourceInfo> sources = Sources(size);
  if (size.hosts == 0) return sources;
  if (i >= size.hosts) return {};
  return {sources[i]};
}

class Job {
 public:
  Job(const Size& size, CoordinatorOptions options, std::string prefix,
      Times* times)
      : size_(size), prefix_(std::move(prefix)), times_(times) {
    state_ = std::make_unique<CoordinatorState>(std::move(options), now_);
  }

  // Runs `event` and carries out its actions.
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
        } else if (auto* ask = std::get_if<MarkRunsRequest>(&send->message)) {
          asked_.emplace_back(send->session, ask->offset);
        }
      } else if (auto* commit = std::get_if<CommitAction>(&action)) {
        commits_.push_back(commit->number);
        directory_ = commit->directory;
      } else if (std::get_if<ContinueAction>(&action) != nullptr) {
        continues_ = true;
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
    if (role == Role::kWorker) {
      request.train_sources = SourcesOf(size_, index);
      // A worker has some file.
      if (request.train_sources.empty()) request.eval_sources = {{"e", 9, 1}};
    }
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
  // Sessions are numbered from 1: first those of the PSs, then those of the
  // workers.
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
  // Sends the marks of the batches of some leases from every shard, a thousand
  // in each delta.
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
  // Trains the pieces that are leased; each worker asks for more.
  void TrainLeased() {
    const auto leases = std::exchange(leases_, {});
    MarkAll(leases);
    for (const auto& [session, lease] : leases) {
      PieceReport report;
      report.piece = lease.piece.index;
      report.crc32c = lease.piece.index;  // as in MakeCheckpoint
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
      ShardEntry entry;
      entry.shard = static_cast<int>(session) - 1;
      entry.file.file = ShardFileName(entry.shard, size_.ps);
      const bool last = entry.shard + 1 == size_.ps;
      Tell(last ? "the last shard is saved: the manifest" : "a shard is saved",
           session,
           ShardSaved{number, absl::OkStatus(), ShardEntryToText(entry)});
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
  std::string directory_;                             // of the newest commit
  std::vector<std::pair<uint64_t, uint64_t>> asked_;  // session, offset
  bool continues_ = false;
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

void RunSaved(const Size& size, Times* times) {
  CoordinatorOptions options = OptionsOf(size);
  options.checkpoints.save = true;
  options.checkpoints.model_dir = "m";
  options.checkpoints.map.num_shards = size.ps;
  Job job(size, std::move(options), "saving: ", times);
  job.JoinAll();
  job.AskAll("a lease is asked for and granted");
  job.TrainLeased();
  job.Save();
  if (job.commits_.size() != 1) std::abort();
  const std::string text(256 << 20, 'x');
  ManifestText manifest = TextOf(text);
  job.Do("the manifest is written",
         [&](CoordinatorState& state, absl::Time now) {
           return state.OnCommitted(job.commits_[0], manifest, now);
         });
  for (uint64_t offset = 0; offset < text.size();
       offset += kManifestPartBytes) {
    job.Tell("a ps asks for a part of the manifest", 1,
             ManifestRequest{job.directory_, offset});
  }
  const JobReport report = job.state_->Report(job.now_);
  if (report.checkpoint.saved != 1) std::abort();
}

// The marks that every shard would have in a checkpoint.
std::shared_ptr<Manifest> MakeCheckpoint(const Size& size,
                                         std::vector<MarkRun>* marks) {
  auto manifest = std::make_shared<Manifest>();
  manifest->data.sources = Sources(size);
  for (int i = 0; i < size.hosts; ++i) manifest->data.hosts.push_back(i);
  const uint32_t n = size.batches_of_piece();
  const uint32_t per_file = size.pieces / std::max(size.hosts, 1);
  const uint32_t pieces = per_file * std::max(size.hosts, 1);
  for (uint32_t i = 0; i < pieces; ++i) {
    SavedPiece piece{i / per_file,
                     i % per_file * kPieceBytes,
                     (i % per_file + 1) * kPieceBytes,
                     {}};
    const bool last = i >= pieces / 100 * 99;
    if (!last) piece.facts = SavedPieceFacts{uint64_t{n} * kBatchSize, 0, n, i};
    if (!last && i % 10 != 0) {
      marks->push_back({0, i, 0, n, Verdict::kApplied});
      manifest->step += n;
    } else {
      for (uint32_t b = 0; b < n; b += 3) {
        marks->push_back({0, i, b, b + 1, Verdict::kApplied});
        ++manifest->step;
      }
    }
    manifest->data.pieces.push_back(std::move(piece));
  }
  return manifest;
}

// Every shard reports that it is loaded, one shard sends its marks, and the job
// processes them before it trains.
void LoadAll(const std::vector<MarkRun>& marks, uint64_t batches, Job* job) {
  for (int i = 0; i < job->size_.ps; ++i) {
    job->Tell("a shard is loaded", i + 1, ShardLoaded{{batches, 0, 7}});
  }
  while (!job->asked_.empty()) {
    const auto [session, offset] = job->asked_.back();
    job->asked_.pop_back();
    MarkRuns part;
    part.offset = offset;
    const size_t end = std::min<size_t>(marks.size(), offset + kRunsPerMessage);
    part.runs.assign(marks.begin() + static_cast<ptrdiff_t>(offset),
                     marks.begin() + static_cast<ptrdiff_t>(end));
    part.more = end < marks.size();
    job->Tell(part.more ? "16,384 runs of marks"
                        : "the last runs of marks; pieces are made",
              session, std::move(part));
  }
  while (std::exchange(job->continues_, false)) {
    job->Do("a part of the marks is restored",
            [](CoordinatorState& state, absl::Time now) {
              return state.Continue(now);
            });
  }
}

void RunResumed(const Size& size, Times* times) {
  std::vector<MarkRun> marks;
  CoordinatorOptions options = OptionsOf(size);
  const auto manifest = MakeCheckpoint(size, &marks);
  options.checkpoints.resume = manifest;
  options.checkpoints.resume_name = "ckpt";
  options.num_epochs = 1;
  Job job(size, std::move(options), "resumed: ", times);
  job.JoinAll();
  LoadAll(marks, manifest->step, &job);
  const JobReport report = job.state_->Report(job.now_);
  if (!report.status.ok()) std::puts(report.status.ToString().c_str());
  if (report.batches == 0) std::abort();
  job.AskAll("a lease is asked for and granted");
  if (job.leases_.empty()) std::abort();
  // One worker never ends; the others ask again and again.
  job.leases_.erase(job.leases_.begin());
  uint64_t trained = 0;
  while (!job.leases_.empty() && trained < kTrainedPieces) {
    trained += job.leases_.size();
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
  read(5, &size.hosts);
  return size;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  const shoal::Size size = shoal::SizeOf(argc, argv);
  std::printf("%u pieces, %llu batches, %d ps, %d workers, %d hosts\n",
              size.pieces, static_cast<unsigned long long>(size.batches),
              size.ps, size.workers, size.hosts);
  shoal::Times times;
  shoal::RunFresh(size, &times);
  shoal::RunSaved(size, &times);
  shoal::RunResumed(size, &times);
  times.Print();
  return 0;
}
