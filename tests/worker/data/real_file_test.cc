// The readers on real files, which are not part of this repository: Criteo
// rows and a9a as LibSVM, below SHOAL_TEST_DATA_DIR of the CMake cache. Says so
// and skips where they are absent.

#include <string>
#include <vector>

#include "core/piece_table.h"
#include "gtest/gtest.h"
#include "tests/harness/test_paths.h"
#include "worker/data/piece_reader.h"
#include "worker/data/source_list.h"

namespace shoal {
namespace {

struct RealFile {
  const char* name;
  uint64_t feature_size;
  int field_size;
  uint64_t rows;
  uint64_t positives;
  uint64_t features;
};

struct Totals {
  uint64_t rows = 0;
  uint64_t bad_rows = 0;
  uint64_t positives = 0;
  uint64_t features = 0;
  std::string first_error;
};

Totals ReadAll(const FileSystem& files, const LocalSource& source,
               const RealFile& expected, std::optional<uint64_t> piece_bytes) {
  PieceReaderOptions options;
  options.feature_size = expected.feature_size;
  options.field_size = expected.field_size;
  options.shuffle_rows = 1000;
  Totals totals;
  const std::vector<Piece> pieces =
      BuildPieceTable({source.info}, piece_bytes).value();
  for (const Piece& piece : pieces) {
    Lease lease;
    lease.piece = piece;
    lease.batch_size = 256;
    auto reader = PieceReader::Open(&files, source.path, lease, options);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) return totals;
    Batch batch;
    while ((*reader)->Next(&batch).value()) {
      totals.rows += batch.examples.size();
      totals.features += batch.examples.ids.size();
      for (const uint8_t label : batch.examples.labels) {
        totals.positives += label;
      }
    }
    totals.bad_rows += (*reader)->report().bad_rows;
    if (totals.first_error.empty()) {
      totals.first_error = (*reader)->report().first_error;
    }
  }
  return totals;
}

class RealFileTest : public ::testing::TestWithParam<RealFile> {};

TEST_P(RealFileTest, EveryRowIsReadOnceHoweverItIsCut) {
  const std::string path =
      TestDataDir() + "/" + GetParam().name;
  const auto files = NewPosixFileSystem();
  const auto sources = ListSources(files.get(), path);
  if (!sources.ok()) GTEST_SKIP() << "not tried: " << sources.status();
  ASSERT_EQ(sources->size(), 1u);
  for (const std::optional<uint64_t> piece_bytes :
       {std::optional<uint64_t>(), std::optional<uint64_t>(0),
        std::optional<uint64_t>(9973)}) {
    const Totals totals =
        ReadAll(*files, sources->front(), GetParam(), piece_bytes);
    EXPECT_EQ(totals.bad_rows, 0u) << totals.first_error;
    EXPECT_EQ(totals.rows, GetParam().rows);
    EXPECT_EQ(totals.positives, GetParam().positives);
    EXPECT_EQ(totals.features, GetParam().features);
  }
}

// Counted with awk.
INSTANTIATE_TEST_SUITE_P(
    Files, RealFileTest,
    ::testing::Values(RealFile{"aws_deepfm_criteo_val/val.libsvm", 117581, 39,
                               10000, 2553, 390000},
                      RealFile{"a9a/a9a_123d_train.libsvm", 124, 14, 32561,
                               7841, 451592}),
    [](const ::testing::TestParamInfo<RealFile>& info) {
      return info.index == 0 ? "Criteo" : "A9a";
    });

}  // namespace
}  // namespace shoal
