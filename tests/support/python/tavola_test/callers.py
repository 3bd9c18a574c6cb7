# SPDX-License-Identifier: Apache-2.0
"""Callers that write all the time while processes break, and what has been promised to them.

Each caller is a thread with keys of its own. It notes which calls were acknowledged, and which may have taken effect:
calls without an answer. At rest, with all callers paused, invariants.py compares these notes with what is stored. If
a call returns what it must never return, the caller fails at once.
"""

import random
import threading
import time

from tavola_test.client import ApiError, BatchOperation, Client, entity, key, match, plain, value
from tavola_test.feed import Watch
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

UNKNOWN_OUTCOME = ("UNAVAILABLE", "DEADLINE_EXCEEDED")
OWNERS = ["o/1", "o/2", "o/3"]
TAGS = ["red", "green"]
INDEXES = {"byOwner": (1, "Owner"), "byTag": (2, "Tag")}
# Each writer has values of its own, so no write is refused, and each entity owns its value.
UNIQUE_INDEX = "ownerOnce"
# Indexes in the partition of their source, written with it: a copy and a list.
STRONG_INDEXES = {"ownerHere": (1, "Owner"), "tagHere": (2, "Tag")}
# In other partitions, written with its source; its manifests are those of the other indexes.
ELSEWHERE_INDEX = "ownerAtOnce"
TABLES = ("source", "archive", "simple", "ranges", "watched")
FED = "watched"  # the table with a change feed
WIDE, HELD = "wide", "held"  # tables with wide entities, and with entities that hold contents of blobs
WATCH_SECONDS = 0.2
ABSENT_SERVER_PAUSE = 0.02
MAX_LEFT_ALONE = 6
READS = ("get_entity", "lookup_index", "wait_transaction", "get_transaction", "get_index", "list_dead_letters", "query_entities")
DONE = 3  # a transaction


LOST, DOUBLED, DIFFERENT = "lost", "duplicated", "index differences"


class Broken(AssertionError):
    """A promise was broken: which one, and how often."""

    def __init__(self, *what, kind=LOST, count=1):
        super().__init__(*what)
        self.kind, self.count = kind, count


def promise(kept, *what, **how):
    if not kept:
        raise Broken(*what, **how)


class Limbo:
    """A span in which a call without an answer may take effect at any time: a stopped process may still hold it, or a
    slow network. Deadlines count from the moment when a server receives the call.
    """

    def __init__(self):
        self.is_open = False


class Register:
    """What one key may hold: the last acknowledged value, and values that may have been written since. None: no
    entity.
    """

    def __init__(self, limbo):
        self.limbo = limbo
        self.acknowledged = None
        self.maybe = []
        self.newest = 0

    def allows(self, value):
        return value == self.acknowledged or value in self.maybe

    def settle(self, value):
        self.acknowledged = value
        if not self.limbo.is_open:
            self.maybe = []

    def note(self, value, result):
        """The outcome of writing the value: a WriteResult, or None if there was no answer."""
        if result is None:
            self.maybe.append(value)
            return
        written = result.timestamp.ToNanoseconds()  # 0 for a deletion
        promise(written > self.newest or value is None, "older than one before", value, written, self.newest)
        self.newest = max(written, self.newest)
        self.settle(value)


class Caller(threading.Thread):
    """Works until it is told to stop; a thread that holds the lock `turns` has paused it between two calls."""

    call_seconds = 5
    turn_pause = 0.003

    def __init__(self, stack, name, seed):
        super().__init__(daemon=True)
        self.stack = stack
        self.name = name
        self.target = None  # a server of its own, or a way to one
        self.random = random.Random(f"{seed} {name}")
        self.turns = threading.Lock()
        self.stopping = False
        self.failure = None
        self.done = 0  # calls answered
        self.written = 0  # of them writes
        self.client = None

    def run(self):
        while not self.stopping and not self.failure:
            with self.turns:
                try:
                    self.turn()
                except Exception as failure:  # an exception is given to the test, which fails with it
                    self.failure = failure
            time.sleep(self.turn_pause)
        self.disconnect()

    def disconnect(self):
        if self.client:
            self.client.hang_up()
        self.client = None

    def attempt(self, call, **fields):
        """The reply, or None: the call may have taken effect."""
        if not self.connect():
            return None
        try:
            reply = getattr(self.client, call)(timeout=self.call_seconds, **fields)
        except ApiError as error:
            self.bear(error)
            return None
        self.done += 1
        self.written += call not in READS
        return reply

    def connect(self):
        """A new connection after each lost one; False: no server answers."""
        target = self.target or self.stack.target
        if not self.client:
            if not self.stack.accepts(target):
                time.sleep(ABSENT_SERVER_PAUSE)
                return False
            self.client = Client(target)
        return True

    def bear(self, error):
        """The errors that a caller must expect of a call."""
        waited_too_long = error.reason == "SERVER_BUSY"  # behind the locks of a process that stands still
        if error.code not in UNKNOWN_OUTCOME and not waited_too_long:
            raise error
        self.disconnect()
        time.sleep(ABSENT_SERVER_PAUSE)

    def finish(self):
        """Called while paused and with all programs running: find out what has become of calls without an answer."""

    def at_rest(self):
        """Called when no work is open: check what the caller alone knows."""

    def turn(self):
        raise NotImplementedError


