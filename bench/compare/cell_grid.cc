#include "bench/compare/cell_grid.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/figure_json.h"
#include "core/training_mode.h"
#include "plan/cluster_description.h"

namespace shoal {
namespace {

absl::Status Wrong(absl::string_view flag, absl::string_view entry,
                   absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": '", entry, "' ", what));
}

std::vector<std::string> Entries(absl::string_view text) {
  std::vector<std::string> entries;
  for (const absl::string_view entry : absl::StrSplit(text, ',')) {
    entries.emplace_back(absl::StripAsciiWhitespace(entry));
  }
  return entries;
}

std::string ModeWords() {
  std::string words;
  for (const TrainingModeRow& row : kTrainingModes) {
    absl::StrAppend(&words, words.empty() ? "" : ", ", row.word);
  }
  return words;
}

bool IsNameOfModel(absl::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-';
  });
}

// "A_async_h2_b1024_1gbit"; a straggler adds "_slow1x0.5".
std::string NameOf(const Cell& cell) {
  std::string name =
      absl::StrCat(cell.model, "_", ModeWord(cell), "_h", cell.hosts, "_b",
                   cell.batch_size, "_", cell.network);
  if (cell.straggler.has_value()) {
    absl::StrAppend(&name, "_slow", cell.straggler->host, "x",
                    cell.straggler->share);
  }
  return name;
}

absl::StatusOr<int> BatchOfWorker(const GridOptions& options, int batch,
                                  int hosts) {
  if (!options.equal_global_batch) {
    if (batch <= kJsonBatchMax / hosts) return batch;
    return absl::InvalidArgumentError(
        absl::StrCat("--batch_sizes: ", batch, " on each of ", hosts,
                     " hosts are more than ", kJsonBatchMax, " together"));
  }
  if (batch % hosts != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--batch_sizes: ", hosts, " hosts cannot share a global batch of ",
        batch, " evenly; give a multiple of every entry of --hosts, or "
        "--equal_batch=rank"));
  }
  return batch / hosts;
}

class GridMaker {
 public:
  explicit GridMaker(const GridOptions& options) : options_(options) {}

  absl::StatusOr<std::vector<Cell>> Make() {
    for (const GridModel& model : options_.models) {
      for (const int hosts : options_.hosts) {
        for (const int batch : options_.batch_sizes) {
          SHOAL_RETURN_IF_ERROR(AddNetworks(model, hosts, batch));
        }
      }
    }
    return std::move(cells_);
  }

