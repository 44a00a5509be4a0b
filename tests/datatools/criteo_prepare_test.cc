#include "datatools/criteo_prepare.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "worker/data/criteo_row.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Code = absl::StatusCode;

// A raw line: I1, C1, and 37 columns that are missing.
std::string Raw(int label, const std::string& i1, const std::string& c1) {
  return absl::StrCat(label, "\t", i1, std::string(kCriteoIntegers, '\t'), c1,
                      std::string(kCriteoCategories - 1, '\t'), "\n");
}

std::string ManyLines(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += Raw(i % 4 == 0, absl::StrCat(i % 20), absl::StrCat("v", i % 7));
  }
  return text;
}

CriteoPrepareOptions Options() {
  CriteoPrepareOptions options;
  options.input = "/raw/*.tsv";
  options.out_dir = "/out";
  options.cutoff = 2;
  return options;
}

absl::StatusOr<CriteoPrepareReport> Prepare(
    FakeFileSystem* files, const CriteoPrepareOptions& options) {
  return PrepareCriteo(files, options, [](const CriteoPrepareProgress&) {});
}

std::vector<std::string> LinesOf(const FakeFileSystem& files,
                                 const std::string& path) {
  return absl::StrSplit(files.Contents(path).value(), '\n', absl::SkipEmpty());
}

std::vector<std::string> Names(const FakeFileSystem& files) {
  std::vector<std::string> names;
  const auto entries = files.ListDirectory("/out");
  EXPECT_TRUE(entries.ok()) << entries.status();
  for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
  return names;
}

TEST(CriteoPrepareTest, WritesTrainingAndValidationRows) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(2000));
  const auto report = Prepare(&files, Options());
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(Names(files),
              ::testing::ElementsAre("_features.txt", "tr-00000.libsvm",
                                     "va-00000.libsvm"));
  const auto train = LinesOf(files, "/out/tr-00000.libsvm");
  const auto validation = LinesOf(files, "/out/va-00000.libsvm");
  EXPECT_EQ(train.size(), report->train.rows);
  EXPECT_EQ(validation.size(), report->validation.rows);
  EXPECT_EQ(train.size() + validation.size(), 2000u);
  EXPECT_NEAR(validation.size(), 200.0, 60);  // deviation 13
  EXPECT_EQ(report->train.ones + report->validation.ones, 500u);
  EXPECT_EQ(report->feature_size, 13u + 26 + 7);
  EXPECT_EQ(report->categories, 7u);
  EXPECT_EQ(report->distinct_values, 7u);
  EXPECT_EQ(report->fitted_rows, 2000u);
  EXPECT_EQ(report->train.bytes,
            files.Contents("/out/tr-00000.libsvm").value().size());
}

TEST(CriteoPrepareTest, TheSeedDecidesWhichRowsValidate) {
  const auto run = [](uint64_t seed, const char* path) {
    FakeFileSystem files;
    files.AddFile("/raw/a.tsv", ManyLines(500));
    CriteoPrepareOptions options = Options();
    options.seed = seed;
    EXPECT_TRUE(Prepare(&files, options).ok());
    return files.Contents(path).value();
  };
  EXPECT_EQ(run(1, "/out/va-00000.libsvm"), run(1, "/out/va-00000.libsvm"));
  EXPECT_NE(run(1, "/out/va-00000.libsvm"), run(2, "/out/va-00000.libsvm"));
  EXPECT_EQ(run(1, "/out/_features.txt"), run(2, "/out/_features.txt"));
}

TEST(CriteoPrepareTest, HowTheInputIsCutIntoFilesDoesNotMatter) {
  FakeFileSystem whole, cut;
  whole.AddFile("/raw/a.tsv",
                Raw(0, "1", "x") + Raw(1, "3", "x") + Raw(0, "", "y"));
  cut.AddFile("/raw/a.tsv", Raw(0, "1", "x"));
  cut.AddFile("/raw/b.tsv", "");
  cut.AddFile("/raw/c.tsv", Raw(1, "3", "x") + "\n" + Raw(0, "", "y"));
  CriteoPrepareOptions options = Options();
  options.val_share = 0;
  ASSERT_TRUE(Prepare(&whole, options).ok());
  ASSERT_TRUE(Prepare(&cut, options).ok());
  for (const char* path : {"/out/_features.txt", "/out/tr-00000.libsvm"}) {
    EXPECT_EQ(whole.Contents(path).value(), cut.Contents(path).value());
  }
  EXPECT_THAT(LinesOf(whole, "/out/tr-00000.libsvm")[1],
              StartsWith("1 1:1 2:0 3:0 "));
}

