#include "wire/codec/chunk_assembler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/crc32c.h"

namespace shoal {
namespace {

constexpr uint32_t kMaxChunks = 65536;

uint64_t Bytes(const std::vector<absl::string_view>& fragments) {
  uint64_t bytes = 0;
  for (const absl::string_view fragment : fragments) bytes += fragment.size();
  return bytes;
}

absl::Status CheckNumbers(const PushChunk& chunk) {
  const uint64_t bytes = Bytes(chunk.data);
  if (chunk.count == 0 || chunk.count > kMaxChunks ||
      chunk.index >= chunk.count || bytes == 0 || bytes > chunk.total_bytes ||
      chunk.count > chunk.total_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("impossible chunk: index ", chunk.index, " of ",
                     chunk.count, " chunks, with ", bytes, " of ",
                     chunk.total_bytes, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

void ChunkAssembler::Drop(Uploads::iterator upload) {
  staged_bytes_ -= upload->second.total_bytes;
  uploads_.erase(upload);
}

void ChunkAssembler::Release(uint64_t bytes) {
  SHOAL_DCHECK(bytes <= staged_bytes_);
  staged_bytes_ -= bytes;
}

int ChunkAssembler::Expire(absl::Time now) {
  int dropped = 0;
  for (auto it = uploads_.begin(); it != uploads_.end();) {
    const auto upload = it++;
    if (upload->second.until > now) continue;
    Drop(upload);
    ++dropped;
  }
  return dropped;
}

absl::Time ChunkAssembler::NextExpiry() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [key, upload] : uploads_)
    next = std::min(next, upload.until);
  return next;
}

absl::StatusOr<ChunkAssembler::Uploads::iterator> ChunkAssembler::Find(
    const PushChunk& chunk, absl::Time now) {
  const Key key(chunk.identity.worker, chunk.batch);
  auto found = uploads_.find(key);
  if (found != uploads_.end()) {
    const uint64_t number = found->second.number;
    if (number == chunk.upload) return found;
    if (number > chunk.upload) {
      return absl::FailedPreconditionError(absl::StrCat(
          "upload ", chunk.upload, " of batch ", ToString(chunk.batch),
          " was replaced by upload ", number));
    }
    Drop(found);
  }
  if (uploads_.size() >= options_.max_uploads ||
      chunk.total_bytes > options_.max_staged_bytes - staged_bytes_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(uploads_.size(), " chunked pushes with ", staged_bytes_,
                     " bytes are staged; a push of ", chunk.total_bytes,
                     " more bytes would exceed the limit of ",
                     options_.max_uploads, " pushes or ",
                     options_.max_staged_bytes, " bytes: retry later"));
  }
  Upload upload;
  upload.number = chunk.upload;
  upload.total_bytes = chunk.total_bytes;
  upload.crc32c = chunk.crc32c;
  upload.until = now + options_.deadline;
  upload.parts.resize(chunk.count);
  staged_bytes_ += chunk.total_bytes;
  return uploads_.emplace(key, std::move(upload)).first;
}

absl::StatusOr<std::optional<ChunkAssembler::Whole>> ChunkAssembler::Add(
    const PushChunk& chunk, std::shared_ptr<const void> owner, absl::Time now) {
  Expire(now);
  absl::Status numbers = CheckNumbers(chunk);
  if (!numbers.ok()) return numbers;
  auto found = Find(chunk, now);
  if (!found.ok()) return found.status();
  const Uploads::iterator it = *found;
  Upload& upload = it->second;
  if (upload.total_bytes != chunk.total_bytes ||
      upload.crc32c != chunk.crc32c || upload.parts.size() != chunk.count) {
    Drop(it);
    return absl::InvalidArgumentError(absl::StrCat(
        "chunk ", chunk.index, " of upload ", chunk.upload,
        " differs from the first chunk in count, size or digest"));
  }
  Part& part = upload.parts[chunk.index];
  if (part.owner != nullptr) return std::nullopt;
  part.data = chunk.data;
  part.owner = std::move(owner);
  upload.bytes += Bytes(chunk.data);
  ++upload.arrived;
  const bool complete = upload.arrived == upload.parts.size();
  if (!complete && upload.bytes <= upload.total_bytes) return std::nullopt;

  Whole whole;
  uint32_t crc = 0;
  for (Part& p : upload.parts) {
    for (const absl::string_view fragment : p.data) {
      crc = Crc32cExtend(crc, fragment);
      whole.fragments.push_back(fragment);
    }
    whole.owners.push_back(std::move(p.owner));
  }
  const uint64_t bytes = upload.bytes;
  whole.bytes = upload.total_bytes;
  Drop(it);
  if (bytes != chunk.total_bytes) {
    return absl::DataLossError(absl::StrCat(
        "the chunks of batch ", ToString(chunk.batch), " have ", bytes,
        " bytes or more, but ", chunk.total_bytes, " were announced"));
  }
  if (crc != chunk.crc32c) {
    return absl::DataLossError(absl::StrCat(
        "the chunks of batch ", ToString(chunk.batch), " have the CRC-32C ",
        absl::Hex(crc), ", but ", absl::Hex(chunk.crc32c), " was announced"));
  }
  staged_bytes_ += whole.bytes;
  return whole;
}

}  // namespace shoal
