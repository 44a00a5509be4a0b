#include "base/json_writer.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace shoal {

void JsonWriter::NewLine() {
  out_->push_back('\n');
  const size_t blanks = layout_ == JsonLayout::kIndented ? 2 : 1;
  out_->append(blanks * open_lines_.size(), ' ');
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) out_->push_back(',');
  if (!open_lines_.empty()) {
    if (open_lines_.back() == 'l') {
      NewLine();
    } else if (!first_ && layout_ != JsonLayout::kCompact) {
      out_->push_back(' ');
    }
  }
  first_ = false;
}

JsonWriter& JsonWriter::Open(char bracket, bool lines) {
  BeforeValue();
  out_->push_back(bracket);
  if (layout_ != JsonLayout::kByBracket) {
    lines = layout_ == JsonLayout::kIndented;
  }
  open_lines_.push_back(lines ? 'l' : ' ');
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  const bool lines = open_lines_.back() == 'l' && !first_;
  open_lines_.pop_back();
  if (lines) NewLine();
  out_->push_back(bracket);
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(absl::string_view name) {
  BeforeValue();
  Quoted(name);
  out_->append(layout_ == JsonLayout::kCompact ? ":" : ": ");
  after_key_ = true;
  return *this;
}

void JsonWriter::Quoted(absl::string_view bytes) {
  out_->push_back('"');
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      out_->push_back('\\');
      out_->push_back(c);
    } else if (c == '\n') {
      out_->append("\\n");
    } else if (c < ' ' || c > '~') {
      absl::StrAppendFormat(out_, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out_->push_back(c);
    }
  }
  out_->push_back('"');
}

JsonWriter& JsonWriter::String(absl::string_view bytes) {
  BeforeValue();
  Quoted(bytes);
  return *this;
}

JsonWriter& JsonWriter::U64(uint64_t number) {
  BeforeValue();
  absl::StrAppend(out_, number);
  return *this;
}

JsonWriter& JsonWriter::I64(int64_t number) {
  BeforeValue();
  absl::StrAppend(out_, number);
  return *this;
}

JsonWriter& JsonWriter::Null() {
  BeforeValue();
  out_->append("null");
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  BeforeValue();
  out_->append(value ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::Float(float number) {
  BeforeValue();
  absl::StrAppendFormat(out_, "%.9g", number);
  return *this;
}

JsonWriter& JsonWriter::Hex32s(absl::Span<const uint32_t> numbers) {
  BeforeValue();
  out_->push_back('"');
  for (const uint32_t number : numbers) {
    absl::StrAppend(out_, absl::Hex(number, absl::kZeroPad8));
  }
  out_->push_back('"');
  return *this;
}

JsonWriter& JsonWriter::Hex64(uint64_t number) {
  return Hex32s(
      {static_cast<uint32_t>(number >> 32), static_cast<uint32_t>(number)});
}

JsonWriter& JsonWriter::Raw(absl::string_view json) {
  BeforeValue();
  out_->append(json.data(), json.size());
  return *this;
}

std::string IndentJson(absl::string_view json) {
  std::string out;
  int depth = 0;
  const auto new_line = [&] {
    out.push_back('\n');
    out.append(2 * static_cast<size_t>(depth), ' ');
  };
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out.push_back(c);
      if (c == '\\' && i + 1 < json.size()) out.push_back(json[++i]);
      in_string = c != '"';
    } else if (c == '{' || c == '[') {
      out.push_back(c);
      const bool empty = i + 1 < json.size() &&
                         (json[i + 1] == '}' || json[i + 1] == ']');
      if (empty) {
        out.push_back(json[++i]);
      } else {
        ++depth;
        new_line();
      }
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      out.push_back(c);
    } else {
      out.push_back(c);
      if (c == ',') new_line();
      if (c == ':') out.push_back(' ');
      in_string = c == '"';
    }
  }
  return out;
}

}  // namespace shoal