TEST(CriteoPrepareTest, FilesKeptApartAreEncodedByTheInputAlone) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", Raw(0, "0", "x") + Raw(1, "4", "x"));
  files.AddFile("/val/v.tsv",
                Raw(1, "8", "x") + Raw(1, "2", "z") + Raw(0, "2", "z"));
  files.AddFile("/test/t.tsv", Raw(0, "2", "x"));
  CriteoPrepareOptions options = Options();
  options.val_share = 0;
  options.val_input = "/val";
  options.test_input = "/test/t.tsv";
  const auto report = Prepare(&files, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->train.rows, 2u);
  const auto validation = LinesOf(files, "/out/va-00000.libsvm");
  ASSERT_EQ(validation.size(), 3u);
  EXPECT_THAT(validation[0], StartsWith("1 1:2 2:0"));
  EXPECT_THAT(validation[0], HasSubstr(" 13:0 14:1 15:1 "));
  EXPECT_THAT(validation[1], HasSubstr(" 13:0 13:1 15:1 "));  // z is unknown
  EXPECT_THAT(LinesOf(files, "/out/te-00000.libsvm")[0],
              StartsWith("0 1:0.5 "));
}

TEST(CriteoPrepareTest, AFittedEncodingIsAppliedAsItIs) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(100));
  CriteoPrepareOptions options = Options();
  options.val_share = 0;
  ASSERT_TRUE(Prepare(&files, options).ok());

  files.AddFile("/more/b.tsv", Raw(1, "100", "new") + Raw(0, "3", "v0"));
  options.input = "/more";
  options.features = "/out/_features.txt";
  options.out_dir = "/out2";
  options.cutoff = 1;  // plays no part
  const auto report = Prepare(&files, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->fitted_rows, 100u);
  EXPECT_EQ(report->distinct_values, 0u);
  EXPECT_EQ(files.Contents("/out2/_features.txt").value(),
            files.Contents("/out/_features.txt").value());
  const auto rows = LinesOf(files, "/out2/tr-00000.libsvm");
  EXPECT_THAT(rows[0], StartsWith("1 1:5.263158 "));  // 100 / 19
  EXPECT_THAT(rows[0], HasSubstr(" 13:0 13:1 "));
}

TEST(CriteoPrepareTest, ADamagedEncodingIsNamed) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(10));
  files.AddFile("/f.txt", "shoal-criteo-features\t1\nrows\t");
  CriteoPrepareOptions options = Options();
  options.features = "/f.txt";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("/f.txt: line 2: the text is cut off here"));
}

TEST(CriteoPrepareTest, FilesAreBegunAnewAtTheirSize) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(300));
  CriteoPrepareOptions options = Options();
  options.val_share = 0;
  options.file_bytes = 10000;
  const auto report = Prepare(&files, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(report->train.files, 3u);
  const auto listed = files.List("/out/tr*").value();
  ASSERT_EQ(listed.size(), report->train.files);
  std::string joined;
  for (size_t i = 0; i < listed.size(); ++i) {
    EXPECT_TRUE(i + 1 == listed.size() || listed[i].size >= 10000u);
    EXPECT_LT(listed[i].size, 10500u);
    joined += files.Contents(listed[i].path).value();
  }
  FakeFileSystem whole;
  whole.AddFile("/raw/a.tsv", ManyLines(300));
  options.file_bytes = 1 << 20;
  ASSERT_TRUE(Prepare(&whole, options).ok());
  EXPECT_EQ(whole.Contents("/out/tr-00000.libsvm").value(), joined);
}

TEST(CriteoPrepareTest, TfRecordHasItsSuffix) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(50));
  CriteoPrepareOptions options = Options();
  options.val_share = 0;
  options.format = ExampleFormat::kTfRecord;
  ASSERT_TRUE(Prepare(&files, options).ok());
  EXPECT_EQ(files.List("/out/tr*").value().front().path,
            "/out/tr-00000.tfrecords");
}

