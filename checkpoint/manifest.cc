#include "checkpoint/manifest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/model_json.h"
#include "checkpoint/pieces_json.h"
#include "checkpoint/shard_entry_json.h"
#include "core/choice.h"
#include "core/config_text.h"
#include "core/piece_table.h"

namespace shoal {
namespace {

constexpr size_t kTextMax = size_t{16} << 20;
constexpr size_t kNotesMax = 1024;
constexpr size_t kSourcesMax = size_t{1} << 20;
constexpr int kHostsMax = 1 << 20;

// The last line: the text before the CRC, and after it.
constexpr absl::string_view kTailBegin = ",\n \"manifest_crc32c\": \"";
constexpr absl::string_view kTailEnd = "\"\n}\n";
constexpr size_t kTailBytes = kTailBegin.size() + 8 + kTailEnd.size();

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%E6SZ";

bool HasFacts(const SavedPiece& piece) { return piece.facts.has_value(); }

// Writes the CRCs of the pieces that were read to their end, in order; writes
// nothing if one of these CRCs is not known.
void WriteCrcs(const SavedData& data, JsonWriter* writer) {
  std::vector<uint32_t> crcs;
  for (const SavedPiece& piece : data.pieces) {
    if (!piece.facts.has_value()) continue;
    if (!piece.facts->crc32c.has_value()) return;
    crcs.push_back(*piece.facts->crc32c);
  }
  writer->Key("piece_crc32c").Hex32s(crcs);
}

void WriteData(const SavedData& data, JsonWriter* writer) {
  JsonWriter& w = *writer;
  w.BeginObject(/*lines=*/true);
  w.Key("batch_size").U64(data.batch_size);
  w.Key("num_epochs").U64(data.num_epochs);
  if (data.ids != IdKind::kUnknown) {
    w.Key("ids").String(ChoiceWord(kIdKinds, data.ids));
  }
  w.Key("sources").BeginArray(/*lines=*/true);
  for (const SourceInfo& source : data.sources) {
    w.BeginObject();
    w.Key("name").String(source.name);
    w.Key("size").U64(source.size);
    w.Key("head_crc32c").Hex32(source.head_crc32c);
    w.EndObject();
  }
  w.EndArray();
  w.Key("hosts").BeginArray();
  for (const int host : data.hosts) w.U64(host);
  w.EndArray();
  // By piece: source, first byte, end; also examples, bad rows and batches if
  // the piece was read to its end.
  w.Key("pieces").BeginArray();
  for (const SavedPiece& piece : data.pieces) {
    w.BeginArray();
    w.U64(piece.source).U64(piece.begin).U64(piece.end);
    if (piece.facts.has_value()) {
      w.U64(piece.facts->examples).U64(piece.facts->bad_rows);
      w.U64(piece.facts->batches);
    }
    w.EndArray();
  }
  w.EndArray();
  WriteCrcs(data, &w);
  w.EndObject();
}

void ReadCrcs(const JsonNode& node, SavedData* data) {
  if (!node.ok() || !node.Has("piece_crc32c")) return;
  const JsonNode field = node.Field("piece_crc32c");
  const auto known = static_cast<size_t>(
      std::count_if(data->pieces.begin(), data->pieces.end(), HasFacts));
  const std::vector<uint32_t> crcs = field.Hex32s(known);
  if (crcs.size() != known) {
    field.Fail("must have one CRC for each piece that was read to its end");
    return;
  }
  size_t next = 0;
  for (SavedPiece& piece : data->pieces) {
    if (HasFacts(piece)) piece.facts->crc32c = crcs[next++];
  }
}

SavedPiece ReadPiece(const JsonNode& node) {
  SavedPiece piece;
  const size_t size = node.Size(6);
  if (size != 3 && size != 6) {
    node.Fail("must have three or six numbers");
    return piece;
  }
  piece.source = node.At(0).U32();
  piece.begin = node.At(1).U64();
  piece.end = node.At(2).U64();
  if (size == 6) {
    piece.facts = {node.At(3).U64(), node.At(4).U64(), node.At(5).U32(),
                   std::nullopt};
  }
  return piece;
}

// The kind of ids; kUnknown in manifests of older releases, which lack it.
IdKind ReadIds(const JsonNode& data) {
  if (!data.ok() || !data.Has("ids")) return IdKind::kUnknown;
  const JsonNode node = data.Field("ids");
  const std::string word = node.String(64);
  for (const Choice<IdKind>& row : kIdKinds) {
    if (word == row.word) return row.value;
  }
  node.Fail("is not a kind of ids that this Shoal knows");
  return IdKind::kUnknown;
}

// `read`: the pieces, if they were read already.
SavedData ReadData(const JsonNode& node,
                   std::optional<std::vector<SavedPiece>> read) {
  SavedData data;
  data.batch_size = node.Field("batch_size").U32();
  data.num_epochs = node.Field("num_epochs").U32();
  data.ids = ReadIds(node);
  const JsonNode sources = node.Field("sources");
  const size_t source_count = sources.Size(kSourcesMax);
  for (size_t i = 0; i < source_count && node.ok(); ++i) {
    const JsonNode item = sources.At(i);
    data.sources.push_back({item.Field("name").Bytes(kTextMax),
                            item.Field("size").U64(),
                            item.Field("head_crc32c").Hex32()});
  }
  const JsonNode hosts = node.Field("hosts");
  const size_t host_count = hosts.Size(kSourcesMax);
  for (size_t i = 0; i < host_count; ++i) {
    data.hosts.push_back(hosts.At(i).Int(kHostsMax));
  }
  const JsonNode pieces = node.Field("pieces");
  const size_t piece_count = pieces.Size(kMaxPieces);
  for (size_t i = 0; i < piece_count && node.ok(); ++i) {
    data.pieces.push_back(ReadPiece(pieces.At(i)));
  }
  if (read.has_value()) data.pieces = *std::move(read);
  ReadCrcs(node, &data);
  return data;
}

// The totals by name, to write and to read.
template <typename Totals, typename Visit>
void ForEachTotal(Totals& totals, const Visit& visit) {
  visit("trained", totals.trained);
  visit("rejected", totals.rejected);
  visit("batches", totals.batches);
  visit("rejected_batches", totals.rejected_batches);
  visit("mended", totals.mended);
  visit("recomputed", totals.recomputed);
  visit("repeats_refused", totals.repeats_refused);
}

absl::Status CheckData(const SavedData& data) {
  if (!data.hosts.empty() && data.hosts.size() != data.sources.size()) {
    return absl::InvalidArgumentError(
        "the numbers of sources and of their hosts differ");
  }
  for (size_t i = 0; i < data.pieces.size(); ++i) {
    const SavedPiece& piece = data.pieces[i];
    if (piece.source < data.sources.size() && piece.begin <= piece.end &&
        piece.end <= data.sources[piece.source].size) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "piece ", i, ", bytes ", piece.begin, " to ", piece.end, " of source ",
        piece.source, ", does not lie within a source"));
  }
  return absl::OkStatus();
}

