#include "coordinator/job_manifests.h"

#include <memory>
#include <string>
#include <utility>

#include "checkpoint/checkpoint_directory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// A job of one PS that began from checkpoint "old".
class JobManifestsTest : public testing::Test {
 protected:
  static CheckpointOptions Options() {
    CheckpointOptions options;
    options.resume = std::make_shared<Manifest>();
    options.resume_name = "old";
    options.resume_text = TextOf("its text");
    return options;
  }
  static Manifest CutAt(uint64_t step) {
    Manifest manifest;
    manifest.step = step;
    manifest.map.num_shards = 1;
    return manifest;
  }
  static std::string Entry(uint64_t marks, int shard = 0, int shards = 1) {
    ShardEntry entry;
    entry.shard = shard;
    entry.marks = marks;
    entry.file.file = ShardFileName(shard, shards);
    return ShardEntryToText(entry);
  }
  std::string Asked(const std::string& directory) const {
    return manifests_.Answer({directory, 0}).text;
  }

  JobManifests manifests_{Options()};
};

TEST_F(JobManifestsTest, TheNewestIsThatWhichIsWritten) {
  EXPECT_EQ(Asked("old"), "its text");
  manifests_.Cut(CutAt(3));
  const auto action = manifests_.Finish({7, "new", {Entry(3)}});
  ASSERT_TRUE(action.ok()) << action.status();
  EXPECT_EQ(action->number, 7u);
  EXPECT_EQ(action->directory, "new");
  EXPECT_EQ(action->manifest.step, 3u);
  EXPECT_THAT(action->manifest.shards, SizeIs(1));
  EXPECT_EQ(Asked("new"), "");
  EXPECT_EQ(Asked("old"), "its text") << "not written yet";
  manifests_.OnWritten(TextOf("newer"));
  EXPECT_EQ(Asked("new"), "newer");
  EXPECT_EQ(Asked("old"), "");
}

TEST_F(JobManifestsTest, AnEntryThatCannotBeReadNamesItsServer) {
  manifests_.Cut(CutAt(3));
  const auto action = manifests_.Finish({7, "new", {"nonsense"}});
  EXPECT_THAT(std::string(action.status().message()), HasSubstr("ps 0"));
}

TEST_F(JobManifestsTest, ShardsOfDifferentMarksAreNoCheckpoint) {
  Manifest two = CutAt(3);
  two.map.num_shards = 2;
  manifests_.Cut(two);
  EXPECT_TRUE(
      manifests_.Finish({7, "new", {Entry(3, 0, 2), Entry(3, 1, 2)}}).ok());
  manifests_.Cut(two);
  EXPECT_FALSE(
      manifests_.Finish({8, "new", {Entry(3, 0, 2), Entry(4, 1, 2)}}).ok());
}

TEST_F(JobManifestsTest, ACutThatIsDroppedIsForgotten) {
  manifests_.Cut(CutAt(3));
  manifests_.Drop();
  manifests_.Cut(CutAt(4));
  const auto action = manifests_.Finish({7, "new", {Entry(4)}});
  ASSERT_TRUE(action.ok()) << action.status();
  EXPECT_EQ(action->manifest.step, 4u);
  EXPECT_EQ(Asked("old"), "its text");
}

}  // namespace
}  // namespace shoal
