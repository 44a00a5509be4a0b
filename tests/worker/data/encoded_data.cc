#include "tests/worker/data/encoded_data.h"

#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

template <typename T>
std::string Raw(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

std::string Tag(uint32_t field, uint32_t type) {
  return WireVarint(uint64_t{field} << 3 | type);
}

}  // namespace

std::string WireVarint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>(value | 0x80);
  }
  return bytes + static_cast<char>(value);
}

std::string WireBytes(uint32_t field, absl::string_view bytes) {
  return absl::StrCat(Tag(field, 2), WireVarint(bytes.size()), bytes);
}

std::string FloatFeature(const std::vector<float>& numbers, bool packed) {
  std::string list;
  for (const float number : numbers) {
    absl::StrAppend(&list, packed ? "" : Tag(1, 5), Raw(number));
  }
  return WireBytes(2, packed ? WireBytes(1, list) : list);
}

std::string IntFeature(const std::vector<int64_t>& numbers, bool packed) {
  std::string list;
  for (const int64_t number : numbers) {
    absl::StrAppend(&list, packed ? "" : Tag(1, 0),
                    WireVarint(static_cast<uint64_t>(number)));
  }
  return WireBytes(3, packed ? WireBytes(1, list) : list);
}

std::string TfExample(
    const std::vector<std::pair<std::string, std::string>>& features) {
  std::string map;
  for (const auto& [name, feature] : features) {
    map += WireBytes(1, WireBytes(1, name) + WireBytes(2, feature));
  }
  return WireBytes(1, map);
}

std::string TfExampleRow(float label, const std::vector<int64_t>& ids,
                         const std::vector<float>& values) {
  return TfExample({{"label", FloatFeature({label})},
                    {"ids", IntFeature(ids)},
                    {"values", FloatFeature(values)}});
}

std::string TfRecord(absl::string_view payload) {
  const std::string length = Raw(static_cast<uint64_t>(payload.size()));
  return absl::StrCat(length, Raw(MaskedCrc32c(Crc32c(length))), payload,
                      Raw(MaskedCrc32c(Crc32c(payload))));
}

std::string Gzip(absl::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(absl::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(),
                            bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

SameRows MakeSameRows(int rows, int fields, uint64_t ids) {
  SameRows same;
  for (int i = 0; i < rows; ++i) {
    std::vector<int64_t> row_ids;
    std::vector<float> values;
    absl::StrAppend(&same.libsvm, i % 2);
    for (int f = 0; f < 1 + i % fields; ++f) {
      row_ids.push_back(static_cast<int64_t>(StableHashCombine(i, f) % ids));
      const uint64_t eighths = StableHashCombine(f, i) % 40;
      values.push_back(static_cast<float>(eighths) / 8);
      absl::StrAppend(&same.libsvm, " ", row_ids.back(), ":", eighths * 125,
                      "e-3");
    }
    same.libsvm += "\n";
    same.tfrecord +=
        TfRecord(TfExampleRow(static_cast<float>(i % 2), row_ids, values));
  }
  return same;
}

std::string ToLibFfm(absl::string_view libsvm) {
  std::string libffm;
  int field = -1;
  for (const char c : libsvm) {
    if (c == '\n') field = -1;
    libffm += c;
    if (c == ' ') absl::StrAppend(&libffm, ++field, ":");
  }
  return libffm;
}

}  // namespace shoal
