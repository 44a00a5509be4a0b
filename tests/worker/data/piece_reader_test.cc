#include "worker/data/piece_reader.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/philox.h"
#include "core/label.h"
#include "core/piece_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPath[] = "/data/tr.libsvm";

// Row i has the label i % 2 and the features i, and i again with value 0.5.
std::string Rows(int rows, const char* newline = "\n") {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    absl::StrAppend(&text, i % 2, " ", i, ":1 ", i, ":0.5", newline);
  }
  return text;
}

PieceReaderOptions Options() {
  PieceReaderOptions options;
  options.format = DataFormat::kLibSvm;
  options.feature_size = 100000;
  options.field_size = 3;
  return options;
}

Lease LeaseOf(const Piece& piece, uint32_t batch_size) {
  Lease lease;
  lease.number = 1;
  lease.piece = piece;
  lease.batch_size = batch_size;
  return lease;
}

struct ReadResult {
  std::vector<Batch> batches;
  PieceReport report;

  std::vector<FeatureId> RowIds() const {
    std::vector<FeatureId> ids;
    for (const Batch& batch : batches) {
      for (size_t i = 0; i < batch.examples.size(); ++i) {
        ids.push_back(batch.examples.ids[batch.examples.offsets[i]]);
      }
    }
    return ids;
  }
};

absl::StatusOr<ReadResult> TryRead(const FileSystem& files, const Lease& lease,
                                   const PieceReaderOptions& options) {
  auto reader = PieceReader::Open(&files, kPath, lease, options);
  if (!reader.ok()) return reader.status();
  ReadResult result;
  for (;;) {
    Batch batch;
    // What it held before must not show.
    batch.examples.labels = {7, 7};
    absl::StatusOr<bool> more = (*reader)->Next(&batch);
    if (!more.ok()) return more.status();
    if (!*more) break;
    result.batches.push_back(std::move(batch));
  }
  result.report = (*reader)->report();
  return result;
}

