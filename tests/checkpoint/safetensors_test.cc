#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "checkpoint/safetensors_format.h"
#include "checkpoint/safetensors_reader.h"
#include "checkpoint/safetensors_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPath[] = "/c/a.safetensors";

template <typename T>
absl::string_view Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

class Safetensors : public testing::Test {
 protected:
  Safetensors() { EXPECT_TRUE(files_.CreateDirectories("/c").ok()); }

  std::unique_ptr<SafetensorsWriter> Writer(std::vector<TensorInfo> tensors) {
    auto writer = SafetensorsWriter::Create(
        &files_, kPath, /*attempt=*/2, {{"shard", "0"}}, std::move(tensors));
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }

  // What opening a file of this header and data says.
  absl::Status Open(const std::string& json, const std::string& data = "") {
    std::string bytes(8, '\0');
    const uint64_t length = json.size();
    std::memcpy(bytes.data(), &length, 8);
    files_.AddFile(kPath, bytes + json + data);
    return SafetensorsReader::Open(files_, kPath).status();
  }

  FakeFileSystem files_;
};

// docs/checkpoint_format.md shows these very bytes.
TEST_F(Safetensors, ATinyFileIsTheseBytes) {
  auto writer = Writer({{"fm@ids", DType::kI64, {2}},
                        {"fm_w", DType::kF32, {2, 1}},
                        {"b", DType::kF32, {}}});
  ASSERT_TRUE(writer->Append(0, Bytes<int64_t>({3, 7})).ok());
  ASSERT_TRUE(writer->Append(1, Bytes<float>({0.5f, -2})).ok());
  ASSERT_TRUE(writer->Append(2, Bytes<float>({1})).ok());
  const auto written = writer->Commit();
  ASSERT_TRUE(written.ok()) << written.status();
  const std::string json =
      R"({"__metadata__": {"shard": "0"}, )"
      R"("fm@ids": {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]}, )"
      R"("fm_w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [16, 24]}, )"
      R"("b": {"dtype": "F32", "shape": [], "data_offsets": [24, 28]}})";
  const std::string expected =
      absl::StrCat(absl::HexStringToBytes("e800000000000000"), json,
                   std::string(0xe8 - json.size(), ' '),
                   absl::HexStringToBytes("0300000000000000"
                                          "0700000000000000"
                                          "0000003f000000c0"
                                          "0000803f"));
  EXPECT_EQ(absl::BytesToHexString(*files_.Contents(kPath)),
            absl::BytesToHexString(expected));
  EXPECT_EQ(written->size, expected.size());
  EXPECT_EQ(written->data_begin, 0xf0u);
  EXPECT_EQ(written->header_crc32c, Crc32c(expected.substr(0, 0xf0)));
  EXPECT_EQ(written->tensors[0].checksums.crc32c,
            Crc32c(expected.substr(0xf0, 16)));
}

