// The same rows in every format and compression train the same model, bit for
// bit: on rows made here, and on real ones below SHOAL_TEST_DATA_DIR where they
// are there (it says so where they are not).

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "job/in_process_job.h"
#include "tests/harness/fake_file_system.h"
#include "tests/harness/in_process_run.h"
#include "tests/harness/test_paths.h"
#include "tests/worker/data/encoded_data.h"

namespace shoal {
namespace {

// What a job reads, and how large its rows are.
struct Data {
  uint64_t feature_size = 0;
  int field_size = 0;
  std::string train;
  std::string eval;
};

JobReport Train(const Data& data, int64_t piece_bytes, int parse_threads) {
  FakeFileSystem files;
  files.AddFile("d/train", data.train);
  files.AddFile("d/eval", data.eval);
  InProcessJobOptions options = SmallDeepFm(data.feature_size, data.field_size);
  options.coordinator.batch_size = 100;
  options.coordinator.num_epochs = 1;
  options.coordinator.piece_bytes = piece_bytes;
  options.reader.shuffle_rows = 700;
  options.reader.parse_threads = parse_threads;
  options.train = ListOrFail(files, "d/train");
  options.eval = ListOrFail(files, "d/eval");
  InProcessRun run(/*schedule=*/1, /*workers=*/1, &files);
  const JobReport& report = run.Run(std::move(options));
  EXPECT_TRUE(report.status.ok()) << report.status;
  return report;
}

// Trains on every form of the rows; all must agree with the plain lines.
void ExpectOneModel(const Data& lines, const Data& records) {
  const JobReport expected = Train(lines, /*piece_bytes=*/0, 1);
  EXPECT_GT(expected.trained, 0u);
  EXPECT_GT(expected.eval.examples, 0u);
  const auto compressed = [](const Data& data, auto compress) {
    Data other = data;
    other.train = compress(data.train);
    other.eval = compress(data.eval);
    return other;
  };
  Data named = lines;
  named.train = ToLibFfm(lines.train);
  named.eval = ToLibFfm(lines.eval);
  struct Form {
    const char* name;
    Data data;
    int64_t piece_bytes;
    int parse_threads;
  };
  for (const Form& form : {
           Form{"LibSVM, parallel", lines, 0, 3},
           Form{"LibFFM", named, 0, 1},
           Form{"LibFFM gzip, parallel", compressed(named, Gzip), 0, 3},
           Form{"TFRecord", records, 0, 1},
           Form{"LibSVM gzip", compressed(lines, Gzip), 0, 1},
           Form{"LibSVM zstd", compressed(lines, Zstd), 0, 1},
           Form{"TFRecord gzip", compressed(records, Gzip), 0, 2},
           // A compressed file is one piece whatever the size of pieces is.
           Form{"TFRecord zstd", compressed(records, Zstd), 10'000, 1},
       }) {
    const JobReport report =
        Train(form.data, form.piece_bytes, form.parse_threads);
    EXPECT_EQ(report.digest, expected.digest) << form.name;
    EXPECT_EQ(report.trained, expected.trained) << form.name;
    EXPECT_EQ(report.eval.examples, expected.eval.examples) << form.name;
    EXPECT_EQ(report.eval.auc, expected.eval.auc) << form.name;
    EXPECT_EQ(report.eval.logloss, expected.eval.logloss) << form.name;
  }
}

TEST(DataFormatsJobTest, AllFormatsOfMadeRowsTrainTheSameModel) {
  const SameRows train = MakeSameRows(3000, 6, 500);
  const SameRows eval = MakeSameRows(400, 6, 500);
  ExpectOneModel({500, 6, train.libsvm, eval.libsvm},
                 {500, 6, train.tfrecord, eval.tfrecord});
}

TEST(DataFormatsJobTest, OtherRowsTrainAnotherModel) {
  const SameRows rows = MakeSameRows(500, 6, 500);
  SameRows other = rows;
  other.libsvm[0] ^= 1;  // one label
  EXPECT_NE(Train({500, 6, rows.libsvm, rows.libsvm}, 0, 1).digest,
            Train({500, 6, other.libsvm, other.libsvm}, 0, 1).digest);
}

// The whole of a real file, or "" where it is not there.
std::string RealFile(const std::string& name) {
  const std::string path =
      absl::StrCat(TestDataDir(), "/aws_deepfm_criteo_val/", name);
  const auto file = NewPosixFileSystem()->OpenForRead(path);
  if (!file.ok()) return "";
  std::string bytes((*file)->size(), '\0');
  bytes.resize((*file)->Read(0, absl::MakeSpan(bytes)).value());
  return bytes;
}

TEST(DataFormatsJobTest, AllFormatsOfARealFileTrainTheSameModel) {
  const std::string lines = RealFile("val.libsvm");
  const std::string records = RealFile("val.tfrecords");
  if (lines.empty() || records.empty()) {
    GTEST_SKIP() << "not tried: no aws_deepfm_criteo_val below "
                 << TestDataDir();
  }
  ExpectOneModel({117581, 39, lines, lines}, {117581, 39, records, records});
}

}  // namespace
}  // namespace shoal
