#include "launch/flag_set.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "launch/edit_distance.h"
#include "launch/wrap_text.h"

namespace shoal {
namespace {

constexpr int kColumns = 80;
constexpr int kHelpIndent = 30;
constexpr int kGroupIndent = 14;

// `left`, and `text` wrapped from column `indent` on: beside `left`, or below
// it if `left` is too long.
std::string TwoColumns(absl::string_view left, absl::string_view text,
                       int indent) {
  const std::string wrapped = WrapText(text, kColumns, indent);
  if (left.size() + 2 > static_cast<size_t>(indent)) {
    return absl::StrCat(left, "\n", wrapped, "\n");
  }
  return absl::StrCat(left, wrapped.substr(left.size()), "\n");
}

// Prints a flag in two columns: its name with the kind of its value, and its
// help, wrapped.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool) const override {
    std::string left = absl::StrCat("  ", option->get_name(false, true));
    if (!option->get_type_name().empty()) {
      absl::StrAppend(&left, "=", option->get_type_name());
    }
    std::string text = option->get_description();
    if (option->get_required()) {
      absl::StrAppend(&text, " Required.");
    } else if (!option->get_default_str().empty()) {
      absl::StrAppend(&text, " [", option->get_default_str(), "]");
    }
    return TwoColumns(left, text, kHelpIndent);
  }

  std::string make_group(
      std::string group, bool,
      std::vector<const CLI::Option*> options) const override {
    std::string text = absl::StrCat(group, ":\n");
    for (const CLI::Option* option : options) {
      absl::StrAppend(&text, make_option(option, false));
    }
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string) const override {
    return absl::StrCat("\nUsage: ", app->get_name(),
                        " [--flag=value ...]\n\n");
  }
};

bool TakesTrue(const Flag& flag) {
  const auto* choice = std::get_if<ChoiceTarget>(&flag.target);
  return choice == nullptr ? std::holds_alternative<bool*>(flag.target)
                           : absl::c_linear_search(choice->words(), "true");
}

// CLI11's app keeps state from parsing, so each use makes a new app.
std::unique_ptr<CLI::App> MakeApp(const std::string& command,
                                  const std::string& about,
                                  const std::vector<Flag>& flags) {
  auto app = std::make_unique<CLI::App>(WrapText(about, kColumns, 0), command);
  app->formatter(std::make_shared<HelpFormatter>());
  app->allow_extras();
  app->set_help_flag();
  for (const Flag& flag : flags) {
    app->add_option(absl::StrCat("--", flag.name))
        ->description(flag.help)
        ->group(flag.hidden ? "" : flag.group)
        ->type_name(FlagValueKind(flag.target, flag.limits))
        ->default_str(flag.default_value)
        ->required(!flag.required.empty())
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  app->set_help_flag("-h,--help", "This text.")->group("Help");
  return app;
}

}  // namespace

void FlagSet::Add(Flag flag) {
  SHOAL_DCHECK(std::none_of(flags_.begin(), flags_.end(), [&](const Flag& one) {
    return one.name == flag.name;
  }));
  flag.group = group_;
  if (flag.default_value.empty()) {
    flag.default_value = PrintFlagValue(flag.target, flag.limits);
  }
  flags_.push_back(std::move(flag));
}

void FlagSet::AddForeign(std::string name, std::string takers) {
  foreign_.push_back({std::move(name), std::move(takers)});
}

const Flag* FlagSet::Find(absl::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

absl::Status FlagSet::Unknown(absl::string_view arg) const {
  if (!absl::StartsWith(arg, "-")) {
    return absl::InvalidArgumentError(
        absl::StrCat(command_, " takes only flags, not '", arg, "'; see ",
                     command_, " --help"));
  }
  absl::string_view name = arg.substr(0, arg.find('='));
  while (absl::ConsumePrefix(&name, "-")) {
  }
  std::vector<std::string> known;
  for (const Flag& flag : flags_) {
    if (!flag.hidden) known.push_back(flag.name);
  }
  known.push_back("help");
  for (const Foreign& foreign : foreign_) {
    if (name == foreign.name) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " is a flag of ", foreign.takers, "; ",
                       command_, " does not take it"));
    }
  }
  const std::string nearest = NearestName(name, known);
  return absl::InvalidArgumentError(absl::StrCat(
      command_, " has no flag --", name,
      nearest.empty() ? absl::StrCat("; see ", command_, " --help")
                      : absl::StrCat("; did you mean --", nearest, "?")));
}

// Appends "=true" to a flag without a value that takes this word.
std::vector<std::string> FlagSet::WithBooleansOn(
    std::vector<std::string> args) const {
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view name = args[i];
    if (!absl::ConsumePrefix(&name, "--")) continue;
    const Flag* flag = Find(name);
    if (flag == nullptr) continue;
    const bool alone =
        i + 1 == args.size() || absl::StartsWith(args[i + 1], "--");
    if (alone && TakesTrue(*flag)) {
      absl::StrAppend(&args[i], "=true");
    } else {
      ++i;
    }
  }
  return args;
}

