#include "checkpoint/verify.h"

#include <string>

#include "base/path.h"
#include "checkpoint/checkpoint_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr char kDirectory[] = "/m/ckpt-00000000006";

class Verify : public testing::Test {
 protected:
  VerifyReport Check(bool need_all_files = true) {
    return VerifyCheckpoint(files_, kDirectory, manifest_,
                            VerifyOptions{need_all_files});
  }

  FakeFileSystem files_;
  const Manifest manifest_ = WriteSmallCheckpoint(files_, kDirectory, 6);
  const std::string path_ = JoinPath(kDirectory, ShardFileName(1, 2));
  const std::string good_ = *files_.Contents(path_);
};

TEST_F(Verify, ReadsEveryByteOfAWholeCheckpoint) {
  const VerifyReport report = Check();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.blocks, 6u);
  EXPECT_EQ(report.bytes, manifest_.bytes());
}

TEST_F(Verify, EveryFlippedByteIsFoundInItsTensor) {
  const WrittenFile& file = manifest_.shards[1].file;
  for (size_t i = 0; i < good_.size(); ++i) {
    std::string bad = good_;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    files_.AddFile(path_, bad);
    const VerifyReport report = Check();
    ASSERT_EQ(report.damaged, 1u) << i;
    const Damage& damage = report.damage[0];
    EXPECT_EQ(damage.file, ShardFileName(1, 2));
    EXPECT_LE(damage.offset, i);
    EXPECT_GT(damage.offset + damage.bytes, i);
    EXPECT_EQ(damage.tensor.empty(), i < file.data_begin) << i;
  }
}

TEST_F(Verify, NamesWhatIsGone) {
  files_.AddFile(path_, good_.substr(0, good_.size() - 1));
  VerifyReport report = Check();
  ASSERT_EQ(report.damaged, 1u);
  EXPECT_THAT(ToString(report.damage[0]),
              HasSubstr("shard-00001-of-00002.safetensors"));
  ASSERT_TRUE(files_.Remove(path_).ok());
  EXPECT_EQ(Check().damaged, 1u);
  report = Check(/*need_all_files=*/false);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.files, 1u);
}

}  // namespace
}  // namespace shoal
