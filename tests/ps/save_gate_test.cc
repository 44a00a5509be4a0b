#include "ps/shard/save_gate.h"

#include <optional>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(SaveGate, ARequestIsAloneUntilAnotherOnePasses) {
  SaveGate gate;
  std::optional<SaveGate::Passage> first;
  first.emplace(&gate);
  EXPECT_TRUE(first->alone());
  {
    const SaveGate::Passage second(&gate);
    EXPECT_TRUE(second.open());
    EXPECT_FALSE(second.alone());
    EXPECT_FALSE(first->alone());
  }
  EXPECT_FALSE(first->alone()) << "the second one may have held what it lacked";
  std::optional<SaveGate::Passage> third;
  third.emplace(&gate);
  first.reset();
  EXPECT_FALSE(third->alone()) << "the first one was there when it came";
  third.reset();
  const SaveGate::Passage fourth(&gate);
  EXPECT_TRUE(fourth.alone());
}

TEST(SaveGate, WhileItIsClosedNobodyPassesAndNobodyIsAlone) {
  SaveGate gate;
  ASSERT_TRUE(gate.Close(absl::ZeroDuration()).ok());
  {
    const SaveGate::Passage refused(&gate);
    EXPECT_FALSE(refused.open());
    EXPECT_FALSE(refused.alone());
  }
  gate.Open();
  const SaveGate::Passage passage(&gate);
  EXPECT_TRUE(passage.alone());
}

}  // namespace
}  // namespace shoal
