#include "worker/data/tfrecord_source.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/philox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/encoded_data.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kMost = 1 << 20;

struct Records {
  std::vector<std::string> payloads;  // of a damaged one "<why>"
  std::vector<uint64_t> offsets;
  absl::Status status;
};

Records ReadAll(const std::string& data, uint64_t begin, uint64_t end,
                uint64_t most = kMost) {
  const MemoryFile file(data);
  TfRecordSource source(std::make_unique<FileBytes>(&file), begin, end, most);
  Records records;
  Record record;
  for (;;) {
    const absl::StatusOr<bool> more = source.Next(&record);
    records.status = more.status();
    if (!more.ok() || !*more) return records;
    records.payloads.push_back(record.damage.empty()
                                   ? std::string(record.bytes)
                                   : absl::StrCat("<", record.damage, ">"));
    records.offsets.push_back(record.offset);
    EXPECT_EQ(record.number, records.payloads.size());
  }
}

std::string BadPayload(const std::string& payload) {
  std::string record = TfRecord(payload);
  record[TfRecordFrame::kHeaderBytes] ^= 1;
  return record;
}

constexpr char kChecksum[] = "<the checksum of the record does not match>";

TEST(TfRecordSourceTest, ReadsRecordsInTheirOrder) {
  const std::string data = TfRecord("one") + TfRecord("") + TfRecord("three");
  const Records records = ReadAll(data, 0, data.size());
  EXPECT_TRUE(records.status.ok()) << records.status;
  EXPECT_THAT(records.payloads, ElementsAre("one", "", "three"));
  EXPECT_THAT(records.offsets, ElementsAre(0, 19, 35));
  EXPECT_THAT(ReadAll(data, 0, kToTheEnd).payloads,
              ElementsAre("one", "", "three"));
  EXPECT_THAT(ReadAll("", 0, 0).payloads, IsEmpty());
}

TEST(TfRecordSourceTest, EveryPairOfCutsYieldsEachRecordOnce) {
  const std::string data = TfRecord("a") + TfRecord(std::string(40, 'b')) +
                           BadPayload("lost") + BadPayload("lost too") +
                           TfRecord("") + BadPayload("") + TfRecord("ccc");
  const uint64_t size = data.size();
  const std::vector<std::string> whole = ReadAll(data, 0, size).payloads;
  EXPECT_THAT(whole, ElementsAre("a", std::string(40, 'b'), kChecksum,
                                 kChecksum, "", kChecksum, "ccc"));
  for (uint64_t a = 0; a <= size; ++a) {
    for (uint64_t b = a; b <= size; ++b) {
      std::vector<std::string> payloads;
      for (const auto& [begin, end] :
           {std::pair{uint64_t{0}, a}, {a, b}, {b, size}}) {
        const Records records = ReadAll(data, begin, end);
        ASSERT_TRUE(records.status.ok()) << records.status;
        payloads.insert(payloads.end(), records.payloads.begin(),
                        records.payloads.end());
      }
      ASSERT_EQ(payloads, whole) << "cut at " << a << " and " << b;
    }
  }
}

TEST(TfRecordSourceTest, RecordsAcrossChunksAreWholeInEveryPiece) {
  std::string data;
  std::vector<std::string> expected;
  const Philox random(5);
  for (uint64_t i = 0; data.size() < 3 << 20; ++i) {
    expected.push_back(
        std::string(random(0, i)[0] % (i % 50 == 0 ? 300000 : 900),
                    static_cast<char>('a' + i % 26)));
    data += TfRecord(expected.back());
  }
  std::vector<std::string> payloads;
  for (uint64_t begin = 0; begin < data.size(); begin += 100003) {
    const uint64_t end = std::min<uint64_t>(begin + 100003, data.size());
    const Records records = ReadAll(data, begin, end);
    ASSERT_TRUE(records.status.ok()) << records.status;
    payloads.insert(payloads.end(), records.payloads.begin(),
                    records.payloads.end());
  }
  EXPECT_EQ(payloads, expected);
}

TEST(TfRecordSourceTest, ARecordOverTheLimitIsDamagedAndNotHeld) {
  const std::string huge(3 << 20, 'x');
  const std::string data = TfRecord("a") + TfRecord(huge) + TfRecord("b");
  const std::string damage = "<record of 3145728 bytes, more than 1000>";
  EXPECT_THAT(ReadAll(data, 0, data.size(), 1000).payloads,
              ElementsAre("a", damage, "b"));
  // It goes with the record before it, wherever the cut lies.
  for (const uint64_t cut : {17, 18, 1 << 20, (3 << 20) + 33}) {
    std::vector<std::string> payloads = ReadAll(data, 0, cut, 1000).payloads;
    for (std::string& payload : ReadAll(data, cut, data.size(), 1000).payloads)
      payloads.push_back(payload);
    EXPECT_THAT(payloads, ElementsAre("a", damage, "b")) << cut;
  }
}