absl::Status CheckShards(const Manifest& manifest) {
  const int n = manifest.map.num_shards;
  if (manifest.shards.size() != static_cast<size_t>(n)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are entries for ", manifest.shards.size(),
                     " shards, but the map has ", n));
  }
  for (int i = 0; i < n; ++i) {
    const ShardEntry& entry = manifest.shards[i];
    if (entry.shard != i || entry.file.file != ShardFileName(i, n)) {
      return absl::InvalidArgumentError(
          absl::StrCat("entry ", i, " of ", n, " must be that of shard ", i,
                       ", but is of shard ", entry.shard, ", file '",
                       entry.file.file, "'"));
    }
    const ShardEntry& first = manifest.shards[0];
    if (entry.marks == first.marks &&
        entry.marks_digest == first.marks_digest) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("shard ", i, " (", entry.marks,
                     " batches) and shard 0 (", first.marks,
                     " batches) were not saved after the same batches"));
  }
  return absl::OkStatus();
}

absl::Status DataLoss(const absl::Status& status) {
  return absl::DataLossError(status.message());
}

// A manifest whose last line is not the one that Shoal writes: it is damaged,
// or of a later version.
absl::Status NoTail(absl::string_view json) {
  const auto document = JsonDocument::Parse(json);
  if (document.ok() && (*document)->root().Has("format_version")) {
    const uint64_t version = (*document)->root().Field("format_version").U64();
    if (version > kCheckpointFormatVersion) {
      return absl::FailedPreconditionError(
          absl::StrCat("format_version is ", version, "; this Shoal reads ",
                       kCheckpointFormatVersion, " at most: use a newer one"));
    }
  }
  return absl::DataLossError(
      "its last line is not the CRC of the lines before: the file was cut off "
      "or damaged");
}

