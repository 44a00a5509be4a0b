#include "report/svg_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace shoal {
namespace {

constexpr int kStyles = 8;
constexpr char kFont[] =
    "font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\"";
constexpr char kGreyMark[] = "#9aa1a8";

constexpr const char* kColours[kStyles] = {"#0072b2", "#d55e00", "#009e73",
                                           "#cc79a7", "#e69f00", "#56b4e9",
                                           "#000000", "#8c564b"};
constexpr const char* kTextColours[kStyles] = {"#005a8d", "#a34700", "#00694d",
                                               "#94467a", "#8f6200", "#1f6f9f",
                                               "#000000", "#6e3f36"};
constexpr const char* kDashes[kStyles] = {"",    "8 3",   "2 3",      "9 3 2 3",
                                          "5 3", "1 2.5", "12 3 3 3", "4 2"};

// The number of bytes of the UTF-8 character at `at`; 0 if there is none.
size_t CharacterBytes(absl::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xc2 && first < 0xe0   ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte(at + 1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) {
    return 0;  // too long a form, a surrogate, or beyond Unicode
  }
  return bytes;
}

// A number of pixels: "12", "12.5", "-0.5".
std::string Pixels(double number) {
  const double tenths = std::round(number * 10);
  std::string text = absl::StrFormat("%.1f", tenths == 0 ? 0 : tenths / 10);
  return std::string(absl::StripSuffix(text, ".0"));
}

const char* Anchor(TextAnchor anchor) {
  switch (anchor) {
    case TextAnchor::kStart:
      return "";
    case TextAnchor::kMiddle:
      return " text-anchor=\"middle\"";
    case TextAnchor::kEnd:
      return " text-anchor=\"end\"";
  }
  return "";
}

int Wrapped(int style) { return ((style % kStyles) + kStyles) % kStyles; }

// Slanted lines within a rectangle, 6 pixels apart. They are lines of their own
// and not an SVG pattern: a printer gets patterns as large bitmaps.
std::string Diagonals(double x, double y, double width, double height,
                      bool rising) {
  constexpr double kApart = 6;
  std::string path;
  for (double from = x - height + kApart / 2; from < x + width;
       from += kApart) {
    const double left = std::max(from, x);
    const double right = std::min(from + height, x + width);
    if (right - left < .3) continue;
    const auto at = [&](double place) {
      const double along = place - from;  // 0 … height
      return rising ? y + height - along : y + along;
    };
    absl::StrAppend(&path, "M", Pixels(left), " ", Pixels(at(left)), "L",
                    Pixels(right), " ", Pixels(at(right)));
  }
  return path;
}

// The path of a marker around 0, 0.
const char* MarkerPath(int style) {
  constexpr const char* kPaths[kStyles] = {
      "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",
      "M-4 -4h8v8h-8z",
      "M0 -5.2L5 3.8H-5z",
      "M0 -5.6L5 0L0 5.6L-5 0z",
      "M0 5.2L5 -3.8H-5z",
      "M-1.7 -5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
      "M0 -5.2L5 -1.4L3 4.4H-3L-5 -1.4z",
      "M-5 -3h10v6h-10z"};
  return kPaths[Wrapped(style)];
}

}  // namespace

std::string EscapeMarkup(absl::string_view text) {
  std::string escaped;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CharacterBytes(text, at);
    const char c = text[at];
    if (bytes == 0) {
      escaped += "\xef\xbf\xbd";
      ++at;
      continue;
    }
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if (bytes == 1 &&
               (static_cast<unsigned char>(c) < ' ' || c == 127)) {
      escaped += ' ';
    } else {
      absl::StrAppend(&escaped, text.substr(at, bytes));
    }
    at += bytes;
  }
  return escaped;
}

double TextWidth(absl::string_view text, double font_size, bool bold) {
  double ems = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t bytes = CharacterBytes(text, at);
    at += bytes == 0 ? 1 : bytes;
    if (bytes != 1) {
      ems += .68;
    } else if (absl::string_view("iljI.,:;|'! ()[]").find(c) !=
               absl::string_view::npos) {
      ems += .34;
    } else if (absl::string_view("ftr/-").find(c) != absl::string_view::npos) {
      ems += .41;
    } else if (absl::string_view("mwMW%").find(c) != absl::string_view::npos) {
      ems += .95;
    } else {
      ems += c >= 'A' && c <= 'Z' ? .7 : .62;
    }
  }
  return ems * font_size * (bold ? 1.1 : 1);
}

