#ifndef SHOAL_REPORT_LIVE_LINE_H_
#define SHOAL_REPORT_LIVE_LINE_H_

#include <string>
#include <utility>
#include <vector>

namespace shoal {

// A part of a live line, of printable ASCII.
struct LivePart {
  LivePart(std::string text) : LivePart(text, text) {}
  LivePart(std::string text, std::string brief)
      : text(std::move(text)), brief(std::move(brief)) {}

  std::string text;
  std::string brief;  // the same in fewer characters
};

// The parts of a live line in the order of their worth.
using LiveParts = std::vector<LivePart>;

// The line "part, part, …" of at most `columns` characters; 0: no limit. The
// parts of least worth are left out if even the brief forms of all parts do not
// fit. The room that is left goes to the long forms, by worth. A first part
// that does not fit alone is cut.
std::string LiveLine(const LiveParts& parts, int columns);

}  // namespace shoal

#endif  // SHOAL_REPORT_LIVE_LINE_H_
