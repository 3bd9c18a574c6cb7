"""Processes die at every named point of the message path, with writes in flight; afterwards nothing is lost.

The points are those of the sources: one that is not listed here fails the tests, and so does one that is never
reached. Each is died at twice: alone, and with Redis flushed and the other process killed at the same moment;
at some of them a process is also stopped and continued, late, after another one has done its work. After each:
restart, drain, and check, through the ordinary RPCs,

  I1  acknowledged writes are readable
  I2  each key's entries are the projection of its source
  I3  no entry is newer than its source
  I4  no intent is left, and none has vanished without its work done
"""

import os
import random
import re
import signal
import threading
import unittest

import client
from client import ApiError, BatchOperation, entity, key, match, plain
from poison import Poison
from stack import Stack, wait_for

# The passage at which the process dies: late enough that it has done some work.
WORKER_POINTS = {
    "worker.after_claim": 3,
    "worker.before_reconcile": 3,
    "reconcile.after_source_read": 3,
    "reconcile.before_commit": 3,
    "reconcile.after_commit_before_ack": 3,
    "worker.after_ack": 3,
    "step.before_commit": 3,
    "step.after_commit": 3,
    "relay.after_publish": 1,
    "build.state_change": 1,
    "build.chunk_before_checkpoint": 1,
    "range_delete.before_checkpoint": 1,
    "letter.before_count": 1,
    "letter.before_bury": 1,
}
SERVER_POINTS = {
    "write.before_commit": 30,
    "write.after_commit": 30,
    "server.after_commit_before_publish": 20,
    "redrive.before_commit": 1,
    "redrive.after_commit": 1,
    "discard.before_commit": 1,
    "cancel.before_commit": 1,
}
STOP_POINTS = ("worker.before_reconcile", "reconcile.after_source_read", "step.before_commit")
UNKNOWN_OUTCOME = ("UNAVAILABLE", "DEADLINE_EXCEEDED")
OWNERS = ["o/1", "o/2", "o/3"]
TAGS = ["red", "green"]


def points_in_sources():
    found = set()
    for folder in ("service", "workers", "store", "queue", "rpc"):
        for path, _, names in os.walk(os.path.join(os.environ["SCENARIO_SOURCE"], folder)):
            for name in names:
                if name.endswith(".c"):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        found.update(re.findall(r'FAILPOINT(?:_TRY)?\("([^"]+)"', file.read()))
    return found


class Register:
    """What one key holds: the last acknowledged value, and those that may have come since. None: no entity."""

    def __init__(self):
        self.acknowledged = None
        self.maybe = []

    def allows(self, value):
        return value == self.acknowledged or value in self.maybe

    def settle(self, value):
        self.acknowledged, self.maybe = value, []


class Caller(threading.Thread):
    """Calls until it is told to stop; a fresh connection after each lost one."""

    def __init__(self, made, number):
        super().__init__(daemon=True)
        self.made = made
        self.random = random.Random(number)
        self.stopping = False
        self.failure = None
        self.done = 0
        self.client = made.connect()

    def run(self):
        try:
            while not self.stopping:
                self.turn()
        except Exception as failure:  # told to the test, which fails with it
            self.failure = failure
        self.client.channel.close()

    def attempt(self, call, **fields):
        """True: it is acknowledged; False: it may have happened."""
        try:
            getattr(self.client, call)(timeout=10, **fields)
            self.done += 1
            return True
        except ApiError as error:
            if error.code not in UNKNOWN_OUTCOME:
                raise
            self.client.channel.close()
            wait_for("a server", lambda: self.stopping or self.made.accepts())
            self.client = self.made.connect()
            return False


class Writer(Caller):
    """Upserts, deletes and batches on keys of its own."""

    def __init__(self, made, number):
        super().__init__(made, number)
        self.partition = f"w{number}"
        self.registers = {(self.partition, f"{row:02}"): Register() for row in range(12)}
        self.value = 0

    def make(self, address):
        self.value += 1
        properties = {"N": self.value, "Owner": self.random.choice(OWNERS)}
        if self.random.random() < 0.7:
            properties["Tag"] = self.random.choice(TAGS)
        return entity(*address, properties)

    def turn(self):
        kind = self.random.random()
        addresses = self.random.sample(sorted(self.registers), 3 if kind < 0.2 else 1)
        if kind < 0.4:
            self.delete(addresses[0])
            return
        entities = [self.make(address) for address in addresses]
        if kind < 0.5:
            operations = [BatchOperation(insert_or_replace=some) for some in entities]
            acknowledged = self.attempt("execute_batch", table="source", operations=operations)
        else:
            entities = entities[:1]
            acknowledged = self.attempt("insert_or_replace_entity", table="source", entity=entities[0])
        for some in entities:
            self.note((some.partition_key, some.row_key), plain(some)["N"], acknowledged)

    def delete(self, address):
        try:
            acknowledged = self.attempt("delete_entity", table="source", key=key(address), precondition=match())
        except ApiError as error:
            if error.reason != "RESOURCE_NOT_FOUND":
                raise
            assert self.registers[address].allows(None), (address, "an acknowledged write is gone")
            acknowledged = True
        self.note(address, None, acknowledged)

    def note(self, address, value, acknowledged):
        if acknowledged:
            self.registers[address].settle(value)
        else:
            self.registers[address].maybe.append(value)


