// Both implementations of BatchSource: what each has of its own is below.

#include "worker/data/batch_source.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/read_only_file_system.h"
#include "tests/harness/simulated_executor.h"
#include "worker/data/batch_prefetcher.h"
#include "worker/data/open_batch_source.h"

namespace shoal {
namespace {

using Read = absl::StatusOr<std::optional<Batch>>;

constexpr char kPath[] = "/data/tr.libsvm";

class Notification {
 public:
  void Notify() {
    MutexLock lock(&mu_);
    notified_ = true;
    cv_.SignalAll();
  }
  void Wait() {
    MutexLock lock(&mu_);
    while (!notified_) cv_.Wait(&mu_);
  }

 private:
  Mutex mu_;
  CondVar cv_;
  bool notified_ ABSL_GUARDED_BY(mu_) = false;
};

std::string Rows(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) absl::StrAppend(&text, "1 ", i, ":1\n");
  return text;
}

PieceReaderOptions Options() {
  PieceReaderOptions options;
  options.feature_size = 1 << 20;
  options.field_size = 1;
  return options;
}

// The file of these bytes, as a worker lists it.
LocalSource FileOf(const std::string& text) {
  LocalSource file;
  file.path = kPath;
  file.info.size = text.size();
  return file;
}

Lease LeaseOf(uint64_t bytes, uint32_t batch_size) {
  Lease lease;
  lease.piece.end = bytes;
  lease.batch_size = batch_size;
  return lease;
}

// A strand with a thread, and a source that belongs to it.
class BatchSourceTest : public ::testing::TestWithParam<bool> {
 protected:
  // With an error, reads of bytes from `error_from` on fail.
  void Open(const std::string& text, uint32_t batch_size,
            absl::Status error = absl::OkStatus(), uint64_t error_from = 0) {
    files_.AddFile(kPath, text);
    files_.FailReads(kPath, error, error_from);
    OnStrand([&] {
      auto source = OpenBatchSource(&files_, FileOf(text),
                                    LeaseOf(text.size(), batch_size), Options(),
                                    GetParam(), &strand_);
      ASSERT_TRUE(source.ok()) << source.status();
      source_ = *std::move(source);
    });
  }
  ~BatchSourceTest() override {
    OnStrand([&] { source_ = nullptr; });
  }

  template <typename F>
  void OnStrand(F f) {
    Notification ran;
    strand_.Post([&] {
      f();
      ran.Notify();
    });
    ran.Wait();
  }

  Read Next() {
    Notification called;
    Read result;
    bool within_call = false;
    strand_.Post([&] {
      within_call = true;
      source_->Next([&](Read read) {
        EXPECT_FALSE(within_call) << "completed inside the call";
        result = std::move(read);
        called.Notify();
      });
      within_call = false;
    });
    called.Wait();
    return result;
  }

  FakeFileSystem files_;
  RealClock clock_;
  ThreadExecutor strand_{{"strand", 1}, &clock_};
  std::unique_ptr<BatchSource> source_;
};

TEST_P(BatchSourceTest, DeliversEveryBatchInOrderThenTheReport) {
  Open(Rows(1000), 7);
  for (uint32_t i = 0; i < 143; ++i) {
    Read read = Next();
    ASSERT_TRUE(read.ok() && read->has_value()) << read.status();
    EXPECT_EQ((*read)->id.index, i);
    EXPECT_EQ((*read)->examples.size(), i < 142 ? 7u : 6u);
    OnStrand([&] { source_->Recycle(**std::move(read)); });
  }
  Read end = Next();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->has_value());
  OnStrand([&] {
    EXPECT_EQ(source_->report().examples, 1000u);
    EXPECT_EQ(source_->report().batches, 143u);
  });
}

