#include "launch/environment/tf_config.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/json_reader.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr char kVariable[] = "TF_CONFIG";

absl::Status Wrong(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat(kVariable, ": ", path, " ", what));
}

// The environment's text is short, so no text in it is refused for its length.
constexpr size_t kAnyLength = std::numeric_limits<size_t>::max();

// The list of hosts under `name`; empty if there is no such list.
absl::StatusOr<std::vector<std::string>> Hosts(const JsonNode& cluster,
                                               const char* name) {
  std::vector<std::string> hosts;
  if (!cluster.Has(name)) return hosts;
  const JsonNode list = cluster.Field(name);
  const std::string path = absl::StrCat("cluster.", name);
  if (list.kind() != JsonKind::kArray) {
    return Wrong(path, "must be a list of \"host:port\"");
  }
  const size_t count = list.Size(kAnyLength);
  for (size_t i = 0; i < count; ++i) {
    const std::string entry = absl::StrCat(path, "[", i, "]");
    if (list.At(i).kind() != JsonKind::kText) {
      return Wrong(entry, "must be \"host:port\"");
    }
    const std::string host = list.At(i).String(kAnyLength);
    if (host.empty() || host.find(',') != std::string::npos) {
      return Wrong(
          entry, absl::StrCat("is '", host, "'; it must be one \"host:port\""));
    }
    hosts.push_back(host);
  }
  return hosts;
}

struct Cluster {
  std::vector<std::string> ps;
  std::vector<std::string> workers;  // the chief first
  std::string chief;                 // "chief", "master" or ""
};

absl::StatusOr<Cluster> ReadCluster(const JsonNode& root) {
  if (!root.Has("cluster")) return Wrong("cluster", "is missing");
  const JsonNode object = root.Field("cluster");
  if (object.kind() != JsonKind::kObject) {
    return Wrong("cluster", "must be an object");
  }
  Cluster cluster;
  SHOAL_ASSIGN_OR_RETURN(cluster.ps, Hosts(object, "ps"));
  if (cluster.ps.empty()) {
    return Wrong("cluster.ps",
                 "is missing or empty: Shoal needs parameter "
                 "servers");
  }
  for (const char* name : {"chief", "master"}) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> chief,
                           Hosts(object, name));
    if (chief.empty()) continue;
    if (chief.size() > 1) {
      return Wrong(absl::StrCat("cluster.", name), "has more than one entry");
    }
    if (!cluster.chief.empty()) {
      return Wrong("cluster.chief", "and cluster.master are both there");
    }
    cluster.chief = name;
    cluster.workers = chief;
  }
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> workers,
                         Hosts(object, "worker"));
  for (std::string& worker : workers) {
    cluster.workers.push_back(std::move(worker));
  }
  if (cluster.workers.empty()) {
    return Wrong("cluster.worker", "is missing or empty");
  }
  return cluster;
}

absl::StatusOr<int64_t> ReadIndex(const JsonNode& root, const Cluster& cluster,
                                  Command command) {
  if (!root.Has("task")) return Wrong("task", "is missing");
  const JsonNode task = root.Field("task");
  if (task.kind() != JsonKind::kObject) {
    return Wrong("task", "must be an object");
  }
  if (!task.Has("type") || task.Field("type").kind() != JsonKind::kText) {
    return Wrong("task.type",
                 "must be \"ps\", \"worker\", \"chief\" or "
                 "\"master\"");
  }
  const std::string role = task.Field("type").String(kAnyLength);
  const bool is_ps = role == "ps";
  const bool is_chief = role == "chief" || role == "master";
  if (!is_ps && !is_chief && role != "worker") {
    return Wrong("task.type", absl::StrCat("is '", role,
                                           "'; Shoal knows ps, worker, chief "
                                           "and master"));
  }
  const Command wanted = is_ps ? Command::kPs : Command::kWorker;
  if (wanted != command) {
    return Wrong("task.type", absl::StrCat("is '", role, "', which is for ",
                                           CommandName(wanted), " and not for ",
                                           CommandName(command)));
  }
  if (is_chief && cluster.chief != role) {
    return Wrong("task.type", absl::StrCat("is '", role, "', and cluster.",
                                           role, " is missing"));
  }
  if (!task.Has("index") || task.Field("index").kind() != JsonKind::kInteger) {
    return Wrong("task.index", "must be an integer");
  }
  const int64_t index = task.Field("index").Signed();
  const int64_t chiefs = cluster.chief.empty() ? 0 : 1;
  int64_t count = static_cast<int64_t>(cluster.workers.size()) - chiefs;
  if (is_ps) count = static_cast<int64_t>(cluster.ps.size());
  if (is_chief) count = 1;
  if (index < 0 || index >= count) {
    return Wrong("task.index", absl::StrCat("is ", index, ", and cluster.",
                                            role, " has ", count, " entries"));
  }
  return role == "worker" ? index + chiefs : index;
}

}  // namespace

absl::StatusOr<std::vector<FlagSetting>> TfConfigCluster(
    const Environment& environment, Command command) {
  std::vector<FlagSetting> settings;
  const auto found = environment.find(kVariable);
  if (found == environment.end() || found->second.empty()) return settings;
  const auto document = JsonDocument::Parse(found->second);
  if (!document.ok() || (*document)->root().kind() != JsonKind::kObject) {
    return absl::InvalidArgumentError(
        absl::StrCat(kVariable, " is not a JSON object"));
  }
  const JsonNode& root = (*document)->root();
  SHOAL_ASSIGN_OR_RETURN(const Cluster cluster, ReadCluster(root));
  SHOAL_ASSIGN_OR_RETURN(const int64_t index,
                         ReadIndex(root, cluster, command));
  const std::string where = absl::StrCat(kVariable, ": ");
  settings.push_back(
      {"ps_hosts", absl::StrJoin(cluster.ps, ","), where + "cluster.ps"});
  settings.push_back({"worker_hosts", absl::StrJoin(cluster.workers, ","),
                      where + "cluster.worker"});
  settings.push_back({"task_index", absl::StrCat(index), where + "task.index"});
  return settings;
}

}  // namespace shoal