class Writer(Caller):
    """Upserts, deletes and groups on keys of its own; some writes have a request_id and are repeated, to get the same
    answer. The keys of a group with an unknown outcome are left alone until the next check: all or none of its
    writes took effect.
    """

    def __init__(self, stack, name, seed, table, limbo):
        super().__init__(stack, name, seed)
        self.table = table
        self.limbo = limbo
        self.registers = {(name, f"{row:02}"): Register(limbo) for row in range(12)}
        self.value = 0
        self.looks_up = table == "source"
        self.left_alone = []  # groups: {address: (value before, value written)}
        self.request = None  # (call, fields, its answer or None), repeated before any other call

    def make(self, address):
        self.value += 1
        properties = {"N": self.value, "Owner": self.random.choice(OWNERS)}
        if self.random.random() < 0.7:
            properties["Tag"] = self.random.choice(TAGS)
        return entity(*address, properties)

    def free(self):
        taken = {address for group in self.left_alone for address in group}
        return sorted(set(self.registers) - taken)

    def turn(self):
        if self.request:
            self.repeat()
            return
        free = self.free()
        kind = self.random.random()
        if kind < 0.2 and len(free) >= MAX_LEFT_ALONE:
            self.group(self.random.sample(free, 3))
        elif free:
            address = self.random.choice(free)
            if kind < 0.35:
                self.delete(address)
            elif kind < 0.5:
                self.remembered(address)
            elif kind < 0.6:
                self.read(address)
            else:
                self.upsert(address)

    def upsert(self, address):
        some = self.make(address)
        reply = self.attempt("insert_or_replace_entity", table=self.table, entity=some)
        register = self.registers[address]
        register.note(plain(some)["N"], reply and reply.result)
        if reply and self.looks_up and not register.maybe and self.random.random() < 0.1:
            self.look_up(address, plain(some)["Owner"], reply.result.consistency_token)

    def look_up(self, address, owner, token):
        """An index that says how fresh it is shows all writes up to then (I9), or says that it is behind."""
        try:
            reply = self.attempt(
                "lookup_index", index="byOwner", equals=[value(owner)], freshness={"at_least": [token]}, page_size=1000
            )
        except ApiError as error:
            if error.reason != "NOT_FRESH_ENOUGH":
                raise
            return
        if reply and not reply.next_page_token:
            found = [(some.partition_key, some.row_key) for some in reply.entities]
            promise(address in found, "not in an index that is fresh enough", address, owner, kind=DIFFERENT)

    def read(self, address):
        register = self.registers[address]
        try:
            reply = self.attempt("get_entity", table=self.table, key=key(address))
            if reply is None:
                return
            stored = plain(reply.entity)["N"]
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            stored = None
        promise(register.allows(stored), "read", address, stored, register.acknowledged, register.maybe)

    def group(self, addresses):
        entities = [self.make(address) for address in addresses]
        operations = [BatchOperation(insert_or_replace=some) for some in entities]
        certain = all(not self.registers[address].maybe for address in addresses)
        reply = self.attempt("execute_batch", table=self.table, operations=operations)
        if reply is None and certain:
            self.left_alone.append(
                {
                    address: (self.registers[address].acknowledged, plain(some)["N"])
                    for address, some in zip(addresses, entities)
                }
            )
        for number, some in enumerate(entities):
            register = self.registers[addresses[number]]
            register.note(plain(some)["N"], reply and reply.results[number])

    def delete(self, address):
        register = self.registers[address]
        try:
            reply = self.attempt("delete_entity", table=self.table, key=key(address), precondition=match())
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            promise(register.allows(None), address, "an acknowledged write is gone")
            register.settle(None)
            return
        register.note(None, reply and reply.result)

    def remembered(self, address):
        some = self.make(address)
        fields = {"table": self.table, "entity": some, "request_id": f"{self.name}-{self.value}"}
        reply = self.attempt("insert_or_replace_entity", **fields)
        self.registers[address].note(plain(some)["N"], reply and reply.result)
        self.request = (address, fields, reply and reply.result)

    def repeat(self):
        """The same id gets the same answer; the write is done once, so the entity has not changed since that answer."""
        address, fields, told = self.request
        reply = self.attempt("insert_or_replace_entity", **fields)
        if reply is None:
            return
        value = plain(fields["entity"])["N"]
        if told is None:
            self.registers[address].settle(value)
        else:
            promise(reply.result.replayed, "a request was done twice", fields["request_id"], kind=DOUBLED)
            promise(reply.result.etag == told.etag, "another answer for", fields["request_id"], kind=DOUBLED)
        self.request = None

    def finish(self):
        while self.request:
            self.repeat()

    def check(self, stored):
        """stored: {address: value} of the table."""
        for group in self.left_alone:
            now = {address: stored.get(address) for address in group}
            written = {address: after for address, (_, after) in group.items()}
            before = {address: old for address, (old, _) in group.items()}
            promise(now in (written, before), "half a group", now, before, written)
        if not self.limbo.is_open:
            self.left_alone = []
        for address, register in self.registers.items():
            value = stored.get(address)
            promise(register.allows(value), "lost", address, value, register.acknowledged, register.maybe)
            register.settle(value)


