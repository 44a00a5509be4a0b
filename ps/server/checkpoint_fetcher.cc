#include "ps/server/checkpoint_fetcher.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest.h"

namespace shoal {
namespace {

// Time between two lines about the progress of a fetch.
constexpr absl::Duration kProgressInterval = absl::Seconds(5);

std::string Megabytes(uint64_t bytes) {
  return absl::StrFormat("%.1f MB", static_cast<double>(bytes) / 1e6);
}

absl::Status Stopped() {
  return absl::CancelledError("the process left the job");
}

}  // namespace

// Used by one task at a time, on either executor.
struct CheckpointFetcher::Work {
  std::string directory;  // the checkpoint's name
  std::string path;       // below the model directory
  std::string text;
  StartNumber start = 0;
  std::vector<int> shards;  // whose files are fetched
  DoneFetching done;
  std::shared_ptr<std::atomic<bool>> stopped;

  Manifest manifest;
  bool begun = false;
  bool ours = false;  // the directory has this manifest
  size_t next_file = 0;
  std::unique_ptr<FetchedFile> file;  // null: next_file is not begun
  uint64_t whole = 0;    // bytes of the files before next_file
  uint64_t fetched = 0;  // bytes that came for those files
  absl::Time told;       // time of the newest line about progress

  const WrittenFile& entry(size_t file) const {
    return manifest.shards[static_cast<size_t>(shards[file])].file;
  }
  // Bytes of all files that are fetched.
  uint64_t all() const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < shards.size(); ++i) bytes += entry(i).size;
    return bytes;
  }
  uint64_t here() const {
    return whole + (file == nullptr ? 0 : file->here());
  }
  std::string Name(const std::string& name) const {
    return absl::StrCat(directory, "/", name);
  }
  // An error of this host's disk, with what to do.
  absl::Status OfThisDisk(const absl::Status& status) const {
    if (!absl::IsResourceExhausted(status)) return status;
    return absl::ResourceExhaustedError(absl::StrCat(
        status.message(), "; ", directory, ", from which the job begins, is "
        "copied to this host's --model_dir and takes ",
        Megabytes(all()), ": free as much there, or give this "
        "process a --model_dir on another disk"));
  }
};

void CheckpointFetcher::Start(absl::AnyInvocable<void(ProcessMessage)> send) {
  send_ = std::move(send);
  stopped_ = std::make_shared<std::atomic<bool>>(false);
}

void CheckpointFetcher::Stop() {
  send_ = nullptr;
  *stopped_ = true;
  if (!asked_.has_value()) return;  // Advance or Ask sees it
  background_->Post([work = std::exchange(asked_, std::nullopt)->work] {
    work->file = nullptr;
    std::move(work->done)(Stopped());
  });
}

void CheckpointFetcher::Fetch(std::string directory, std::string text,
                              StartNumber start, std::vector<int> shards,
                              DoneFetching done) {
  auto work = std::make_shared<Work>();
  work->path = JoinPath(options_.model_dir, directory);
  work->directory = std::move(directory);
  work->text = std::move(text);
  work->start = start;
  work->shards = std::move(shards);
  work->done = std::move(done);
  work->told = background_->Now();
  control_->Post([self = shared_from_this(), work = std::move(work)] {
    work->stopped = self->stopped_;
    self->background_->Post([self, work] { self->Advance(work); });
  });
}

void CheckpointFetcher::Advance(const std::shared_ptr<Work>& work) {
  auto next = Next(work.get());
  TellProgress(work.get());
  if (!next.ok() || !next->has_value()) {
    work->file = nullptr;
    std::move(work->done)(next.status());
    return;
  }
  control_->Post([self = shared_from_this(), work,
                  request = **std::move(next)]() mutable {
    self->Ask(std::move(work), std::move(request));
  });
}

void CheckpointFetcher::Ask(std::shared_ptr<Work> work, FileRequest request) {
  if (*work->stopped) {
    background_->Post([work = std::move(work)] {
      work->file = nullptr;
      std::move(work->done)(Stopped());
    });
    return;
  }
  asked_ = Asked{std::move(work), request};
  send_(std::move(request));
}

void CheckpointFetcher::On(FilePart part) {
  if (!asked_.has_value() || part.directory != asked_->request.directory ||
      part.file != asked_->request.file ||
      part.offset != asked_->request.offset) {
    return;
  }
  background_->Post([self = shared_from_this(),
                     work = std::exchange(asked_, std::nullopt)->work,
                     part = std::move(part)] {
    const absl::Status taken = self->Take(work.get(), part);
    if (taken.ok()) {
      self->Advance(work);
      return;
    }
    work->file = nullptr;
    std::move(work->done)(taken);
  });
}

