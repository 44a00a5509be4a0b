#include "plan/cluster_description.h"

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

struct Unit {
  const char* name;
  double factor;
};

constexpr Unit kNetworks[] = {{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
constexpr Unit kTimes[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
constexpr Unit kSizes[] = {{"mb", 1e6},           {"gb", 1e9},
                           {"tb", 1e12},          {"mib", 1048576.0},
                           {"gib", 1073741824.0}, {"tib", 1099511627776.0}};

// A number above 0 with one of these units. `like` is an example for the
// error.
absl::StatusOr<double> WithUnit(absl::string_view text,
                                absl::Span<const Unit> units,
                                absl::string_view like) {
  size_t digits = 0;
  while (digits < text.size() &&
         (absl::ascii_isdigit(text[digits]) || text[digits] == '.')) {
    ++digits;
  }
  double number = 0;
  if (absl::SimpleAtod(text.substr(0, digits), &number) && number > 0) {
    const std::string name = absl::AsciiStrToLower(text.substr(digits));
    for (const Unit& unit : units) {
      if (name == unit.name) return number * unit.factor;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text, "' must be a number above 0 with its unit, as ", "in ", like));
}

// A number in [least, most].
absl::StatusOr<double> Plain(absl::string_view text, double least,
                             double most) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !(number >= least) ||
      !(number <= most)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "'%s' must be a number from %g to %g", text, least, most));
  }
  return number;
}

absl::Status Set(absl::string_view key, absl::string_view value,
                 ClusterDescription* cluster) {
  if (key == "hosts") {
    SHOAL_ASSIGN_OR_RETURN(const double hosts, Plain(value, 1, 100000));
    if (hosts != std::floor(hosts)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", value, "' must be a whole number"));
    }
    cluster->hosts = static_cast<int>(hosts);
  } else if (key == "cores") {
    SHOAL_ASSIGN_OR_RETURN(cluster->cores, Plain(value, .01, 4096));
  } else if (key == "network") {
    SHOAL_ASSIGN_OR_RETURN(cluster->bits_per_second, ParseNetwork(value));
  } else if (key == "latency") {
    SHOAL_ASSIGN_OR_RETURN(cluster->latency_seconds,
                           WithUnit(value, kTimes, "60us or 1ms"));
  } else if (key == "memory") {
    SHOAL_ASSIGN_OR_RETURN(cluster->memory_bytes,
                           WithUnit(value, kSizes, "64GiB or 64GB"));
  } else {
    return absl::InvalidArgumentError(
        "there is no such key; the keys are hosts, cores, network, latency "
        "and memory");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<double> ParseNetwork(absl::string_view text) {
  return WithUnit(text, kNetworks, "10gbit or 500mbit");
}

absl::StatusOr<ClusterDescription> ParseCluster(absl::string_view text) {
  ClusterDescription cluster;
  std::set<std::string> seen;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    entry = absl::StripAsciiWhitespace(entry);
    const auto wrong = [&](absl::string_view why) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cluster, entry '", entry, "': ", why));
    };
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (entry.find('=') == absl::string_view::npos) {
      return wrong("must be key=value, as in hosts=32");
    }
    if (!seen.insert(std::string(halves.first)).second) {
      return wrong("the key is given twice; give it once");
    }
    const absl::Status set = Set(halves.first, halves.second, &cluster);
    if (!set.ok()) return wrong(set.message());
  }
  for (const char* const needed : {"hosts", "network"}) {
    if (seen.count(needed) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--cluster=", text, ": ", needed,
          " is missing, as in --cluster=hosts=32,cores=8,network=10gbit"));
    }
  }
  return cluster;
}

std::string NetworkText(double bits_per_second) {
  if (bits_per_second >= 1e9) {
    return absl::StrFormat("%.3g Gbit/s", bits_per_second / 1e9);
  }
  return absl::StrFormat("%.3g Mbit/s", bits_per_second / 1e6);
}

}  // namespace shoal
