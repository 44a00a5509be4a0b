#ifndef SHOAL_REPORT_EVENT_FILE_H_
#define SHOAL_REPORT_EVENT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/file_system.h"

namespace shoal {

struct ScalarPoint {
  std::string tag;
  float value = 0;

  friend bool operator==(const ScalarPoint&, const ScalarPoint&) = default;
};

// The bytes of one tf.Event (tensorflow/core/util/event.proto) with scalars:
//   Event   { double wall_time = 1; int64 step = 2; Summary summary = 5; }
//   Summary { repeated Value value = 1; }
//   Value   { string tag = 1; float simple_value = 2; }
std::string ScalarEvent(absl::Time time, uint64_t step,
                        absl::Span<const ScalarPoint> points);

// A file that TensorBoard reads: tf.Events in TFRecord framing. The first event
// holds the version, `brain.Event:2`. Every write goes to the system at once,
// so that a reader sees it. Thread-compatible.
class EventFile {
 public:
  // Makes `directory` if it is missing, and a new file in it,
  // events.out.tfevents.SECONDS.HOST.PID. Errors: those of the file system,
  // which name the path.
  static absl::StatusOr<std::unique_ptr<EventFile>> Create(
      const FileSystem& files, const std::string& directory, absl::Time now);

  absl::Status Write(absl::Time time, uint64_t step,
                     absl::Span<const ScalarPoint> points);
  absl::Status Close() { return file_->Close(); }

 private:
  explicit EventFile(std::unique_ptr<WritableFile> file)
      : file_(std::move(file)) {}
  absl::Status Append(absl::string_view event);

  const std::unique_ptr<WritableFile> file_;
};

}  // namespace shoal

#endif  // SHOAL_REPORT_EVENT_FILE_H_
