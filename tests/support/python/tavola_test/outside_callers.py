# SPDX-License-Identifier: Apache-2.0
"""Callers that keep content outside the tables: blobs, and files that steps of transactions write."""

import json
import os
import time

from tavola_test import blobs
from tavola_test.callers import DONE, DOUBLED, LOST, Caller, Register, promise
from tavola_test.client import ApiError, entity, key

SHARED = 3  # contents that are put again and again, so that puts meet the collector of the same chunks
BLOB_NAMES = 4
FILES_BETWEEN_CHECKS = 40
BUSY_PAUSE = 0.1
COLLECT_AT_ONCE = "update blob_contents set kept_until = now() where state <> 2"


def blob_content(number):
    """More than a chunk, and the number at every place."""
    return f"{number:08}".encode() * (blobs.CHUNK // 8 + 1)


class BlobWriter(Caller):
    """Puts, replaces, reads and deletes blobs. A reader gets one content whole, of a put that was acknowledged or may have taken effect."""

    def __init__(self, stack, name, seed, limbo):
        super().__init__(stack, name, seed)
        self.registers = {f"{name}/{number}": Register(limbo) for number in range(BLOB_NAMES)}
        self.number = SHARED

    def bear(self, error):
        """A stream lives longer than other calls, and may wait for so long that it is refused."""
        if error.reason == "SERVER_BUSY":
            time.sleep(BUSY_PAUSE)
            return
        super().bear(error)

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

    def delete(self, name):
        try:
            self.client.delete_blob(name=name, timeout=self.call_seconds)
        except ApiError as error:
            if error.reason != "BLOB_NOT_FOUND":
                raise
            promise(self.registers[name].allows(None), name, "an acknowledged blob is gone")

    def get(self, name):
        """(the number of the content or None, whole)."""
        try:
            _, content = blobs.get(self.client, name)
        except ApiError as error:
            if error.reason != "BLOB_NOT_FOUND":
                raise
            return None, True
        number = int(content[:8])
        return number, content == blob_content(number)

    def read(self, name):
        found = self.attempt_to(lambda: self.get(name), is_write=False)
        if found is None:
            return
        number, whole = found
        register = self.registers[name]
        promise(whole, name, "parts of several contents, beginning with", number)
        promise(register.allows(number), "read", name, number, register.acknowledged, register.maybe)

    def finish(self):
        self.stack.sql(COLLECT_AT_ONCE)

    def at_rest(self):
        for name, register in self.registers.items():
            found = None
            while found is None:
                found = self.attempt_to(lambda name=name: self.get(name), is_write=False)
            number, whole = found
            promise(whole and register.allows(number), "lost", name, number, whole, register.acknowledged, register.maybe, kind=LOST)
            register.settle(number)
        self.stack.sql(COLLECT_AT_ONCE)


class Archivist(Caller):
    """Writes entities to files and deletes them, and appends each to a log: every file is one whole line, and every entity has one line in the log."""

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
                 {"write_file": {"path": f"{self.name}/{self.row()}", "delete_entity": True, **of_entity}}]
        if not self.attempt("submit_transaction", transaction_id=self.row(), steps=steps):
            return False
        self.submitted.append(self.row())
        return True

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
        self.submitted = []

    def lines(self, name):
        account, = os.listdir(self.root)
        with open(os.path.join(self.root, account, self.name, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
