#include "launch/ssh_command.h"

#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace shoal {

std::string RemoteHost::WithPort(int port) const {
  if (address.find(':') == std::string::npos) {
    return absl::StrCat(address, ":", port);
  }
  return absl::StrCat("[", address, "]:", port);
}

namespace {

// Splits `host:n` and `[address]:n`. An address of several colons without
// brackets has no number. False: the part behind the host is not a number of
// workers.
bool SplitWorkers(absl::string_view entry, absl::string_view* host,
                  int* workers) {
  absl::string_view number;
  *host = entry;
  if (absl::ConsumePrefix(&entry, "[")) {
    const size_t end = entry.find(']');
    if (end == absl::string_view::npos) return false;
    *host = entry.substr(0, end);
    number = entry.substr(end + 1);
    if (number.empty()) return true;
    if (!absl::ConsumePrefix(&number, ":")) return false;
  } else {
    const size_t colon = entry.find(':');
    if (colon == absl::string_view::npos || colon != entry.rfind(':')) {
      return true;
    }
    *host = entry.substr(0, colon);
    number = entry.substr(colon + 1);
  }
  return absl::SimpleAtoi(number, workers) && *workers >= 1 &&
         *workers <= kWorkersOfHostMax;
}

}  // namespace

absl::StatusOr<std::vector<RemoteHost>> ParseRemoteHosts(
    absl::string_view text, int worker_per_host) {
  std::vector<RemoteHost> hosts;
  std::set<std::string> seen;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    entry = absl::StripAsciiWhitespace(entry);
    RemoteHost host;
    host.workers = worker_per_host;
    const size_t user = entry.rfind('@') + 1;  // 0 without a user
    absl::string_view address;
    if (!SplitWorkers(entry.substr(user), &address, &host.workers)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hosts: '", entry, "' must be a host, or host:n for n workers "
          "there, from 1 to ", kWorkersOfHostMax,
          "; the servers' port is --ps_port, and ssh's port belongs into "
          "--ssh_command"));
    }
    host.target = absl::StrCat(entry.substr(0, user), address);
    host.address = std::string(address);
    if (host.address.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--hosts=", text, " has an empty entry"));
    }
    for (const char c : host.target) {
      if (absl::ascii_isspace(c) || !absl::ascii_isprint(c)) {
        return absl::InvalidArgumentError(
            absl::StrCat("--hosts: '", entry, "' must be a host or user@host"));
      }
    }
    if (host.target[0] == '-' || host.address[0] == '-') {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hosts: '", entry, "' begins like an option of ssh"));
    }
    if (!seen.insert(host.address).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hosts: '", host.address,
          "' is given twice; every host has one server, and host:n starts n "
          "workers there"));
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

std::string ShellQuote(absl::string_view word) {
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

std::vector<std::string> SshArguments(absl::string_view ssh_command,
                                      const RemoteHost& host,
                                      const std::vector<std::string>& remote) {
  // env finds the program in PATH.
  std::vector<std::string> arguments = {"/usr/bin/env"};
  for (const absl::string_view word : absl::StrSplit(
           ssh_command, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    arguments.emplace_back(word);
  }
  arguments.push_back(host.target);
  arguments.push_back(absl::StrCat(
      "exec ",
      absl::StrJoin(remote, " ", [](std::string* out, const std::string& word) {
        absl::StrAppend(out, ShellQuote(word));
      })));
  return arguments;
}

HostCommand BySsh(std::string ssh_command) {
  return [ssh_command = std::move(ssh_command)](
             const RemoteHost& host, const std::vector<std::string>& command) {
    return SshArguments(ssh_command, host, command);
  };
}

}  // namespace shoal
