#ifndef SHOAL_BASE_CHECK_H_
#define SHOAL_BASE_CHECK_H_

#include <cstdio>
#include <cstdlib>

namespace shoal {
namespace check_internal {

[[noreturn]] inline void Fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: SHOAL_DCHECK failed: %s\n", file, line, what);
  std::abort();
}

}  // namespace check_internal
}  // namespace shoal

// SHOAL_DCHECK(condition): ends the process if the condition is false, with the
// file, the line and the condition on stderr. Only for mistakes of this
// program, such as a caller that breaks a REQUIRES: of a header. Bad input from
// a peer, a file or a flag is an error value, never a SHOAL_DCHECK.
//
//   void Seek(uint64_t position) {
//     SHOAL_DCHECK(CanSeek());
//
// The macro checks in builds without NDEBUG, and in builds that define
// SHOAL_DCHECKS (the CMake option of that name, which the presets dev, asan and
// tsan set). In other builds the condition is compiled but never evaluated: it
// costs nothing, and so must have no side effect. SHOAL_DCHECKS_ON is 1 if the
// macro checks, and 0 otherwise.
#if defined(SHOAL_DCHECKS) || !defined(NDEBUG)
#define SHOAL_DCHECKS_ON 1
#define SHOAL_DCHECK(...)     \
  ((__VA_ARGS__)              \
       ? static_cast<void>(0) \
       : ::shoal::check_internal::Fail(__FILE__, __LINE__, #__VA_ARGS__))
#else
#define SHOAL_DCHECKS_ON 0
#define SHOAL_DCHECK(...) static_cast<void>(true || (__VA_ARGS__))
#endif

#endif  // SHOAL_BASE_CHECK_H_
