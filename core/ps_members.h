#ifndef SHOAL_CORE_PS_MEMBERS_H_
#define SHOAL_CORE_PS_MEMBERS_H_

#include "base/check.h"

namespace shoal {

// The parameter servers of a job, and the shard that each of them holds. Three
// numbers are not to be mixed:
//
//   member  a server with a life and a session of its own, by
//           RegisterRequest::index of Role::kPs. The ledger has a column for
//           each member, and each member reports at the end of the job
//   shard   a part of the variables, by its number in the ShardMap
//   rank    a worker of a synchronous mode
//
// Without a replicated shard (ShardMap::replicated), member k holds shard k.
// Otherwise the members from number `replicated` on, the first of which belongs
// to rank 0, are its replicas: each holds a copy of this shard.
//
//   PsMembers async{.count = 3};                    // shards 0 1 2
//   PsMembers ring{.count = 3, .replicated = 0};    // shards 0 0 0
//   PsMembers hybrid{.count = 4, .replicated = 2};  // shards 0 1 2 2
//   hybrid.num_shards();     // 3
//   hybrid.num_servers();    // 2
//   hybrid.ShardOf(3);       // 2
//   hybrid.MemberFor(2, 1);  // 3, the replica of rank 1
struct PsMembers {
  int count = 1;
  int replicated = -1;  // ShardMap::replicated

  // There is a member for every shard.
  constexpr bool valid() const {
    return count >= 1 && replicated >= -1 && replicated < count;
  }
  constexpr int num_shards() const {
    return replicated < 0 ? count : replicated + 1;
  }
  // The members that are no replicas: the servers that each have a shard of
  // their own.
  constexpr int num_servers() const {
    return replicated < 0 ? count : replicated;
  }
  // The shard that the member holds. REQUIRES: 0 <= member < count.
  constexpr int ShardOf(int member) const {
    SHOAL_DCHECK(member >= 0 && member < count);
    return member < num_shards() ? member : replicated;
  }
  // True for the first member of its shard, which speaks for the shard where
  // each shard counts once. Member k is the first of shard k. REQUIRES: member
  // >= 0.
  constexpr bool IsFirst(int member) const { return member < num_shards(); }
  // The worker of this rank has a member for every shard. REQUIRES: rank >= 0.
  constexpr bool Serves(int rank) const {
    return replicated < 0 || rank < count - replicated;
  }
  // The member that serves `shard` to the worker of this rank. REQUIRES: 0 <=
  // shard < num_shards(), Serves(rank).
  constexpr int MemberFor(int shard, int rank) const {
    const int member = shard == replicated ? replicated + rank : shard;
    SHOAL_DCHECK(shard >= 0 && shard < num_shards() && member < count);
    return member;
  }
};

}  // namespace shoal

#endif  // SHOAL_CORE_PS_MEMBERS_H_
