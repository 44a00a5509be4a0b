#include "bench/compare/cpu_watch.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

double Tick() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

// The processor time of a process and of its children that have ended, from
// the line of its /proc/PID/stat. 0 for the kernel threads ksoftirqd.
double OfProcess(const std::string& line) {
  constexpr int kFieldsBetween = 11;  // from the state to before utime
  const size_t name_end = line.rfind(')');  // a name may have anything in it
  if (name_end == std::string::npos ||
      absl::StrContains(line.substr(0, name_end), "(ksoftirqd/")) {
    return 0;
  }
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  double user = 0, kernel = 0, children_user = 0, children_kernel = 0;
  fields >> user >> kernel >> children_user >> children_kernel;
  return (user + kernel + children_user + children_kernel) * Tick();
}

double OfOtherProcesses() {
  double seconds = 0;
  DIR* const directory = opendir("/proc");
  if (directory == nullptr) return 0;
  const std::string own = absl::StrCat(getpid());
  while (const dirent* entry = readdir(directory)) {
    if (!absl::ascii_isdigit(entry->d_name[0]) || own == entry->d_name) {
      continue;
    }
    std::ifstream file(absl::StrCat("/proc/", entry->d_name, "/stat"));
    std::string line;
    std::getline(file, line);
    seconds += OfProcess(line);
  }
  closedir(directory);
  return seconds;
}

// What a hypervisor gave to others.
double Stolen() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, kernel = 0, idle = 0, io = 0, hard = 0, soft = 0,
         stolen = 0;
  file >> cpu >> user >> nice >> kernel >> idle >> io >> hard >> soft >> stolen;
  return stolen * Tick();
}

}  // namespace

CpuWatch::CpuWatch() : begin_(clock_.Now()), before_(Read()) {}

// Not by the times of /proc/stat: where the kernel counts by its clock tick, a
// group that gets its quota at each tick is there in too many of them.
double CpuWatch::Read() { return OfOtherProcesses() + Stolen(); }

double CpuWatch::OthersCores() const {
  const double seconds = Read() - before_;
  const double wall = absl::ToDoubleSeconds(clock_.Now() - begin_);
  return wall <= 0 ? 0 : std::max(0.0, seconds / wall);
}

}  // namespace shoal
