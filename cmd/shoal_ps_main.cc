// shoal-ps: one parameter server process. Task 0 also hosts the coordinator.

#include <string>
#include <vector>

#include "cmd/process_main.h"
#include "cmd/process_setup.h"
#include "job/ps_process.h"

int main(int argc, char** argv) {
  shoal::SetUpProcess();
  return shoal::ProcessMain(std::vector<std::string>(argv + 1, argv + argc),
                            "shoal-ps", shoal::Command::kPs,
                            shoal::NewPsProcess);
}
