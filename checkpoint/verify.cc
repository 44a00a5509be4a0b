#include "checkpoint/verify.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/aligned_buffer.h"
#include "base/crc32c.h"
#include "base/path.h"
#include "checkpoint/safetensors_reader.h"

namespace shoal {
namespace {

class Verifier {
 public:
  Verifier(const FileSystem& files, const VerifyOptions& options)
      : files_(files), options_(options) {}

  void Check(const std::string& path, const WrittenFile& expected) {
    file_ = expected.file;
    const auto reader = SafetensorsReader::Open(files_, path, expected);
    if (!reader.ok()) {
      if (absl::IsNotFound(reader.status()) && !options_.need_all_files) return;
      Add("", 0, expected.size, std::string(reader.status().message()));
      return;
    }
    ++report_.files;
    report_.bytes += expected.data_begin;
    for (const WrittenTensor& tensor : expected.tensors) {
      CheckTensor(**reader, tensor);
    }
  }

  VerifyReport Take() { return std::move(report_); }

 private:
  void Add(const std::string& tensor, uint64_t offset, uint64_t bytes,
           std::string what) {
    if (report_.damaged++ >= kDamageListed) return;
    report_.damage.push_back({file_, tensor, offset, bytes, std::move(what)});
  }

  void CheckTensor(const SafetensorsReader& reader,
                   const WrittenTensor& tensor) {
    const uint64_t damaged_before = report_.damaged;
    const uint64_t begin = reader.header().data_begin + tensor.info.begin;
    uint32_t crc = 0;
    uint64_t offset = 0;
    for (size_t i = 0; i < tensor.checksums.blocks.size(); ++i) {
      const uint64_t bytes =
          std::min(kChecksumBlockBytes, tensor.info.bytes() - offset);
      buffer_.ResizeDiscard(bytes);
      const absl::Status read =
          reader.Read(tensor.info, offset, buffer_.span());
      if (!read.ok()) {
        Add(tensor.info.name, begin + offset, bytes,
            std::string(read.message()));
        return;
      }
      const absl::string_view block(buffer_.data(), bytes);
      if (Crc32c(block) != tensor.checksums.blocks[i]) {
        Add(tensor.info.name, begin + offset, bytes,
            absl::StrCat("block ", i, " does not have its CRC"));
      }
      crc = Crc32cExtend(crc, block);
      offset += bytes;
      report_.bytes += bytes;
      ++report_.blocks;
    }
    if (crc != tensor.checksums.crc32c && report_.damaged == damaged_before) {
      Add(tensor.info.name, begin, tensor.info.bytes(),
          "the tensor does not have its CRC, but all its blocks have theirs");
    }
  }

  const FileSystem& files_;
  const VerifyOptions options_;
  std::string file_;
  VerifyReport report_;
  AlignedBuffer<char> buffer_;
};

}  // namespace

VerifyReport VerifyCheckpoint(const FileSystem& files,
                              const std::string& directory,
                              const Manifest& manifest,
                              const VerifyOptions& options) {
  Verifier verifier(files, options);
  for (const ShardEntry& shard : manifest.shards) {
    verifier.Check(JoinPath(directory, shard.file.file), shard.file);
  }
  return verifier.Take();
}

std::string ToString(const Damage& damage) {
  return absl::StrCat(damage.file, damage.tensor.empty() ? "" : ", tensor '",
                      damage.tensor, damage.tensor.empty() ? "" : "'",
                      ", bytes ", damage.offset, " to ",
                      damage.offset + damage.bytes, ": ", damage.what);
}

}  // namespace shoal
