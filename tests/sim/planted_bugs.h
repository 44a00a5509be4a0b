#ifndef SHOAL_TESTS_SIM_PLANTED_BUGS_H_
#define SHOAL_TESTS_SIM_PLANTED_BUGS_H_

namespace shoal {

// Bugs that Shoal had or might have, planted around its components in a
// simulated job. The simulator must find each bug.
struct PlantedBugs {
  // Shards say that they are held, and still take pushes until they are
  // written.
  bool unsealed_saves = false;
  // Every job has start number 1.
  bool one_start_number = false;
  // A shard serves from its registration on, not from the first ClusterView.
  bool serves_unseen = false;
  // The end of a session's connection ends the life of the process.
  bool mortal_sessions = false;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_PLANTED_BUGS_H_
