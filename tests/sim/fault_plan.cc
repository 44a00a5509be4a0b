#include "tests/sim/fault_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

const char* NameOf(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::kKill:
      return "kill";
    case Fault::Kind::kBreak:
      return "break";
    case Fault::Kind::kFreeze:
      return "freeze";
    case Fault::Kind::kReplace:
      return "replace";
    case Fault::Kind::kStall:
      break;
  }
  return "stall";
}

// Faults of one kind at one sort of victim.
struct Sort {
  const char* name;
  Fault::Kind kind;
  int count;
  // Between two of them, and before the first.
  absl::Duration least;
  absl::Duration most;
  absl::Duration longest;  // freeze or stall
};

class Planner {
 public:
  Planner(uint64_t seed, int ps, int workers)
      : draw_(KeyedDraw(seed).Of("faults")), ps_(ps), workers_(workers) {}

  void Plan(const Sort& sort) {
    absl::Duration at;
    for (int n = 0; n < sort.count; ++n) {
      const KeyedDraw draw = draw_.Of(NameOf(sort.kind), sort.name, n);
      at += sort.least + draw.Span(sort.most - sort.least, "at");
      Fault fault;
      fault.kind = sort.kind;
      fault.at = at;
      fault.victim = VictimOf(sort.name, draw);
      fault.span = draw.Span(sort.longest, "span");
      fault.strand = draw.Word("strand");
      fault.draw = draw;
      if (!fault.victim.empty()) faults_.push_back(std::move(fault));
    }
  }
  // One freeze of a fixed length, while the job trains.
  void Freeze(const char* victim, absl::Duration span) {
    if (span <= absl::ZeroDuration()) return;
    Fault fault;
    fault.kind = Fault::Kind::kFreeze;
    fault.at = absl::Milliseconds(200) +
               draw_.Span(absl::Milliseconds(20), "freeze", victim);
    fault.victim = victim;
    fault.span = span;
    faults_.push_back(std::move(fault));
  }

  std::vector<Fault> Take() {
    std::stable_sort(
        faults_.begin(), faults_.end(),
        [](const Fault& a, const Fault& b) { return a.at < b.at; });
    return std::move(faults_);
  }

 private:
  std::string VictimOf(absl::string_view sort, const KeyedDraw& draw) const {
    const uint64_t word = draw.Word("victim");
    if (sort == "ps") {
      return ps_ < 2 ? "" : absl::StrCat("ps ", 1 + word % (ps_ - 1));
    }
    if (sort == "ps 0" || sort == "all") return std::string(sort);
    if (sort == "host") return absl::StrCat("host ", word % ps_);
    if (sort == "any") {
      const int index = static_cast<int>(word % (ps_ + workers_));
      return index < ps_ ? absl::StrCat("ps ", index)
                         : absl::StrCat("worker ", index - ps_);
    }
    return absl::StrCat("worker ", word % workers_);
  }

  const KeyedDraw draw_;
  const int ps_;
  const int workers_;
  std::vector<Fault> faults_;
};

}  // namespace

std::string ToString(const Fault& fault) {
  return absl::StrCat(absl::FormatDuration(fault.at), ": ", NameOf(fault.kind),
                      " ", fault.victim);
}

std::vector<Fault> PlanFaults(uint64_t seed, const FaultCounts& counts, int ps,
                              int workers) {
  using Kind = Fault::Kind;
  const auto ms = [](int n) { return absl::Milliseconds(n); };
  const absl::Duration none;
  Planner planner(seed, ps, workers);
  // Where a job goes on after them, the later ones strike its successors.
  planner.Plan({"ps", Kind::kKill, counts.ps_kills, ms(5), ms(3000), none});
  planner.Plan({"ps 0", Kind::kKill, counts.ps0_kills, ms(5), ms(3000), none});
  planner.Plan({"host", Kind::kKill, counts.host_kills, ms(5), ms(3000), none});
  planner.Plan({"all", Kind::kKill, counts.all_kills, ms(5), ms(3000), none});
  planner.Plan(
      {"worker", Kind::kKill, counts.worker_kills, ms(10), ms(70), none});
  planner.Plan({"any", Kind::kBreak, counts.breaks, ms(5), ms(45), none});
  planner.Plan({"worker that stands still", Kind::kFreeze,
                counts.worker_freezes, ms(5), ms(300), ms(12'000)});
  planner.Plan({"worker that is replaced", Kind::kReplace,
                counts.replaced_workers, ms(5), ms(300), ms(9'000)});
  // Shorter than what makes a process silent.
  planner.Plan({"any", Kind::kStall, counts.stalls, ms(5), ms(100), ms(2'500)});
  planner.Freeze("all", counts.freeze_all);
  planner.Freeze("ps 0", counts.freeze_ps0);
  return planner.Take();
}

}  // namespace shoal
