#include "worker/data/line_source.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kMaxLine = 1 << 20;

// Counts what is read of a file in memory.
class CountingFile final : public RandomAccessFile {
 public:
  explicit CountingFile(std::string bytes) : bytes_(std::move(bytes)) {}
  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    largest_read_ = std::max(largest_read_, out.size());
    if (offset >= bytes_.size()) return 0;
    const size_t n = bytes_.copy(out.data(), out.size(), offset);
    bytes_read_ += n;
    return n;
  }
  uint64_t size() const override { return bytes_.size(); }
  uint64_t bytes_read() const { return bytes_read_; }
  uint64_t largest_read() const { return largest_read_; }

 private:
  const std::string bytes_;
  mutable uint64_t bytes_read_ = 0;
  mutable size_t largest_read_ = 0;
};

std::vector<std::string> Lines(const RandomAccessFile& file, uint64_t begin,
                               uint64_t end, uint64_t max_line = kMaxLine) {
  LineSource source(&file, begin, end, max_line);
  std::vector<std::string> lines;
  Record line;
  uint64_t number = 0;
  for (;;) {
    const absl::StatusOr<bool> more = source.Next(&line);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return lines;
    EXPECT_GE(line.offset, begin);
    EXPECT_LT(line.offset, end);
    EXPECT_EQ(line.number, ++number);
    lines.push_back(!line.damage.empty() ? "<too long>"
                                         : std::string(line.bytes));
  }
}

TEST(LineSourceTest, SplitsAtNewlines) {
  const CountingFile file("one\ntwo\r\n\nfour");
  EXPECT_THAT(Lines(file, 0, file.size()),
              ElementsAre("one", "two\r", "", "four"));
}

TEST(LineSourceTest, ALineBelongsToThePieceOfItsFirstByte) {
  const CountingFile file("one\ntwo\nthree\n");
  EXPECT_THAT(Lines(file, 0, 3), ElementsAre("one"));
  EXPECT_THAT(Lines(file, 0, 4), ElementsAre("one"));
  EXPECT_THAT(Lines(file, 0, 5), ElementsAre("one", "two"));
  EXPECT_THAT(Lines(file, 1, 4), IsEmpty());
  EXPECT_THAT(Lines(file, 4, 5), ElementsAre("two"));
  EXPECT_THAT(Lines(file, 5, 14), ElementsAre("three"));
  EXPECT_THAT(Lines(file, 9, 14), IsEmpty());
  EXPECT_THAT(Lines(file, 4, 4), IsEmpty());
}

TEST(LineSourceTest, EveryPairOfCutsYieldsEachLineOnce) {
  for (const char* text :
       {"a\nbb\nccc\n", "a\nbb\nccc", "\n\na\n\n", "a\r\nb\r\n\r\nc", "\n",
        "abc", "# x\n1 2:3\n\n0 4:5"}) {
    const CountingFile file(text);
    const uint64_t size = file.size();
    const std::vector<std::string> whole = Lines(file, 0, size);
    for (uint64_t a = 0; a <= size; ++a) {
      for (uint64_t b = a; b <= size; ++b) {
        std::vector<std::string> lines;
        for (const auto& [begin, end] :
             {std::pair{uint64_t{0}, a}, {a, b}, {b, size}}) {
          for (std::string& line : Lines(file, begin, end)) {
            lines.push_back(std::move(line));
          }
        }
        ASSERT_EQ(lines, whole) << text << " cut at " << a << " and " << b;
      }
    }
  }
}

TEST(LineSourceTest, LinesAcrossChunksAreWhole) {
  std::string text;
  std::vector<std::string> expected;
  const Philox random(5);
  for (uint64_t i = 0; text.size() < 3 << 20; ++i) {
    expected.push_back(
        std::string(random(0, i)[0] % (i % 50 == 0 ? 200000 : 500),
                    static_cast<char>('a' + i % 26)));
    text += expected.back() + "\n";
  }
  const CountingFile file(text);
  EXPECT_EQ(Lines(file, 0, file.size()), expected);
  std::vector<std::string> pieces;
  for (uint64_t begin = 0; begin < file.size(); begin += 70001) {
    for (std::string& line :
         Lines(file, begin, std::min(file.size(), begin + 70001))) {
      pieces.push_back(std::move(line));
    }
  }
  EXPECT_EQ(pieces, expected);
}

