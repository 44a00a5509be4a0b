#include "coordinator/overdue_text.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace shoal {
namespace {

std::string MissingPs(const OverdueView& view) {
  std::vector<std::string> missing;
  for (int i = 0; i < view.options.ps.count; ++i) {
    const Member* ps = view.membership.Find(Role::kPs, i);
    if (ps != nullptr && ps->open()) {
      if (!view.loaded.has(i)) {
        missing.push_back(
            absl::StrCat(ps->Name(), ", which still loads its shard"));
      } else if (view.options.checkpoints.resume != nullptr &&
                 !view.loaded.all() && view.loaded.source() == i) {
        missing.push_back(
            absl::StrCat(ps->Name(), ", which still reports its batches"));
      }
      continue;
    }
    const bool placed =
        static_cast<size_t>(i) < view.options.ps_addresses.size();
    missing.push_back(absl::StrCat(
        ProcessName(Role::kPs, i),
        placed ? absl::StrCat(" (at ", view.options.ps_addresses[i], ")") : "",
        ps != nullptr ? ", which registered but opened no session" : ""));
  }
  return absl::StrCat("the job still lacks ", absl::StrJoin(missing, "; "),
                      "; is it running, and can it reach the coordinator?");
}

std::string WhoHoldsWhat(const OverdueView& view) {
  std::vector<std::string> parts;
  if (!view.open_step.empty()) parts.push_back(view.open_step);
  const size_t before = parts.size();
  for (const HeldLease& held : view.leases.held()) {
    for (const Member& worker : view.membership.Open(Role::kWorker)) {
      if (worker.life != held.owner) continue;
      parts.push_back(
          absl::StrCat(worker.Name(), " holds ", view.facts.Name(held.piece)));
    }
  }
  if (parts.size() == before) {
    parts.push_back("no live worker holds a lease");
  }
  if (!view.last_lease_failure.empty()) {
    parts.push_back(view.last_lease_failure);
  }
  return absl::StrJoin(parts, "; ");
}

std::string WhyAllMustCome(const CoordinatorOptions& options) {
  if (options.lanes) {
    return "; in this mode it begins when all workers are there, because each "
           "of them has a part in every step";
  }
  return absl::StrCat("; with ", options.scopes.Flags(),
                      " it begins when all workers are there, because no other "
                      "host has their files");
}

}  // namespace

std::string MissingProcesses(const CoordinatorOptions& options,
                             const Membership& membership) {
  std::vector<std::string> missing;
  auto look_for = [&](Role role, int count) {
    for (int i = 0; i < count; ++i) {
      const Member* member = membership.Find(role, i);
      if (member == nullptr || !member->open()) {
        missing.push_back(ProcessName(role, i));
      }
    }
  };
  // The copies of a ring's ranks are in the processes of the workers.
  look_for(Role::kPs,
           options.ring ? options.ps.num_servers() : options.ps.count);
  look_for(Role::kWorker, options.num_workers);
  constexpr size_t kNamed = 8;
  if (missing.size() <= kNamed) return absl::StrJoin(missing, ", ");
  const size_t more = missing.size() - kNamed;
  missing.resize(kNamed);
  return absl::StrCat(absl::StrJoin(missing, ", "), " and ", more, " more");
}

absl::Status TooLate(Overdue what, const OverdueView& view) {
  const std::string start = absl::FormatDuration(view.options.start_deadline);
  std::string why;
  switch (what) {
    case Overdue::kServers: {
      // A rank of a ring that is there may still load its copy.
      const std::string ranks =
          view.options.ring ? MissingProcesses(view.options, view.membership)
                            : "";
      why = absl::StrCat("after ", start, " ",
                         ranks.empty()
                             ? MissingPs(view)
                             : absl::StrCat("the job still lacks ", ranks,
                                            WhyAllMustCome(view.options)));
      break;
    }
    case Overdue::kHosts:
      why = absl::StrCat("after ", start, " the job still lacks ",
                         MissingProcesses(view.options, view.membership),
                         WhyAllMustCome(view.options));
      break;
    case Overdue::kWorker:
      why = absl::StrCat("no worker is alive, for ", start, "; ",
                         view.options.num_workers, " were expected");
      break;
    case Overdue::kProgress:
      why = absl::StrCat("nothing was trained or scored for ",
                         absl::FormatDuration(view.options.progress_deadline),
                         ": ", WhoHoldsWhat(view));
      break;
    case Overdue::kReport: {
      std::vector<std::string> late;
      for (const Member& ps : view.membership.Open(Role::kPs)) {
        if (!view.progress.reported(ps.index)) late.push_back(ps.Name());
      }
      why = absl::StrCat(absl::StrJoin(late, ", "),
                         " did not report on its shard within ",
                         absl::FormatDuration(view.options.report_deadline));
      break;
    }
  }
  return absl::DeadlineExceededError(why);
}

}  // namespace shoal
