#ifndef SHOAL_BENCH_COMPARE_REPORT_SECTIONS_H_
#define SHOAL_BENCH_COMPARE_REPORT_SECTIONS_H_

#include <string>

#include "bench/compare/cell.h"

namespace shoal {

// The sections of the report, each as HTML: a heading, what the figures are,
// pictures with their tables, or one line that says why there is no picture.
// All figures are those of the comparison (cell_figures.h). Formulas stand in
// the text.

// The verdicts at a glance and in words, their rules, and what the modes are.
// report_verdict.cc
std::string VerdictSection(const Comparison& comparison);
// Samples/s over hosts, with the efficiency at the points. report_speed.cc
std::string SpeedSection(const Comparison& comparison);
// Samples/s with a slow host. report_speed.cc
std::string StragglerSection(const Comparison& comparison);
// AUC over samples and over time. report_quality.cc
std::string AucSection(const Comparison& comparison);
// Time and cost to the target. report_quality.cc
std::string TargetSection(const Comparison& comparison);
// Bytes a sample by role, beside the formulas. report_resources.cc
std::string BytesSection(const Comparison& comparison);
// A step as stacked states. report_resources.cc
std::string StatesSection(const Comparison& comparison);
std::string StalenessSection(const Comparison& comparison);
std::string CpuSection(const Comparison& comparison);
std::string MemorySection(const Comparison& comparison);
// AllReduce over the sizes of buckets. report_collective.cc
std::string CollectiveSection(const Comparison& comparison);
// The table of four cells of the articles that this comparison follows, with
// what won here. report_articles.cc
std::string ArticlesSection(const Comparison& comparison);
// What was not played, the greyed cells, whether the dilation was checked, and
// every run with the checks before it. report_runs.cc
std::string NotPlayedSection(const Comparison& comparison);
std::string RunsSection(const Comparison& comparison);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_REPORT_SECTIONS_H_
