#ifndef SHOAL_CMD_PROCESS_SETUP_H_
#define SHOAL_CMD_PROCESS_SETUP_H_

namespace shoal {

// Settings of the whole process; call first in main, before any thread starts.
// - Denormal numbers count as zero: Adam's m of a weight without gradient
//   decays into them, and arithmetic on them is up to 200 times slower. Threads
//   inherit this.
// - Freed memory is kept: giving it back and taking it again is most of what
//   receiving large messages costs.
// - Writing to a closed pipe is an error, not the end.
// - As many files may be open as the system allows, 65,536 at most: each
//   connection of a server takes two.
void SetUpProcess();

}  // namespace shoal

#endif  // SHOAL_CMD_PROCESS_SETUP_H_
