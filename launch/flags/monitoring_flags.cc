#include "launch/flags/monitoring_flags.h"

#include "absl/strings/str_cat.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

constexpr int kPortMax = 65535;

constexpr Choice<bool> kOnOrOff[] = {{true, "on"}, {false, "off"}};

std::string MetricsPortHelp(Command command) {
  if (command == Command::kRun) {
    return "First port on which metrics are served as Prometheus text "
           "(docs/metrics.md): ps k takes this port + k, and worker i this "
           "port + --ps + i. With --hosts every ps takes this port, and the "
           "workers of a host the next ones. With --mode=ring there is no ps, "
           "and the workers take the ports from this one on. 0: no metrics.";
  }
  return absl::StrCat(
      "Port on which metrics are served as Prometheus text "
      "(docs/metrics.md); ",
      command == Command::kWorker
          ? "of a ring that mpirun or srun starts, the workers of a host take "
            "the ports from this one on; "
          : "",
      "0: no metrics.");
}

}  // namespace

void MonitoringFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Monitoring");
  rows->Add(kAllCommands, Canonical::kNo,
            {"metrics_port", &metrics_port, MetricsPortHelp(rows->command()),
             IntRange{0, kPortMax}},
            HandedDown::kNo);
  rows->Add(kAllCommands, Canonical::kNo,
            {"metrics_listen", &metrics_listen,
             "Address on which metrics are served. Any process that reaches "
             "the address can read them."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"tensorboard_dir", &tensorboard_dir,
             "Directory for TensorBoard event files of the job, on the host "
             "of its coordinator. Left out: events in --model_dir, if that is "
             "given."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"memory_check", ChoiceTarget(&memory_check, kOnOrOff),
             "Check of this host's memory at the start: on refuses to start "
             "a job that does not fit; off only warns."},
            HandedDown::kNo);
}

absl::Status MonitoringFlags::Validate(const JobFlags& job) const {
  if (metrics_port == 0) return absl::OkStatus();
  const ClusterFlags& cluster = job.cluster;
  if (job.MetricsPort() > kPortMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--metrics_port=", metrics_port, " plus ",
        cluster.launched->local_rank->Text(), " is beyond ", kPortMax,
        ", the last port; give a smaller one"));
  }
  if (job.command != Command::kRun) return absl::OkStatus();
  const int servers = job.HasServers() ? cluster.ps : 0;
  const int more = cluster.hosts.empty() ? servers + cluster.workers - 1
                                         : cluster.most_workers_of_host;
  if (metrics_port + more <= kPortMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--metrics_port=", metrics_port, ": the processes take ", more + 1,
      " ports from this one on, and ", kPortMax,
      " is the last port; give a smaller one"));
}

}  // namespace shoal
