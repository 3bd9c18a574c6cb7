# SPDX-License-Identifier: Apache-2.0
"""The database's clock is set back by an hour; the machine's own is not touched (Debian's libfaketime)."""

import glob
import os
import tempfile
import unittest

from tavola_test.client import ApiError, BatchOperation, entity, value
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
INTENTS = 200


@unittest.skipUnless(LIBRARY, "needs Debian's package faketime")
class ClockStep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tc-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        self.clock = os.path.join(folder.name, "clock")
        self.set_clock(0)
        self.stack = Stack(
            own_postgres=True,
            postgres_environment={
                "LD_PRELOAD": LIBRARY,
                "FAKETIME_TIMESTAMP_FILE": self.clock,
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "DONT_FAKE_MONOTONIC": "1",
            },
        )
        self.addCleanup(self.stack.close)
        self.stack.start_server()
        self.stack.start_worker()
        self.client = self.stack.connect()
        self.addCleanup(self.client.channel.close)
        self.client.create_table(name="people")
        index = {"name": "byCity", "table": "people", "shape": 1, "place": 2}
        self.client.create_index(index={**index, "partition_key": [{"property": "City"}]})
        wait_ready(self.client, "byCity")

    def set_clock(self, hours):
        """The file is replaced, not rewritten, because a process may read it at any time."""
        with open(self.clock + ".new", "w", encoding="ascii") as file:
            file.write(f"{hours:+}h\n")
        os.chmod(self.clock + ".new", 0o644)
        os.replace(self.clock + ".new", self.clock)

    def tables(self, prefix):
        names = self.stack.sql(f"select string_agg(name, ' ' order by name) from tables where live and name like '{prefix}%'")
        return set(names.split())

    def test_a_clock_that_is_ahead_drops_no_table(self):
        self.stack.worker.kill()
        self.stack.start_worker(TAVOLA_WORKER_NAME="another", TAVOLA_SWEEP_INTERVAL_SECONDS="1")
        self.client.create_table(name="logins")
        self.client.update_table(table={"name": "logins", "periods": {"unit": 4, "ahead": 1, "kept": 1}})
        wait_for("the tables of today", lambda: len(self.tables("logins")) == 3)
        before = self.tables("logins")

        self.set_clock(24 * 366 * 5)

        wait_for("the tables of the wrong year", lambda: len(self.tables("logins")) > 3)
        self.assertLess(before, self.tables("logins"))
        self.client.create_table(name="later")
        self.client.update_table(table={"name": "later", "periods": {"unit": 4, "ahead": 1, "kept": 1}})
        wait_for("another round", lambda: len(self.tables("later")) == 3)
        self.assertLess(before, self.tables("logins"))

    def step_back(self, hours):
        before = int(self.stack.sql("select extract(epoch from now())::int8"))
        self.set_clock(hours)
        after = int(self.stack.sql("select extract(epoch from now())::int8"))
        self.assertLess(after, before - 3000)

    def put(self, count, city):
        for first in range(0, count, 100):
            operations = [
                BatchOperation(insert_or_replace=entity("p", f"{city}{row}", City=city))
                for row in range(first, min(first + 100, count))
            ]
            self.client.execute_batch(table="people", operations=operations)

    def intents(self):
        return int(self.stack.sql("select count(*) from intents"))

    def test_what_was_open_is_done_and_leases_of_the_dead_are_taken_over(self):
        wait_for("leases", lambda: self.stack.sql("select count(*) from leases where owner <> ''") == "16")
        self.stack.worker.kill()
        self.stack.redis_command("FLUSHALL")
        self.put(INTENTS, "Bonn")
        self.stack.redis_command("FLUSHALL")  # open intents are found by their time alone
        self.assertEqual(self.intents(), INTENTS)

        self.step_back(-1)
        self.stack.start_worker(TAVOLA_WORKER_NAME="another")

        wait_for("the work from before", lambda: self.intents() == 0, 30)
        self.put(INTENTS, "Rome")
        wait_for("the work from after", lambda: self.intents() == 0, 30)

    def refusal(self):
        """The reason for which a look-up fails; None: its deadline passed first. The server answers a tenth of a second before it."""
        with self.assertRaises(ApiError) as caught:
            self.client.lookup_index(
                index="byCity", equals=[value("Rome")], freshness={"max_staleness": {"seconds": 1}}, timeout=2
            )
        return caught.exception.reason

    def test_a_bound_on_staleness_is_not_met_by_a_time_ahead(self):
        wait_for("watermarks", lambda: self.stack.sql("select min(as_of) > 0 from watermarks") == "t")
        self.put(1, "Bonn")
        wait_for("the work", lambda: self.intents() == 0)
        self.stack.worker.kill()
        self.put(1, "Rome")

        self.step_back(-1)

        self.assertEqual(wait_for("an answer before the deadline", self.refusal), "NOT_FRESH_ENOUGH")
        self.stack.start_worker(TAVOLA_WORKER_NAME="another")
        reply = self.client.lookup_index(
            index="byCity", equals=[value("Rome")], freshness={"max_staleness": {"seconds": 1}}, timeout=20
        )
        self.assertEqual(len(reply.entities), 1)


if __name__ == "__main__":
    unittest.main()