TEST_F(Safetensors, WhatIsWrittenIsReadInAnyRanges) {
  // Two blocks and a half, then an empty tensor.
  std::vector<float> values(655'360);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i * 0.5f;
  auto writer = Writer({{"a", DType::kF32, {655'360}},
                        {"nothing", DType::kF32, {0, 7}},
                        {"b", DType::kU8, {3}}});
  // In odd pieces, which blocks do not notice.
  for (absl::string_view rest = Bytes(values); !rest.empty();) {
    const size_t n = std::min<size_t>(rest.size(), 777'777);
    ASSERT_TRUE(writer->Append(0, rest.substr(0, n)).ok());
    rest.remove_prefix(n);
  }
  ASSERT_TRUE(writer->Append(2, "xyz").ok());
  const auto written = writer->Commit();
  ASSERT_TRUE(written.ok()) << written.status();
  const TensorChecksums& sums = written->tensors[0].checksums;
  const absl::string_view all = Bytes(values);
  EXPECT_EQ(sums.crc32c, Crc32c(all));
  EXPECT_THAT(sums.blocks, ElementsAre(Crc32c(all.substr(0, 1 << 20)),
                                       Crc32c(all.substr(1 << 20, 1 << 20)),
                                       Crc32c(all.substr(2 << 20))));

  const auto reader = SafetensorsReader::Open(files_, kPath, *written);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->header().metadata.at("shard"), "0");
  EXPECT_EQ((*reader)->header().tensors.size(), 3u);
  CheckedTensor tensor(reader->get(), &written->tensors[0]);
  for (const auto& [first, count] : {std::pair{0, 655'360},
                                     {262'143, 2},
                                     {655'359, 1},
                                     {5, 0},
                                     {1, 300'000}}) {
    std::vector<float> read(count);
    ASSERT_TRUE(tensor.ReadElements<float>(first, absl::MakeSpan(read)).ok());
    for (int i = 0; i < count; ++i) ASSERT_EQ(read[i], values[first + i]);
  }
}

TEST_F(Safetensors, AnUnfinishedFileIsNeverSeenAndGoes) {
  {
    auto writer = Writer({{"a", DType::kU8, {4}}});
    ASSERT_TRUE(writer->Append(0, "ab").ok());
    EXPECT_THAT(*files_.ListDirectory("/c"),
                ElementsAre(testing::Field(&DirectoryEntry::name,
                                           ".a.safetensors.attempt-2")));
    EXPECT_EQ(files_.List("/c").status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_THAT(*files_.ListDirectory("/c"), IsEmpty());
}

TEST_F(Safetensors, TensorsOtherThanDeclaredAreABug) {
  using Code = absl::StatusCode;
  auto writer = Writer({{"a", DType::kU8, {4}}, {"b", DType::kU8, {1}}});
  EXPECT_EQ(writer->Append(0, "abcde").code(), Code::kInternal);
  EXPECT_EQ(Writer({{"a", DType::kU8, {4}}})->Commit().status().code(),
            Code::kInternal);
  writer = Writer({{"a", DType::kU8, {4}}, {"b", DType::kU8, {1}}});
  ASSERT_TRUE(writer->Append(0, "abc").ok());
  EXPECT_EQ(writer->Append(1, "x").code(), Code::kInternal);
  EXPECT_EQ(Writer({{"a", DType::kU8, {4}}})->Append(1, "x").code(),
            Code::kInternal);
  const auto create = [this](std::vector<TensorInfo> tensors) {
    return SafetensorsWriter::Create(&files_, kPath, 1, {}, std::move(tensors))
        .status()
        .code();
  };
  EXPECT_EQ(create({{"a"}, {"a"}}), Code::kInvalidArgument);
  EXPECT_EQ(create({{""}}), Code::kInvalidArgument);
  EXPECT_EQ(create({{"\xff"}}), Code::kInvalidArgument);
  EXPECT_EQ(create({{"__metadata__"}}), Code::kInvalidArgument);
  EXPECT_EQ(create({{"a", DType::kU8, {1ull << 40, 1ull << 40}}}),
            Code::kInvalidArgument);
}

TEST_F(Safetensors, AFullDiskAndADamagedOneNameTheFile) {
  files_.LimitWrites("/c/.a.safetensors.attempt-2", 300);
  auto writer = Writer({{"a", DType::kU8, {4000}}});
  absl::Status full;
  for (int i = 0; i < 4 && full.ok(); ++i) {
    full = writer->Append(0, std::string(1000, 'x'));
  }
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), HasSubstr("a.safetensors"));
  writer.reset();

  auto whole = SafetensorsWriter::Create(&files_, "/c/b", 1, {},
                                         {{"a", DType::kU8, {4000}}});
  ASSERT_TRUE((*whole)->Append(0, std::string(4000, 'x')).ok());
  const auto written = (*whole)->Commit();
  ASSERT_TRUE(written.ok());
  files_.FailReads("/c/b", absl::InternalError("/c/b: Input/output error"),
                   2000);
  const auto reader = SafetensorsReader::Open(files_, "/c/b", *written);
  ASSERT_TRUE(reader.ok()) << reader.status();
  CheckedTensor tensor(reader->get(), &written->tensors[0]);
  std::string out(4000, ' ');
  EXPECT_EQ(tensor.Read(0, absl::MakeSpan(out)).message(),
            "/c/b: Input/output error");
  files_.Truncate("/c/b", 100);
  files_.FailReads("/c/b", absl::OkStatus());
  EXPECT_EQ(tensor.Read(0, absl::MakeSpan(out)).code(),
            absl::StatusCode::kDataLoss);
}

TEST_F(Safetensors, HeadersThatLieAreRefused) {
  const std::string tensor =
      R"({"dtype": "F32", "shape": [2], "data_offsets": [0, 8]})";
  const std::string data(8, 'x');
  ASSERT_TRUE(Open("{\"a\": " + tensor + "}", data).ok());
  const std::pair<std::string, const char*> cases[] = {
      {"", "not JSON: it ends too early, after byte 0"},
      {"{\"a\": 7,, \"b\": 1}",
       ": its header (17 bytes from byte 8 of the file on) is not JSON from "
       "byte 8 on: the file is damaged, or not a safetensors file"},
      {"[]", "must be an object"},
      {"{\"a\": 1}", "a: is not an object"},
      {"{\"a\": {}}", "is missing"},
      {R"({"a": {"dtype": "F31", "shape": [2], "data_offsets": [0, 8]}})",
       "not a dtype"},
      {R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})",
       "shape and dtype make 12"},
      {R"({"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, 8]}})",
       "not a whole number"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 0]}})",
       "data_offsets"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}})",
       "a pair of numbers"},
      {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})",
       "end at 0"},
      {R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})",
       "8 after its header"},
      {R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},)"
       R"( "b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
       "end at 8"},
      {R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296],)"
       R"( "data_offsets": [0, 8]}})",
       "2^62"},
      {R"({"a": {"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,2],)"
       R"( "data_offsets": [0, 8]}})",
       "at most 8"},
      {"{\"__metadata__\": {\"a\": 1}, \"a\": " + tensor + "}",
       "is not a text"},
      {"{\"a\": [[[[[[]]]]]]}", "nested deeper"},
  };
  for (const auto& [json, expected] : cases) {
    const absl::Status status = Open(json, data);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << json;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(kPath), HasSubstr(expected)));
  }
  for (const std::string& bytes :
       {std::string(), std::string("abc"), std::string(8, '\xff'),
        std::string("\x10\0\0\0\0\0\0\0{}", 10), std::string(4096, 'x')}) {
    files_.AddFile(kPath, bytes);
    EXPECT_EQ(SafetensorsReader::Open(files_, kPath).status().code(),
              absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(SafetensorsReader::Open(files_, "/c").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace shoal
