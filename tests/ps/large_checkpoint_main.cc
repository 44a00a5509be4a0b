// Makes a checkpoint of a large job out of one of a small job, for
// tests/e2e/large_resume_test.py:
//
//   large_checkpoint MODEL_DIR DATA_FILE ROW_BYTES PIECE_ROWS HALF_DONE
//
// MODEL_DIR holds the checkpoint of a job with --batch_size=1 and
// --piece_bytes=ROW_BYTES*PIECE_ROWS whose only file had the name of DATA_FILE.
// DATA_FILE is larger now; all of its rows have ROW_BYTES bytes, and their
// number is a multiple of PIECE_ROWS. The new checkpoint, beside the old one,
// is that of the same job when all of DATA_FILE was trained but for HALF_DONE
// pieces at places of no order, of which every shard has each third batch.
// Rows of tables and dense variables are the small job's.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/file_system.h"
#include "base/path.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/safetensors_reader.h"
#include "checkpoint/safetensors_writer.h"
#include "core/piece_table.h"
#include "ps/shard/marks.h"
#include "ps/shard/tensor_names.h"

namespace shoal {
namespace {

constexpr uint64_t kHeadBytes = 64 << 10;  // of SourceInfo::head_crc32c

struct Options {
  std::string model_dir;
  std::string data_file;
  uint64_t row_bytes = 0;
  uint64_t piece_rows = 0;
  uint64_t half_done = 0;
};

absl::StatusOr<std::string> ReadAt(const RandomAccessFile& file,
                                   uint64_t offset, uint64_t size) {
  std::string bytes(size, '\0');
  SHOAL_ASSIGN_OR_RETURN(const size_t n,
                         file.Read(offset, absl::MakeSpan(bytes)));
  bytes.resize(n);
  return bytes;
}

class LargeCheckpoint {
 public:
  LargeCheckpoint(Options options, CheckpointInfo small)
      : options_(std::move(options)), small_(std::move(small)) {}

  absl::Status Write(const FileSystem& files) {
    SHOAL_RETURN_IF_ERROR(PlanData(files));
    MarksOptions unbounded;
    unbounded.chunks_max = ~size_t{0};
    Marks marks(unbounded);
    SHOAL_RETURN_IF_ERROR(marks.Restore(runs_));
    totals_ = marks.Totals();
    Manifest& manifest = small_.manifest;
    manifest.step = totals_.applied;
    manifest.totals = {totals_.applied, 0, totals_.applied, 0, 0, 0, 0};
    const std::string path =
        JoinPath(options_.model_dir, CheckpointName(manifest.step));
    SHOAL_RETURN_IF_ERROR(files.CreateDirectories(path));
    for (ShardEntry& shard : manifest.shards) {
      SHOAL_RETURN_IF_ERROR(WriteShard(files, path, &shard));
    }
    SHOAL_RETURN_IF_ERROR(WriteManifest(files, path, manifest));
    std::cout << path << ": " << manifest.data.pieces.size() << " pieces, "
              << totals_.applied << " batches, " << runs_.size() << " runs\n";
    return absl::OkStatus();
  }

 private:
  absl::Status PlanData(const FileSystem& files) {
    SHOAL_ASSIGN_OR_RETURN(const auto file,
                           files.OpenForRead(options_.data_file));
    SavedData& data = small_.manifest.data;
    if (data.sources.size() != 1) {
      return absl::InvalidArgumentError("the small job has more than one file");
    }
    data.sources[0].size = file->size();
    SHOAL_ASSIGN_OR_RETURN(
        const std::string head,
        ReadAt(*file, 0, std::min(kHeadBytes, file->size())));
    data.sources[0].head_crc32c = Crc32c(head);
    const uint64_t piece_bytes = options_.row_bytes * options_.piece_rows;
    SHOAL_ASSIGN_OR_RETURN(const auto pieces,
                           BuildPieceTable(data.sources, piece_bytes));
    const auto n = static_cast<uint32_t>(options_.piece_rows);
    const uint64_t every =
        pieces.size() / std::max<uint64_t>(options_.half_done, 1);
    data.pieces.clear();
    for (const Piece& piece : pieces) {
      if (piece.end - piece.begin != piece_bytes) {
        return absl::InvalidArgumentError("the rows do not fill the pieces");
      }
      SHOAL_ASSIGN_OR_RETURN(const std::string bytes,
                             ReadAt(*file, piece.begin, piece_bytes));
      data.pieces.push_back(
          {0, piece.begin, piece.end, SavedPieceFacts{n, 0, n, Crc32c(bytes)}});
      if (StableHash(piece.index) % every != 0) {
        runs_.push_back({0, piece.index, 0, n, Verdict::kApplied});
        continue;
      }
      for (uint32_t i = 0; i < n; i += 3) {
        runs_.push_back({0, piece.index, i, i + 1, Verdict::kApplied});
      }
    }
    return absl::OkStatus();
  }

