#ifndef SHOAL_BASE_IGNORED_SIGNAL_H_
#define SHOAL_BASE_IGNORED_SIGNAL_H_

namespace shoal {

// True if this process ignores `signal` now (SIG_IGN). A process that was
// started with SIGHUP ignored, as by nohup, must go on ignoring it: such a
// signal must not be blocked either, since a blocked signal is delivered to
// signalfd and sigwait although it is ignored.
bool IsIgnored(int signal);

}  // namespace shoal

#endif  // SHOAL_BASE_IGNORED_SIGNAL_H_
