#include "launch/config_file.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "launch/edit_distance.h"
#include "proto/config.pb.h"

namespace shoal {
namespace {

namespace pb = google::protobuf;

constexpr uint64_t kMaxBytes = 1 << 20;
// The flag that names a file to write, which is not in that file.
constexpr char kWriteConfig[] = "write_config";

// The end of an error about the grammar.
constexpr char kFormat[] =
    "; a config is in protobuf's text format, with lines such as "
    "`batch_size: 1024`";

std::string Place(const std::string& name, int line, int column) {
  return absl::StrCat(name, ":", line + 1, ":", column + 1);
}

// The parser's first error, as a Status with our words for an unknown field.
class FirstError : public pb::io::ErrorCollector {
 public:
  FirstError(const std::string& name, absl::string_view text)
      : name_(name), text_(text) {}

  void AddError(int line, pb::io::ColumnNumber column,
                const std::string& message) override {
    if (!status_.ok()) return;
    const std::string field = UnknownField(message);
    if (!field.empty()) column = BeginOf(field, line, column);
    status_ = absl::InvalidArgumentError(
        absl::StrCat(Place(name_, line, column), ": ",
                     field.empty() ? absl::StrCat(message, kFormat)
                                   : SayUnknown(field)));
  }
  const absl::Status& status() const { return status_; }

 private:
  // The name of the unknown field; "" if the message is about something else.
  static std::string UnknownField(const std::string& message) {
    constexpr absl::string_view kUnknown = " has no field named \"";
    const size_t at = message.find(kUnknown.data());
    if (at == std::string::npos) return "";
    const std::string rest = message.substr(at + kUnknown.size());
    return rest.substr(0, rest.find('"'));
  }

  // The column where the name begins. The parser reports the column after the
  // name.
  int BeginOf(const std::string& field, int line, int column) const {
    const std::vector<absl::string_view> lines = absl::StrSplit(text_, '\n');
    if (line < 0 || line >= static_cast<int>(lines.size())) return column;
    const size_t at = lines[line].substr(0, column).rfind(field);
    return at == absl::string_view::npos ? column : static_cast<int>(at);
  }

  static std::string SayUnknown(const std::string& field) {
    const std::string nearest = NearestName(field, ConfigFieldNames());
    return absl::StrCat("there is no flag '", field, "'",
                        nearest.empty()
                            ? "; proto/config.proto and --help list them"
                            : absl::StrCat("; did you mean ", nearest, "?"));
  }

  const std::string name_;
  const absl::string_view text_;
  absl::Status status_;
};

// Exact digits: the flag reads back the same number.
std::string RealText(double value) { return absl::StrFormat("%.17g", value); }

// The field's value as the text of a flag.
std::string FlagText(const pb::Message& config, const pb::FieldDescriptor* f) {
  const pb::Reflection* r = config.GetReflection();
  const bool repeated = f->is_repeated();
  std::vector<std::string> values;
  const int count = repeated ? r->FieldSize(config, f) : 1;
  for (int i = 0; i < count; ++i) {
    switch (f->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_INT64:
        values.push_back(absl::StrCat(repeated
                                          ? r->GetRepeatedInt64(config, f, i)
                                          : r->GetInt64(config, f)));
        break;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        values.push_back(RealText(repeated ? r->GetRepeatedDouble(config, f, i)
                                           : r->GetDouble(config, f)));
        break;
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        values.push_back(r->GetEnum(config, f)->name());
        break;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        values.push_back(r->GetBool(config, f) ? "true" : "false");
        break;
      default:
        values.push_back(r->GetString(config, f));
    }
  }
  return absl::StrJoin(values, ",");
}

// True if the field takes words without quotes.
bool EnumField(const std::string& name) {
  const pb::FieldDescriptor* const field =
      config::JobConfig::descriptor()->FindFieldByName(name);
  return field != nullptr &&
         field->cpp_type() == pb::FieldDescriptor::CPPTYPE_ENUM;
}

// A flag's value as a field takes it.
std::string FieldText(const Flag& flag) {
  const std::string text = PrintFlagValue(flag.target, flag.limits);
  const std::string kind = FlagValueKind(flag.target, flag.limits);
  if (kind == "INTS" || kind == "NUMBERS") {
    return absl::StrCat("[", absl::StrJoin(absl::StrSplit(text, ','), ", "),
                        "]");
  }
  if (kind == "INT" || kind == "NUMBER" || kind == "BOOL") return text;
  if (EnumField(flag.name)) return text;
  return absl::StrCat("\"", absl::CEscape(text), "\"");
}

}  // namespace

absl::StatusOr<std::vector<FlagSetting>> ParseConfig(absl::string_view text,
                                                     const std::string& name) {
  config::JobConfig config;
  FirstError error(name, text);
  pb::TextFormat::ParseInfoTree places;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&places);
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, &config)) {
    if (!error.status().ok()) return error.status();
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": cannot be read", kFormat));
  }
  std::vector<FlagSetting> settings;
  const pb::Descriptor* descriptor = config.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const pb::FieldDescriptor* field = descriptor->field(i);
    const pb::Reflection* r = config.GetReflection();
    const bool set = field->is_repeated() ? r->FieldSize(config, field) > 0
                                          : r->HasField(config, field);
    if (!set || field->name() == kWriteConfig) continue;
    const pb::TextFormat::ParseLocation at =
        places.GetLocation(field, field->is_repeated() ? 0 : -1);
    settings.push_back({field->name(), FlagText(config, field),
                        Place(name, at.line, at.column)});
  }
  return settings;
}

absl::StatusOr<std::vector<FlagSetting>> ReadConfigFile(
    const FileSystem& files, const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         files.OpenForRead(path));
  if (file->size() > kMaxBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": has ", file->size(),
                     " bytes; a config may have at most ", kMaxBytes));
  }
  std::string text(file->size(), '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t size,
                         file->Read(0, absl::MakeSpan(&text[0], text.size())));
  text.resize(size);
  return ParseConfig(text, path);
}

std::string ConfigText(const FlagSet& set) {
  const std::vector<std::string> fields = ConfigFieldNames();
  std::string text;
  for (const Flag& flag : set.flags()) {
    const bool known =
        std::find(fields.begin(), fields.end(), flag.name) != fields.end();
    if (!known || flag.hidden || flag.name == kWriteConfig) continue;
    if (PrintFlagValue(flag.target, flag.limits).empty()) continue;
    absl::StrAppend(&text, flag.name, ": ", FieldText(flag), "\n");
  }
  return text;
}

std::vector<std::string> ConfigFieldNames() {
  std::vector<std::string> names;
  const pb::Descriptor* descriptor = config::JobConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    names.push_back(descriptor->field(i)->name());
  }
  return names;
}

}  // namespace shoal
