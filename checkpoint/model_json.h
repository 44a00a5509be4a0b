#ifndef SHOAL_CHECKPOINT_MODEL_JSON_H_
#define SHOAL_CHECKPOINT_MODEL_JSON_H_

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "core/model_spec.h"
#include "core/shard_map.h"

namespace shoal {

// The most shards of a manifest.
inline constexpr int kManifestShardsMax = 65535;

// The model and its partition as JSON in a manifest; used only by manifest.cc.
// A value that is missing or wrong becomes the error of the JSON node.
void WriteModel(const ModelSpec& model, JsonWriter* writer);
ModelSpec ReadModel(const JsonNode& node);  // also validates the model
void WritePartition(const ShardMap& map, JsonWriter* writer);
ShardMap ReadPartition(const ModelSpec& model, const JsonNode& node);

// Checks that the map fits the model and places every element once.
// INVALID_ARGUMENT names what does not fit.
absl::Status CheckPartition(const ModelSpec& model, const ShardMap& map);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_MODEL_JSON_H_
