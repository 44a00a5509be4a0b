#include "base/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// A TCP socket bound to a loopback port that the system chose.
class BusyPort {
 public:
  BusyPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_, any, size), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
    EXPECT_EQ(getsockname(fd_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~BusyPort() { Free(); }
  void Free() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int port() const { return port_; }

 private:
  int fd_;
  int port_ = 0;
};

std::string Get(int port, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
            0);
  const std::string request =
      "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(write(fd, request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string reply;
  char buffer[4096];
  ssize_t size;
  while ((size = read(fd, buffer, sizeof(buffer))) > 0) {
    reply.append(buffer, static_cast<size_t>(size));
  }
  close(fd);
  return reply;
}

TEST(MetricsServerTest, ServesPrometheusText) {
  Telemetry telemetry;
  telemetry.AddCounter("shoal_a_total", "Of a.", {{"kind", "x"}})->Add(3);
  telemetry.AddDistribution("shoal_b_seconds", "Of b.", {1, 2})->Observe(1.5);
  BusyPort port;
  port.Free();
  auto server = MetricsServer::Start("127.0.0.1", port.port(), &telemetry);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string reply = Get(port.port(), "/metrics");
  EXPECT_THAT(reply, HasSubstr("200 OK"));
  EXPECT_THAT(reply, HasSubstr("# HELP shoal_a_total Of a.\n"
                               "# TYPE shoal_a_total counter\n"
                               "shoal_a_total{kind=\"x\"} 3"));
  EXPECT_THAT(reply, HasSubstr("# TYPE shoal_b_seconds histogram"));
  EXPECT_THAT(reply, HasSubstr("shoal_b_seconds_bucket{le=\"1\"} 0"));
  EXPECT_THAT(reply, HasSubstr("shoal_b_seconds_bucket{le=\"2\"} 1"));
  EXPECT_THAT(reply, HasSubstr("shoal_b_seconds_bucket{le=\"+Inf\"} 1"));
  EXPECT_THAT(Get(port.port(), "/elsewhere"), HasSubstr("404"));
}

TEST(MetricsServerTest, NamesAPortInUseAndWhatToDo) {
  Telemetry telemetry;
  const BusyPort busy;
  const auto server =
      MetricsServer::Start("127.0.0.1", busy.port(), &telemetry);
  ASSERT_EQ(server.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(server.status().message()),
              HasSubstr("127.0.0.1:" + std::to_string(busy.port())));
  EXPECT_THAT(std::string(server.status().message()),
              HasSubstr("--metrics_port"));
}

TEST(MetricsServerTest, NamesAnAddressThatIsNotOurs) {
  Telemetry telemetry;
  // TEST-NET-1 (RFC 5737) is no host's.
  const auto server = MetricsServer::Start("192.0.2.1", 9090, &telemetry);
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(std::string(server.status().message()),
              HasSubstr("192.0.2.1:9090"));
}

TEST(MetricsServerTest, StopsListeningAtItsEnd) {
  Telemetry telemetry;
  BusyPort port;
  port.Free();
  for (int i = 0; i < 3; ++i) {
    auto server = MetricsServer::Start("127.0.0.1", port.port(), &telemetry);
    ASSERT_TRUE(server.ok()) << server.status();
  }
}

}  // namespace
}  // namespace shoal
