#include "bench/compare/cpu_watch.h"

#include <dirent.h>
#include <sys/resource.h>
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

double OfUsage(int who) {
  rusage usage = {};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The processor time of the kernel threads ksoftirqd, which serve the packets
// of the links when there are many.
double OfInterruptThreads() {
  double seconds = 0;
  DIR* const directory = opendir("/proc");
  if (directory == nullptr) return 0;
  while (const dirent* entry = readdir(directory)) {
    if (!absl::ascii_isdigit(entry->d_name[0])) continue;
    std::ifstream file(absl::StrCat("/proc/", entry->d_name, "/stat"));
    std::string number, name, state;
    file >> number >> name;
    if (!absl::StartsWith(name, "(ksoftirqd/")) continue;
    // Fields 3 to 13, then utime and stime.
    std::string skipped;
    for (int i = 0; i < 11; ++i) file >> skipped;
    double user = 0, kernel = 0;
    file >> user >> kernel;
    seconds += (user + kernel) * Tick();
  }
  closedir(directory);
  return seconds;
}

}  // namespace

CpuWatch::CpuWatch() : begin_(clock_.Now()), before_(Read()) {}

CpuWatch::Seconds CpuWatch::Read() {
  Seconds seconds;
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, kernel = 0, idle = 0, io = 0, hard = 0, soft = 0,
         stolen = 0;
  file >> cpu >> user >> nice >> kernel >> idle >> io >> hard >> soft >> stolen;
  seconds.all = (user + nice + kernel + stolen) * Tick();
  seconds.own = OfUsage(RUSAGE_SELF) + OfUsage(RUSAGE_CHILDREN) +
                OfInterruptThreads();
  return seconds;
}

double CpuWatch::OthersCores() const {
  const Seconds now = Read();
  const double wall = absl::ToDoubleSeconds(clock_.Now() - begin_);
  if (wall <= 0) return 0;
  return std::max(0.0, (now.all - before_.all - (now.own - before_.own)) /
                           wall);
}

}  // namespace shoal
