#include "checkpoint/pieces_json.h"

#include <cstdint>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "core/piece_table.h"

namespace shoal {
namespace {

constexpr absl::string_view kBegin = "\"pieces\": [[";
constexpr absl::string_view kEnd = "]]";
constexpr size_t kNumbersMax = 6;

// In JSON only the number zero begins with the digit 0.
bool ConsumeNumber(absl::string_view* text, uint64_t* number) {
  size_t digits = 0;
  *number = 0;
  while (digits < text->size() && (*text)[digits] >= '0' &&
         (*text)[digits] <= '9') {
    const auto digit = static_cast<uint64_t>((*text)[digits] - '0');
    if (*number > (std::numeric_limits<uint64_t>::max() - digit) / 10) {
      return false;
    }
    *number = *number * 10 + digit;
    ++digits;
  }
  if (digits == 0 || (digits > 1 && text->front() == '0')) return false;
  text->remove_prefix(digits);
  return true;
}

bool ConsumePiece(absl::string_view* text, SavedPiece* piece) {
  uint64_t numbers[kNumbersMax];
  size_t count = 0;
  if (!absl::ConsumePrefix(text, "[")) return false;
  do {
    if (count == kNumbersMax || !ConsumeNumber(text, &numbers[count])) {
      return false;
    }
    ++count;
  } while (absl::ConsumePrefix(text, ", "));
  if (!absl::ConsumePrefix(text, "]") || (count != 3 && count != kNumbersMax) ||
      numbers[0] > UINT32_MAX) {
    return false;
  }
  *piece = {static_cast<uint32_t>(numbers[0]), numbers[1], numbers[2], {}};
  if (count == 3) return true;
  if (numbers[5] > UINT32_MAX) return false;
  piece->facts = {numbers[3], numbers[4], static_cast<uint32_t>(numbers[5]),
                  std::nullopt};
  return true;
}

}  // namespace

std::optional<absl::string_view> FindPieces(absl::string_view json) {
  const size_t key = json.find(kBegin);
  if (key == absl::string_view::npos || json.rfind(kBegin) != key) {
    return std::nullopt;
  }
  const size_t begin = key + kBegin.size() - 2;
  const size_t end = json.find(kEnd, begin);
  if (end == absl::string_view::npos) return std::nullopt;
  return json.substr(begin, end + kEnd.size() - begin);
}

std::optional<std::vector<SavedPiece>> ReadPieces(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "[")) return std::nullopt;
  std::vector<SavedPiece> pieces;
  do {
    SavedPiece piece;
    if (pieces.size() == kMaxPieces || !ConsumePiece(&text, &piece)) {
      return std::nullopt;
    }
    pieces.push_back(piece);
  } while (absl::ConsumePrefix(&text, ", "));
  if (text != "]") return std::nullopt;
  return pieces;
}

}  // namespace shoal
