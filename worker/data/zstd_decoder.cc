#include <zstd.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "worker/data/stream_decoder.h"

namespace shoal {
namespace {

constexpr int kWindowLogMax = 27;  // 128 MiB, the zstd tool's own limit

class ZstdDecoder final : public StreamDecoder {
 public:
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }

  absl::Status Init() {
    stream_ = ZSTD_createDStream();
    if (stream_ == nullptr ||
        ZSTD_isError(ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax,
                                            kWindowLogMax)) != 0) {
      return absl::ResourceExhaustedError(
          "there is no memory to decompress zstd");
    }
    return absl::OkStatus();
  }

  absl::Status Reset() override {
    between_ = true;
    const size_t result = ZSTD_DCtx_reset(stream_, ZSTD_reset_session_only);
    if (ZSTD_isError(result) != 0) {
      return absl::InternalError("zstd cannot be reset");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Step> Decode(absl::string_view in,
                              absl::Span<char> out) override {
    if (between_ && in.empty()) return Step{0, 0, true};
    ZSTD_inBuffer from = {in.data(), in.size(), 0};
    ZSTD_outBuffer to = {out.data(), out.size(), 0};
    const size_t result = ZSTD_decompressStream(stream_, &to, &from);
    if (ZSTD_isError(result) != 0) {
      return absl::DataLossError(
          absl::StrCat("zstd: ", ZSTD_getErrorName(result)));
    }
    between_ = result == 0;
    return Step{from.pos, to.pos, between_};
  }

 private:
  ZSTD_DStream* stream_ = nullptr;
  bool between_ = true;
};

}  // namespace

absl::StatusOr<std::unique_ptr<StreamDecoder>> NewZstdDecoder() {
  auto decoder = std::make_unique<ZstdDecoder>();
  SHOAL_RETURN_IF_ERROR(decoder->Init());
  return decoder;
}

}  // namespace shoal
