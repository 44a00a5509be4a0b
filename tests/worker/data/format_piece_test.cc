// PieceReader over every format and compression, and over what is damaged.

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "core/piece_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "tests/worker/data/encoded_data.h"
#include "worker/data/open_examples.h"
#include "worker/data/piece_reader.h"
#include "worker/data/source_list.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kIds = 1000;
constexpr int kFields = 5;

PieceReaderOptions Options() {
  PieceReaderOptions options;
  options.feature_size = kIds;
  options.field_size = kFields;
  options.shuffle_rows = 300;
  return options;
}

struct ReadResult {
  std::vector<Batch> batches;
  PieceReport report;
};

absl::StatusOr<ReadResult> Read(const FileSystem& files,
                                const std::string& path, const Lease& lease,
                                const PieceReaderOptions& options) {
  auto reader = PieceReader::Open(&files, path, lease, options);
  if (!reader.ok()) return reader.status();
  ReadResult result;
  for (;;) {
    Batch batch;
    const absl::StatusOr<bool> more = (*reader)->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    result.batches.push_back(std::move(batch));
  }
  result.report = (*reader)->report();
  return result;
}

Lease WholeLease(const FileSystem& files, const std::string& path) {
  Lease lease;
  lease.number = 1;
  lease.epoch = 2;
  lease.batch_size = 64;
  lease.piece.end = files.OpenForRead(path).value()->size();
  return lease;
}

// Reads the whole of `bytes` as one piece.
absl::StatusOr<ReadResult> ReadBytes(
    const std::string& bytes, const PieceReaderOptions& options = Options()) {
  FakeFileSystem files;
  files.AddFile("d/f", bytes);
  return Read(files, "d/f", WholeLease(files, "d/f"), options);
}

bool Same(const Batch& a, const Batch& b) {
  return a.id == b.id && a.examples.labels == b.examples.labels &&
         a.examples.offsets == b.examples.offsets &&
         a.examples.ids == b.examples.ids &&
         a.examples.values == b.examples.values;
}

TEST(FormatPieceTest, AllFormatsGiveTheSameBatchesBothWays) {
  const SameRows same = MakeSameRows(1000, kFields, kIds);
  FakeFileSystem files;
  files.AddFile("d/libsvm", same.libsvm);
  const ReadResult expected =
      Read(files, "d/libsvm", WholeLease(files, "d/libsvm"), Options()).value();
  ASSERT_EQ(expected.batches.size(), 16u);
  // Names say nothing: these are misleading ones.
  files.AddFile("d/a.gz", same.tfrecord);
  files.AddFile("d/b.libsvm", Gzip(same.tfrecord));
  files.AddFile("d/c.txt", Zstd(same.tfrecord));
  files.AddFile("d/d.tfrecord", Gzip(same.libsvm));
  files.AddFile("d/e", Zstd(same.libsvm));
  for (const char* name :
       {"libsvm", "a.gz", "b.libsvm", "c.txt", "d.tfrecord", "e"}) {
    const std::string path = absl::StrCat("d/", name);
    for (const bool backwards : {false, true}) {
      for (const int threads : {1, 3}) {
        Lease lease = WholeLease(files, path);
        lease.backwards = backwards;
        PieceReaderOptions options = Options();
        options.parse_threads = threads;
        const auto read = Read(files, path, lease, options);
        ASSERT_TRUE(read.ok()) << read.status();
        ASSERT_EQ(read->batches.size(), expected.batches.size()) << name;
        for (size_t i = 0; i < expected.batches.size(); ++i) {
          const size_t j = backwards ? expected.batches.size() - 1 - i : i;
          ASSERT_TRUE(Same(read->batches[j], expected.batches[i]))
              << name << " batch " << i << " backwards " << backwards;
        }
        EXPECT_EQ(read->report.examples, 1000u);
        EXPECT_EQ(read->report.bad_rows, 0u) << read->report.first_error;
        EXPECT_EQ(read->report.crc32c, Crc32c(*files.Contents(path))) << name;
      }
    }
  }
}

TEST(FormatPieceTest, EveryRecordIsInOnePieceHoweverTheFileIsCut) {
  const SameRows same = MakeSameRows(500, kFields, kIds);
  FakeFileSystem files;
  files.AddFile("d/f", same.tfrecord);
  for (const uint64_t piece_bytes : {0, 50, 97, 1000, 9973}) {
    uint64_t examples = 0;
    const auto sources = ListSources(&files, "d/f").value();
    const std::vector<Piece> pieces =
        BuildPieceTable({sources[0].info}, piece_bytes).value();
    for (const Piece& piece : pieces) {
      Lease lease = WholeLease(files, "d/f");
      lease.piece = piece;
      const auto read = Read(files, "d/f", lease, Options());
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->report.bad_rows, 0u);
      examples += read->report.examples;
    }
    EXPECT_EQ(examples, 500u) << piece_bytes;
  }
}

