#ifndef SHOAL_BENCH_COMPARE_REPORT_STYLE_H_
#define SHOAL_BENCH_COMPARE_REPORT_STYLE_H_

namespace shoal {

// The style sheet of the report, for the screen and for A4 paper.
inline constexpr char kReportStyle[] = R"css(
:root { color-scheme: light; }
body { font: 15px/1.45 Helvetica, Arial, "DejaVu Sans", sans-serif;
  color: #1f2328; background: #fff; max-width: 1040px; margin: 0 auto;
  padding: 16px 20px 40px; }
h1 { font-size: 26px; margin: 8px 0 4px; }
h2 { font-size: 20px; margin: 36px 0 8px; padding-top: 12px;
  border-top: 2px solid #d0d7de; }
h3 { font-size: 16px; margin: 18px 0 6px; }
p { max-width: 78ch; margin: 6px 0 10px; }
p, li { text-wrap: pretty; }
nav { font-size: 13px; margin: 10px 0; }
nav a { margin-right: 12px; color: #005a8d; white-space: nowrap; }
figure { margin: 18px 0 30px; }
figure svg { max-width: 100%; height: auto; display: block; }
.pair { display: flex; gap: 10px; }
.pair svg { flex: 1 1 0; min-width: 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 12.5px; margin: 8px 0; }
caption { text-align: left; font-weight: bold; padding: 4px 0; }
th, td { text-align: left; padding: 3px 9px 3px 0; vertical-align: top;
  border-bottom: 1px solid #e3e6e9; }
th { border-bottom: 1.5px solid #59636e; font-weight: normal;
  color: #59636e; vertical-align: bottom; }
td { white-space: nowrap; }
tr.note td { white-space: normal; padding-left: 16px; }
.foot td, td:last-child:not(.n), table.four td { white-space: normal; }
.n { text-align: right; font-variant-numeric: tabular-nums; }
tr.grey td { color: #6b7278; background: #f0f1f2; }
.verdict { border-left: 4px solid #0072b2; padding: 2px 0 2px 12px;
  max-width: 90ch; }
.warning { border: 2px solid #d55e00; padding: 8px 12px; max-width: none;
  font-weight: bold; }
.left-out { color: #59636e; font-style: italic; }
table.four { font-size: 14px; }
table.four td, table.four th { border: 1px solid #9aa1a8; padding: 8px 12px;
  min-width: 110px; max-width: 360px; }
table.four th { color: #1f2328; font-weight: bold; vertical-align: top; }
.said { color: #59636e; margin: 0 0 6px; }
.won { margin: 0 0 4px; }
code { font: 12.5px/1.4 Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@page { size: A4; margin: 14mm 12mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 12px; }
  nav { display: none; }
  h2, h3, caption { break-after: avoid; }
  p, tr, svg, .pair, table.four { break-inside: avoid; }
  p { max-width: none; }
  table { font-size: 9px; line-height: 1.2; }
  th, td { padding: 2px 7px 2px 0; }
  thead { display: table-header-group; }
  .table { overflow: visible; }
  tr.grey td { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_REPORT_STYLE_H_
