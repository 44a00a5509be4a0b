// Two ranks that exchange frames through strings: RingReader, RingWriter and
// RingOperations without sockets.
#include "rpc/ring/ring_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/ring/ring_operations.h"
#include "rpc/ring/ring_writer.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kChunkBytes = 4096;

RingSettings Settings(int rank, int size = 2) {
  RingSettings settings;
  settings.rank = rank;
  settings.size = size;
  settings.chunk_bytes = kChunkBytes;
  settings.max_part_bytes = 1000;
  return settings;
}

class Rank {
 public:
  explicit Rank(int rank, int size = 2)
      : settings_(Settings(rank, size)),
        operations_(settings_, 4096),
        reader_(settings_, &operations_),
        writer_(&operations_) {}

  RingOperations& operations() { return operations_; }

  void AllReduce(const std::string& name, std::vector<float>* values) {
    RingCall call;
    call.operation = MakeOperation(CollectiveKind::kAllReduce, {.name = name},
                                   1, values->size());
    call.values = absl::MakeSpan(*values);
    call.done = [](absl::StatusOr<CollectiveReply>) {};
    operations_.Call(std::move(call));
  }

  // What the rank writes, `most` bytes at a time.
  std::string Write(size_t most = 1 << 20) {
    std::string all;
    const auto result = writer_.Write([&](iovec* ranges, int count) {
      size_t wrote = 0;
      for (int i = 0; i < count && wrote < most; ++i) {
        const size_t size = std::min(most - wrote, ranges[i].iov_len);
        all.append(static_cast<const char*>(ranges[i].iov_base), size);
        wrote += size;
      }
      return static_cast<ssize_t>(wrote);
    });
    EXPECT_TRUE(result.ok() && *result);
    return all;
  }

  // Reads `bytes`, at most `most` in one call, as far as it goes; what is left
  // unread is read first by the next call.
  absl::StatusOr<RingReader::Result> Read(const std::string& bytes,
                                          size_t most = 1 << 20) {
    unread_ += bytes;
    while (true) {
      const auto result = reader_.Read([&](iovec* ranges, int count) {
        if (unread_.empty()) return static_cast<ssize_t>(-EAGAIN);
        size_t got = 0;
        for (int i = 0; i < count && got < most; ++i) {
          const size_t size = std::min(
              {most - got, ranges[i].iov_len, unread_.size()});
          std::memcpy(ranges[i].iov_base, unread_.data(), size);
          unread_.erase(0, size);
          got += size;
        }
        return static_cast<ssize_t>(got);
      });
      if (!result.ok() || *result != RingReader::Result::kChunk) return result;
    }
  }

  // The statuses of the calls that are complete.
  std::vector<absl::Status> Completed() {
    std::vector<absl::Status> statuses;
    for (auto& completed : operations_.TakeCompleted()) {
      statuses.push_back(completed.status);
    }
    return statuses;
  }

  RingReader& reader() { return reader_; }
  RingWriter& writer() { return writer_; }

 private:
  const RingSettings settings_;
  RingOperations operations_;
  RingReader reader_;
  RingWriter writer_;
  std::string unread_;
};

TEST(RingReaderTest, FramesMayBeCutAnywhere) {
  for (const size_t most :
       {size_t{1}, size_t{23}, size_t{24}, size_t{4095}, size_t{1} << 20}) {
    Rank a(0), b(1);
    std::vector<float> x(5001, 1), y(5001, 2);
    a.AllReduce("x", &x);
    b.AllReduce("x", &y);
    for (int i = 0; i < 30; ++i) {
      EXPECT_TRUE(b.Read(a.Write(most), most).ok());
      EXPECT_TRUE(a.Read(b.Write(most), most).ok());
    }
    EXPECT_EQ(a.Completed(), std::vector<absl::Status>{absl::OkStatus()});
    EXPECT_EQ(b.Completed(), std::vector<absl::Status>{absl::OkStatus()});
    EXPECT_EQ(x, std::vector<float>(5001, 3));
    EXPECT_EQ(y, x);
  }
}

TEST(RingReaderTest, DataOfACallThatIsStillToComeStayUnread) {
  Rank a(0), b(1);
  std::vector<float> x(100, 1), y(100, 2);
  a.AllReduce("x", &x);
  const auto waits = b.Read(a.Write());
  ASSERT_TRUE(waits.ok());
  EXPECT_EQ(*waits, RingReader::Result::kWaits);
  b.AllReduce("x", &y);
  EXPECT_TRUE(b.Read("").ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(a.Read(b.Write()).ok());
    EXPECT_TRUE(b.Read(a.Write()).ok());
  }
  EXPECT_EQ(a.Completed().size(), 1u);
  EXPECT_EQ(b.Completed().size(), 1u);
  EXPECT_EQ(y, std::vector<float>(100, 3));
}

