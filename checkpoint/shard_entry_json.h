#ifndef SHOAL_CHECKPOINT_SHARD_ENTRY_JSON_H_
#define SHOAL_CHECKPOINT_SHARD_ENTRY_JSON_H_

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "checkpoint/shard_entry.h"

namespace shoal {

// The entry of one shard as JSON, in a manifest and in the message to the
// coordinator. Used only by manifest.cc and shard_entry.cc.
void WriteShardEntry(const ShardEntry& entry, JsonWriter* writer);
// Values that do not fit together become the error of the JSON node.
ShardEntry ReadShardEntry(const JsonNode& node);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SHARD_ENTRY_JSON_H_
