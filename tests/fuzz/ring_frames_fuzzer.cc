// What a neighbour that has the token may send to a rank of a ring. The input
// is a list of events: frames with fields of the input, raw bytes, calls of
// this rank, and turns of its writer. Whatever comes, each call ends once, and
// no byte beside the callers' memory changes.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rpc/ring/little_endian.h"
#include "rpc/ring/ring_operations.h"
#include "rpc/ring/ring_reader.h"
#include "rpc/ring/ring_writer.h"

namespace shoal {
namespace {

constexpr size_t kFloats = 300;
constexpr float kGuard = 12345;

RingSettings Settings() {
  RingSettings settings;
  settings.rank = 1;
  settings.size = 3;
  settings.chunk_bytes = 256;
  settings.max_part_bytes = 1000;
  return settings;
}

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint8_t Byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

// The rank under test, with the memory of its calls.
class Rank {
 public:
  Rank()
      : operations_(Settings(), 4096),
        reader_(Settings(), &operations_),
        writer_(&operations_) {}

  void Call(const CollectiveOperation& operation) {
    if (calls_.size() == 8) return;
    calls_.push_back(std::make_unique<Memory>());
    Memory* const memory = calls_.back().get();
    RingCall call;
    call.operation = operation;
    float* const floats = memory->floats.data() + 1;
    call.values = absl::MakeSpan(floats, operation.length);
    call.bytes = absl::MakeSpan(reinterpret_cast<char*>(floats),
                                operation.length);
    call.given = call.bytes;
    call.parts = &memory->parts;
    call.done = [memory](absl::StatusOr<CollectiveReply>) { ++memory->ended; };
    operations_.Call(std::move(call));
  }

  // False: the ring is over.
  bool Read(std::string* unread) {
    while (true) {
      const auto result = reader_.Read([&](iovec* ranges, int count) {
        if (unread->empty()) return static_cast<ssize_t>(-EAGAIN);
        size_t got = 0;
        for (int i = 0; i < count; ++i) {
          const size_t size = std::min(ranges[i].iov_len, unread->size());
          std::memcpy(ranges[i].iov_base, unread->data(), size);
          unread->erase(0, size);
          got += size;
        }
        return static_cast<ssize_t>(got);
      });
      if (!result.ok() || *result == RingReader::Result::kFailure) return false;
      if (*result != RingReader::Result::kChunk) return true;
    }
  }

  void Write() {
    (void)writer_.Write([](iovec* ranges, int count) {
      size_t wrote = 0;
      for (int i = 0; i < count; ++i) wrote += ranges[i].iov_len;
      return static_cast<ssize_t>(wrote);
    });
  }

  void Complete() {
    for (auto& completed : operations_.TakeCompleted()) {
      std::move(completed.done)(CollectiveReply());
    }
  }

  void End() {
    writer_.Finish(EncodeFailure(1, "the end"));
    operations_.End(absl::UnavailableError("the end"), std::nullopt,
                    absl::OkStatus());
    Complete();
    for (const auto& memory : calls_) {
      if (memory->ended != 1 || memory->floats.front() != kGuard ||
          memory->floats.back() != kGuard) {
        std::abort();
      }
    }
  }

 private:
  struct Memory {
    std::vector<float> floats = std::vector<float>(kFloats + 2, kGuard);
    GatheredParts parts;
    int ended = 0;
  };

  RingOperations operations_;
  RingReader reader_;
  RingWriter writer_;
  std::vector<std::unique_ptr<Memory>> calls_;
};

CollectiveOperation OperationOf(Input* input) {
  CollectiveOperation operation = MakeOperation(
      static_cast<CollectiveKind>(1 + input->Byte() % 3),
      {.step = input->Byte(), .index = 0, .name = "n"}, 1,
      input->Byte() % 2 == 0 ? kFloats : input->Byte());
  if (operation.kind == CollectiveKind::kBroadcast) {
    operation.root = input->Byte() % 4;
  }
  return operation;
}

std::string FrameOf(int kind, Input* input) {
  const uint64_t number = input->Byte();
  const int position = input->Byte();
  if (kind == 0) {
    return EncodeAnnouncement(number, position, OperationOf(input));
  }
  if (kind == 1) return EncodeFailure(position, "failure");
  RingFrameHeader header;
  header.number = number;
  header.position = static_cast<uint64_t>(position);
  header.length = 4u * (1 + input->Byte() % 64);
  std::string frame;
  AppendHeader(header, &frame);
  return frame + std::string(header.length, 'd');
}

}  // namespace
}  // namespace shoal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  shoal::Input input(data, size);
  shoal::Rank rank;
  std::string unread;
  bool works = true;
  while (works && !input.empty()) {
    const int event = input.Byte() % 8;
    if (event == 0) {
      rank.Call(shoal::OperationOf(&input));
    } else if (event == 1) {
      rank.Write();
    } else if (event == 2) {
      const int bytes = input.Byte() % 32;
      for (int i = 0; i < bytes; ++i) {
        unread.push_back(static_cast<char>(input.Byte()));
      }
    } else {
      unread += shoal::FrameOf(event == 3 ? 0 : event == 4 ? 1 : 2, &input);
    }
    works = rank.Read(&unread);
    rank.Complete();
  }
  rank.End();
  return 0;
}