// CLI11 would take the next flag as the value that was left out.
absl::Status FlagSet::CheckShape(const std::vector<std::string>& args) const {
  for (size_t i = 0; i < args.size(); ++i) {
    absl::string_view arg = args[i];
    if (!absl::ConsumePrefix(&arg, "--")) continue;
    const absl::string_view name = arg.substr(0, arg.find('='));
    if (Find(name) == nullptr) continue;
    const bool inline_value = name.size() < arg.size();
    const bool empty = inline_value ? name.size() + 1 == arg.size()
                                    : i + 1 == args.size() ||
                                          absl::StartsWith(args[i + 1], "--") ||
                                          args[i + 1].empty();
    if (empty) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " has no value; it takes ",
                       FlagValueKind(Find(name)->target, Find(name)->limits)));
    }
    if (!inline_value) ++i;
  }
  return absl::OkStatus();
}

absl::Status FlagSet::Parse(const std::vector<std::string>& typed) {
  SHOAL_RETURN_IF_ERROR(ReadArguments(typed));
  return help_wanted_ ? absl::OkStatus() : CheckRequired();
}

absl::Status FlagSet::Fill(const std::vector<FlagSetting>& settings) {
  std::vector<std::string> filled;
  for (const FlagSetting& setting : settings) {
    const Flag* const flag = Find(setting.name);
    if (flag == nullptr) {
      const bool foreign =
          std::any_of(foreign_.begin(), foreign_.end(),
                      [&](const Foreign& f) { return f.name == setting.name; });
      if (foreign) continue;
      return Annotate(Unknown(absl::StrCat("--", setting.name)), setting.where);
    }
    if (given(setting.name)) continue;
    SHOAL_RETURN_IF_ERROR(Annotate(
        ParseFlagValue(flag->name, setting.value, flag->limits, flag->target),
        setting.where));
    filled.push_back(setting.name);
  }
  given_.insert(filled.begin(), filled.end());
  return absl::OkStatus();
}

absl::Status FlagSet::CheckRequired() const {
  for (const Flag& flag : flags_) {
    if (!flag.required.empty() && !given(flag.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat(command_, " needs --", flag.name, ": ", flag.required));
    }
  }
  return absl::OkStatus();
}

absl::Status FlagSet::ReadArguments(const std::vector<std::string>& typed) {
  for (const std::string& arg : typed) {
    if (arg == "--help" || arg == "-h") {
      help_wanted_ = true;
      return absl::OkStatus();
    }
  }
  const std::vector<std::string> args = WithBooleansOn(typed);
  SHOAL_RETURN_IF_ERROR(CheckShape(args));
  const std::unique_ptr<CLI::App> app = MakeApp(command_, about_, flags_);
  for (const Flag& flag : flags_) {
    // Missing ones are named below, with the reason.
    app->get_option(absl::StrCat("--", flag.name))->required(false);
  }
  try {
    // CLI11 takes its arguments from the back.
    app->parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Error& error) {
    return absl::InvalidArgumentError(error.what());
  }
  const std::vector<std::string> unknown = app->remaining();
  if (!unknown.empty()) return Unknown(unknown.front());
  for (const Flag& flag : flags_) {
    const CLI::Option* option = app->get_option(absl::StrCat("--", flag.name));
    if (option->count() == 0) continue;
    const std::string value = option->results().back();
    SHOAL_RETURN_IF_ERROR(
        ParseFlagValue(flag.name, value, flag.limits, flag.target));
    given_.insert(flag.name);
    if (option->count() == 1) continue;
    const std::string times =
        option->count() == 2 ? "twice"
                             : absl::StrCat(option->count(), " times");
    absl::StrAppend(&repeated_, command_, ": --", flag.name, " is given ",
                    times, "; the last value is used: --", flag.name, "=",
                    value, "\n");
  }
  return absl::OkStatus();
}

std::string FlagSet::Help() const {
  return MakeApp(command_, about_, flags_)->help(command_);
}

std::vector<std::pair<std::string, std::string>> FlagSet::Given() const {
  std::vector<std::pair<std::string, std::string>> given_flags;
  for (const Flag& flag : flags_) {
    if (!given(flag.name)) continue;
    given_flags.emplace_back(flag.name,
                             PrintFlagValue(flag.target, flag.limits));
  }
  return given_flags;
}

std::string FlagSet::Resolved() const {
  return Paragraphs("flags in force (* given)", /*all=*/true);
}

std::string FlagSet::ResolvedGiven(absl::string_view title) const {
  return Paragraphs(
      absl::StrCat(title, " (--print_config=all prints all flags)"),
      /*all=*/false);
}

std::string FlagSet::Paragraphs(absl::string_view title, bool all) const {
  std::string text = absl::StrCat(command_, ", ", title, ":\n");
  std::string group;
  std::string line;
  auto flush = [&] {
    if (!line.empty()) {
      absl::StrAppend(
          &text, TwoColumns(absl::StrCat("  ", group), line, kGroupIndent));
    }
    line.clear();
  };
  for (const Flag& flag : flags_) {
    if (!given(flag.name) && !(all && !flag.hidden)) continue;
    const std::string value = PrintFlagValue(flag.target, flag.limits);
    if (!all && value.empty()) continue;
    if (flag.group != group) flush();
    group = flag.group;
    absl::StrAppend(&line, line.empty() ? "" : " ", flag.name,
                    all && given(flag.name) ? "*=" : "=", value);
  }
  flush();
  return text;
}

}  // namespace shoal
