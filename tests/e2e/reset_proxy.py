"""A TCP proxy that can reset the connections that go through it."""

import select
import socket
import struct
import threading


class ResetProxy:
    """Joins 127.0.0.1:`port` to 127.0.0.1:`target`."""

    def __init__(self, port, target):
        self._target = ("127.0.0.1", target)
        self._lock = threading.Lock()
        self._pairs = []
        self._listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._target, 5)
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._pairs.append((client, server))
            threading.Thread(target=self._carry, args=(client, server),
                             daemon=True).start()

    def _carry(self, client, server):
        other = {client: server, server: client}
        try:
            while True:
                for end in select.select([client, server], [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    other[end].sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            client.close()
            server.close()

    def reset(self):
        """Resets all connections; returns how many there were."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        count = 0
        for client, server in pairs:
            try:
                for end in (client, server):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
                # Wakes the thread that carries, which closes both.
                client.shutdown(socket.SHUT_RD)
                count += 1
            except OSError:
                pass  # it had ended
        return count

    def close(self):
        self._listener.close()
        self.reset()
