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
  uint64_t rows = 0;     // in existence; 0 of dense variables
  uint64_t bytes = 0;    // weights and slots
  uint64_t lookups = 0;  // ids served by pulls since the server's start

  friend bool operator==(const SavedVariable&, const SavedVariable&) = default;
};

// What a manifest says of one shard and its file.
struct ShardEntry {
  int shard = 0;
  uint64_t attempt = 0;  // in which the file was written
  WrittenFile file;
  uint64_t rows = 0;     // of all tables, the canary's left out
  uint64_t lookups = 0;  // ids served by pulls, all tables
  // Number and digest of the marks: equal on every shard of a cut.
  uint64_t marks = 0;
  uint64_t marks_digest = 0;
  std::vector<SavedVariable> variables;  // the canary's left out

  uint64_t bytes() const;  // of all variables
  friend bool operator==(const ShardEntry&, const ShardEntry&) = default;
};

// As text, for the message to the coordinator; and back. Text is ASCII without
// newlines, some 10 bytes a block of 1 MiB and 150 a tensor. Errors of the
// second (any text): INVALID_ARGUMENT, naming the field.
std::string ShardEntryToText(const ShardEntry& entry);
absl::StatusOr<ShardEntry> ShardEntryFromText(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SHARD_ENTRY_H_
