#include "coordinator/job_pieces.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "checkpoint/manifest.h"
#include "cluster/resume.h"
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

// By piece: true if its file cannot be cut; empty: every file can be.
std::vector<bool> UncutOf(const PieceFacts& pieces, const FileList& files) {
  std::vector<bool> uncut(pieces.size());
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    uncut[i] = files.files[pieces.piece(i).source].compressed;
  }
  if (std::find(uncut.begin(), uncut.end(), true) == uncut.end()) uncut.clear();
  return uncut;
}

CutFiles Cut(std::string kind, const FileList& files, std::vector<Piece> pieces,
             uint32_t batch_size) {
  CutFiles cut;
  cut.pieces =
      PieceFacts(std::move(kind), files.files, std::move(pieces), batch_size);
  cut.hosts = HostsOf(cut.pieces, files);
  cut.uncut = UncutOf(cut.pieces, files);
  return cut;
}

uint64_t BytesOf(const FileList& files) {
  uint64_t bytes = 0;  // BuildPieceTable refuses a sum that overflows
  for (const SourceInfo& file : files.files) bytes += file.size;
  return bytes;
}

// The pieces of the checkpoint from which the job goes on; nullopt if there is
// none, or if the files have changed, which TrainingBook refuses.
std::optional<std::vector<Piece>> SavedPieces(const CheckpointOptions& options,
                                              const FileList& files) {
  if (options.resume == nullptr || !options.resume_training) return {};
  const SavedData& saved = options.resume->data;
  std::vector<Piece> pieces;
  for (const SavedPiece& piece : saved.pieces) {
    pieces.push_back({static_cast<uint32_t>(pieces.size()), piece.source,
                      piece.begin, piece.end});
  }
  if (!CheckSameData(saved, files, pieces).ok()) return {};
  return pieces;
}

absl::StatusOr<std::vector<Piece>> TrainingPieces(
    const CoordinatorOptions& options, const FileList& files,
    std::optional<uint64_t> piece_bytes, uint32_t row_bytes) {
  if (piece_bytes.has_value()) return BuildPieceTable(files.files, piece_bytes);
  if (auto saved = SavedPieces(options.checkpoints, files)) return *saved;
  return BuildPieceTable(
      files.files,
      PieceBytesForBatches(BytesOf(files), options.batch_size, row_bytes));
}

}  // namespace

absl::StatusOr<JobPieces> CutJob(const CoordinatorOptions& options,
                                 const JobFiles& files,
                                 uint32_t train_row_bytes) {
  std::optional<uint64_t> piece_bytes;
  if (options.piece_bytes >= 0) {
    piece_bytes = static_cast<uint64_t>(options.piece_bytes);
  }
  const bool trains = options.task == JobTask::kTrain;
  SHOAL_ASSIGN_OR_RETURN(auto train,
                         trains ? TrainingPieces(options, files.train(),
                                                 piece_bytes, train_row_bytes)
                                : std::vector<Piece>());
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
