#include "base/status_macros.h"

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace shoal {
namespace {

absl::Status Fails() { return absl::DataLossError("bad block"); }

TEST(StatusMacros, ReturnIfErrorPassesTheErrorOnAndGoesOnWhenOk) {
  bool reached = false;
  auto f = [&](const absl::Status& first) -> absl::Status {
    SHOAL_RETURN_IF_ERROR(first);
    reached = true;
    return absl::OkStatus();
  };
  EXPECT_EQ(f(Fails()), Fails());
  EXPECT_FALSE(reached);
  EXPECT_TRUE(f(absl::OkStatus()).ok());
  EXPECT_TRUE(reached);
}

TEST(StatusMacros, AssignOrReturnMovesTheValueOrReturns) {
  using Box = absl::StatusOr<std::unique_ptr<int>>;
  auto f = [](Box a, Box b) -> absl::StatusOr<int> {
    SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<int> x, std::move(a));
    std::unique_ptr<int> y;
    SHOAL_ASSIGN_OR_RETURN(y, std::move(b));
    return *x + *y;
  };
  EXPECT_EQ(*f(std::make_unique<int>(1), std::make_unique<int>(2)), 3);
  EXPECT_EQ(f(std::make_unique<int>(1), Fails()).status(), Fails());
}

TEST(Annotate, PutsTheContextFirstAndKeepsCodeAndOk) {
  EXPECT_TRUE(Annotate(absl::OkStatus(), "reading").ok());
  const absl::Status status = Annotate(Fails(), "reading a/b");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "reading a/b: bad block");
}

}  // namespace
}  // namespace shoal
