#include "bench/compare/report.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/counted.h"
#include "base/listed.h"
#include "base/output_path.h"
#include "bench/compare/cell_figures.h"
#include "bench/compare/cell_mode.h"
#include "bench/compare/html_table.h"
#include "bench/compare/report_panels.h"
#include "bench/compare/report_sections.h"
#include "bench/compare/report_style.h"
#include "report/number_text.h"
#include "report/svg_canvas.h"

namespace shoal {
namespace {

std::string Question(const Comparison& comparison) {
  std::set<std::string> models;
  std::set<std::pair<std::pair<int, int>, std::string>> modes;
  std::set<std::pair<double, std::string>> networks;
  std::set<int> hosts;
  for (const Cell& cell : comparison.cells) {
    models.insert(cell.model);
    modes.emplace(std::pair(ModeOrder(cell), cell.backup_workers),
                  ModeName(cell));
    if (cell.hosts > 1 && cell.bits_per_second > 0) {
      networks.emplace(cell.bits_per_second, cell.network);
    }
    hosts.insert(cell.hosts);
  }
  const auto list = [](const auto& set) {
    std::vector<std::string> texts;
    for (const auto& entry : set) texts.push_back(absl::StrCat(entry));
    return Listed(texts, "and");
  };
  const auto names = [](const auto& set) {
    std::vector<std::string> texts;
    for (const auto& [order, name] : set) texts.push_back(name);
    return Listed(texts, "and");
  };
  if (models.empty()) return "Nothing was measured.";
  const bool several = models.size() > 1;
  return absl::StrCat(
      "Which mode trains model", several ? "s " : " ", list(models),
      " best on ", list(hosts), hosts == std::set<int>{1} ? " host" : " hosts",
      networks.empty() ? "" : absl::StrCat(" over ", names(networks)), ": ",
      names(modes), "?");
}

// "A host has 1 core and one worker. ", or "".
std::string CoresOfHosts(const Comparison& comparison) {
  if (comparison.cells.empty()) return "";
  const double cores = comparison.cells.front().cores_per_host;
  if (cores <= 0) return "";
  return absl::StrCat("A host has ", CoresText(cores), " and one worker. ");
}

std::string Where(const Comparison& comparison) {
  if (comparison.where == "lab") {
    return HtmlParagraph(absl::StrCat(
        "The hosts were played on one machine. Each is a network namespace "
        "with an address, links of limited bandwidth and a share of the "
        "processor. ",
        CoresOfHosts(comparison),
        comparison.dilation > 1
            ? absl::StrCat(
                  "The played cluster ran up to ",
                  SettingText(comparison.dilation),
                  " times slower than the real one in everything; all figures "
                  "below are multiplied back to the real one. ")
            : "",
        "What was not played stands below, under “What was not played”."));
  }
  if (comparison.where == "hosts") {
    return HtmlParagraph(
        "Every host was a real machine, reached by ssh, with one worker.");
  }
  return HtmlParagraph(
      "All processes ran on one machine and talked over its loopback device. "
      "This report tells nothing of networks: on a real network the modes may "
      "rank in another order.",
      "warning");
}

std::string Counts(const Comparison& comparison) {
  int computed = 0, replayed = 0, grey = 0, failed = 0, runs = 0;
  bool backup = false;
  for (const Cell& cell : comparison.cells) {
    ++(cell.replayed() ? replayed : computed);
    grey += !WhyOut(cell).empty();
    backup |= cell.backup_workers > 0;
    for (const CellRun& run : cell.runs) {
      ++runs;
      failed += !run.ok;
    }
  }
  const auto counted = [](int count, absl::string_view thing) {
    return Counted(static_cast<uint64_t>(count), thing);
  };
  std::string text = absl::StrCat(
      counted(computed + replayed, "cell"), ", ", counted(runs, "run"), ", ",
      counted(comparison.repeats, "repeat"),
      comparison.ended.empty() ? " asked for. " : " of each cell. ");
  if (computed > 0) {
    absl::StrAppend(
        &text, counted(computed, "cell"),
        computed == 1 ? " was computed: it" : " were computed: they",
        " trained the model. ");
  }
  if (replayed > 0) {
    absl::StrAppend(&text, counted(replayed, "cell"),
                    replayed == 1 ? " was" : " were",
                    " replayed: recorded times were played instead "
                    "of the computation, so that they have no AUC and no "
                    "processor time; pictures show them hollow. ");
  }
  if (grey > 0) {
    absl::StrAppend(&text, grey, grey == 1 ? " cell is" : " cells are",
                    " out of verdicts: grey in pictures and tables, with the "
                    "reason. ");
  }
  if (failed > 0) {
    absl::StrAppend(&text, failed, failed == 1 ? " run" : " runs",
                    " did not end well. ");
  }
  absl::StrAppend(&text, "Equal in all cells of a picture: ",
                  comparison.equal_batch == "global"
                      ? "the batch of all workers together."
                      : "the batch of each worker, so that more hosts have a "
                        "larger step.");
  std::string html = HtmlParagraph(text);
  if (backup) {
    html += HtmlParagraph(
        "sync+1 is sync with one backup worker: a step does not wait for the "
        "slowest worker.");
  }
  std::vector<std::string> asked;
  if (comparison.target_auc.has_value()) {
    asked.push_back(absl::StrCat("The target is an AUC of ",
                                 SettingText(*comparison.target_auc), "."));
  }
  if (comparison.price_per_host_hour.has_value()) {
    asked.push_back(absl::StrCat("An hour of a host costs ",
                                 SettingText(*comparison.price_per_host_hour),
                                 " (--price), and costs are in its currency."));
  }
  asked.push_back(
      "Figures are medians of the runs, with the least and the largest in "
      "brackets where the runs differ.");
  html += HtmlParagraph(absl::StrJoin(asked, " "));
  if (comparison.ended.empty()) {
    const int missing = (computed + replayed) * comparison.repeats - runs;
    html += HtmlParagraph(
        absl::StrCat(
            "The comparison was stopped before its end: ",
            missing > 0
                ? absl::StrCat(Counted(static_cast<uint64_t>(missing), "run"),
                               missing == 1 ? " is" : " are", " missing. ")
                : "each cell has its runs, but what follows them is missing: "
                  "another try of runs that failed or were disturbed, in a lab "
                  "what is played at twice the dilation, or AllReduce. ",
            "The same command goes on."),
        "warning");
  }
  return html;
}

std::string Foot(const Comparison& comparison) {
  HtmlTable table("foot", "", {{"what", "", false}, {"value", "", false}});
  const auto row = [&](absl::string_view what, const std::string& value) {
    table.AddRow(what, false, {std::string(what), value});
  };
  row("command", comparison.command);
  row("measured", comparison.where == "lab"     ? "on hosts that were played"
                  : comparison.where == "hosts" ? "on real hosts"
                                                : "over loopback");
  const std::string here =
      comparison.where == "hosts" ? " of the machine that ran the command" : "";
  row("processor" + here,
      absl::StrCat(comparison.cpu, ", ", CoresText(comparison.cores)));
  row("memory" + here,
      absl::StrFormat("%.1f GB",
                      static_cast<double>(comparison.memory_bytes) / 1e9));
  row("version", comparison.version);
  row("time", absl::StrCat("from ", comparison.started, " to ",
                           comparison.ended.empty() ? "a stop before the end"
                                                    : comparison.ended));
  row("data", comparison.data.rows == 0
                  ? absl::StrCat(comparison.data.files, " files")
                  : absl::StrCat(WithCommas(comparison.data.rows), " rows in ",
                                 comparison.data.files, " files"));
  row("dilation", SettingText(comparison.dilation));
  for (const auto& [name, model] : comparison.models) {
    std::vector<std::string> flags;
    for (const auto& [flag, value] : model.flags) {
      flags.push_back(absl::StrCat("--", flag, "=", value));
    }
    row(absl::StrCat("model ", name),
        absl::StrCat(WithCommas(model.dense_bytes),
                     " bytes of dense variables, ", WithCommas(model.row_bytes),
                     " bytes a row, ", FigureText(model.flop_per_sample),
                     " floating-point operations a sample. ",
                     absl::StrJoin(flags, " ")));
  }
  return ReportSection("foot", "Command, machine and versions", table.Html());
}

constexpr struct {
  const char* id;
  const char* name;
} kLinks[] = {{"verdict", "verdict"},
              {"speed", "samples/s"},
              {"auc", "AUC"},
              {"target", "time and cost"},
              {"bytes", "bytes"},
              {"states", "states of a step"},
              {"staleness", "staleness"},
              {"cpu", "processor time"},
              {"memory", "memory"},
              {"straggler", "slow host"},
              {"collective", "AllReduce"},
              {"articles", "four cells"},
              {"not_played", "not played"},
              {"runs", "all runs"},
              {"foot", "command"}};

}  // namespace

std::string ReportHtml(const Comparison& comparison) {
  const std::string question = Question(comparison);
  std::string html = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>Shoal: comparison of modes</title>\n<style>",
      kReportStyle, "</style>\n</head>\n<body>\n<h1>Comparison of modes</h1>\n",
      HtmlParagraph(question, "question"), Where(comparison),
      Counts(comparison), "<nav>");
  for (const auto& link : kLinks) {
    absl::StrAppend(&html, "<a href=\"#", link.id, "\">", link.name, "</a> ");
  }
  html += "</nav>\n";
  for (const auto section :
       {VerdictSection, SpeedSection, AucSection, TargetSection, BytesSection,
        StatesSection, StalenessSection, CpuSection, MemorySection,
        StragglerSection, CollectiveSection, ArticlesSection, NotPlayedSection,
        RunsSection, Foot}) {
    html += section(comparison);
  }
  html += "</body>\n</html>\n";
  return html;
}

absl::Status WriteReport(const Comparison& comparison, const FileSystem& files,
                         const std::string& path) {
  return WriteOutput(files, path, ReportHtml(comparison));
}

}  // namespace shoal
