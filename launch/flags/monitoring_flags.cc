#include "launch/flags/monitoring_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

constexpr Choice<bool> kOnOrOff[] = {{true, "on"}, {false, "off"}};

}  // namespace

void MonitoringFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Monitoring");
  rows->Add(kAllCommands, Canonical::kNo,
            {"metrics_port", &metrics_port,
             rows->command() == Command::kRun
                 ? "Serve metrics as Prometheus text (docs/metrics.md): "
                   "ps k on this port + k, worker i on this port + --ps + "
                   "i, with --hosts ps on this port and worker on the next; "
                   "0: not."
                 : "Serve metrics as Prometheus text on this port "
                   "(docs/metrics.md); 0: not.",
             IntRange{0, 65535}},
            HandedDown::kNo);
  rows->Add(kAllCommands, Canonical::kNo,
            {"metrics_listen", &metrics_listen,
             "Address that metrics are served on; anyone who reaches it can "
             "read them."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"tensorboard_dir", &tensorboard_dir,
             "Write TensorBoard event files of the job here, where its "
             "coordinator runs; left out: to events in --model_dir, if "
             "that is given."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"memory_check", ChoiceTarget(&memory_check, kOnOrOff),
             "on refuses to start what will not fit into this host's "
             "memory; off only says so."},
            HandedDown::kNo);
}

absl::Status MonitoringFlags::Validate(const JobFlags& job) const {
  if (metrics_port == 0 || job.command != Command::kRun) {
    return absl::OkStatus();
  }
  const ClusterFlags& cluster = job.cluster;
  const int more = cluster.hosts.empty() ? cluster.ps + cluster.workers - 1 : 1;
  if (metrics_port + more <= 65535) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--metrics_port=", metrics_port, ": the processes take ", more + 1,
      " ports from it on, and 65535 is the last; give a smaller one"));
}

}  // namespace shoal
