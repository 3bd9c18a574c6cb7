# SPDX-License-Identifier: Apache-2.0
"""Callers that write all the time while a test breaks programs, and the check that no write was lost or done twice."""

import random
import threading
import time

from tavola_test.client import entity, key, match, plain
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

OWNERS = ["o1", "o2", "o3"]


class Caller(threading.Thread):
    """Calls in a loop, and accepts no failure."""

    def __init__(self, stack, number):
        super().__init__(daemon=True)
        self.client = stack.connect()
        self.random = random.Random(number)
        self.number = number
        self.stopping = threading.Event()
        self.failure = None
        self.done = 0
        self.seconds = []

    def run(self):
        try:
            # a pause, so that the load leaves processor time to the tested programs
            while not self.stopping.wait(0.003):
                self.turn()
                self.done += 1
        except Exception as failure:  # an exception is given to the test, which fails with it
            self.failure = failure

    def end(self):
        self.stopping.set()
        self.join(60)
        self.client.channel.close()

    def timed(self, call, **fields):
        began = time.monotonic()
        reply = getattr(self.client, call)(timeout=20 * TIMEOUT_FACTOR, **fields)
        self.seconds.append(time.monotonic() - began)
        return reply


class Writer(Caller):
    """Upserts and deletes in a partition of its own; `rows` is what must be stored."""

    def __init__(self, stack, number):
        super().__init__(stack, number)
        self.rows = {}

    def turn(self):
        row = f"{self.random.randrange(300):03}"
        address = (f"w{self.number}", row)
        if self.rows.get(row) is not None and self.random.random() < 0.2:
            self.timed("delete_entity", table="source", key=key(address), precondition=match())
            self.rows[row] = None
        else:
            properties = {"N": self.done, "Owner": self.random.choice(OWNERS)}
            self.timed("insert_or_replace_entity", table="source", entity=entity(*address, properties))
            self.rows[row] = properties


class Transactor(Caller):
    """A transaction inserts a row; after its end the caller deletes the row. A step that ran twice would insert it
    again.
    """

    def turn(self):
        address = ("made", f"{self.done:05}")
        name = f"make-{self.number}-{self.done}"
        step = {"insert_or_replace": {"table": "log", "entity": entity(*address, N=self.done)}}
        self.timed("submit_transaction", transaction_id=name, steps=[step])
        self.client.wait_transaction(transaction_id=name, timeout=60 * TIMEOUT_FACTOR)
        self.client.delete_entity(table="log", key=key(address), precondition=match())


class Load:
    """Tables, an index, callers. Usable as a context: the callers run inside it."""

    def __init__(self, stack, writers=2):
        self.stack = stack
        with stack.connect() as caller:
            for table in ("source", "log"):
                caller.create_table(name=table)
            index = {"name": "byOwner", "table": "source", "shape": 1, "partition_key": [{"property": "Owner"}]}
            caller.create_index(index=index)
            wait_ready(caller, "byOwner")
        self.writers = [Writer(stack, number) for number in range(writers)]
        self.callers = [*self.writers, Transactor(stack, 9)]

    def __enter__(self):
        for caller in self.callers:
            caller.start()
        self.at_first = self.go_on()
        return self

    def __exit__(self, *_):
        for caller in self.callers:
            caller.end()

    def check_callers(self):
        for caller in self.callers:
            if caller.failure:
                raise caller.failure

    def go_on(self, writes=100, transactions=3):
        """Wait until every caller has had this many calls answered; returns how long writes took meanwhile, the
        slowest last.
        """
        goals = [(caller, caller.done + (writes if caller in self.writers else transactions)) for caller in self.callers]
        first = {caller: len(caller.seconds) for caller in self.writers}
        wait_for(
            "callers getting on",
            lambda: any(caller.failure for caller in self.callers) or all(one.done >= goal for one, goal in goals),
            60,
        )
        self.check_callers()
        return sorted(second for caller in self.writers for second in caller.seconds[first[caller] :])

    def check(self):
        """After the end: no work is open, the index is right, and no step ran twice."""
        self.check_callers()
        try:
            wait_for("no open intent", lambda: self.stack.sql("select count(*) from intents") == "0", 60)
        except AssertionError as failure:
            left = self.stack.sql("select bucket, id, kind, partition_key, row_key from intents limit 5")
            raise AssertionError(f"{failure}; left are {left}") from None
        assert self.stack.sql("select count(*) from dead_letters") == "0", "dead letters"
        wanted = {
            (f"w{writer.number}", row): properties
            for writer in self.writers
            for row, properties in writer.rows.items()
            if properties is not None
        }
        with self.stack.connect() as caller:
            source = {(found.partition_key, found.row_key): plain(found) for found in caller.query("source")}
            assert source == wanted, "acknowledged writes"
            entries = {}
            for found in caller.query("byOwner"):
                properties = plain(found)
                address = properties.pop("$SourcePartitionKey"), properties.pop("$SourceRowKey")
                assert address not in entries, f"two entries of {address}"
                entries[address] = properties
            assert entries == wanted, "entries of the index"
            again = [found.row_key for found in caller.query("log")]
            assert not again, f"steps done twice: {again}"
