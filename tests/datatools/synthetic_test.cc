#include "datatools/synthetic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/record_framing.h"
#include "core/metrics.h"
#include "datatools/tfrecord_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "worker/data/libsvm_parser.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

GenerateOptions SmallOptions() {
  GenerateOptions options;
  options.rows = 3000;
  options.test_rows = 1000;
  options.fields = 9;
  options.ids = 5000;
  options.files = 4;
  options.out_dir = "/out";
  return options;
}

GenerateReport Generate(FakeFileSystem* files, const GenerateOptions& options) {
  const auto report = GenerateData(files, options, [](uint64_t, uint64_t) {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.value_or(GenerateReport());
}

std::string TrainingText(const FakeFileSystem& files) {
  const std::vector<FileInfo> listed = files.List("/out/tr-*").value();
  std::string text;
  for (const FileInfo& file : listed) {
    text += files.Contents(file.path).value();
  }
  return text;
}

ExampleBatch Parse(const std::string& text, const GenerateOptions& options) {
  LibSvmParser parser(options.ids, options.fields);
  ExampleBatch examples;
  std::string reason;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    EXPECT_EQ(parser.Parse(line, &examples, &reason), LibSvmParser::Line::kRow)
        << reason;
  }
  return examples;
}

TEST(SyntheticTest, TheSameSeedGivesTheSameBytes) {
  FakeFileSystem a, b, c;
  GenerateOptions options = SmallOptions();
  Generate(&a, options);
  Generate(&b, options);
  options.seed = 2;
  Generate(&c, options);
  for (const char* path : {"/out/tr-00000.libsvm", "/out/tr-00003.libsvm",
                           "/out/te.libsvm", "/out/_meta.json"}) {
    EXPECT_EQ(a.Contents(path).value(), b.Contents(path).value()) << path;
    EXPECT_NE(a.Contents(path).value(), c.Contents(path).value()) << path;
  }
}

// The rows of LibSVM text as TFRecord.
std::string AsTfRecords(const std::string& text,
                        const GenerateOptions& options) {
  const ExampleBatch rows = Parse(text, options);
  std::string records;
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t begin = rows.offsets[i];
    const size_t size = rows.offsets[i + 1] - begin;
    std::string payload;
    AppendTfExample(rows.labels[i],
                    absl::MakeSpan(rows.ids).subspan(begin, size),
                    absl::MakeSpan(rows.values).subspan(begin, size), &payload);
    AppendRecord(payload, &records);
  }
  return records;
}

TEST(SyntheticTest, TfRecordsHoldTheExamplesOfTheText) {
  FakeFileSystem text, records;
  GenerateOptions options = SmallOptions();
  Generate(&text, options);
  options.format = ExampleFormat::kTfRecord;
  const GenerateReport report = Generate(&records, options);
  EXPECT_EQ(TrainingText(records), AsTfRecords(TrainingText(text), options));
  const std::string test = records.Contents("/out/te.tfrecords").value();
  EXPECT_EQ(test,
            AsTfRecords(text.Contents("/out/te.libsvm").value(), options));
  EXPECT_EQ(report.bytes, TrainingText(records).size() + test.size());
  EXPECT_EQ(records.List("/out").value().size(), 5u);
}

