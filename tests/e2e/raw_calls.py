"""A gRPC client of a few lines that misbehaves: calls whose message never ends,
connections without a call."""

import select
import socket
import struct
import threading
import time

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
ACK = END_STREAM = 0x1
END_HEADERS = 0x4
PUSH = "/shoal.v1.ParameterServer/Push"


def frame(kind, flags, stream, payload=b""):
    return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) +
            struct.pack(">I", stream) + payload)


def headers(method, token):
    fields = [(":method", "POST"), (":scheme", "http"), (":path", method),
              (":authority", "ps"), ("content-type", "application/grpc"),
              ("te", "trailers")]
    if token is not None:
        fields.append(("authorization", "Bearer " + token))
    # Literals that enter no table, of fewer than 127 bytes.
    return b"".join(b"\x00" + bytes([len(name)]) + name.encode() +
                    bytes([len(value)]) + value.encode()
                    for name, value in fields)


class Call:
    """A message of `size` bytes, of which `send` are sent and no end."""

    def __init__(self, size, send):
        self.prefix = struct.pack(">BI", 0, size)
        self.left = len(self.prefix) + send
        self.window = 0  # beyond what every stream has

    def take(self, count):
        payload = self.prefix[:count]
        self.prefix = self.prefix[count:]
        self.left -= count
        return payload + b"\xff" * (count - len(payload))


class Connection:
    """One connection and its calls, which send as fast as the server lets
    them."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setblocking(False)
        self.out = bytearray(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                             frame(SETTINGS, 0, 0))
        self.inbox = bytearray()
        self.calls = {}  # by stream
        self.next = 1
        self.window = 65535
        self.stream_window = 65535
        self.frame_size = 16384
        self.payload = 0  # bytes sent
        self.answered = 0
        self.closed = False

    def call(self, method, token, size, send):
        self.out += frame(HEADERS, END_HEADERS, self.next,
                          headers(method, token))
        self.calls[self.next] = Call(size, send)
        self.next += 2

    def step(self, seconds):
        """Sends and receives; waits at most `seconds` until either is
        possible."""
        try:
            self._fill()
            readable, writable, _ = select.select(
                [self.socket], [self.socket] if self.out else [], [], seconds)
            if writable:
                del self.out[:self.socket.send(self.out)]
            if readable:
                data = self.socket.recv(1 << 16)
                if not data:
                    return self.close()
                self._take(data)
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.close()

    def close(self):
        self.closed = True
        self.socket.close()

    def _fill(self):
        for stream, call in self.calls.items():
            while len(self.out) < 1 << 20:
                count = min(self.window, self.stream_window + call.window,
                            self.frame_size, call.left)
                if count <= 0:
                    break
                self.out += frame(DATA, 0, stream, call.take(count))
                call.window -= count
                self.window -= count
                self.payload += count

    def _take(self, data):
        self.inbox += data
        while len(self.inbox) >= 9:
            size = int.from_bytes(self.inbox[:3], "big")
            if len(self.inbox) < 9 + size:
                return
            kind, flags = self.inbox[3], self.inbox[4]
            stream = int.from_bytes(self.inbox[5:9], "big") & 0x7fffffff
            payload = bytes(self.inbox[9:9 + size])
            del self.inbox[:9 + size]
            self._on_frame(kind, flags, stream, payload)

    def _on_frame(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            for key, value in struct.iter_unpack(">HI", payload):
                if key == 4:
                    self.stream_window = value
                elif key == 5:
                    self.frame_size = value
            self.out += frame(SETTINGS, ACK, 0)
        elif kind == PING and not flags & ACK:
            self.out += frame(PING, ACK, 0, payload)
        elif kind == WINDOW_UPDATE:
            more = int.from_bytes(payload, "big")
            if stream == 0:
                self.window += more
            elif stream in self.calls:
                self.calls[stream].window += more
        elif kind == RST_STREAM or (kind == HEADERS and flags & END_STREAM):
            if self.calls.pop(stream, None) is not None:
                self.answered += 1


class Flood(threading.Thread):
    """Connections that are kept at work until `stop`; a connection that the
    server closes is made again, `pause` seconds after another one was made."""

    def __init__(self, port, connections, begin, pause=0.0):
        super().__init__(daemon=True)
        self.port = port
        self.begin = begin  # called with each new connection
        self.pause = pause
        self.connections = [None] * connections
        self.made = self.refused = self.answered = self.payload = 0
        self.over = threading.Event()

    def run(self):
        while not self.over.is_set():
            for i, connection in enumerate(self.connections):
                if connection is None or connection.closed:
                    self._count(connection)
                    self.connections[i] = self._connect()
                    continue
                connection.step(0.001 / len(self.connections))

    def _connect(self):
        try:
            connection = Connection(self.port)
        except OSError:
            self.refused += 1
            self.over.wait(0.01)
            return None
        self.made += 1
        self.begin(connection)
        self.over.wait(self.pause)
        return connection

    def _count(self, connection):
        if connection is not None:
            self.answered += connection.answered
            self.payload += connection.payload

    def sent(self):
        return self.payload + sum(c.payload for c in self.connections if c)

    def wait_until_full(self, most, timeout):
        """Until `most` bytes are sent, or the server has taken none for a
        second."""
        last = [self.sent(), time.monotonic()]

        def full():
            if self.sent() != last[0]:
                last[:] = [self.sent(), time.monotonic()]
            return last[0] >= most or time.monotonic() > last[1] + 1

        self.wait_until(full, timeout)

    def wait_until(self, condition, timeout):
        deadline = time.monotonic() + timeout
        while not condition() and time.monotonic() < deadline:
            self.over.wait(0.05)
        return condition()

    def stop(self):
        self.over.set()
        self.join()
        for connection in self.connections:
            self._count(connection)
            if connection is not None and not connection.closed:
                connection.close()
        return self
