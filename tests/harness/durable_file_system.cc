#include "tests/harness/durable_file_system.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"

namespace shoal {

// The disk behind some operations: of every file and directory what the
// processes see, and what is durable.
class DurableFileSystem::Disk {
 public:
  void Apply(const Operation& operation);
  // Puts what a crash leaves into `files`.
  void Leave(std::optional<uint64_t> seed, FakeFileSystem* files);

 private:
  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  // Names that get another node at once; null: that are removed.
  using Change = std::vector<std::pair<std::string, NodePtr>>;
  struct Node {
    bool is_directory = false;
    std::string bytes;
    std::string synced_bytes;
    std::map<std::string, NodePtr> names;
    std::map<std::string, NodePtr> synced_names;
    std::vector<Change> changes;  // of names, since they were synced
  };

  NodePtr Find(const std::string& path);
  static void Put(const Change& change, std::map<std::string, NodePtr>* names);
  void ChangeNames(const std::string& directory, Change change);
  NodePtr MakeDirectories(const std::string& path);
  std::string BytesLeft(const Node& file);
  void LeaveDirectory(const std::string& path, const Node& directory,
                      FakeFileSystem* files);
  uint64_t Draw(uint64_t below) {
    return StableHashCombine(*seed_, draws_++) % below;
  }

  std::map<std::string, NodePtr> roots_;
  std::map<uint64_t, NodePtr> open_;
  std::optional<uint64_t> seed_;
  uint64_t draws_ = 0;
};

DurableFileSystem::Disk::NodePtr DurableFileSystem::Disk::Find(
    const std::string& path) {
  const std::string above(Dirname(path));
  if (above == path) {
    NodePtr& root = roots_[path];
    if (root == nullptr) root = std::make_shared<Node>(Node{true});
    return root;
  }
  const NodePtr directory = Find(above);
  if (directory == nullptr) return nullptr;
  const auto it = directory->names.find(std::string(Basename(path)));
  return it == directory->names.end() ? nullptr : it->second;
}

void DurableFileSystem::Disk::Put(const Change& change,
                                  std::map<std::string, NodePtr>* names) {
  for (const auto& [name, node] : change) {
    if (node == nullptr) {
      names->erase(name);
    } else {
      (*names)[name] = node;
    }
  }
}

void DurableFileSystem::Disk::ChangeNames(const std::string& directory,
                                          Change change) {
  const NodePtr node = Find(directory);
  Put(change, &node->names);
  node->changes.push_back(std::move(change));
}

DurableFileSystem::Disk::NodePtr DurableFileSystem::Disk::MakeDirectories(
    const std::string& path) {
  if (const NodePtr there = Find(path)) return there;
  const std::string above(Dirname(path));
  MakeDirectories(above);
  const auto made = std::make_shared<Node>(Node{true});
  ChangeNames(above, {{std::string(Basename(path)), made}});
  return made;
}

void DurableFileSystem::Disk::Apply(const Operation& operation) {
  const std::string& path = operation.path;
  const std::string name(Basename(path));
  switch (operation.kind) {
    case Kind::kMakeDirectories:
      MakeDirectories(path);
      break;
    case Kind::kCreate: {
      NodePtr node = Find(path);
      if (node == nullptr) {
        node = std::make_shared<Node>();
        ChangeNames(std::string(Dirname(path)), {{name, node}});
      }
      node->bytes.clear();
      open_[operation.file] = node;
      break;
    }
    case Kind::kAppend:
      open_[operation.file]->bytes += operation.bytes;
      break;
    case Kind::kSync:
      open_[operation.file]->synced_bytes = open_[operation.file]->bytes;
      break;
    case Kind::kRename:
      // One change: after a crash the file has one of the names.
      ChangeNames(
          std::string(Dirname(path)),
          {{name, nullptr}, {std::string(Basename(operation.to)), Find(path)}});
      break;
    case Kind::kRemove:
      ChangeNames(std::string(Dirname(path)), {{name, nullptr}});
      break;
    case Kind::kSyncDirectory: {
      const NodePtr node = Find(path);
      node->synced_names = node->names;
      node->changes.clear();
      break;
    }
  }
}

std::string DurableFileSystem::Disk::BytesLeft(const Node& file) {
  if (!seed_.has_value() || file.bytes == file.synced_bytes) {
    return file.synced_bytes;
  }
  switch (Draw(4)) {
    case 0:
      return file.synced_bytes;
    case 1:
      return file.bytes;
    case 2:
      return file.bytes.substr(0, Draw(file.bytes.size() + 1));
    default:  // its size is known, its blocks are not
      return std::string(file.bytes.size(), '\0');
  }
}

void DurableFileSystem::Disk::LeaveDirectory(const std::string& path,
                                             const Node& directory,
                                             FakeFileSystem* files) {
  std::map<std::string, NodePtr> names = directory.synced_names;
  for (const Change& change : directory.changes) {
    if (seed_.has_value() && Draw(2) == 0) Put(change, &names);
  }
  for (const auto& [name, node] : names) {
    const std::string below = JoinPath(path, name);
    if (node->is_directory) {
      files->CreateDirectories(below).IgnoreError();
      LeaveDirectory(below, *node, files);
    } else {
      files->AddFile(below, BytesLeft(*node));
    }
  }
}

void DurableFileSystem::Disk::Leave(std::optional<uint64_t> seed,
                                    FakeFileSystem* files) {
  seed_ = seed;
  for (const auto& [path, root] : roots_) LeaveDirectory(path, *root, files);
}

class DurableFileSystem::Writer final : public WritableFile {
 public:
  Writer(const DurableFileSystem* owner, std::string path, uint64_t file,
         std::unique_ptr<WritableFile> out)
      : owner_(owner),
        path_(std::move(path)),
        file_(file),
        out_(std::move(out)) {}