TEST(CriteoPrepareTest, ABadRowIsNamedUnlessItIsAllowed) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(10));
  files.AddFile("/raw/b.tsv", "\n" + Raw(0, "1", "x") + "7\tnonsense\n" +
                                  std::string(70000, '0') + "\n");
  CriteoPrepareOptions options = Options();
  auto report = Prepare(&files, options);
  EXPECT_EQ(report.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(report.status().message(),
              HasSubstr("/raw/b.tsv, line 3: 2 columns, 40 are needed"));
  EXPECT_THAT(report.status().message(), HasSubstr("; raise --max_bad_rows"));
  EXPECT_TRUE(Names(files).empty());

  options.max_bad_rows = 1;
  report = Prepare(&files, options);
  EXPECT_THAT(report.status().message(),
              HasSubstr("2 bad rows, but max_bad_rows is 1; the first: "
                        "/raw/b"));

  options.max_bad_rows = 2;
  report = Prepare(&files, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->bad_rows, 2u);
  EXPECT_THAT(report->first_bad, HasSubstr("/raw/b.tsv, line 3"));
  EXPECT_EQ(report->train.rows + report->validation.rows, 11u);
}

TEST(CriteoPrepareTest, RowsWithoutLabelsAreNamed) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(10));
  files.AddFile("/test.txt", Raw(0, "1", "x").substr(2));
  CriteoPrepareOptions options = Options();
  options.test_input = "/test.txt";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("/test.txt, line 1: the label is missing; rows "
                        "without labels are encoded with --features"));
  options.test_input.clear();
  options.input = "/test.txt";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("are encoded with --features"));
}

// A directory with an encoding of ManyLines, and the options to apply it.
CriteoPrepareOptions Applied(FakeFileSystem* files) {
  files->AddFile("/raw/a.tsv", ManyLines(2000));
  CriteoPrepareOptions options = Options();
  options.out_dir = "/fit";
  EXPECT_TRUE(Prepare(files, options).ok());
  options.features = "/fit/_features.txt";
  options.out_dir = "/out";
  options.val_share = 0;
  return options;
}

TEST(CriteoPrepareTest, RowsWithoutLabelsAreEncodedAsThoseWithLabels) {
  for (const bool empty_column : {false, true}) {
    FakeFileSystem files;
    CriteoPrepareOptions options = Applied(&files);
    std::string labelled, unlabelled;
    for (int i = 0; i < 50; ++i) {
      const std::string line = Raw(1, absl::StrCat(i), absl::StrCat("v", i));
      labelled += line;
      unlabelled += line.substr(empty_column ? 1 : 2);
    }
    files.AddFile("/more/labelled", labelled);
    files.AddFile("/more/unlabelled", unlabelled);
    options.input = "/more/labelled";
    ASSERT_TRUE(Prepare(&files, options).ok());
    options.input = "/more/unlabelled";
    options.out_dir = "/predict";
    const auto report = Prepare(&files, options);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->train.rows, 0u);
    EXPECT_EQ(report->test.rows, 50u);
    EXPECT_FALSE(report->test.labelled);
    const auto with = LinesOf(files, "/out/tr-00000.libsvm");
    const auto without = LinesOf(files, "/predict/te-00000.libsvm");
    ASSERT_EQ(without.size(), 50u);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(with[i], "1 " + without[i]);
  }
}

TEST(CriteoPrepareTest, RowsWithAndWithoutLabelsAreNotMixed) {
  FakeFileSystem files;
  CriteoPrepareOptions options = Applied(&files);
  const std::string with = Raw(1, "1", "v1");
  const std::string without = with.substr(2);
  files.AddFile("/more/a", with + without);
  files.AddFile("/more/b", without + with);
  options.input = "/more/a";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("/more/a, line 2: the label is missing, and rows "
                        "before this one have labels"));
  options.input = "/more/b";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("/more/b, line 2: the row has a label"));
  files.AddFile("/more/c", without);
  options.input = "/more/c";
  options.test_input = "/raw/a.tsv";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("--input and --test_input"));
  options.test_input.clear();
  options.val_input = "/more/c";
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("rows to validate with need labels"));
  options.val_input.clear();
  options.val_share = 0.5;
  EXPECT_THAT(Prepare(&files, options).status().message(),
              HasSubstr("leave --split out"));
}

TEST(CriteoPrepareTest, ACutoffForMuchLargerDataIsKnown) {
  CriteoPrepareReport report;
  report.fitted_rows = 7200;
  report.distinct_values = 34'431;
  report.categories = 79;
  EXPECT_TRUE(report.CutsNearlyAll(200));
  EXPECT_EQ(report.LowerCutoff(), 7u);
  EXPECT_FALSE(report.CutsNearlyAll(7));
  report.categories = 3000;
  EXPECT_FALSE(report.CutsNearlyAll(200));
  // The Kaggle set.
  report.fitted_rows = 45'840'617;
  report.distinct_values = 33'800'000;
  report.categories = 117'542;
  EXPECT_FALSE(report.CutsNearlyAll(200));
}