ReadResult Read(const FileSystem& files, const Lease& lease,
                const PieceReaderOptions& options) {
  absl::StatusOr<ReadResult> result = TryRead(files, lease, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : ReadResult();
}

bool Same(const Batch& a, const Batch& b) {
  return a.id == b.id && a.examples.labels == b.examples.labels &&
         a.examples.offsets == b.examples.offsets &&
         a.examples.ids == b.examples.ids &&
         a.examples.values == b.examples.values &&
         a.examples.fields == b.examples.fields;
}

Lease WholeFile(const FileSystem& files, uint32_t batch_size) {
  const uint64_t size = files.OpenForRead(kPath).value()->size();
  return LeaseOf({0, 0, 0, size}, batch_size);
}

TEST(PieceReaderTest, OfAnInferenceBadRowsKeepTheirPlaces) {
  FakeFileSystem files;
  const std::string text =
      "9 1:1\n# none\nbad\n1 2:1\n\n0 3:x\n0 4:1 5:1 6:1 7:1\n0 8:1\n";
  files.AddFile(kPath, text);
  Lease lease = LeaseOf({0, 0, 0, text.size()}, 4);
  lease.purpose = LeasePurpose::kInfer;
  PieceReaderOptions options = Options();
  for (const int threads : {1, 3}) {
    options.parse_threads = threads;
    const ReadResult result = Read(files, lease, options);
    std::vector<uint8_t> labels;
    for (const Batch& batch : result.batches) {
      const ExampleBatch& rows = batch.examples;
      labels.insert(labels.end(), rows.labels.begin(), rows.labels.end());
      EXPECT_EQ(rows.offsets.size(), rows.size() + 1);
    }
    EXPECT_THAT(labels, ElementsAre(0, BadRowLabel(2), 1, BadRowLabel(2),
                                    BadRowLabel(2), 0));
    EXPECT_EQ(result.report.examples, 6u);
    EXPECT_EQ(result.report.bad_rows, 3u);
    EXPECT_EQ(result.report.batches, 2u);
  }
}

TEST(PieceReaderTest, LabelsAreThoseOfTheOptions) {
  FakeFileSystem files;
  const std::string text = "2 1:1\n-1 1:1\n3 1:1\n";
  files.AddFile(kPath, text);
  Lease lease = LeaseOf({0, 0, 0, text.size()}, 4);
  lease.purpose = LeasePurpose::kEvaluate;
  PieceReaderOptions options = Options();
  const auto labels = [&](int num_labels) {
    options.num_labels = num_labels;
    const ReadResult result = Read(files, lease, options);
    EXPECT_EQ(result.report.bad_rows, 2u);
    return result.batches.at(0).examples.labels;
  };
  EXPECT_THAT(labels(2), ElementsAre(0));
  EXPECT_THAT(labels(3), ElementsAre(2));
  for (const int wrong : {1, 256}) {
    options.num_labels = wrong;
    EXPECT_EQ(options.Validate().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(PieceReaderTest, FieldsStayWithTheirFeaturesWhenRowsAreShuffled) {
  FakeFileSystem files;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    // The id says the row and the field; some rows have one field or none.
    text += "1";
    for (int field = i % 4; field < 3; ++field) {
      text += absl::StrCat(" ", field, ":", 3 * i + field, ":1");
    }
    text += "\n";
  }
  files.AddFile(kPath, text);
  PieceReaderOptions options = Options();
  options.format = DataFormat::kLibFfm;
  options.shuffle_rows = 16;
  Lease lease = WholeFile(files, 7);
  const ReadResult forwards = Read(files, lease, options);
  lease.backwards = true;
  const ReadResult backwards = Read(files, lease, options);
  ASSERT_EQ(forwards.batches.size(), 6u);
  ASSERT_EQ(backwards.batches.size(), 6u);
  size_t features = 0;
  for (size_t i = 0; i < 6; ++i) {
    const ExampleBatch& rows = forwards.batches[i].examples;
    ASSERT_EQ(rows.fields.size(), rows.ids.size());
    for (size_t j = 0; j < rows.ids.size(); ++j) {
      EXPECT_EQ(rows.fields[j], rows.ids[j] % 3);
    }
    features += rows.ids.size();
    EXPECT_TRUE(Same(forwards.batches[i], backwards.batches[5 - i]));
  }
  EXPECT_EQ(features, 10u * (3 + 2 + 1));
}

TEST(PieceReaderTest, EvaluationKeepsTheOrderOfTheFile) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(7));
  Lease lease = WholeFile(files, 3);
  lease.purpose = LeasePurpose::kEvaluate;
  const ReadResult read = Read(files, lease, Options());
  EXPECT_THAT(read.RowIds(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  ASSERT_EQ(read.batches.size(), 3u);
  EXPECT_EQ(read.batches[2].id, (BatchId{0, 0, 2}));
  EXPECT_THAT(read.batches[2].examples.labels, ElementsAre(0));
  EXPECT_THAT(read.batches[0].examples.values,
              ElementsAre(1.0f, 0.5f, 1.0f, 0.5f, 1.0f, 0.5f));
  EXPECT_EQ(read.report.purpose, LeasePurpose::kEvaluate);
  EXPECT_EQ(read.report.examples, 7u);
  EXPECT_EQ(read.report.batches, 3u);
  EXPECT_EQ(read.report.bad_rows, 0u);
  EXPECT_THAT(read.report.first_error, IsEmpty());
}

TEST(PieceReaderTest, EveryRecordIsInOnePieceWhereverTheFileIsCut) {
  for (const std::string& text :
       {Rows(6), Rows(6, "\r\n"), Rows(6, "\n\n"),
        Rows(5) + "1 5:1 5:0.5" /* no newline */, "\n# x\n" + Rows(6)}) {
    FakeFileSystem files;
    files.AddFile(kPath, text);
    for (uint64_t cut = 0; cut <= text.size(); ++cut) {
      std::vector<FeatureId> ids;
      uint64_t examples = 0;
      for (const Piece& piece :
           {Piece{0, 0, 0, cut}, Piece{1, 0, cut, text.size()}}) {
        const ReadResult read = Read(files, LeaseOf(piece, 4), Options());
        for (const FeatureId id : read.RowIds()) ids.push_back(id);
        examples += read.report.examples;
      }
      std::sort(ids.begin(), ids.end());
      ASSERT_THAT(ids, ElementsAre(0, 1, 2, 3, 4, 5)) << "cut at " << cut;
      ASSERT_EQ(examples, 6u);
    }
  }
}

TEST(PieceReaderTest, ShuffleIsAFunctionOfSeedEpochAndPiece) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(200));
  const Lease lease = WholeFile(files, 32);
  const PieceReaderOptions options = Options();
  const std::vector<FeatureId> ids = Read(files, lease, options).RowIds();
  EXPECT_EQ(Read(files, lease, options).RowIds(), ids);

  std::vector<FeatureId> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NE(sorted, ids);
  for (size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i);

  Lease other = lease;
  other.epoch = 1;
  EXPECT_NE(Read(files, other, options).RowIds(), ids);
  other = lease;
  other.piece.index = 1;
  EXPECT_NE(Read(files, other, options).RowIds(), ids);
  other = lease;
  other.number = 2;  // who reads, and when, must not matter
  EXPECT_EQ(Read(files, other, options).RowIds(), ids);
  PieceReaderOptions seeded = options;
  seeded.seed = 2;
  EXPECT_NE(Read(files, lease, seeded).RowIds(), ids);
}

TEST(PieceReaderTest, RowsStayWithTheirLabelsAndValues) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(100));
  for (const Batch& batch :
       Read(files, WholeFile(files, 7), Options()).batches) {
    const ExampleBatch& e = batch.examples;
    for (size_t i = 0; i < e.size(); ++i) {
      ASSERT_EQ(e.offsets[i + 1] - e.offsets[i], 2u);
      EXPECT_EQ(e.labels[i], e.ids[e.offsets[i]] % 2);
      EXPECT_EQ(e.ids[e.offsets[i] + 1], e.ids[e.offsets[i]]);
      EXPECT_EQ(e.values[e.offsets[i]], 1.0f);
      EXPECT_EQ(e.values[e.offsets[i] + 1], 0.5f);
    }
  }
}

