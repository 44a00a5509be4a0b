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

// Fetches the texts of manifests from the coordinator, part by part, one
// manifest after another. At most one part, of at most kManifestPartBytes, is
// requested at a time. Owned by the control strand.
class ManifestFetcher {
 public:
  // `send` sends the requests during one life; Stop ends its use.
  void Start(absl::AnyInvocable<void(ProcessMessage)> send) {
    send_ = std::move(send);
  }
  // Ends all fetches in progress with CANCELLED.
  void Stop();

  // Fetches the text of the offered manifest. `done` may run before Fetch
  // returns. Errors: those of ManifestParts::Add; CANCELLED.
  void Fetch(std::string directory, ManifestOffer offer,
             Done<std::string> done);
  // Takes the answer to a request. An answer that was not requested is ignored.
  void On(const ManifestPart& part);

 private:
  struct Wanted {
    ManifestParts parts;
    Done<std::string> done;
  };

  // Requests the next part of the first manifest that is not complete.
  void Ask();
  void FinishFirst(absl::StatusOr<std::string> text);

  absl::AnyInvocable<void(ProcessMessage)> send_;  // null: the process has no
                                                   // life
  std::deque<Wanted> wanted_;  // a part of the first is requested
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_MANIFEST_FETCHER_H_
