#ifndef SHOAL_PS_SHARD_REQUEST_CHECK_H_
#define SHOAL_PS_SHARD_REQUEST_CHECK_H_

#include "absl/status/status.h"
#include "core/parameter_service.h"
#include "ps/shard/repeat_finder.h"
#include "ps/shard/shard_contents.h"

namespace shoal {

// Checks of a whole request before anything is changed, so that applying it
// cannot fail. Pure; thread-safe except for the finder.

// FAILED_PRECONDITION, naming both values, if the call is for another job,
// shard life or map version, or if the worker's life and the shard's life were
// issued by different starts of the coordinator. Which registration of that
// start issued the worker's life does not matter: a push is known by its data.
absl::Status CheckIdentity(const CallIdentity& mine, const CallIdentity& call);

// INVALID_ARGUMENT for a table or block that this shard does not have, ids of
// another shard, and spans of the wrong length. A repeated id is not an error
// in a pull: its answer is right.
absl::Status CheckPull(const ShardContents& contents,
                       const PullRequest& request);

// Same as CheckPull. Also INVALID_ARGUMENT for a table, id or block that is
// named twice, because two updates differ from one update by the sum, and for a
// push that brings gradients although all its batches are rejected. REQUIRES:
// request.batches passes CheckPushedBatches.
absl::Status CheckPush(const ShardContents& contents,
                       const PushRequest& request, RepeatFinder* finder);

// True if every gradient of the push is sound (core/sound_gradient.h).
bool IsSound(const PushRequest& request);

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_REQUEST_CHECK_H_
