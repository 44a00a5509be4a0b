#include "ps/server/manifest_fetcher.h"

#include <utility>

namespace shoal {

void ManifestFetcher::Stop() {
  send_ = nullptr;
  while (!wanted_.empty()) {
    FinishFirst(absl::CancelledError("the process left the job"));
  }
}

void ManifestFetcher::Fetch(std::string directory, ManifestOffer offer,
                            Done<std::string> done) {
  ManifestParts parts(directory, offer.name);
  if (!offer.text.empty()) {
    const absl::Status whole =
        parts.Add({std::move(directory), 0, std::move(offer.text)});
    if (!whole.ok() || parts.whole()) {
      std::move(done)(whole.ok() ? absl::StatusOr<std::string>(parts.Take())
                                 : whole);
      return;
    }
  }
  if (send_ == nullptr) {
    std::move(done)(absl::CancelledError("the process left the job"));
    return;
  }
  wanted_.push_back({std::move(parts), std::move(done)});
  if (wanted_.size() == 1) Ask();
}

void ManifestFetcher::On(const ManifestPart& part) {
  if (wanted_.empty()) return;
  const absl::Status added = wanted_.front().parts.Add(part);
  if (!added.ok()) FinishFirst(added);
  Ask();
}

void ManifestFetcher::Ask() {
  while (!wanted_.empty() && wanted_.front().parts.whole()) {
    FinishFirst(wanted_.front().parts.Take());
  }
  if (wanted_.empty() || send_ == nullptr) return;
  send_(wanted_.front().parts.Next());
}

void ManifestFetcher::FinishFirst(absl::StatusOr<std::string> text) {
  Done<std::string> done = std::move(wanted_.front().done);
  wanted_.pop_front();
  std::move(done)(std::move(text));
}

}  // namespace shoal
