#ifndef SHOAL_CHECKPOINT_SHARD_ENTRY_H_
#define SHOAL_CHECKPOINT_SHARD_ENTRY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "checkpoint/safetensors_writer.h"

namespace shoal {

// One variable on one shard.
struct SavedVariable {
  std::string name;
  uint64_t rows = 0;     // in existence; 0 for dense variables
  uint64_t bytes = 0;    // bytes of weights and slots
  uint64_t lookups = 0;  // ids served by pulls since the server's start

  friend bool operator==(const SavedVariable&, const SavedVariable&) = default;
};

// The entry of one shard and its file in a manifest.
struct ShardEntry {
  int shard = 0;
  uint64_t attempt = 0;  // the one in which the file was written
  WrittenFile file;
  uint64_t rows = 0;     // rows of all tables, without the canary's
  uint64_t lookups = 0;  // ids served by pulls, all tables
  // Number and digest of the marks: equal on every shard of a checkpoint.
  uint64_t marks = 0;
  uint64_t marks_digest = 0;
  std::vector<SavedVariable> variables;  // without the canary's

  uint64_t bytes() const;  // bytes of all variables
  friend bool operator==(const ShardEntry&, const ShardEntry&) = default;
};

// An entry as text, for the message to the coordinator; and back. The text is
// ASCII without newlines, about 10 bytes for a block of 1 MiB and 150 for a
// tensor. ShardEntryFromText takes any text; INVALID_ARGUMENT names the wrong
// field.
std::string ShardEntryToText(const ShardEntry& entry);
absl::StatusOr<ShardEntry> ShardEntryFromText(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SHARD_ENTRY_H_
