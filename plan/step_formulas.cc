#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include "plan/prediction.h"

namespace shoal {
namespace {

// Threads of one kind: how many, and the share of time that each is busy.
struct Threads {
  double count;
  double busy;
};

// How much longer a task takes on `cores` cores that serve all threads at equal
// shares, while each of the others is busy with its own probability:
// E[max(1, (1 + k) / cores)], k the number of other busy threads.
double Stretch(double cores, std::initializer_list<Threads> others) {
  std::vector<double> chance = {1};  // by k
  for (const Threads& kind : others) {
    const double p = std::clamp(kind.busy, 0.0, 1.0);
    for (int i = 0; i < static_cast<int>(kind.count); ++i) {
      chance.push_back(0);
      for (size_t k = chance.size() - 1; k > 0; --k) {
        chance[k] = chance[k] * (1 - p) + chance[k - 1] * p;
      }
      chance[0] *= 1 - p;
    }
  }
  double stretch = 0;
  for (size_t k = 0; k < chance.size(); ++k) {
    stretch += chance[k] * std::max(1.0, (1 + static_cast<double>(k)) / cores);
  }
  return stretch;
}

// Work that is cut into `parts` parts, which pass stations one after another:
// the slowest station works all the time, each other for one part.
double Piped(std::initializer_list<double> stations, double parts) {
  double sum = 0;
  double most = 0;
  for (const double seconds : stations) {
    sum += seconds;
    most = std::max(most, seconds);
  }
  return most + (sum - most) / parts;
}

// One step: the demands as seconds of each resource of a host.
class Step {
 public:
  Step(const ModeShape& mode, const StepDemand& demand,
       const StepSetting& setting)
      : mode_(mode),
        d_(demand),
        s_(setting),
        n_(setting.cluster.hosts),
        w_(setting.workers_per_host),
        ranks_(n_ * w_),
        cores_(setting.cluster.cores),
        latency_(n_ > 1 ? setting.cluster.latency_seconds : 0),
        reply_(Served(demand.reply_bytes)),
        push_(Served(demand.push_bytes)),
        request_(Served(demand.request_bytes)) {}

  StepPrediction Predict() const {
    return mode_.waits == ModeShape::Waits::kStep ? InStep() : Apart();
  }

 private:
  // What one trial value of the time of a step leads to.
  struct Cycle {
    double step = 0;
    double busy = 0;
  };

  double LinkSeconds(double bytes) const {
    return n_ == 1 ? 0 : bytes * 8 / s_.cluster.bits_per_second;
  }
  // Of bytes between a worker and all servers, those that leave the host.
  double Served(double bytes) const {
    return LinkSeconds(bytes * (n_ - 1) / n_) * s_.uneven_streams;
  }

  StepPrediction Apart() const;
  Cycle CycleAt(double step) const;
  // The cycle of workers on hosts of one core that all compute at the same
  // time, and the share, 0 to 1, to which they do. `step` is that of the cycle.
  Cycle CycleTogether() const;
  double ShareTogether(double step) const;
  double WaitForPace() const;
  StepPrediction InStep() const;
  double PullOfAll() const;
  // `spread`: how much later the slowest worker pushes than the mean one.
  double PushOfAll(double spread) const;
  // `spread`: how much later the slowest rank has its gradient than the mean
  // one. *slower: how much longer a core computes that also sums.
  double Ring(double spread, double* slower) const;