TEST(PieceReaderTest, BatchesCrossWindowsAndShufflesDoNot) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(25));
  PieceReaderOptions options = Options();
  options.shuffle_rows = 10;
  const ReadResult read = Read(files, WholeFile(files, 7), options);
  std::vector<size_t> sizes;
  for (const Batch& batch : read.batches) {
    sizes.push_back(batch.examples.size());
  }
  EXPECT_THAT(sizes, ElementsAre(7, 7, 7, 4));
  const std::vector<FeatureId> ids = read.RowIds();
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i] / 10, i / 10) << "row " << ids[i] << " left its window";
  }
}

TEST(PieceReaderTest, AWindowThatEndsWithThePieceIsTheLast) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(20));
  PieceReaderOptions options = Options();
  options.shuffle_rows = 10;
  for (const bool backwards : {false, true}) {
    Lease lease = WholeFile(files, 5);
    lease.backwards = backwards;
    const ReadResult read = Read(files, lease, options);
    EXPECT_EQ(read.batches.size(), 4u);
    EXPECT_EQ(read.report.batches, 4u);
    EXPECT_EQ(read.report.examples, 20u);
  }
}

// A re-leased piece must give the very batches that the first worker saw.
TEST(PieceReaderTest, SkippedBatchesChangeNoOther) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(53));
  for (const uint32_t window : {1, 4, 10, 53, 1000}) {
    PieceReaderOptions options = Options();
    options.shuffle_rows = window;
    const Lease lease = WholeFile(files, 5);
    const ReadResult whole = Read(files, lease, options);
    ASSERT_EQ(whole.batches.size(), 11u);
    for (const bool backwards : {false, true}) {
      for (uint32_t skip = 0; skip < 1 << 11; skip += 37) {
        Lease part = lease;
        part.backwards = backwards;
        part.skip = {static_cast<uint8_t>(skip),
                     static_cast<uint8_t>(skip >> 8)};
        const ReadResult read = Read(files, part, options);
        std::vector<const Batch*> expected;
        for (const Batch& batch : whole.batches) {
          if ((skip >> batch.id.index & 1) == 0) expected.push_back(&batch);
        }
        if (backwards) std::reverse(expected.begin(), expected.end());
        ASSERT_EQ(read.batches.size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          ASSERT_TRUE(Same(read.batches[i], *expected[i]))
              << "batch " << ToString(expected[i]->id) << ", skip " << skip
              << ", windows of " << window << ", backwards " << backwards;
        }
        ASSERT_EQ(read.report.examples, 53u);
        ASSERT_EQ(read.report.batches, 11u);
      }
    }
  }
}