absl::StatusOr<Manifest> ReadFields(
    const JsonNode& root, std::optional<std::vector<SavedPiece>> pieces) {
  Manifest manifest;
  const uint64_t version = root.Field("format_version").U64();
  if (root.ok() && version > kCheckpointFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("format_version is ", version, "; this Shoal reads ",
                     kCheckpointFormatVersion, " at most: use a newer one"));
  }
  if (version < 1) root.Field("format_version").Fail("is below 1");
  manifest.step = root.Field("step").U64();
  const JsonNode time = root.Field("time");
  std::string error;
  if (!absl::ParseTime(kTimeFormat, time.String(64), &manifest.time, &error)) {
    time.Fail("is not a time");
  }
  manifest.job = root.Field("job").Bytes(kTextMax);
  manifest.attempt = root.Field("attempt").U64();
  // Older manifests have a number of 32 bits instead of `start`.
  manifest.start = root.Has("start") ? root.Field("start").Hex64()
                                     : root.Field("coordinator_life").U32();
  manifest.config =
      ConfigInPresentNames(root.Field("config").Bytes(kTextMax));
  manifest.model = ReadModel(root.Field("model"));
  manifest.map = ReadPartition(manifest.model, root.Field("partition"));
  manifest.data = ReadData(root.Field("data"), std::move(pieces));
  const JsonNode totals = root.Field("totals");
  ForEachTotal(manifest.totals, [&totals](const char* name, uint64_t& total) {
    total = totals.Field(name).U64();
  });
  root.Field("notes").ForEachField(
      kNotesMax, [&manifest](const std::string& name, const JsonNode& text) {
        manifest.notes[name] = text.Bytes(kTextMax);
      });
  const JsonNode shards = root.Field("shards");
  const size_t count = shards.Size(kManifestShardsMax);
  for (size_t i = 0; i < count && root.ok(); ++i) {
    manifest.shards.push_back(ReadShardEntry(shards.At(i)));
  }
  return manifest;
}

}  // namespace

uint64_t Manifest::bytes() const {
  uint64_t sum = 0;
  for (const ShardEntry& shard : shards) sum += shard.file.size;
  return sum;
}

uint64_t ManifestBytesOf(absl::Span<const Piece> pieces) {
  const auto digits = [](uint64_t number) {
    uint64_t n = 1;
    for (; number >= 10; number /= 10) ++n;
    return n;
  };
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) {
    // Examples, bad rows and batches: at most as many as there are bytes.
    const uint64_t told = 3 * digits(piece.end - piece.begin);
    // The numbers, six separators of two bytes, two brackets, and a CRC.
    bytes += digits(piece.source) + digits(piece.begin) + digits(piece.end) +
             told + 12 + 2 + 8;
  }
  return bytes;
}

