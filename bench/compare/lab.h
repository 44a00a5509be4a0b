#ifndef SHOAL_BENCH_COMPARE_LAB_H_
#define SHOAL_BENCH_COMPARE_LAB_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/compare/awake_cores.h"
#include "bench/compare/control_group.h"
#include "bench/compare/dilation.h"
#include "launch/ssh_command.h"

namespace shoal {

// Hosts that are played on this machine. A host is a network namespace with an
// address of its own, a link to all others whose rate `tbf` limits out and in,
// and a `cpu` control group for its processor time. The links are joined by a
// bridge in one more namespace, so no packet leaves the lab. The names begin
// with "shoal-lab" and the number of this process. The machine's cores stay
// awake as long as there is a lab (AwakeCores). Needs root, `ip` and `tc`
// (Debian's iproute2), and control groups. Thread-hostile.
//
//   SHOAL_RETURN_IF_ERROR(Lab::Check());
//   Lab::RemoveLeftovers();
//   SHOAL_ASSIGN_OR_RETURN(auto lab, Lab::Make(shares));
//   ... lab->address(0) ... lab->Command() ...
//   SHOAL_RETURN_IF_ERROR(lab->LimitCores());
class Lab {
 public:
  // Why no lab can be made here: PERMISSION_DENIED (not root, or no rights to
  // namespaces or control groups), NOT_FOUND (`ip` or `tc` is missing),
  // UNAVAILABLE (the kernel lacks something). Makes and removes a small lab.
  static absl::Status Check();

  // Removes what labs of processes that are gone have left. Returns the number
  // of namespaces and groups that were removed.
  static int RemoveLeftovers();

  // Makes a host for each share, with its link and with no limit of its
  // processor time yet.
  static absl::StatusOr<std::unique_ptr<Lab>> Make(
      std::vector<HostShare> shares);
  // Removes the lab. Its processes have ended.
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  int size() const { return static_cast<int>(shares_.size()); }
  const std::string& address(int host) const { return addresses_[host]; }
  const std::string& name(int host) const { return names_[host]; }
  // The addresses, separated by commas.
  std::string Hosts() const;

  // Runs commands on the hosts, by their addresses. The lab must outlive it.
  HostCommand Command() const;

  // From now on the hosts have the processor time of their shares.
  absl::Status LimitCores();

  // The payload of a bare stream from one host to another, in bit/s.
  absl::StatusOr<double> Stream(int from, int to) const;
  // Those of each host to the next one, of the last to the first. Streams run
  // together if they share no host, since acknowledgements would wait behind
  // data, and their links have at most 1 Gbit/s in sum. One that is off by
  // more than kLinkTolerance is tried up to four times more by itself, and the
  // nearest one counts: a lost packet, or a moment in which the machine stands
  // still, slows a short stream down, and no try of a link with another rate is
  // near.
  // REQUIRES: at least 2 hosts.
  absl::StatusOr<std::vector<double>> Streams() const;

 private:
  explicit Lab(std::vector<HostShare> shares);
  absl::Status MakeNetwork();
  absl::Status AddHost(int host);

  const AwakeCores awake_;
  const std::vector<HostShare> shares_;
  std::string hub_;  // the namespace of the bridge
  std::vector<std::string> names_;
  std::vector<std::string> addresses_;
  std::vector<ControlGroup> groups_;
};

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_LAB_H_