TEST(RingReaderTest, AFailureEndsTheReading) {
  Rank a(0);
  const auto failed = a.Read(EncodeFailure(1, "rank 1 is\nlost"));
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(*failed, RingReader::Result::kFailure);
  EXPECT_EQ(a.reader().failure().rank, 1);
  EXPECT_EQ(a.reader().failure().text, "rank 1 is?lost");
  Rank b(0);
  EXPECT_FALSE(b.Read(EncodeFailure(2, "there is no such rank")).ok());
}

// A frame that was begun is ended from a copy: the memory may go.
TEST(RingWriterTest, FinishEndsTheFrameThatWasBegun) {
  Rank a(0), b(1);
  auto x = std::make_unique<std::vector<float>>(2000, 1);
  std::vector<float> y(2000, 2);
  a.AllReduce("x", x.get());
  b.AllReduce("x", &y);
  std::string wrote;
  bool took = false;
  const auto blocked = a.writer().Write([&](iovec* ranges, int count) {
    if (took) return static_cast<ssize_t>(-EAGAIN);
    took = true;
    for (int i = 0; i < count; ++i) {
      wrote.append(static_cast<const char*>(ranges[i].iov_base),
                   ranges[i].iov_len);
    }
    wrote.resize(300);  // within the data
    return ssize_t{300};
  });
  ASSERT_TRUE(blocked.ok() && !*blocked);
  a.writer().Finish(EncodeFailure(0, "the end"));
  a.operations().End(absl::UnavailableError("the end"), std::nullopt,
                     absl::OkStatus());
  x = nullptr;
  wrote += a.Write();
  const auto result = b.Read(wrote);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*result, RingReader::Result::kFailure);
  EXPECT_EQ(b.reader().failure().text, "the end");
}

TEST(RingOperationsTest, FramesThatBreakTheProtocolAreRefused) {
  std::vector<float> y(5001, 2);
  const CollectiveOperation x = MakeOperation(CollectiveKind::kAllReduce,
                                              {.name = "x"}, 1, y.size());
  const auto data = [](uint64_t number, uint64_t position, size_t bytes) {
    RingFrameHeader header;
    header.length = static_cast<uint32_t>(bytes);
    header.number = number;
    header.position = position;
    std::string frame;
    AppendHeader(header, &frame);
    return frame + std::string(bytes, 'x');
  };
  struct Case {
    std::string frames;
    std::string text;
  };
  for (const Case& c : std::vector<Case>{
           {data(0, 0, 4096), "data before the announcement"},
           {EncodeAnnouncement(0, 1, x), "announcement of rank 1"},
           {EncodeAnnouncement(0, 2, x), "announcement of rank 2"},
           {EncodeAnnouncement(5000, 0, x), "announcement of operation 5000"},
           {EncodeAnnouncement(0, 0, x) + EncodeAnnouncement(0, 0, x),
            "second announcement"},
           {EncodeAnnouncement(0, 0, x) + data(0, 1, 4096), "data frame 1"},
           {EncodeAnnouncement(0, 0, x) + data(0, 0, 4092),
            "4092 bytes of data where 4096 belong"},
           {EncodeAnnouncement(0, 0, x) + data(5000, 0, 4096),
            "data of operation 5000"},
           {EncodeAnnouncement(0, 0, x) + data(1, 0, 4096),
            "data of operation 1 during operation 0"}}) {
    Rank b(1);
    b.AllReduce("x", &y);
    const auto result = b.Read(c.frames);
    EXPECT_TRUE(absl::IsDataLoss(result.status())) << result.status();
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(c.text));
  }
}

TEST(RingOperationsTest, WaitsForTheNearestRankThatHasNotSpoken) {
  Rank c(2, /*size=*/4);
  std::vector<float> values(100, 1);
  const CollectiveOperation x = MakeOperation(
      CollectiveKind::kAllReduce, {.name = "x"}, 1, values.size());
  c.AllReduce("x", &values);
  EXPECT_THAT(c.operations().WaitsFor(0), HasSubstr("waits for rank 1"));
  EXPECT_TRUE(c.Read(EncodeAnnouncement(0, 1, x)).ok());
  EXPECT_THAT(c.operations().WaitsFor(0), HasSubstr("waits for rank 0"));
  EXPECT_TRUE(c.Read(EncodeAnnouncement(0, 0, x)).ok());
  EXPECT_THAT(c.operations().WaitsFor(0), HasSubstr("waits for rank 3"));
  EXPECT_TRUE(c.Read(EncodeAnnouncement(0, 3, x)).ok());
  // All have spoken: the data of the rank before are missing.
  EXPECT_THAT(c.operations().WaitsFor(0), HasSubstr("waits for rank 1"));
}

}  // namespace
}  // namespace shoal
