# SPDX-License-Identifier: Apache-2.0
"""An operator pauses, drains and limits queues, and sees their lag, while a worker runs."""

import os
import re
import time
import unittest

from tavola_test import metrics
from tavola_test.case import ServerCase
from tavola_test.client import entity, value
from tavola_test.processes import run_program
from tavola_test.waiting import wait_for

RECONCILE, TRANSACTION = 1, 2
RUNNING, PAUSED, DRAINING = 1, 2, 3
PAUSE, RESUME, DRAIN, LIMIT_RATE, RESHARD = 1, 2, 3, 4, 5


class Queues(ServerCase):
    with_worker = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stack.worker.kill()
        cls.metrics_path = os.path.join(cls.stack.folder, "mw")
        cls.stack.start_worker(TAVOLA_WORKER_METRICS_LISTEN="unix:" + cls.metrics_path)

    def setUp(self):
        self.table = self.new_table()
        self.index = self.new_index(self.table, by="City")
        self.addCleanup(self.control, RESUME)
        self.addCleanup(self.control, LIMIT_RATE)

    def control(self, control, **fields):
        reply = self.client.control_queue(control=control, **fields)
        return {(queue.name, work.kind): work for queue in reply.queues for work in queue.work}

    def work(self):
        reply = self.client.list_queues()
        return {(queue.name, work.kind): work for queue in reply.queues for work in queue.work}

    def states(self, kind=RECONCILE):
        return {work.state for (_, of), work in self.work().items() if of == kind}

    def open_intents(self, kind=RECONCILE):
        return sum(work.open_intents for (_, of), work in self.work().items() if of == kind)

    def told(self):
        """The metrics of the worker; empty while it does not answer."""
        try:
            return metrics.read(self.metrics_path)
        except OSError:
            return metrics.Sample("")

    def wait_until_held(self, held=16):
        """The worker knows the change."""
        wait_for("the worker to follow", lambda: self.told().value("tavola_queue_paused") == held, 10)

    def wait_until_late(self, open_intents, seconds):
        """The worker has scanned the queue and has left its work undone for this long."""

        def is_late(sample):
            return sample.value("tavola_queue_open_intents") == open_intents and any(
                name == "tavola_queue_lag_seconds" and value >= seconds
                for (name, _), value in sample.values.items()
            )

        wait_for("the worker to see how late it is", lambda: is_late(self.told()), 15)

    def insert(self, count, city, first=0):
        for i in range(first, first + count):
            self.client.insert_entity(table=self.table, entity=entity(f"p{i}", "r", City=city))

    def found(self, city):
        return len(self.client.lookup(self.index, [city]))

    def test_a_paused_queue_takes_work_and_does_none(self):
        works = self.control(PAUSE)
        self.assertEqual(len(works), 16)
        self.assertEqual({work.state for work in works.values()}, {PAUSED})
        self.wait_until_held()

        self.insert(20, "Bonn")
        submitted = self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_replace": {"table": self.table, "entity": entity("t", "r", City="Bonn")}},
        ]).transaction
        self.wait_until_late(21, 2)  # longer than the server tries to publish by itself
        self.assertEqual(self.found("Bonn"), 0)
        self.assertEqual((self.open_intents(), self.open_intents(TRANSACTION)), (20, 1))
        lag = self.client.get_index(name=self.index).status.lag
        self.assertEqual(lag.open_intents, 20)
        self.assertGreaterEqual(lag.age.seconds, 1)
        self.assertGreaterEqual(max(work.oldest_age.seconds for work in self.work().values()), 1)

        self.control(RESUME, kind=TRANSACTION)
        wait_for("the transaction", lambda: self.client.get_transaction(
            transaction_id=f"{self.table}-t").transaction.state == 3, 10)
        self.assertEqual(self.found("Bonn"), 0)
        self.assertEqual(self.open_intents(), 21)

        works = self.control(RESUME)
        self.assertEqual({work.state for work in works.values()}, {RUNNING})
        token = submitted.consistency_token
        reply = self.client.lookup_index(
            index=self.index, equals=[value("Bonn")], freshness={"at_least": [token]}, timeout=10)
        self.assertTrue(reply.entities)
        wait_for("all entries", lambda: self.found("Bonn") == 21, 10)
        self.assertEqual(self.open_intents(), 0)
        wait_for("a rate", lambda: sum(work.applied_per_second for work in self.work().values()) > 0.5, 5)
        wait_for("the index's", lambda: self.client.get_index(name=self.index).status.lag.applied_per_second > 0, 5)
        self.assertGreaterEqual(self.told().value("tavola_queue_applied_total"), 21)

    def test_one_queue_is_paused_and_the_others_go_on(self):
        self.control(PAUSE, queue="q1")
        self.wait_until_held(4)
        self.insert(40, "Rome")
        wait_for("the other queues", lambda: all(
            work.open_intents == 0 for (name, _), work in self.work().items() if name != "q1"), 10)
        held = self.work()["q1", RECONCILE]
        self.assertEqual(held.state, PAUSED)
        self.assertGreater(held.open_intents, 0)
        self.assertEqual(self.found("Rome"), 40 - held.open_intents)
        self.control(RESUME)
        wait_for("all entries", lambda: self.found("Rome") == 40, 10)

    def test_a_drain_does_what_was_open_and_nothing_newer(self):
        self.control(PAUSE)
        self.wait_until_held()
        self.insert(20, "Oslo")
        works = self.control(DRAIN)
        self.assertIn(DRAINING, {work.state for work in works.values()})
        self.insert(5, "Oslo", first=20)
        wait_for("the drain", lambda: self.states() == {PAUSED}, 15)
        self.assertEqual((self.found("Oslo"), self.open_intents()), (20, 5))
        self.wait_until_late(5, 2)
        self.assertEqual((self.found("Oslo"), self.open_intents()), (20, 5))
        self.control(RESUME)
        wait_for("all entries", lambda: self.found("Oslo") == 25, 10)

    def test_a_rate_holds_over_all_threads(self):
        self.control(PAUSE)
        self.wait_until_held()
        self.insert(120, "Kiel")
        works = self.control(LIMIT_RATE, rate=5)
        self.assertEqual({(work.state, work.rate_limit) for work in works.values()}, {(PAUSED, 5)})
        began = time.monotonic()
        self.control(RESUME)
        wait_for("half of it", lambda: self.found("Kiel") >= 60, 15)
        # Four queues: five intents a second each, and one second's worth that may be saved up.
        self.assertGreaterEqual(time.monotonic() - began, 60 / (4 * 5) - 1.1)
        self.control(LIMIT_RATE)
        wait_for("all entries", lambda: self.found("Kiel") == 120, 10)

    def test_controls_outlive_the_worker_and_hold_without_redis(self):
        self.control(PAUSE, kind=RECONCILE)
        self.stack.worker.kill()
        self.stack.redis.kill()
        self.stack.start_worker(TAVOLA_WORKER_METRICS_LISTEN="unix:" + self.metrics_path)
        self.wait_until_held(4)
        self.insert(5, "Bari")
        self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_replace": {"table": self.table, "entity": entity("t", "r", City="Bari")}},
        ])
        wait_for("the transaction", lambda: self.client.get_transaction(
            transaction_id=f"{self.table}-t").transaction.state == 3, 15)
        self.assertEqual((self.found("Bari"), self.open_intents()), (0, 6))
        self.control(LIMIT_RATE, rate=100)
        self.control(RESUME)
        wait_for("all entries", lambda: self.found("Bari") == 6, 15)
        self.stack.start_redis()

    def test_bad_requests_are_refused(self):
        for fields in ({}, {"control": 9}, {"control": PAUSE, "queue": "q4"}, {"control": PAUSE, "queue": "x"},
                       {"control": PAUSE, "kind": 5}, {"control": PAUSE, "rate": 1}, {"control": PAUSE, "shards": 4},
                       {"control": RESHARD, "shards": 4, "queue": "q1"}, {"control": RESHARD, "shards": 4, "kind": 1}):
            with self.subTest(fields=fields):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.control_queue, **fields)
        for rate in (-1, 1000001):
            self.refused("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", self.client.control_queue, control=LIMIT_RATE, rate=rate)

        for shards in (-1, 0, 65):
            self.refused(
                "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", self.client.control_queue, control=RESHARD, shards=shards)

    def test_the_number_of_queues_changes_on_the_worker(self):
        self.addCleanup(self.client.control_queue, control=RESHARD, shards=4)
        version = self.client.list_queues().map_version
        self.control(PAUSE, queue="q3")
        reply = self.client.control_queue(control=RESHARD, shards=2)
        self.assertEqual((len(reply.queues), reply.map_version), (2, version + 1))
        self.assertEqual(self.client.control_queue(control=RESHARD, shards=2).map_version, version + 1)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.control_queue, control=PAUSE, queue="q2")
        self.insert(20, "Lund")
        wait_for("all entries", lambda: self.found("Lund") == 20, 10)
        self.assertEqual(len(self.client.control_queue(control=RESHARD, shards=5).queues), 5)
        wait_for("the worker to follow", lambda: self.told().value("tavola_queue_paused", queue="q4") == 0, 10)
        self.assertEqual(self.states(), {RUNNING})
        self.insert(20, "Lund", first=20)
        wait_for("all entries", lambda: self.found("Lund") == 40, 10)

    def test_the_command_line(self):
        def tavola(*words, code=0):
            done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target})
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout

        listed = tavola("queue", "list").splitlines()
        self.assertRegex(listed[0], r"^queue +work +state +limit +open +oldest +applied/s +fresh in$")
        self.assertEqual(len(listed), 18)
        self.assertRegex(listed[-1], r"^map version \d+$")
        self.assertRegex(listed[1], r"^q0 +reconcile +RUNNING +- ")
        self.assertEqual(tavola("queue", "pause", "all").count("PAUSED"), 16)
        self.assertRegex(tavola("queue", "limit-rate", "7", "q2", "transaction"), r"q2 +transaction +PAUSED +7/s ")
        self.assertEqual(tavola("queue", "resume", "q2").count("RUNNING"), 4)
        self.assertEqual(tavola("queue", "drain", "q2", "reconcile").count("\nq2"), 1)
        tavola("queue", "resume", "all")
        page = tavola("top", "--once")
        self.assertRegex(page, rf"(?m)^{self.index} +{self.table} +READY +0 +0\.0 s .* +0 +0 +0$")
        self.assertRegex(page, r"(?m)^dead letters: \d+ dead, \d+ discarded; 0 being retried$")
        self.assertEqual(len({len(line) for line in page.split("\n\n")[0].splitlines()}), 1)
        self.assertNotIn("\033", page)
        self.addCleanup(tavola, "queue", "reshard", "4")
        self.assertEqual(tavola("queue", "reshard", "3").count("RUNNING"), 12)
        tavola("queue", "reshard", "65", code=2)
        tavola("queue", "pause", code=2)
        tavola("queue", "limit-rate", "x", "all", code=2)
        tavola("queue", "pause", "q9", code=1)

    def test_top_tells_violations_and_dead_letters_and_no_pace_of_what_is_paused(self):
        def top():
            done = run_program("tavola", "top", "--once", settings={"TAVOLA_TARGET": self.stack.target})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        name, cause = self.new_name("narrow"), "Age is of type String, allowed: an Int32 or Int64 from 0 to 99"
        self.client.create_index(index={
            "name": name, "table": self.table, "shape": 1, "place": 2,
            "partition_key": [{"property": "Age", "width": 2}],
        })
        self.wait_ready(name)
        for row in ("1", "2"):
            self.client.insert_entity(table=self.table, entity=entity("ages", row, Age="old"))
        status = lambda: self.client.get_index(name=name).status
        wait_for("the violations", lambda: status().violations == 2)
        self.assertEqual(len(status().violation_causes), 1)
        self.assertTrue(status().violation_causes[0].endswith(cause), status())
        self.assertRegex(top(), rf"(?m)^{name} .* +2 +2 +0\n  .*: {cause}$")
        dead_letter = next(one for one in self.client.list_dead_letters().dead_letters if one.index == name)
        self.client.discard_dead_letters(dead_letter_ids=[dead_letter.dead_letter_id], reason="known")
        self.assertEqual((status().violations, status().discarded), (2, 1))
        page = top()
        self.assertRegex(page, rf"(?m)^{name} .* +2 +1 +1$")
        self.assertRegex(page, r"(?m)^dead letters: 1 dead, 1 discarded; 0 being retried$")
        self.assertRegex(page, rf"(?m)^{name} .* \d+\.\d +")
        self.client.control_queue(control=PAUSE)
        self.addCleanup(self.client.control_queue, control=RESUME)
        self.assertEqual(len(re.findall(r"(?m)^q\d .* PAUSED .* -  +-$", top())), 16)
        self.assertRegex(top(), rf"(?m)^{name} +{self.table} +READY +0 +0\.0 s +- +- +2 +1 +1$")


if __name__ == "__main__":
    unittest.main()