TEST_P(BatchSourceTest, ErrorsComeAfterTheBatchesBeforeThem) {
  // Windows of 65,536 rows: the error is far behind the first.
  const std::string text = Rows(150000);
  Open(text, 1000, absl::InternalError("the disk is gone"), text.size() - 10);
  uint32_t batches = 0;
  Read read = Next();
  for (; read.ok() && read->has_value(); read = Next()) {
    EXPECT_EQ((*read)->id.index, batches++);
  }
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInternal);
  // How much of the second is lost with it depends on the size of a read.
  EXPECT_GE(batches, 65u) << "the first window of 65,536 rows";
}

TEST_P(BatchSourceTest, DestructionDropsThePendingCompletion) {
  Open(Rows(100000), 10);
  bool called = false;
  OnStrand([&] {
    source_->Next([&](Read) { called = true; });
    source_ = nullptr;
  });
  OnStrand([] {});  // whatever was posted before has run
  EXPECT_FALSE(called);
}

TEST_P(BatchSourceTest, MayBeDestroyedByItsOwnCompletion) {
  Open(Rows(100), 10);
  Notification called;
  strand_.Post([&] {
    source_->Next([&](Read) {
      source_ = nullptr;
      called.Notify();
    });
  });
  called.Wait();
}

INSTANTIATE_TEST_SUITE_P(Kinds, BatchSourceTest, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& info) {
                           return info.param ? "Prefetching" : "Direct";
                         });

TEST(DirectBatchSourceTest, RunsOnTheSimulatedStrandAlone) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(5));
  Simulator simulator;
  SimulatedExecutor strand(&simulator);
  auto source =
      OpenBatchSource(&files, FileOf(Rows(5)), LeaseOf(Rows(5).size(), 5),
                      Options(), /*prefetch=*/false, &strand);
  ASSERT_TRUE(source.ok());
  int called = 0;
  (*source)->Next([&](Read read) {
    ++called;
    EXPECT_TRUE(read.ok() && read->has_value());
  });
  EXPECT_EQ(called, 0);
  simulator.RunUntilIdle();
  EXPECT_EQ(called, 1);
}

// A file whose reads are counted, and which never ends a chunk early.
class CountingFileSystem final : public ReadOnlyFileSystem {
 public:
  explicit CountingFileSystem(std::string bytes) : bytes_(std::move(bytes)) {}

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenForRead(
      const std::string&) const override {
    return std::make_unique<File>(this);
  }

  uint64_t bytes_read() const {
    MutexLock lock(&mu_);
    return bytes_read_;
  }

 private:
  class File final : public RandomAccessFile {
   public:
    explicit File(const CountingFileSystem* owner) : owner_(owner) {}
    absl::StatusOr<size_t> Read(uint64_t offset,
                                absl::Span<char> out) const override {
      if (offset >= owner_->bytes_.size()) return 0;
      const size_t n = owner_->bytes_.copy(out.data(), out.size(), offset);
      MutexLock lock(&owner_->mu_);
      owner_->bytes_read_ += n;
      return n;
    }
    uint64_t size() const override { return owner_->bytes_.size(); }

   private:
    const CountingFileSystem* const owner_;
  };

  const std::string bytes_;
  mutable Mutex mu_;
  mutable uint64_t bytes_read_ ABSL_GUARDED_BY(mu_) = 0;
};

absl::StatusOr<std::unique_ptr<PieceReader>> OpenReader(
    const CountingFileSystem& files) {
  PieceReaderOptions options = Options();
  options.shuffle_rows = 1000;
  return PieceReader::Open(&files, kPath,
                           LeaseOf(files.OpenForRead("").value()->size(), 1000),
                           options);
}

// Takes a batch on the strand and gives it back. Its index.
uint32_t Take(BatchSource* source, Executor* strand) {
  uint32_t index = 0;
  Notification called;
  strand->Post([&] {
    source->Next([&](Read read) {
      EXPECT_TRUE(read.ok() && read->has_value());
      if (read.ok() && read->has_value()) {
        index = (*read)->id.index;
        source->Recycle(**std::move(read));
      }
      called.Notify();
    });
  });
  called.Wait();
  return index;
}

