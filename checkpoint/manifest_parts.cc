#include "checkpoint/manifest_parts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "checkpoint/manifest.h"

namespace shoal {

ManifestName NameOf(absl::string_view text) {
  return {text.size(), Crc32c(text)};
}

ManifestText TextOf(std::string text) {
  const ManifestName name = NameOf(text);
  return {name, std::make_shared<const std::string>(std::move(text))};
}

ManifestOffer OfferOf(const ManifestText& manifest) {
  const bool fits =
      manifest.text != nullptr && manifest.text->size() <= kManifestPartBytes;
  return {manifest.name, fits ? *manifest.text : ""};
}

ManifestPart PartOf(absl::string_view directory, absl::string_view text,
                    uint64_t offset) {
  const auto begin =
      static_cast<size_t>(std::min<uint64_t>(offset, text.size()));
  return {std::string(directory), offset,
          std::string(text.substr(begin, kManifestPartBytes))};
}

absl::Status ManifestParts::Add(const ManifestPart& part) {
  if (part.directory != directory_) {
    return absl::InvalidArgumentError(
        absl::StrCat("the manifest of ", directory_,
                     " was asked for, but a part of the manifest of ",
                     part.directory, " came"));
  }
  if (name_.bytes > kManifestBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the manifest of ", directory_, " has ", name_.bytes,
                     " bytes; at most ", kManifestBytesMax, " are read"));
  }
  if (part.text.empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the coordinator does not have the manifest of ", directory_));
  }
  if (part.offset != text_.size() ||
      part.text.size() > name_.bytes - text_.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "bytes ", part.offset, " to ", part.offset + part.text.size(),
        " of the manifest of ", directory_, " came, but the next byte is ",
        text_.size(), " of ", name_.bytes));
  }
  text_.reserve(name_.bytes);
  text_ += part.text;
  crc32c_ = Crc32cExtend(crc32c_, part.text);
  if (whole() && crc32c_ != name_.crc32c) {
    return absl::DataLossError(absl::StrCat(
        "the manifest of ", directory_, " has the CRC-32C ",
        absl::Hex(crc32c_, absl::kZeroPad8), ", but the coordinator said ",
        absl::Hex(name_.crc32c, absl::kZeroPad8)));
  }
  return absl::OkStatus();
}

}  // namespace shoal