TEST(FormatPieceTest, CompressedFilesAreOnePieceEach) {
  const SameRows same = MakeSameRows(2000, kFields, kIds);
  FakeFileSystem files;
  files.AddFile("d/a", same.libsvm);
  files.AddFile("d/b", Gzip(same.libsvm));
  files.AddFile("d/c", Zstd(same.tfrecord));
  std::vector<SourceInfo> infos;
  const auto sources = ListSources(&files, "d").value();
  for (const LocalSource& source : sources) infos.push_back(source.info);
  const auto pieces = BuildPieceTable(infos, 1000).value();
  const auto of = [&](uint32_t source) {
    return std::count_if(pieces.begin(), pieces.end(),
                         [&](const Piece& p) { return p.source == source; });
  };
  EXPECT_GT(of(0), 10);
  EXPECT_EQ(of(1), 1);
  EXPECT_EQ(of(2), 1);
  // A part of one could only be leased of a file that was another before.
  Lease lease = WholeLease(files, "d/b");
  lease.piece.end /= 2;
  EXPECT_EQ(Read(files, "d/b", lease, Options()).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(FormatPieceTest, BadRowsAreCountedAndNamedByRecord) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string good = TfRecord(TfExampleRow(1, {1}, {1}));
  std::string damaged = good;
  damaged[20] ^= 1;
  struct Case {
    std::string record;
    std::string reason;
  };
  for (const Case& c : {
           Case{TfRecord(TfExampleRow(2, {1}, {1})), "label 2 is not one of"},
           Case{TfRecord(TfExampleRow(1, {1}, {nan})), "not a finite number"},
           Case{TfRecord(TfExampleRow(1, {1000}, {1})), "id 1000 is not in"},
           Case{TfRecord("no protobuf"), "not a tf.Example"},
           Case{damaged, "the checksum of the record does not match"},
           Case{TfRecord(std::string(2 << 20, 'x')), "record of 2097152"},
       }) {
    for (const std::string& file :
         {good + c.record + good, Gzip(good + c.record + good)}) {
      const auto read = ReadBytes(file);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->report.examples, 2u);
      EXPECT_EQ(read->report.bad_rows, 1u);
      EXPECT_THAT(read->report.first_error,
                  AllOf(HasSubstr("f: record 2: "), HasSubstr(c.reason)));
    }
  }
}

TEST(FormatPieceTest, DamagedFilesAreErrorsThatNameThem) {
  const SameRows same = MakeSameRows(50, kFields, kIds);
  const std::string gzip = Gzip(same.libsvm);
  const std::string zstd = Zstd(same.tfrecord);
  std::string flipped = gzip;
  flipped[gzip.size() / 2] ^= 0x10;
  for (const std::string& bytes :
       {same.tfrecord.substr(0, same.tfrecord.size() - 1),
        same.tfrecord + "abc", same.tfrecord + same.libsvm,
        gzip.substr(0, gzip.size() - 1), gzip + "x", flipped,
        zstd.substr(0, zstd.size() - 1), zstd + "x",
        Gzip(same.tfrecord.substr(0, same.tfrecord.size() - 5))}) {
    PieceReaderOptions options = Options();
    for (const DataFormat format :
         {DataFormat::kAuto, bytes.size() > gzip.size() + 2
                                 ? DataFormat::kTfRecord
                                 : DataFormat::kLibSvm}) {
      options.format = format;
      const absl::Status status = ReadBytes(bytes, options).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("d/f"));
    }
  }
}

TEST(FormatPieceTest, BadRowsGoToTheQuarantineOnceHoweverOftenItIsRead) {
  FakeFileSystem files;
  files.AddFile("d/f", Gzip("1 1:1\nbad\n0 2:1\n0 1000:1\n"));
  QuarantineOptions quarantine_options;
  quarantine_options.directory = "q";
  quarantine_options.name = "worker-0";
  Quarantine quarantine(&files, quarantine_options);
  PieceReaderOptions options = Options();
  options.quarantine = &quarantine;
  options.shuffle_rows = 1;
  Lease lease = WholeLease(files, "d/f");
  lease.batch_size = 1;
  for (const bool backwards : {false, true, true, false}) {
    lease.backwards = backwards;
    const auto read = Read(files, "d/f", lease, options);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->report.bad_rows, 2u);
  }
  EXPECT_EQ(files.Contents(quarantine.path()).value(),
            "file\trecord\tbyte\treason\n"
            "d/f\t2\t6\tlabel 'bad' is not one of 0, 1, -1\n"
            "d/f\t4\t16\tid of '1000:1' is not below --feature_size=1000\n");
}

