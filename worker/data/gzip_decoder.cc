#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/data/stream_decoder.h"

namespace shoal {
namespace {

constexpr int kGzipOnly = 16;  // added to the number of window bits

class GzipDecoder final : public StreamDecoder {
 public:
  ~GzipDecoder() override { inflateEnd(&stream_); }

  absl::Status Init() {
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) {
      return absl::ResourceExhaustedError(
          "there is no memory to decompress gzip");
    }
    return absl::OkStatus();
  }

  absl::Status Reset() override {
    between_ = true;
    began_ = false;
    if (inflateReset(&stream_) != Z_OK) {
      return absl::InternalError("zlib cannot be reset");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Step> Decode(absl::string_view in,
                              absl::Span<char> out) override {
    if (between_) {
      if (in.empty()) return Step{0, 0, true};
      if (began_) SHOAL_RETURN_IF_ERROR(Reset());
      began_ = true;
      between_ = false;
    }
    constexpr size_t kMost = std::numeric_limits<uInt>::max();
    stream_.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // not written
    stream_.avail_in = static_cast<uInt>(std::min(in.size(), kMost));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kMost));
    const uInt in_before = stream_.avail_in;
    const uInt out_before = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    // Z_BUF_ERROR means that no progress was possible, not that the data is
    // damaged.
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return absl::DataLossError(absl::StrCat(
          "gzip: ", stream_.msg != nullptr  ? stream_.msg
                    : result == Z_NEED_DICT ? "a dictionary is needed"
                                            : zError(result)));
    }
    between_ = result == Z_STREAM_END;
    return Step{in_before - stream_.avail_in, out_before - stream_.avail_out,
                between_};
  }

 private:
  z_stream stream_ = {};
  bool between_ = true;
  bool began_ = false;  // a member has begun since the last Reset
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamDecoder>> NewGzipDecoder() {
  auto decoder = std::make_unique<GzipDecoder>();
  SHOAL_RETURN_IF_ERROR(decoder->Init());
  return decoder;
}

}  // namespace shoal
