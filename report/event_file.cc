#include "report/event_file.h"

#include <unistd.h>

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/protobuf_wire.h"
#include "base/record_framing.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Appends Event.wall_time.
void AppendTime(absl::Time time, std::string* out) {
  AppendTag(1, WireType::kFixed64, out);
  const double seconds = absl::ToDoubleSeconds(time - absl::UnixEpoch());
  AppendLittleEndian(std::bit_cast<uint64_t>(seconds), out);
}

std::string FileName(absl::Time now) {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') {
    host[0] = 'h';
    host[1] = '\0';
  }
  return absl::StrCat("events.out.tfevents.", absl::ToUnixSeconds(now), ".",
                      host, ".", getpid());
}

}  // namespace

std::string ScalarEvent(absl::Time time, uint64_t step,
                        absl::Span<const ScalarPoint> points) {
  std::string summary;
  for (const ScalarPoint& point : points) {
    std::string value;
    AppendField(1, point.tag, &value);
    AppendTag(2, WireType::kFixed32, &value);
    AppendLittleEndian(std::bit_cast<uint32_t>(point.value), &value);
    AppendField(1, value, &summary);
  }
  std::string event;
  AppendTime(time, &event);
  AppendTag(2, WireType::kVarint, &event);
  AppendVarint(step, &event);
  AppendField(5, summary, &event);
  return event;
}

absl::StatusOr<std::unique_ptr<EventFile>> EventFile::Create(
    const FileSystem& files, const std::string& directory, absl::Time now) {
  SHOAL_RETURN_IF_ERROR(files.CreateDirectories(directory));
  SHOAL_ASSIGN_OR_RETURN(
      std::unique_ptr<WritableFile> file,
      files.Create(absl::StrCat(directory, "/", FileName(now))));
  std::unique_ptr<EventFile> events(new EventFile(std::move(file)));
  std::string version;
  AppendTime(now, &version);
  AppendField(3, "brain.Event:2", &version);
  SHOAL_RETURN_IF_ERROR(events->Append(version));
  return events;
}

absl::Status EventFile::Write(absl::Time time, uint64_t step,
                              absl::Span<const ScalarPoint> points) {
  return Append(ScalarEvent(time, step, points));
}

absl::Status EventFile::Append(absl::string_view event) {
  std::string record;
  AppendRecord(event, &record);
  SHOAL_RETURN_IF_ERROR(file_->Append(record));
  return file_->Flush();
}

}  // namespace shoal
