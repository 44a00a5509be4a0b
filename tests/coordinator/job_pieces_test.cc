#include "coordinator/job_pieces.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JobPiecesTest : public testing::Test {
 protected:
  JobPiecesTest() { options_.piece_bytes = 40; }

  void List(int worker, std::vector<SourceInfo> train,
            std::vector<SourceInfo> eval, std::string host = "") {
    RegisterRequest request;
    request.role = Role::kWorker;
    request.index = worker;
    request.train_sources = std::move(train);
    request.eval_sources = std::move(eval);
    request.host = std::move(host);
    ASSERT_TRUE(files_.Check(request).ok());
    files_.Add(request);
  }
  std::string Why() {
    return std::string(CutJob(options_, files_).status().message());
  }

  CoordinatorOptions options_;
  JobFiles files_{FileScopes{}};
};

TEST_F(JobPiecesTest, BothKindsOfFilesAreCut) {
  List(0, {{"a", 100, 1}}, {{"e", 30, 2}});
  files_.Pin();
  const auto pieces = CutJob(options_, files_);
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_EQ(pieces->train.pieces.size(), 3u);
  EXPECT_EQ(pieces->eval.pieces.size(), 1u);
  EXPECT_THAT(pieces->train.hosts, IsEmpty());
  EXPECT_THAT(pieces->train.uncut, IsEmpty());
  EXPECT_EQ(pieces->eval.pieces.Name(0),
            "evaluation piece 0 (e, bytes 0 to 30)");
}

TEST_F(JobPiecesTest, ACompressedFileIsOnePieceThatCannotBeCut) {
  List(0, {{"a", 50, 1}, {"b.gz", 500, 1, /*compressed=*/true}}, {});
  files_.Pin();
  const auto pieces = CutJob(options_, files_);
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_THAT(pieces->train.uncut, ElementsAre(false, false, true));
}

TEST_F(JobPiecesTest, APieceIsItsFilesHosts) {
  files_ = JobFiles({.train_by_host = true});
  List(0, {{"a", 50, 1}}, {});
  List(1, {{"b", 40, 1}}, {});
  files_.Pin();
  const auto pieces = CutJob(options_, files_);
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_THAT(pieces->train.hosts, ElementsAre(0, 0, 1));
}

TEST_F(JobPiecesTest, TheWorkersOfAHostShareItsPieces) {
  files_ = JobFiles({.train_by_host = true});
  const std::vector<SourceInfo> shared = {{"e", 30, 2}};
  List(0, {{"a", 50, 1}}, shared, "h1");
  List(1, {{"a", 50, 1}}, shared, "h1");
  List(2, {{"a", 40, 9}}, shared, "h2");
  List(3, {{"a", 40, 9}}, shared, "h2");
  files_.Pin();
  const auto pieces = CutJob(options_, files_);
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_EQ(pieces->train.pieces.bytes(), 90u) << "each byte once";
  EXPECT_THAT(pieces->train.hosts, ElementsAre(0, 0, 1));
  EXPECT_EQ(pieces->eval.pieces.bytes(), 30u);
  EXPECT_THAT(pieces->eval.hosts, IsEmpty()) << "every worker may score them";
}

TEST_F(JobPiecesTest, LargeBatchesGetPiecesThatHoldThem) {
  options_.piece_bytes = -1;
  options_.batch_size = 1000;
  List(0, {{"a", 40'000'000, 1}}, {});
  files_.Pin();
  const auto count = [&](uint32_t row_bytes) {
    return CutJob(options_, files_, row_bytes)->train.pieces.size();
  };
  EXPECT_EQ(count(0), 32u) << "not known";
  EXPECT_EQ(count(1000), 32u) << "1,250 rows a piece";
  EXPECT_EQ(count(2000), 2u) << "20,000 rows in pieces of 8 to 16 batches";
  options_.piece_bytes = 10'000'000;
  EXPECT_EQ(count(2000), 4u) << "as it was told";
}

TEST_F(JobPiecesTest, AJobThatGoesOnTakesThePiecesOfTheCheckpoint) {
  options_.piece_bytes = -1;
  options_.batch_size = 1000;
  List(0, {{"a", 100, 7}}, {});
  files_.Pin();
  const auto manifest = std::make_shared<Manifest>();
  manifest->data.sources = {{"a", 100, 7}};
  manifest->data.pieces = {{0, 0, 30, {}}, {0, 30, 100, {}}};
  options_.checkpoints.resume = manifest;
  const auto ends = [&] {
    std::vector<uint64_t> ends;
    const JobPieces cut = CutJob(options_, files_).value();
    for (const Piece& piece : cut.train.pieces.pieces()) {
      ends.push_back(piece.end);
    }
    return ends;
  };
  EXPECT_THAT(ends(), ElementsAre(30, 100));
  manifest->data.sources[0].head_crc32c = 8;
  EXPECT_THAT(ends(), ElementsAre(100)) << "other files: refused later";
  manifest->data.sources[0].head_crc32c = 7;
  options_.checkpoints.resume_training = false;
  EXPECT_THAT(ends(), ElementsAre(100)) << "takes the weights alone";
}

TEST_F(JobPiecesTest, AJobThatScoresAloneHasNoTrainingPieces) {
  options_.task = JobTask::kEvaluate;
  List(0, {{"a", 100, 1}}, {{"e", 30, 2}});
  files_.Pin();
  const auto pieces = CutJob(options_, files_);
  ASSERT_TRUE(pieces.ok()) << pieces.status();
  EXPECT_EQ(pieces->train.pieces.size(), 0u);
  EXPECT_EQ(pieces->eval.pieces.size(), 1u);
}

TEST_F(JobPiecesTest, MorePiecesOverAllEpochsThanAServerMarksAreRefused) {
  options_.piece_bytes = 1;
  options_.num_epochs = 3;
  List(0, {{"a", kMaxMarkChunks / 3, 1}}, {});
  files_.Pin();
  EXPECT_EQ(Why(), "");
  files_ = JobFiles(FileScopes{});
  List(0, {{"a", kMaxMarkChunks / 3 + 1, 1}}, {});
  files_.Pin();
  EXPECT_THAT(Why(), HasSubstr("1398102 pieces, trained in 3 epochs"));
  EXPECT_THAT(Why(), HasSubstr("give a larger --piece_bytes"));
}

TEST_F(JobPiecesTest, FilesWithoutAByteAreRefused) {
  List(0, {{"a", 0, 1}}, {{"e", 30, 2}});
  files_.Pin();
  EXPECT_THAT(Why(), HasSubstr("all files of --training_data_dir are empty"));
  files_ = JobFiles(FileScopes{});
  List(0, {{"a", 10, 1}}, {{"e", 0, 2}});
  files_.Pin();
  EXPECT_THAT(Why(), HasSubstr("all files of --val_data_dir are empty"));
}

}  // namespace
}  // namespace shoal
