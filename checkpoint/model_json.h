#ifndef SHOAL_CHECKPOINT_MODEL_JSON_H_
#define SHOAL_CHECKPOINT_MODEL_JSON_H_

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

// The most shards that a manifest can say.
inline constexpr int kManifestShardsMax = 65535;

// The model and its partition in a manifest; used by that alone. What a node
// does not hold as it must is the node's error.
void WriteModel(const ModelSpec& model, JsonWriter* writer);
ModelSpec ReadModel(const JsonNode& node);  // validated
void WritePartition(const ShardMap& map, JsonWriter* writer);
ShardMap ReadPartition(const ModelSpec& model, const JsonNode& node);

// Whether the map fits the model and places every element once.
// INVALID_ARGUMENT says what does not.
absl::Status CheckPartition(const ModelSpec& model, const ShardMap& map);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_MODEL_JSON_H_
