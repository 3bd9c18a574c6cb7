# SPDX-License-Identifier: Apache-2.0
"""What one account can make the workers do, and how soon the work of another account is done meanwhile."""

import concurrent.futures
import json
import os
import statistics
import sys
import time
import unittest

from accounts import is_known, new_account, percentile_99
from tavola_test import client
from tavola_test.credentials import token
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

CALLS = int(os.environ.get("ATTACK_CALLS", "100"))
# p99 beside another account's backlog, as a multiple of p99 without one; what is below the floor is as good.
TIMES = float(os.environ.get("ATTACK_TIMES", "5"))
FLOOR_SECONDS = float(os.environ.get("ATTACK_FLOOR_SECONDS", "0.1"))
TRANSACTIONS = int(os.environ.get("ATTACK_TRANSACTIONS", "600"))
STEPS = 100
ENTITIES = int(os.environ.get("ATTACK_ENTITIES", "60000"))
CHUNK = 1000
INDEXES = 5
COPY = 1


class Workers(unittest.TestCase):
    """Accounts acme and noisy, a server and a worker with its two consumers."""

    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.tokens = {
            name: token(new_account(self.stack, name), expiry=3600, account=name) for name in ("acme", "noisy")}
        self.stack.start_server(TAVOLA_AUTHENTICATION="required", wait=False)
        wait_for("the server", self.stack.accepts, 30)
        self.acme, self.noisy = self.connect("acme"), self.connect("noisy")
        for caller in (self.acme, self.noisy):
            wait_for("the account", lambda caller=caller: is_known(caller), 30)
            caller.create_table(name="things")
            for n in range(INDEXES):
                caller.create_index(index={"name": f"by{n}", "table": "things", "shape": COPY, "partition_key": [{"property": f"P{n}"}]})
        self.worker = self.stack.start_worker()
        for caller in (self.acme, self.noisy):
            for n in range(INDEXES):
                wait_ready(caller, f"by{n}")

    def connect(self, account):
        return self.enterContext(client.Client(self.stack.target, token=self.tokens[account], seconds=60))

    # what acme does, and waits for

    def transaction(self, number):
        self.acme.submit_transaction(transaction_id=f"t{number}", steps=[self.step(f"t{number}")])
        self.acme.wait_transaction(transaction_id=f"t{number}")

    def step(self, row):
        return {"insert_or_replace": {"table": "things", "entity": client.entity("p", row, A=1)}}

    def index_entry(self, number):
        reply = self.acme.insert_or_replace_entity(table="things", entity=client.entity("p", f"e{number}", P0=f"v{number}"))
        found = self.acme.lookup_index(
            index="by0", equals=[client.value(f"v{number}")], freshness={"at_least": [reply.result.consistency_token]})
        self.assertEqual(len(found.entities), 1)

    def timed(self, do, first, beside_backlog=False):
        """Seconds of each; of those beside a backlog no more than it lasts."""
        times = []
        while len(times) < CALLS and not (beside_backlog and self.open_intents() == 0):
            began = time.monotonic()
            do(first + len(times))
            times.append(time.monotonic() - began)
        return times

    # what noisy leaves to do

    def leave_transactions(self):
        def submit(number):
            steps = [self.step(f"{number}-{step}") for step in range(STEPS)]
            self.noisy.submit_transaction(transaction_id=f"n{number}", steps=steps)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(submit, range(TRANSACTIONS)))

    def leave_index_entries(self):
        def chunk(first):
            return client.ImportEntitiesRequest(table="things", entities=[
                client.entity(f"p{first}", str(n), **{f"P{i}": f"v{n}" for i in range(INDEXES)}) for n in range(CHUNK)])

        list(self.noisy.import_entities(chunk(first) for first in range(0, ENTITIES, CHUNK)))

    def open_intents(self):
        return int(self.stack.sql("select count(*) from intents"))

    def check(self, leave, do):
        before = self.timed(do, 0)
        self.worker.stop()  # while noisy's work is left, so that there is enough of it
        leave()
        self.worker = self.stack.start_worker()
        during = self.timed(do, CALLS, beside_backlog=True)
        numbers = {"p50_before": statistics.median(before), "p99_before": percentile_99(before), "calls": len(during),
                   "p50_during": statistics.median(during), "p99_during": percentile_99(during), "left": self.open_intents()}
        print(self.id().split(".")[-1], json.dumps(numbers), file=sys.stderr)
        self.assertGreaterEqual(len(during), min(CALLS, 20), "the backlog was too small to tell")
        self.assertLess(numbers["p99_during"], max(TIMES * numbers["p99_before"], FLOOR_SECONDS), numbers)

    def test_a_transaction_beside_a_backlog_of_transactions(self):
        self.check(self.leave_transactions, self.transaction)

    def test_an_index_entry_beside_a_backlog_of_transactions(self):
        self.check(self.leave_transactions, self.index_entry)

    def test_a_transaction_beside_a_backlog_of_index_entries(self):
        self.check(self.leave_index_entries, self.transaction)

    def test_an_index_entry_beside_a_backlog_of_index_entries(self):
        self.check(self.leave_index_entries, self.index_entry)
