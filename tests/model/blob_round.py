# SPDX-License-Identifier: Apache-2.0
"""Random puts, uploads in pieces, gets, ranges and deletes of blobs, while programs are killed.

Each name has one writer, whose every change has the ETag before as its condition: a change without an answer takes effect before the
next one or never. So the contents of a name are numbers that only grow, and a reader may see none that is older than the last change
that was answered when the read began. At rest no content is left that no name points to.
"""

import collections
import random
import threading
import uuid

from tavola_test import audit, blobs
from tavola_test.blobs import CHUNK
from tavola_test.client import ApiError
from tavola_test.waiting import wait_for
from trouble import Trouble

WRITERS, READERS = 3, 2
NAMES_EACH = 3
SIZES = (0, 1, 1000, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 77)
LOST_ANSWER = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED")
LEFT = """select (select count(*) from blob_contents where state <> 2) + (select count(*) from blob_chunks k
    where not exists (select from blob_parts p where (p.account, p.digest) = (k.account, k.digest)))"""


class BlobWorld:
    """What all callers of a round share."""

    def __init__(self, made, prefix, seed):
        self.made, self.seed = made, seed
        self.names = [[f"{prefix}/{writer}/{number}" for number in range(NAMES_EACH)] for writer in range(WRITERS)]
        self.answered = collections.defaultdict(int)  # the number of the last change of a name that was answered
        self.contents = {}  # by name and SHA-256: (number, bytes); entered before it is sent
        self.deleted = collections.defaultdict(set)  # the numbers of a name that are deletes
        self.done = collections.Counter()
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.failure = None


class BlobCaller(threading.Thread):
    def __init__(self, world, name):
        super().__init__(daemon=True)
        self.world = world
        self.random = random.Random(f"{world.seed} {name}")
        self.client = world.made.connect()

    def run(self):
        try:
            while not self.world.ending.is_set():
                self.turn()
        except BaseException as failure:  # the round raises it
            self.world.failure = failure
            self.world.ending.set()

    def attempt(self, kind, function, *arguments, **fields):
        """(the reply, None) or (None, the error); a lost answer is (None, None)."""
        try:
            reply = function(*arguments, **fields)
        except ApiError as error:
            if error.code in LOST_ANSWER or error.reason in ("STORE_UNAVAILABLE", "SERVER_BUSY"):
                self.world.ending.wait(0.05)
                return None, None
            return None, error
        with self.world.lock:
            self.world.done[kind] += 1
        return reply, None


class BlobWriter(BlobCaller):
    def __init__(self, world, number):
        super().__init__(world, f"blob writer {number}")
        self.numbers = dict.fromkeys(world.names[number], 0)
        self.etags = dict.fromkeys(world.names[number])
        self.kept = set()  # names with a put that asked for a free name and has no answer: after a delete it could come late

    def turn(self):
        name = self.random.choice(list(self.numbers))
        change = self.random.choice([self.put, self.put, self.upload, self.delete])
        if change == self.delete and (not self.etags[name] or name in self.kept):
            return
        self.numbers[name] += 1
        reply, error = change(name, self.numbers[name])
        if error:
            assert error.reason in ("UPDATE_CONDITION_NOT_SATISFIED", "BLOB_ALREADY_EXISTS", "BLOB_NOT_FOUND", "UPLOAD_NOT_FOUND"), error
        if reply is not None and change != self.delete:
            self.note(name, self.numbers[name], reply.etag)
        elif reply is not None:
            self.note(name, self.numbers[name], None)
        else:
            if not error and not self.etags[name]:
                self.kept.add(name)
            self.learn(name)

    def note(self, name, number, etag):
        self.etags[name] = etag
        self.world.answered[name] = number

    def learn(self, name):
        """What the name points to now. A change without an answer may still come, but not after the next one."""
        while not self.world.ending.is_set():
            blob, error = self.attempt("stats", self.client.stat_blob, name=name)
            if error:
                assert error.reason == "BLOB_NOT_FOUND", error
                self.etags[name] = None
                return
            if blob:
                self.etags[name] = blob.blob.etag
                return

    def content(self, name, number):
        size = self.random.choice(SIZES)
        data = blobs.content(size, self.random.randrange(4)) if size > 1000 else b""
        data += f"{name} {number}".encode()  # equal chunks, and contents of which no two are equal
        self.world.contents[name, blobs.sha256(data)] = (number, data)
        return data

    def condition(self, name):
        return {"if_match": self.etags[name]} if self.etags[name] else {"if_absent": True}

    def put(self, name, number):
        return self.attempt("puts", blobs.put, self.client, name, self.content(name, number), **self.condition(name))

    def upload(self, name, number):
        """In streams of which all but the last are cut anywhere, and continued until one has an answer."""
        data, upload, stored = self.content(name, number), uuid.uuid4().hex, 0
        while not self.world.ending.is_set():
            cut = self.random.randrange(len(data) + 1) if self.random.random() < 0.6 else None
            header = {"upload_id": upload, "offset": stored, "sha256": blobs.sha256(data), **self.condition(name)}
            reply, error = self.attempt("uploads", self.send, name, data[stored:cut], cut is None, header)
            if reply or error and error.reason not in ("INVALID_INPUT", "UPLOAD_OFFSET_MISMATCH"):
                return reply, error
            found, _ = self.attempt("questions", self.client.get_upload, upload_id=upload)
            stored = 0 if not found or found.complete else found.stored
        return None, None

    def send(self, name, data, is_all, header):
        requests = list(blobs.messages(name, [data[at:at + 100_000] for at in range(0, len(data), 100_000)], **header))
        return list(self.client.put_blob(requests if is_all else requests[:-1]))[0].blob

    def delete(self, name, number):
        self.world.deleted[name].add(number)
        return self.attempt("deletes", self.client.delete_blob, name=name, if_match=self.etags[name])


