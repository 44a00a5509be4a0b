#ifndef SHOAL_BENCH_COMPARE_HTML_TABLE_H_
#define SHOAL_BENCH_COMPARE_HTML_TABLE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace shoal {

struct HtmlColumn {
  std::string key;  // names the column for programs: data-figure of its cells
  std::string heading;
  bool is_number = true;  // numbers stand at the right
};

// A table of the report as HTML. Programs read it back by its attributes: the
// table has data-table, a row data-row, a cell data-figure. All texts are
// escaped. Thread-compatible.
//
//   HtmlTable table("speed", "model A", {{"mode", "mode", false}, …});
//   table.AddRow(cell.name, false, {"async", …});
//   html += table.Html();
class HtmlTable {
 public:
  HtmlTable(std::string name, std::string caption,
            std::vector<HtmlColumn> columns)
      : name_(std::move(name)),
        caption_(std::move(caption)),
        columns_(std::move(columns)) {}

  // REQUIRES: texts.size() is the number of columns. The texts of a grey row
  // are grey.
  void AddRow(absl::string_view row, bool grey,
              const std::vector<std::string>& texts);
  // A line over all columns below such a row, also grey.
  void AddNote(absl::string_view row, absl::string_view key,
               absl::string_view text);
  bool empty() const { return rows_.empty(); }
  std::string Html() const;

 private:
  const std::string name_;
  const std::string caption_;
  const std::vector<HtmlColumn> columns_;
  std::string rows_;
};

// A paragraph; `kind` is a class of the page's style, or empty.
std::string HtmlParagraph(absl::string_view text, absl::string_view kind = "");
// "" for an empty list.
std::string HtmlList(const std::vector<std::string>& lines);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_HTML_TABLE_H_
