#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "report/chart_legend.h"
#include "report/svg_canvas.h"
#include "report/svg_chart.h"

namespace shoal {
namespace {

constexpr double kCellText = 11;
constexpr const char* kEdge = "#1f2328";

std::vector<std::string> LinesOf(const std::string& text) {
  if (text.empty()) return {};
  std::vector<std::string> lines =
      absl::StrSplit(text, absl::MaxSplits('\n', 1));
  return lines;
}

class Map {
 public:
  explicit Map(const MapChart& chart) : chart_(chart) { LayOut(); }

  std::string Draw() const {
    SvgCanvas canvas(chart_.id, std::max(chart_.width, right_ + kChartMargin),
                     bottom_ + 46, chart_.about);
    DrawHead(chart_, legend_, &canvas);
    canvas.Text(kChartMargin, top_ - 8, chart_.y_title,
                {.size = kChartTextSize, .colour = kChartSoft});
    DrawCells(&canvas);
    DrawEdges(&canvas);
    for (size_t row = 0; row < chart_.rows.size(); ++row) {
      canvas.Text(left_ - 6, Top(row) + height_ / 2 + 4, chart_.rows[row],
                  {.size = kChartTextSize, .anchor = TextAnchor::kEnd});
    }
    for (size_t column = 0; column < chart_.columns.size(); ++column) {
      canvas.Text(Left(column) + width_ / 2, bottom_ + 17,
                  chart_.columns[column],
                  {.size = kChartTextSize, .anchor = TextAnchor::kMiddle});
    }
    canvas.Text((left_ + right_) / 2, bottom_ + 36, chart_.x_title,
                {.size = kChartTextSize,
                 .colour = kChartSoft,
                 .anchor = TextAnchor::kMiddle});
    return canvas.Finish();
  }

 private:
  const MapCell& At(size_t row, size_t column) const {
    if (row >= chart_.cells.size()) return empty_;
    if (column >= chart_.cells[row].size()) return empty_;
    return chart_.cells[row][column];
  }
  int KeyOf(size_t row, size_t column) const {
    const int key = At(row, column).key;
    return key < static_cast<int>(chart_.keys.size()) ? key : -1;
  }
  double Left(size_t column) const { return left_ + column * width_; }
  double Top(size_t row) const { return bottom_ - (row + 1) * height_; }

  void LayOut() {
    std::vector<bool> used(chart_.keys.size(), false);
    bool hollow = false, grey = false;
    double text_width = 0;
    size_t lines = 1;
    for (size_t row = 0; row < chart_.rows.size(); ++row) {
      for (size_t column = 0; column < chart_.columns.size(); ++column) {
        const MapCell& cell = At(row, column);
        if (KeyOf(row, column) >= 0) used[KeyOf(row, column)] = true;
        hollow |= cell.look == ChartLook::kHollow;
        grey |= cell.look == ChartLook::kGrey;
        const std::vector<std::string> texts = LinesOf(cell.text);
        lines = std::max(lines, texts.size());
        for (const std::string& text : texts) {
          text_width = std::max(text_width, TextWidth(text, kCellText));
        }
      }
    }
    for (size_t key = 0; key < used.size(); ++key) {
      if (!used[key]) continue;
      legend_.push_back({LegendSign::kArea, chart_.keys[key].name,
                         chart_.keys[key].style, chart_.keys[key].hatch});
    }
    if (hollow) {
      legend_.push_back({LegendSign::kArea, chart_.hollow_means, 6,
                         ChartHatch::kNone, ChartLook::kHollow});
    }
    if (grey) {
      legend_.push_back({LegendSign::kArea, chart_.grey_means, 0,
                         ChartHatch::kNone, ChartLook::kGrey});
    }
    for (const std::string& column : chart_.columns) {
      text_width = std::max(text_width, TextWidth(column, kChartTextSize));
    }
    double row_width = 0;
    for (const std::string& row : chart_.rows) {
      row_width = std::max(row_width, TextWidth(row, kChartTextSize));
    }
    left_ = kChartMargin + row_width + 8;
    const double room = chart_.width - kChartMargin - left_;
    const double columns =
        std::max<double>(1, static_cast<double>(chart_.columns.size()));
    width_ = std::max(std::min(room / columns, 110.0), text_width + 8);
    height_ = 12 + 14 * static_cast<double>(lines);
    right_ = left_ + width_ * chart_.columns.size();
    top_ = HeadHeight(chart_, legend_) + (chart_.y_title.empty() ? 4 : 22);
    bottom_ = top_ + height_ * chart_.rows.size();
  }

  void DrawCells(SvgCanvas* canvas) const {
    for (size_t row = 0; row < chart_.rows.size(); ++row) {
      for (size_t column = 0; column < chart_.columns.size(); ++column) {
        const MapCell& cell = At(row, column);
        const double x = Left(column), y = Top(row);
        canvas->Box(x, y, width_, height_, "none", "#d0d7de");
        const int key = KeyOf(row, column);
        if (key >= 0 || cell.look == ChartLook::kGrey) {
          const ChartKey shown = key >= 0 ? chart_.keys[key] : ChartKey{};
          canvas->Tint(
              x, y, width_, height_, shown.style, shown.hatch, cell.look,
              cell.look == ChartLook::kGrey ? .5 : cell.strength, cell.tip);
        }
        const std::vector<std::string> texts = LinesOf(cell.text);
        double text_y = y + height_ / 2 + 4 - 6.5 * (texts.size() - 1.0);
        for (const std::string& text : texts) {
          canvas->Text(
              x + width_ / 2, text_y, text,
              {.size = kCellText, .anchor = TextAnchor::kMiddle, .halo = true});
          text_y += 13;
        }
      }
    }
  }

  // Thick lines between cells of different keys.
  void DrawEdges(SvgCanvas* canvas) const {
    for (size_t row = 0; row < chart_.rows.size(); ++row) {
      for (size_t column = 0; column < chart_.columns.size(); ++column) {
        const int key = KeyOf(row, column);
        const double x = Left(column), y = Top(row);
        if (column + 1 < chart_.columns.size() &&
            KeyOf(row, column + 1) != key) {
          canvas->Line(x + width_, y, x + width_, y + height_, kEdge, 2.5);
        }
        if (row + 1 < chart_.rows.size() && KeyOf(row + 1, column) != key) {
          canvas->Line(x, y, x + width_, y, kEdge, 2.5);
        }
      }
    }
    canvas->Box(left_, top_, right_ - left_, bottom_ - top_, "none",
                kChartSoft);
  }

  const MapChart& chart_;
  const MapCell empty_;
  std::vector<LegendEntry> legend_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
  double width_ = 0, height_ = 0;  // of a cell
};

}  // namespace

std::string DrawMapChart(const MapChart& chart) { return Map(chart).Draw(); }

}  // namespace shoal