class Counter(Caller):
    """Adds one to a number that several callers share, on condition that no other caller has changed it since it was
    read.
    """

    def __init__(self, stack, name, seed):
        super().__init__(stack, name, seed)
        self.sure = self.maybe = 0

    ADDRESS = ("shared", "counter")

    def turn(self):
        reply = self.attempt("get_entity", table="source", key=key(self.ADDRESS))
        if reply is None:
            return
        some = entity(*self.ADDRESS, N=plain(reply.entity)["N"] + 1, Owner=self.random.choice(OWNERS))
        try:
            reply = self.attempt("replace_entity", table="source", entity=some, precondition=match(reply.entity.etag))
        except ApiError as error:
            if error.reason != "UPDATE_CONDITION_NOT_SATISFIED":
                raise
            return
        if reply is None:
            self.maybe += 1
        else:
            self.sure += 1


class Mover(Caller):
    """Inserts an entity, moves it to the archive with a transaction, waits, and overwrites what a step has written
    there: a step that ran twice would undo that. Its writes have a request_id, so none takes effect late.
    """

    def __init__(self, stack, name, seed):
        super().__init__(stack, name, seed)
        self.number = 0
        self.state = self.insert
        self.moved = {}  # entities since the last check, which may have overwritten the log

    def row(self):
        return f"{self.name}-{self.number:05}"

    def turn(self):
        if self.state():
            self.state = {self.insert: self.submit, self.submit: self.follow, self.follow: self.insert}[self.state]

    def insert(self):
        self.number += 1
        some = entity("moved", self.row(), N=self.number, Owner=OWNERS[self.number % len(OWNERS)])
        if self.write("source", some, "insert"):
            return True
        self.number -= 1
        return False

    def write(self, table, some, what):
        request_id = f"{self.row()} {what}"
        return self.attempt("insert_or_replace_entity", table=table, entity=some, request_id=request_id)

    def submit(self):
        address = ("moved", self.row())
        ends = [{"table": table, "key": key(address)} for table in ("source", "archive")]
        put = {"table": "archive", "entity": entity("log", self.row(), N=self.number)}
        steps = [{"move": {"source": ends[0], "destination": ends[1]}}, {"insert_or_replace": put}]
        if not self.attempt("submit_transaction", transaction_id=self.row(), steps=steps):
            return False
        self.moved[self.row()] = None
        return True

    def follow(self):
        """Most moves go on by themselves; the caller waits for some of them."""
        if self.number % 3 != 0:
            return True
        reply = self.attempt("wait_transaction", transaction_id=self.row())
        if reply is None or reply.transaction.state != DONE:
            return False
        some = entity("log", self.row(), N=-self.number)
        if not self.write("archive", some, "over"):
            return False
        self.moved[self.row()] = -self.number
        return True

    def finish(self):
        while self.state != self.insert:
            self.turn()