absl::Status CheckpointFetcher::Take(Work* work, const FilePart& part) {
  if (!part.status.ok()) {
    return absl::Status(
        part.status.code(),
        absl::StrCat(work->Name(part.file),
                     ": this host lacks the file or a part of it, and the "
                     "coordinator cannot send it: ",
                     part.status.message()));
  }
  const absl::Status added = work->file->Add(part.bytes);
  if (!absl::IsDataLoss(added)) return work->OfThisDisk(added);
  return absl::DataLossError(absl::StrCat(
      work->directory, "/", added.message(),
      " from the coordinator, whose copy of the file is damaged; `shoal ckpt "
      "verify` on its host says more; move ",
      work->directory,
      " away there, and the same command resumes from the checkpoint before "
      "it"));
}

absl::Status CheckpointFetcher::Begin(Work* work) {
  SHOAL_ASSIGN_OR_RETURN(work->manifest, ManifestFromJson(work->text));
  SHOAL_RETURN_IF_ERROR(files_->CreateDirectories(work->path));
  SHOAL_RETURN_IF_ERROR(files_->SyncDirectory(options_.model_dir));
  if (IsOurs(work)) return absl::OkStatus();
  std::vector<std::string> set_aside;
  SHOAL_RETURN_IF_ERROR(SetAside(*files_, work->path, kManifestFile,
                                 work->start, &set_aside));
  for (const std::string& name : set_aside) {
    logger_->Warn(absl::StrCat(
        "another training's checkpoint has the name of the one from which the "
        "job begins; its manifest is renamed to ", name));
  }
  return absl::OkStatus();
}

bool CheckpointFetcher::IsOurs(Work* work) const {
  if (!work->ours) {
    const auto there = ReadManifestBytes(*files_, work->path);
    work->ours = there.ok() && *there == work->text;
  }
  return work->ours;
}

absl::StatusOr<std::optional<FileRequest>> CheckpointFetcher::Next(Work* work) {
  if (!std::exchange(work->begun, true)) {
    SHOAL_RETURN_IF_ERROR(work->OfThisDisk(Begin(work)));
  }
  while (work->next_file < work->shards.size()) {
    const WrittenFile& entry = work->entry(work->next_file);
    if (work->file == nullptr) {
      SHOAL_ASSIGN_OR_RETURN(
          auto file,
          FetchedFile::Create(
              {files_, work->path, options_.tag,
               [stopped = work->stopped] { return stopped->load(); }},
              &entry));
      SHOAL_ASSIGN_OR_RETURN(const bool sound, file->IsSound());
      if (sound) {
        work->whole += entry.size;
        ++work->next_file;
        continue;
      }
      SHOAL_RETURN_IF_ERROR(work->OfThisDisk(file->Begin()));
      work->file = std::move(file);
    }
    const auto range = work->file->Next();
    SHOAL_RETURN_IF_ERROR(work->OfThisDisk(range.status()));
    if (range->has_value()) {
      return FileRequest{work->directory, entry.file, (*range)->offset,
                         (*range)->bytes};
    }
    SHOAL_RETURN_IF_ERROR(work->OfThisDisk(FinishFile(work)));
  }
  SHOAL_RETURN_IF_ERROR(work->OfThisDisk(FinishAll(work)));
  return std::nullopt;
}

absl::Status CheckpointFetcher::FinishFile(Work* work) {
  SHOAL_RETURN_IF_ERROR(work->file->Sync());
  // Another rank with this directory may have been before us, with the manifest
  // or with the file alone, which it may be about to open.
  bool ours = IsOurs(work);
  if (!ours) {
    SHOAL_ASSIGN_OR_RETURN(ours, work->file->IsSound());
  }
  if (!ours) {
    // The file may belong to a checkpoint whose manifest is elsewhere.
    std::vector<std::string> set_aside;
    SHOAL_RETURN_IF_ERROR(SetAside(*files_, work->path,
                                   work->file->file().file, work->start,
                                   &set_aside));
    for (const std::string& name : set_aside) {
      logger_->Warn(absl::StrCat(
          "a file of another training, or of an unfinished save, had the name "
          "of a file of the checkpoint; it is renamed to ", name));
    }
  }
  SHOAL_RETURN_IF_ERROR(work->file->Commit());
  work->whole += work->file->here();
  work->fetched += work->file->fetched();
  work->file = nullptr;
  ++work->next_file;
  return absl::OkStatus();
}

absl::Status CheckpointFetcher::FinishAll(Work* work) {
  if (!work->ours) {
    SHOAL_RETURN_IF_ERROR(
        WriteManifestBytes(*files_, work->path, work->text));
  }
  logger_->Info(absl::StrCat("fetched ", work->fetched, " bytes of ",
                             work->directory,
                             " from the coordinator; all that this process "
                             "loads is on this host"));
  return absl::OkStatus();
}

void CheckpointFetcher::TellProgress(Work* work) {
  const absl::Time now = background_->Now();
  if (now - work->told < kProgressInterval) return;
  work->told = now;
  logger_->Info(absl::StrCat(
      "fetching ", work->directory, " from the coordinator: ",
      Megabytes(work->here()), " of ", Megabytes(work->all()), " are here"));
}

}  // namespace shoal