class BlobReader(BlobCaller):
    def turn(self):
        name = self.random.choice(sum(self.world.names, []))
        answered = self.world.answered[name]
        offset = self.random.choice((0, 0, 5, CHUNK, CHUNK + 10))
        length = self.random.choice((0, 1, CHUNK, 1 << 30))
        found, error = self.attempt("gets", blobs.get, self.client, name, offset=offset, length=length)
        if error and error.reason == "BLOB_NOT_FOUND":
            assert answered == 0 or any(number >= answered for number in set(self.world.deleted[name])), f"{name}: {answered} was answered and is gone"
        elif error:
            assert error.reason in ("OUT_OF_RANGE_INPUT", "BLOB_CHANGED"), error
        elif found:
            self.check(name, answered, found, slice(offset, offset + length if length else None))

    def check(self, name, answered, found, part):
        blob, data = found
        number, content = self.world.contents[name, blob.sha256]
        assert number >= answered, f"{name}: {answered} was answered, then {number} was read"
        assert (blob.size, data) == (len(content), content[part]), f"{name}: {number} was read with other bytes"


class BlobRound:
    def __init__(self, made, number, seed, seconds):
        self.made, self.seconds = made, seconds
        self.world = BlobWorld(made, f"model{number}", seed)
        self.trouble = Trouble(made, self.world, random.Random(f"{seed} {number} trouble"))

    def run(self):
        self.callers = [BlobWriter(self.world, number) for number in range(WRITERS)]
        self.callers += [BlobReader(self.world, f"blob reader {number}") for number in range(READERS)]
        for caller in self.callers:
            caller.start()
        self.trouble.make_beside(self.callers, self.seconds)
        with self.made.connect() as caller:
            self.check_at_rest(caller)

    def check_at_rest(self, caller):
        for writer in self.callers[:WRITERS]:
            for name, number in writer.numbers.items():
                self.check_name(caller, name, number)
        listed = [blob.name for page in caller.pages(caller.list_blobs, prefix="model", page_size=2) for blob in page.blobs]
        assert listed == sorted(listed) and set(listed) <= set(sum(self.world.names, [])), listed
        for name in listed:
            caller.delete_blob(name=name)
        self.made.sql(blobs.COLLECT_AT_ONCE)  # nothing reads any more
        wait_for("nothing left", lambda: self.made.sql(LEFT) == "0", 60)
        audit.check(self.made)

    def check_name(self, caller, name, newest):
        answered = self.world.answered[name]
        try:
            blob, data = blobs.get(caller, name)
        except ApiError as error:
            assert error.reason == "BLOB_NOT_FOUND", error
            assert answered == 0 or any(number >= answered for number in self.world.deleted[name]), f"{name}: {answered} is gone"
            return
        number, content = self.world.contents[name, blob.sha256]
        assert answered <= number <= newest and data == content, f"{name}: has {number}, {answered} was answered, {newest} was sent last"
