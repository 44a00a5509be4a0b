// shoal-worker: one worker process.

#include <string>
#include <vector>

#include "cmd/process_main.h"
#include "cmd/process_setup.h"
#include "job/worker_process.h"

int main(int argc, char** argv) {
  shoal::SetUpProcess();
  return shoal::ProcessMain(std::vector<std::string>(argv + 1, argv + argc),
                            "shoal-worker", shoal::Command::kWorker,
                            shoal::NewWorkerProcess);
}
