# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 as an attacker may send it: frames from numbers, and a connection that writes them. Header blocks are
literals without indexing, so that every byte on the wire stands in the test.
"""

import selectors
import socket
import ssl
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
INITIAL_WINDOW_SIZE = 4  # an identifier of SETTINGS
DEFAULT_WINDOW, MAX_WINDOW = 65535, (1 << 31) - 1
HEAD_BYTES = 9
CANCEL = 8


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">IBBI", len(payload), kind, flags, stream)[1:] + payload


def settings(pairs=()):
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", *pair) for pair in pairs))


def reset(stream):
    return frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))


def wider(stream, octets):
    """The sender may send so many octets more; stream 0: on all streams together."""
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", octets))


def text(value):
    """A string of HPACK, without Huffman coding."""
    value = value.encode() if isinstance(value, str) else value
    length, rest = len(value), b""
    if length >= 127:
        rest, length = varint(length - 127), 127
    return bytes([length]) + rest + value


def varint(value):
    """Seven bits a byte, the lowest first: of HPACK's integers behind their prefix, and of protobuf."""
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def header_block(path, **more):
    """more: names with underscores for hyphens."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "tavola")]
    fields += [("te", "trailers"), ("content-type", "application/grpc")]
    fields += [(name.replace("_", "-"), value) for name, value in more.items()]
    return b"".join(b"\x00" + text(name) + text(value) for name, value in fields)


def open_stream(stream, path, last=False, **more):
    return frame(HEADERS, END_HEADERS | (END_STREAM if last else 0), stream, header_block(path, **more))


def message(content, compressed=False):
    """A message of gRPC, as it stands in DATA frames."""
    return struct.pack(">BI", compressed, len(content)) + content


def data_frames(stream, content, last=True, size=16384):
    pieces = [content[at : at + size] for at in range(0, len(content), size)] or [b""]
    return b"".join(
        frame(DATA, END_STREAM if last and at == len(pieces) - 1 else 0, stream, piece) for at, piece in enumerate(pieces)
    )


class HungUp(Exception):
    """The server has closed the connection."""


def through_tls(plain):
    """A client that does not check the server's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(plain)


class Connection:
    """To the server, from an address of this machine. Reads while it writes, and keeps the windows that it is given.

    address: HOST:PORT, or tls:HOST:PORT
    """

    def __init__(self, address, source="127.0.0.2", pairs=()):
        host, port = address.removeprefix("tls:").rsplit(":", 1)
        try:
            self.socket = socket.create_connection((host, int(port)), timeout=5, source_address=(source, 0))
            if address.startswith("tls:"):
                self.socket = through_tls(self.socket)
        except OSError as error:
            raise HungUp(str(error)) from None
        self.socket.setblocking(False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.socket, selectors.EVENT_READ | selectors.EVENT_WRITE)
        self.received = b""
        self.window, self.windows, self.initial = DEFAULT_WINDOW, {}, DEFAULT_WINDOW
        self.acknowledges = True
        self.reads = True
        self.ended = set()
        self.unsent = PREFACE + settings(pairs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.selector.close()
        self.socket.close()

    def send(self, content, until):
        """Write all of it; give up at `until` (time.monotonic). False: the server did not accept it in time."""
        self.unsent = memoryview(bytes(self.unsent) + content)
        while len(self.unsent) > 0:
            if not self.turn(until):
                return False
        return True

    def read_for(self, seconds):
        until = time.monotonic() + seconds
        while self.turn(until):
            pass

    def turn(self, until):
        """Write and read what is possible now; False: the time is over."""
        wanted = (selectors.EVENT_READ if self.reads else 0) | (selectors.EVENT_WRITE if len(self.unsent) else 0)
        left = until - time.monotonic()
        if left <= 0:
            return False
        if not wanted:
            time.sleep(min(left, 0.01))
            return True
        self.selector.modify(self.socket, wanted)
        try:
            for _, events in self.selector.select(min(left, 0.1)):
                if events & selectors.EVENT_READ:
                    self.read()
                if events & selectors.EVENT_WRITE and len(self.unsent):
                    self.unsent = self.unsent[self.socket.send(self.unsent[:1048576]) :]
        except (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError as error:
            raise HungUp(str(error)) from None
        return True

    def read(self):
        got = self.socket.recv(1048576)
        if not got:
            raise HungUp("end of file")
        self.received += got
        while len(self.received) >= HEAD_BYTES:
            length = int.from_bytes(self.received[:3], "big")
            if len(self.received) < HEAD_BYTES + length:
                return
            kind, flags, stream = struct.unpack(">BBI", self.received[3:HEAD_BYTES])
            self.take(kind, flags, stream, self.received[HEAD_BYTES : HEAD_BYTES + length])
            self.received = self.received[HEAD_BYTES + length :]

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, len(payload), 6):
                name, value = struct.unpack_from(">HI", payload, at)
                if name == INITIAL_WINDOW_SIZE:
                    self.windows = {key: size + value - self.initial for key, size in self.windows.items()}
                    self.initial = value
            if self.acknowledges:
                self.unsent = memoryview(bytes(self.unsent) + frame(SETTINGS, ACK))
        elif kind == PING and not flags & ACK and self.acknowledges:
            self.unsent = memoryview(bytes(self.unsent) + frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            more = struct.unpack(">I", payload)[0]
            if stream == 0:
                self.window += more
            elif stream in self.windows:
                self.windows[stream] += more
        elif kind == RST_STREAM or flags & END_STREAM and kind in (DATA, HEADERS):
            self.ended.add(stream)
