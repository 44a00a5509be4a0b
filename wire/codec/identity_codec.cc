#include "wire/codec/identity_codec.h"

#include "absl/strings/str_cat.h"
#include "wire/codec/message_reader.h"

namespace shoal {

uint64_t LifeSize(const Life& life) {
  return VarintFieldBytes(life.start) + VarintFieldBytes(life.n);
}

void WriteLife(const Life& life, WireWriter* out) {
  out->VarintField(1, life.start);
  out->VarintField(2, life.n);
}

absl::Status DecodeLife(FragmentReader body, Life* out) {
  MessageReader reader("Life", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.Uint64(field, &out->start);
        break;
      case 2:
        reader.Uint32(field, "n", &out->n);
        break;
    }
  }
  return reader.status();
}

uint64_t IdentitySize(const CallIdentity& identity) {
  return FieldBytesOrNone(identity.job.size()) +
         FieldBytes(LifeSize(identity.worker)) +
         FieldBytes(LifeSize(identity.shard)) +
         VarintFieldBytes(identity.map_version);
}

void WriteIdentity(const CallIdentity& identity, WireWriter* out) {
  out->BytesField(1, identity.job);
  out->BytesHeader(2, LifeSize(identity.worker));
  WriteLife(identity.worker, out);
  out->BytesHeader(3, LifeSize(identity.shard));
  WriteLife(identity.shard, out);
  out->VarintField(4, identity.map_version);
}

absl::Status DecodeIdentity(FragmentReader body, CallIdentity* out) {
  MessageReader reader("Identity", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.String(field, "job", kMaxJobBytes, &out->job);
        break;
      case 2:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeLife(field.body, &out->worker));
        break;
      case 3:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeLife(field.body, &out->shard));
        break;
      case 4:
        reader.Uint32(field, "map_version", &out->map_version);
        break;
    }
  }
  return reader.status();
}

uint64_t BatchIdSize(const BatchId& batch) {
  return VarintFieldBytes(batch.epoch) + VarintFieldBytes(batch.piece) +
         VarintFieldBytes(batch.index);
}

void WriteBatchId(const BatchId& batch, WireWriter* out) {
  out->VarintField(1, batch.epoch);
  out->VarintField(2, batch.piece);
  out->VarintField(3, batch.index);
}

absl::Status DecodeBatchId(FragmentReader body, BatchId* out) {
  MessageReader reader("BatchId", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        reader.Uint32(field, "epoch", &out->epoch);
        break;
      case 2:
        reader.Uint32(field, "piece", &out->piece);
        break;
      case 3:
        reader.Uint32(field, "index", &out->index);
        break;
    }
  }
  return reader.status();
}

uint64_t VersionSize(const Version& version) {
  return FieldBytes(LifeSize(version.life)) + VarintFieldBytes(version.count);
}

void WriteVersion(const Version& version, WireWriter* out) {
  out->BytesHeader(1, LifeSize(version.life));
  WriteLife(version.life, out);
  out->VarintField(2, version.count);
}

absl::Status DecodeVersion(FragmentReader body, Version* out) {
  MessageReader reader("Version", body);
  for (WireField field; reader.Next(&field);) {
    switch (field.number) {
      case 1:
        if (field.type != WireType::kBytes) break;
        reader.Merge(DecodeLife(field.body, &out->life));
        break;
      case 2:
        reader.Uint64(field, &out->count);
        break;
    }
  }
  return reader.status();
}

absl::Status CheckAnswers(const CallIdentity& asked, const CallIdentity& reply,
                          const Version* version) {
  if (reply.job != asked.job) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the reply is from job '", reply.job, "', but job '", asked.job,
        "' was asked"));
  }
  if (reply.worker != asked.worker) {
    return absl::FailedPreconditionError(
        absl::StrCat("the reply is for worker life ", ToString(reply.worker),
                     ", but worker life ", ToString(asked.worker), " asked"));
  }
  if (reply.shard != asked.shard) {
    return absl::FailedPreconditionError(
        absl::StrCat("the reply is from shard life ", ToString(reply.shard),
                     ", but shard life ", ToString(asked.shard), " was asked"));
  }
  if (reply.map_version != asked.map_version) {
    return absl::FailedPreconditionError(
        absl::StrCat("the reply has map version ", reply.map_version,
                     ", but the request has ", asked.map_version));
  }
  if (version != nullptr && version->life != asked.shard) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the reply's version is from shard life ", ToString(version->life),
        ", but shard life ", ToString(asked.shard), " was asked"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
