#include "tests/sim/simulated_job.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/logger.h"
#include "checkpoint/checkpoint_directory.h"
#include "gtest/gtest.h"
#include "tests/sim/job_environment.h"
#include "tests/sim/job_ps.h"
#include "tests/sim/job_worker.h"
#include "tests/sim/simulated_host.h"

namespace shoal {
namespace {

// What starts the processes of a job, again and again.
class Launcher {
 public:
  explicit Launcher(const SimulatedJobOptions& options);
  ~Launcher();

  SimulatedJobResult Run();

 private:
  // One start of a process, and what is composed on it.
  struct Running {
    SimulatedProcess* process = nullptr;
    std::unique_ptr<JobPs> ps;
    std::unique_ptr<JobWorker> worker;
  };
  // A place for a process, "ps 0" or "worker 1".
  struct Slot {
    Role role = Role::kPs;
    int index = 0;
    int starts = 0;
    std::unique_ptr<Running> running;  // null: killed, or not started yet
  };

  void Start(const std::string& name);
  void StartSoon(const std::string& name, absl::Duration within);
  // The process of this start would exit.
  void OnExit(const std::string& name, SimulatedProcess* process,
              std::optional<JobReport> report);
  void End(std::unique_ptr<Running> running, bool silently);
  void Kill(const std::string& name, bool silently);

  // Whether a job has begun to train.
  bool Trains() const;
  void AwaitTraining();
  void Befall(const Fault& fault);
  // The names of the slots that a fault strikes.
  std::vector<std::string> VictimsOf(const Fault& fault) const;
  void BefallOne(const Fault& fault, const std::string& name);
  void ResumeFromEach();

