#include "cluster/job_files.h"

#include <string>
#include <utility>

#include "cluster/repeated_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr FileScopes kByHost = {.train_by_host = true, .eval_by_host = true};

RegisterRequest Worker(int index, std::vector<SourceInfo> train,
                       std::vector<SourceInfo> eval = {}) {
  RegisterRequest request;
  request.role = Role::kWorker;
  request.index = index;
  request.train_sources = std::move(train);
  request.eval_sources = std::move(eval);
  return request;
}

RegisterRequest On(std::string host, RegisterRequest worker) {
  worker.host = std::move(host);
  return worker;
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
  JobFiles files(FileScopes{});
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
  JobFiles files(FileScopes{});
  Add(Worker(0, {{"wrong", 1, 1}}), &files);
  files.ForgetUnlessPinned();
  Add(Worker(0, {{"a", 1, 1}}), &files);
  files.Pin();
  files.ForgetUnlessPinned();
  EXPECT_THAT(Refused(files, Worker(0, {{"wrong", 1, 1}})), HasSubstr("wrong"));
}

TEST(FilesOfHosts, AreTheJobsInTheOrderOfTheWorkersIndices) {
  JobFiles files(kByHost);
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
  JobFiles files(kByHost);
  Add(Worker(0, {{"a", 10, 1}}), &files);
  Add(Worker(1, {{"b", 10, 1}}), &files);
  files.Pin();
  EXPECT_EQ(files.Check(Worker(1, {{"b", 10, 1}})), absl::OkStatus());
  EXPECT_THAT(Refused(files, Worker(1, {{"b", 11, 1}})), HasSubstr("b"));
  EXPECT_THAT(Refused(files, Worker(2, {{"c", 10, 1}})),
              HasSubstr("began without the files of worker 2"));
}

TEST(FilesOfHosts, AreThoseOfAllItsWorkers) {
  JobFiles files(kByHost);
  const std::vector<SourceInfo> of_b = {{"a", 10, 7}, {"c", 30, 8}};
  const std::vector<SourceInfo> of_a = {{"a", 10, 1}};
  Add(On("b", Worker(3, of_b)), &files);
  Add(On("a", Worker(0, of_a)), &files);
  Add(On("b", Worker(1, of_b)), &files);
  Add(On("a", Worker(2, of_a)), &files);
  files.Pin();
  EXPECT_THAT(files.host_names(), ElementsAre("a", "b"));
  EXPECT_THAT(files.train().files,
              ElementsAre(SourceInfo{"a", 10, 1}, SourceInfo{"a", 10, 7},
                          SourceInfo{"c", 30, 8}));
  EXPECT_THAT(files.train().hosts, ElementsAre(0, 1, 1));
  EXPECT_EQ(files.HostOf(0), 0);
  EXPECT_EQ(files.HostOf(1), 1);
  EXPECT_EQ(files.HostOf(2), 0);
  EXPECT_EQ(files.HostOf(3), 1);
}

TEST(FilesOfHosts, AWorkerMustListWhatItsHostHas) {
  JobFiles files(kByHost);
  Add(On("a", Worker(0, {{"x", 10, 1}})), &files);
  EXPECT_EQ(
      Refused(files, On("a", Worker(1, {{"x", 11, 1}}))),
      "training file 0 differs: worker 1 has x (11 bytes, first bytes' crc32c "
      "00000001), worker 0 has x (10 bytes, first bytes' crc32c 00000001); "
      "both are on host a, and with --data_scope=host the workers of a host "
      "must read the same files; --worker_hosts says which host a worker is "
      "on");
  EXPECT_EQ(files.Check(On("b", Worker(1, {{"x", 11, 1}}))), absl::OkStatus());
}

TEST(FilesOfHosts, ALateWorkerOfAKnownHostMayJoin) {
  JobFiles files(kByHost);
  Add(On("a", Worker(0, {{"x", 10, 1}})), &files);
  files.Pin();
  Add(On("a", Worker(5, {{"x", 10, 1}})), &files);
  EXPECT_EQ(files.HostOf(5), 0);
  EXPECT_THAT(
      Refused(files, On("b", Worker(1, {{"x", 10, 1}}))),
      HasSubstr("began without the files of worker 1 on host b; with "
                "--data_scope=host and --val_data_scope=host every host"));
}

TEST(FilesOfHosts, AWorkerThatMovedToAnotherHostHasThatHostsFiles) {
  JobFiles files(kByHost);
  Add(On("a", Worker(0, {{"x", 10, 1}})), &files);
  Add(On("b", Worker(1, {{"y", 10, 1}})), &files);
  Add(On("b", Worker(0, {{"y", 10, 1}})), &files);
  files.Pin();
  EXPECT_THAT(files.train().files, ElementsAre(SourceInfo{"y", 10, 1}))
      << "no worker can read x";
  EXPECT_EQ(files.HostOf(0), files.HostOf(1));
}

