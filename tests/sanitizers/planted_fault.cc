// The check of the AddressSanitizer and UndefinedBehaviorSanitizer run itself:
// commits the fault that its argument names. The ctest of each passes only if
// the sanitizer reports that fault.
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace {

// So that the compiler cannot see the fault, or the memory that is lost.
volatile int zero = 0;
int* volatile lost = nullptr;

int ReadBeyondTheEnd() {
  const std::vector<int> values(4);
  const int* first = values.data();
  return first[4 + zero];
}

int ReadAfterFree() {
  auto value = std::make_unique<int>(1);
  const int* freed = value.get();
  value.reset();
  return freed[zero];
}

int Leak() {
  lost = new int[1000];
  lost = nullptr;
  return 0;
}

int OverflowASignedNumber() {
  return std::numeric_limits<int>::max() - zero + 1;
}

int ReadUnaligned() {
  alignas(uint32_t) const char bytes[8] = {};
  return static_cast<int>(
      *reinterpret_cast<const uint32_t*>(bytes + 1 + zero));
}

struct Fault {
  const char* name;
  int (*commit)();
};

constexpr Fault kFaults[] = {{"beyond_the_end", ReadBeyondTheEnd},
                             {"after_free", ReadAfterFree},
                             {"leak", Leak},
                             {"signed_overflow", OverflowASignedNumber},
                             {"unaligned", ReadUnaligned}};

}  // namespace

int main(int argc, char** argv) {
  for (const Fault& fault : kFaults) {
    if (argc > 1 && std::strcmp(argv[1], fault.name) == 0) {
      return fault.commit();
    }
  }
  return 2;
}
