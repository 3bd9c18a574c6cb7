# SPDX-License-Identifier: Apache-2.0
"""The metrics of server and worker agree with what has happened."""

import os
import re
import unittest

from tavola_test import blobs, metrics
from tavola_test.client import ApiError, entity, key
from tavola_test.settings import SOURCE
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

PAUSE, RESUME = 1, 2


class Metrics(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.server_path = os.path.join(self.stack.folder, "ms")
        self.worker_path = os.path.join(self.stack.folder, "mw")
        # Server and worker read the same settings file.
        self.settings = {
            "TAVOLA_METRICS_LISTEN": "unix:" + self.server_path,
            "TAVOLA_WORKER_METRICS_LISTEN": "unix:" + self.worker_path,
        }

    def start(self):
        self.stack.start_server(**self.settings)
        self.stack.start_worker(**self.settings)
        self.caller = self.stack.connect()
        self.addCleanup(self.caller.channel.close)
        wait_for("the worker's metrics", lambda: self.stack.accepts("unix:" + self.worker_path))

    def calls(self, method, code):
        return metrics.read(self.server_path).value("tavola_calls_total", method=method, code=code)

    def test_the_servers_numbers(self):
        self.start()
        self.caller.create_table(name="counted")
        for n in range(5):
            self.caller.insert_entity(table="counted", entity=entity("p", str(n)))
        for _ in range(3):
            with self.assertRaises(ApiError):
                self.caller.get_entity(table="counted", key=key(("p", "none")))
        wait_for("all calls counted", lambda: self.calls("GetEntity", "NOT_FOUND") == 3)
        now = metrics.read(self.server_path)
        self.assertEqual(now.value("tavola_calls_total", method="InsertEntity", code="OK"), 5)
        self.assertEqual(now.value("tavola_call_duration_seconds_count", method="InsertEntity"), 5)
        buckets = [now.value("tavola_call_duration_seconds_bucket", method="InsertEntity", le=le) for le in ("10", "+Inf")]
        self.assertEqual(buckets, [5, 5])
        self.assertGreater(now.value("tavola_call_duration_seconds_sum", method="InsertEntity"), 0)
        self.assertEqual(now.value("tavola_lane_operations_total", lane="write"), 5)
        self.assertEqual(now.value("tavola_lane_batch_operations_sum", lane="write"), 5)
        self.assertGreaterEqual(now.value("tavola_lane_batches_total", lane="write"), 1)
        self.assertEqual(now.value("tavola_database_available"), 1)
        self.assertEqual(now.value("tavola_build_info"), 1)
        self.assertGreater(now.value("process_resident_memory_bytes"), 1e6)
        self.stack.postgres_down()
        wait_for("no database", lambda: metrics.read(self.server_path).value("tavola_database_available") == 0)

    def test_the_workers_numbers(self):
        self.start()
        self.caller.create_table(name="source")
        index = {"name": "byA", "table": "source", "shape": 1, "partition_key": [{"property": "A"}]}
        self.caller.create_index(index=index)
        wait_ready(self.caller, "byA")
        self.caller.load("source", [entity("p", str(n), A="x") for n in range(20)])
        wait_for("20 entries", lambda: len(self.caller.lookup("byA", ["x"])) == 20, 30)
        steps = [{"delete_if_exists": {"table": "source", "key": key(("p", "0"))}}]
        self.caller.submit_transaction(transaction_id="t", steps=steps)
        self.assertEqual(self.caller.wait_transaction(transaction_id="t", timeout=30).transaction.state, 3)

        def settled():
            now = metrics.read(self.worker_path)
            done = now.value("tavola_worker_completed_total", kind="reconcile") >= 20
            return done and now.value("tavola_worker_completed_total", kind="transaction") >= 1 and now

        now = wait_for("the worker's counts", settled)
        self.assertGreaterEqual(now.value("tavola_worker_claimed_total"), 21)
        wait_for("leases", lambda: metrics.read(self.worker_path).value("tavola_worker_leases") == 16)
        self.assertEqual(now.value("tavola_worker_dead_letters_total"), 0)
        wait_for("streaming", lambda: metrics.read(self.worker_path).value("tavola_worker_streaming") == 1)
        wait_for("no lag", lambda: metrics.read(self.worker_path).value("tavola_worker_open_intents") == 0)
        published = metrics.read(self.server_path).value("tavola_queue_published_total", outcome="published")
        self.assertGreaterEqual(published, 20)
        self.stack.worker.kill()
        self.caller.load("source", [entity("q", "1", A="y")])
        os.unlink(self.worker_path)
        self.stack.redis.kill()
        self.stack.start_worker(**self.settings)
        wait_for("polling", lambda: self.stack.accepts("unix:" + self.worker_path) and self.polled() > 0, 30)

    def test_the_numbers_of_blobs(self):
        self.settings["TAVOLA_SWEEP_INTERVAL_SECONDS"] = "1"
        self.start()
        data = blobs.content(blobs.CHUNK + 10)
        blobs.put(self.caller, "counted", data)
        blobs.get(self.caller, "counted")
        blobs.get(self.caller, "counted", offset=blobs.CHUNK)
        now = metrics.read(self.server_path)
        self.assertEqual(now.value("tavola_blob_bytes_total", direction="in"), len(data))
        self.assertEqual(now.value("tavola_blob_bytes_total", direction="out"), len(data) + 10)
        self.caller.delete_blob(name="counted")
        self.stack.sql("update blob_contents set kept_until = now()")
        wait_for("the chunks to go", lambda: metrics.read(self.worker_path).value("tavola_blob_chunks_removed_total") == 2, 30)
        wait_for("no backlog", lambda: metrics.read(self.worker_path).value("tavola_blob_backlog", kind="contents") == 0, 30)

    def polled(self):
        return metrics.read(self.worker_path).value("tavola_worker_claimed_total", source="database")

    def test_only_get_and_only_metrics(self):
        self.start()
        status, content_type, text = metrics.get(self.server_path)
        self.assertEqual((status, content_type), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.assertTrue(text.endswith("\n"))
        self.assertEqual(metrics.get(self.server_path, url="/")[0], 404)
        self.assertEqual(metrics.get(self.server_path, method="POST")[0], 405)

    def test_every_metric_is_explained(self):
        self.start()
        self.caller.health()
        told = set(metrics.read(self.server_path).types) | set(metrics.read(self.worker_path).types)
        with open(os.path.join(SOURCE, "docs", "operations.md"), encoding="utf-8") as file:
            explained = set(re.findall(r"^\| `([a-z_]+)`", file.read(), re.M))
        self.assertEqual(told, explained)

    def test_alerts_and_dashboard_name_what_there_is(self):
        """Every metric of an expression exists, with the labels it is selected or grouped by."""
        self.start()
        self.caller.create_table(name="source")
        self.caller.create_index(index={"name": "byA", "table": "source", "shape": 1, "partition_key": [{"property": "A"}]})
        wait_ready(self.caller, "byA")
        labels = lambda: metrics.read(self.server_path).labels() | metrics.read(self.worker_path).labels()
        wait_for("the metrics of the index", lambda: "tavola_index_lag_seconds" in labels())
        there = labels()
        used = list(metrics.expressions(os.path.join(SOURCE, "helm", "tavola", "monitoring")))
        self.assertGreater(len(used), 30)
        for expression in used:
            for name, wanted in metrics.used(expression):
                self.assertIn(name, there, expression)
                self.assertLessEqual(wanted, there[name], expression)

    def test_a_worker_answers_probes(self):
        """The worker is live while the database is away, and ready once it works."""
        path = os.path.join(self.stack.folder, "probes")
        ask = lambda url, **more: metrics.get(path, url, **more)[0]
        self.stack.postgres_down()
        self.stack.start_worker(TAVOLA_WORKER_HEALTH_LISTEN="unix:" + path)
        wait_for("the probes", lambda: self.stack.accepts("unix:" + path))
        self.assertEqual((ask("/live"), ask("/ready"), ask("/metrics")), (200, 503, 404))
        self.stack.postgres_up()
        wait_for("a worker that is ready", lambda: ask("/ready") == 200)
        self.assertEqual((ask("/live"), ask("/live", method="POST")), (200, 405))
        self.stack.postgres_down()
        wait_for("a worker that is not", lambda: ask("/ready") == 503)
        self.assertEqual(ask("/live"), 200)

    def test_what_was_given_up_stays_told_until_it_is_mended(self):
        """An alert on the increase of a counter ends an hour after the last increase."""
        self.start()
        self.caller.create_table(name="people")
        declared = {"name": "byAge", "table": "people", "shape": 1, "place": 2,
                    "partition_key": [{"property": "Age", "width": 2}]}
        self.caller.create_index(index=declared)
        wait_ready(self.caller, "byAge")
        told = lambda name, **labels: metrics.read(self.worker_path).value(name, **labels)
        dead_letters = lambda state: told("tavola_index_dead_letters", index="byAge", state=state)
        for row in ("1", "2"):
            self.caller.insert_entity(table="people", entity=entity("p", row, Age="old"))
        wait_for("dead letters", lambda: dead_letters("dead") == 2)
        dead_letter = self.caller.list_dead_letters().dead_letters[0]
        self.caller.discard_dead_letters(dead_letter_ids=[dead_letter.dead_letter_id], reason="known")
        wait_for("a discarded one", lambda: (dead_letters("dead"), dead_letters("discarded")) == (1, 1))
        self.assertEqual(told("tavola_dead_letters", kind="reconcile", state="dead"), 1)
        self.assertEqual(told("tavola_dead_letters", kind="transaction"), 0)
        self.caller.control_queue(control=PAUSE)
        wait_for("the worker to follow", lambda: told("tavola_queue_paused") == 16)
        self.caller.insert_entity(table="people", entity=entity("p", "3", Age=7))
        wait_for("lag", lambda: told("tavola_index_lag_seconds", index="byAge") > 0)
        self.caller.control_queue(control=RESUME)
        wait_for("no lag", lambda: told("tavola_index_lag_seconds", index="byAge") == 0)

    def test_without_the_setting_no_port_is_open_and_a_bad_address_stops_the_start(self):
        self.stack.start_server()
        self.assertFalse(os.path.exists(self.server_path))
        self.stack.server.kill()
        self.stack.start_server(wait=False, TAVOLA_METRICS_LISTEN="192.0.2.1:1")
        self.assertNotEqual(self.stack.server.wait(), 0)
        self.assertIn("TAVOLA_METRICS_LISTEN", self.stack.server.output())


if __name__ == "__main__":
    unittest.main()
