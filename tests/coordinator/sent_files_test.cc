#include "coordinator/sent_files.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::SizeIs;

// The job began from ckpt-00000000004, with a file of 1,000,000 bytes.
class SentFilesTest : public testing::Test {
 protected:
  SentFilesTest()
      : membership_(MembershipOptions{.ps = {.count = 2}}),
        ps_(Join(Role::kPs, 0, 1, &membership_)),
        other_(Join(Role::kPs, 1, 2, &membership_)) {
    auto manifest = std::make_shared<Manifest>();
    manifest->shards.resize(1);
    manifest->shards[0].file.file = kFile;
    manifest->shards[0].file.size = kBytes;
    options_.resume = std::move(manifest);
    options_.resume_name = kDirectory;
    options_.model_dir = "m";
  }

  CoordinatorAction Ask(SentFiles* files, const Member& from,
                        FileRequest request) {
    auto actions = files->OnRequest(from, std::move(request));
    EXPECT_TRUE(actions.ok()) << actions.status();
    if (!actions.ok()) return FinishedAction();
    EXPECT_THAT(*actions, SizeIs(1));
    return actions->front();
  }
  // The code of the answer to a request for which nothing is read.
  absl::StatusCode Refused(FileRequest request) {
    SentFiles files(options_);
    const FileRequest asked = request;
    const CoordinatorAction action = Ask(&files, ps_, std::move(request));
    const auto* send = std::get_if<SendAction>(&action);
    if (send == nullptr) return absl::StatusCode::kOk;
    EXPECT_EQ(send->session, 1u);
    const auto& part = std::get<FilePart>(send->message);
    EXPECT_EQ(part.directory, asked.directory);
    EXPECT_EQ(part.file, asked.file);
    EXPECT_EQ(part.offset, asked.offset);
    EXPECT_EQ(part.bytes, "");
    return part.status.code();
  }

  static constexpr char kDirectory[] = "ckpt-00000000004";
  static constexpr char kFile[] = "shard-00000-of-00001.safetensors";
  static constexpr uint64_t kBytes = 1'000'000;

  Membership membership_;
  const Member ps_;
  const Member other_;
  CheckpointOptions options_;
};

TEST_F(SentFilesTest, APartOfAFileOfTheManifestIsRead) {
  SentFiles files(options_);
  const CoordinatorAction action =
      Ask(&files, ps_, {kDirectory, kFile, kBytes - 10, 10});
  const auto* read = std::get_if<ReadFileAction>(&action);
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->session, 1u);
  EXPECT_EQ(read->request.file, kFile);
  EXPECT_EQ(read->request.offset, kBytes - 10);
  EXPECT_EQ(read->request.bytes, 10u);
}

TEST_F(SentFilesTest, NoOtherFileIsOpened) {
  using absl::StatusCode;
  for (const char* directory :
       {"ckpt-00000000005", "", ".", "..", "../ckpt-00000000004",
        "ckpt-00000000004/", "/etc"}) {
    EXPECT_EQ(Refused({directory, kFile, 0, 10}), StatusCode::kNotFound)
        << directory;
  }
  for (const char* file :
       {"manifest.json", "", ".", "../shard-00000-of-00001.safetensors",
        "shard-00001-of-00001.safetensors", "/etc/passwd",
        "./shard-00000-of-00001.safetensors"}) {
    EXPECT_EQ(Refused({kDirectory, file, 0, 10}), StatusCode::kNotFound)
        << file;
  }
  options_.resume = nullptr;
  EXPECT_EQ(Refused({kDirectory, kFile, 0, 10}), StatusCode::kNotFound);
  options_.resume_name = "";
  EXPECT_EQ(Refused({"", kFile, 0, 10}), StatusCode::kNotFound);
}

TEST_F(SentFilesTest, NoBytesBeyondTheEndAreRead) {
  using absl::StatusCode;
  EXPECT_EQ(Refused({kDirectory, kFile, 0, 1}), StatusCode::kOk);
  EXPECT_EQ(Refused({kDirectory, kFile, 0, kFilePartBytes}), StatusCode::kOk);
  EXPECT_EQ(Refused({kDirectory, kFile, kBytes - 1, 1}), StatusCode::kOk);
  EXPECT_EQ(Refused({kDirectory, kFile, kBytes - 1, 2}),
            StatusCode::kOutOfRange);
  EXPECT_EQ(Refused({kDirectory, kFile, kBytes, 1}), StatusCode::kOutOfRange);
  EXPECT_EQ(Refused({kDirectory, kFile, ~uint64_t{0}, 1}),
            StatusCode::kOutOfRange);
  EXPECT_EQ(Refused({kDirectory, kFile, 1, ~uint64_t{0}}),
            StatusCode::kOutOfRange);
  EXPECT_EQ(Refused({kDirectory, kFile, 0, 0}), StatusCode::kOutOfRange);
  EXPECT_EQ(Refused({kDirectory, kFile, 0, kFilePartBytes + 1}),
            StatusCode::kOutOfRange);
}

TEST_F(SentFilesTest, AProcessHasOnePartUnderWay) {
  SentFiles files(options_);
  const FileRequest request = {kDirectory, kFile, 0, 10};
  EXPECT_TRUE(std::holds_alternative<ReadFileAction>(
      Ask(&files, ps_, request)));
  EXPECT_TRUE(std::holds_alternative<ReadFileAction>(
      Ask(&files, other_, request)));
  EXPECT_TRUE(absl::IsResourceExhausted(
      files.OnRequest(ps_, request).status()));
  files.OnRead(1);
  EXPECT_TRUE(std::holds_alternative<ReadFileAction>(
      Ask(&files, ps_, request)));
}

}  // namespace
}  // namespace shoal
