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

// What the forecast has to know of the data.
struct FilesSize {
  uint64_t bytes = 0;      // of all files; 0: none, or not known
  uint64_t row_bytes = 0;  // of a row, about; 0: not known
};
struct DataSize {
  FilesSize train;
  FilesSize eval;
};

// Sizes up the files that the job trains and evaluates on, and the rows at the
// first one's head; zeros where they cannot be read, which others say.
DataSize MeasureData(const FileSystem& files, const JobFlags& flags);

// Most memory that each process of a job will hold at once, in bytes: what it
// allocates by the flags, and what a process costs by itself, which was
// measured (docs/operations.md has the terms).
struct MemoryForecast {
  std::vector<uint64_t> ps;  // by shard
  uint64_t worker = 0;       // each
  uint64_t launcher = 0;
  // Tables grow with the ids of the data and no flag bounds them: what they
  // will hold is not in the figures.
  bool tables_grow = false;
};
MemoryForecast ForecastMemory(const JobFlags& flags, const JobPlan& plan,
                              const DataSize& data);

// Of `shoal train`, which is one process.
uint64_t ForecastOneProcess(const JobFlags& flags, const JobPlan& plan,
                            const DataSize& data);

// The line for the start: what this command's processes on this host will
// hold, as in "memory: ps ~212 MB, worker ~180 MB each; 5 processes ~0.8 GB of
// 24 GB".
struct HostForecast {
  std::string line;
  uint64_t bytes = 0;
  bool tables_grow = false;
};
HostForecast ForecastHost(const JobFlags& flags, const JobPlan& plan,
                          const DataSize& data, const HostMemory& host);

// RESOURCE_EXHAUSTED if `bytes` are more than the host has at all; says what to
// do. OK where the system does not tell.
absl::Status CheckMemory(uint64_t bytes, const HostMemory& host);

// What every main does: prints the line on stderr with the flags in force,
// warns where little is left, and refuses what cannot fit unless
// --memory_check=off.
absl::Status ForecastAndCheck(const JobFlags& flags, const JobPlan& plan,
                              const FileSystem& files);

}  // namespace shoal

#endif  // SHOAL_JOB_MEMORY_FORECAST_H_