TEST(SyntheticTest, FilesOfTheOtherFormatAreNotMixedIn) {
  FakeFileSystem files;
  GenerateOptions options = SmallOptions();
  files.AddFile("/out/te.libsvm", "1 2:3\n");
  options.format = ExampleFormat::kTfRecord;
  const absl::Status status =
      GenerateData(&files, options, [](uint64_t, uint64_t) {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("te.libsvm"));
}

TEST(SyntheticTest, RowsDependOnSeedAndNumberAlone) {
  FakeFileSystem few, many;
  GenerateOptions options = SmallOptions();
  Generate(&few, options);
  options.rows = 5000;
  options.test_rows = 1500;
  options.files = 1;
  Generate(&many, options);
  const std::string all = TrainingText(many);
  EXPECT_EQ(all.substr(0, TrainingText(few).size()), TrainingText(few));
  const std::string test = few.Contents("/out/te.libsvm").value();
  EXPECT_EQ(many.Contents("/out/te.libsvm").value().substr(0, test.size()),
            test);
  EXPECT_NE(all.substr(0, 1000), test.substr(0, 1000));
}

TEST(SyntheticTest, FilesHoldTheRowsOfTheOptions) {
  FakeFileSystem files;
  const GenerateOptions options = SmallOptions();
  const GenerateReport report = Generate(&files, options);
  const ExampleBatch train = Parse(TrainingText(files), options);
  ASSERT_EQ(train.size(), options.rows);
  EXPECT_EQ(report.rows, options.rows);
  const std::string test = files.Contents("/out/te.libsvm").value();
  EXPECT_EQ(Parse(test, options).size(), options.test_rows);
  EXPECT_EQ(report.bytes, TrainingText(files).size() + test.size());
  for (size_t i = 0; i < train.size(); ++i) {
    ASSERT_EQ(train.offsets[i + 1] - train.offsets[i], 9u);
    for (uint32_t f = 0; f < 9; ++f) {
      const FeatureId id = train.ids[train.offsets[i] + f];
      const float value = train.values[train.offsets[i] + f];
      if (f < 3) {  // numeric: a third
        ASSERT_EQ(id, f);
        ASSERT_GE(value, 0);
        ASSERT_LT(value, 1);
      } else {  // 4,997 ids over six fields: 833 or 832 each
        ASSERT_GE(id, 3 + 832 * (f - 3));
        ASSERT_LT(id, 3 + 833 * (f - 2));
        ASSERT_EQ(value, 1);
      }
    }
  }
}

TEST(SyntheticTest, ListingTheDirectoryLeavesTheMetaFileOut) {
  FakeFileSystem files;
  Generate(&files, SmallOptions());
  const std::vector<FileInfo> listed = files.List("/out").value();
  EXPECT_EQ(listed.size(), 5u);
  const std::string meta = files.Contents("/out/_meta.json").value();
  EXPECT_THAT(meta, HasSubstr("\"best_auc\": 0."));
  EXPECT_THAT(meta, HasSubstr("\"seed\": 1,\n"));
}

TEST(SyntheticTest, BestAucIsThatOfThePlantedLogitsAndInBounds) {
  for (const uint64_t seed : {1, 2, 3}) {
    for (const double zipf : {0.0, 1.1, 1.5}) {
      for (const int fields : {4, 39}) {
        FakeFileSystem files;
        GenerateOptions options = SmallOptions();
        options.rows = 1;
        options.test_rows = 20000;
        options.files = 1;
        options.seed = seed;
        options.zipf = zipf;
        options.fields = fields;
        options.ids = 100000;
        const GenerateReport report = Generate(&files, options);
        EXPECT_GT(report.best_auc, 0.74)
            << seed << " " << zipf << " " << fields;
        EXPECT_LT(report.best_auc, 0.81)
            << seed << " " << zipf << " " << fields;
        EXPECT_NEAR(report.positive_rate, 0.26, 0.04);
        EXPECT_LT(report.best_logloss, 0.60);
      }
    }
  }
}

TEST(SyntheticTest, LabelsFollowThePlantedChances) {
  const PlantedModel model({6, 2, 1000, 1.1, 5});
  PlantedRow row;
  double expected = 0;
  double ones = 0;
  double variance = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    model.Draw(i, &row);
    const double p = 1 / (1 + std::exp(-row.logit));
    expected += p;
    variance += p * (1 - p);
    ones += row.label;
  }
  EXPECT_NEAR(ones, expected, 5 * std::sqrt(variance));
}

// Chances of Zipf's law, the commonest rank first.
std::vector<double> ZipfChances(int n, double exponent) {
  std::vector<double> chances;
  double sum = 0;
  for (int rank = 1; rank <= n; ++rank) {
    chances.push_back(std::pow(rank, -exponent));
    sum += chances.back();
  }
  for (double& chance : chances) chance /= sum;
  return chances;
}

TEST(SyntheticTest, CategoriesFollowZipfsLaw) {
  constexpr int kRows = 40000;
  for (const double exponent : {0.0, 0.7, 1.0, 1.2, 2.5}) {
    const PlantedModel model({2, 0, 200, exponent, 3});  // 100 ids a field
    std::map<FeatureId, int> counts;
    PlantedRow row;
    for (int i = 0; i < kRows; ++i) {
      model.Draw(i, &row);
      ++counts[row.ids[1]];
    }
    const std::vector<double> chances = ZipfChances(100, exponent);
    for (int rank = 0; rank < 100; ++rank) {
      const double mean = chances[rank] * kRows;
      EXPECT_NEAR(counts[100 + rank], mean, 5 * std::sqrt(mean) + 5)
          << "rank " << rank + 1 << " of exponent " << exponent;
    }
  }
}

TEST(SyntheticTest, ProgressEndsAtTheTotal) {
  FakeFileSystem files;
  uint64_t last = 0;
  ASSERT_TRUE(
      GenerateData(&files, SmallOptions(), [&](uint64_t done, uint64_t total) {
        EXPECT_EQ(total, 4000u);
        EXPECT_GT(done, last);
        last = done;
      }).ok());
  EXPECT_EQ(last, 4000u);
}

