#ifndef SHOAL_REPORT_SVG_CANVAS_H_
#define SHOAL_REPORT_SVG_CANVAS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// Size of ordinary text in pixels, and the colour of text that explains.
inline constexpr double kChartTextSize = 12;
inline constexpr const char* kChartSoft = "#59636e";

// Text for XML and HTML, in elements and in quoted attributes: & < > " ' are
// replaced by their entities. Control characters, which XML does not allow,
// become blanks, and bytes that are not UTF-8 become U+FFFD.
std::string EscapeMarkup(absl::string_view text);

// About the width of a text in pixels at this font size, rather too much than
// too little: the widths are those of a wide font.
double TextWidth(absl::string_view text, double font_size, bool bold = false);

// A colour of the palette, as "#0072b2". Colours of the styles 0 to 6 are those
// of Okabe and Ito, which the colour-blind tell apart, without yellow, which is
// hard to see on white; style 7 is a brown. Higher numbers begin again.
const char* ChartColour(int style);
// The same, dark enough for text on white.
const char* ChartTextColour(int style);

// Lines over a filled area, which tell areas apart without colour.
enum class ChartHatch : uint8_t {
  kNone = 0,
  kRising = 1,
  kFalling = 2,
  kDots = 3,
  kFlat = 4,
  kUpright = 5,
  kCrossed = 6,
};

// How a mark is drawn.
enum class ChartLook : uint8_t {
  kFull = 0,
  kHollow = 1,  // the outline in its colour, and a pale inside
  kGrey = 2,    // grey, with a crossed marker
};

enum class TextAnchor : uint8_t { kStart = 0, kMiddle = 1, kEnd = 2 };

struct TextStyle {
  double size = 12;
  const char* colour = "#1f2328";
  TextAnchor anchor = TextAnchor::kStart;
  bool bold = false;
  bool halo = false;  // a white edge, so that lines below do not disturb
};

// Writes a picture as SVG, element after element, in pixels from the upper left
// corner. The same calls give the same text. Numbers have at most one decimal.
// Thread-compatible.
//
//   SvgCanvas canvas("chart1", 640, 400, "Samples per second over hosts");
//   canvas.Text(20, 24, "samples/s", {});
//   std::string svg = canvas.Finish();
class SvgCanvas {
 public:
  // `id` is the id of the picture in its page. `about` is the picture in words,
  // for those who do not see it. The background is white.
  SvgCanvas(absl::string_view id, double width, double height,
            absl::string_view about);

  void Text(double x, double y, absl::string_view text, const TextStyle& style);
  // A line in a colour; `dash` is an SVG dash array, or empty.
  void Line(double x1, double y1, double x2, double y2, const char* colour,
            double width = 1, const char* dash = "");
  // A rectangle of a style. An empty `tip` shows nothing when the mouse rests
  // on it. Nothing is drawn if it has no area.
  void Area(double x, double y, double width, double height, int style,
            ChartHatch hatch, ChartLook look, absl::string_view tip = "");
  // The same, paler by `strength`: 1 is the colour, 0 is nearly white.
  void Tint(double x, double y, double width, double height, int style,
            ChartHatch hatch, ChartLook look, double strength,
            absl::string_view tip = "");
  // A rectangle without style; `fill` may be "none".
  void Box(double x, double y, double width, double height, const char* fill,
           const char* edge);
  // A line through points, in the colour and the dashes of a style. `points` is
  // in SVG's form: see AddPoint.
  void Curve(absl::string_view points, int style, double width, double opacity,
             ChartLook look);
  static void AddPoint(double x, double y, std::string* points);
  // The marker of a style: a circle, a square, a triangle, …
  void Marker(double x, double y, int style, ChartLook look,
              absl::string_view tip = "");
  // A whisker from y1 to y2 with caps, or from x1 to x2 where upright is false.
  void Whisker(double at, double from, double to, bool upright,
               const char* colour);

  // The picture. The canvas is used up.
  std::string Finish();

 private:
  void Hatch(double x, double y, double width, double height, int style,
             ChartHatch hatch);
  void Tip(absl::string_view tip, absl::string_view element);

  std::string head_;
  std::string body_;
};

}  // namespace shoal

#endif  // SHOAL_REPORT_SVG_CANVAS_H_
