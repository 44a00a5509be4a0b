#ifndef SHOAL_CHECKPOINT_MANIFEST_PARTS_H_
#define SHOAL_CHECKPOINT_MANIFEST_PARTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "core/save_messages.h"

namespace shoal {

// The text of a manifest may be too large for a message. It travels in parts:
//
//   ManifestParts parts(done.directory, done.manifest.name);  // receiver
//   while (!parts.whole()) {
//     send(parts.Next());                                // a ManifestRequest
//     part = PartOf(directory, text, request.offset);    // sender
//     SHOAL_RETURN_IF_ERROR(parts.Add(part));
//   }
//   use(parts.Take());

// The length and CRC-32C of a manifest's text.
ManifestName NameOf(absl::string_view text);

// A manifest's text, to be sent to the processes that ask for it.
struct ManifestText {
  ManifestName name;
  std::shared_ptr<const std::string> text;  // may be null: no manifest
};
ManifestText TextOf(std::string text);
ManifestOffer OfferOf(const ManifestText& manifest);

// The part that begins at `offset`. Empty if the text ends at or before
// `offset`.
ManifestPart PartOf(absl::string_view directory, absl::string_view text,
                    uint64_t offset);

// Puts the parts of a manifest's text together. The cost of a part does not
// depend on the size of the text before it. Pure logic; thread-compatible.
class ManifestParts {
 public:
  ManifestParts(std::string directory, ManifestName name)
      : directory_(std::move(directory)), name_(name) {}

  const std::string& directory() const { return directory_; }
  const ManifestName& name() const { return name_; }
  bool whole() const { return text_.size() == name_.bytes; }

  // The request for the next part. REQUIRES: !whole().
  ManifestRequest Next() const {
    SHOAL_DCHECK(!whole());
    return {directory_, text_.size()};
  }

  // Takes the answer to Next(). After an error this object is of no use:
  //   INVALID_ARGUMENT   the part is of another checkpoint, does not begin
  //                      where the last part ended, or goes beyond the end
  //   NOT_FOUND          the part is empty: the coordinator does not have the
  //                      manifest
  //   RESOURCE_EXHAUSTED the manifest is larger than kManifestBytesMax
  //   DATA_LOSS          the part is the last one, and the whole text does not
  //                      have the CRC of the name
  absl::Status Add(const ManifestPart& part);

  // Moves the text out. REQUIRES: whole(). Call once.
  std::string Take() {
    SHOAL_DCHECK(whole());
    return std::move(text_);
  }

 private:
  std::string directory_;
  ManifestName name_;
  std::string text_;
  uint32_t crc32c_ = 0;  // CRC-32C of text_
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_MANIFEST_PARTS_H_