absl::Status ValidateManifest(const Manifest& manifest) {
  SHOAL_RETURN_IF_ERROR(manifest.model.Validate());
  SHOAL_RETURN_IF_ERROR(CheckPartition(manifest.model, manifest.map));
  SHOAL_RETURN_IF_ERROR(CheckData(manifest.data));
  return CheckShards(manifest);
}

absl::StatusOr<std::string> ManifestToJson(const Manifest& manifest) {
  SHOAL_RETURN_IF_ERROR(ValidateManifest(manifest));
  std::string json;
  JsonWriter w(&json);
  w.BeginObject(/*lines=*/true);
  w.Key("format_version").U64(kCheckpointFormatVersion);
  w.Key("step").U64(manifest.step);
  w.Key("time").String(
      absl::FormatTime(kTimeFormat, manifest.time, absl::UTCTimeZone()));
  w.Key("job").String(manifest.job);
  w.Key("attempt").U64(manifest.attempt);
  w.Key("start").Hex64(manifest.start);
  // For older releases, which do not read a manifest without it.
  w.Key("coordinator_life").U64(0);
  w.Key("config").String(manifest.config);
  w.Key("model");
  WriteModel(manifest.model, &w);
  w.Key("partition");
  WritePartition(manifest.map, &w);
  w.Key("data");
  WriteData(manifest.data, &w);
  w.Key("totals").BeginObject();
  ForEachTotal(manifest.totals, [&w](const char* name, uint64_t total) {
    w.Key(name).U64(total);
  });
  w.EndObject();
  w.Key("notes").BeginObject();
  for (const auto& [name, text] : manifest.notes) w.Key(name).String(text);
  w.EndObject();
  w.Key("shards").BeginArray(/*lines=*/true);
  for (const ShardEntry& shard : manifest.shards) WriteShardEntry(shard, &w);
  w.EndArray();
  if (json.size() + kTailBytes > kManifestBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the manifest has ", json.size(), " bytes; at most ", kManifestBytesMax,
        " are read: use larger pieces (--piece_bytes)"));
  }
  const uint32_t crc = Crc32c(json);
  absl::StrAppend(&json, kTailBegin, absl::Hex(crc, absl::kZeroPad8), kTailEnd);
  return json;
}

absl::StatusOr<Manifest> ManifestFromJson(absl::string_view json) {
  if (json.size() > kManifestBytesMax) {
    return absl::DataLossError(absl::StrCat("has ", json.size(),
                                            " bytes; at most ",
                                            kManifestBytesMax, " are read"));
  }
  if (json.size() < kTailBytes) return NoTail(json);
  const absl::string_view body = json.substr(0, json.size() - kTailBytes);
  const absl::string_view tail = json.substr(body.size());
  if (!absl::StartsWith(tail, kTailBegin) || !absl::EndsWith(tail, kTailEnd)) {
    return NoTail(json);
  }
  if (tail.substr(kTailBegin.size(), 8) !=
      absl::StrCat(absl::Hex(Crc32c(body), absl::kZeroPad8))) {
    return absl::DataLossError(
        "its bytes do not have the CRC in its last line: the file is damaged");
  }
  std::optional<std::vector<SavedPiece>> pieces;
  std::string without;  // `json` with an empty list in place of the pieces
  if (const auto found = FindPieces(json); found.has_value()) {
    pieces = ReadPieces(*found);
    if (pieces.has_value()) {
      const size_t begin = found->data() - json.data();
      without = absl::StrCat(json.substr(0, begin), "[]",
                             json.substr(begin + found->size()));
    }
  }
  const auto document =
      JsonDocument::Parse(pieces.has_value() ? without : json);
  if (!document.ok()) return DataLoss(document.status());
  SHOAL_ASSIGN_OR_RETURN(Manifest manifest,
                         ReadFields((*document)->root(), std::move(pieces)));
  if (!(*document)->status().ok()) return DataLoss((*document)->status());
  const absl::Status valid = ValidateManifest(manifest);
  if (!valid.ok()) return DataLoss(valid);
  return manifest;
}

}  // namespace shoal
