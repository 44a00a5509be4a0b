#include "rpc/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/str_format.h"

namespace shoal {
namespace {

class TokenFileTest : public testing::Test {
 protected:
  void SetUp() override { std::remove(path_.c_str()); }
  void TearDown() override { std::remove(path_.c_str()); }

  void Write(const std::string& text, mode_t mode) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  const std::string path_ =
      testing::TempDir() + "shoal_token_test_" + std::to_string(getpid());
};

TEST_F(TokenFileTest, AMadeTokenIsReadBack) {
  const auto token = MakeToken();
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->size(), 64);
  EXPECT_NE(*token, *MakeToken());
  ASSERT_TRUE(WriteTokenFile(path_, *token).ok());
  struct stat info;
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto read = ReadTokenFile(path_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, *token);
  EXPECT_EQ(WriteTokenFile(path_, *token).code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(TokenFileTest, AFileThatOthersCanReadIsRefused) {
  for (const mode_t mode : {0644, 0660, 0604}) {
    Write("secret\n", mode);
    const absl::Status status = ReadTokenFile(path_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(status.message()),
                testing::HasSubstr(absl::StrFormat("mode %04o", mode)));
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("chmod 600"));
    std::remove(path_.c_str());
  }
  Write("secret\n", 0400);
  EXPECT_TRUE(ReadTokenFile(path_).ok());
}

TEST_F(TokenFileTest, TheGroupMayReadAFileOfRootAlone) {
  for (const mode_t mode : {0640, 0440}) {
    Write("secret\n", mode);
    EXPECT_EQ(ReadTokenFile(path_).ok(), geteuid() == 0);
    if (geteuid() == 0) {
      ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
      EXPECT_EQ(ReadTokenFile(path_).status().code(),
                absl::StatusCode::kPermissionDenied);
    }
    std::remove(path_.c_str());
  }
}

TEST_F(TokenFileTest, WhatIsNoTokenIsRefused) {
  EXPECT_EQ(ReadTokenFile(path_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadTokenFile(testing::TempDir()).status().code(),
            absl::StatusCode::kInvalidArgument);
  for (const std::string& text :
       {std::string(""), std::string("\n"), std::string("two words\n"),
        std::string("two\nlines\n"), std::string(513, 'x'),
        std::string(5000, 'x'), std::string("caf\xc3\xa9")}) {
    Write(text, 0600);
    EXPECT_EQ(ReadTokenFile(path_).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
  Write(std::string(512, 'x') + "\r\n", 0600);
  EXPECT_TRUE(ReadTokenFile(path_).ok());
}

TEST(ConstantTimeEqualsTest, ComparesAllBytes) {
  EXPECT_TRUE(ConstantTimeEquals("abc", "abc"));
  EXPECT_TRUE(ConstantTimeEquals("", ""));
  EXPECT_FALSE(ConstantTimeEquals("abc", "abd"));
  EXPECT_FALSE(ConstantTimeEquals("abc", "xbc"));
  EXPECT_FALSE(ConstantTimeEquals("abc", "ab"));
}

}  // namespace
}  // namespace shoal
