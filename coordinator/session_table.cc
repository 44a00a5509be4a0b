#include "coordinator/session_table.h"

#include <variant>
#include <vector>

#include "base/status_macros.h"
#include "core/message_memory.h"

namespace shoal {
namespace {

void Deliver(const SessionTable::Connection& connection,
             CoordinatorMessage message) {
  // Keeps the connection alive: the handler may destroy the process's end.
  const SessionTable::Connection held = connection;
  if (!held->dead) held->handler.on_message(std::move(message));
}

// May be called twice for one connection; the first call counts.
void EndConnection(const SessionTable::Connection& connection,
                   const absl::Status& status) {
  connection->dead = true;
  SessionHandler handler = std::move(connection->handler);
  if (handler.on_end) handler.on_end(status);
}

}  // namespace

void SessionTable::Open(uint64_t session, Connection connection) {
  connection->session = session;
  sessions_[session].connection = std::move(connection);
}

absl::Status SessionTable::Resume(uint64_t session, uint64_t taken,
                                  Connection connection) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) {
    return absl::NotFoundError("the session is over");
  }
  SHOAL_ASSIGN_OR_RETURN(std::vector<CoordinatorMessage> messages,
                         it->second.sent.After(taken));
  it->second.sent.Acknowledge(taken);
  const Connection before = std::move(it->second.connection);
  connection->session = session;
  it->second.connection = connection;
  const SessionResumed resumed{it->second.taken};
  if (before != nullptr) {
    EndConnection(before, absl::AbortedError(
                              "the process resumed the session over another "
                              "connection"));
  }
  Deliver(connection, resumed);
  for (CoordinatorMessage& message : messages) {
    Deliver(connection, std::move(message));
  }
  return absl::OkStatus();
}

uint64_t SessionTable::Take(const SessionConnection& connection,
                            const ProcessMessage& message) {
  const auto it = sessions_.find(connection.session);
  if (it == sessions_.end() || it->second.connection.get() != &connection) {
    return 0;
  }
  ++it->second.taken;
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    it->second.sent.Acknowledge(heartbeat->taken);
  } else if (std::holds_alternative<FileRequest>(message)) {
    it->second.sent.Acknowledge(it->second.file_part);
  }
  return it->first;
}

void SessionTable::Send(uint64_t session, CoordinatorMessage message) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  if (auto* ack = std::get_if<HeartbeatAck>(&message)) {
    ack->taken = it->second.taken;
  }
  it->second.sent.Add(message, MemoryOf(message));
  if (std::holds_alternative<FilePart>(message)) {
    it->second.file_part = it->second.sent.sent();
  }
  if (it->second.connection != nullptr) {
    Deliver(it->second.connection, std::move(message));
  }
}

uint64_t SessionTable::Break(const Connection& connection,
                             const absl::Status& status) {
  uint64_t carried = 0;
  const auto it = sessions_.find(connection->session);
  if (it != sessions_.end() && it->second.connection == connection) {
    carried = it->first;
    it->second.connection = nullptr;
  }
  EndConnection(connection, status);
  return carried;
}

void SessionTable::End(uint64_t session, const absl::Status& status) {
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  const Connection connection = std::move(it->second.connection);
  sessions_.erase(it);
  if (connection != nullptr) EndConnection(connection, status);
}

void SessionTable::EndAll(const absl::Status& status) {
  while (!sessions_.empty()) End(sessions_.begin()->first, status);
}

}  // namespace shoal