TEST(CriteoPrepareTest, AnEncodingThatIsNotThereLeavesNoDirectory) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(10));
  CriteoPrepareOptions options = Options();
  options.features = "/no/encoding";
  EXPECT_EQ(Prepare(&files, options).status().code(), Code::kNotFound);
  EXPECT_EQ(files.ListDirectory(options.out_dir).status().code(),
            Code::kNotFound);
}

TEST(CriteoPrepareTest, NoRowIsAnError) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", "\n\n");
  const auto report = Prepare(&files, Options());
  EXPECT_EQ(report.status().code(), Code::kInvalidArgument);
  EXPECT_THAT(report.status().message(), HasSubstr("has no row to train on"));
  files.AddFile("/raw/a.tsv", "");
  EXPECT_EQ(Prepare(&files, Options()).status().code(),
            Code::kFailedPrecondition);
}

TEST(CriteoPrepareTest, DataThatIsThereIsNotMixedWith) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(10));
  files.AddFile("/out/va-x.libsvm", "0 1:1\n");
  const auto report = Prepare(&files, Options());
  EXPECT_EQ(report.status().code(), Code::kFailedPrecondition);
  EXPECT_THAT(report.status().message(),
              HasSubstr("/out/va-x.libsvm is there already"));
}

TEST(CriteoPrepareTest, AFullDiskIsNamedAndLeavesNothing) {
  for (const char* path :
       {"/out/.tr-00000.libsvm.partial", "/out/.va-00000.libsvm.partial",
        "/out/_features.txt"}) {
    FakeFileSystem files;
    files.AddFile("/raw/a.tsv", ManyLines(100));
    files.LimitWrites(path, 100);
    const auto report = Prepare(&files, Options());
    EXPECT_EQ(report.status().code(), Code::kResourceExhausted) << path;
    EXPECT_THAT(report.status().message(), HasSubstr(path));
    EXPECT_TRUE(Names(files).empty()) << path;
  }
}

TEST(CriteoPrepareTest, AFileThatCannotBeReadIsNamed) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(100));
  files.FailReads("/raw/a.tsv", absl::InternalError("/raw/a.tsv: it broke"));
  EXPECT_EQ(Prepare(&files, Options()).status().message(),
            "/raw/a.tsv: it broke");
  files.FailReads("/raw/a.tsv", absl::OkStatus());
  CriteoPrepareOptions options = Options();
  options.input = "/none";
  EXPECT_EQ(Prepare(&files, options).status().code(), Code::kNotFound);
}

TEST(CriteoPrepareTest, MoreDistinctValuesThanAllowedIsAnError) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(100));
  CriteoPrepareOptions options = Options();
  options.max_values = 6;
  const absl::Status status = Prepare(&files, options).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("raise --max_values"));
}

TEST(CriteoPrepareTest, ProgressCountsWhatIsRead) {
  FakeFileSystem files;
  files.AddFile("/raw/a.tsv", ManyLines(40000));
  std::vector<CriteoPrepareProgress> seen;
  ASSERT_TRUE(PrepareCriteo(&files, Options(),
                            [&](const CriteoPrepareProgress& progress) {
                              seen.push_back(progress);
                            })
                  .ok());
  ASSERT_EQ(seen.size(), 8u);  // 2 in the file and 1 at an end, 2 more ends
  EXPECT_EQ(seen.front().doing, "fitting");
  EXPECT_EQ(seen.back().doing, "writing");
  EXPECT_EQ(seen.back().rows, 40000u);
  EXPECT_EQ(seen.back().bytes, seen.back().total_bytes);
  EXPECT_LT(seen.front().bytes, seen.front().total_bytes);
}

TEST(CriteoPrepareTest, OptionsOutOfRangeAreNamed) {
  const auto message = [](auto change) {
    CriteoPrepareOptions options = Options();
    change(&options);
    const absl::Status status = options.Validate();
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    return std::string(status.message());
  };
  using O = CriteoPrepareOptions;
  EXPECT_THAT(message([](O* o) { o->input = ""; }), HasSubstr("input"));
  EXPECT_THAT(message([](O* o) { o->val_share = 1; }), HasSubstr("val_share"));
  EXPECT_THAT(message([](O* o) { o->max_bad_rows = -2; }),
              HasSubstr("max_bad_rows"));
  EXPECT_THAT(message([](O* o) { o->max_values = 0; }),
              HasSubstr("max_values"));
  EXPECT_THAT(message([](O* o) { o->out_dir = "a*"; }), HasSubstr("out_dir"));
  EXPECT_TRUE(Options().Validate().ok());
}

}  // namespace
}  // namespace shoal
