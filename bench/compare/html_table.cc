#include "bench/compare/html_table.h"

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "report/svg_canvas.h"

namespace shoal {

void HtmlTable::AddRow(absl::string_view row, bool grey,
                       const std::vector<std::string>& texts) {
  SHOAL_DCHECK(texts.size() == columns_.size());
  absl::StrAppend(&rows_, "<tr data-row=\"", EscapeMarkup(row), "\"",
                  grey ? " class=\"grey\"" : "", ">");
  for (size_t i = 0; i < columns_.size(); ++i) {
    absl::StrAppend(&rows_, "<td data-figure=\"", EscapeMarkup(columns_[i].key),
                    "\"", columns_[i].is_number ? " class=\"n\"" : "", ">",
                    EscapeMarkup(texts[i]), "</td>");
  }
  rows_ += "</tr>\n";
}

void HtmlTable::AddNote(absl::string_view row, absl::string_view key,
                        absl::string_view text) {
  absl::StrAppend(&rows_, "<tr data-row=\"", EscapeMarkup(row),
                  "\" class=\"grey note\"><td data-figure=\"", key,
                  "\" colspan=\"", columns_.size(), "\">", EscapeMarkup(text),
                  "</td></tr>\n");
}

std::string HtmlTable::Html() const {
  std::string html =
      absl::StrCat("<div class=\"table\"><table data-table=\"", name_, "\">\n");
  if (!caption_.empty()) {
    absl::StrAppend(&html, "<caption>", EscapeMarkup(caption_), "</caption>\n");
  }
  html += "<thead><tr>";
  for (const HtmlColumn& column : columns_) {
    absl::StrAppend(&html, "<th", column.is_number ? " class=\"n\"" : "", ">",
                    EscapeMarkup(column.heading), "</th>");
  }
  absl::StrAppend(&html, "</tr></thead>\n<tbody>\n", rows_,
                  "</tbody></table></div>\n");
  return html;
}

std::string HtmlParagraph(absl::string_view text, absl::string_view kind) {
  return absl::StrCat("<p",
                      kind.empty() ? "" : absl::StrCat(" class=\"", kind, "\""),
                      ">", EscapeMarkup(text), "</p>\n");
}

std::string HtmlList(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = "<ul>\n";
  for (const std::string& line : lines) {
    absl::StrAppend(&html, "<li>", EscapeMarkup(line), "</li>\n");
  }
  return html + "</ul>\n";
}

}  // namespace shoal
