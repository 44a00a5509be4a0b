#include "ps/server/shard_keeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/manifest.h"
#include "checkpoint/manifest_parts.h"
#include "checkpoint/shard_entry.h"
#include "ps/shard/load_shard.h"

namespace shoal {
namespace {

absl::Status CheckLoads(const FileSystem* files,
                        const ShardKeeperOptions& options,
                        const LoadFrom& from) {
  if (files == nullptr || options.model_dir.empty()) {
    return absl::FailedPreconditionError(
        "the job begins from a checkpoint, but this process was started "
        "without --model_dir; give every process the job's --model_dir");
  }
  if (!StepOfName(from.directory).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", from.directory, "' is not the name of a checkpoint's directory"));
  }
  return absl::OkStatus();
}

// nullptr: the process fetches nothing.
std::shared_ptr<CheckpointFetcher> FetcherOf(const ShardKeeperOptions& options,
                                             const FileSystem* files,
                                             Executor* control,
                                             Executor* background,
                                             Logger* logger) {
  if (options.fetch_as.empty()) return nullptr;
  return std::make_shared<CheckpointFetcher>(
      CheckpointFetcher::Options{options.model_dir, options.fetch_as}, files,
      control, background, logger);
}

absl::StatusOr<std::unique_ptr<WrittenShard>> WriteNow(
    const FileSystem* files, const std::string& model_dir,
    const SaveShard& message, ParameterShard* shard,
    std::shared_ptr<std::atomic<bool>> cancel, Logger* logger) {
  if (files == nullptr || model_dir.empty()) {
    return absl::FailedPreconditionError(
        "this process was started without --model_dir, so it cannot save");
  }
  SaveShardOptions options;
  options.files = files;
  std::vector<std::string> set_aside;
  SHOAL_ASSIGN_OR_RETURN(
      options.directory,
      PrepareCheckpoint(*files, model_dir, message.directory,
                        shard->file_name(), message.attempt, &set_aside));
  for (const std::string& name : set_aside) {
    logger->Warn(absl::StrCat(
        "a file of another training, or of an unfinished save, had the name of "
        "the new checkpoint's file; it is renamed to ",
        name));
  }
  options.attempt = message.attempt;
  options.step = StepOfName(message.directory).value_or(0);
  options.cancelled = [cancel = std::move(cancel)] { return cancel->load(); };
  return shard->Write(options);
}

}  // namespace

// What LoadBy needs.
struct ShardKeeper::Loading {
  LoadFrom from;
  ParameterShardOptions shard;
  Executor* completions = nullptr;
  Done<std::shared_ptr<ParameterShard>> done;

