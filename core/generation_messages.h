#ifndef SHOAL_CORE_GENERATION_MESSAGES_H_
#define SHOAL_CORE_GENERATION_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/ids.h"
#include "core/pushed_batch.h"

namespace shoal {

// The messages by which the ranks of a job change while it runs. The time
// between two changes is a generation; its number grows from 1 on
// (docs/decisions/0032-generations.md). They travel on the sessions of
// core/cluster_service.h, in order with all other messages.
//
//   coordinator                        worker            PS of a job with steps
//     NewGeneration{g}    ->  drops its leases, its       drops the pushes of
//                             step and its ring           the open step
//                         <-  GenerationReady{g}          GenerationReady{g}
//   when all have answered:
//     GenerationBegan{g}  ->                              parks pushes again
//     ClusterView{g}      ->  joins the new ring, and
//                             levels its replica
//                         <-  ReplicaLevel{g}, in a ring
//   when all have answered: deals what is left of the epoch, and grants leases
//
// From a NewGeneration to the GenerationReady of the same number, the
// coordinator ignores what the worker says of its leases, which are over.

// From the coordinator to every worker of the job, and to every PS of a job
// whose PSs apply steps: the ranks change. The generation with the next lower
// number is over. A later NewGeneration may come before this one has begun; it
// takes this one's place.
struct NewGeneration {
  uint64_t number = 0;
  // To a PS: batches of the newest closed step whose worker is lost. The PS
  // applies the step without those that it lacks.
  std::vector<BatchId> lost;
};

// The answer. From a worker: it trains nothing, no push of it is in flight, and
// its replica, if any, has every step that it took part in to the end. From a
// PS: it has sent all its marks, has applied every closed step, answers pushes
// that were parked for the open step as dropped, and those that come before
// GenerationBegan as in a hold (they may be of the next generation). From a
// server beside a ring, to GenerationBegan: all marks of older leases are sent.
struct GenerationReady {
  uint64_t number = 0;
  // The address of the worker's port for the next ring (RankInfo); empty if the
  // job has no ring.
  std::string ring_address;
  // From a PS: the steps that it has applied, the same on every PS.
  uint64_t steps = 0;
};

// From the coordinator to a PS whose job applies steps: pushes of these workers
// are parked again. To a server beside a ring: it refuses pushes of `leases`.
struct GenerationBegan {
  uint64_t number = 0;
  std::vector<Life> workers;  // by rank
  // The highest number of a lease that was given out before. A push under such
  // a lease, which the network brings late or twice, is dropped, even if its
  // worker is a rank again.
  uint64_t leases = 0;
};

// From a worker with a replica: the replicas of the new ring are level, that
// is, each has the same steps.
struct ReplicaLevel {
  uint64_t number = 0;   // of the generation
  uint64_t batches = 0;  // that have a mark in this replica, of the whole job
};

// From a worker: its ring does not work any more, and it waits for a
// NewGeneration.
struct RingBroken {
  uint64_t number = 0;  // of the generation
  int rank = -1;        // of the neighbour that the error names; -1: of none
  absl::Status status;  // never OK
};

// Where a rank stands, in a Heartbeat: what it does, and for which rank it
// waits. For people, in the stall warning and when a rank is lost.
struct RankStanding {
  uint64_t step = 0;  // of the generation, from 1; 0: none yet
  // What the rank does: "reads", "computes", "sums", "gathers", "confirms",
  // "applies", "evaluates", "levels", "waits for a lease"; empty: not told.
  std::string phase;
  // The tensor or part that is summed or gathered: "dense bucket 3 of 9",
  // "rows"; may be empty.
  std::string tensor;
  int waits_for = -1;     // rank from which nothing came; -1: none
  double seconds = 0;     // since it entered the phase
};

}  // namespace shoal

#endif  // SHOAL_CORE_GENERATION_MESSAGES_H_