bool AllRead(const BatchSource& source, Executor* strand) {
  bool all = false;
  Notification called;
  strand->Post([&] {
    all = source.all_read();
    called.Notify();
  });
  called.Wait();
  return all;
}

TEST(BatchPrefetcherTest, ReadsAheadNoFurtherThanItsLimits) {
  for (const bool by_bytes : {false, true}) {
    const CountingFileSystem files(Rows(400000));
    auto reader = OpenReader(files);
    ASSERT_TRUE(reader.ok());
    RealClock clock;
    ThreadExecutor strand({"strand", 1}, &clock);
    BatchPrefetcherOptions limits;
    if (by_bytes) {
      limits.max_batches = 1 << 20;
      limits.max_bytes = 4 * 17 * 1000;  // 17 bytes a row
    } else {
      limits.max_batches = 4;
    }
    BatchPrefetcher source(*std::move(reader), &strand, limits);
    for (uint32_t i = 0; i < 50; ++i) {
      EXPECT_EQ(Take(&source, &strand), i);
    }
    // As long as it takes to read all of another such file: a thread that knew
    // no limit would have come far.
    const CountingFileSystem other(Rows(400000));
    auto all = OpenReader(other);
    ASSERT_TRUE(all.ok());
    Batch batch;
    while ((*all)->Next(&batch).value()) {
    }
    // 50 taken, at most 5 ahead and one being read: 56,000 rows of at most 11
    // bytes, and a chunk.
    EXPECT_LT(files.bytes_read(), 56000u * 11 + (256 << 10));
  }
}

TEST(BatchPrefetcherTest, SaysWhenAllIsReadBeforeItIsTaken) {
  const CountingFileSystem files(Rows(8000));
  auto reader = OpenReader(files);
  ASSERT_TRUE(reader.ok());
  RealClock clock;
  ThreadExecutor strand({"strand", 1}, &clock);
  BatchPrefetcherOptions limits;
  limits.max_batches = 4;
  BatchPrefetcher source(*std::move(reader), &strand, limits);
  Take(&source, &strand);
  EXPECT_FALSE(AllRead(source, &strand))
      << "7 are left, and at most 5 are read";
  for (int i = 0; i < 4; ++i) Take(&source, &strand);
  // The rest has room.
  while (!AllRead(source, &strand)) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_EQ(Take(&source, &strand), 5u);
}

// What an executor is after its shutdown: tasks are destroyed unrun.
class DeadExecutor final : public Executor {
 public:
  void Post(Task task) override {}
  void PostAt(absl::Time when, Task task) override {}
  absl::Time Now() const override { return absl::UnixEpoch(); }
};

// Owns a source, and says when it is gone.
struct Owner {
  explicit Owner(Notification* destroyed) : destroyed(destroyed) {}
  ~Owner() {
    source = nullptr;
    destroyed->Notify();
  }
  Notification* const destroyed;
  std::unique_ptr<BatchSource> source;
};

// At shutdown the strand may be gone before the source: the completion is then
// destroyed by the reading thread, and the source with it.
TEST(BatchPrefetcherTest, SurvivesAStrandThatDiedFirst) {
  const std::string text = Rows(20000);
  FakeFileSystem files;
  files.AddFile(kPath, text);
  DeadExecutor strand;
  for (int round = 0; round < 50; ++round) {
    Notification destroyed;
    auto owner = std::make_shared<Owner>(&destroyed);
    auto source =
        OpenBatchSource(&files, FileOf(text), LeaseOf(text.size(), 100),
                        Options(), /*prefetch=*/true, &strand);
    ASSERT_TRUE(source.ok());
    owner->source = *std::move(source);
    BatchSource* const raw = owner->source.get();
    raw->Next([owner = std::move(owner)](Read) {
      ADD_FAILURE() << "a dead strand ran a task";
    });
    destroyed.Wait();
  }
}

}  // namespace
}  // namespace shoal
