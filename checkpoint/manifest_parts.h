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

// A manifest's text that no message holds travels in parts:
//
//   ManifestParts parts(done.directory, done.manifest.name);  // who wants it
//   while (!parts.whole()) {
//     send(parts.Next());                                // a ManifestRequest
//     part = PartOf(directory, text, request.offset);    // who has it
//     SHOAL_RETURN_IF_ERROR(parts.Add(part));
//   }
//   use(parts.Take());

// The name of the manifest with this text.
ManifestName NameOf(absl::string_view text);

// A manifest's text, to be handed on to those who ask for it.
struct ManifestText {
  ManifestName name;
  std::shared_ptr<const std::string> text;  // null: there is none
};
ManifestText TextOf(std::string text);
ManifestOffer OfferOf(const ManifestText& manifest);

// The part that begins at `offset`. Empty if the text ends before that.
ManifestPart PartOf(absl::string_view directory, absl::string_view text,
                    uint64_t offset);

// Puts a manifest's text together again. Time by the part, not by what is there
// already. Pure logic; thread-compatible.
class ManifestParts {
 public:
  ManifestParts(std::string directory, ManifestName name)
      : directory_(std::move(directory)), name_(name) {}

  const std::string& directory() const { return directory_; }
  const ManifestName& name() const { return name_; }
  bool whole() const { return text_.size() == name_.bytes; }

  // What to ask for next. REQUIRES: !whole().
  ManifestRequest Next() const {
    SHOAL_DCHECK(!whole());
    return {directory_, text_.size()};
  }

  // Takes the answer to Next(). After an error the text is of no use:
  //   INVALID_ARGUMENT   a part of another checkpoint; one that does not begin
  //                      where the last one ended; one that goes beyond the end
  //   NOT_FOUND          an empty one: the coordinator has no such manifest
  //   RESOURCE_EXHAUSTED a manifest of more than kManifestBytesMax
  //   DATA_LOSS          the last one, where the whole has another CRC
  absl::Status Add(const ManifestPart& part);

  // The text, and nothing after that. REQUIRES: whole().
  std::string Take() {
    SHOAL_DCHECK(whole());
    return std::move(text_);
  }

 private:
  std::string directory_;
  ManifestName name_;
  std::string text_;
  uint32_t crc32c_ = 0;  // of text_
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_MANIFEST_PARTS_H_
