#ifndef SHOAL_CLUSTER_PREDICTIONS_FILE_H_
#define SHOAL_CLUSTER_PREDICTIONS_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/file_system.h"
#include "core/predictions_format.h"
#include "core/score_metrics.h"

namespace shoal {

// The file that an inference writes: the predictions that ScoreMetrics::Predict
// makes of each row's C scores (for clicks, the probability
// 1 / (1 + exp(-logit))), in the order in which the rows are given. They go to
// NAME.unfinished, which is renamed to NAME once it is whole, so that a file of
// the name NAME is never incomplete. An unfinished file of a killed process is
// overwritten. REQUIRES: no other process writes a file of this name
// (job/model_directory.h sees to that). Thread-compatible.
class PredictionsFile {
 public:
  // Begins the temporary file, so that a path that cannot be written is known
  // before anything is computed. Errors: those of the file system;
  // FAILED_PRECONDITION if `path` is a directory or a device. `files` and
  // `metrics` outlive it.
  static absl::StatusOr<std::unique_ptr<PredictionsFile>> Create(
      const FileSystem* files, std::string path, PredictionsFormat format,
      const ScoreMetrics* metrics);
  // Removes what was not finished.
  ~PredictionsFile();

  // Writes the predictions for the next rows, rows × C; `last`: the file is
  // whole with them. RESOURCE_EXHAUSTED: the disk is full. After an error or
  // the last rows nothing may be called but the destructor.
  absl::Status Write(absl::Span<const float> logits, bool last);

 private:
  PredictionsFile(const FileSystem* files, std::string path,
                  std::string temporary, PredictionsFormat format,
                  const ScoreMetrics* metrics,
                  std::unique_ptr<WritableFile> file);

  const FileSystem* const files_;
  const std::string path_;
  const std::string temporary_;
  const PredictionsFormat format_;
  const ScoreMetrics* const metrics_;
  std::unique_ptr<WritableFile> file_;
  std::vector<float> predictions_;  // for the rows that are being written
  std::string buffer_;              // and their bytes
  bool finished_ = false;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_PREDICTIONS_FILE_H_
