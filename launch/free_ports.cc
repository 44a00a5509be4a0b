#include "launch/free_ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr int kFirstPort = 15000;
constexpr int kEndPort = 32000;

bool IsFree(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  // As servers do it: a port whose last connection was closed a moment ago is
  // free.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address),
                          sizeof(address)) == 0 &&
                     listen(fd, 1) == 0;
  close(fd);
  return bound;
}

}  // namespace

absl::StatusOr<std::vector<int>> PickFreePorts(int count) {
  std::random_device random;
  std::uniform_int_distribution<int> any_port(kFirstPort, kEndPort - 1);
  std::vector<int> ports;
  for (int tries = 0; tries < 100 * count; ++tries) {
    if (static_cast<int>(ports.size()) == count) break;
    const int port = any_port(random);
    if (std::find(ports.begin(), ports.end(), port) == ports.end() &&
        IsFree(port)) {
      ports.push_back(port);
    }
  }
  if (static_cast<int>(ports.size()) < count) {
    return absl::ResourceExhaustedError(
        absl::StrCat("found ", ports.size(), " of ", count,
                     " free TCP ports on the loopback address"));
  }
  return ports;
}

}  // namespace shoal