TEST(PieceReaderTest, BatchesLargerThanWindowsReadBackwardsToo) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(100));
  PieceReaderOptions options = Options();
  options.shuffle_rows = 8;
  Lease lease = WholeFile(files, 30);
  const ReadResult forwards = Read(files, lease, options);
  lease.backwards = true;
  const ReadResult backwards = Read(files, lease, options);
  ASSERT_EQ(forwards.batches.size(), 4u);
  ASSERT_EQ(backwards.batches.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(Same(forwards.batches[i], backwards.batches[3 - i]));
  }
}

TEST(PieceReaderTest, BackwardsStartsAMidFilePieceAtItsFirstLine) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(300));
  PieceReaderOptions options = Options();
  options.shuffle_rows = 16;
  Lease lease = LeaseOf({3, 0, 1001, 2503}, 10);
  const ReadResult forwards = Read(files, lease, options);
  lease.backwards = true;
  const ReadResult backwards = Read(files, lease, options);
  ASSERT_GT(forwards.batches.size(), 5u);
  ASSERT_EQ(forwards.batches.size(), backwards.batches.size());
  for (size_t i = 0; i < forwards.batches.size(); ++i) {
    EXPECT_TRUE(Same(forwards.batches[i],
                     backwards.batches[forwards.batches.size() - 1 - i]));
  }
}

TEST(PieceReaderTest, BadRowsAreCountedAndTakeNoPlace) {
  FakeFileSystem files;
  files.AddFile(kPath, "0 0:1\n\nbad\n1 1:1\n0 2:\n# note\n0 2:1\n");
  Lease lease = WholeFile(files, 2);
  for (const bool backwards : {false, true}) {
    lease.backwards = backwards;
    const ReadResult read = Read(files, lease, Options());
    EXPECT_EQ(read.report.examples, 3u);
    EXPECT_EQ(read.report.bad_rows, 2u);
    EXPECT_EQ(read.report.batches, 2u);
    EXPECT_EQ(read.report.first_error,
              "tr.libsvm:3: label 'bad' is not one of 0, 1, -1\n"
              "tr.libsvm:5: value of '2:' is not a finite number");
  }
}

TEST(PieceReaderTest, ErrorInsideAFileIsNamedByItsOffset) {
  FakeFileSystem files;
  files.AddFile(kPath, "0 0:1\n0 1:1\nbad\n");
  const ReadResult read = Read(files, LeaseOf({1, 0, 3, 16}, 2), Options());
  EXPECT_EQ(read.report.first_error,
            "tr.libsvm: byte 12: label 'bad' is not one of 0, 1, -1");
}

TEST(PieceReaderTest, ErrorsInsideAFileAreNamedByTheirLinesIfTheyAreCounted) {
  FakeFileSystem files;
  files.AddFile(kPath, "0 0:1\n0 1:1\nbad\n\n1 1:1\nworse\n");
  LineNumbers lines(&files);
  PieceReaderOptions options = Options();
  options.line_numbers = &lines;
  const ReadResult read = Read(files, LeaseOf({1, 0, 3, 29}, 2), options);
  EXPECT_EQ(read.report.first_error,
            "tr.libsvm:3: label 'bad' is not one of 0, 1, -1\n"
            "tr.libsvm:6: label 'worse' is not one of 0, 1, -1");
}