TEST(TfRecordSourceTest, DataThatIsCutIsAnErrorThatSaysWhere) {
  const std::string data = TfRecord("one") + TfRecord("two");
  for (uint64_t size = 1; size < data.size(); ++size) {
    if (size == 19) continue;  // between two records
    const Records records = ReadAll(data.substr(0, size), 0, size);
    EXPECT_EQ(records.status.code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_THAT(std::string(records.status.message()),
                HasSubstr(size < 19 ? "byte 0: the data ends within"
                                    : "byte 19: the data ends within"));
    EXPECT_EQ(records.payloads.size(), size < 19 ? 0u : 1u);
    EXPECT_EQ(ReadAll(data.substr(0, size), 0, kToTheEnd).status.code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(TfRecordSourceTest, ADamagedLengthIsAnErrorInExactlyOnePiece) {
  const std::string one = TfRecord(std::string(30, 'a'));
  for (size_t byte = 0; byte < TfRecordFrame::kHeaderBytes; ++byte) {
    std::string data = one + one + one + one;
    data[2 * one.size() + byte] ^= 0x40;
    const Records whole = ReadAll(data, 0, data.size());
    EXPECT_EQ(whole.status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(whole.status.message()), HasSubstr("byte 92:"));
    EXPECT_EQ(whole.payloads.size(), 2u);
    for (uint64_t cut = 0; cut <= data.size(); ++cut) {
      const int errors = (ReadAll(data, 0, cut).status.ok() ? 0 : 1) +
                         (ReadAll(data, cut, data.size()).status.ok() ? 0 : 1);
      EXPECT_EQ(errors, 1) << "cut at " << cut;
    }
  }
}

TEST(TfRecordSourceTest, PayloadsThatHoldTfRecordsAreNotCutUnseen) {
  const std::string inner = TfRecord("inner") + TfRecord("inner");
  const std::string data = TfRecord("a") + TfRecord(inner) + TfRecord("b");
  EXPECT_THAT(ReadAll(data, 0, data.size()).payloads,
              ElementsAre("a", inner, "b"));
  int ambiguous = 0;
  for (uint64_t cut = 1; cut < data.size(); ++cut) {
    const Records first = ReadAll(data, 0, cut);
    const Records second = ReadAll(data, cut, data.size());
    if (first.status.ok() && second.status.ok()) {
      EXPECT_EQ(first.payloads.size() + second.payloads.size(), 3u) << cut;
    } else {
      ++ambiguous;
      EXPECT_THAT(std::string(first.status.message()),
                  HasSubstr("--piece_bytes=0"));
    }
  }
  EXPECT_GT(ambiguous, 0);
}

TEST(TfRecordSourceTest, SeekGoesBackToARecord) {
  const std::string one = TfRecord(std::string(30, 'a'));
  const std::string two = TfRecord("two");
  const MemoryFile file(one + two + TfRecord("three"));
  TfRecordSource source(std::make_unique<FileBytes>(&file), 5, file.size(),
                        kMost);
  Record record;
  const uint64_t start = source.position();
  ASSERT_TRUE(*source.Next(&record));
  EXPECT_EQ(record.bytes, "two");
  const uint64_t after_two = source.position();
  ASSERT_TRUE(*source.Next(&record));
  ASSERT_FALSE(*source.Next(&record));
  source.Seek(start);
  ASSERT_TRUE(*source.Next(&record));
  EXPECT_EQ(record.bytes, "two") << "the start is searched for again";
  source.Seek(after_two);
  ASSERT_TRUE(*source.Next(&record));
  EXPECT_EQ(record.bytes, "three");
}

TEST(TfRecordSourceTest, ALengthBeyondTheFileIsACutRecord) {
  for (const uint64_t length : {uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string header(8, '\0');
    for (int i = 0; i < 8; ++i) header[i] = static_cast<char>(length >> 8 * i);
    // The header of a record that holds these eight bytes has their checksum.
    const std::string data = header + TfRecord(header).substr(20, 4) + "xyz";
    const Records records = ReadAll(data, 0, data.size());
    EXPECT_EQ(records.status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(records.status.message()),
                HasSubstr("ends within"));
  }
}

TEST(TfRecordSourceTest, CancelEndsIt) {
  const MemoryFile file(TfRecord("a"));
  std::atomic<bool> cancelled = true;
  for (const uint64_t begin : {0, 1}) {
    TfRecordSource source(std::make_unique<FileBytes>(&file), begin,
                          file.size(), kMost, &cancelled);
    Record record;
    EXPECT_EQ(source.Next(&record).status().code(),
              absl::StatusCode::kCancelled);
  }
}

}  // namespace
}  // namespace shoal
