// job_soak [first seed] [seeds] [--job=NAME] [--bug=NAME]... [--log]: many
// seeds of one of the jobs of troubled_job.h, by default the troubled one.
// Prints each failing seed with the line that runs it again; of one seed, what
// befell it. With planted bugs (planted_bugs.h), how many seeds find them.

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/sim/simulated_job.h"
#include "tests/sim/troubled_job.h"

namespace {

using Job = shoal::SimulatedJobOptions (*)(uint64_t seed);

const std::map<std::string, Job> kJobs = {
    {"troubled", shoal::TroubledJob},
    {"haunted", shoal::HauntedJob},
    {"broken", shoal::BrokenJob},
    {"frozen", shoal::FrozenJob},
};

const std::map<std::string, bool shoal::PlantedBugs::*> kBugs = {
    {"unsealed_saves", &shoal::PlantedBugs::unsealed_saves},
    {"one_start_number", &shoal::PlantedBugs::one_start_number},
    {"serves_unseen", &shoal::PlantedBugs::serves_unseen},
    {"mortal_sessions", &shoal::PlantedBugs::mortal_sessions},
};

struct Asked {
  uint64_t first = 1;
  uint64_t seeds = 200;
  Job job = shoal::TroubledJob;
  shoal::PlantedBugs bugs;
  bool log = false;
  std::string flags;  // as given, to be printed
};

// False: an argument means nothing.
bool Parse(int argc, char** argv, Asked* asked) {
  int numbers = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("--", 0) == 0) absl::StrAppend(&asked->flags, " ", arg);
    const std::string value = arg.substr(arg.find('=') + 1);
    if (arg == "--log") {
      asked->log = true;
    } else if (arg.rfind("--job=", 0) == 0 && kJobs.count(value) != 0) {
      asked->job = kJobs.at(value);
    } else if (arg.rfind("--bug=", 0) == 0 && kBugs.count(value) != 0) {
      asked->bugs.*kBugs.at(value) = true;
    } else if (numbers == 2 ||
               !absl::SimpleAtoi(
                   arg, numbers == 0 ? &asked->first : &asked->seeds)) {
      return false;
    } else {
      ++numbers;
    }
  }
  return true;
}

void PrintAll(const shoal::SimulatedJobResult& result,
              const std::vector<std::string>& complaints) {
  for (const std::string& what : result.befell) {
    std::printf("  %s\n", what.c_str());
  }
  for (const absl::Status& status : result.failed) {
    std::printf("  a job ended: %s\n", status.ToString().c_str());
  }
  for (const std::string& complaint : complaints) {
    std::printf("  complaint: %s\n", complaint.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  if (!Parse(argc, argv, &asked)) {
    std::fprintf(stderr,
                 "usage: job_soak [first seed] [seeds] "
                 "[--job=troubled|haunted|broken|frozen] [--bug=NAME] "
                 "[--log]\n");
    return 2;
  }
  uint64_t failed = 0;
  uint64_t jobs = 0;
  const uint64_t digest = shoal::RunSerialProbe(asked.job(1).job).digest;
  for (uint64_t seed = asked.first; seed < asked.first + asked.seeds; ++seed) {
    shoal::SimulatedJobOptions options = asked.job(seed);
    options.bugs = asked.bugs;
    if (asked.log) options.log_level = shoal::LogLevel::kInfo;
    const shoal::SimulatedJobResult result = shoal::RunSimulatedJob(options);
    jobs += result.jobs;
    const auto complaints = shoal::Complaints(options, result, digest);
    if (!complaints.empty()) {
      ++failed;
      std::printf("seed %llu: %s\n  again: job_soak %llu 1%s\n",
                  static_cast<unsigned long long>(seed), complaints[0].c_str(),
                  static_cast<unsigned long long>(seed), asked.flags.c_str());
    }
    if (asked.seeds == 1) PrintAll(result, complaints);
  }
  std::printf("%llu of %llu seeds failed; %llu jobs began\n",
              static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(asked.seeds),
              static_cast<unsigned long long>(jobs));
  return failed == 0 ? 0 : 1;
}
