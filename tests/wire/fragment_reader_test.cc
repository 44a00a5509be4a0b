#include "wire/codec/fragment_reader.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "tests/wire/codec_test_util.h"

namespace shoal {
namespace {

std::string ProtobufVarint(uint64_t value) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteVarint64(value);
  coded.Trim();
  return bytes;
}

TEST(FragmentReaderTest, ReadsWhatProtobufWritesAcrossEveryBorder) {
  for (int bit = 0; bit <= 64; ++bit) {
    const uint64_t value = bit == 64 ? ~uint64_t{0} : uint64_t{1} << bit;
    const std::string bytes = ProtobufVarint(value);
    for (size_t size = 1; size <= bytes.size(); ++size) {
      const Pieces pieces = Pieces::OfSize(bytes, size);
      FragmentReader reader(pieces.fragments());
      uint64_t read = 0;
      ASSERT_TRUE(reader.ReadVarint(&read));
      EXPECT_EQ(read, value);
      EXPECT_EQ(reader.remaining(), 0);
    }
  }
}

TEST(FragmentReaderTest, ABadVarintReadsNothing) {
  for (const std::string& bytes :
       {std::string(), std::string("\x80", 1), std::string(9, '\xff'),
        std::string(10, '\xff'), std::string(9, '\xff') + '\x02',
        std::string(11, '\x80')}) {
    const Pieces pieces = Pieces::Whole(bytes);
    FragmentReader reader(pieces.fragments());
    uint64_t read = 42;
    EXPECT_FALSE(reader.ReadVarint(&read));
    EXPECT_EQ(read, 42);
    EXPECT_EQ(reader.remaining(), bytes.size());
  }
}

TEST(FragmentReaderTest, TakesAndCopiesAcrossRandomBorders) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string bytes(random() % 64, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const Pieces pieces = Pieces::Random(bytes, &random);
    FragmentReader reader(pieces.fragments());
    const size_t skip = random() % (bytes.size() + 1);
    const size_t take = random() % (bytes.size() - skip + 1);
    ASSERT_TRUE(reader.Skip(skip));
    FragmentReader body;
    ASSERT_TRUE(reader.Take(take, &body));
    std::string listed;
    std::vector<absl::string_view> fragments;
    body.ListFragments(&fragments);
    for (const absl::string_view f : fragments) {
      listed.append(f.data(), f.size());
    }
    EXPECT_EQ(listed, bytes.substr(skip, take));
    std::string copied(take, '\0');
    ASSERT_TRUE(body.CopyTo(copied.data(), take));
    EXPECT_EQ(copied, listed);
    EXPECT_FALSE(body.Skip(1));
    std::string rest(reader.remaining(), '\0');
    ASSERT_TRUE(reader.CopyTo(rest.data(), rest.size()));
    EXPECT_EQ(rest, bytes.substr(skip + take));
    EXPECT_FALSE(reader.CopyTo(rest.data(), 1));
  }
}

}  // namespace
}  // namespace shoal