const char* ChartColour(int style) { return kColours[Wrapped(style)]; }
const char* ChartTextColour(int style) { return kTextColours[Wrapped(style)]; }

SvgCanvas::SvgCanvas(absl::string_view id, double width, double height,
                     absl::string_view about) {
  const std::string w = Pixels(width), h = Pixels(height);
  head_ = absl::StrCat("<svg id=\"", EscapeMarkup(id),
                       "\" xmlns=\"http://www.w3.org/2000/svg\" width=\"", w,
                       "\" height=\"", h, "\" viewBox=\"0 0 ", w, " ", h,
                       "\" role=\"img\" aria-label=\"", EscapeMarkup(about),
                       "\">\n<rect width=\"", w, "\" height=\"", h,
                       "\" fill=\"#ffffff\"/>\n");
}

void SvgCanvas::Text(double x, double y, absl::string_view text,
                     const TextStyle& style) {
  if (text.empty()) return;
  absl::StrAppend(
      &body_, "<text ", kFont, " font-size=\"", Pixels(style.size), "\" x=\"",
      Pixels(x), "\" y=\"", Pixels(y), "\" fill=\"", style.colour, "\"",
      Anchor(style.anchor), style.bold ? " font-weight=\"bold\"" : "",
      style.halo ? " stroke=\"#ffffff\" stroke-width=\"3\" "
                   "stroke-linejoin=\"round\" paint-order=\"stroke\""
                 : "",
      ">", EscapeMarkup(text), "</text>\n");
}

void SvgCanvas::Line(double x1, double y1, double x2, double y2,
                     const char* colour, double width, const char* dash) {
  absl::StrAppend(&body_, "<path d=\"M", Pixels(x1), " ", Pixels(y1), "L",
                  Pixels(x2), " ", Pixels(y2), "\" stroke=\"", colour,
                  "\" stroke-width=\"", Pixels(width), "\"");
  if (*dash != '\0')
    absl::StrAppend(&body_, " stroke-dasharray=\"", dash, "\"");
  body_ += "/>\n";
}

void SvgCanvas::Hatch(double x, double y, double width, double height,
                      int style, ChartHatch hatch) {
  // White lines on dark colours, and dark ones on bright colours.
  const int at = Wrapped(style);
  const char* ink = at == 3 || at == 4 || at == 5 ? "#1f2328" : "#ffffff";
  const auto lines = [&](const std::string& path, double line_width,
                         const char* dash) {
    if (path.empty()) return;
    absl::StrAppend(&body_, "<path d=\"", path, "\" stroke=\"", ink,
                    "\" stroke-width=\"", Pixels(line_width), "\"");
    if (*dash != '\0') {
      absl::StrAppend(&body_, " stroke-dasharray=\"", dash, "\"");
    }
    body_ += "/>\n";
  };
  const auto flat = [&](double from_top) {
    return absl::StrCat("M", Pixels(x), " ", Pixels(y + from_top), "h",
                        Pixels(width));
  };
  switch (hatch) {
    case ChartHatch::kNone:
      return;
    case ChartHatch::kRising:
    case ChartHatch::kFalling:
      lines(Diagonals(x, y, width, height, hatch == ChartHatch::kRising), 1.3,
            "");
      return;
    case ChartHatch::kDots:
      for (const double part : {.22, .5, .78}) {
        lines(flat(height * part), 1.8, part == .5 ? "0 3 1.8 1.2" : "1.8 4.2");
      }
      return;
    case ChartHatch::kFlat:
      for (const double part : {.3, .7}) lines(flat(height * part), 1.3, "");
      return;
    case ChartHatch::kUpright:  // one line as thick as the area is high
      lines(flat(height / 2), height, "1.3 4.7");
      return;
    case ChartHatch::kCrossed:
      lines(flat(height / 2), height, "1.3 4.7");
      lines(flat(height / 2), 1.3, "");
      return;
  }
}

void SvgCanvas::Tip(absl::string_view tip, absl::string_view element) {
  if (tip.empty()) {
    absl::StrAppend(&body_, element, "/>\n");
    return;
  }
  absl::StrAppend(&body_, element, "><title>", EscapeMarkup(tip), "</title></",
                  element.substr(1, element.find(' ') - 1), ">\n");
}

void SvgCanvas::Area(double x, double y, double width, double height, int style,
                     ChartHatch hatch, ChartLook look, absl::string_view tip) {
  Tint(x, y, width, height, style, hatch, look, 1, tip);
}