  // The small job's file with other marks.
  absl::Status WriteShard(const FileSystem& files, const std::string& directory,
                          ShardEntry* entry) {
    SHOAL_ASSIGN_OR_RETURN(
        const auto reader,
        SafetensorsReader::Open(files, JoinPath(small_.path, entry->file.file),
                                entry->file));
    std::vector<TensorInfo> tensors = reader->header().tensors;
    for (TensorInfo& tensor : tensors) {
      if (tensor.name == kMarksTensor) tensor.shape = {runs_.size(), 5};
    }
    SHOAL_ASSIGN_OR_RETURN(
        const auto writer,
        SafetensorsWriter::Create(&files, JoinPath(directory, entry->file.file),
                                  entry->attempt, reader->header().metadata,
                                  tensors));
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == kMarksTensor) {
        SHOAL_RETURN_IF_ERROR(AppendMarks(writer.get(), i));
        continue;
      }
      const TensorInfo& info = reader->header().tensors[i];
      std::string bytes(info.bytes(), '\0');
      SHOAL_RETURN_IF_ERROR(reader->Read(info, 0, absl::MakeSpan(bytes)));
      SHOAL_RETURN_IF_ERROR(writer->Append(i, bytes));
    }
    SHOAL_ASSIGN_OR_RETURN(entry->file, writer->Commit());
    entry->marks = totals_.applied;
    entry->marks_digest = totals_.digest;
    return absl::OkStatus();
  }

  absl::Status AppendMarks(SafetensorsWriter* writer, size_t tensor) {
    constexpr size_t kAtOnce = 10'000;
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const MarkRun& run = runs_[i];
      numbers.insert(numbers.end(), {int64_t{run.epoch}, int64_t{run.piece},
                                     static_cast<int64_t>(run.begin),
                                     static_cast<int64_t>(run.end),
                                     static_cast<int64_t>(run.verdict)});
      if (numbers.size() < 5 * kAtOnce && i + 1 < runs_.size()) continue;
      SHOAL_RETURN_IF_ERROR(writer->Append(
          tensor, absl::string_view(reinterpret_cast<char*>(numbers.data()),
                                    numbers.size() * sizeof(int64_t))));
      numbers.clear();
    }
    return absl::OkStatus();
  }

  const Options options_;
  CheckpointInfo small_;
  std::vector<MarkRun> runs_;
  MarkTotals totals_;
};

absl::Status Main(char** argv) {
  Options options;
  options.model_dir = argv[1];
  options.data_file = argv[2];
  if (!absl::SimpleAtoi(argv[3], &options.row_bytes) ||
      !absl::SimpleAtoi(argv[4], &options.piece_rows) ||
      !absl::SimpleAtoi(argv[5], &options.half_done)) {
    return absl::InvalidArgumentError("three numbers are wanted");
  }
  const auto files = NewPosixFileSystem();
  SHOAL_ASSIGN_OR_RETURN(
      CheckpointInfo small,
      NewestCheckpoint(*files, options.model_dir, /*need_all_files=*/true));
  return LargeCheckpoint(std::move(options), std::move(small)).Write(*files);
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: large_checkpoint MODEL_DIR DATA_FILE ROW_BYTES "
                 "PIECE_ROWS HALF_DONE\n";
    return 2;
  }
  const absl::Status status = shoal::Main(argv);
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
