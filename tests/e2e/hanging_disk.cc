// Preloaded (LD_PRELOAD) into processes of the tests: takes down what they ask
// of the disk, may let a call hang, and may make reads slow (slow_data.py).
//
//   SHOAL_DISK_LOG      file that gets a line a call, behind it: "fsync PATH",
//                       "rename FROM TO", "mkdir PATH", "unlink PATH"
//   SHOAL_DISK_HANGS    text: a sync of a path that holds it writes the line
//                       "hangs PATH" and waits
//   SHOAL_DISK_HANGS_IN "write" or "rename": such a call, to the path, hangs
//                       instead of a sync
//   SHOAL_DISK_RELEASE  file: once it is there, those calls go on
//   SHOAL_DISK_SLOW     directory: while it has a file NAME with the numbers
//                       "MS FROM" in it, a read of a file NAME at byte FROM or
//                       behind it takes MS milliseconds more
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

ssize_t RealWrite(int fd, const void* bytes, size_t size) {
  return Real<ssize_t(int, const void*, size_t)>("write")(fd, bytes, size);
}

void Log(const std::string& line) {
  const char* const path = getenv("SHOAL_DISK_LOG");
  if (path == nullptr) return;
  const int before = errno;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const std::string whole = line + "\n";
  if (fd >= 0 && RealWrite(fd, whole.data(), whole.size()) < 0) abort();
  if (fd >= 0) close(fd);
  errno = before;
}

std::string PathOf(int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(link.c_str(), path, sizeof(path));
  return size < 0 ? "" : std::string(path, static_cast<size_t>(size));
}

// True if calls of this name hang.
bool Hangs(const char* name) {
  const char* const which = getenv("SHOAL_DISK_HANGS_IN");
  return strcmp(which == nullptr ? "sync" : which, name) == 0;
}

void HangIfAsked(const char* name, const std::string& path) {
  if (!Hangs(name)) return;
  const char* const text = getenv("SHOAL_DISK_HANGS");
  const char* const release = getenv("SHOAL_DISK_RELEASE");
  if (text == nullptr || release == nullptr) return;
  if (path.find(text) == std::string::npos) return;
  Log("hangs " + path);
  while (access(release, F_OK) != 0) usleep(10'000);
}

// The milliseconds that a read at `offset` takes more, as `path` says now.
long SlowMilliseconds(const std::string& path, off_t offset) {
  FILE* const file = fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  long milliseconds = 0;
  long long from = 0;
  const bool slow = fscanf(file, "%ld %lld", &milliseconds, &from) == 2;
  fclose(file);
  return slow && offset >= from ? milliseconds : 0;
}

void ReadSlowly(int fd, off_t offset) {
  const char* const directory = getenv("SHOAL_DISK_SLOW");
  if (directory == nullptr) return;
  const int before = errno;
  const std::string path = PathOf(fd);
  const std::string name =
      std::string(directory) + path.substr(path.rfind('/'));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin <
         std::chrono::milliseconds(SlowMilliseconds(name, offset))) {
    usleep(5'000);
  }
  errno = before;
}

int Sync(int fd, const char* name) {
  const std::string path = PathOf(fd);
  HangIfAsked("sync", path);
  const int result = Real<int(int)>(name)(fd);
  Log("fsync " + path);
  return result;
}

}  // namespace

extern "C" {

int fsync(int fd) { return Sync(fd, "fsync"); }
int fdatasync(int fd) { return Sync(fd, "fdatasync"); }

ssize_t write(int fd, const void* bytes, size_t size) {
  if (Hangs("write")) {
    const int before = errno;
    HangIfAsked("write", PathOf(fd));
    errno = before;
  }
  return RealWrite(fd, bytes, size);
}

ssize_t pread(int fd, void* to, size_t size, off_t offset) {
  ReadSlowly(fd, offset);
  return Real<ssize_t(int, void*, size_t, off_t)>("pread")(fd, to, size,
                                                            offset);
}

int rename(const char* from, const char* to) noexcept {
  HangIfAsked("rename", to);
  const int result = Real<int(const char*, const char*)>("rename")(from, to);
  if (result == 0) Log(std::string("rename ") + from + " " + to);
  return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  const int result = Real<int(const char*, mode_t)>("mkdir")(path, mode);
  if (result == 0) Log(std::string("mkdir ") + path);
  return result;
}

int unlink(const char* path) noexcept {
  const int result = Real<int(const char*)>("unlink")(path);
  if (result == 0) Log(std::string("unlink ") + path);
  return result;
}

}  // extern "C"
