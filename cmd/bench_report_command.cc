// shoal bench report: the report of a comparison, from its compare.json.

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/report.h"
#include "bench/compare/verdict_text.h"
#include "cmd/own_terminal.h"
#include "cmd/parse_command_line.h"
#include "cmd/subcommand.h"
#include "launch/flag_set.h"

namespace shoal {

int BenchReportCommand(const Args& args) {
  std::string compare;
  std::string out;
  FlagSet set("shoal bench report",
              "Prints the verdicts of a comparison and writes its report "
              "again, from the compare.json of shoal bench compare. It starts "
              "no job.");
  set.Group("Report");
  set.Add({"compare",
           &compare,
           "File compare.json of shoal bench compare.",
           {},
           "it is what the report is of, as in --compare=out/compare.json"});
  set.Add({"out", &out,
           "File for the report, one HTML page. Empty: none is written."});
  if (const auto exit = ParseOrExit(&set, args)) return *exit;
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const auto found = ReadComparison(*files, compare);
  if (!found.ok()) return Complain(set.command(), found.status());
  std::string text = VerdictText(*found);
  if (!out.empty()) {
    const absl::Status written = WriteReport(*found, *files, out);
    if (!written.ok()) return Complain(set.command(), written);
    absl::StrAppend(&text, "Report: ", out, "\n");
  }
  return PrintResult(set.command(), text);
}

}  // namespace shoal
