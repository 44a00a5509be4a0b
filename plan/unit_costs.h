#ifndef SHOAL_PLAN_UNIT_COSTS_H_
#define SHOAL_PLAN_UNIT_COSTS_H_

namespace shoal {

// What a unit of each kind of work costs, in seconds of one core unless said
// otherwise. The defaults were measured on one machine (docs/planning.md) and
// are what a fit begins from (plan/fit_costs.h).
struct UnitCosts {
  // A sample on a worker: reading, parsing, ids, forward and backward pass.
  double sample = 15e-6;
  // A row looked up and updated by a push, and a row of another worker merged
  // into such an update.
  double row = 100e-9;
  double merged_row = 30e-9;
  // A byte of a dense variable updated.
  double dense_byte = .13e-9;
  // A payload byte that a worker sends to a server or receives from one, and a
  // call; the same on a server.
  double worker_byte = .40e-9;
  double worker_call = 100e-6;
  double server_byte = .40e-9;
  double server_call = 130e-6;
  // A byte that a rank of a ring sends or receives.
  double ring_byte = .28e-9;
  // Elapsed time, no core's: what passes between the arrival of a message of a
  // ring and the sending of the next one, since a thread must wake up.
  double ring_hop = 40e-6;
};

}  // namespace shoal

#endif  // SHOAL_PLAN_UNIT_COSTS_H_
