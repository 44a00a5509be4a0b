#include "report/event_file.h"

#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/crc32c.h"
#include "base/record_framing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/job_events.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> Payloads(const std::string& bytes) {
  std::vector<std::string> payloads;
  size_t at = 0;
  while (at < bytes.size()) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, 8);
    uint32_t crc = 0;
    std::memcpy(&crc, bytes.data() + at + 8, 4);
    EXPECT_EQ(crc,
              MaskedCrc32c(Crc32c(absl::string_view(bytes).substr(at, 8))));
    payloads.push_back(bytes.substr(at + 12, length));
    std::memcpy(&crc, bytes.data() + at + 12 + length, 4);
    EXPECT_EQ(crc, MaskedCrc32c(Crc32c(payloads.back())));
    at += 12 + length + 4;
  }
  EXPECT_EQ(at, bytes.size());
  return payloads;
}

int Count(const std::vector<std::string>& payloads, const std::string& tag) {
  int count = 0;
  for (const std::string& each : payloads) {
    count += each.find(tag) != std::string::npos;
  }
  return count;
}

class EventFileTest : public testing::Test {
 protected:
  // The events of the only file in the directory.
  std::vector<std::string> Read() {
    const auto listed = files->List(directory);
    EXPECT_TRUE(listed.ok()) << listed.status();
    EXPECT_EQ(listed->size(), 1u);
    EXPECT_THAT((*listed)[0].path,
                HasSubstr("/events.out.tfevents.1700000000."));
    const auto file = files->OpenForRead((*listed)[0].path);
    std::string bytes((*file)->size(), '\0');
    EXPECT_EQ(*(*file)->Read(0, absl::MakeSpan(bytes)), bytes.size());
    return Payloads(bytes);
  }

  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const std::string directory =
      testing::TempDir() + "/events." +
      testing::UnitTest::GetInstance()->current_test_info()->name() + "." +
      std::to_string(getpid()) + "/of/a/job";
  const absl::Time start = absl::FromUnixSeconds(1'700'000'000);
};

TEST(ScalarEventTest, HasTheBytesOfTheProtobuf) {
  // By protoc from tensorflow/core/util/event.proto:
  //   wall_time: 2.5 step: 300 summary { value { tag: "a" simple_value: 1 } }
  EXPECT_EQ(absl::BytesToHexString(ScalarEvent(
                absl::UnixEpoch() + absl::Seconds(2.5), 300, {{"a", 1.0f}})),
            "090000000000000440"
            "10ac02"
            "2a0a0a080a0161150000803f");
}

TEST(RecordFramingTest, IsThatOfTfRecord) {
  // The record that TensorFlow's TFRecordWriter makes of "abc".
  std::string record;
  AppendRecord("abc", &record);
  EXPECT_EQ(record.size(), kRecordHeaderBytes + 3 + kRecordFooterBytes);
  EXPECT_EQ(record.substr(0, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(Payloads(record), std::vector<std::string>{"abc"});
}

TEST_F(EventFileTest, EveryWriteIsThereAtOnce) {
  auto file = EventFile::Create(*files, directory, start);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Read().size(), 1u);
  EXPECT_THAT(Read()[0], HasSubstr("brain.Event:2"));
  ASSERT_TRUE((*file)->Write(start, 1, {{"loss", 0.5f}}).ok());
  ASSERT_EQ(Read().size(), 2u);
  EXPECT_EQ(Read()[1], ScalarEvent(start, 1, {{"loss", 0.5f}}));
}

TEST_F(EventFileTest, APlaceThatCannotBeWrittenIsNamed) {
  const auto file = EventFile::Create(*files, "/dev/null/events", start);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("/dev/null"));
}

TEST_F(EventFileTest, AJobsCurvesHaveAPointAnIntervalAndEachEvaluation) {
  auto events = JobEvents::Create(*files, directory, absl::Seconds(1), start);
  ASSERT_TRUE(events.ok()) << events.status();
  JobReport report;
  report.loss = 0.7;
  report.samples_per_second = 9;
  report.staleness.Add(3);
  // Nothing was trained: no point.
  ASSERT_TRUE((*events)->Progress(report, start).ok());
  EXPECT_EQ(Read().size(), 1u);
  for (int tenth = 0; tenth < 25; ++tenth) {
    report.batches += 1;
    report.progressive_auc = 0.8;
    ASSERT_TRUE((*events)
                    ->Progress(report, start + absl::Milliseconds(100) * tenth)
                    .ok());
  }
  EXPECT_EQ(Count(Read(), "loss"), 3);
  EXPECT_EQ(Count(Read(), "auc/progressive"), 3);
  EXPECT_EQ(Count(Read(), "staleness/mean"), 3);
  report.evals = {{0.75, 0.4, 100}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*events)->Progress(report, start + absl::Seconds(2.5)).ok());
  }
  EXPECT_EQ(Count(Read(), "auc/evaluation"), 1);
  report.evals.push_back({0.75, 0.4, 100});  // equal, and one of its own
  ASSERT_TRUE((*events)->End(report, start + absl::Seconds(2.6)).ok());
  EXPECT_EQ(Count(Read(), "auc/evaluation"), 2);
  // The last steps have their point, however soon they come.
  EXPECT_EQ(Count(Read(), "samples_per_second"), 4);
  EXPECT_EQ(Count(Read(), "calibration/evaluation"), 0) << "not known";
}

TEST_F(EventFileTest, WhatIsNotKnownHasNoPoint) {
  auto events = JobEvents::Create(*files, directory, absl::Seconds(1), start);
  ASSERT_TRUE(events.ok()) << events.status();
  JobReport report;
  report.batches = 10;
  report.evals = {{0.75, 0.4, 100, 1.5}, EvalReport()};
  ASSERT_TRUE((*events)->End(report, start).ok());
  EXPECT_EQ(Count(Read(), "samples_per_second"), 0);
  EXPECT_EQ(Count(Read(), "calibration/evaluation"), 1);
  EXPECT_EQ(Count(Read(), "auc/evaluation"), 1);
}

TEST_F(EventFileTest, WhatIsKnownAfterTheLastStepHasAPointOfItsOwn) {
  auto events = JobEvents::Create(*files, directory, absl::Seconds(1), start);
  ASSERT_TRUE(events.ok()) << events.status();
  JobReport report;
  report.batches = 10;
  report.loss = 0.7;
  report.staleness.Add(3);
  ASSERT_TRUE((*events)->Progress(report, start).ok());
  // A shard's last report.
  report.staleness.Add(0);
  ASSERT_TRUE((*events)->Progress(report, start + absl::Seconds(2)).ok());
  EXPECT_EQ(Count(Read(), "staleness/mean"), 1);
  ASSERT_TRUE((*events)->End(report, start + absl::Seconds(3)).ok());
  EXPECT_EQ(Count(Read(), "staleness/mean"), 2);
  EXPECT_EQ(Count(Read(), "loss"), 1);
}

}  // namespace
}  // namespace shoal
