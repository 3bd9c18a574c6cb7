# SPDX-License-Identifier: Apache-2.0
"""Callers that keep content outside the tables: blobs, and files that steps of transactions write."""

import json
import os
import time

from tavola_test import blobs
from tavola_test.callers import DONE, DOUBLED, HELD, LOST, Caller, Register, promise
from tavola_test.client import ApiError, entity, key, match, plain

SHARED = 3  # contents that are put again and again, so that puts meet the collector of the same chunks
BLOB_NAMES = 4
HOLDERS = 3
OPEN = (1, 2)  # states of a transaction
FILES_BETWEEN_CHECKS = 40
BUSY_PAUSE = 0.1


def blob_content(number):
    """More than a chunk, and the number at every place."""
    return f"{number:08}".encode() * (blobs.CHUNK // 8 + 1)


def read_blob(client, name):
    """(the number of the content or None, whole)."""
    try:
        _, content = blobs.get(client, name)
    except ApiError as error:
        if error.reason != "BLOB_NOT_FOUND":
            raise
        return None, True
    number = int(content[:8])
    return number, content == blob_content(number)


class StreamCaller(Caller):
    """Makes calls that are more than one message, or more than one call. On a server that stands still they end as soon as others."""

    def connect(self):
        is_connected = super().connect()
        if is_connected:
            self.client.stream_seconds = self.call_seconds
        return is_connected

    def bear(self, error):
        """A stream lives longer than other calls, and may wait for so long that it is refused. Provocations let the collector
        of blobs remove what is being put, too (blobs.COLLECT_AT_ONCE).
        """
        if error.reason in ("SERVER_BUSY", "UPLOAD_OFFSET_MISMATCH"):
            time.sleep(BUSY_PAUSE)
            return
        super().bear(error)

    def attempt_to(self, how, is_write=True):
        """What the call returns, or None: it may have taken effect."""
        if not self.connect():
            return None
        try:
            reply = how()
        except ApiError as error:
            self.bear(error)
            return None
        self.done += 1
        self.written += is_write
        return reply

    def until_answered(self, how):
        found = None
        while found is None:
            found = self.attempt_to(how, is_write=False)
        return found


class BlobWriter(StreamCaller):
    """Puts, replaces, reads and deletes blobs. A reader gets one content whole, of a put that was acknowledged or may have taken effect."""

    def __init__(self, stack, name, seed, limbo):
        super().__init__(stack, name, seed)
        self.registers = {f"{name}/{number}": Register(limbo) for number in range(BLOB_NAMES)}
        self.number = SHARED

    def choose(self):
        if self.random.random() < 0.5:
            return self.random.randrange(SHARED)
        self.number += 1
        return self.number

    def turn(self):
        name = self.random.choice(sorted(self.registers))
        kind = self.random.random()
        if kind < 0.4:
            number = self.choose()
            self.note(name, number, lambda: blobs.put(self.client, name, blob_content(number)))
        elif kind < 0.5:
            self.note(name, None, lambda: self.delete(name))
        else:
            self.read(name)

    def note(self, name, number, how):
        before = self.written
        self.attempt_to(how)
        if self.written > before:
            self.registers[name].settle(number)
        else:
            self.registers[name].maybe.append(number)

    def delete(self, name):
        try:
            self.client.delete_blob(name=name, timeout=self.call_seconds)
        except ApiError as error:
            if error.reason != "BLOB_NOT_FOUND":
                raise
            promise(self.registers[name].allows(None), name, "an acknowledged blob is gone")

    def get(self, name):
        return read_blob(self.client, name)

    def read(self, name):
        found = self.attempt_to(lambda: self.get(name), is_write=False)
        if found is None:
            return
        number, whole = found
        register = self.registers[name]
        promise(whole, name, "parts of several contents, beginning with", number)
        promise(register.allows(number), "read", name, number, register.acknowledged, register.maybe)

    def finish(self):
        self.stack.sql(blobs.COLLECT_AT_ONCE)

    def at_rest(self):
        for name, register in self.registers.items():
            number, whole = self.until_answered(lambda name=name: self.get(name))
            promise(whole and register.allows(number), "lost", name, number, whole, register.acknowledged, register.maybe, kind=LOST)
            register.settle(number)
        self.stack.sql(blobs.COLLECT_AT_ONCE)


class BlobStepper(StreamCaller):
    """Puts and deletes a blob in steps of transactions, and by calls between them: a step that took effect twice would undo what came later."""

    def __init__(self, stack, name, seed, limbo):
        super().__init__(stack, name, seed)
        self.limbo, self.number, self.expected, self.late = limbo, 0, None, []
        self.states = [self.put_in_step, self.delete_in_step, self.put]
        self.at = 0

    def turn(self):
        if self.random.random() < 0.7:
            self.read()
        elif self.states[self.at]():
            self.at = (self.at + 1) % len(self.states)
            self.number += 1

    def step(self, step):
        """Whether the transaction with this one step is done."""
        of_number = f"{self.name}-{self.number}"
        if not self.attempt("submit_transaction", transaction_id=of_number, steps=[step]):
            return False
        reply = self.attempt("wait_transaction", transaction_id=of_number)
        promise(not reply or reply.transaction.state in (*OPEN, DONE), "a step failed", reply)
        return reply and reply.transaction.state == DONE

    def put_in_step(self):
        return self.expect(self.number, self.step({"put_blob": {"name": self.name, "data": blob_content(self.number)}}))

    def delete_in_step(self):
        return self.expect(None, self.step({"delete_blob": {"name": self.name}}))

    def put(self):
        """Without an answer it may take effect later."""
        number = self.number
        done = self.attempt_to(lambda: blobs.put(self.client, self.name, blob_content(number)))
        if not done:
            self.late.append(number)
        return self.expect(number, done)

    def expect(self, number, is_done):
        """While a change is under way, its outcome is not known: nothing is expected."""
        self.expected = (number,) if is_done else None
        return is_done

    def read(self, at_rest=False):
        found = self.attempt_to(lambda: read_blob(self.client, self.name), is_write=False)
        if found is None or self.expected is None:
            return found
        number, whole = found
        promise(whole and number in (*self.expected, *self.late), "a step took effect twice, or not", self.name, number,
                self.expected, self.late, kind=DOUBLED if at_rest else LOST)
        return found

    def finish(self):
        """A stopped server may hold a put no longer."""
        while self.expected is None:
            self.turn()
        self.stack.sql(blobs.COLLECT_AT_ONCE)

    def at_rest(self):
        found = None
        while found is None:
            found = self.read(at_rest=True)
        if not self.limbo.is_open:
            self.expected, self.late = (found[0],), []
        self.stack.sql(blobs.COLLECT_AT_ONCE)


class Holder(StreamCaller):
    """Writes entities together with the contents that they hold. A reader who gets the entity gets the content that was put with it."""

    def __init__(self, stack, name, seed, limbo):
        super().__init__(stack, name, seed)
        self.registers = {f"{row}": Register(limbo) for row in range(HOLDERS)}
        self.number = 0

    def turn(self):
        row = self.random.choice(sorted(self.registers))
        kind = self.random.random()
        if kind < 0.15:
            self.number += 1
            self.note(row, self.number, lambda number=self.number: self.put(row, number))
        elif kind < 0.2:
            self.note(row, None, lambda: self.delete(row))
        else:
            found = self.attempt_to(lambda: self.get(row), is_write=False)
            if found is not None:
                self.check(row, *found)

    def note(self, row, number, how):
        if self.attempt_to(how):
            self.registers[row].settle(number)
        else:
            self.registers[row].maybe.append(number)

    def put(self, row, number):
        write = {"table": HELD, "operation": {"insert_or_replace": entity(self.name, row, N=number)}, "property": "Content"}
        return list(self.client.put_blob(blobs.messages("", blob_content(number), write=write)))

    def delete(self, row):
        try:
            self.client.delete_entity(table=HELD, key=key((self.name, row)), precondition=match(), timeout=self.call_seconds)
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            promise(self.registers[row].allows(None), row, "an acknowledged entity is gone")
        return True

    def get(self, row):
        """(the number of the entity or None, whether its content is that number's)."""
        try:
            found = plain(self.client.get_entity(table=HELD, key=key((self.name, row)), timeout=self.call_seconds).entity)
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            return None, True
        try:
            return found["N"], blobs.get(self.client, reference=found["Content"])[1] == blob_content(found["N"])
        except ApiError as error:
            if error.reason != "BLOB_CHANGED":  # the entity was written meanwhile, by a call without an answer
                raise
            promise(self.registers[row].maybe, row, "the content of an entity is gone", found)
            return self.get(row)

    def check(self, row, number, whole):
        register = self.registers[row]
        promise(whole and register.allows(number), "lost", row, number, whole, register.acknowledged, register.maybe, kind=LOST)

    def finish(self):
        self.stack.sql(blobs.COLLECT_AT_ONCE)

    def at_rest(self):
        for row, register in self.registers.items():
            number, whole = self.until_answered(lambda row=row: self.get(row))
            self.check(row, number, whole)
            register.settle(number)
        self.stack.sql(blobs.COLLECT_AT_ONCE)


class Archivist(Caller):
    """Appends entities to a log, sends them to a service, writes them to files and deletes them: each has one line in the log, arrives,
    with one key, and has a file that is one whole line.
    """

    def __init__(self, stack, name, seed, root):
        super().__init__(stack, name, seed)
        self.root, self.number, self.state = root, 0, self.insert
        self.submitted = []  # since the last check

    def row(self):
        return f"{self.name}-{self.number:05}"

    def turn(self):
        if len(self.submitted) >= FILES_BETWEEN_CHECKS:
            self.attempt("get_transaction", transaction_id=self.submitted[-1])
            time.sleep(BUSY_PAUSE)
        elif self.state():
            self.state = self.submit if self.state == self.insert else self.insert

    def insert(self):
        self.number += 1
        some = entity(self.name, self.row(), N=self.number)
        if self.attempt("insert_or_replace_entity", table="simple", entity=some, request_id=self.row()):
            return True
        self.number -= 1
        return False

    def submit(self):
        of_entity = {"entity": {"table": "simple", "key": key((self.name, self.row()))}}
        steps = [{"append_file": {"path": f"{self.name}/log", **of_entity}},
                 {"http_call": {"url": self.stack.receiver.url + self.path_of(self.row()), **of_entity}},
                 {"write_file": {"path": f"{self.name}/{self.row()}", "delete_entity": True, **of_entity}}]
        if not self.attempt("submit_transaction", transaction_id=self.row(), steps=steps):
            return False
        self.submitted.append(self.row())
        return True

    def path_of(self, row):
        return f"/{self.name}/{row}"

    def finish(self):
        while self.state != self.insert:
            self.turn()

    def at_rest(self):
        logged = [line["RowKey"] for line in self.lines("log")] if self.number else []
        promise(len(logged) == len(set(logged)), "appended twice", sorted(logged), kind=DOUBLED)
        promise(set(self.submitted) <= set(logged), "not appended", set(self.submitted) - set(logged))
        for row in self.submitted:
            reply = None
            while reply is None:
                reply = self.attempt("get_transaction", transaction_id=row)
            promise(reply.transaction.state == DONE, "an archive did not end", reply)
            promise([line["RowKey"] for line in self.lines(row)] == [row], "a file is not one whole line", row)
            keys = set(self.stack.receiver.keys(self.path_of(row)))
            promise(len(keys) == 1, "not called, or with several keys", row, keys, kind=DOUBLED if keys else LOST)
        self.submitted = []

    def lines(self, name):
        account, = os.listdir(self.root)
        with open(os.path.join(self.root, account, self.name, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
