#include "bench/allreduce/allreduce_flags.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "launch/choice.h"
#include "launch/host_list.h"

namespace shoal {
namespace {

constexpr int kRanksMost = 1024;
constexpr size_t kSizesMost = 100;

constexpr char kAbout[] =
    "Measures the network between hosts by the AllReduce of a ring, as jobs "
    "with --mode=ring and hybrid make it: the same connections, token and "
    "sums, and no model or data.\n"
    "\n"
    "Make a token, copy it to every host, and start one process on each host, "
    "in any order. All have the same --hosts, and each has its own --rank:\n"
    "\n"
    "  shoal token net.token\n"
    "  shoal bench allreduce --hosts=h1:7000,h2:7000 --token_file=net.token "
    "--rank=0\n"
    "  shoal bench allreduce --hosts=h1:7000,h2:7000 --token_file=net.token "
    "--rank=1\n"
    "\n"
    "Rank 0 decides what is measured and prints the table: for each size the "
    "time of an AllReduce, and busbw as in nccl-tests, which is to be near the "
    "rate of the links in large sizes: 0.11 to 0.12 GB/s at 1 Gbit/s. The "
    "other ranks print one line. To see what one machine can do without a "
    "network, give --hosts=127.0.0.1:7000,127.0.0.1:7001. A signal ends a rank "
    "at once, and the other ranks then say that it is lost.";

}  // namespace

absl::StatusOr<std::vector<std::string>> AllReduceFlags::Validate() const {
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> addresses,
                         ParseHostList("hosts", hosts, /*need_ports=*/true));
  if (addresses.size() < 2 || addresses.size() > kRanksMost) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--hosts=", hosts, " has ", addresses.size(),
        addresses.size() == 1 ? " entry" : " entries", ", and a ring has 2 to ",
        kRanksMost, " ranks; give host:port of each rank, separated by commas, "
        "the same on all ranks"));
  }
  if (static_cast<size_t>(rank) >= addresses.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--rank=", rank, ": --hosts has ", addresses.size(),
        " entries, so ranks are 0 to ", addresses.size() - 1,
        "; give the place of this host in --hosts, from 0"));
  }
  if (!listen.empty()) {
    SHOAL_RETURN_IF_ERROR(
        ParseHostList("listen", listen, /*need_ports=*/true).status());
  }
  if (sizes.empty() || sizes.size() > kSizesMost) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--sizes has ", sizes.size(), " entries; give 1 to ", kSizesMost));
  }
  for (const int bytes : sizes) {
    if (bytes % static_cast<int>(sizeof(float)) == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--sizes: ", bytes, " is not a multiple of 4, the bytes of a value"));
  }
  return addresses;
}

FlagSet AllReduceFlagSet(AllReduceFlags* flags) {
  FlagSet set("shoal bench allreduce", kAbout);
  const DurationRange some{absl::Milliseconds(1), absl::Hours(24)};
  set.Group("Ring");
  set.Add({"hosts",
           &flags->hosts,
           "Addresses of the ranks, as h1:7000,h2:7000, in the order of the "
           "ring and the same on all ranks. Each rank must reach the next one, "
           "and the last one the first.",
           {},
           "it says where the ranks are, as in --hosts=h1:7000,h2:7000"});
  set.Add({"rank", &flags->rank,
           "Number of this rank: the place of its address in --hosts, from 0.",
           IntRange{0, kRanksMost - 1}, "each rank has a number of its own"});
  set.Add({"token_file",
           &flags->token_file,
           "File with the secret of the ranks, which shoal token makes; - "
           "reads it from the first line of stdin, whose end then ends the "
           "rank.",
           {},
           "no process without the token can be a rank; shoal token makes a "
           "file"});
  set.Add({"listen", &flags->listen,
           "host:port to listen on, if it is not this rank's entry of "
           "--hosts."});
  set.Add({"reduction", ChoiceTarget(&flags->reduction, kReductions),
           absl::StrCat("Order in which a sum is added up: ",
                        ChoiceHelp(kReductions),
                        ". It must be the same on all ranks.")});
  set.Add({"start_timeout", &flags->start_timeout,
           "Longest wait for the other ranks.", some});
  set.Add({"timeout", &flags->timeout,
           "Longest time of one AllReduce, after which the rank ends.", some});
  set.Group("Measurement");
  set.Add({.name = "sizes",
           .target = &flags->sizes,
           .help = "Sizes of what is summed, separated by commas, as "
                   "4KiB,1MiB. Values are floats of 4 bytes. Rank 0 decides.",
           .limits = ByteRange{4, 1 << 30},
           .default_value = "4KiB to 64MiB, each 4 times the one before"});
  set.Add({"repeats", &flags->repeats,
           "Number of turns of each size, of which the median counts. Rank 0 "
           "decides.",
           IntRange{1, 10000}});
  set.Add({"turn_time", &flags->turn_time,
           "Time of a turn, in which as many AllReduces are made as fit, and "
           "at least one. Rank 0 decides.",
           some});
  set.Add({"size_time", &flags->size_time,
           "Time after which no further turn of a size begins, so that slow "
           "links have fewer. Rank 0 decides.",
           some});
  set.Add({"json", &flags->json, "Print one JSON object instead of text."});
  return set;
}

}  // namespace shoal
