#ifndef SHOAL_BENCH_COMPARE_CELL_GRID_H_
#define SHOAL_BENCH_COMPARE_CELL_GRID_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"

namespace shoal {

// The cells that the flags of `shoal bench compare` ask for: pure.

// A mode of --modes. "sync+1" is sync with one backup worker.
struct GridMode {
  std::string mode;
  int backup_workers = 0;
};
// Entries are separated by commas. INVALID_ARGUMENT names an entry that is no
// mode, is there twice, or has backup workers and is not sync.
absl::StatusOr<std::vector<GridMode>> ParseModes(absl::string_view text);

// A network of --networks: "none", or "N" with kbit, mbit or gbit.
struct GridNetwork {
  std::string name;
  double bits_per_second = 0;  // 0: not limited
};
// INVALID_ARGUMENT names an entry that is no rate or is there twice.
absl::StatusOr<std::vector<GridNetwork>> ParseNetworks(absl::string_view text);

// --rates: "async:5e-4,ring:1e-3", by the words of --modes without "+1".
// INVALID_ARGUMENT names a wrong entry.
absl::StatusOr<std::map<std::string, double>> ParseRates(
    absl::string_view text);

// --straggler: "HOST:SHARE", with the number of a host from 0. "" is no
// straggler.
absl::StatusOr<std::optional<Straggler>> ParseStraggler(absl::string_view text);

// --models: "NAME:--flag=value --flag=value;NAME:…". "" is one model of the
// given name without flags of its own. INVALID_ARGUMENT names a wrong entry.
struct GridModel {
  std::string name;
  std::vector<std::string> flags;
  // Of modes that are not in --rates. ParseModels leaves it at 0.
  double learning_rate = 0;
};
absl::StatusOr<std::vector<GridModel>> ParseModels(
    absl::string_view text, const std::string& only_name);

struct GridOptions {
  std::vector<GridModel> models;
  std::vector<GridMode> modes;
  std::vector<int> hosts;
  std::vector<int> batch_sizes;
  std::vector<GridNetwork> networks;
  bool equal_global_batch = false;  // batch_sizes are those of all workers
  std::map<std::string, double> rates;
  std::optional<Straggler> straggler;
  double cores_per_host = 1;
  int ssp_bound = 3;
  int replay_hosts = 16;  // cells of so many hosts and more are replayed
};

// All cells, model by model. A host alone has no network, so it is there once,
// with the network "none"; and once more as a replayed cell, whose name ends in
// "_replayed", if more hosts are replayed, so that these have an efficiency
// too. With a straggler the cells with the most hosts are there again, with
// that straggler. INVALID_ARGUMENT: a global batch that the
// workers cannot share evenly, as many backup workers as hosts, or a straggler
// that is none of the hosts.
absl::StatusOr<std::vector<Cell>> MakeGrid(const GridOptions& options);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_GRID_H_
