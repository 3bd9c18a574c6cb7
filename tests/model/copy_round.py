# SPDX-License-Identifier: Apache-2.0
"""Random writes of sources and dependents of a copy rule, while programs are killed.

Each source has one writer, which gives it names whose numbers only grow, each written once (request_id). So of one dependent the
copies of one source may never go back to a smaller number, and a look-up with the token of a write of the source finds no copy
that is older than that write, unless the dependent was merged since: it may have named another source when the write's visit
came, and then the same one again, with its copy, before a worker came to its own work. At rest each dependent has exactly the copies
that the reference asks for, and verification agrees.
"""

import collections
import math
import random
import threading
import time

from calls import Member
from tavola_test import audit
from tavola_test.client import entity, key, match, plain, value
from tavola_test.copy_callers import rule_of
from tavola_test.waiting import wait_for
from trouble import Trouble

SOURCES, DEPENDENTS, WRITERS, READERS = 3, 40, 2, 2
NOBODY = "nobody"  # named by dependents, and never a source
BY_CALLER = "by a caller"
READY = 3


class CopyWorld:
    """What all callers of a round share. With `keeps`, the copies of a deleted source stay."""

    def __init__(self, made, number, seed):
        self.made, self.seed = made, seed
        self.table, self.sources, self.rule = (f"{kind}{number}" for kind in ("dependents", "sources", "copiesOf"))
        self.keeps = number % 2 == 0
        self.writes = {}  # by source: (the number of its last answered write, its token, when it began)
        self.last_merged = collections.defaultdict(dict)  # by dependent and writer: when; math.inf: its answer has not come
        self.newest = collections.Counter()  # by dependent and source: the greatest number that a read has seen
        self.done = collections.Counter()
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.failure = None

    def declaration(self):
        return rule_of(self.rule, self.sources, self.table, keep=self.keeps, version_property="ManagerVersion")

    def count(self, what):
        with self.lock:
            self.done[what] += 1


def copy_of(one):
    """(source, number) of a dependent's copy; None: it has none, or one that a caller wrote."""
    name = plain(one).get("ManagerName", BY_CALLER)
    return None if name == BY_CALLER else (name.split()[0], int(name.split()[1]))


class SourceWriter(Member):
    def __init__(self, world, source):
        super().__init__(world, f"writer of source {source}")
        self.source, self.number, self.is_there = source, 0, False

    def turn(self):
        self.number += 1
        deletes = self.is_there and self.random.random() < 0.2
        named = {"key": key(("sales", self.source)), "precondition": match()} if deletes else {
            "entity": entity("sales", self.source, Name=f"{self.source} {self.number}")}
        answer = self.caller.call_until_answered("DeleteEntity" if deletes else "InsertOrReplaceEntity", table=self.world.sources,
                                                 request_id=f"{self.world.table}-{self.source}-{self.number}", **named)
        assert not answer.error, answer.error
        self.is_there = not deletes
        self.world.count("writes of sources")
        self.world.writes[self.source] = (self.number, answer.reply.result.consistency_token, answer.called)
        self.world.ending.wait(self.random.choice([0, 0.01, 0.1]))


class DependentWriter(Member):
    def turn(self):
        row = f"{self.random.randrange(DEPENDENTS):02}"
        if self.random.random() < 0.15:
            answer = self.caller.call("DeleteEntity", table=self.world.table, key=key(("sales", row)), precondition=match())
        else:
            properties = {"Manager": self.random.choice([*map(str, range(SOURCES)), NOBODY])}
            if self.random.random() < 0.2:
                properties["ManagerName"] = BY_CALLER
            merges = self.random.random() < 0.5
            if merges:
                self.world.last_merged[row][self.name] = math.inf
            method = "InsertOrMergeEntity" if merges else "InsertOrReplaceEntity"
            answer = self.caller.call(method, table=self.world.table, entity=entity("sales", row, properties))
            if merges and answer.is_known:
                self.world.last_merged[row][self.name] = time.monotonic()
        assert not answer.error or answer.reason in ("RESOURCE_NOT_FOUND", "STORE_UNAVAILABLE", "SERVER_BUSY"), answer.error
        self.world.count("writes of dependents")


class CopyReader(Member):
    def turn(self):
        if self.random.random() < 0.5:
            self.read_one()
        else:
            self.look_up()

    def read_one(self):
        row = f"{self.random.randrange(DEPENDENTS):02}"
        seen = {source: self.world.newest[row, source] for source in map(str, range(SOURCES))}
        answer = self.caller.call("GetEntity", table=self.world.table, key=key(("sales", row)))
        copied = copy_of(answer.reply.entity) if answer.reply else None
        if copied:
            source, number = copied
            assert number >= seen[source], f"{row}: a copy of {source} {number} was read after one of {seen[source]}"
            with self.world.lock:
                self.world.newest[row, source] = max(number, self.world.newest[row, source])
            self.world.count("copies read")

    def look_up(self):
        """A dependent that was not merged since has no copy that is older than the write of the token."""
        source = str(self.random.randrange(SOURCES))
        written, token, began = self.world.writes.get(source, (0, None, 0))
        if not token:
            return
        answer = self.caller.call("LookupIndex", index=self.world.rule, equals=[value(source)], freshness={"at_least": [token]})
        for one in answer.reply.entities if answer.reply else []:
            copied = copy_of(one)
            if any(at >= began for at in list(self.world.last_merged[one.row_key].values())):
                continue
            assert not copied or copied[0] != source or copied[1] >= written or self.world.keeps, f"{one.row_key}: {copied}, {written} was answered"
            self.world.count("copies looked up")


class CopyRound:
    def __init__(self, made, number, seed, seconds):
        self.made, self.seconds = made, seconds
        self.world = CopyWorld(made, number, seed)
        self.trouble = Trouble(made, self.world, random.Random(f"{seed} {number} copies"))

    def run(self):
        with self.made.connect() as caller:
            caller.create_table(name=self.world.sources)
            caller.create_table(name=self.world.table)
            caller.create_index(index=self.world.declaration())
        writers = [SourceWriter(self.world, str(source)) for source in range(SOURCES)]
        callers = [*writers, *(DependentWriter(self.world, f"writer {number}") for number in range(WRITERS)),
                   *(CopyReader(self.world, f"reader {number}") for number in range(READERS))]
        for caller in callers:
            caller.start()
        self.trouble.make_beside(callers, self.seconds)
        with self.made.connect() as caller:
            self.check_at_rest(caller)
        audit.check(self.made)

    def check_at_rest(self, caller):
        wait_for("READY", lambda: caller.get_index(name=self.world.rule).status.state == READY, 60)
        wait_for("no open intent", lambda: self.made.sql("select count(*) from intents") == "0", 60)
        sources = {one.row_key: one for one in caller.query(self.world.sources)}
        for one in caller.query(self.world.table):
            self.check_dependent(plain(one), one.row_key, sources)
            self.world.count("compared")
        operation = caller.verify_index(name=self.world.rule).operation
        caller.wait_operation(operation_id=operation.operation_id, timeout=60)
        report = caller.get_index_report(operation_id=operation.operation_id).report
        assert not report.copies and not report.in_flight, report

    def check_dependent(self, given, row, sources):
        source = sources.get(given["Manager"])
        found = (given.get("ManagerName"), given.get("ManagerVersion"))
        if source:
            assert found == (plain(source)["Name"], source.etag), f"{row}: {found}, its source is {source}"
        elif not self.world.keeps:
            assert found == (None, None), f"{row}: {found}, and it has no source"
