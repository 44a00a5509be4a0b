#ifndef SHOAL_LAUNCH_FLAG_SET_H_
#define SHOAL_LAUNCH_FLAG_SET_H_

#include <set>
#include <string>
#include <utility>
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
  // Why the flag must be given; empty: the flag has a default.
  std::string required = "";
  std::string group = "";  // filled by FlagSet
  // The default, as text; filled by FlagSet, unless --help is to say it in
  // other words.
  std::string default_value = "";
  // --help leaves the flag out: it does not work yet, and takes values that
  // change nothing, so that scripts with the flag run; or the command takes the
  // value from elsewhere.
  bool hidden = false;
};

// The value of a flag that was not typed but comes from a file or from the
// environment.
struct FlagSetting {
  std::string name;
  std::string value;  // as it would be typed
  std::string where;  // how an error begins: "job.textproto:3:1"
};

// The flags of one command. The set understands --flag=value, --flag value,
// --flag for a boolean that is to be true, and --help. If a flag is given
// several times, its last value is used, so that a script may append flags.
// Everything else is an error that says what was probably meant.
// Thread-compatible.
class FlagSet {
 public:
  // `command` is the command as it is typed ("shoal train"), `about` a text for
  // --help.
  FlagSet(std::string command, std::string about)
      : command_(std::move(command)), about_(std::move(about)) {}

  // Flags added from here on stand under this title in --help.
  void Group(std::string title) { group_ = std::move(title); }
  // REQUIRES: no flag of this name yet.
  void Add(Flag flag);
  // Adds a flag that this command does not take and other commands, named in
  // `takers`, do.
  void AddForeign(std::string name, std::string takers);

  // Reads the arguments after the command into the targets. INVALID_ARGUMENT:
  // a flag is unknown (the message names the nearest one), the value of a flag
  // that is used is out of range, an argument is not a flag, or a required flag
  // is left out (with the reason). With --help nothing is checked. Call once.
  absl::Status Parse(const std::vector<std::string>& typed);

  // The same in steps, for a command that has flags from other places too: call
  // ReadArguments first, then Fill for each other place, the one that wins
  // first, then CheckRequired.
  absl::Status ReadArguments(const std::vector<std::string>& typed);
  // Takes the settings of flags that were not given before, and skips settings
  // of other commands' flags. INVALID_ARGUMENT, whose message begins with the
  // setting's `where`: there is no flag of this name, or a value is out of
  // range.
  absl::Status Fill(const std::vector<FlagSetting>& settings);
  absl::Status CheckRequired() const;

  // True if --help was among the arguments.
  bool help_wanted() const { return help_wanted_; }
  std::string Help() const;

  const std::string& command() const { return command_; }
  const std::vector<Flag>& flags() const { return flags_; }
  const Flag* Find(absl::string_view name) const;
  bool given(const std::string& name) const { return given_.count(name) > 0; }

  // A line for each flag that was typed several times, with the value that is
  // used, to be shown to the user. Empty: there is no such flag.
  const std::string& repeated() const { return repeated_; }

  // The flags that were given, in the order of --help: name and value.
  std::vector<std::pair<std::string, std::string>> Given() const;

  // Texts for the start of the log, one paragraph per group, with the values in
  // force: every flag, where `*` marks the flags that were given, and those of
  // these that have a value. `title` is what the second text calls them.
  std::string Resolved() const;
  std::string ResolvedGiven(absl::string_view title = "flags given") const;

 private:
  std::string Paragraphs(absl::string_view title, bool all) const;
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
  std::string repeated_;
  bool help_wanted_ = false;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAG_SET_H_
