#ifndef SHOAL_BENCH_COMPARE_REPORT_H_
#define SHOAL_BENCH_COMPARE_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"

namespace shoal {

// The report of a comparison: one HTML page that needs nothing else (no
// scripts, no fonts, no network), fit for print. It has the question and where
// it was measured, the verdicts in words with their rules, pictures with their
// tables, what was not played, every run, and at its foot command, processor
// and version. All its figures are those of the comparison, so that the report
// can be made again from compare.json at any time; the same comparison gives
// the same page. docs/comparing.md reads one.
//
//   Comparison found = *ReadComparison(*files, "out/compare.json");
//   absl::Status written = WriteReport(found, *files, "out/report.html");
std::string ReportHtml(const Comparison& comparison);

// Writes the page to `path`, whole or not at all. Errors: those of WriteOutput
// (base/output_path.h), which name the path.
absl::Status WriteReport(const Comparison& comparison, const FileSystem& files,
                         const std::string& path);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_REPORT_H_