TEST(SyntheticTest, FilesOfALargerRunAreNotMixedIn) {
  FakeFileSystem files;
  GenerateOptions options = SmallOptions();
  Generate(&files, options);
  options.files = 2;
  const absl::Status status =
      GenerateData(&files, options, [](uint64_t, uint64_t) {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("tr-00000.libsvm"));
}

TEST(SyntheticTest, OnlyTheSameDataIsReplaced) {
  FakeFileSystem files;
  GenerateOptions options = SmallOptions();
  Generate(&files, options);
  const std::string made = TrainingText(files);
  Generate(&files, options);
  EXPECT_EQ(TrainingText(files), made);
  options.seed = 7;
  const auto refused = [&] {
    return GenerateData(&files, options, [](uint64_t, uint64_t) {}).status();
  };
  EXPECT_EQ(refused().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused().message()),
              HasSubstr("tr-00000.libsvm is there already"));
  EXPECT_EQ(TrainingText(files), made);
  // Files without their options may be of any run.
  options = SmallOptions();
  ASSERT_TRUE(files.Remove("/out/_meta.json").ok());
  EXPECT_EQ(refused().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SyntheticTest, AFullDiskIsAnErrorAndLeavesNoPartOfAFile) {
  FakeFileSystem files;
  files.LimitWrites("/out/.te.libsvm.partial", 100);
  const absl::Status status =
      GenerateData(&files, SmallOptions(), [](uint64_t, uint64_t) {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_FALSE(files.Contents("/out/_meta.json").ok());
  EXPECT_FALSE(files.Contents("/out/te.libsvm").ok());
  EXPECT_FALSE(files.Contents("/out/.te.libsvm.partial").ok());
}

TEST(SyntheticTest, NoFileHasItsNameBeforeAllAreWhole) {
  FakeFileSystem files;
  const auto report =
      GenerateData(&files, SmallOptions(), [&](uint64_t, uint64_t) {
        EXPECT_FALSE(files.List("/out/tr-*").ok());
        EXPECT_FALSE(files.List("/out/te.*").ok());
      });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(files.List("/out/tr-*").value().size(), 4u);
}

TEST(SyntheticTest, ARunThatWasCutOffAmongItsNamesCanBeRepeated) {
  FakeFileSystem files, whole;
  const GenerateOptions options = SmallOptions();
  Generate(&whole, options);
  files.LimitWrites("/out/_meta.json", 0);
  ASSERT_FALSE(
      GenerateData(&files, options, [](uint64_t, uint64_t) {}).ok());
  EXPECT_TRUE(files.Contents("/out/tr-00000.libsvm").ok());
  ASSERT_TRUE(files.Remove("/out/tr-00003.libsvm").ok());
  ASSERT_TRUE(files.Remove("/out/te.libsvm").ok());
  files.LimitWrites("/out/_meta.json", 1 << 20);
  // It is not taken for the data of other flags either.
  GenerateOptions other = options;
  other.seed = 7;
  EXPECT_EQ(
      GenerateData(&files, other, [](uint64_t, uint64_t) {}).status().code(),
      absl::StatusCode::kFailedPrecondition);
  Generate(&files, options);
  EXPECT_EQ(TrainingText(files), TrainingText(whole));
  EXPECT_EQ(files.ListDirectory("/out").value().size(),
            whole.ListDirectory("/out").value().size());
}

TEST(SyntheticTest, HiddenFilesOfARunThatWasCutOffAreRemoved) {
  FakeFileSystem files;
  for (const char* name : {".tr-00000.libsvm.partial", ".te.libsvm.partial",
                           ".tr-00077.tfrecords.partial"}) {
    files.AddFile(absl::StrCat("/out/", name), "1 2:3\n4 5");
  }
  files.AddFile("/out/.another", "x");
  Generate(&files, SmallOptions());
  EXPECT_EQ(files.ListDirectory("/out").value().size(), 7u);
  EXPECT_TRUE(files.Contents("/out/.another").ok());
}

TEST(SyntheticTest, OptionsOutOfRangeAreNamed) {
  const auto message = [](auto change) {
    GenerateOptions options = SmallOptions();
    change(&options);
    const absl::Status status = options.Validate();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  using O = GenerateOptions;
  EXPECT_THAT(message([](O* o) { o->rows = 0; }), HasSubstr("rows"));
  EXPECT_THAT(message([](O* o) { o->test_rows = 0; }), HasSubstr("test_rows"));
  EXPECT_THAT(message([](O* o) { o->fields = 0; }), HasSubstr("fields"));
  EXPECT_THAT(message([](O* o) { o->numeric_fields = 10; }),
              HasSubstr("numeric_fields"));
  EXPECT_THAT(message([](O* o) { o->ids = 8; }), HasSubstr("ids"));
  EXPECT_THAT(message([](O* o) { o->zipf = NAN; }), HasSubstr("zipf"));
  EXPECT_THAT(message([](O* o) { o->files = 0; }), HasSubstr("files"));
  EXPECT_THAT(message([](O* o) { o->out_dir = ""; }), HasSubstr("out_dir"));
  EXPECT_THAT(message([](O* o) { o->out_dir = "a,b"; }), HasSubstr("out_dir"));
}

TEST(SyntheticTest, AllNumericAndOneFieldWork) {
  FakeFileSystem files;
  GenerateOptions options = SmallOptions();
  options.fields = 1;
  options.numeric_fields = 1;
  options.ids = 1;
  EXPECT_GT(Generate(&files, options).best_auc, 0.6);
  options.out_dir = "/alike";
  options.numeric_fields = 0;  // all rows alike
  EXPECT_EQ(Generate(&files, options).best_auc, 0.5);
}

}  // namespace
}  // namespace shoal
