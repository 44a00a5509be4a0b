#include "launch/ssh_command.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace shoal {

std::string RemoteHost::WithPort(int port) const {
  if (address.find(':') == std::string::npos) {
    return absl::StrCat(address, ":", port);
  }
  return absl::StrCat("[", address, "]:", port);
}

absl::StatusOr<std::vector<RemoteHost>> ParseRemoteHosts(
    absl::string_view text) {
  std::vector<RemoteHost> hosts;
  std::set<std::string> seen;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    entry = absl::StripAsciiWhitespace(entry);
    RemoteHost host;
    host.target = std::string(entry);
    host.address = host.target.substr(host.target.rfind('@') + 1);
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
          "' is given twice; every host has one server and one worker"));
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

}  // namespace shoal