TEST(FilesOfHosts, TheKindsHaveScopesOfTheirOwn) {
  JobFiles files({.train_by_host = true});
  Add(On("a", Worker(0, {{"x", 10, 1}}, {{"e", 5, 3}})), &files);
  EXPECT_THAT(
      Refused(files, On("b", Worker(1, {{"y", 10, 1}}, {{"e", 6, 3}}))),
      HasSubstr("every worker must read the same evaluation files; if each "
                "host has its own, give --val_data_scope=host"));
  Add(On("b", Worker(1, {{"y", 10, 1}}, {{"e", 5, 3}})), &files);
  files.Pin();
  EXPECT_THAT(files.train().hosts, ElementsAre(0, 1));
  EXPECT_THAT(files.eval().files, ElementsAre(SourceInfo{"e", 5, 3}));
  EXPECT_THAT(files.eval().hosts, IsEmpty());

  JobFiles other({.eval_by_host = true});
  Add(On("a", Worker(0, {{"x", 10, 1}}, {{"e", 5, 3}})), &other);
  EXPECT_THAT(
      Refused(other, On("b", Worker(1, {{"y", 10, 1}}, {{"e", 6, 3}}))),
      HasSubstr("if each host has its own, give --data_scope=host"));
  Add(On("b", Worker(1, {{"x", 10, 1}}, {{"e", 6, 3}})), &other);
  other.Pin();
  EXPECT_THAT(other.train().hosts, IsEmpty());
  EXPECT_THAT(other.eval().hosts, ElementsAre(0, 1));
}

TEST(RepeatedFilesTest, CopiesOnSeveralHostsAreNamedByTheFlagToChange) {
  JobFiles files(kByHost);
  Add(On("a", Worker(0, {{"x", 10, 1}, {"y", 20, 2}}, {{"e", 5, 3}})), &files);
  Add(On("a", Worker(1, {{"x", 10, 1}, {"y", 20, 2}}, {{"e", 5, 3}})), &files);
  Add(On("b", Worker(2, {{"x", 10, 1}, {"y", 20, 2}}, {{"e", 5, 4}})), &files);
  files.Pin();
  EXPECT_THAT(
      RepeatedFileWarnings(files),
      ElementsAre("2 of 4 training files have the name, size and first bytes "
                  "of a file on another host (the first: x, 10 bytes, on a and "
                  "b), and the rows of both count: if they are copies, give "
                  "--data_scope=shared, and every row is trained once an "
                  "epoch"));
}

TEST(RepeatedFilesTest, SharedFilesAndEmptyOnesAreNoCopies) {
  JobFiles shared(FileScopes{});
  Add(On("a", Worker(0, {{"x", 10, 1}})), &shared);
  Add(On("b", Worker(1, {{"x", 10, 1}})), &shared);
  shared.Pin();
  EXPECT_THAT(RepeatedFileWarnings(shared), IsEmpty());

  JobFiles empty(kByHost);
  Add(On("a", Worker(0, {{"x", 10, 1}, {"_SUCCESS", 0, 0}})), &empty);
  Add(On("b", Worker(1, {{"x", 10, 2}, {"_SUCCESS", 0, 0}})), &empty);
  empty.Pin();
  EXPECT_THAT(RepeatedFileWarnings(empty), IsEmpty());
}

RegisterRequest With(IdKind ids, RegisterRequest worker) {
  worker.ids = ids;
  return worker;
}

TEST(IdsOfFiles, AreOfOneKindOnAllHosts) {
  JobFiles files(kByHost);
  Add(On("a", Worker(0, {{"x", 10, 1}})), &files);
  EXPECT_EQ(files.ids(), IdKind::kUnknown);
  Add(On("b", With(IdKind::kHashed, Worker(1, {{"y", 10, 1}}))), &files);
  EXPECT_EQ(files.ids(), IdKind::kHashed);
  EXPECT_EQ(
      Refused(files,
              On("c", With(IdKind::kWritten, Worker(2, {{"z", 10, 1}})))),
      "worker 2 (first file: z) reads rows that hold their ids (LibSVM, LibFFM "
      "or TFRecord), but worker 1 (first file: y) reads raw Criteo rows, whose "
      "ids are made by hashing; a feature has another id in each: give raw "
      "Criteo files here too");
  Add(On("c", Worker(2, {{"z", 10, 1}})), &files);
  files.ForgetUnlessPinned();
  EXPECT_EQ(files.ids(), IdKind::kUnknown);
}

TEST(IdsOfFiles, AreThoseOfTheCheckpoint) {
  JobFiles files(FileScopes{},
                 {IdKind::kWritten, "the checkpoint /m/c was trained on"});
  EXPECT_EQ(files.ids(), IdKind::kWritten);
  EXPECT_THAT(
      Refused(files, With(IdKind::kHashed, Worker(0, {}, {{"raw", 10, 1}}))),
      HasSubstr("worker 0 (first file: raw) reads raw Criteo rows, whose ids "
                "are made by hashing, but the checkpoint /m/c was trained on "
                "rows that hold their ids"));
  files.ForgetUnlessPinned();
  EXPECT_EQ(files.ids(), IdKind::kWritten);
  Add(With(IdKind::kWritten, Worker(0, {}, {{"te", 10, 1}})), &files);
}

}  // namespace
}  // namespace shoal