TEST(PieceReaderTest, ALineOverTheLimitIsABadRow) {
  FakeFileSystem files;
  files.AddFile(kPath, "0 0:1\n0 1:" + std::string(4 << 20, '1') + "\n1 2:1\n");
  const ReadResult read = Read(files, WholeFile(files, 2), Options());
  EXPECT_EQ(read.report.examples, 2u);
  EXPECT_EQ(read.report.bad_rows, 1u);
  EXPECT_EQ(read.report.first_error,
            "tr.libsvm:2: line longer than 1048576 bytes");
}

TEST(PieceReaderTest, APieceWithoutRowsHasNoBatch) {
  FakeFileSystem files;
  files.AddFile(kPath, "# nothing\n\nbad\n");
  for (const bool backwards : {false, true}) {
    Lease lease = WholeFile(files, 2);
    lease.backwards = backwards;
    const ReadResult read = Read(files, lease, Options());
    EXPECT_THAT(read.batches, IsEmpty());
    EXPECT_EQ(read.report.batches, 0u);
    EXPECT_EQ(read.report.bad_rows, 1u);
  }
}

TEST(PieceReaderTest, FilesThatChangedAreDataLossWithThePath) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(10));
  const Lease lease = WholeFile(files, 3);
  auto reader = PieceReader::Open(&files, kPath, lease, Options());
  ASSERT_TRUE(reader.ok());
  files.Truncate(kPath, 20);
  Batch batch;
  const absl::Status read = (*reader)->Next(&batch).status();
  EXPECT_EQ(read.code(), absl::StatusCode::kDataLoss) << read;
  EXPECT_THAT(std::string(read.message()), HasSubstr(kPath));
  const absl::Status open =
      PieceReader::Open(&files, kPath, lease, Options()).status();
  EXPECT_EQ(open.code(), absl::StatusCode::kDataLoss) << open;
  EXPECT_THAT(std::string(open.message()), HasSubstr(kPath));
}

// Opens the lease of a speculative copy: the piece is read twice, in windows of
// ten rows.
auto OpenBackwards(const FakeFileSystem& files) {
  PieceReaderOptions options = Options();
  options.shuffle_rows = 10;
  Lease lease = WholeFile(files, 10);
  lease.backwards = true;
  return PieceReader::Open(&files, kPath, lease, options);
}

TEST(PieceReaderTest, WindowsThatChangeBetweenThePassesAreDataLoss) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(100));
  auto reader = OpenBackwards(files);
  ASSERT_TRUE(reader.ok());
  Batch batch;
  ASSERT_TRUE((*reader)->Next(&batch).value());
  files.Truncate(kPath, 20);
  EXPECT_EQ((*reader)->Next(&batch).status().code(),
            absl::StatusCode::kDataLoss);
}

// As many rows, and the same number of features in each.
TEST(PieceReaderTest, RowsThatChangeBetweenThePassesAreDataLoss) {
  FakeFileSystem files;
  std::string text = Rows(100);
  files.AddFile(kPath, text);
  auto reader = OpenBackwards(files);
  ASSERT_TRUE(reader.ok());
  Batch batch;
  ASSERT_TRUE((*reader)->Next(&batch).value());
  text.replace(text.find("85:0.5"), 6, "85:0.7");
  files.Overwrite(kPath, text);
  const absl::Status changed = (*reader)->Next(&batch).status();
  EXPECT_EQ(changed.code(), absl::StatusCode::kDataLoss) << changed;
  EXPECT_THAT(std::string(changed.message()), HasSubstr(kPath));
}

TEST(PieceReaderTest, TheReportHasTheCrcOfThePiecesBytes) {
  FakeFileSystem files;
  const std::string text = Rows(1000);
  files.AddFile(kPath, text);
  for (const uint64_t piece_bytes : {0, 97, 5000}) {
    const std::vector<Piece> pieces =
        BuildPieceTable({{"tr", text.size()}}, piece_bytes).value();
    for (const Piece& piece : pieces) {
      for (const bool backwards : {false, true}) {
        Lease lease = LeaseOf(piece, 7);
        lease.backwards = backwards;
        EXPECT_EQ(Read(files, lease, Options()).report.crc32c,
                  Crc32c(text.substr(piece.begin, piece.end - piece.begin)));
      }
    }
  }
}

