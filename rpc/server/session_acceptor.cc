#include "rpc/server/session_acceptor.h"

#include <memory>

namespace shoal {

void SessionAcceptor::Listen() {
  state_->Enter();
  const auto taken = std::make_shared<bool>(false);
  SessionStream::Events events;
  events.on_taken = [this, taken] {
    *taken = true;
    OnTaken();
  };
  events.on_over = [this, taken] { OnOver(*taken); };
  std::make_shared<SessionStream>(state_->shared_from_this(), std::move(events))
      ->Listen(accept_);
}

void SessionAcceptor::OnTaken() {
  {
    MutexLock lock(&mu_);
    if (++open_ >= state_->options().max_sessions) return;
  }
  Listen();
}

void SessionAcceptor::OnOver(bool was_taken) {
  bool listen = false;
  if (was_taken) {
    MutexLock lock(&mu_);
    listen = open_-- >= state_->options().max_sessions;
  }
  // Otherwise the server shuts down.
  if (listen) Listen();
  state_->Leave();
}

}  // namespace shoal
