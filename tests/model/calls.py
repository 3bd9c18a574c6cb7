# SPDX-License-Identifier: Apache-2.0
"""Calls as the model makes them: conversions between messages and the values of history.py and filters.py, and one
way to call, which notes when the call was made and answered, and whether there was an answer.
"""

import random
import threading
import time

import grpc

from filters import packed
from history import EXPIRES, FOREIGN
from tavola_test import client

# Statuses of a call that say nothing about its effect.
UNKNOWN = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED")
# Except with these reasons: the call was not begun.
NOTHING_DONE = ("SERVER_BUSY", "SERVER_DRAINING")


def message_of(key, content):
    out = client.Entity(partition_key=key[0], row_key=key[1])
    for name, kind, payload in content:
        if (name, kind) == EXPIRES:
            out.expires.seconds, out.expires.nanos = payload // 10**7, payload % 10**7 * 100
            continue
        value = out.properties[name]
        if kind == "datetime":
            value.datetime_value.seconds, value.datetime_value.nanos = payload
            value.datetime_value.SetInParent()
        elif kind == "double":
            value.double_value = client.struct.unpack("<d", payload)[0]
        else:
            setattr(value, kind + "_value", payload)
    return out


def content_of(message):
    content = []
    for name, value in message.properties.items():
        kind = value.WhichOneof("kind")[: -len("_value")]
        payload = getattr(value, kind + "_value")
        if kind == "datetime":
            payload = (payload.seconds, payload.nanos)
        elif kind == "double":
            payload = packed(payload)
        content.append((name, kind, payload))
    if message.HasField("expires"):
        content.append((*EXPIRES, ticks_of(message.expires)))
    return tuple(sorted(content))


def key_of(message):
    return (message.partition_key, message.row_key)


def version_of(etag):
    """The only function that looks into an ETag: it checks that the versions of a key grow."""
    return int(etag.rstrip('"').split(".")[1], 16) if "." in etag else FOREIGN


def ticks_of(timestamp):
    return timestamp.seconds * 10**7 + timestamp.nanos // 100


class Answer:
    """The outcome of a call: reply, or error, or neither; and its times."""

    def __init__(self, called, answered, reply=None, error=None):
        self.called = called
        self.answered = answered
        self.reply = reply
        self.error = error

    @property
    def is_known(self):
        return self.reply is not None or self.error is not None

    @property
    def reason(self):
        return self.error.reason if self.error else None


class Caller:
    """One connection; a new one after each that was lost."""

    methods = {path.rsplit("/", 1)[1]: (path, method) for path, method in client.types.methods() if "/tavola." in path}

    def __init__(self, made):
        self.made = made
        self.client = made.connect()

    def close(self):
        self.client.hang_up()

    def reconnect(self):
        self.close()
        client_is_needed = time.monotonic() + 60
        while not self.made.accepts():
            if time.monotonic() > client_is_needed:
                raise AssertionError("the server did not come back")
            time.sleep(0.01)
        self.client = self.made.connect()

    def begin(self, method, timeout=20, **fields):
        """A running call: (future, type of the reply, time)."""
        path, descriptor = self.methods[method]
        request = client.types.message(descriptor.input_type.full_name)(**fields)
        reply = client.types.message(descriptor.output_type.full_name)
        called = time.monotonic()
        return self.client.start(path, request.SerializeToString(), timeout), reply, called

    @staticmethod
    def end(begun):
        future, reply, called = begun
        try:
            answer = Answer(called, None, reply=reply.FromString(future.result()))
        except grpc.FutureCancelledError:
            answer = Answer(called, None)
        except grpc.RpcError as failure:
            error = client.ApiError(failure)
            is_unknown = error.code in UNKNOWN and error.reason not in NOTHING_DONE
            answer = Answer(called, None, error=None if is_unknown else error)
        answer.answered = time.monotonic()
        return answer

    def call(self, method, timeout=20, **fields):
        answer = self.end(self.begin(method, timeout, **fields))
        if not answer.is_known and not self.made.accepts():
            self.reconnect()
        return answer

    def call_until_answered(self, method, **fields):
        """For calls that may be repeated; the times are those of the first attempt and of the last answer."""
        first = None
        while True:
            answer = self.call(method, **fields)
            first = first or answer.called
            answer.called = first
            if answer.is_known and answer.reason not in NOTHING_DONE:
                return answer
            time.sleep(0.01)
            self.reconnect()


class Member(threading.Thread):
    """A caller with a connection of its own that takes turns (turn) until the round ends. world: made, seed, table, ending, failure."""

    def __init__(self, world, name):
        super().__init__(daemon=True)
        self.world, self.name = world, name
        self.random = random.Random(f"{world.seed} {world.table} {name}")
        self.caller = Caller(world.made)

    def run(self):
        try:
            while not self.world.ending.is_set() and not self.world.failure:
                self.turn()
        except Exception as failure:  # an exception is given to the round, which fails with it
            self.world.failure = self.world.failure or failure
        self.caller.close()
