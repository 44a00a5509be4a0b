// Safetensors files: opened as they are; of those that open, every tensor is
// read, and the header that the writer makes of the same tensors is read again.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "checkpoint/safetensors_format.h"
#include "checkpoint/safetensors_reader.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {
namespace {

void Check(bool promise) {
  if (!promise) std::abort();
}

void Fuzz(absl::string_view bytes) {
  FakeFileSystem files;
  files.AddFile("/a", std::string(bytes));
  const auto reader = SafetensorsReader::Open(files, "/a");
  if (!reader.ok()) {
    Check(absl::IsDataLoss(reader.status()));
    return;
  }
  const SafetensorsHeader& header = (*reader)->header();
  uint64_t next = 0;
  for (const TensorInfo& tensor : header.tensors) {
    Check(tensor.begin == next && *TensorBytes(tensor) == tensor.bytes());
    next = tensor.end;
    std::vector<char> out(tensor.bytes());
    Check((*reader)->Read(tensor, 0, absl::MakeSpan(out)).ok());
  }
  Check(header.data_begin + next == bytes.size());
  std::vector<TensorInfo> tensors = header.tensors;
  const auto rebuilt = BuildSafetensorsHeader({}, &tensors);
  if (!rebuilt.ok()) return;  // names that we do not write
  const auto again =
      ParseSafetensorsHeader(rebuilt->substr(8), rebuilt->size() + next);
  Check(again.ok() && again->tensors.size() == tensors.size());
}

}  // namespace
}  // namespace shoal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  shoal::Fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
