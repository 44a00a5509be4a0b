#ifndef SHOAL_CMD_PROCESS_SETUP_H_
#define SHOAL_CMD_PROCESS_SETUP_H_

namespace shoal {

// Makes the settings of the whole process. Call first in main, before any
// thread starts.
// - Denormal numbers count as zero: Adam's m of a weight without gradient
//   decays into them, and arithmetic on them is up to 200 times slower. Threads
//   inherit this.
// - Freed memory is kept: to give it back to the system and take it again is
//   most of the cost of receiving large messages.
// - Writing to a closed pipe is an error and does not end the process.
// - A standard descriptor that is closed is opened as one that cannot be used,
//   so that no file that the process opens gets its number, and a result that
//   cannot be printed is an error.
// - The limit of open files is raised as far as the system allows, to at most
//   65,536: each connection of a server takes two.
void SetUpProcess();

}  // namespace shoal

#endif  // SHOAL_CMD_PROCESS_SETUP_H_
