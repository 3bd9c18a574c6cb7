# SPDX-License-Identifier: Apache-2.0
"""Streams whose caller goes away: whatever the server was doing, the call ends at once and counts as cancelled."""

import os
import queue
import unittest

from tavola_test import client, metrics
from tavola_test.client import entity
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

BIG = b"x" * 60000  # 500 of them are more than the transport buffers


class Leaving(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.metrics = os.path.join(self.stack.folder, "ms")
        self.stack.start_server(TAVOLA_METRICS_LISTEN="unix:" + self.metrics)
        self.caller = self.stack.connect()
        self.addCleanup(self.caller.channel.close)
        self.caller.create_table(name="left", change_feed=True)

    def read(self, name, **labels):
        return metrics.read(self.metrics).value(name, **labels)

    def begin(self, path, requests):
        """An iterator of replies that can be cancelled; it has no deadline that would end it."""
        name = "tavola.v1." + path.split("/")[1]
        request, response = (client.types.message(name + end) for end in ("Request", "Response"))
        rpc = self.caller.channel.stream_stream("/tavola.v1." + path, request.SerializeToString, response.FromString)
        return rpc(request(**fields) for fields in requests)

    def goes(self, call, method):
        self.caller.cancel(call)
        wait_for("the end of the call", lambda: self.read("tavola_open_calls") == 0)
        self.assertEqual(self.read("tavola_calls_total", method=method, code="CANCELLED"), 1)

    def import_of(self, given):
        return self.begin("EntityService/ImportEntities", iter(given.get, None))

    def test_while_a_message_is_on_its_way(self):
        for part in range(10):
            self.caller.load("left", [entity("p", f"{part}{n:02}", Data=BIG) for n in range(50)])
        call = self.begin("EntityService/ScanEntities", [{"query": {"table": "left"}}])
        next(call)
        pages = self.stalls(lambda: self.read("tavola_lane_operations_total", lane="page"))
        self.assertLess(pages, 10)
        self.goes(call, "ScanEntities")

    def stalls(self, count):
        """Wait until the value stops changing: the reader pauses."""
        seen = []

        def is_still():
            seen.append(count())
            return seen[-10:] == seen[-1:] * 10

        wait_for("the server to wait for its reader", is_still)
        return seen[-1]

    def test_while_the_store_waits_for_news(self):
        steps = [{"delete_if_exists": {"table": "left", "key": client.key(("p", "r"))}}]
        self.caller.submit_transaction(transaction_id="t", steps=steps)
        call = self.begin("TransactionService/WatchTransaction", [{"transaction_id": "t"}])
        next(call)
        wait_for("the watch to wait", lambda: self.read("tavola_waiting_calls") == 1)
        self.goes(call, "WatchTransaction")

    def test_a_watcher_counts_until_it_goes(self):
        call = self.begin("EntityService/WatchEntities", [{"table": "left"}])
        next(call)
        self.assertEqual(self.read("tavola_open_watches"), 1)
        self.goes(call, "WatchEntities")
        self.assertEqual(self.read("tavola_open_watches"), 0)

    def test_while_a_chunk_is_written(self):
        """The write may have been committed before the cancellation: it was, and its answer is dropped."""
        given = queue.Queue()
        with self.stack.locked("entities"):
            call = self.import_of(given)
            given.put({"table": "left", "entities": [entity("p", "r", A=1)]})
            self.stack.wait_for_lock_waiter()
            call.cancel()
        given.put(None)
        self.goes(call, "ImportEntities")
        self.assertEqual(len(self.caller.query("left")), 1)

    def test_between_two_messages(self):
        given = queue.Queue()
        call = self.import_of(given)
        given.put({"table": "left", "entities": [entity("p", "r", A=1)]})
        self.assertEqual(next(call).committed, 1)
        self.goes(call, "ImportEntities")
        given.put(None)


if __name__ == "__main__":
    unittest.main()
