#ifndef SHOAL_PS_SHARD_REQUEST_CHECK_H_
#define SHOAL_PS_SHARD_REQUEST_CHECK_H_

#include "absl/status/status.h"
#include "core/parameter_service.h"
#include "ps/shard/repeat_finder.h"
#include "ps/shard/shard_contents.h"

namespace shoal {

// Checks of a whole request before anything is changed, so that what follows
// cannot fail. Pure; thread-safe, but for the finder.

// FAILED_PRECONDITION, naming both values, if the call is meant for another
// job, shard life or map version, or if the worker's life was issued by another
// start of the coordinator than the shard's own. Which registration of that
// start the worker's life is does not matter: a push is known by its data.
absl::Status CheckIdentity(const CallIdentity& mine, const CallIdentity& call);

// INVALID_ARGUMENT for a table or block that this shard does not have, ids that
// are not its own, spans of the wrong length. A repeated id is no error here:
// its answer is right.
absl::Status CheckPull(const ShardContents& contents,
                       const PullRequest& request);

// As CheckPull, and INVALID_ARGUMENT for a table, id or block named twice,
// whose second update would not be the sum's, and for a rejected push that
// brings anything.
absl::Status CheckPush(const ShardContents& contents,
                       const PushRequest& request, RepeatFinder* finder);

// Whether every gradient of the push is sound (core/sound_gradient.h).
bool IsSound(const PushRequest& request);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_REQUEST_CHECK_H_
