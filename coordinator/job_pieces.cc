#include "coordinator/job_pieces.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "checkpoint/manifest.h"
#include "core/mark_run.h"
#include "core/piece_table.h"

namespace shoal {
namespace {

absl::Status CheckSavable(absl::Span<const Piece> pieces) {
  const uint64_t bytes = ManifestBytesOf(pieces);
  if (bytes <= kPiecesBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the data are ", pieces.size(), " pieces, which may take ", bytes,
      " bytes of a checkpoint's manifest; the limit is ", kPiecesBytesMax,
      ": give a larger --piece_bytes (0: each file is one piece)"));
}

// A server keeps the marks of at most kMaxMarkChunks pieces over all epochs,
// or fewer if a piece has more than 64 batches, which is known only once it is
// read. Checking later is too late: a shard without room ends the job.
absl::Status CheckMarkable(uint64_t pieces, uint64_t epochs) {
  if (pieces * epochs <= kMaxMarkChunks) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the data are ", pieces, " pieces, trained in ", epochs,
      " epochs. The limit is ", kMaxMarkChunks,
      " pieces times epochs, and lower where a piece has more than 64 batches: "
      "give a larger --piece_bytes (0: each file is one piece) or fewer "
      "--num_epochs"));
}

// By piece: the host that can read it; empty: every worker can read all pieces.
std::vector<int> HostsOf(const PieceFacts& pieces, const FileList& files) {
  std::vector<int> hosts;
  if (files.hosts.empty()) return hosts;
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    hosts.push_back(files.hosts[pieces.piece(i).source]);
  }
  return hosts;
}

CutFiles Cut(std::string kind, const FileList& files, std::vector<Piece> pieces,
             uint32_t batch_size) {
  CutFiles cut;
  cut.pieces =
      PieceFacts(std::move(kind), files.files, std::move(pieces), batch_size);
  cut.hosts = HostsOf(cut.pieces, files);
  return cut;
}

}  // namespace

absl::StatusOr<JobPieces> CutJob(const CoordinatorOptions& options,
                                 const JobFiles& files) {
  std::optional<uint64_t> piece_bytes;
  if (options.piece_bytes >= 0) {
    piece_bytes = static_cast<uint64_t>(options.piece_bytes);
  }
  const bool trains = options.task == JobTask::kTrain;
  SHOAL_ASSIGN_OR_RETURN(
      auto train,
      BuildPieceTable(trains ? files.train().files : std::vector<SourceInfo>{},
                      piece_bytes));
  SHOAL_ASSIGN_OR_RETURN(auto eval,
                         BuildPieceTable(files.eval().files, piece_bytes));
  if (options.checkpoints.save) SHOAL_RETURN_IF_ERROR(CheckSavable(train));
  SHOAL_RETURN_IF_ERROR(CheckMarkable(train.size(), options.num_epochs));
  const bool untrained = trains && !files.train().files.empty();
  if (train.empty() && (untrained || eval.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "all files of ", trains ? "--training_data_dir" : "--val_data_dir",
        " are empty"));
  }
  if (eval.empty() && !files.eval().files.empty()) {
    return absl::InvalidArgumentError("all files of --val_data_dir are empty");
  }
  JobPieces pieces;
  pieces.train =
      Cut("training", files.train(), std::move(train), options.batch_size);
  pieces.eval =
      Cut("evaluation", files.eval(), std::move(eval), options.batch_size);
  return pieces;
}

}  // namespace shoal