  absl::StatusOr<std::shared_ptr<ParameterShard>> Load(
      const FileSystem* files, const ShardKeeperOptions& options,
      const Manifest& manifest) const {
    LoadShardOptions load;
    load.files = files;
    load.directory = JoinPath(options.model_dir, from.directory);
    load.manifest = &manifest;
    load.weights_only = options.weights_only;
    load.unseen = options.unseen;
    auto loaded = ParameterShard::Load(shard, completions, load);
    if (absl::IsDataLoss(loaded.status())) {
      return absl::DataLossError(absl::StrCat(
          loaded.status().message(), "; `shoal ckpt verify` says more; ",
          options.weights_only
              ? "take another checkpoint"
              : absl::StrCat("move ", load.directory,
                             " away, and the same command resumes from the "
                             "checkpoint before it")));
    }
    SHOAL_RETURN_IF_ERROR(loaded.status());
    return std::shared_ptr<ParameterShard>(*std::move(loaded));
  }
};

ShardKeeper::ShardKeeper(ShardKeeperOptions options, const FileSystem* files,
                         Executor* control, Executor* background,
                         Logger* logger)
    : options_(std::move(options)),
      files_(files),
      control_(control),
      background_(background),
      logger_(logger),
      fetcher_(FetcherOf(options_, files, control, background, logger)) {}

void ShardKeeper::Join(absl::AnyInvocable<void(ProcessMessage)> ask) {
  auto shared = std::make_shared<absl::AnyInvocable<void(ProcessMessage)>>(
      std::move(ask));
  const auto send = [shared](ProcessMessage message) {
    (*shared)(std::move(message));
  };
  manifests_.Start(send);
  if (fetcher_ != nullptr) fetcher_->Start(send);
}

void ShardKeeper::On(FilePart part) {
  if (fetcher_ != nullptr) fetcher_->On(std::move(part));
}

absl::StatusOr<std::string> ShardKeeper::FindManifest(
    const std::string& directory, ManifestName name) const {
  SHOAL_ASSIGN_OR_RETURN(
      std::string text,
      ReadManifestBytes(*files_, JoinPath(options_.model_dir, directory)));
  if (NameOf(text) == name) return text;
  return absl::NotFoundError("the directory holds another manifest");
}

void ShardKeeper::FetchManifest(std::string directory, ManifestOffer offer,
                                Done<std::string> done) {
  control_->Post([self = shared_from_this(), directory = std::move(directory),
                  offer = std::move(offer), done = std::move(done)]() mutable {
    self->manifests_.Fetch(
        std::move(directory), std::move(offer),
        [self,
         done = std::move(done)](absl::StatusOr<std::string> text) mutable {
          self->background_->Post(
              [done = std::move(done), text = std::move(text)]() mutable {
                std::move(done)(std::move(text));
              });
        });
  });
}

void ShardKeeper::Load(LoadFrom from, ParameterShardOptions shard,
                       Executor* completions,
                       Done<std::shared_ptr<ParameterShard>> done) {
  const absl::Status loads = CheckLoads(files_, options_, from);
  if (!loads.ok()) {
    std::move(done)(loads);
    return;
  }
  auto loading = std::make_shared<Loading>(
      Loading{std::move(from), std::move(shard), completions, std::move(done)});
  background_->Post([self = shared_from_this(),
                     loading = std::move(loading)]() mutable {
    const LoadFrom& from = loading->from;
    auto text = self->FindManifest(from.directory, from.manifest.name);
    if (text.ok()) {
      self->LoadBy(std::move(loading), std::move(text));
      return;
    }
    self->FetchManifest(from.directory, from.manifest,
                        [self, loading](absl::StatusOr<std::string> fetched) {
                          self->LoadBy(loading, std::move(fetched));
                        });
  });
}

void ShardKeeper::LoadBy(std::shared_ptr<Loading> loading,
                         absl::StatusOr<std::string> text) {
  if (!text.ok()) {
    Finish(std::move(loading), text.status());
    return;
  }
  auto manifest = ManifestFromJson(*text);
  if (!manifest.ok()) {
    Finish(std::move(loading), manifest.status());
    return;
  }
  auto loaded = loading->Load(files_, options_, *manifest);
  const bool lacks_files =
      absl::IsNotFound(loaded.status()) || absl::IsDataLoss(loaded.status());
  if (!lacks_files || fetcher_ == nullptr) {
    Finish(std::move(loading), std::move(loaded));
    return;
  }
  logger_->Info(absl::StrCat(
      loading->from.directory,
      " is not whole on this host; fetching what is missing from the "
      "coordinator"));
  logger_->Debug(loaded.status().message());
  const LoadFrom& from = loading->from;
  const ParameterShardOptions& shard = loading->shard;
  std::vector<int> needed = ShardsToLoad(*manifest, options_.weights_only,
                                         shard.model, shard.map, shard.shard);
  fetcher_->Fetch(
      from.directory, *std::move(text), shard.life.start, std::move(needed),
      [self = shared_from_this(), loading,
       manifest = *std::move(manifest)](const absl::Status& fetched) {
        if (fetched.ok()) {
          self->Finish(loading,
                       loading->Load(self->files_, self->options_, manifest));
        } else {
          self->Finish(loading, fetched);
        }
      });
}

void ShardKeeper::Finish(
    std::shared_ptr<Loading> loading,
    absl::StatusOr<std::shared_ptr<ParameterShard>> loaded) {
  control_->Post([loading = std::move(loading),
                  loaded = std::move(loaded)]() mutable {
    std::move(loading->done)(std::move(loaded));
  });
}

void ShardKeeper::Start(std::shared_ptr<ParameterShard> shard,
                        absl::AnyInvocable<void(ProcessMessage)> send) {
  shard_ = std::move(shard);
  send_ = std::move(send);
}

void ShardKeeper::Stop() {
  Release();
  manifests_.Stop();
  if (fetcher_ != nullptr) fetcher_->Stop();
  mark_runs_ = nullptr;
  if (cancel_ != nullptr) *cancel_ = true;
  shard_ = nullptr;
  send_ = nullptr;
}

void ShardKeeper::Send(ProcessMessage message) {
  if (send_ != nullptr) send_(std::move(message));
}

void ShardKeeper::Release() {
  hold_ = 0;
  if (std::exchange(sealed_, false)) shard_->Unseal();
}

void ShardKeeper::On(const Hold& hold) {
  Release();
  hold_ = hold.number;
  // Seal waits for requests in progress, so it must not run on the strand of
  // the heartbeats.
  background_->Post(
      [self = shared_from_this(), number = hold.number, shard = shard_] {
        const absl::Status sealed = shard->Seal(self->options_.seal_timeout);
        self->control_->Post([self, number, shard, sealed] {
          self->OnSealed(number, shard, sealed);
        });
      });
}

void ShardKeeper::OnSealed(uint64_t number,
                           const std::shared_ptr<ParameterShard>& shard,
                           const absl::Status& status) {
  if (!status.ok()) {
    logger_->Warn(absl::StrCat("the shard cannot be held: ", status.message()));
    if (hold_ == number) Send(ShardSaved{number, status, ""});
    return;
  }
  if (hold_ != number || shard_ != shard) {
    shard->Unseal();  // a Resume came meanwhile
    return;
  }
  sealed_ = true;
  Send(Held{number, shard->TotalMarks()});
}

void ShardKeeper::On(const Resume& resume) {
  if (resume.number == hold_) Release();
}

void ShardKeeper::On(const CheckpointVoid& is_void) {
  if (save_ == 0 || is_void.number != save_) return;
  save_ = 0;
  *cancel_ = true;
  Discard();
}

void ShardKeeper::On(const SaveShard& save) {
  if (save.number != hold_ || !sealed_) {
    Send(ShardSaved{
        save.number,
        absl::FailedPreconditionError("asked to save a shard that is not held"),
        ""});
    return;
  }
  save_ = save.number;
  cancel_ = std::make_shared<std::atomic<bool>>(false);
  background_->Post([self = shared_from_this(), save, shard = shard_,
                     cancel = cancel_]() mutable {
    auto written = WriteNow(self->files_, self->options_.model_dir, save,
                            shard.get(), std::move(cancel), self->logger_);
    self->control_->Post([self, save, shard, status = written.status()] {
      self->OnWritten(save, shard, status);
    });
    if (!written.ok()) return;
    // Commit is a task of its own: if shards share the thread, all are written
    // before the first one waits for the disk.
    self->background_->Post(
        [self, save, shard, written = *std::move(written)]() mutable {
          auto entry = written->Commit();
          written = nullptr;
          self->control_->Post(
              [self, save, shard, entry = std::move(entry)]() mutable {
                self->OnSynced(save, shard, std::move(entry));
              });
        });
  });
}

void ShardKeeper::OnWritten(const SaveShard& save,
                            const std::shared_ptr<ParameterShard>& shard,
                            const absl::Status& status) {
  if (shard_ != shard) return;
  if (status.ok()) {
    Send(ShardWritten{save.number});
  } else {
    Send(ShardSaved{save.number, status, ""});
  }
}

void ShardKeeper::OnSynced(const SaveShard& save,
                           const std::shared_ptr<ParameterShard>& shard,
                           absl::StatusOr<ShardEntry> entry) {
  if (shard_ != shard) return;
  if (entry.ok()) {
    written_directory_ = JoinPath(options_.model_dir, save.directory);
    written_file_ = entry->file.file;
    if (save_ != save.number) Discard();  // the checkpoint became void
                                          // meanwhile
  }
  Send(ShardSaved{save.number, entry.status(),
                  entry.ok() ? ShardEntryToText(*entry) : ""});
}

void ShardKeeper::Discard() {
  if (written_file_.empty()) return;
  background_->Post([self = shared_from_this(),
                     directory = std::exchange(written_directory_, ""),
                     file = std::exchange(written_file_, "")] {
    if (!absl::IsNotFound(ReadManifestBytes(*self->files_, directory).status()))
      return;
    const absl::Status removed =
        self->files_->Remove(JoinPath(directory, file));
    if (!removed.ok()) {
      self->logger_->Warn(
          absl::StrCat("cannot remove the shard of a checkpoint that failed: ",
                       removed.message()));
    }
    // The last process to remove its file finds the directory empty.
    self->files_->Remove(directory).IgnoreError();
  });
}

void ShardKeeper::On(const CheckpointDone& done) {
  save_ = 0;
  written_directory_.clear();
  written_file_.clear();
  if (files_ == nullptr || options_.model_dir.empty() ||
      !StepOfName(done.directory).has_value()) {
    return;
  }
  ++keeping_;
  background_->Post([self = shared_from_this(), done] {
    // On a disk that the coordinator uses too, the manifest is there already.
    if (self->FindManifest(done.directory, done.manifest.name).ok()) {
      self->control_->Post([self] { self->OnKept(); });
      return;
    }
    self->FetchManifest(done.directory, done.manifest,
                        [self, directory = done.directory](
                            const absl::StatusOr<std::string>& text) {
                          self->KeepManifest(directory, text);
                          self->control_->Post([self] { self->OnKept(); });
                        });
  });
}

void ShardKeeper::OnKept() {
  if (--keeping_ > 0) return;
  for (auto& then : std::exchange(after_manifests_, {})) then();
}

void ShardKeeper::AfterManifests(absl::AnyInvocable<void()> then) {
  if (keeping_ == 0) {
    then();
  } else {
    after_manifests_.push_back(std::move(then));
  }
}

void ShardKeeper::KeepManifest(const std::string& directory,
                               const absl::StatusOr<std::string>& text) {
  absl::Status kept = text.status();
  if (kept.ok()) {
    kept = WriteManifestBytes(*files_, JoinPath(options_.model_dir, directory),
                              *text);
  }
  if (!kept.ok()) {
    logger_->Warn(absl::StrCat(
        "cannot copy the manifest to this host's model directory: ",
        kept.message()));
    return;
  }
  const auto removed = KeepNewest(*files_, options_.model_dir, directory,
                                  options_.keep_checkpoints);
  if (!removed.ok()) {
    logger_->Warn(
        absl::StrCat("cannot remove old checkpoints: ",
                     removed.status().message()));
  }
}

void ShardKeeper::On(const MarkRunsRequest& request) {
  if (shard_ == nullptr) return;
  if (mark_runs_ != nullptr) {
    SendMarkRuns(request.offset);
    return;
  }
  background_->Post([self = shared_from_this(), shard = shard_,
                     offset = request.offset] {
    auto runs = std::make_shared<const std::vector<MarkRun>>(shard->MarkRuns());
    self->control_->Post([self, shard, offset, runs = std::move(runs)] {
      if (self->shard_ != shard) return;
      self->mark_runs_ = runs;
      self->SendMarkRuns(offset);
    });
  });
}

void ShardKeeper::SendMarkRuns(uint64_t offset) {
  MarkRuns part;
  part.offset = offset;
  const size_t begin = std::min<uint64_t>(offset, mark_runs_->size());
  const size_t end = std::min(mark_runs_->size(), begin + kRunsPerMessage);
  part.runs.assign(mark_runs_->begin() + static_cast<ptrdiff_t>(begin),
                   mark_runs_->begin() + static_cast<ptrdiff_t>(end));
  part.more = end < mark_runs_->size();
  Send(std::move(part));
}

}  // namespace shoal