void SvgCanvas::Tint(double x, double y, double width, double height, int style,
                     ChartHatch hatch, ChartLook look, double strength,
                     absl::string_view tip) {
  if (!(width > 0) || !(height > 0)) return;
  const bool grey = look == ChartLook::kGrey;
  const char* colour = grey ? kGreyMark : ChartColour(style);
  const bool hollow = look == ChartLook::kHollow;
  // An outline lies on the edge, half of it outside.
  const double inset = hollow ? .7 : 0;
  const std::string frame = absl::StrCat(
      "<rect x=\"", Pixels(x + inset), "\" y=\"", Pixels(y + inset),
      "\" width=\"", Pixels(std::max(width - 2 * inset, .1)), "\" height=\"",
      Pixels(std::max(height - 2 * inset, .1)), "\"");
  const double opacity =
      (.15 + .85 * std::clamp(strength, 0.0, 1.0)) * (hollow ? .25 : 1);
  std::string look_text = absl::StrCat(" fill=\"", colour, "\"");
  if (opacity < 1) {
    absl::StrAppendFormat(&look_text, " fill-opacity=\"%.2f\"", opacity);
  }
  // Neighbours that are both grey are told apart by their edges.
  if (grey) look_text += " stroke=\"#ffffff\"";
  if (hollow) {
    absl::StrAppend(&look_text, " stroke=\"", colour,
                    "\" stroke-width=\"1.4\" stroke-dasharray=\"4 2\"");
  }
  Tip(tip, absl::StrCat(frame, look_text));
  if (!grey) Hatch(x, y, width, height, style, hatch);
}

void SvgCanvas::Box(double x, double y, double width, double height,
                    const char* fill, const char* edge) {
  absl::StrAppend(&body_, "<rect x=\"", Pixels(x), "\" y=\"", Pixels(y),
                  "\" width=\"", Pixels(width), "\" height=\"", Pixels(height),
                  "\" fill=\"", fill, "\" stroke=\"", edge, "\"/>\n");
}

void SvgCanvas::AddPoint(double x, double y, std::string* points) {
  absl::StrAppend(points, points->empty() ? "M" : "L", Pixels(x), " ",
                  Pixels(y));
}

void SvgCanvas::Curve(absl::string_view points, int style, double width,
                      double opacity, ChartLook look) {
  if (points.empty()) return;
  const char* dash = kDashes[Wrapped(style)];
  absl::StrAppend(&body_, "<path d=\"", points, "\" fill=\"none\" stroke=\"",
                  look == ChartLook::kGrey ? kGreyMark : ChartColour(style),
                  "\" stroke-width=\"", Pixels(width),
                  "\" stroke-linejoin=\"round\"");
  if (*dash != '\0')
    absl::StrAppend(&body_, " stroke-dasharray=\"", dash, "\"");
  if (opacity < 1)
    absl::StrAppend(&body_, " opacity=\"", Pixels(opacity), "\"");
  body_ += "/>\n";
}

void SvgCanvas::Marker(double x, double y, int style, ChartLook look,
                       absl::string_view tip) {
  const char* colour =
      look == ChartLook::kGrey ? kGreyMark : ChartColour(style);
  const std::string path = absl::StrCat(
      MarkerPath(style), look == ChartLook::kGrey ? "M-6 6L6 -6" : "");
  Tip(tip, absl::StrCat("<path transform=\"translate(", Pixels(x), " ",
                        Pixels(y), ")\" d=\"", path, "\" fill=\"",
                        look == ChartLook::kHollow ? "#ffffff" : colour,
                        "\" stroke=\"",
                        look == ChartLook::kHollow ? colour : "#ffffff",
                        "\" stroke-width=\"",
                        look == ChartLook::kHollow ? "1.8" : "1", "\""));
}

void SvgCanvas::Whisker(double at, double from, double to, bool upright,
                        const char* colour) {
  const double cap = 3.5;
  const std::string a = Pixels(at), low = Pixels(at - cap),
                    high = Pixels(at + cap), f = Pixels(from), t = Pixels(to);
  const std::string path =
      upright ? absl::StrCat("M", a, " ", f, "V", t, "M", low, " ", f, "H",
                             high, "M", low, " ", t, "H", high)
              : absl::StrCat("M", f, " ", a, "H", t, "M", f, " ", low, "V",
                             high, "M", t, " ", low, "V", high);
  absl::StrAppend(&body_, "<path d=\"", path, "\" stroke=\"", colour,
                  "\" stroke-width=\"1.3\" fill=\"none\"/>\n");
}

std::string SvgCanvas::Finish() {
  return absl::StrCat(head_, body_, "</svg>\n");
}

}  // namespace shoal
