#ifndef SHOAL_PS_SERVER_MANIFEST_FETCHER_H_
#define SHOAL_PS_SERVER_MANIFEST_FETCHER_H_

#include <deque>
#include <string>

#include "absl/functional/any_invocable.h"
#include "checkpoint/manifest_parts.h"
#include "core/done.h"
#include "core/save_messages.h"
#include "core/session_messages.h"

namespace shoal {

// Asks the coordinator for the texts of manifests, part by part, one manifest
// after the other. One part of at most kManifestPartBytes is under way at a
// time. Owned by the control strand.
class ManifestFetcher {
 public:
  // `send` carries the requests of one life; Stop ends it.
  void Start(absl::AnyInvocable<void(ProcessMessage)> send) {
    send_ = std::move(send);
  }
  // What is under way ends with CANCELLED.
  void Stop();

  // Gets the text of what was offered. `done` may run at once. Errors: those of
  // ManifestParts::Add; CANCELLED.
  void Fetch(std::string directory, ManifestOffer offer,
             Done<std::string> done);
  // The answer to a request. One that was not asked for is ignored.
  void On(const ManifestPart& part);

 private:
  struct Wanted {
    ManifestParts parts;
    Done<std::string> done;
  };

  // Asks for the next part of the first manifest that is not whole.
  void Ask();
  void FinishFirst(absl::StatusOr<std::string> text);

  absl::AnyInvocable<void(ProcessMessage)> send_;  // null: no life
  std::deque<Wanted> wanted_;  // a request for the first is under way
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_MANIFEST_FETCHER_H_
