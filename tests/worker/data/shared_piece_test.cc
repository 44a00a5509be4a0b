#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"
#include "worker/data/piece_reader.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr char kSharedPath[] = "/data/tr.libsvm";

// A file of 53 rows, in batches of 5 rows.
class SharedPieceTest : public testing::Test {
 protected:
  SharedPieceTest() {
    std::string text;
    for (int i = 0; i < 53; ++i) absl::StrAppend(&text, i % 2, " ", i, ":1\n");
    lease_.number = 1;
    lease_.piece = {0, 0, 0, text.size()};
    lease_.batch_size = 5;
    files_.AddFile(kSharedPath, text);
    options_.format = DataFormat::kLibSvm;
    options_.feature_size = 100;
    options_.field_size = 1;
    options_.shuffle_rows = 10;
  }

  std::vector<Batch> Read() {
    auto reader = PieceReader::Open(&files_, kSharedPath, lease_, options_);
    EXPECT_TRUE(reader.ok()) << reader.status();
    std::vector<Batch> batches(1);
    while (*(*reader)->Next(&batches.back())) batches.emplace_back();
    batches.pop_back();
    EXPECT_EQ((*reader)->report().examples, 53u);
    EXPECT_EQ((*reader)->report().batches, 11u);
    return batches;
  }

  FakeFileSystem files_;
  Lease lease_;
  PieceReaderOptions options_;
};

// Workers that share a piece read the very batches of one that has it alone.
TEST_F(SharedPieceTest, TheLeasesOfAPieceHaveEachBatchOnce) {
  const std::vector<Batch> whole = Read();
  ASSERT_EQ(whole.size(), 11u);
  for (const uint32_t stride : {1u, 2u, 3u, 12u}) {
    std::vector<int> times(whole.size());
    for (uint32_t offset = 0; offset < stride; ++offset) {
      lease_.stride = stride;
      lease_.offset = offset;
      for (const Batch& batch : Read()) {
        EXPECT_EQ(batch.id.index % stride, offset);
        EXPECT_EQ(batch.examples.ids, whole[batch.id.index].examples.ids);
        ++times[batch.id.index];
      }
    }
    EXPECT_EQ(times, std::vector<int>(whole.size(), 1)) << stride;
  }
}

TEST_F(SharedPieceTest, AnOffsetBeyondTheStrideIsRefused) {
  lease_.stride = 3;
  lease_.offset = 3;
  const auto reader = PieceReader::Open(&files_, kSharedPath, lease_, options_);
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(reader.status().message(),
              HasSubstr("offset 3 in a stride of 3"));
}

}  // namespace
}  // namespace shoal
