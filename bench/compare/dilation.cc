#include "bench/compare/dilation.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace shoal {
namespace {

// The speed of a host's cores, as a share of the other hosts'.
double SpeedOf(const Cell& cell, int host) {
  const bool slow = cell.straggler.has_value() && cell.straggler->host == host;
  return slow ? cell.straggler->share : 1;
}

}  // namespace

double DilationOf(const Cell& cell, int cores, double share) {
  const double wanted = cell.hosts * cell.cores_per_host;
  return std::max({1.0, wanted / (share * cores),
                   cell.bits_per_second / kLinkMost});
}

void Dilate(const DilationChoice& choice, int cores, std::vector<Cell>* cells) {
  double computed = 1;
  double replayed = 1;
  for (Cell& cell : *cells) {
    cell.dilation =
        choice.asked > 0
            ? std::max(choice.asked, DilationOf(cell, cores, kCoresShareMost))
            : DilationOf(cell, cores);
    double& most = cell.replayed() ? replayed : computed;
    most = std::max(most, cell.dilation);
  }
  if (!choice.same) return;
  for (Cell& cell : *cells) {
    cell.dilation = cell.replayed() ? replayed : computed;
  }
}

HostShare ShareOf(const Cell& cell, int host, double paused_speed) {
  HostShare share;
  share.bits_per_second = cell.bits_per_second / cell.dilation;
  constexpr double kPacketSeconds = 250e-6;
  share.packet_bytes = static_cast<int>(std::clamp(
      cell.bits_per_second / 8 * kPacketSeconds, 8192.0, 65536.0));
  if (cell.cores_per_host <= 0) {
    share.quota = absl::InfiniteDuration();
    return share;
  }
  double cores = cell.cores_per_host / cell.dilation / paused_speed;
  cores *= SpeedOf(cell, host);
  constexpr absl::Duration kLeastQuota = absl::Milliseconds(1);
  share.quota = std::max(kLeastQuota, share.period * cores);
  if (share.quota == kLeastQuota) share.period = kLeastQuota / cores;
  return share;
}

std::vector<HostShare> SharesOf(const Cell& cell, double paused_speed,
                                int cores) {
  paused_speed = std::max(paused_speed, LeastPausedSpeed(cell, cores));
  std::vector<HostShare> shares;
  for (int host = 0; host < cell.hosts; ++host) {
    shares.push_back(ShareOf(cell, host, paused_speed));
  }
  return shares;
}

double LeastPausedSpeed(const Cell& cell, int cores) {
  return std::min(1.0, cell.hosts * cell.cores_per_host / cell.dilation /
                           (kCoresShareMost * cores));
}

double ComputeScaleOf(const Cell& cell, int host, double paused_speed) {
  if (cell.cores_per_host <= 1) return 1;
  // A batch took a paused host 1 / paused_speed times as long.
  return std::max(1.0, cell.dilation * paused_speed / SpeedOf(cell, host));
}

absl::Status CheckPlayable(const Cell& cell) {
  if (cell.dilation > kDilationMost) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "cell %s would have to be played %.3g times slower than it is, and at "
        "most %g times is possible; give fewer hosts or cores, or a slower "
        "network",
        cell.name, cell.dilation, kDilationMost));
  }
  for (int host = 0; host < cell.hosts; ++host) {
    if (const double scale = ComputeScaleOf(cell, host);
        scale > kDilationMost) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "the slow host of cell %s would have to compute %.3g times slower "
          "than this machine, and at most %g times is possible; give it a "
          "larger share, fewer hosts or cores, or a slower network",
          cell.name, scale, kDilationMost));
    }
    if (ShareOf(cell, host).period > absl::Seconds(1)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "a host of cell %s would have less than the least share of a core "
          "that the kernel gives, 1 ms in 1 s, at %.3g times slower than it "
          "is; give more --cores, a slower network or a larger share of the "
          "slow host",
          cell.name, cell.dilation));
    }
  }
  return absl::OkStatus();
}

double StreamRate(double bits_per_second) {
  constexpr double kFrame = 14 + 1500;           // Ethernet header and MTU
  constexpr double kPayload = 1500 - 20 - 20 - 12;  // IP, TCP, timestamps
  return bits_per_second * kPayload / kFrame;
}

}  // namespace shoal
