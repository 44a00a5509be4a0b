#include "base/protobuf_wire.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  AppendVarint(value, &bytes);
  return bytes;
}

// The examples of protobuf's own description of its encoding.
TEST(ProtobufWire, NumbersAreThoseOfTheSpecification) {
  EXPECT_EQ(Varint(0), std::string("\0", 1));
  EXPECT_EQ(Varint(1), "\x01");
  EXPECT_EQ(Varint(150), "\x96\x01");
  EXPECT_EQ(Varint(~uint64_t{0}), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ProtobufWire, AFieldIsItsTagItsLengthAndItsBytes) {
  std::string out;
  AppendTag(1, WireType::kVarint, &out);
  AppendVarint(150, &out);
  AppendField(2, "testing", &out);
  EXPECT_EQ(out,
            "\x08\x96\x01\x12\x07"
            "testing");
  // A field number that takes two bytes.
  out.clear();
  AppendField(16, "", &out);
  EXPECT_EQ(out, std::string("\x82\x01\x00", 3));
}

TEST(ProtobufWire, SizesAreKnownBeforeAnythingIsWritten) {
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{16383},
        uint64_t{16384}, uint64_t{1} << 62, ~uint64_t{0}}) {
    EXPECT_EQ(VarintBytes(value), Varint(value).size()) << value;
  }
  for (const size_t bytes : {0, 1, 127, 128, 20000}) {
    std::string out;
    AppendField(15, std::string(bytes, 'x'), &out);
    EXPECT_EQ(FieldBytes(bytes), out.size()) << bytes;
  }
}

}  // namespace
}  // namespace shoal
