# SPDX-License-Identifier: Apache-2.0
"""More load than the server can carry: it goes on at its ceiling, refuses the rest with a hint, and recovers at once.
"""

import os
import resource
import struct
import subprocess
import unittest

import grpc

from tavola_test import metrics
from tavola_test.client import ApiError, entity, key, types
from tavola_test.processes import bench_program
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

LOAD = bench_program("bench_load")
LEAN_LOAD = bench_program("bench_h2_load")
GET = "/tavola.v1.EntityService/GetEntity"
UPSERT = "/tavola.v1.EntityService/InsertOrReplaceEntity"
QUERY = "/tavola.v1.EntityService/QueryEntities"
ENTITIES = 1000
CONNECTIONS = 1000
TURNS = 2
CALLERS, SOCKETS, DEADLINE_MS = 2048, 16, 5000


class Overload(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)
        self.metrics = os.path.join(self.stack.folder, "ms")

    def start(self, **settings):
        self.stack.start_server(TAVOLA_METRICS_LISTEN="unix:" + self.metrics, **settings)
        self.caller = self.stack.connect()
        self.addCleanup(self.caller.channel.close)
        self.caller.create_table(name="loaded")

    def request(self):
        """A query that examines a thousand entities and finds none, in the form that bench_load reads."""
        self.caller.load("loaded", [entity("p", f"{n}", A=n) for n in range(ENTITIES)])
        query = {"table": "loaded", "filter": "PartitionKey eq 'p' and A eq 123456789L"}
        message = types.message("tavola.v1.QueryEntitiesRequest")(query=query).SerializeToString()
        path = os.path.join(self.stack.folder, "request")
        with open(path, "wb") as file:
            file.write(struct.pack(">BI", 0, len(message)) + message)
        return path

    def load(self, path, in_flight, seconds, *options, target=None):
        """Returns successful and failed calls per second."""
        done = subprocess.run(
            [LOAD, target or self.stack.target, QUERY, path, str(in_flight), str(seconds), "lenient", *options],
            check=True,
            capture_output=True,
            text=True,
            timeout=60 * TIMEOUT_FACTOR,
        )
        words = done.stdout.split()
        told = {name: float(value) for name, value in zip(words[::2], words[1::2])}
        return (told["calls"] - told["failed"]) / told["seconds"], told["failed"] / told["seconds"]

    def flood(self, path):
        """The words of a load of queries by CALLERS callers, none of which waits before it calls again."""
        done = subprocess.run(
            [LEAN_LOAD, self.stack.target, QUERY, path, str(CALLERS), "4", "rate=1000000", "lenient",
             f"connections={SOCKETS}", f"deadline={DEADLINE_MS}"],
            check=True, capture_output=True, text=True, timeout=60 * TIMEOUT_FACTOR)
        words = done.stdout.split()
        return {name: float(value) for name, value in zip(words[::2], words[1::2])}

    def test_newest_first(self):
        # In the order of their arrival the median would be the time in which all callers are answered once. The work
        # is the database's, so that this time is far above the delay at which the order changes.
        self.start(TAVOLA_PAGE_THREADS="1")
        told = self.flood(self.request())
        in_order_us = CALLERS * 1e6 * told["seconds"] / told["calls"]
        print(f"{told}; in order {in_order_us:.0f} us")
        self.assertLess(told["p50_us"], in_order_us / 2)
        self.assertEqual(self.caller.health(), "SERVING")

    def start_rested(self, **settings):
        """Another server on the same database, that no overload reaches; returns both addresses."""
        loaded = self.stack.target
        self.stack.new_target()
        self.stack.start_server(**settings)
        return loaded, self.stack.target

    def test_ten_times_the_load(self):
        # The work costs the database processor time, not disk time, and one thread carries it. How much of the
        # machine it gets changes within seconds while other programs run: the other server, measured in turns,
        # tells what could be had at the time.
        settings = {"TAVOLA_PAGE_THREADS": "1", "TAVOLA_MAX_WAITING": "64"}
        self.start(**settings)
        path = self.request()
        loaded, rested = self.start_rested(**settings)
        most = self.load(path, 16, 1, target=rested)[0]
        before, refused = self.load(path, 16, 1, target=loaded)
        self.assertEqual(refused, 0)
        during, refused = self.load(path, 4096, 3, f"rate={10 * max(before, most):.0f}", target=loaded)
        after = could = 0
        for _ in range(TURNS):
            good, refused_after = self.load(path, 16, 1, target=loaded)
            self.assertEqual(refused_after, 0)
            after += good / TURNS
            could += self.load(path, 16, 1, target=rested)[0] / TURNS
        print(f"good calls/s: {before:.0f} before, {during:.0f} under overload ({refused:.0f}/s refused), {after:.0f} after, "
              f"{could:.0f} of a server at rest")
        self.assertGreater(refused, 0, "the load was no overload")
        # The load generator uses processor time as well.
        self.assertGreater(during, min(before, could) / 10)
        self.assertGreater(after, could / 6)
        now = metrics.read(self.metrics)
        self.assertGreater(now.value("tavola_lane_shed_total", lane="page"), 0)
        self.assertEqual(self.caller.health(), "SERVING")

    def test_a_refusal_says_when_to_come_back(self):
        self.start(TAVOLA_PARTITION_RATE_LIMIT="5", TAVOLA_ACCOUNT_RATE_LIMIT="1000")
        put = types.message("tavola.v1.InsertOrReplaceEntityRequest")
        message = put(table="loaded", entity=entity("hot", "r")).SerializeToString()
        errors = []
        for _ in range(30):
            try:
                self.caller.raw(UPSERT, message)
            except ApiError as error:
                errors.append(error)
        self.assertGreater(len(errors), 5)
        for error in errors:
            self.assertEqual((error.code, error.reason, error.metadata["limit"]), ("RESOURCE_EXHAUSTED", "SERVER_BUSY", "5"))
            self.assertEqual(error.retry_seconds, 1)
        self.caller.insert_entity(table="loaded", entity=entity("cold", "r"))
        now = metrics.read(self.metrics)
        self.assertEqual(now.value("tavola_rate_limited_total", scope="partition"), len(errors))
        self.assertEqual(now.value("tavola_rate_limited_total", scope="account"), 0)

    def test_an_import_over_its_rate_ends_and_what_was_answered_is_there(self):
        self.start(TAVOLA_PARTITION_RATE_LIMIT="10")
        request = types.message("tavola.v1.ImportEntitiesRequest")
        # Each request costs what the partition may have in five seconds.
        messages = [request(table="loaded", entities=[entity("hot", f"{m} {i}") for i in range(50)]) for m in range(20)]
        committed = 0
        with self.assertRaises(ApiError) as caught:
            for reply in self.caller.import_entities(messages):
                committed = reply.committed
        self.assertEqual((caught.exception.code, caught.exception.reason), ("RESOURCE_EXHAUSTED", "SERVER_BUSY"))
        self.assertEqual(caught.exception.retry_seconds, 1)
        self.assertIn(committed, range(50, 20 * 50, 50))
        self.assertEqual(len(self.caller.query("loaded", "PartitionKey eq 'hot'")), committed)

    def test_compressed_requests_are_inflated_at_a_rate(self):
        self.start(TAVOLA_INFLATED_BYTES_RATE_LIMIT="1000")
        put = types.message("tavola.v1.InsertOrReplaceEntityRequest")
        large = put(table="loaded", entity=entity("p", "r", A="a" * 30000)).SerializeToString()
        upsert = self.caller.channel.unary_unary(UPSERT)
        codes = []
        with self.assertRaises(grpc.RpcError) as caught:
            for _ in range(3):
                upsert(large, timeout=20, compression=grpc.Compression.Gzip)
                codes.append("OK")
        error = ApiError(caught.exception)
        self.assertEqual(codes, ["OK"])
        self.assertEqual((error.code, error.reason, error.metadata["limit"]), ("RESOURCE_EXHAUSTED", "SERVER_BUSY", "1000"))
        upsert(large, timeout=20)
        chunk = types.message("tavola.v1.ImportEntitiesRequest")(table="loaded", entities=[entity("p", "s", A="a" * 3000)])
        stream = self.caller.channel.stream_stream("/tavola.v1.EntityService/ImportEntities")
        with self.assertRaises(grpc.RpcError) as caught:
            list(stream(iter([chunk.SerializeToString()]), timeout=20, compression=grpc.Compression.Gzip))
        self.assertEqual(ApiError(caught.exception).reason, "SERVER_BUSY")
        self.assertEqual(metrics.read(self.metrics).value("tavola_rate_limited_total", scope="inflated"), 2)

    def test_scans_and_watches_have_the_rate_of_their_account(self):
        self.start(TAVOLA_ACCOUNT_RATE_LIMIT="1")
        wait_for("a full bucket", lambda: self.outcome_of(lambda: self.caller.get_entity(table="loaded", key=key(("p", "none")))) != "SERVER_BUSY")
        scan_request, watch_request = types.message("tavola.v1.ScanEntitiesRequest"), types.message("tavola.v1.WatchEntitiesRequest")
        scan = lambda: list(self.caller.scan_entities([scan_request(query={"table": "loaded"})]))
        watch = lambda: next(iter(self.caller.watch_entities([watch_request(table="loaded")])))
        for read in (scan, watch):
            self.assertIn("SERVER_BUSY", [self.outcome_of(read) for _ in range(4)])

    def outcome_of(self, call):
        try:
            call()
            return "OK"
        except ApiError as error:
            return error.reason

    def test_waiting_calls_are_bounded(self):
        self.start(TAVOLA_MAX_WAITING="10")
        steps = [{"delete_if_exists": {"table": "loaded", "key": key(("p", "r"))}}]
        self.caller.submit_transaction(transaction_id="t", steps=steps)
        request = types.message("tavola.v1.WaitTransactionRequest")(transaction_id="t").SerializeToString()
        path = "/tavola.v1.TransactionService/WaitTransaction"
        calls = [self.caller.start(path, request, timeout=30) for _ in range(15)]
        wait_for("five refusals", lambda: sum(call.done() for call in calls) == 5)
        self.assertEqual({call.code().name for call in calls if call.done()}, {"RESOURCE_EXHAUSTED"})
        self.assertEqual(metrics.read(self.metrics).value("tavola_waiting_calls"), 10)
        for call in calls:
            call.cancel()
        wait_for("room again", lambda: metrics.read(self.metrics).value("tavola_waiting_calls") == 0)

    def test_a_thousand_connections_with_an_open_call_each(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 3 * CONNECTIONS:
            self.skipTest("too few open files are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.start()
        steps = [{"delete_if_exists": {"table": "loaded", "key": key(("p", "r"))}}]
        self.caller.submit_transaction(transaction_id="t", steps=steps)
        request = types.message("tavola.v1.WaitTransactionRequest")(transaction_id="t").SerializeToString()
        path = os.path.join(self.stack.folder, "wait")
        with open(path, "wb") as file:
            file.write(struct.pack(">BI", 0, len(request)) + request)
        idle = metrics.read(self.metrics).value("process_resident_memory_bytes")
        holder = subprocess.Popen(
            [LOAD, self.stack.target, "/tavola.v1.TransactionService/WaitTransaction", path, str(CONNECTIONS), "60"]
            + ["lenient", "hold", f"connections={CONNECTIONS}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        wait_for("all calls", lambda: metrics.read(self.metrics).value("tavola_waiting_calls") == CONNECTIONS, 60)
        with open(f"/proc/{self.stack.server.pid}/status", encoding="ascii") as file:
            peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
        print(f"memory: {idle / 1e6:.0f} MB idle, {peak / 1e6:.0f} MB at most with {CONNECTIONS} open calls")
        self.assertLess(peak - idle, CONNECTIONS * 250e3 * TIMEOUT_FACTOR)
        self.assertEqual(self.caller.health(), "SERVING")


if __name__ == "__main__":
    unittest.main()