class Mover(Caller):
    """Inserts entities and moves them to the archive, each with a transaction of its own."""

    def __init__(self, made, number):
        super().__init__(made, number)
        self.submitted = []
        self.number = 0

    def turn(self):
        self.number += 1
        address = ("moved", f"{self.number:05}")
        some = entity(*address, N=self.number, Owner=self.random.choice(OWNERS))
        while not self.attempt("insert_or_replace_entity", table="source", entity=some):
            if self.stopping:
                return
        ends = [{"table": table, "key": key(address)} for table in ("source", "archive")]
        put = {"table": "archive", "entity": entity("log", address[1], N=self.number)}
        steps = [{"move": {"source": ends[0], "destination": ends[1]}}, {"insert_or_replace": put}]
        name = f"move-{self.number}"
        while not self.attempt("submit_transaction", transaction_id=name, steps=steps):
            if self.stopping:
                return
        self.submitted.append((name, address[1], self.number))
        with_answer = 20
        if self.number % with_answer == 0:
            self.attempt("wait_transaction", transaction_id=name)


class Crash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = Stack()
        cls.addClassCleanup(cls.made.close)
        cls.made.start_server()
        cls.start_worker()
        cls.rounds = 0
        cls.builds = []
        cls.client = cls.made.connect()
        for table in ("source", "archive", "ranges"):
            cls.client.create_table(name=table)
        cls.poison = Poison(cls.made, "source")
        cls.create_index("byOwner", 1, "Owner")
        cls.create_index("byTag", 2, "Tag")
        cls.callers = []
        cls.writers = [Writer(cls.made, number) for number in range(2)]
        cls.mover = Mover(cls.made, 9)
        for caller in cls.writers + [cls.mover]:
            cls.begin(caller)
        cls.addClassCleanup(cls.end_callers)

    @classmethod
    def begin(cls, caller):
        cls.callers.append(caller)
        caller.start()

    @classmethod
    def end_callers(cls):
        for caller in cls.callers:
            caller.stopping = True
        for caller in cls.callers:
            caller.join(60)

    @classmethod
    def start_worker(cls, **settings):
        settings = {"TAVOLA_VISIBILITY_SECONDS": "1", "TAVOLA_WORKER_NAME": "one", **settings}
        return cls.made.start_worker(**settings)

    @classmethod
    def create_index(cls, name, shape, source):
        parts = [{"property": source}]
        cls.client.create_index(index={"name": name, "table": "source", "shape": shape, "partition_key": parts})
        wait_for(f"{name} READY", lambda: cls.client.get_index(name=name).status.state == 3, 60)

    # one round

    def failpoint(self, point, action, passage):
        Crash.rounds += 1
        self.log = os.path.join(self.made.folder, f"points{Crash.rounds}")
        return {"TAVOLA_FAILPOINT": f"{point}:{action}:{passage}", "TAVOLA_FAILPOINT_LOG": self.log}

    def passages(self, point):
        """How often the point was passed."""
        if not os.path.exists(self.log):
            return 0
        with open(self.log, encoding="utf-8") as log:
            return log.read().split().count(point)

    # What it takes to pass a point that work alone does not pass: before the process is there, with it, after it.

    def prepare(self, point):
        if point.startswith(("letter.", "redrive.", "discard.", "cancel.")):
            self.poison.put()
        if point.startswith(("redrive.", "discard.")):
            self.insert_poisoned()
            wait_for("a dead letter", self.poison.give_up)
        if point.startswith("redrive."):
            self.poison.cure()
        if point.startswith("cancel."):
            put = {"table": "archive", "entity": entity("c", self.poisoned(), N=1)}
            with self.made.connect() as caller:
                caller.submit_transaction(transaction_id=self.poisoned(), steps=[{"insert_or_replace": put}])

    @staticmethod
    def poisoned():
        """The name of this round's poisoned key or transaction."""
        return f"poison{Crash.rounds}"

    def insert_poisoned(self, number=1):
        some = entity("poisoned", self.poisoned(), N=number, Owner=OWNERS[0])
        with self.made.connect() as caller:
            caller.insert_or_replace_entity(table="source", entity=some)

    def provoke(self, point):
        if point == "relay.after_publish":
            self.made.redis_command("FLUSHALL")
        elif point.startswith("build."):
            name = f"built{Crash.rounds}"
            index = {"name": name, "table": "source", "shape": 1, "partition_key": [{"property": "N"}]}
            with self.made.connect() as caller:
                caller.create_index(index=index)
            self.builds.append(name)
        elif point.startswith("range_delete."):
            with self.made.connect() as caller:
                for partition in ("gone", "kept"):
                    caller.load("ranges", [entity(partition, f"{row:04}", N=row) for row in range(600)])
                self.deletion = caller.delete_range(
                    query={"table": "ranges", "filter": "PartitionKey eq 'gone'"}
                ).operation
        elif point.startswith("letter."):
            self.insert_poisoned()
        elif point in SERVER_POINTS and SERVER_POINTS[point] == 1:
            wait_for("a server", self.made.accepts)
            with self.made.connect() as caller, self.assertRaises(ApiError) as caught:
                self.administer(caller, point)
            self.assertIn(caught.exception.code, UNKNOWN_OUTCOME)

    def administer(self, caller, point):
        if point.startswith("redrive."):
            caller.redrive_dead_letters(filter={"state": 1})
        elif point.startswith("discard."):
            caller.discard_dead_letters(filter={"state": 1}, reason="it is poisoned")
        elif point.startswith("cancel."):
            caller.cancel_transaction(transaction_id=self.poisoned())

    def settle(self, point):
        """With all programs back: it happened, and once."""
        with self.made.connect() as caller:
            if point.startswith("range_delete."):
                caller.wait_operation(operation_id=self.deletion.operation_id, timeout=30)
                left = [(found.partition_key, found.row_key) for found in caller.query("ranges")]
                self.assertEqual(left, [("kept", f"{row:04}") for row in range(600)])
            elif point.startswith("discard."):
                self.administer(caller, point)
                letters = caller.list_dead_letters(filter={"state": 3}).letters
                self.assertEqual([letter.key.row_key for letter in letters], [self.poisoned()])
                self.assertEqual(letters[0].note, "it is poisoned")
                self.poison.cure()
                self.insert_poisoned(2)
                wait_for("the end of the letter", lambda: self.poison.letters() == (0, 0, 0))
            elif point.startswith("cancel."):
                self.administer(caller, point)
                self.assertEqual(caller.get_transaction(transaction_id=self.poisoned()).transaction.state, 5)
                self.assertNotIn(self.poisoned(), [found.row_key for found in caller.query("archive")])
            wait_for("no letter", lambda: self.poison.heal(caller))

    def check_builds(self):
        """Indexes whose builder died are finished by the next one, and complete."""
        with self.made.connect() as caller:
            for name in self.builds:
                wait_for(f"{name} READY", lambda name=name: caller.get_index(name=name).status.state == 3, 60)
            Crash.end_callers()
            self.drain()
            source = [(found.partition_key, found.row_key) for found in caller.query("source")]
            for name in self.builds:
                entries = [plain(found) for found in caller.query(name)]
                entries = [(found["$SourcePartitionKey"], found["$SourceRowKey"]) for found in entries]
                self.assertEqual(sorted(entries), source)
                caller.drop_index(name=name)
        self.restart_callers()

    def die_at(self, point, passage, more_trouble):
        """Returns the open intents at that moment."""
        made = self.made
        is_server = point in SERVER_POINTS
        settings = self.failpoint(point, "kill", passage)
        self.prepare(point)
        if is_server:
            made.server.kill()
            dying = made.start_server(wait=False, **settings)
        else:
            made.worker.kill()
            dying = self.start_worker(**settings)
        self.provoke(point)
        wait_for(f"death at {point}", lambda: self.is_dead(dying, point) or self.failed_caller())
        self.assertIsNone(self.failed_caller())
        self.assertEqual(dying.process.returncode, -signal.SIGKILL, dying.output()[-2000:])
        self.assertGreaterEqual(self.passages(point), passage)
        if more_trouble:
            made.redis_command("FLUSHALL")
            (made.worker if is_server else made.server).kill()
        intents = int(made.sql("select count(*) from intents"))
        if not made.server.is_running():
            made.start_server()
        if not made.worker.is_running():
            self.start_worker()
        return intents

    def is_dead(self, dying, point):
        if point == "letter.before_bury" and dying.is_running():
            self.poison.give_up()
        return not dying.is_running()

    def failed_caller(self):
        return next((caller.failure for caller in self.callers if caller.failure), None)

    def go_on(self):
        """The callers have some success after the restart, then they pause, and everything is checked."""
        goals = [(caller, caller.done + 15) for caller in self.callers]
        wait_for(
            "success after the restart",
            lambda: self.failed_caller() or all(caller.done >= goal for caller, goal in goals),
        )
        Crash.end_callers()
        self.assertIsNone(self.failed_caller())
        self.drain()
        self.check()
        self.restart_callers()

    def restart_callers(self):
        Crash.callers = []
        for old in self.writers:
            fresh = Writer(self.made, old.random.randrange(10**6))
            fresh.partition, fresh.registers, fresh.value = old.partition, old.registers, old.value
            Crash.writers[Crash.writers.index(old)] = fresh
            Crash.begin(fresh)
        fresh = Mover(self.made, self.mover.number)
        fresh.submitted, fresh.number = self.mover.submitted, self.mover.number
        Crash.mover = fresh
        Crash.begin(fresh)

    def drain(self):
        wait_for("no open intent", lambda: self.made.sql("select count(*) from intents") == "0", 30)

    # the invariants

    def check(self):
        with self.made.connect() as caller:
            source = {(found.partition_key, found.row_key): found for found in caller.query("source")}
            self.check_acknowledged(source)
            self.check_copies(caller, source)
            self.check_lists(caller, source)
            self.check_moves(caller, source)
        self.assertEqual(self.made.sql("select count(*) from dead_letters"), "0")
        self.assertEqual(self.made.sql("select count(*) from intents"), "0")

    def check_acknowledged(self, source):
        for writer in self.writers:
            for address, register in writer.registers.items():
                value = plain(source[address])["N"] if address in source else None
                self.assertTrue(register.allows(value), (address, value, register.acknowledged, register.maybe))
                register.settle(value)

    def check_copies(self, caller, source):
        entries = {}
        for found in caller.query("byOwner"):
            properties = plain(found)
            address = (properties.pop("$SourcePartitionKey"), properties.pop("$SourceRowKey"))
            self.assertNotIn(address, entries, "one entry per key")
            entries[address] = (properties, found.timestamp)
        expected = {address: (plain(found), found.timestamp) for address, found in source.items()}
        self.assertEqual(entries, expected)
        for owner in OWNERS:
            wanted = sorted(address for address, found in source.items() if plain(found)["Owner"] == owner)
            self.assertEqual(self.looked_up(caller, "byOwner", owner), wanted)

    def check_lists(self, caller, source):
        for tag in TAGS:
            wanted = sorted(address for address, found in source.items() if plain(found).get("Tag") == tag)
            self.assertEqual(self.looked_up(caller, "byTag", tag), wanted)

    def looked_up(self, caller, index, value):
        pages = caller.pages(
            caller.lookup_index, index=index, equals=[client.value(value)], keys_only=True, trust_index=True
        )
        return [(found.partition_key, found.row_key) for page in pages for found in page.keys]

    def check_moves(self, caller, source):
        archive = {(found.partition_key, found.row_key): plain(found) for found in caller.query("archive")}
        for name, row, number in self.mover.submitted:
            self.assertNotIn(("moved", row), source)
            self.assertEqual(archive["moved", row]["N"], number)
            self.assertEqual(archive["log", row]["N"], number)
        for row in self.mover.submitted[-1:]:
            self.assertEqual(caller.get_transaction(transaction_id=row[0]).transaction.state, 3)
        unfinished = self.made.sql("select count(*) from transactions where finished = 0")
        self.assertEqual(unfinished, "0")

    # the tests

    def test_1_the_points_are_those_of_the_sources(self):
        self.assertEqual(points_in_sources(), set(WORKER_POINTS) | set(SERVER_POINTS))

    def test_2_kill(self):
        for more_trouble in (False, True):
            for point, passage in {**WORKER_POINTS, **SERVER_POINTS}.items():
                intents = self.die_at(point, passage, more_trouble)
                trouble = ", Redis flushed, other process killed" if more_trouble else ""
                print(f"killed at {point} (passage {passage}{trouble}), open intents: {intents}", flush=True)
                self.settle(point)
                self.go_on()
        self.check_builds()

    def test_3_stop_and_continue_late(self):
        for point in STOP_POINTS:
            self.made.worker.kill()
            late = self.start_worker(**self.failpoint(point, "stop", 3))
            wait_for(f"stop at {point}", lambda: self.is_stopped(late))
            self.start_worker(TAVOLA_WORKER_NAME="two")
            goals = [(caller, caller.done + 15) for caller in self.callers]
            wait_for("success meanwhile", lambda: all(caller.done >= goal for caller, goal in goals))
            Crash.end_callers()
            self.drain()
            self.check()
            self.restart_callers()
            late.send(signal.SIGCONT)
            print(f"stopped at {point}, continued after another worker had done its work", flush=True)
            self.go_on()
            self.assertEqual(late.stop(), 0)

    @staticmethod
    def is_stopped(child):
        with open(f"/proc/{child.process.pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "T"


if __name__ == "__main__":
    unittest.main()
