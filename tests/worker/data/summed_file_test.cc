#include "worker/data/summed_file.h"

#include <memory>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

constexpr char kSummedFile[] = "d/f";

class SummedFileTest : public testing::Test {
 protected:
  SummedFileTest() {
    for (int i = 0; i < 1000; ++i) bytes_.push_back(static_cast<char>(i * 37));
    files_.AddFile(kSummedFile, bytes_);
  }

  SummedFile Open(uint64_t begin, uint64_t end) {
    return SummedFile(*files_.OpenForRead(kSummedFile), begin, end);
  }
  void Read(const SummedFile& file, uint64_t at, size_t n) {
    std::vector<char> out(n);
    ASSERT_TRUE(file.Read(at, absl::MakeSpan(out)).ok());
  }
  uint32_t Expected(uint64_t begin, uint64_t end) {
    return Crc32c(absl::string_view(bytes_).substr(begin, end - begin));
  }

  std::string bytes_;
  FakeFileSystem files_;
};

TEST_F(SummedFileTest, SumsThePieceHoweverItIsRead) {
  const SummedFile file = Open(100, 900);
  Read(file, 99, 50);    // from before the piece
  Read(file, 120, 10);   // again
  Read(file, 120, 200);  // overlapping
  Read(file, 600, 100);  // ahead: summed when the bytes before it are
  Read(file, 320, 580);  // to the end exactly
  Read(file, 850, 150);  // beyond it
  Read(file, 100, 800);
  EXPECT_EQ(*file.Crc32c(), Expected(100, 900));
}

TEST_F(SummedFileTest, ReadsWhatNobodyHasRead) {
  EXPECT_EQ(*Open(100, 900).Crc32c(), Expected(100, 900));
  EXPECT_EQ(*Open(0, 1000).Crc32c(), Expected(0, 1000));
  EXPECT_EQ(*Open(500, 500).Crc32c(), Crc32c(""));
  const SummedFile file = Open(0, 1000);
  Read(file, 0, 10);
  EXPECT_EQ(*file.Crc32c(), Expected(0, 1000));
}

TEST_F(SummedFileTest, AFileThatEndsBeforeThePieceIsDataLoss) {
  const SummedFile file = Open(0, 1000);
  files_.Truncate(kSummedFile, 999);
  EXPECT_EQ(file.Crc32c().status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shoal
