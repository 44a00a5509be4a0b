#ifndef SHOAL_TESTS_BENCH_COMPARE_READ_REPORT_H_
#define SHOAL_TESTS_BENCH_COMPARE_READ_REPORT_H_

#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace shoal {

// The report's page, read back by a program.

// Pages are long, so a failure does not print them.
inline void ExpectHas(const std::string& page, const std::string& text) {
  EXPECT_TRUE(absl::StrContains(page, text)) << "the page lacks " << text;
}
inline void ExpectLacks(const std::string& page, const std::string& text) {
  EXPECT_FALSE(absl::StrContains(page, text)) << "the page has " << text;
}

// A row of a table as a program reads it back from the page.
struct ReadRow {
  std::string table;
  std::string row;
  bool grey = false;
  std::map<std::string, std::string> figures;  // texts by data-figure
};

inline std::string Unescaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&lt;", "<"},
                                    {"&gt;", ">"},
                                    {"&quot;", "\""},
                                    {"&#39;", "'"},
                                    {"&amp;", "&"}});
}

inline std::vector<ReadRow> ReadTables(const std::string& html) {
  static const std::regex kTable("<table data-table=\"(\\w+)\">");
  static const std::regex kRow(
      "<tr data-row=\"([^\"]*)\"( class=\"[^\"]*\")?>");
  static const std::regex kFigure(
      "<td data-figure=\"([^\"]+)\"[^>]*>([^<]*)</td>");
  std::vector<ReadRow> rows;
  std::string table;
  for (const absl::string_view view : absl::StrSplit(html, '\n')) {
    const std::string line(view);
    std::smatch match;
    if (std::regex_search(line, match, kTable)) table = match[1];
    if (!std::regex_search(line, match, kRow)) continue;
    ReadRow row = {table, Unescaped(match[1]), match[2].matched, {}};
    for (auto cell = std::sregex_iterator(line.begin(), line.end(), kFigure);
         cell != std::sregex_iterator(); ++cell) {
      row.figures[(*cell)[1]] = Unescaped((*cell)[2]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// A number of the page, and half of its last digit.
struct ReadNumber {
  double value = 0;
  double half = 0;
};

inline ReadNumber ReadOne(std::string text) {
  text = absl::StrReplaceAll(text, {{",", ""}, {" %", ""}});
  ReadNumber number;
  EXPECT_TRUE(absl::SimpleAtod(text, &number.value)) << text;
  const size_t e = text.find('e');
  const std::string digits = text.substr(0, e);
  const size_t point = digits.find('.');
  const int decimals = point == std::string::npos
                           ? 0
                           : static_cast<int>(digits.size() - point) - 1;
  const int power = e == std::string::npos ? 0 : std::stoi(text.substr(e + 1));
  number.half = .5000001 * std::pow(10, power - decimals);
  return number;
}

inline void ExpectReads(const std::string& text, double value) {
  const ReadNumber number = ReadOne(text);
  EXPECT_NEAR(number.value, value, number.half + std::abs(value) * 1e-12)
      << text;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_BENCH_COMPARE_READ_REPORT_H_
