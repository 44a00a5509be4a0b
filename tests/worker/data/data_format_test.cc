#include "worker/data/data_format.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/worker/data/encoded_data.h"

namespace shoal {
namespace {

absl::StatusOr<FileFormat> Detect(const std::string& bytes,
                                  DataFormat wanted = DataFormat::kAuto) {
  return DetectFormat(MemoryFile(bytes), wanted);
}

DataFormat FormatOf(const std::string& bytes) {
  const auto plain = Detect(bytes);
  if (!plain.ok()) return DataFormat::kAuto;
  EXPECT_EQ(plain->compression, Compression::kNone);
  for (const std::string& compressed : {Gzip(bytes), Zstd(bytes)}) {
    const auto found = Detect(compressed);
    EXPECT_TRUE(found.ok()) << found.status();
    if (!found.ok()) continue;
    EXPECT_EQ(found->format, plain->format);
  }
  EXPECT_EQ(Detect(Gzip(bytes))->compression, Compression::kGzip);
  EXPECT_EQ(Detect(Zstd(bytes))->compression, Compression::kZstd);
  return plain->format;
}

std::string CriteoLine(absl::string_view first_integer) {
  std::string line = absl::StrCat("1\t", first_integer);
  for (int i = 0; i < 12; ++i) absl::StrAppend(&line, "\t", i);
  for (int i = 0; i < 26; ++i)
    absl::StrAppend(&line, "\t", i == 3 ? "a:b" : "");
  return line + "\n";
}

TEST(DataFormatTest, IsRecognisedByWhatTheFileHolds) {
  for (const char* text :
       {"1 3:0.5\n", "-1\t3:1\t4:1\n", "0\n", "+1 7:1", "  1 1:1\r\n",
        "# a comment\n\n1 1:1\n", "\n", "# nothing\n", "label ids\n1 2:3\n"}) {
    EXPECT_EQ(FormatOf(text), DataFormat::kLibSvm) << text;
  }
  for (const char* text :
       {"1 0:3:0.5\n", "-1\t2:3:1\t4:1:1\n", "0\n1\n1 0:1:1\n",
        "# none\n\n1 1:1:x\n", "bad\n1 2:3:1\n", "2:3:1 0:1:0.5\n",
        "7:1:1\r\n"}) {
    EXPECT_EQ(FormatOf(text), DataFormat::kLibFfm) << text;
  }
  EXPECT_EQ(FormatOf("0\n1\n"), DataFormat::kLibSvm);
  EXPECT_EQ(FormatOf("0\nwords\n"), DataFormat::kLibSvm);
  // Rows without labels.
  for (const char* text : {"3:0.5\n", "3:1\t4:1\n", " 7:1\r\n"}) {
    EXPECT_EQ(FormatOf(text), DataFormat::kLibSvm) << text;
  }
  EXPECT_EQ(FormatOf(CriteoLine("5").substr(1)), DataFormat::kCriteo);
  EXPECT_EQ(FormatOf(CriteoLine("5").substr(2)), DataFormat::kCriteo);
  EXPECT_EQ(FormatOf(CriteoLine("").substr(2)), DataFormat::kCriteo);
  EXPECT_EQ(FormatOf(CriteoLine("").substr(2) + "1 2:3\n"),
            DataFormat::kCriteo);
  std::string shorter = "1";
  for (int i = 1; i <= 38; ++i) absl::StrAppend(&shorter, "\t", i, ":1");
  EXPECT_EQ(FormatOf(shorter), DataFormat::kLibSvm) << "38 tabs";
  EXPECT_EQ(FormatOf(CriteoLine("5")), DataFormat::kCriteo);
  EXPECT_EQ(FormatOf(CriteoLine("")), DataFormat::kCriteo);
  EXPECT_EQ(FormatOf("1" + std::string(39, '\t') + "\n"), DataFormat::kCriteo)
      << "all columns are missing";
  std::string libsvm = "1";
  for (int i = 1; i <= 39; ++i) absl::StrAppend(&libsvm, "\t", i, ":1");
  EXPECT_EQ(FormatOf(libsvm), DataFormat::kLibSvm) << "39 tabs";
  EXPECT_EQ(FormatOf(TfRecord("")), DataFormat::kTfRecord);
  EXPECT_EQ(FormatOf(TfRecord(TfExampleRow(1, {1}, {1}))),
            DataFormat::kTfRecord);
}

TEST(DataFormatTest, TellsTheKindOfIdsOnceThereIsARow) {
  const auto ids = [](const std::string& bytes,
                      DataFormat wanted = DataFormat::kAuto) {
    const IdKind kind = Detect(bytes, wanted)->ids;
    EXPECT_EQ(Detect(Gzip(bytes), wanted)->ids, kind);
    return kind;
  };
  EXPECT_EQ(ids(CriteoLine("5")), IdKind::kHashed);
  EXPECT_EQ(ids("bad\n" + CriteoLine("5").substr(2)), IdKind::kHashed);
  for (const std::string& rows :
       {std::string("1 3:0.5\n"), std::string("3:0.5\n"),
        std::string("1 0:3:0.5\n"), TfRecord(TfExampleRow(1, {1}, {1}))}) {
    EXPECT_EQ(ids(rows), IdKind::kWritten) << rows;
  }
  for (const char* no_row : {"\n", "# nothing\n", "0\n1\n"}) {
    EXPECT_EQ(ids(no_row), IdKind::kUnknown) << no_row;
  }
  EXPECT_EQ(ids("0\n", DataFormat::kCriteo), IdKind::kHashed);
  EXPECT_EQ(ids("0\n", DataFormat::kLibSvm), IdKind::kWritten);
}

TEST(DataFormatTest, TheLengthOfARecordMayLookLikeGzip) {
  const std::string record = TfRecord(std::string(0x8b1f, 'x'));
  ASSERT_EQ(record.substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(FormatOf(record), DataFormat::kTfRecord);
}

TEST(DataFormatTest, UnknownBytesAreQuotedWithWhatToDo) {
  const absl::Status status = Detect("a,b,c\n\x01 2\n").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      status.message(),
      "the file begins with 'a,b,c\\n\\x01 2\\n', which is neither TFRecord "
      "(the checksum of a length), nor a line of LibSVM ([label] id:value ...) "
      "or LibFFM ([label] field:id:value ...) or Criteo (40 columns, or 39 "
      "without a label), nor gzip or zstd of these; name other files, or set "
      "--data_format if it is one of them");
  EXPECT_EQ(FormatOf("{\"label\": 1}\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf("1,2,3\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf("1 a b\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf("12:30:01 started\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf("a:1 b:2\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf("1:2 0:1:2\n"), DataFormat::kAuto) << "of two formats";
  EXPECT_EQ(FormatOf("12:30 a line of a log\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf("1:2:3:4\n"), DataFormat::kAuto);
  EXPECT_EQ(FormatOf(std::string(38, '\t') + "\xff\n"), DataFormat::kAuto);
  EXPECT_EQ(Detect(Gzip("a,b,c\n")).status().code(),
            absl::StatusCode::kInvalidArgument);
  std::string damaged = TfRecord("x");
  damaged[8] ^= 1;
  EXPECT_EQ(FormatOf(damaged), DataFormat::kAuto);
}

TEST(DataFormatTest, AFormatThatIsAskedForIsTaken) {
  EXPECT_EQ(Detect("a,b,c\n", DataFormat::kLibSvm)->format,
            DataFormat::kLibSvm);
  const auto gzip = Detect(Gzip("1 2:3\n"), DataFormat::kTfRecord);
  EXPECT_EQ(gzip->format, DataFormat::kTfRecord);
  EXPECT_EQ(gzip->compression, Compression::kGzip);
}

TEST(DataFormatTest, OnlyTheHeadOfAFileIsLookedAt) {
  // What lies behind 64 KiB decides nothing, and a file cut there is no error.
  const SameRows rows = MakeSameRows(60000, 7, 1000);
  const std::string gzip = Gzip(rows.tfrecord);
  ASSERT_GT(gzip.size(), 64u << 10);
  EXPECT_EQ(Detect(gzip)->format, DataFormat::kTfRecord);
  EXPECT_EQ(Detect("1 2:3" + std::string(1 << 20, ' '))->format,
            DataFormat::kLibSvm);
}

TEST(DataFormatTest, DamagedSmallFilesAreNamedDamaged) {
  std::string gzip = Gzip("1 2:3\n");
  gzip.resize(gzip.size() - 1);
  EXPECT_EQ(Detect(gzip).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shoal
