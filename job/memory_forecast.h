#ifndef SHOAL_JOB_MEMORY_FORECAST_H_
#define SHOAL_JOB_MEMORY_FORECAST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/file_system.h"
#include "base/host_memory.h"
#include "job/job_plan.h"
#include "launch/job_flags.h"

namespace shoal {

// The size of the data, as far as the forecast needs it.
struct FilesSize {
  uint64_t bytes = 0;      // total size of all files; 0: no files, or not known
  uint64_t row_bytes = 0;  // approximate size of one row; 0: not known
};
struct DataSize {
  FilesSize train;
  FilesSize eval;
};

// Measures the files that the job trains and evaluates on, and the rows at the
// beginning of the first file. Sizes are 0 for files that cannot be read; the
// code that reads them later reports that.
DataSize MeasureData(const FileSystem& files, const JobFlags& flags);

// Approximate bytes of one batch's pull, or push, over all shards, at most.
uint64_t StepMessageBytes(const JobFlags& flags, const JobPlan& plan);

// The most memory that each process of a job will hold at once, in bytes. It is
// the sum of what the process allocates by the flags and of what a process
// without work holds, which was measured (docs/operations.md lists the terms).
struct MemoryForecast {
  std::vector<uint64_t> ps;  // by PS
  uint64_t worker = 0;       // each
  uint64_t launcher = 0;
  // True if tables grow with the ids of the data and no flag bounds them: their
  // rows are not in the figures.
  bool tables_grow = false;
};
MemoryForecast ForecastMemory(const JobFlags& flags, const JobPlan& plan,
                              const DataSize& data);

// The same for `shoal train`, which is one process.
uint64_t ForecastOneProcess(const JobFlags& flags, const JobPlan& plan,
                            const DataSize& data);

// The memory of this command's processes on this host. `line` is printed at the
// start, as in "memory: ps ~212 MB each, worker ~180 MB each; 5 processes ~0.8
// GB of 24 GB". In a mode of steps it says how much of a PS's memory the pushes
// of all workers take, which wait there until their step is complete. `advice`
// says what to do if the host has too little: "use more hosts (--ps_hosts …)".
struct HostForecast {
  std::string line;
  std::string advice;
  uint64_t bytes = 0;
  bool tables_grow = false;
};
HostForecast ForecastHost(const JobFlags& flags, const JobPlan& plan,
                          const DataSize& data, const HostMemory& host);

// RESOURCE_EXHAUSTED, with the forecast's advice, if the forecast's bytes are
// more than the host's total memory. OK if the system does not tell its memory.
absl::Status CheckMemory(const HostForecast& forecast, const HostMemory& host);

// Prints the forecast's line on stderr with the flags in force, and warns if
// too little memory is free. RESOURCE_EXHAUSTED if the host has too little
// memory, unless --memory_check=off. Every main calls this function.
absl::Status ForecastAndCheck(const JobFlags& flags, const JobPlan& plan,
                              const FileSystem& files);

}  // namespace shoal

#endif  // SHOAL_JOB_MEMORY_FORECAST_H_
