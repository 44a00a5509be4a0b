#include "tests/sim/simulated_host.h"

#include "absl/types/span.h"
#include "base/path.h"
#include "base/stable_hash.h"
#include "gtest/gtest.h"
#include "tests/sim/probe_job.h"

namespace shoal {
namespace {

void MakeDurably(const std::string& path, const FileSystem& files) {
  const std::string above(Dirname(path));
  if (above == path) return;
  MakeDurably(above, files);
  EXPECT_TRUE(files.CreateDirectories(path).ok());
  EXPECT_TRUE(files.SyncDirectory(above).ok());
}

void WriteDurably(const std::string& path, absl::string_view bytes,
                  const FileSystem& files) {
  MakeDurably(std::string(Dirname(path)), files);
  EXPECT_TRUE(files.WriteFileAtomically(path, bytes).ok()) << path;
}

void CopyDurably(const FileSystem& from, const std::string& directory,
                 const FileSystem& to) {
  MakeDurably(directory, to);
  const auto entries = from.ListDirectory(directory);
  EXPECT_TRUE(entries.ok()) << entries.status();
  if (!entries.ok()) return;
  for (const DirectoryEntry& entry : *entries) {
    const std::string path = JoinPath(directory, entry.name);
    if (entry.is_directory) {
      CopyDurably(from, path, to);
    } else {
      WriteDurably(path, ContentsOf(from, path), to);
    }
  }
}

}  // namespace

std::string ContentsOf(const FileSystem& files, const std::string& path) {
  const auto file = files.OpenForRead(path);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return "";
  std::string bytes((*file)->size(), '\0');
  const auto read = (*file)->Read(0, absl::MakeSpan(&bytes[0], bytes.size()));
  EXPECT_TRUE(read.ok() && *read == bytes.size()) << path;
  return bytes;
}

SimulatedHost::SimulatedHost(uint64_t seed) : seed_(seed) {
  disks_.push_back(std::make_unique<DurableFileSystem>());
  MakeDurably(kProbeModelDir, *files());
}

void SimulatedHost::AddFile(const std::string& path, absl::string_view bytes) {
  WriteDurably(path, bytes, *files());
}

void SimulatedHost::LosePower() {
  const DurableFileSystem& lost = *disks_.back();
  const auto left =
      lost.Crash(lost.operations(), StableHashCombine(seed_, disks_.size()));
  disks_.push_back(std::make_unique<DurableFileSystem>());
  const auto entries = left->ListDirectory(".");
  EXPECT_TRUE(entries.ok()) << entries.status();
  for (const DirectoryEntry& entry : *entries) {
    CopyDurably(*left, entry.name, *files());
  }
}

}  // namespace shoal