// `bytes` many times over, without holding it.
class RepeatedFile final : public RandomAccessFile {
 public:
  RepeatedFile(std::string bytes, uint64_t times, std::string end)
      : bytes_(std::move(bytes)), times_(times), end_(std::move(end)) {}
  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    const uint64_t repeated = bytes_.size() * times_;
    size_t done = 0;
    while (done < out.size() && offset < size()) {
      const size_t n = offset < repeated
                           ? bytes_.copy(out.data() + done, out.size() - done,
                                         offset % bytes_.size())
                           : end_.copy(out.data() + done, out.size() - done,
                                       offset - repeated);
      done += n;
      offset += n;
    }
    return done;
  }
  uint64_t size() const override {
    return bytes_.size() * times_ + end_.size();
  }

 private:
  const std::string bytes_;
  const uint64_t times_;
  const std::string end_;
};

int64_t PeakMegabytes() {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(FormatPieceTest, ALineOf100MegabytesIsOneBadRowAndIsNotHeld) {
  const std::string hundred_kb(100'000, 'x');
  const RepeatedFile plain(hundred_kb, 1000, "\n1 1:1\n");
  const RepeatedFile gzip(Gzip(hundred_kb), 1000, Gzip("\n1 1:1\n"));
  const RepeatedFile zstd(Zstd(hundred_kb), 1000, Zstd("\n1 1:1\n"));
  const int64_t before = PeakMegabytes();
  for (const auto& [file, compression] : {std::pair{&plain, Compression::kNone},
                                          {&gzip, Compression::kGzip},
                                          {&zstd, Compression::kZstd}}) {
    EXPECT_EQ(DetectFormat(*file, DataFormat::kLibSvm)->compression,
              compression);
    class Count final : public BadRowSink {
     public:
      absl::Status Add(const BadRow& row) override {
        EXPECT_EQ(row.reason, "line longer than 1048576 bytes");
        ++count;
        return absl::OkStatus();
      }
      int count = 0;
    };
    ExampleOptions options;
    options.field_size = kFields;
    auto reader = OpenExamples(file, {DataFormat::kLibSvm, compression}, 0,
                               file->size(), options)
                      .value();
    Count bad;
    ExampleBatch rows;
    ASSERT_TRUE(reader->ReadRows(10, &rows, &bad).ok());
    EXPECT_EQ(rows.size(), 1u);
    EXPECT_EQ(bad.count, 1);
  }
  EXPECT_LT(PeakMegabytes() - before, 64);
}

TEST(FormatPieceTest, WhatIsNoReadableFileIsAClearError) {
  const std::string dir =
      std::filesystem::temp_directory_path() / "shoal_format_piece_XXXXXX";
  std::string made = dir;
  ASSERT_NE(mkdtemp(made.data()), nullptr);
  const auto files = NewPosixFileSystem();
  const auto list = [&](const std::string& name) {
    return ListSources(files.get(), absl::StrCat(made, "/", name)).status();
  };
  ASSERT_EQ(mkfifo(absl::StrCat(made, "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(list("fifo").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(list("fifo").message()),
              AllOf(HasSubstr(made + "/fifo"), HasSubstr("is a FIFO")));
  EXPECT_EQ(list("missing").code(), absl::StatusCode::kNotFound);
  std::filesystem::create_directory(made + "/empty");
  EXPECT_EQ(list("empty").code(), absl::StatusCode::kNotFound);
  Lease lease;
  lease.batch_size = 1;
  const absl::Status directory =
      PieceReader::Open(files.get(), made + "/empty", lease, Options())
          .status();
  EXPECT_EQ(directory.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(directory.message()), HasSubstr("is a directory"));
  ASSERT_TRUE(files->WriteFileAtomically(made + "/words.csv", "a,b\n").ok());
  EXPECT_THAT(std::string(list("words.csv").message()),
              AllOf(HasSubstr(made + "/words.csv"), HasSubstr("'a,b\\n'")));
  ASSERT_TRUE(files->WriteFileAtomically(made + "/secret", "1 1:1\n").ok());
  ASSERT_EQ(chmod((made + "/secret").c_str(), 0), 0);
  if (geteuid() != 0) {  // root may read all
    EXPECT_EQ(list("secret").code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(list("secret").message()), HasSubstr(made));
  }
  // An empty file has no rows, and no piece.
  ASSERT_TRUE(files->WriteFileAtomically(made + "/zero", "").ok());
  const auto zero = ListSources(files.get(), made + "/zero");
  ASSERT_TRUE(zero.ok()) << zero.status();
  EXPECT_TRUE(BuildPieceTable({zero->front().info}).value().empty());
  std::filesystem::remove_all(made);
}

}  // namespace
}  // namespace shoal
