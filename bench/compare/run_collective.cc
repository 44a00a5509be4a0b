#include "bench/compare/run_collective.h"

#include <unistd.h>

#include <climits>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/allreduce/bus_rate.h"
#include "bench/compare/cpu_watch.h"
#include "bench/compare/dilation.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/lab.h"
#include "bench/compare/rank_processes.h"
#include "bench/compare/text_file.h"
#include "launch/free_ports.h"
#include "launch/ssh_command.h"
#include "rpc/token.h"

namespace shoal {
namespace {

constexpr char kFolder[] = "collective";
// Limits of one ring, on hosts that are not slowed down.
constexpr absl::Duration kStartTimeout = absl::Seconds(30);
constexpr absl::Duration kCallTimeout = absl::Seconds(30);
constexpr absl::Duration kRingTimeout = absl::Minutes(2);

absl::StatusOr<std::string> OwnProgram() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  if (size <= 0 || size == sizeof(path)) {
    return absl::InternalError("cannot find the path of this program");
  }
  return std::string(path, static_cast<size_t>(size));
}

// The program on real hosts, whose directory --remote_bin names.
absl::StatusOr<std::string> RemoteProgram(const std::string& remote_bin) {
  if (remote_bin.empty()) return OwnProgram();
  return JoinPath(remote_bin, "shoal");
}

// The command of a rank, after the program and without --hosts and --rank.
std::vector<std::string> RankFlags(const CollectiveCase& ring,
                                   const CollectiveTurns& turns,
                                   const std::string& reduction) {
  const double slower = ring.cell.dilation;
  const auto time = [](absl::string_view flag, absl::Duration value) {
    return absl::StrCat("--", flag, "=", absl::FormatDuration(value));
  };
  return {"bench",
          "allreduce",
          "--token_file=-",
          "--json",
          absl::StrCat("--reduction=", reduction),
          absl::StrCat("--sizes=", absl::StrJoin(turns.sizes, ",")),
          absl::StrCat("--repeats=", turns.repeats),
          time("turn_time", turns.turn_time),
          time("size_time", turns.size_time),
          time("start_timeout", slower * kStartTimeout),
          time("timeout", slower * kCallTimeout)};
}

std::string Outcome(const std::vector<CollectivePoint>& points) {
  if (points.empty()) return "no size was measured";
  const CollectivePoint& last = points.back();
  return absl::StrFormat(
      "%.3f GB/s on each link at %s",
      1e-9 * BusRate(last.ranks, static_cast<double>(last.bytes),
                     last.seconds),
      SizeText(last.bytes));
}

}  // namespace

std::string CollectiveRun::SettingsOf(const CollectiveCase& ring,
                                      const CollectiveTurns& turns) const {
  return absl::StrCat(
      options_.settings, "\nreduction=", options_.reduction,
      absl::StrFormat("\nring=%s bits_per_second=%g cores=%g dilation=%.9g",
                      ring.name(), ring.cell.bits_per_second,
                      ring.cell.cores_per_host, ring.cell.dilation),
      "\nsizes=", absl::StrJoin(turns.sizes, ","), "\nrepeats=",
      turns.repeats);
}

absl::StatusOr<AllReduceResult> CollectiveRun::Run(const CollectiveCase& ring,
                                                   const CollectiveTurns& turns,
                                                   double paused_speed) const {
  const Cell& cell = ring.cell;
  const auto hosts = static_cast<size_t>(cell.hosts);
  const bool remote = options_.where == "hosts";
  RankProcessesOptions processes;
  processes.timeout = cell.dilation * kRingTimeout;
  SHOAL_ASSIGN_OR_RETURN(processes.input, MakeToken());
  processes.input += "\n";
  SHOAL_ASSIGN_OR_RETURN(
      const std::string program,
      remote ? RemoteProgram(options_.remote_bin) : OwnProgram());
  std::unique_ptr<Lab> lab;
  std::vector<RemoteHost> places;  // empty: this host
  std::vector<std::string> addresses;
  if (options_.where == "lab") {
    SHOAL_ASSIGN_OR_RETURN(
        lab, Lab::Make(SharesOf(cell, paused_speed, options_.cores)));
    SHOAL_RETURN_IF_ERROR(lab->LimitCores());
    SHOAL_ASSIGN_OR_RETURN(places, ParseRemoteHosts(lab->Hosts()));
  } else if (remote) {
    const auto first = options_.on.begin();
    SHOAL_ASSIGN_OR_RETURN(
        places,
        ParseRemoteHosts(absl::StrJoin(first, first + cell.hosts, ",")));
  } else {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<int> ports,
                           PickFreePorts(cell.hosts));
    for (const int port : ports) {
      addresses.push_back(absl::StrCat("127.0.0.1:", port));
    }
  }
  for (const RemoteHost& place : places) {
    addresses.push_back(place.WithPort(options_.port));
  }
  const HostCommand on_host = lab != nullptr ? lab->Command()
                              : remote       ? BySsh(options_.ssh_command)
                                             : nullptr;
  for (size_t r = 0; r < hosts; ++r) {
    std::vector<std::string> command =
        RankFlags(ring, turns, options_.reduction);
    command.insert(command.begin(), program);
    command.push_back(absl::StrCat("--hosts=", absl::StrJoin(addresses, ",")));
    command.push_back(absl::StrCat("--rank=", r));
    processes.commands.push_back(
        on_host != nullptr ? on_host(places[r], command) : command);
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string json, RunRankProcesses(processes));
  SHOAL_ASSIGN_OR_RETURN(AllReduceResult result, ParseAllReduce(json));
  return result;
}

