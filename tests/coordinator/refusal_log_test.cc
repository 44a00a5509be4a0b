#include "coordinator/refusal_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::HasSubstr;

RegisterRequest From(uint64_t process) {
  RegisterRequest request;
  request.role = Role::kWorker;
  request.index = 3;
  request.process = process;
  return request;
}

TEST(RefusalLogTest, NamesAProcessOnceForAReason) {
  RefusalLog log;
  const absl::Status seed = absl::FailedPreconditionError("--seed differs");
  RegisterRequest request = From(1);
  request.peer = "10.0.0.1:40000";
  EXPECT_EQ(log.Line(request, seed),
            "refused worker 3, which calls from 10.0.0.1:40000: --seed "
            "differs");
  EXPECT_EQ(log.Line(request, seed), "");
  EXPECT_EQ(log.Line(From(2), seed), "refused worker 3: --seed differs");
  EXPECT_EQ(log.Line(From(1), absl::InvalidArgumentError("index")),
            "refused worker 3: index");
}

TEST(RefusalLogTest, AProcessThatWaitsForItsPlaceIsNamedOnceItWaitsLong) {
  RefusalLog log;
  int lines = 0;
  for (int i = 0; i < 20; ++i) {
    lines += !log.Line(From(1), absl::AlreadyExistsError("alive")).empty();
    EXPECT_EQ(lines, i < 4 ? 0 : 1);
    EXPECT_EQ(log.Line(From(2), absl::UnavailableError("busy")), "");
  }
}

// A rank has two members in one process, and both are refused.
TEST(RefusalLogTest, ARankIsNamedOnceAsAWorker) {
  for (const bool ps_first : {false, true}) {
    RefusalLog log;
    RegisterRequest worker = From(1);
    worker.ring_address = "h:1";
    RegisterRequest ps = From(2);
    ps.role = Role::kPs;
    const absl::Status size =
        absl::FailedPreconditionError("--batch_size differs");
    EXPECT_EQ(log.Line(ps_first ? ps : worker, size),
              "refused worker 3: --batch_size differs");
    EXPECT_EQ(log.Line(ps_first ? worker : ps, size), "");
    EXPECT_EQ(log.Line(worker, absl::FailedPreconditionError("--seed differs")),
              "")
        << "a process is named once for each kind of error";
  }
}

TEST(RefusalLogTest, EndsAfterManyLines) {
  RefusalLog log;
  std::string last;
  for (uint64_t i = 0; i < 2 * RefusalLog::kMostLines; ++i) {
    const std::string line = log.Line(From(i), absl::NotFoundError("x"));
    EXPECT_EQ(line.empty(), i >= RefusalLog::kMostLines);
    if (!line.empty()) last = line;
  }
  EXPECT_THAT(last, HasSubstr("further refusals are not logged"));
}

}  // namespace
}  // namespace shoal