  const SimulatedJobOptions options_;
  const ProbeJob job_;
  const KeyedDraw draw_;
  Simulator simulator_;
  // All that ever started; the dead ones too, whose strands others hold.
  std::vector<std::unique_ptr<SimulatedProcess>> processes_;
  SimulatedNetwork network_;
  Logger logger_;
  SimulatedExecutor fate_;
  std::vector<std::unique_ptr<SimulatedHost>> hosts_;
  JobEnvironment environment_;
  std::map<std::string, Slot> slots_;
  // Taken for dead, and alive.
  std::vector<std::unique_ptr<Running>> replaced_;
  SimulatedJobResult result_;
};

Launcher::Launcher(const SimulatedJobOptions& options)
    : options_(options),
      job_(options.job),
      draw_(options.seed),
      simulator_(options.seed),
      network_(&simulator_, options.seed, options.network),
      logger_({"", options.log_level}),
      fate_(&simulator_, "fate") {
  environment_.job = &job_;
  environment_.network = &network_;
  environment_.logger = &logger_;
  environment_.draw = draw_;
  environment_.bugs = options.bugs;
  environment_.save_steps = options.save_steps;
  environment_.pipeline_depth = options.pipeline_depth;
  environment_.ssp_bound = options.ssp_bound;
  environment_.complaints = &result_.complaints;
  network_.Observe(options.observe);
  const auto add = [this](Role role, int count) {
    for (int i = 0; i < count; ++i) {
      Slot& slot = slots_[ProcessName(role, i)];
      slot.role = role;
      slot.index = i;
      if (hosts_.size() > static_cast<size_t>(i)) continue;
      hosts_.push_back(
          std::make_unique<SimulatedHost>(draw_.Word("disk", hosts_.size())));
      AddProbeFiles(options_.job,
                    [&](const std::string& path, std::string bytes) {
                      hosts_.back()->AddFile(path, bytes);
                    });
    }
  };
  add(Role::kPs, options.job.ps);
  add(Role::kWorker, options.job.workers);
}

Launcher::~Launcher() {
  fate_.Kill();
  for (const auto& process : processes_) network_.Kill(process.get());
}

void Launcher::Start(const std::string& name) {
  Slot& slot = slots_[name];
  if (result_.finished || slot.running != nullptr) return;
  processes_.push_back(
      std::make_unique<SimulatedProcess>(&simulator_, name, ++slot.starts));
  SimulatedProcess* const process = processes_.back().get();
  slot.running = std::make_unique<Running>();
  slot.running->process = process;
  FileSystem* const files = hosts_[slot.index]->files();
  if (slot.role == Role::kWorker) {
    slot.running->worker = std::make_unique<JobWorker>(
        environment_, slot.index, process, files,
        [this, name, process](MemberEnd) {
          fate_.Post([this, name, process] { OnExit(name, process, {}); });
        });
    return;
  }
  if (slot.index == 0) ++result_.jobs;
  slot.running->ps = std::make_unique<JobPs>(
      environment_, slot.index, process, files,
      [this, name, process](JobPs::End end) {
        fate_.Post([this, name, process, report = std::move(end.report)] {
          OnExit(name, process, report);
        });
      });
  slot.running->ps->OnReport([this](const JobReport& report) {
    result_.report = report;
    result_.finished = report.status.ok() || !options_.restart_jobs;
    if (!result_.finished) result_.failed.push_back(report.status);
  });
}

void Launcher::StartSoon(const std::string& name, absl::Duration within) {
  const absl::Duration delay =
      draw_.Span(within, "restart", name, slots_[name].starts);
  fate_.PostAfter(delay, [this, name] { Start(name); });
}

void Launcher::End(std::unique_ptr<Running> running, bool silently) {
  network_.Kill(running->process, silently);
}

void Launcher::OnExit(const std::string& name, SimulatedProcess* process,
                      std::optional<JobReport> report) {
  if (result_.finished) return;
  Slot& slot = slots_[name];
  if (slot.running != nullptr && slot.running->process == process) {
    End(std::move(slot.running), /*silently=*/false);
    if (options_.restart_jobs) StartSoon(name, options_.restart_within);
    return;
  }
  for (auto at = replaced_.begin(); at != replaced_.end(); ++at) {
    if ((*at)->process != process) continue;
    End(std::move(*at), /*silently=*/false);
    replaced_.erase(at);
    return;
  }
}

void Launcher::Kill(const std::string& name, bool silently) {
  Slot& slot = slots_[name];
  if (slot.running == nullptr) return;
  if (slot.role == Role::kWorker) ++result_.kills;
  End(std::move(slot.running), silently);
  StartSoon(name, options_.restart_within);
}

bool Launcher::Trains() const {
  const Slot& leader = slots_.at(ProcessName(Role::kPs, 0));
  return leader.running != nullptr &&
         leader.running->ps->coordinator()->Report().started;
}

void Launcher::AwaitTraining() {
  if (!Trains()) {
    fate_.PostAfter(absl::Milliseconds(1), [this] { AwaitTraining(); });
    return;
  }
  for (const Fault& fault : PlanFaults(options_.seed, options_.faults,
                                       options_.job.ps, options_.job.workers)) {
    fate_.PostAfter(fault.at, [this, fault] {
      if (!result_.finished) Befall(fault);
    });
  }
}

std::vector<std::string> Launcher::VictimsOf(const Fault& fault) const {
  int host = 0;
  const bool of_host = absl::StartsWith(fault.victim, "host ") &&
                       absl::SimpleAtoi(fault.victim.substr(5), &host);
  std::vector<std::string> names;
  for (const auto& [name, slot] : slots_) {
    const bool struck = of_host ? slot.index == host
                                : fault.victim == "all" || fault.victim == name;
    if (struck && slot.running != nullptr) names.push_back(name);
  }
  return names;
}

void Launcher::Befall(const Fault& fault) {
  const std::vector<std::string> names = VictimsOf(fault);
  if (names.empty()) return;
  result_.befell.push_back(ToString(fault));
  if (fault.kind == Fault::Kind::kFreeze || fault.kind == Fault::Kind::kStall) {
    ++result_.stalls;
  }
  for (const std::string& name : names) BefallOne(fault, name);
  if (fault.kind != Fault::Kind::kKill) return;
  for (const auto& host : hosts_) {
    const bool dark =
        fault.victim == "all" ||
        fault.victim == absl::StrCat("host ", &host - hosts_.data());
    if (dark) host->LosePower();
  }
}

void Launcher::BefallOne(const Fault& fault, const std::string& name) {
  Slot& slot = slots_[name];
  switch (fault.kind) {
    case Fault::Kind::kKill:
      // A host that has no power cannot say that its processes are gone.
      Kill(name, /*silently=*/fault.victim != name &&
                     fault.draw.Chance(0.5, "silently"));
      break;
    case Fault::Kind::kBreak:
      network_.Break(slot.running->process);
      break;
    case Fault::Kind::kFreeze:
      slot.running->process->Freeze(fault.span);
      break;
    case Fault::Kind::kReplace:
      slot.running->process->Freeze(fault.span);
      replaced_.push_back(std::move(slot.running));
      StartSoon(name, options_.restart_within);
      break;
    case Fault::Kind::kStall:
      slot.running->process->Stall(fault.strand, fault.span);
      break;
  }
}

SimulatedJobResult Launcher::Run() {
  const absl::Time start = simulator_.Now();
  // Processes start in any order within ten seconds.
  for (const auto& [name, slot] : slots_) StartSoon(name, absl::Seconds(10));
  AwaitTraining();
  simulator_.RunUntil([this] { return result_.finished; },
                      start + absl::Hours(1));
  result_.took = simulator_.Now() - start;
  result_.network = network_.counts();
  if (options_.save_steps != 0) ResumeFromEach();
  return std::move(result_);
}

// A host's files, those of the model directory.
void CopyModelDirectory(const FileSystem& from, FakeFileSystem* to) {
  const auto directories = from.ListDirectory(kProbeModelDir);
  if (!directories.ok()) return;
  for (const DirectoryEntry& directory : *directories) {
    const std::string path = absl::StrCat(kProbeModelDir, "/", directory.name);
    if (!directory.is_directory) continue;
    const auto files = from.ListDirectory(path);
    EXPECT_TRUE(files.ok()) << files.status();
    for (const DirectoryEntry& file : *files) {
      const std::string name = absl::StrCat(path, "/", file.name);
      to->AddFile(name, ContentsOf(from, name));
    }
  }
}

void Launcher::ResumeFromEach() {
  FakeFileSystem all_files;
  AddProbeFiles(options_.job, [&](const std::string& path, std::string bytes) {
    all_files.AddFile(path, std::move(bytes));
  });
  // That of host 0 last: its manifests are the ones that count.
  for (size_t i = hosts_.size(); i-- > 0;) {
    CopyModelDirectory(*hosts_[i]->files(), &all_files);
  }
  const auto all = ListCheckpoints(all_files, kProbeModelDir);
  EXPECT_TRUE(all.ok()) << all.status();
  for (const CheckpointInfo& info : *all) {
    if (absl::IsNotFound(info.status)) continue;  // void
    if (result_.resumed_digests.size() == 8) break;
    if (!info.whole()) {
      result_.complaints.push_back(
          absl::StrCat(info.path, " is not whole: ", info.WhyNot()));
      continue;
    }
    const JobReport report = RunSerialProbe(options_.job, &all_files, &info);
    EXPECT_EQ(report.trained,
              uint64_t{1} * options_.job.rows * options_.job.epochs);
    result_.resumed_digests.push_back(report.digest);
  }
}

}  // namespace

SimulatedJobResult RunSimulatedJob(const SimulatedJobOptions& options) {
  return Launcher(options).Run();
}

std::vector<std::string> Complaints(const SimulatedJobOptions& options,
                                    const SimulatedJobResult& result,
                                    uint64_t digest) {
  std::vector<std::string> complaints = result.complaints;
  const JobReport& report = result.report;
  if (!result.finished) complaints.push_back("the job hangs");
  if (!report.status.ok()) {
    complaints.push_back(
        absl::StrCat("the job failed: ", report.status.ToString()));
  }
  for (const absl::Status& failed : result.failed) {
    // A job may end since a process died, and for no other reason.
    if (absl::IsUnavailable(failed) || absl::IsFailedPrecondition(failed)) {
      continue;
    }
    complaints.push_back(
        absl::StrCat("an earlier job failed: ", failed.ToString()));
  }
  if (!complaints.empty()) return complaints;
  const uint64_t samples = uint64_t{1} * options.job.rows * options.job.epochs;
  if (report.samples != samples || report.trained != samples ||
      report.rejected != 0 || report.lost != 0) {
    complaints.push_back(
        absl::StrCat("of ", samples, " samples: ", LedgerLine(report)));
  }
  if (report.digest != digest) {
    complaints.push_back(absl::StrCat(
        "a batch was applied twice or not at all: ", LedgerLine(report)));
  }
  for (const PsReport& ps : report.ps) {
    if (ps.stats.canary == CanaryStats{report.batches, 0, 1, 1}) continue;
    complaints.push_back(
        absl::StrCat("ps ", ps.index, " has other canaries than 1"));
  }
  for (const uint64_t resumed : result.resumed_digests) {
    if (resumed != digest) complaints.push_back("a checkpoint is not one set");
  }
  return complaints;
}

}  // namespace shoal