absl::StatusOr<CollectiveFile> CollectiveRun::Measure(
    const CollectiveCase& ring, const CollectiveTurns& turns,
    PausedSpeed paused_speed) const {
  CollectiveFile file;
  file.settings = SettingsOf(ring, turns);
  file.paused_speed_known = paused_speed.known;
  const CpuWatch watch;
  SHOAL_ASSIGN_OR_RETURN(file.result, Run(ring, turns, paused_speed.share));
  // Ranks on real hosts are not children of this process.
  if (options_.where != "hosts") file.others_cores = watch.OthersCores();
  return file;
}

std::string CollectiveRun::PathOf(const CollectiveCase& ring) const {
  return JoinPath(JoinPath(options_.out, kFolder), ring.name() + ".json");
}

std::optional<CollectiveFile> CollectiveRun::Before(
    const CollectiveCase& ring, const CollectiveTurns& turns) const {
  const auto text = ReadTextFile(*options_.files, PathOf(ring));
  if (!text.ok()) return std::nullopt;
  auto before = ParseCollectiveFile(*text);
  if (!before.ok() || before->settings != SettingsOf(ring, turns)) {
    return std::nullopt;
  }
  return *std::move(before);
}

absl::Status CollectiveRun::Keep(const CollectiveCase& ring,
                                 const CollectiveFile& file) const {
  SHOAL_RETURN_IF_ERROR(
      options_.files->CreateDirectories(JoinPath(options_.out, kFolder)));
  return options_.files->WriteFileAtomically(PathOf(ring),
                                             CollectiveFileJson(file));
}

absl::Status CollectiveRun::Add(bool measure, Comparison* found) const {
  found->collective.clear();
  found->collective_notes.clear();
  const auto note = [&](const std::string& text) {
    found->collective_notes.push_back(text);
    options_.say(absl::StrCat("  ", text));
  };
  absl::Status status;
  const std::vector<CollectiveCase> rings = CollectiveCases(found->cells);
  for (size_t i = 0; i < rings.size(); ++i) {
    const CollectiveCase& ring = rings[i];
    const CollectiveTurns turns = TurnsOf(ring, found->repeats);
    std::optional<CollectiveFile> file = Before(ring, turns);
    if (!file.has_value() && measure && status.ok()) {
      status = options_.stopped();
      if (!status.ok()) continue;
      options_.say(absl::StrCat("ring ", i + 1, " of ", rings.size(),
                                ": AllReduce of ", ring.text()));
      const absl::StatusOr<PausedSpeed> paused_speed =
          options_.paused_speed ? options_.paused_speed(ring.cell)
                                : PausedSpeed();
      if (!paused_speed.ok()) {
        status = paused_speed.status();
        continue;
      }
      auto measured = Measure(ring, turns, *paused_speed);
      if (absl::IsCancelled(measured.status())) {
        status = measured.status();
        continue;
      }
      if (!measured.ok()) {
        note(absl::StrCat("AllReduce of ", ring.text(), " was not measured: ",
                          measured.status().message()));
        continue;
      }
      file = *std::move(measured);
      options_.say(absl::StrCat("  ", Outcome(PointsOf(ring, file->result))));
      status = Keep(ring, *file);
    }
    if (!file.has_value()) continue;
    for (CollectivePoint& point : PointsOf(ring, file->result)) {
      found->collective.push_back(std::move(point));
    }
    if (file->others_cores > kOthersMost) {
      note(
          absl::StrFormat("While AllReduce of %s was measured, other programs "
                          "used %.2f of a core",
                          ring.text(), file->others_cores));
    }
    if (!file->paused_speed_known) {
      note(absl::StrCat("Before AllReduce of ", ring.text(),
                        " it could not be measured how much pauses slow its "
                        "hosts down"));
    }
  }
  return status;
}

}  // namespace shoal