class Watcher(Caller):
    """Keeps a copy of a table by its change feed alone: it ends each watch after a short while, and resumes from the
    last token.
    """

    def __init__(self, stack, name, seed, table):
        super().__init__(stack, name, seed)
        self.table = table
        self.token = ""
        self.copy = {}
        self.newest = {}

    def begin(self, caller):
        """Before the first write."""
        self.token = Watch(caller, self.table).begin().token

    def turn(self):
        if not self.connect():
            return
        heard = self.done
        watch = Watch(self.client, self.table, token=self.token, timeout=WATCH_SECONDS)
        try:
            while True:
                self.take(watch.read())
        except StopIteration:
            return  # the watch has reached its deadline
        except ApiError as error:
            if error.code != "DEADLINE_EXCEEDED" or self.done == heard:  # a server that can be reached sends the first message at once
                self.bear(error)

    def take(self, message):
        for change in message.changes:
            address = (change.entity.partition_key, change.entity.row_key)
            written = change.entity.timestamp.ToNanoseconds()
            promise(written >= self.newest.get(address, 0), "told after a later change", address)
            self.newest[address] = written
            if change.deleted:
                self.copy.pop(address, None)
            else:
                self.copy[address] = plain(change.entity)["N"]
        self.token = message.resume_token
        self.done += 1

    def check(self, stored):
        """stored: {address: value} of the table. Changes may still be on their way."""
        for _ in range(20):
            if self.copy == stored:
                return
            self.turn()
        wrong = {
            address: (stored.get(address), self.copy.get(address))
            for address in {*stored, *self.copy}
            if stored.get(address) != self.copy.get(address)
        }
        promise(not wrong, "the feed told something else", "(entity, told)", wrong, count=len(wrong))


class Workload:
    """The tables, the indexes and the callers."""

    def __init__(self, stack, seed=0, writers=2):
        self.stack = stack
        self.limbo = Limbo()
        self.writers = [Writer(stack, f"w{n}", seed, "source", self.limbo) for n in range(writers)]
        self.writers += [Writer(stack, table, seed, table, self.limbo) for table in ("simple", FED)]
        self.watcher = Watcher(stack, "watcher", seed, FED)
        self.counters = [Counter(stack, f"counter{n}", seed) for n in range(2)]
        self.mover = Mover(stack, "m", seed)
        self.callers = [*self.writers, self.watcher, *self.counters, self.mover]

    def add(self, caller):
        self.callers.append(caller)
        if isinstance(caller, Writer):
            self.writers.append(caller)

    def prepare(self):
        with self.stack.connect() as caller:
            for table in TABLES:
                caller.create_table(name=table, change_feed=table == FED)
            caller.create_table(name=WIDE, wide_entities=True, blob_properties=True)
            caller.create_table(name=HELD, blob_properties=True)
            self.watcher.begin(caller)
            for name, (shape, source) in INDEXES.items():
                parts = [{"property": source}]
                caller.create_index(index={"name": name, "table": "source", "shape": shape, "partition_key": parts})
            for name, (shape, source) in STRONG_INDEXES.items():
                caller.create_index(index={
                    "name": name, "table": "source", "shape": shape, "place": 1,
                    "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": source}]
                })
            caller.create_index(index={
                "name": ELSEWHERE_INDEX, "table": "source", "shape": 1, "consistency": 1, "partition_key": [{"property": "Owner"}]
            })
            caller.create_index(index={
                "name": UNIQUE_INDEX, "table": "source", "shape": 1, "unique": True, "partition_key": [{"property": "Owner"}],
                "row_key": [{"property": "PartitionKey"}, {"property": "RowKey"}]
            })
            for name in (*INDEXES, *STRONG_INDEXES, ELSEWHERE_INDEX, UNIQUE_INDEX):
                wait_ready(caller, name)
            start = entity(*Counter.ADDRESS, N=0, Owner=OWNERS[0])
            caller.insert_entity(table="source", entity=start)

    def start(self, turn_pause=Caller.turn_pause):
        for caller in self.callers:
            caller.turn_pause = turn_pause
            caller.start()

    def pause(self):
        for caller in self.callers:
            if not caller.turns.acquire(timeout=60 * TIMEOUT_FACTOR):
                raise AssertionError(f"{caller.name} does not come to the end of a call")

    def resume(self):
        for caller in self.callers:
            caller.turns.release()

    def finish(self):
        """Paused: no call is unanswered."""
        for caller in self.callers:
            caller.finish()

    def check_callers(self):
        for caller in self.callers:
            if caller.failure:
                raise AssertionError(f"{caller.name}: {caller.failure!r}") from caller.failure

    def wait_for_success(self, calls, seconds=40):
        """Wait until every caller has had this many further calls answered."""
        goals = [(caller, caller.done + calls) for caller in self.callers]

        def reached():
            self.check_callers()
            return all(caller.done >= goal for caller, goal in goals)

        try:
            wait_for("success of every caller", reached, seconds)
        except AssertionError as failure:
            late = [caller.name for caller, goal in goals if caller.done < goal]
            raise AssertionError(f"{failure}: not {late}") from failure.__cause__

    def written(self):
        return sum(caller.written for caller in self.callers)

    def failures(self):
        return [caller.failure for caller in self.callers if caller.failure]

    def stop(self):
        for caller in self.callers:
            caller.stopping = True
        for caller in self.callers:
            if caller.is_alive():
                caller.join(60)
