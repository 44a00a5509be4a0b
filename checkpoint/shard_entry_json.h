#ifndef SHOAL_CHECKPOINT_SHARD_ENTRY_JSON_H_
#define SHOAL_CHECKPOINT_SHARD_ENTRY_JSON_H_

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "checkpoint/shard_entry.h"

namespace shoal {

// One shard in a manifest, and in the message that brings it to the
// coordinator. Used by the manifest and by shard_entry.cc alone.
void WriteShardEntry(const ShardEntry& entry, JsonWriter* writer);
// What does not fit together is the node's error.
ShardEntry ReadShardEntry(const JsonNode& node);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SHARD_ENTRY_JSON_H_
