#ifndef SHOAL_LAUNCH_FLAG_SET_H_
#define SHOAL_LAUNCH_FLAG_SET_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "launch/flag_value.h"

namespace shoal {

struct Flag {
  std::string name;   // without the dashes
  FlagTarget target;  // holds the default until Parse; outlives the set
  std::string help;   // a sentence or two
  FlagLimits limits = {};
  // Why it has to be given; empty: it has a default.
  std::string required = "";
  std::string group = "";          // filled by FlagSet
  std::string default_value = "";  // filled by FlagSet, as text
};

// A flag's value that was not typed: from a file, or from the environment.
struct FlagSetting {
  std::string name;
  std::string value;  // as it would be typed
  std::string where;  // begins an error: "job.textproto:3:1"
};

// The flags of one command. Understands --flag=value, --flag value, --flag for
// a boolean that is to be on, and --help; everything else is an error that says
// what was meant. Thread-compatible.
class FlagSet {
 public:
  // `command` as it is typed ("shoal train"), `about` a sentence for --help.
  FlagSet(std::string command, std::string about)
      : command_(std::move(command)), about_(std::move(about)) {}

  // Flags added from here on stand under this title in --help.
  void Group(std::string title) { group_ = std::move(title); }
  // REQUIRES: no flag of this name yet.
  void Add(Flag flag);
  // A flag that other commands (named in `takers`) take and this one does not.
  void AddForeign(std::string name, std::string takers);

  // Reads the arguments after the command into the targets. INVALID_ARGUMENT:
  // an unknown flag (the nearest right one is named), a value out of range, a
  // flag given twice, a stray argument, a required flag left out (with the
  // reason). Nothing is checked once --help is met. Call once.
  absl::Status Parse(const std::vector<std::string>& typed);

  // The same in steps, for those who have flags from elsewhere too: arguments
  // first, then what else there is, the foremost first, then what is missing.
  absl::Status ReadArguments(const std::vector<std::string>& typed);
  // Takes the settings of flags that nothing gave before; passes over those of
  // other commands' flags. INVALID_ARGUMENT, which begins with the setting's
  // `where`: no flag of this name, a value out of range.
  absl::Status Fill(const std::vector<FlagSetting>& settings);
  absl::Status CheckRequired() const;

  // --help was among the arguments.
  bool help_wanted() const { return help_wanted_; }
  std::string Help() const;

  const std::string& command() const { return command_; }
  const std::vector<Flag>& flags() const { return flags_; }
  const Flag* Find(absl::string_view name) const;
  bool given(const std::string& name) const { return given_.count(name) > 0; }

  // Every flag with the value in force, a group a paragraph; `*` marks those
  // that were given. For the start of the log.
  std::string Resolved() const;

 private:
  std::vector<std::string> WithBooleansOn(std::vector<std::string> args) const;
  absl::Status CheckShape(const std::vector<std::string>& args) const;
  absl::Status Unknown(absl::string_view arg) const;

  struct Foreign {
    std::string name;
    std::string takers;
  };

  const std::string command_;
  const std::string about_;
  std::string group_;
  std::vector<Flag> flags_;
  std::vector<Foreign> foreign_;
  std::set<std::string> given_;
  bool help_wanted_ = false;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAG_SET_H_
