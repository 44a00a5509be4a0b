#include "cluster/agreement.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "core/config_text.h"

namespace shoal {
namespace {

using Flag = std::pair<absl::string_view, absl::string_view>;

// `config` must outlive the flags.
std::vector<Flag> Flags(absl::string_view config) {
  std::vector<Flag> flags;
  for (absl::string_view line : absl::StrSplit(config, '\n')) {
    if (line.empty()) continue;
    flags.push_back(absl::StrSplit(line, absl::MaxSplits('=', 1)));
  }
  // Texts of a foreign client need not be sorted.
  std::sort(flags.begin(), flags.end());
  return flags;
}

std::string Said(absl::string_view who, const Flag* flag) {
  if (flag == nullptr) return absl::StrCat(who, " does not have it");
  return absl::StrCat(who, " has ",
                      flag->second.empty() ? "no value" : flag->second);
}

std::string Describe(const SourceInfo& source) {
  return absl::StrFormat("%s (%d bytes, first bytes' crc32c %08x)", source.name,
                         source.size, source.head_crc32c);
}

}  // namespace

std::string FirstDifference(absl::string_view who, absl::string_view config,
                            absl::string_view other,
                            absl::string_view other_config) {
  if (config == other_config) return "";
  const std::string my_text = ConfigInPresentNames(config);
  const std::string their_text = ConfigInPresentNames(other_config);
  const std::vector<Flag> mine = Flags(my_text);
  const std::vector<Flag> theirs = Flags(their_text);
  auto a = mine.begin();
  auto b = theirs.begin();
  while (a != mine.end() && b != theirs.end() && *a == *b) ++a, ++b;
  const Flag* first = a == mine.end() ? nullptr : &*a;
  const Flag* second = b == theirs.end() ? nullptr : &*b;
  if (first == nullptr && second == nullptr) return "";
  if (first != nullptr && second != nullptr && first->first != second->first) {
    // The one with the smaller name is the one that the other side lacks.
    (first->first < second->first ? second : first) = nullptr;
  }
  const absl::string_view name =
      first != nullptr ? first->first : second->first;
  // `shoal run` alone has --ps; its processes, and those of a cluster, have a
  // list: that of the workers in a mode without servers.
  const std::string what =
      name == "ps" ? "--ps_hosts, or --worker_hosts with --mode=ring, differs "
                     "in its number of entries"
                   : absl::StrCat("--", name, " differs");
  return absl::StrCat(what, ": ", Said(who, first), ", ", Said(other, second));
}

absl::Status CheckSameConfig(absl::string_view who, absl::string_view config,
                             absl::string_view other,
                             absl::string_view other_config) {
  const std::string difference =
      FirstDifference(who, config, other, other_config);
  if (difference.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      difference, "; start every process of the job with the same value"));
}

absl::Status CheckSameSources(absl::string_view kind, absl::string_view who,
                              const std::vector<SourceInfo>& sources,
                              absl::string_view other,
                              const std::vector<SourceInfo>& other_sources,
                              absl::string_view rule) {
  if (sources == other_sources) return absl::OkStatus();
  size_t i = 0;
  while (i < sources.size() && i < other_sources.size() &&
         sources[i] == other_sources[i]) {
    ++i;
  }
  const std::string mine =
      i < sources.size() ? Describe(sources[i]) : "no such file";
  const std::string theirs =
      i < other_sources.size() ? Describe(other_sources[i]) : "no such file";
  return absl::FailedPreconditionError(absl::StrCat(
      kind, " file ", i, " differs: ", who, " has ", mine, ", ", other, " has ",
      theirs, "; ", rule));
}

absl::Status CheckSameIds(absl::string_view who, IdKind ids,
                          absl::string_view other, IdKind other_ids) {
  if (MayMix(ids, other_ids)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      who, " ", DescribeIds(ids), ", but ", other, " ", DescribeIds(other_ids),
      "; a feature has another id in each: ",
      other_ids == IdKind::kHashed
          ? "give raw Criteo files here too"
          : "give files of the same encoding here too; shoal data prepare "
            "--features=FILE, with the _features.txt of the training's data, "
            "encodes raw Criteo files"));
}

}  // namespace shoal