TEST(LineSourceTest, TheLimitOfALineIsExactWhereverChunksEnd) {
  for (const size_t before : {0, 3, (256 << 10) - 12, (256 << 10) - 11}) {
    for (const char* end : {"\nz\n", "\nz", ""}) {
      const std::string filler(before, '\n');
      const CountingFile fits(filler + std::string(10, 'x') + end);
      const CountingFile over(filler + std::string(11, 'x') + end);
      EXPECT_EQ(Lines(fits, 0, fits.size(), 10)[before], std::string(10, 'x'));
      EXPECT_EQ(Lines(over, 0, over.size(), 10)[before], "<too long>");
    }
  }
}

TEST(LineSourceTest, TooLongLinesAreNotHeld) {
  const std::string huge(8 << 20, 'x');
  const CountingFile file("a\n" + huge + "\nb\n");
  EXPECT_THAT(Lines(file, 0, file.size(), 1000),
              ElementsAre("a", "<too long>", "b"));
  // A buffer never grows beyond the limit and a chunk, nor does a read.
  EXPECT_LE(file.largest_read(), 256u << 10);
  EXPECT_LT(file.bytes_read(), file.size() + 1000);
}

TEST(LineSourceTest, APieceInsideALongLineReadsNoFurtherThanItsEnd) {
  const CountingFile file(std::string(4 << 20, 'x'));
  EXPECT_THAT(Lines(file, 1 << 20, (1 << 20) + 1000), IsEmpty());
  EXPECT_LE(file.bytes_read(), 1001u);
}

TEST(LineSourceTest, SeekGoesBackToALine) {
  const CountingFile file("one\ntwo\nthree\n");
  LineSource source(&file, 2, file.size(), kMaxLine);
  Record line;
  const uint64_t start = source.position();
  ASSERT_TRUE(*source.Next(&line));
  const uint64_t after_two = source.position();
  ASSERT_TRUE(*source.Next(&line));
  ASSERT_FALSE(*source.Next(&line));
  source.Seek(start);
  ASSERT_TRUE(*source.Next(&line));
  EXPECT_EQ(line.bytes, "two") << "the start mid-line is one again";
  EXPECT_EQ(line.offset, 4u);
  source.Seek(after_two);
  ASSERT_TRUE(*source.Next(&line));
  EXPECT_EQ(line.bytes, "three");
}

TEST(LineSourceTest, AFileThatShrankIsDataLoss) {
  FakeFileSystem files;
  files.AddFile("/f", "one\ntwo\nthree\n");
  const auto file = files.OpenForRead("/f").value();
  files.Truncate("/f", 6);
  LineSource source(file.get(), 0, 14, kMaxLine);
  Record line;
  const absl::StatusOr<bool> more = source.Next(&line);
  EXPECT_EQ(more.status().code(), absl::StatusCode::kDataLoss) << more.status();
}

TEST(LineSourceTest, ErrorsOfTheFileComeThrough) {
  FakeFileSystem files;
  files.AddFile("/f", "one\ntwo\n");
  const auto file = files.OpenForRead("/f").value();
  files.FailReads("/f", absl::ResourceExhaustedError("too many descriptors"));
  LineSource source(file.get(), 0, 8, kMaxLine);
  Record line;
  EXPECT_EQ(source.Next(&line).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(LineSourceTest, CancelEndsItBeforeTheNextRead) {
  const CountingFile file("one\ntwo\n");
  std::atomic<bool> cancelled = true;
  LineSource source(&file, 0, 8, kMaxLine, &cancelled);
  Record line;
  EXPECT_EQ(source.Next(&line).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(file.bytes_read(), 0u);
}

}  // namespace
}  // namespace shoal
