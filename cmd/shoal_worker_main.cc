// shoal-worker: one worker process, which in a mode without parameter servers
// is a rank.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cmd/process_main.h"
#include "cmd/process_setup.h"
#include "job/rank_process.h"
#include "job/worker_process.h"

namespace {

std::unique_ptr<shoal::JobProcess> NewProcess(const shoal::JobFlags& flags,
                                              shoal::JobPlan plan,
                                              std::string token,
                                              shoal::MainWait* wait) {
  const auto make = !flags.HasCopies() ? shoal::NewWorkerProcess
                                       : shoal::NewRankProcess;
  return make(flags, std::move(plan), std::move(token), wait);
}

}  // namespace

int main(int argc, char** argv) {
  shoal::SetUpProcess();
  return shoal::ProcessMain(std::vector<std::string>(argv + 1, argv + argc),
                            "shoal-worker", shoal::Command::kWorker,
                            NewProcess);
}
