#include "bench/compare/model_facts.h"

#include <stdlib.h>

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

class ModelFactsTest : public ::testing::Test {
 protected:
  // 32 rows of one field with 32 ids.
  ModelFactsTest() : files_(NewPosixFileSystem()) {
    directory_ = absl::StrCat(::testing::TempDir(), "/facts-XXXXXX");
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    std::string rows;
    for (int id = 0; id < 32; ++id) absl::StrAppend(&rows, "1 0:", id, ":1\n");
    EXPECT_TRUE(
        files_
            ->WriteFileAtomically(absl::StrCat(directory_, "/tr.libsvm"), rows)
            .ok());
    cell_.model = "A";
    cell_.mode = "async";
    cell_.hosts = 2;
    cell_.batch_size = 2;
  }

  ModelFactsOptions Options() const {
    ModelFactsOptions options;
    options.job["A"] = {
        {"feature_size", "32"},
        {"field_size", "1"},
        {"embedding_size", "4"},
        {"deep_layers", "8"},
        {"training_data_dir", absl::StrCat(directory_, "/tr*")}};
    options.files = files_.get();
    return options;
  }

  const std::unique_ptr<FileSystem> files_;
  std::string directory_;
  Cell cell_;
};

TEST_F(ModelFactsTest, AModelHasItsSizes) {
  const auto model = ModelFacts(Options()).Of("A");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->row_bytes, 4u * (4 + 1));
  // Bias, 4 × 8 weights and their biases, 8 weights and theirs.
  EXPECT_EQ(model->dense_bytes, 4u * (1 + 4 * 8 + 8 + 8 + 1));
  EXPECT_GT(model->table_bytes, 32 * model->row_bytes);
}

TEST_F(ModelFactsTest, TheErrorOfAModelIsThatOfItsFlags) {
  ModelFactsOptions options = Options();
  options.job["A"]["deep_layers"] = "many";
  EXPECT_THAT(std::string(ModelFacts(options).Of("A").status().message()),
              HasSubstr("--deep_layers"));
}

TEST_F(ModelFactsTest, IdsGrowWithTheRows) {
  const auto counts = ModelFacts(Options()).IdGrowth("A", 2);
  ASSERT_FALSE(counts.empty());
  EXPECT_EQ(counts.front().samples, 2);
  for (const IdCount& count : counts) EXPECT_EQ(count.ids, count.samples);
}

TEST_F(ModelFactsTest, BytesFollowFromTheData) {
  ModelFacts facts(Options());
  const auto bytes = facts.Formula(cell_, /*mean_batch=*/0);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(bytes->worker_received, 4 * (4 + 1));
  // Short batches share the dense variables among fewer rows.
  const auto of_short = facts.Formula(cell_, /*mean_batch=*/1);
  ASSERT_TRUE(of_short.has_value());
  EXPECT_GT(of_short->worker_received, bytes->worker_received);
}

TEST_F(ModelFactsTest, NothingIsCountedInDataThatAreNotHere) {
  ModelFactsOptions options = Options();
  options.data_are_here = false;
  ModelFacts elsewhere(options);
  EXPECT_TRUE(elsewhere.IdGrowth("A", 2).empty());
  EXPECT_FALSE(elsewhere.Formula(cell_, 0).has_value());
  options = Options();
  options.job["A"]["training_data_dir"] = "/not/here/tr*";
  ModelFacts missing(options);
  EXPECT_TRUE(missing.IdGrowth("A", 2).empty());
  EXPECT_FALSE(missing.Formula(cell_, 0).has_value());
}

}  // namespace
}  // namespace shoal
