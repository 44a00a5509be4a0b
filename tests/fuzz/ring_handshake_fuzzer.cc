// What a stranger may say to a rank of a ring, and to one that connects to it.
// The first byte chooses the side and how the bytes are cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/ring/ring_handshake.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  shoal::RingSettings settings;
  settings.job = "demo";
  settings.rank = 1;
  settings.size = 3;
  std::unique_ptr<shoal::RingHandshake> side;
  if (data[0] % 2 == 0) {
    side = std::make_unique<shoal::RingAcceptor>(settings, "token",
                                                 "0123456789abcdef");
  } else {
    side = std::make_unique<shoal::RingConnector>(settings, "token",
                                                  "0123456789abcdef");
  }
  absl::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t step = 1 + data[0] / 2;
  size_t read = 0;
  while (!side->done() && !rest.empty()) {
    const size_t bytes = std::min({step, rest.size(), side->wants()});
    side->Feed(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
    read += bytes;
    side->TakeOutput();
  }
  // Nobody can make a proof without the token, nor say much.
  const size_t most = shoal::kRingChallengeBytes + shoal::kRingWelcomeBytes +
                      shoal::kRingRefusalMax;
  if (read > most || (side->done() && side->status().ok())) std::abort();
  return 0;
}
