# SPDX-License-Identifier: Apache-2.0
"""A client of the server's HTTP listener: calls with http.client, and bytes on raw sockets."""

import http.client
import json
import socket
import struct
from urllib.parse import urlsplit

from tavola_test import log_lines
from tavola_test.waiting import wait_for

SERVICES = {"Table": "TableService", "Entity": "EntityService"}


def address_of(stack):
    """(host, port) of the listener that the stack's server has reported."""
    said = wait_for("the address of HTTP", lambda: log_lines.of(stack.server.output(), "http"))
    parts = urlsplit(said[-1]["address"])
    return parts.hostname, parts.port


class Reply:
    def __init__(self, reply):
        self.status, self.headers, self.body = reply.status, reply.headers, reply.read()

    def json(self):
        return json.loads(self.body)


class Caller:
    """Calls over one connection that is kept."""

    def __init__(self, address, token=None, context=None):
        host, port = address
        self.connection = http.client.HTTPSConnection(host, port, timeout=30, context=context) if context else \
            http.client.HTTPConnection(host, port, timeout=30)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def close(self):
        self.connection.close()

    def request(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body, {**self.headers, **(headers or {})})
        return Reply(self.connection.getresponse())

    def call(self, method, message, headers=None):
        """Of a method with one message and one reply, as JSON: "EntityService/GetEntity"."""
        return self.request(
            "POST", f"/tavola.v1.{method}", json.dumps(message), {"Content-Type": "application/json", **(headers or {})})

    def stream(self, method, messages, headers=None):
        """Of a method with a stream: (reply, messages, end)."""
        body = b"".join(envelope(json.dumps(message).encode()) for message in messages)
        reply = self.request("POST", f"/tavola.v1.{method}", body, {"Content-Type": "application/connect+json", **(headers or {})})
        parts = list(envelopes(reply.body))
        found = [json.loads(text) for flags, text in parts if not flags & 2]
        ends = [json.loads(text) for flags, text in parts if flags & 2]
        return reply, found, ends


def envelope(message, flags=0):
    return struct.pack(">BI", flags, len(message)) + message


def envelopes(body):
    """(flags, message) of each envelope; the body must have whole ones."""
    at = 0
    while at < len(body):
        flags, length = struct.unpack_from(">BI", body, at)
        at += 5
        if at + length > len(body):
            raise AssertionError(f"the body ends inside a message: {body[at:]!r}")
        yield flags, body[at:at + length]
        at += length


class Raw:
    """A connection on which a test writes what it likes."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def read_until(self, mark):
        """What comes up to the mark; all of it if the server closes before."""
        data = b""
        while mark not in data:
            part = self.receive()
            if not part:
                break
            data += part
        return data

    def receive(self):
        try:
            return self.socket.recv(65536)
        except ConnectionResetError:
            return b""

    def read_all(self):
        return self.read_until(b"\xff never sent")
