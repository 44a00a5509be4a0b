#include "cmd/process_setup.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

namespace shoal {
namespace {

constexpr rlim_t kDescriptors = 65536;

// A new descriptor has the lowest number that is free.
void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    const int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", wrong_way) != fd) return;
  }
}

}  // namespace

void SetUpProcess() {
#if defined(__SSE2__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
#endif
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
  signal(SIGPIPE, SIG_IGN);
  OpenStandardDescriptors();
  // A server has two descriptors for each connection; shells give 1,024.
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::max(files.rlim_cur,
                              std::min<rlim_t>(files.rlim_max, kDescriptors));
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

}  // namespace shoal