 private:
  absl::Status AddNetworks(const GridModel& model, int hosts, int batch) {
    const std::vector<GridNetwork> alone = {{"none", 0}};
    for (const GridNetwork& network : hosts == 1 ? alone : options_.networks) {
      for (const GridMode& mode : options_.modes) {
        SHOAL_RETURN_IF_ERROR(Add(model, hosts, batch, network, mode));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Add(const GridModel& model, int hosts, int batch,
                   const GridNetwork& network, const GridMode& mode) {
    // One worker has none to back it up.
    if (hosts == 1 && mode.backup_workers > 0) return absl::OkStatus();
    if (mode.backup_workers >= hosts && hosts > 1) {
      return Wrong("modes", ModeWord(mode.mode, mode.backup_workers),
                   absl::StrCat("needs more than ", hosts, " hosts"));
    }
    Cell cell;
    cell.model = model.name;
    cell.mode = mode.mode;
    cell.hosts = hosts;
    SHOAL_ASSIGN_OR_RETURN(cell.batch_size,
                           BatchOfWorker(options_, batch, hosts));
    cell.global_batch = cell.batch_size * hosts;
    const auto rate = options_.rates.find(mode.mode);
    cell.learning_rate =
        rate == options_.rates.end() ? model.learning_rate : rate->second;
    cell.network = network.name;
    cell.bits_per_second = network.bits_per_second;
    cell.cores_per_host = options_.cores_per_host;
    cell.compute = hosts >= options_.replay_hosts ? kReplayed : kComputed;
    cell.backup_workers = mode.backup_workers;
    const bool bound = ModeRowOf(cell).value == TrainingMode::kSsp;
    cell.ssp_bound = bound ? options_.ssp_bound : 0;
    cell.name = NameOf(cell);
    cells_.push_back(cell);
    if (NeedsTwin(cell)) {
      Cell twin = cell;
      twin.compute = kReplayed;
      twin.name = absl::StrCat(NameOf(twin), "_", kReplayed);
      cells_.push_back(std::move(twin));
    }
    const int most =
        *std::max_element(options_.hosts.begin(), options_.hosts.end());
    if (options_.straggler.has_value() && hosts == most) {
      if (options_.straggler->host >= most) {
        return Wrong("straggler", absl::StrCat(options_.straggler->host),
                     absl::StrCat("is none of the hosts 0 to ", most - 1));
      }
      cell.straggler = options_.straggler;
      cell.name = NameOf(cell);
      cells_.push_back(cell);
    }
    return absl::OkStatus();
  }

  // One host that trains is no measure of cells whose computation is played.
  bool NeedsTwin(const Cell& cell) const {
    return cell.hosts == 1 && !cell.replayed() &&
           std::any_of(
               options_.hosts.begin(), options_.hosts.end(),
               [&](int hosts) { return hosts >= options_.replay_hosts; });
  }

  const GridOptions& options_;
  std::vector<Cell> cells_;
};

}  // namespace

absl::StatusOr<std::vector<GridMode>> ParseModes(absl::string_view text) {
  std::vector<GridMode> modes;
  std::set<std::string> seen;
  for (const std::string& entry : Entries(text)) {
    const std::vector<std::string> parts = absl::StrSplit(entry, '+');
    GridMode mode{parts[0]};
    const TrainingModeRow* const row = FindModeRow(mode.mode);
    if (row == nullptr) {
      return Wrong("modes", entry,
                   absl::StrCat("is none of ", ModeWords(), ", sync+1"));
    }
    if (parts.size() > 1 &&
        (parts.size() > 2 || row->value != TrainingMode::kSync ||
         !absl::SimpleAtoi(parts[1], &mode.backup_workers) ||
         mode.backup_workers < 1)) {
      return Wrong("modes", entry,
                   "must be a mode; sync+1 is sync with one backup worker");
    }
    if (!seen.insert(entry).second) {
      return Wrong("modes", entry, "is given twice");
    }
    modes.push_back(mode);
  }
  return modes;
}

absl::StatusOr<std::vector<GridNetwork>> ParseNetworks(absl::string_view text) {
  std::vector<GridNetwork> networks;
  std::set<std::string> seen;
  for (const std::string& entry : Entries(text)) {
    GridNetwork network{entry, 0};
    if (entry != "none") {
      const auto bits = ParseNetwork(entry);
      if (!bits.ok() || *bits < 1e5 || *bits > 1e13) {
        return Wrong("networks", entry,
                     "must be none or a rate from 100kbit to 10000gbit, as "
                     "1gbit or 250mbit");
      }
      network.bits_per_second = *bits;
    }
    if (!seen.insert(entry).second) {
      return Wrong("networks", entry, "is given twice");
    }
    networks.push_back(network);
  }
  return networks;
}

absl::StatusOr<std::map<std::string, double>> ParseRates(
    absl::string_view text) {
  std::map<std::string, double> rates;
  if (text.empty()) return rates;
  for (const std::string& entry : Entries(text)) {
    const std::vector<std::string> parts = absl::StrSplit(entry, ':');
    double rate = 0;
    if (parts.size() == 2 && FindModeRow(parts[0]) == nullptr) {
      return Wrong("rates", entry,
                   absl::StrCat("names none of the modes ", ModeWords()));
    }
    if (parts.size() != 2 || !absl::SimpleAtod(parts[1], &rate) ||
        !(rate > 0) || rate > 1e6) {
      return Wrong("rates", entry,
                   "must be MODE:RATE with a rate above 0, as ring:1e-3");
    }
    if (!rates.emplace(parts[0], rate).second) {
      return Wrong("rates", entry, "is given twice");
    }
  }
  return rates;
}

absl::StatusOr<std::optional<Straggler>> ParseStraggler(
    absl::string_view text) {
  if (text.empty()) return std::optional<Straggler>();
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  Straggler straggler;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &straggler.host) ||
      straggler.host < 0 || !absl::SimpleAtod(parts[1], &straggler.share) ||
      !(straggler.share >= .01) || straggler.share >= 1) {
    return Wrong("straggler", text,
                 "must be HOST:SHARE with the number of a host from 0 and a "
                 "share of its speed from 0.01 to below 1, as 1:0.5");
  }
  return std::optional<Straggler>(straggler);
}

absl::StatusOr<std::vector<GridModel>> ParseModels(
    absl::string_view text, const std::string& only_name) {
  if (text.empty()) return std::vector<GridModel>{{only_name, {}, 0}};
  std::vector<GridModel> models;
  std::set<std::string> seen;
  for (const absl::string_view entry : absl::StrSplit(text, ';')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(absl::StripAsciiWhitespace(entry),
                       absl::MaxSplits(':', 1));
    GridModel model{std::string(parts[0]), {}, 0};
    if (parts.size() != 2 || !IsNameOfModel(model.name)) {
      return Wrong("models", entry,
                   "must be NAME:FLAGS with a name of letters, digits, '.' "
                   "and '-', as 'A:--embedding_size=16 --deep_layers=400,400'");
    }
    for (const absl::string_view flag :
         absl::StrSplit(parts[1], ' ', absl::SkipEmpty())) {
      if (!absl::StartsWith(flag, "--") || !absl::StrContains(flag, '=')) {
        return Wrong("models", entry,
                     absl::StrCat("has '", flag,
                                  "', which is not --flag=value"));
      }
      model.flags.emplace_back(flag);
    }
    if (!seen.insert(model.name).second) {
      return Wrong("models", model.name, "is given twice");
    }
    models.push_back(std::move(model));
  }
  return models;
}

absl::StatusOr<std::vector<Cell>> MakeGrid(const GridOptions& options) {
  return GridMaker(options).Make();
}

}  // namespace shoal
