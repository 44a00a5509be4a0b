#ifndef SHOAL_CLUSTER_JOB_PROGRESS_H_
#define SHOAL_CLUSTER_JOB_PROGRESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "base/histogram.h"
#include "cluster/job_curve.h"
#include "cluster/job_report.h"
#include "cluster/rate_window.h"
#include "cluster/usage_meter.h"
#include "cluster/window_sums.h"
#include "core/parameter_service.h"
#include "core/payload_bytes.h"
#include "core/ps_members.h"
#include "core/registration.h"
#include "core/session_messages.h"
#include "core/worker_time.h"

namespace shoal {

// The job's figures, from what the processes tell: speed, loss, progressive
// AUC, staleness and resources. A dead process counts as of its last message.
// Thread-compatible; times do not go back.
class JobProgress {
 public:
  explicit JobProgress(PsMembers members = {}) : members_(members) {}

  // `place` is the address of a PS, or the name of a worker's host; it may be
  // empty.
  void NewLife(Role role, int index, const std::string& place, absl::Time now);
  void OnHeartbeat(Role role, int index, const Heartbeat& heartbeat,
                   absl::Time now);
  void OnUsage(Role role, int index, const ResourceUsage& usage,
               absl::Time now);
  // The last report of a PS. Replicas of one shard report each.
  void OnShardReport(int member, const StatsReply& stats);
  bool reported(int member) const;
  size_t reports() const;  // members that have reported and are not lost
  // The member, a replica, is lost, and the job goes on without it.
  void OnReplicaLost(int member) { ps_[member].lost = true; }

  // The first lease is given; the job ends. The wall time lies between the two.
  void Start(absl::Time now);
  void End(absl::Time now);
  // Sets the examples trained so far, for the speed and the curve. `last`: no
  // more are to be trained.
  void OnTrained(uint64_t examples, absl::Time now, bool last = false);
  // Sets the examples scored so far, for the speed of a job that trains
  // nothing.
  void OnScored(uint64_t examples, absl::Time now);
  // Open the steady window, once, and close it; `examples` were trained by
  // then. Closed again, it ends later; that may come with every step.
  void OpenSteady(uint64_t examples, absl::Time now);
  void CloseSteady(uint64_t examples, absl::Time now);
  bool steady_open() const { return steady_from_.has_value(); }

  // Fills in loss, progressive_auc, samples_per_second, wall, the steady
  // window, bytes, staleness, the workers (but `alive` and `scored`), the PSs
  // and the digest, in which a replicated shard counts once; after End also the
  // step times and the curve. REQUIRES: report->trained is filled in.
  void Fill(absl::Time now, JobReport* report) const;

 private:
  static constexpr size_t kFlows = 6;  // of PayloadBytes

  struct Worker {
    std::string host;
    UsageMeter usage;
    uint64_t earlier_samples = 0;  // by lives before this one
    TrainProgress progress;        // this life's
    // The part that the newest heartbeat with new examples added.
    double newest_loss_sum = 0;
    uint64_t newest_examples = 0;
    // The newest values, of any life.
    double recent_auc = 0;
    uint64_t recent_examples = 0;
    WindowSums<kStepStates> seconds;
    WindowSums<kFlows> bytes;
    StepTimes earlier_steps;  // of lives before this one
    StepTimes steps;          // this life's
  };
  struct Ps {
    std::string address;
    UsageMeter usage;
    Histogram staleness;
    std::optional<StatsReply> stats;
    bool lost = false;
    WindowSums<kFlows> bytes;
  };
  // Loss and progressive AUC of the newest examples of all workers; 0: not
  // known.
  struct Quality {
    double loss = 0;
    double auc = 0;
  };
  using Point = std::pair<absl::Time, uint64_t>;  // when, examples

  UsageMeter& Usage(Role role, int index);
  // Ends the window of some sums with the steady window. To be called before
  // the next message, and for what is told now.
  template <typename Sums>
  void Close(Sums* sums) const {
    if (steady_to_.has_value()) sums->CloseWindow(steady_to_->first);
  }
  template <typename Sums>
  Sums Closed(Sums sums) const {
    Close(&sums);
    return sums;
  }
  Quality Newest() const;
  CurvePoint PointAt(absl::Time now, uint64_t examples) const;
  void FillWorkers(JobReport* report) const;
  void FillServers(JobReport* report) const;

  PsMembers members_;
  std::map<int, Worker> workers_;
  std::map<int, Ps> ps_;
  RateWindow rate_;
  JobCurve curve_;
  std::optional<absl::Time> start_;
  std::optional<absl::Time> end_;
  std::optional<Point> steady_from_;
  std::optional<Point> steady_to_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_JOB_PROGRESS_H_
