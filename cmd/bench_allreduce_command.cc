// shoal bench allreduce: the network between hosts, by the AllReduce of a ring.

#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "base/thread_executor.h"
#include "bench/allreduce/allreduce_flags.h"
#include "bench/allreduce/allreduce_result.h"
#include "bench/allreduce/ring_turns.h"
#include "bench/allreduce/turn_plan.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "core/choice.h"
#include "job/job_token.h"
#include "job/main_wait.h"
#include "rpc/tcp_ring.h"

namespace shoal {
namespace {

// Time for a rank whose launcher is gone to end.
constexpr absl::Duration kEndingGrace = absl::Seconds(2);

struct Rank {
  AllReduceFlags flags;
  std::vector<std::string> addresses;
  std::string token;

  int size() const { return static_cast<int>(addresses.size()); }
  int next() const { return (flags.rank + 1) % size(); }
};

absl::StatusOr<std::string> ReadToken(const AllReduceFlags& flags) {
  JobFlags job(Command::kWorker);
  job.cluster.token_file = flags.token_file;
  job.deadlines.start_timeout = flags.start_timeout;
  return JobToken(job);
}

absl::StatusOr<RingPort> OpenPort(const Rank& rank) {
  const bool own = rank.flags.listen.empty();
  const std::string address =
      own ? rank.addresses[rank.flags.rank] : rank.flags.listen;
  auto port = RingPort::Open(address, rank.token);
  if (port.ok()) return port;
  return Annotate(
      port.status(),
      own ? absl::StrCat("rank ", rank.flags.rank, " listens on its entry of "
                         "--hosts, ", address,
                         " (give --rank of this host, or another address with "
                         "--listen)")
          : "--listen");
}

absl::StatusOr<std::unique_ptr<TcpRing>> StartRing(const Rank& rank,
                                                   RingPort port,
                                                   Executor* completions) {
  TcpRingOptions options;
  options.rank = rank.flags.rank;
  options.size = rank.size();
  options.next = rank.addresses[rank.next()];
  options.job = "bench allreduce";
  options.reduction = rank.flags.reduction;
  options.token = rank.token;
  options.connect_timeout = rank.flags.start_timeout;
  for (int r = 0; r < rank.size(); ++r) {
    options.names.push_back(absl::StrCat("rank ", r, " (", rank.addresses[r],
                                         ")"));
  }
  options.on_refused = [](const std::string& line) {
    std::cerr << line << std::endl;
  };
  return TcpRing::Start(std::move(port), std::move(options), completions);
}

// What to do, by the kind of the error.
std::string Advice(const absl::Status& status, const AllReduceFlags& flags) {
  if (absl::IsAborted(status)) {
    return absl::StrCat(
        "the ring did not come together. Start one process for each entry of "
        "--hosts within --start_timeout=",
        absl::FormatDuration(flags.start_timeout),
        ", each with its own --rank, the same --hosts and --reduction and the "
        "same token, and let firewalls pass the ports");
  }
  if (absl::IsUnavailable(status)) {
    return "see what the process of that rank printed last";
  }
  if (absl::IsDeadlineExceeded(status)) {
    return absl::StrCat(
        "see whether the host of that rank is stopped or its network is gone, "
        "or give more time than --timeout=",
        absl::FormatDuration(flags.timeout));
  }
  return "";
}

// The turns of this rank; the points of rank 0 in *result.
absl::Status MakeTurns(const Rank& rank, Collective* ring, const Clock* clock,
                       AllReduceResult* result) {
  const AllReduceFlags& flags = rank.flags;
  RingTurnsOptions options;
  options.timeout = flags.timeout;
  // Later than the ring, which says why it did not come together.
  options.first_timeout = flags.start_timeout + flags.timeout;
  options.clock = clock;
  options.on_begin = [&rank] {
    std::cerr << "all " << rank.size() << " ranks are there" << std::endl;
  };
  if (flags.rank != 0) return FollowTurns(ring, options);
  TurnPlanOptions plan_options;
  plan_options.sizes = flags.sizes;
  plan_options.repeats = flags.repeats;
  plan_options.turn_time = flags.turn_time;
  plan_options.size_time = flags.size_time;
  TurnPlan plan(plan_options);
  const absl::Status status = LeadTurns(ring, options, &plan);
  result->ranks = rank.size();
  result->reduction = ChoiceWord(kReductions, flags.reduction);
  result->points = plan.points();
  return status;
}

// Makes the turns on a thread of their own, and waits for their end.
absl::Status Measure(const Rank& rank, RingPort port, MainWait* wait,
                     AllReduceResult* result) {
  const RealClock clock;
  ThreadExecutor completions({.name = "completions"}, &clock);
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<TcpRing> ring,
                         StartRing(rank, std::move(port), &completions));
  absl::Status status;
  std::atomic<bool> ended{false};
  {
    ThreadExecutor turns({.name = "turns"}, &clock);
    turns.Post([&] {
      status = MakeTurns(rank, ring.get(), &clock, result);
      ended = true;
      wait->Notify();
    });
    while (!ended) {
      // Each call of the turns has a deadline. A signal ends this process
      // without this wait, since MainWait::Begin was not called.
      const MainWait::Event event = wait->Wait(absl::Hours(1));
      if (event.action == StopSignals::Action::kNone) continue;
      std::cerr << "shoal bench allreduce: rank " << rank.flags.rank
                << " ends, because stdin has ended" << std::endl;
      _exit(kExitStopped);
    }
  }
  return status;
}

std::string ResultText(const Rank& rank, const AllReduceResult& result) {
  if (rank.flags.rank != 0) {
    return absl::StrCat("rank ", rank.flags.rank, " of ", rank.size(),
                        " is done; rank 0 (", rank.addresses[0],
                        ") has the figures\n");
  }
  return rank.flags.json ? AllReduceJson(result) : AllReduceText(result);
}

}  // namespace

int BenchAllReduceCommand(const Args& args) {
  MainWait wait;
  Rank rank;
  FlagSet set = AllReduceFlagSet(&rank.flags);
  if (const auto exit = ParseOrExit(&set, args)) return *exit;
  auto addresses = rank.flags.Validate();
  if (!addresses.ok()) {
    return Complain(set.command(), addresses.status(), kExitUsage);
  }
  rank.addresses = *std::move(addresses);
  auto token = ReadToken(rank.flags);
  if (!token.ok()) return Complain(set.command(), token.status(), kExitUsage);
  rank.token = *std::move(token);
  if (rank.flags.token_file == "-") {
    wait.WatchInput(STDIN_FILENO, kEndingGrace);
  }
  auto port = OpenPort(rank);
  if (!port.ok()) return Complain(set.command(), port.status(), kExitUsage);
  std::cerr << "rank " << rank.flags.rank << " of " << rank.size()
            << " listens on " << port->address() << " and looks for rank "
            << rank.next() << " at " << rank.addresses[rank.next()]
            << ", for at most "
            << absl::FormatDuration(rank.flags.start_timeout) << std::endl;
  AllReduceResult result;
  const absl::Status status =
      Measure(rank, *std::move(port), &wait, &result);
  if (status.ok()) {
    return PrintResult(set.command(), ResultText(rank, result));
  }
  // What was measured before stays true.
  if (!result.points.empty() && !rank.flags.json) {
    PrintResult(set.command(), AllReduceText(result));
  }
  const std::string advice = Advice(status, rank.flags);
  return Complain(set.command(),
                  advice.empty()
                      ? status
                      : absl::Status(status.code(),
                                     absl::StrCat(status.message(), "; ",
                                                  advice)),
                  kExitFailed);
}

}  // namespace shoal