  const ModeShape& mode_;
  const StepDemand& d_;
  const StepSetting& s_;
  const int n_;
  const int w_;
  const double ranks_;
  const double cores_;
  const double latency_;
  // Seconds of a link, one direction, for one worker's step.
  const double reply_;
  const double push_;
  const double request_;
};

Step::Cycle Step::CycleAt(double t) const {
  const int depth = s_.pipeline_depth;
  const double others = (ranks_ - 1) / ranks_;
  const double busy = d_.compute + d_.push_worker;
  const double serve = d_.pull_server + d_.push_server;
  // A worker's own calls are served while it waits, unless they overlap its
  // computation.
  const double beside = depth <= 1 ? others * serve : serve;
  Cycle cycle;
  cycle.busy =
      busy *
      Stretch(cores_, {{1, w_ * beside / t},
                       {w_ - 1.0, busy / t},
                       {w_ - (depth > 1 ? 0.0 : 1.0), d_.pull_worker / t}});
  const double trains = std::min(1.0, cycle.busy / t);
  const double server = std::min(1.0, w_ * serve / t);
  const double receives = std::min(1.0, d_.pull_worker / t);
  const double at_server =
      Stretch(cores_, {{static_cast<double>(w_), others * trains},
                       {static_cast<double>(w_), receives}});
  const double at_worker = Stretch(cores_, {{w_ - 1.0, trains},
                                            {1, depth > 1 ? trains : 0},
                                            {1, server},
                                            {w_ - 1.0, receives}});
  // A server's queue, and the links' share that others' messages take.
  const double queue = 1 / (1 - std::min(.999, server * others));
  const double pushes = std::min(.999, w_ * push_ / t);
  const double replies = std::min(.999, w_ * reply_ / t);
  // How much of the other traffic a message meets: less than all, since long
  // messages hold back those of others, which then come one after another. The
  // factor is that of the simulation.
  const double met = .3 * others * others;
  const double reply = reply_ * (1 + met * pushes);
  const double push = push_ * (1 + met * replies);
  // The push of the step before is on the same connection, so it reaches the
  // server before the request does, and is served before it.
  const double request = depth > 0 ? push : request_;
  const double before = depth > 0 ? d_.push_server / n_ : 0;
  // A pull waits for the longest of all servers' queues. Their lengths are
  // geometric, in pushes.
  const double ahead = std::min(.95, server * at_server * others);
  const double longest = ahead > 0 ? std::log(n_) / -std::log(ahead) : 0;
  const double last = std::max(0.0, longest - ahead / (1 - ahead)) *
                      d_.push_server / n_ * at_server;
  const double pull_elapsed =
      2 * latency_ + request + last +
      Piped({reply, (before + d_.pull_server / n_) * at_server * queue,
             d_.pull_worker * at_worker},
            n_);
  const double push_elapsed =
      2 * latency_ + push + d_.push_server / n_ * at_server * queue;
  cycle.step =
      std::max({cycle.busy, (cycle.busy + pull_elapsed) / std::max(depth, 1),
                (cycle.busy + pull_elapsed + push_elapsed) / (depth + 1)});
  return cycle;
}

double Step::ShareTogether(double step) const {
  if (cores_ > 1 || w_ > 1 || s_.pipeline_depth != 1) return 0;
  // A worker that waits leaves its core to its server, which then answers late
  // workers sooner. The more work servers have, the more this brings the
  // workers together, unless cores never wait for a link. The bounds are those
  // of the simulation.
  const double serve = d_.pull_server + d_.push_server;
  const double busy = d_.compute + d_.push_worker;
  const double idle = step - busy - d_.pull_worker - serve;
  return std::clamp((serve * (n_ - 1) / n_ / busy - .4) / .4, 0.0, 1.0) *
         std::clamp((idle / step - .02) / .03, 0.0, 1.0);
}

Step::Cycle Step::CycleTogether() const {
  // Half of the others push before a worker does, and their pushes are served
  // while it computes.
  Cycle cycle;
  cycle.busy = d_.compute + d_.push_worker + d_.push_server * (n_ - 1) / n_ / 2;
  cycle.step = d_.compute + d_.push_worker + push_ + d_.push_server +
               std::max(reply_, d_.pull_server + d_.pull_worker) + 4 * latency_;
  return cycle;
}

StepPrediction Step::Apart() const {
  const double busy = d_.compute + d_.push_worker;
  const double server = w_ * (d_.pull_server + d_.push_server);
  const double cores = (w_ * (busy + d_.pull_worker) + server) / cores_;
  double link = w_ * (request_ + reply_ + push_);
  if (s_.pipeline_depth > 1) {
    // Pulls and pushes of two steps are under way at one time, and a link idles
    // while what it would carry waits for another link. The factor is that of
    // the simulation.
    const double others = (ranks_ - 1) / ranks_;
    link *= 1 + .42 * others * others;
  }
  const double bound = std::max({busy, server, cores, link});
  double low = bound;
  double high = 16 * (bound + 8 * latency_ + server);
  for (int i = 0; i < 60; ++i) {
    const double t = (low + high) / 2;
    (CycleAt(t).step > t ? low : high) = t;
  }
  const Cycle cycle = CycleAt(high);
  const Cycle together = CycleTogether();
  const double share = ShareTogether(together.step);
  StepPrediction p;
  p.step_seconds = high + share / 2 * std::max(0.0, together.step - high);
  if (mode_.waits == ModeShape::Waits::kBound) {
    p.step_seconds += WaitForPace();
  }
  // Where the cores are the limit, what is left of the step is shared by
  // computing and waiting; a worker that always has work waits for a core
  // alone.
  if (high > 1.01 * cores) {
    p.wait_seconds = std::max(0.0, p.step_seconds - cycle.busy);
  } else if (s_.pipeline_depth <= 1) {
    p.wait_seconds =
        p.step_seconds * std::max(0.0, 1 - cycle.busy / cycle.step);
  }
  p.wait_seconds += share * (p.step_seconds - together.busy - p.wait_seconds);
  const std::pair<double, Limit> candidates[] = {
      {busy, Limit::kWorkerCore},
      {link, Limit::kLink},
      {server, Limit::kServerCores},
      {cores > 1.001 * std::max(busy, server) ? cores : 0, Limit::kHostCores},
      {4 * latency_, Limit::kLatency}};
  p.limit = std::max_element(
                std::begin(candidates), std::end(candidates),
                [](const auto& a, const auto& b) { return a.first < b.first; })
                ->second;
  return p;
}

double Step::WaitForPace() const {
  const double slowest = s_.step_times.ExpectedMax(ranks_) - 1;
  const int bound = s_.ssp_bound + s_.pipeline_depth;
  if (bound == 0) return d_.compute * slowest + 2 * latency_;
  // The positions of workers are random walks that the bound holds together.
  // What is lost falls with the room between them; the factor is that of the
  // simulation.
  return d_.compute * std::min(slowest, .7 * s_.step_times.Variance() *
                                            std::log(ranks_) / (bound + 1));
}

double Step::PullOfAll() const {
  const double reply = w_ * reply_;
  const double server = w_ * d_.pull_server;
  const double receive = d_.pull_worker;
  // Threads of a host share its cores, which are a station of their own.
  const double cores = (server + w_ * receive) / cores_;
  const double parts = n_ * w_;
  return 2 * latency_ + w_ * request_ +
         std::max(Piped({reply, server, receive}, parts),
                  Piped({reply, cores}, parts));
}

double Step::PushOfAll(double spread) const {
  const double link = w_ * push_;
  const double server = w_ * d_.push_server;
  const double alone = link + server / ranks_;
  if (cores_ <= w_ && spread > 0) {
    // The slowest worker's core serves those pushes of the others that come
    // while it computes: of workers that ended at least a push's time on the
    // link before it. The last ones are served while its own push is on the
    // link. A longer push makes that no shorter, so that the largest value of
    // some shorter pushes counts.
    const double others = server * (1 - 1 / ranks_);
    const double compute = d_.compute * std::max(1.0, w_ / cores_);
    double longest = 0;
    for (const double share : {.25, .5, .75, 1.0}) {
      const double part = share * link;
      const double ended =
          s_.step_times.ShareBelow(1 + (spread - part) / compute);
      const double before = std::min(spread, others * ended);
      longest = std::max(longest, before + std::max(part, others - before));
    }
    return 2 * latency_ + longest + server / ranks_;
  }
  // The own host's part is served meanwhile, and others when all is there.
  // Ranks come from a ring one after another, so a third of all parts or more
  // is served meanwhile.
  const double meanwhile = std::max(mode_.ring() ? .3 : 0, 1.0 / n_);
  const double all =
      std::max(link, server * meanwhile) + server * (1 - meanwhile);
  // The servers have done part of it when the slowest worker pushes, if they
  // have cores that the slowest worker does not need.
  spread *= std::clamp(cores_ - w_, 0.0, 1.0);
  double push = 2 * latency_ + std::max(alone, all - spread);
  if (mode_.ring()) {
    // The first ranks push while others still sum, whose messages wait behind
    // the pushes. The factor is that of the simulation.
    const double remote = 1 - 1.0 / n_;
    push += .2 * remote * remote * link;
  }
  return push;
}

double Step::Ring(double spread, double* slower) const {
  *slower = 0;
  if (ranks_ == 1) return 0;
  const double shared = std::max(1.0, w_ / cores_);
  const double reduce_link = LinkSeconds(d_.reduce_bytes);
  const double reduce_core = d_.reduce_core * shared;
  const double reduce = std::max(reduce_link, reduce_core);
  const double hop = latency_ + s_.ring_hop;
  const double hidden = s_.final_share * d_.compute;
  const double last = reduce / d_.buckets;
  // What of the sum may run beside the computation: all but the last bucket,
  // from when the first one is final.
  const double before_last = 1 - 1.0 / d_.buckets;
  if (cores_ < 2 * w_) {
    // The sum has half of the core at most, and goes on no faster than the
    // links let it: s = reduce_core / reduce · (hidden + s).
    *slower = std::min(reduce_core, hidden) * before_last;
    if (reduce > reduce_core) {
      *slower = std::min(
          *slower, before_last * hidden * reduce_core / (reduce - reduce_core));
    }
  }
  const double beside = hidden + *slower;
  const double gather =
      std::max(LinkSeconds(d_.gather_bytes), d_.gather_core * shared);
  // The others have gone on to the slowest rank's turn while they waited for
  // it, which is half of the hops of the last bucket at most.
  double hops = d_.reduce_hops * hop;
  hops -= std::min(hops / 2, spread);
  const double gather_hops = d_.gather_hops * hop;
  if (mode_.servers()) {
    // What is gathered comes after a push to servers. While several buckets are
    // on their way, the hops of one are beside the bytes of the others.
    return std::max(reduce - beside * before_last, last + hops) + gather +
           gather_hops;
  }
  // What is gathered goes round beside the last buckets.
  const double left = std::max(reduce - beside, last);
  return std::max(left + gather + gather_hops, last + hops);
}

StepPrediction Step::InStep() const {
  // All workers of a host compute at once.
  const double mean = d_.compute * std::max(1.0, w_ / cores_);
  const double compute = mean * s_.step_times.ExpectedMax(ranks_);
  const double slowest = compute - mean;
  double exchange = 0;
  if (mode_.servers()) {
    const double pull = PullOfAll();
    const double push = PushOfAll(mode_.ring() ? 0 : slowest);
    exchange += pull + push;
    if (!mode_.ring()) {
      // Workers of one host get their variables one after another. On cores of
      // their own the first ones compute while the last ones pull, and push
      // while those compute. That saves what both phases have for it, and one
      // computation at most.
      const double turns = std::min(pull, push) - 2 * latency_;
      exchange -= std::min(mean, turns * (w_ - 1) / w_) *
                  std::clamp(cores_ - w_ + 1, 0.0, 1.0);
    }
  }
  if (mode_.merged_on_servers()) {
    // The coordinator closes the step, then all servers apply it.
    exchange += latency_ + d_.apply_server;
  }
  double slower = 0;
  if (mode_.ring()) exchange += Ring(slowest, &slower);
  const double own = d_.push_worker + d_.apply_worker;
  StepPrediction p;
  p.step_seconds = compute + slower + own + exchange;
  p.wait_seconds = p.step_seconds - mean - slower - own;
  const double hops = d_.reduce_hops + d_.gather_hops;
  const double busy = d_.compute + own;
  const double server =
      w_ * (d_.pull_server + d_.push_server) + d_.apply_server;
  const double cores =
      (w_ * (busy + d_.pull_worker + d_.reduce_core + d_.gather_core) +
       server) /
      cores_;
  const std::pair<double, Limit> candidates[] = {
      {busy, Limit::kWorkerCore},
      {w_ * (request_ + reply_ + push_) + LinkSeconds(d_.reduce_bytes) +
           LinkSeconds(d_.gather_bytes),
       Limit::kLink},
      {server, Limit::kServerCores},
      {cores > 1.001 * std::max(busy, server) ? cores : 0, Limit::kHostCores},
      {hops * (latency_ + s_.ring_hop) + 5 * latency_, Limit::kLatency},
      {slowest, Limit::kSlowest}};
  p.limit = std::max_element(
                std::begin(candidates), std::end(candidates),
                [](const auto& a, const auto& b) { return a.first < b.first; })
                ->second;
  return p;
}

// The demand on hosts whose only core is so many times slower.
StepDemand OnSlowerCore(StepDemand d, double times) {
  for (double* const seconds :
       {&d.compute, &d.pull_worker, &d.push_worker, &d.apply_worker,
        &d.pull_server, &d.push_server, &d.apply_server, &d.reduce_core,
        &d.gather_core}) {
    *seconds *= times;
  }
  return d;
}

}  // namespace

StepPrediction PredictStep(const ModeShape& mode, const StepDemand& demand,
                           const StepSetting& setting) {
  const double cores = setting.cluster.cores;
  if (cores >= 1) return Step(mode, demand, setting).Predict();
  // A share of a core is a core that is slower.
  StepSetting slow = setting;
  slow.cluster.cores = 1;
  return Step(mode, OnSlowerCore(demand, 1 / cores), slow).Predict();
}

}  // namespace shoal