  absl::Status Append(absl::string_view bytes) override {
    SHOAL_RETURN_IF_ERROR(out_->Append(bytes));
    owner_->Note({Kind::kAppend, path_, "", file_, std::string(bytes)});
    return absl::OkStatus();
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Sync() override {
    SHOAL_RETURN_IF_ERROR(out_->Sync());
    owner_->Note({Kind::kSync, path_, "", file_});
    return absl::OkStatus();
  }
  absl::Status Close() override { return out_->Close(); }

 private:
  const DurableFileSystem* const owner_;
  const std::string path_;
  const uint64_t file_;
  const std::unique_ptr<WritableFile> out_;
};

void DurableFileSystem::Note(Operation operation) const {
  MutexLock lock(&mu_);
  operations_.push_back(std::move(operation));
}

size_t DurableFileSystem::operations() const {
  MutexLock lock(&mu_);
  return operations_.size();
}

std::string DurableFileSystem::OperationBefore(size_t n) const {
  MutexLock lock(&mu_);
  if (n == 0) return "nothing";
  static constexpr const char* kNames[] = {
      "make",   "create", "append to",     "sync",
      "rename", "remove", "sync directory"};
  const Operation& operation = operations_[n - 1];
  return absl::StrCat(kNames[static_cast<int>(operation.kind)], " ",
                      operation.path, operation.to.empty() ? "" : " to ",
                      operation.to);
}

std::unique_ptr<FakeFileSystem> DurableFileSystem::Crash(
    size_t n, std::optional<uint64_t> seed) const {
  Disk disk;
  {
    MutexLock lock(&mu_);
    for (size_t i = 0; i < n; ++i) disk.Apply(operations_[i]);
  }
  auto files = std::make_unique<FakeFileSystem>();
  disk.Leave(seed, files.get());
  return files;
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>>
DurableFileSystem::OpenForRead(const std::string& path) const {
  return files_.OpenForRead(path);
}

absl::StatusOr<std::unique_ptr<WritableFile>> DurableFileSystem::Create(
    const std::string& path) const {
  SHOAL_ASSIGN_OR_RETURN(auto out, files_.Create(path));
  const std::string clean = CleanPath(path);
  MutexLock lock(&mu_);
  const uint64_t file = ++opened_;
  operations_.push_back({Kind::kCreate, clean, "", file});
  return std::make_unique<Writer>(this, clean, file, std::move(out));
}

absl::StatusOr<std::vector<FileInfo>> DurableFileSystem::List(
    const std::string& pattern) const {
  return files_.List(pattern);
}

absl::Status DurableFileSystem::CreateDirectories(
    const std::string& path) const {
  SHOAL_RETURN_IF_ERROR(files_.CreateDirectories(path));
  Note({Kind::kMakeDirectories, CleanPath(path)});
  return absl::OkStatus();
}

absl::Status DurableFileSystem::WriteFileAtomically(
    const std::string& path, absl::string_view bytes) const {
  SHOAL_RETURN_IF_ERROR(files_.WriteFileAtomically(path, bytes));
  const std::string clean = CleanPath(path);
  const std::string directory(Dirname(clean));
  const std::string temporary =
      JoinPath(directory, absl::StrCat(".", Basename(clean), ".tmp"));
  MutexLock lock(&mu_);
  const uint64_t file = ++opened_;
  operations_.push_back({Kind::kCreate, temporary, "", file});
  operations_.push_back(
      {Kind::kAppend, temporary, "", file, std::string(bytes)});
  operations_.push_back({Kind::kSync, temporary, "", file});
  operations_.push_back({Kind::kRename, temporary, clean});
  operations_.push_back({Kind::kSyncDirectory, directory});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<DirectoryEntry>> DurableFileSystem::ListDirectory(
    const std::string& path) const {
  return files_.ListDirectory(path);
}

absl::Status DurableFileSystem::Rename(const std::string& from,
                                       const std::string& to) const {
  SHOAL_RETURN_IF_ERROR(files_.Rename(from, to));
  const std::string clean = CleanPath(to);
  Note({Kind::kRename, CleanPath(from), clean});
  Note({Kind::kSyncDirectory, std::string(Dirname(clean))});
  return absl::OkStatus();
}

absl::Status DurableFileSystem::Remove(const std::string& path) const {
  SHOAL_RETURN_IF_ERROR(files_.Remove(path));
  Note({Kind::kRemove, CleanPath(path)});
  return absl::OkStatus();
}

absl::Status DurableFileSystem::SyncDirectory(const std::string& path) const {
  SHOAL_RETURN_IF_ERROR(files_.SyncDirectory(path));
  Note({Kind::kSyncDirectory, CleanPath(path)});
  return absl::OkStatus();
}

}  // namespace shoal