TEST(PieceReaderTest, ASizeThatMovedIsDataLossWithThePath) {
  FakeFileSystem files;
  const std::string text = Rows(10);
  files.AddFile(kPath, text);
  const Lease lease = WholeFile(files, 3);
  const auto open = [&] {
    return PieceReader::Open(&files, kPath, lease, Options(), text.size());
  };
  auto reader = open();
  ASSERT_TRUE(reader.ok()) << reader.status();
  files.AddFile(kPath, text + "1 5:1\n");
  const absl::Status grown = open().status();
  EXPECT_EQ(grown.code(), absl::StatusCode::kDataLoss) << grown;
  EXPECT_THAT(std::string(grown.message()), HasSubstr(kPath));
  // A file that changes while it is read is found when it has been read.
  Batch batch;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = (*reader)->Next(&batch);
  EXPECT_EQ(more.status().code(), absl::StatusCode::kDataLoss) << more.status();
  EXPECT_THAT(std::string(more.status().message()), HasSubstr(kPath));
}

TEST(PieceReaderTest, RefusesWhatMakesNoSense) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(3));
  const auto code = [&](const Lease& lease, const PieceReaderOptions& options) {
    return PieceReader::Open(&files, kPath, lease, options).status().code();
  };
  const Lease lease = WholeFile(files, 2);
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  PieceReaderOptions options = Options();
  options.field_size = 0;
  EXPECT_EQ(code(lease, options), kInvalid);
  options = Options();
  options.shuffle_rows = 0;
  EXPECT_EQ(code(lease, options), kInvalid);
  options = Options();
  options.shuffle_rows = 1u << 31;
  EXPECT_EQ(code(lease, options), kInvalid);
  Lease bad = lease;
  bad.batch_size = 0;
  EXPECT_EQ(code(bad, Options()), kInvalid);
  bad = lease;
  std::swap(bad.piece.begin, bad.piece.end);
  EXPECT_EQ(code(bad, Options()), kInvalid);
  EXPECT_EQ(
      PieceReader::Open(&files, "/none", lease, Options()).status().code(),
      absl::StatusCode::kNotFound);
}

TEST(PieceReaderTest, CancelEndsReading) {
  FakeFileSystem files;
  files.AddFile(kPath, Rows(10));
  auto reader =
      PieceReader::Open(&files, kPath, WholeFile(files, 3), Options());
  ASSERT_TRUE(reader.ok());
  (*reader)->Cancel();
  Batch batch;
  EXPECT_EQ((*reader)->Next(&batch).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(PieceReaderTest, RandomBytesAreRowsOrBadRowsInExactlyOnePiece) {
  const Philox random(99);
  for (uint64_t file = 0; file < 60; ++file) {
    std::string text;
    while (text.size() < 3000) {
      const uint32_t r = random(file, text.size())[0];
      if (r % 3 == 0) absl::StrAppend(&text, r % 2, " ", r % 9, ":1\n");
      if (r % 3 == 1) text += static_cast<char>(r >> 8);
      if (r % 3 == 2) text += "01: \n\r#.-e9"[(r >> 8) % 11];
    }
    FakeFileSystem files;
    files.AddFile(kPath, text);
    uint64_t rows_of_whole = 0;
    uint64_t bad_of_whole = 0;
    for (const uint64_t piece_bytes : {0, 997, 64}) {
      uint64_t rows = 0;
      uint64_t bad = 0;
      const std::vector<Piece> pieces =
          BuildPieceTable({{"tr", text.size()}}, piece_bytes).value();
      for (const Piece& piece : pieces) {
        const ReadResult read = Read(files, LeaseOf(piece, 8), Options());
        rows += read.report.examples;
        bad += read.report.bad_rows;
      }
      if (piece_bytes == 0) {
        rows_of_whole = rows;
        bad_of_whole = bad;
      }
      ASSERT_EQ(rows, rows_of_whole);
      ASSERT_EQ(bad, bad_of_whole);
    }
    EXPECT_GT(rows_of_whole, 0u);
  }
}

}  // namespace
}  // namespace shoal
