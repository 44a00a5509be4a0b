#include "cluster/job_files.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RegisterRequest Worker(int index, std::vector<SourceInfo> train,
                       std::vector<SourceInfo> eval = {}) {
  RegisterRequest request;
  request.role = Role::kWorker;
  request.index = index;
  request.train_sources = std::move(train);
  request.eval_sources = std::move(eval);
  return request;
}

void Add(const RegisterRequest& worker, JobFiles* files) {
  ASSERT_EQ(files->Check(worker), absl::OkStatus());
  files->Add(worker);
}

std::string Refused(const JobFiles& files, const RegisterRequest& worker) {
  const absl::Status status = files.Check(worker);
  EXPECT_FALSE(status.ok());
  return std::string(status.message());
}

TEST(SharedFiles, AreListedOnceAndByAllAlike) {
  JobFiles files(/*by_host=*/false);
  Add(Worker(1, {{"a", 10, 1}, {"b", 20, 2}}, {{"e", 5, 3}}), &files);
  Add(Worker(0, {{"a", 10, 1}, {"b", 20, 2}}, {{"e", 5, 3}}), &files);
  EXPECT_THAT(Refused(files, Worker(2, {{"a", 10, 1}}, {{"e", 5, 3}})),
              HasSubstr("worker 2"));
  EXPECT_EQ(files.Check(Worker(2, {})).code(),
            absl::StatusCode::kInvalidArgument);
  files.Pin();
  EXPECT_THAT(files.train().files,
              ElementsAre(SourceInfo{"a", 10, 1}, SourceInfo{"b", 20, 2}));
  EXPECT_THAT(files.eval().files, ElementsAre(SourceInfo{"e", 5, 3}));
  EXPECT_THAT(files.train().hosts, IsEmpty());
  EXPECT_EQ(files.train().LocalIndex(1), 1u);
}

TEST(SharedFiles, AreForgottenWithTheLastWorkerUntilTheyArePinned) {
  JobFiles files(/*by_host=*/false);
  Add(Worker(0, {{"wrong", 1, 1}}), &files);
  files.ForgetUnlessPinned();
  Add(Worker(0, {{"a", 1, 1}}), &files);
  files.Pin();
  files.ForgetUnlessPinned();
  EXPECT_THAT(Refused(files, Worker(0, {{"wrong", 1, 1}})), HasSubstr("wrong"));
}

TEST(FilesOfHosts, AreTheJobsInTheOrderOfTheWorkersIndices) {
  JobFiles files(/*by_host=*/true);
  Add(Worker(1, {{"a", 10, 7}, {"c", 30, 8}}, {{"e", 1, 1}}), &files);
  Add(Worker(0, {{"a", 10, 1}}), &files);
  files.Pin();
  EXPECT_THAT(files.train().files,
              ElementsAre(SourceInfo{"a", 10, 1}, SourceInfo{"a", 10, 7},
                          SourceInfo{"c", 30, 8}));
  EXPECT_THAT(files.train().hosts, ElementsAre(0, 1, 1));
  EXPECT_EQ(files.train().LocalIndex(0), 0u);
  EXPECT_EQ(files.train().LocalIndex(1), 0u);
  EXPECT_EQ(files.train().LocalIndex(2), 1u);
  EXPECT_THAT(files.eval().hosts, ElementsAre(1));
}

TEST(FilesOfHosts, AWorkerThatReturnsMustHaveItsOldOnes) {
  JobFiles files(/*by_host=*/true);
  Add(Worker(0, {{"a", 10, 1}}), &files);
  Add(Worker(1, {{"b", 10, 1}}), &files);
  files.Pin();
  EXPECT_EQ(files.Check(Worker(1, {{"b", 10, 1}})), absl::OkStatus());
  EXPECT_THAT(Refused(files, Worker(1, {{"b", 11, 1}})), HasSubstr("b"));
  EXPECT_THAT(Refused(files, Worker(2, {{"c", 10, 1}})),
              HasSubstr("began without the files of worker 2"));
}

}  // namespace
}  // namespace shoal
