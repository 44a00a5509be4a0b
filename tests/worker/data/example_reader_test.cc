#include "worker/data/example_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/encoded_data.h"
#include "worker/data/open_examples.h"

namespace shoal {
namespace {

class KeptBadRows final : public BadRowSink {
 public:
  absl::Status Add(const BadRow& row) override {
    rows.push_back(absl::StrCat(row.number, "@", row.offset, " ", row.reason));
    return fail_at == rows.size() ? absl::ResourceExhaustedError("full")
                                  : absl::OkStatus();
  }
  std::vector<std::string> rows;
  size_t fail_at = 0;
};

// Rows of every kind: good, empty, bad, too long.
std::string MixedLines(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    if (i % 13 == 3) text += "\n";
    if (i % 17 == 5) text += "# note\n";
    if (i % 29 == 7) absl::StrAppend(&text, "bad ", i, "\n");
    if (i % 1000 == 11) text += "1 1:" + std::string(3000, '1') + "\n";
    absl::StrAppend(&text, i % 2, " ", i, ":1 ", i % 7, ":0.25\n");
  }
  return text + "bad at the end\n";
}

struct ReadOut {
  std::vector<size_t> windows;
  ExampleBatch rows;
  std::vector<std::string> bad;
  absl::Status status;
};

ReadOut ReadAll(const std::string& data, const FileFormat& format, int threads,
                uint32_t window) {
  const MemoryFile file(data);
  ExampleOptions options;
  options.feature_size = 1'000'000;
  options.field_size = 10;
  options.max_record_bytes = 2000;
  options.parse_threads = threads;
  auto reader = OpenExamples(&file, format, 0, file.size(), options).value();
  EXPECT_EQ(reader->CanSeek(), threads == 1);
  ReadOut out;
  KeptBadRows bad;
  uint64_t wanted = 0;
  do {
    wanted += window;
    out.status =
        reader->ReadRows(static_cast<uint32_t>(wanted), &out.rows, &bad);
    out.windows.push_back(out.rows.size());
    out.windows.push_back(bad.rows.size());
  } while (out.status.ok() && out.rows.size() == wanted);
  out.bad = bad.rows;
  return out;
}

void ExpectSame(const ReadOut& a, const ReadOut& b) {
  EXPECT_EQ(a.windows, b.windows);
  EXPECT_EQ(a.rows.labels, b.rows.labels);
  EXPECT_EQ(a.rows.offsets, b.rows.offsets);
  EXPECT_EQ(a.rows.ids, b.rows.ids);
  EXPECT_EQ(a.rows.values, b.rows.values);
  EXPECT_EQ(a.rows.fields, b.rows.fields);
  EXPECT_EQ(a.bad, b.bad);
  EXPECT_EQ(a.status, b.status);
}

TEST(ExampleReaderTest, ThreadsChangeNeitherRowsNorBadRowsNorTheirOrder) {
  const std::string text = MixedLines(30000);
  for (const FileFormat& format :
       {FileFormat{DataFormat::kLibSvm, Compression::kNone},
        FileFormat{DataFormat::kLibSvm, Compression::kGzip}}) {
    const std::string data =
        format.compression == Compression::kNone ? text : Gzip(text);
    for (const uint32_t window : {1, 999, 1 << 20}) {
      if (window == 1 && format.compression != Compression::kNone) continue;
      const ReadOut serial = ReadAll(data, format, 1, window);
      EXPECT_TRUE(serial.status.ok()) << serial.status;
      EXPECT_EQ(serial.rows.size(), 30000u);
      EXPECT_EQ(serial.bad.size(), 30000u / 29 + 1 + 30 + 1);
      for (const int threads : {2, 5}) {
        ExpectSame(ReadAll(data, format, threads, window), serial);
      }
    }
  }
}

TEST(ExampleReaderTest, BadRowsKeepTheirPlacesWhereTheyAreAskedTo) {
  const std::string text =
      "7 1:1\nbad\n1 2:1 3:1\n\n" + std::string(3000, 'x') + "\n0 4:1\nbad\n";
  const MemoryFile file(text);
  for (const int threads : {1, 2}) {
    for (const uint32_t most : {1, 2, 3, 6, 100}) {
      ExampleOptions options;
      options.field_size = 10;
      options.max_record_bytes = 2000;
      options.parse_threads = threads;
      options.any_label = true;
      options.bad_row_label = 2;
      auto reader =
          OpenExamples(&file, {DataFormat::kLibSvm, Compression::kNone}, 0,
                       file.size(), options)
              .value();
      ExampleBatch rows;
      KeptBadRows bad;
      for (uint32_t wanted = most; wanted < 200; wanted += most) {
        ASSERT_TRUE(reader->ReadRows(wanted, &rows, &bad).ok());
        // A bad row is told of in the call that gives its place.
        EXPECT_EQ(static_cast<size_t>(
                      std::count(rows.labels.begin(), rows.labels.end(), 2)),
                  bad.rows.size());
      }
      EXPECT_THAT(rows.labels, ::testing::ElementsAre(0, 2, 1, 2, 0, 2));
      EXPECT_THAT(rows.offsets, ::testing::ElementsAre(0, 1, 1, 3, 3, 4, 4));
      EXPECT_EQ(bad.rows.size(), 3u);
    }
  }
}

TEST(ExampleReaderTest, ErrorsOfTheRecordsComeBehindTheRowsBeforeThem) {
  const SameRows same = MakeSameRows(5000, 5, 1000);
  const std::string cut = same.tfrecord.substr(0, same.tfrecord.size() - 3);
  const FileFormat format{DataFormat::kTfRecord, Compression::kNone};
  const ReadOut serial = ReadAll(cut, format, 1, 100);
  EXPECT_EQ(serial.status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(serial.rows.size(), 4999u);
  ExpectSame(ReadAll(cut, format, 3, 100), serial);
}

TEST(ExampleReaderTest, AnErrorOfTheBadRowsEndsTheReading) {
  const std::string text = MixedLines(1000);
  const MemoryFile file(text);
  for (const int threads : {1, 2}) {
    ExampleOptions options;
    options.field_size = 10;
    options.parse_threads = threads;
    auto reader = OpenExamples(&file, {DataFormat::kLibSvm, Compression::kNone},
                               0, file.size(), options)
                      .value();
    KeptBadRows bad;
    bad.fail_at = 2;
    ExampleBatch rows;
    EXPECT_EQ(reader->ReadRows(1 << 20, &rows, &bad).code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(bad.rows.size(), 2u);
  }
}

TEST(ExampleReaderTest, MayBeDroppedWhileItReadsAhead) {
  const std::string text = MixedLines(30000);
  const MemoryFile file(text);
  ExampleOptions options;
  options.field_size = 10;
  options.parse_threads = 4;
  for (int i = 0; i < 20; ++i) {
    auto reader = OpenExamples(&file, {DataFormat::kLibSvm, Compression::kNone},
                               0, file.size(), options)
                      .value();
    ExampleBatch rows;
    ASSERT_TRUE(reader->ReadRows(i, &rows, nullptr).ok());
  }
}

TEST(ExampleReaderTest, LibSvmAndTfRecordGiveTheSameRows) {
  const SameRows same = MakeSameRows(3000, 9, 1000);
  const ReadOut lines = ReadAll(
      same.libsvm, {DataFormat::kLibSvm, Compression::kNone}, 1, 1 << 20);
  EXPECT_EQ(lines.rows.size(), 3000u);
  ExpectSame(ReadAll(same.tfrecord, {DataFormat::kTfRecord, Compression::kNone},
                     1, 1 << 20),
             lines);
}

TEST(ExampleReaderTest, EveryFormatHasTheLabelsOfTheOptions) {
  const struct {
    DataFormat format;
    std::string bytes;
  } files[] = {
      {DataFormat::kLibSvm, "2 1:1\n"},
      {DataFormat::kLibFfm, "2 0:1:1\n"},
      {DataFormat::kTfRecord, TfRecord(TfExampleRow(2, {1}, {1}))},
      {DataFormat::kCriteo, "2" + std::string(39, '\t') + "\n"},
  };
  ASSERT_EQ(std::size(files) + 1, std::size(kDataFormats)) << "kAuto is none";
  for (const auto& [format, bytes] : files) {
    for (const int num_labels : {2, 3}) {
      const MemoryFile file(bytes);
      ExampleOptions options;
      options.field_size = 39;
      options.num_labels = num_labels;
      auto reader = OpenExamples(&file, {format, Compression::kNone}, 0,
                                 bytes.size(), options);
      ASSERT_TRUE(reader.ok()) << reader.status();
      ExampleBatch rows;
      ASSERT_TRUE((*reader)->ReadRows(9, &rows, nullptr).ok());
      EXPECT_EQ(rows.labels, num_labels == 3 ? std::vector<uint8_t>{2}
                                             : std::vector<uint8_t>{})
          << ChoiceWord(kDataFormats, format);
    }
  }
}

TEST(ExampleReaderTest, LibFfmGivesTheRowsOfLibSvmWithTheirFields) {
  const SameRows same = MakeSameRows(3000, 9, 1000);
  const ReadOut lines = ReadAll(
      same.libsvm, {DataFormat::kLibSvm, Compression::kNone}, 1, 1 << 20);
  const FileFormat format{DataFormat::kLibFfm, Compression::kNone};
  const std::string libffm = ToLibFfm(same.libsvm);
  ReadOut named = ReadAll(libffm, format, 1, 1 << 20);
  ExpectSame(ReadAll(libffm, format, 3, 1 << 20), named);
  ASSERT_EQ(named.rows.fields.size(), lines.rows.ids.size());
  for (size_t i = 0; i < named.rows.size(); ++i) {
    for (uint32_t j = named.rows.offsets[i]; j < named.rows.offsets[i + 1];
         ++j) {
      ASSERT_EQ(named.rows.fields[j], j - named.rows.offsets[i]);
    }
  }
  named.rows.fields.clear();
  ExpectSame(named, lines);
}

TEST(ExampleReaderTest, CriteoNeedsItsFields) {
  const MemoryFile file("");
  ExampleOptions options;
  options.field_size = 38;
  const FileFormat format{DataFormat::kCriteo, Compression::kNone};
  EXPECT_EQ(OpenExamples(&file, format, 0, 0, options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options.field_size = 39;
  EXPECT_TRUE(OpenExamples(&file, format, 0, 0, options).ok());
}

}  // namespace
}  // namespace shoal
