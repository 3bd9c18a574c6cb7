# SPDX-License-Identifier: Apache-2.0
"""A change of the number of queues, and an outage of Redis: no work is stuck, and none is published again and again."""

import os
import statistics
import time
import unittest

from tavola_test import metrics, servers
from tavola_test.client import BatchOperation, entity, value
from tavola_test.load import Load
from tavola_test.poison import Poison
from tavola_test.redis_servers import RedisCase
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.waiting import wait_for

KEYS = 400
ROUNDS = 5
RESHARD = 5
MAX_WAITING = 4096
FAILING, FAILING_SECONDS = 2000, 10
BACKLOG = 5000


class Queues(RedisCase):
    round = 0

    def setUp(self):
        super().setUp()
        self.stack.start_redis()
        self.url = "unix:" + self.stack.redis_socket
        self.ask = self.enterContext(servers.session(self.stack.conninfo(self.stack.database)))

    def begin_worker(self, **settings):
        """A new process of the worker, whose counters begin at zero."""
        if self.stack.worker:
            self.assertEqual(self.stack.worker.stop(), 0)
        if os.path.exists(self.worker_metrics):
            os.unlink(self.worker_metrics)
        self.stack.start_worker(
            TAVOLA_REDIS=self.url, TAVOLA_WORKER_METRICS_LISTEN="unix:" + self.worker_metrics, **settings
        )
        wait_for("the worker's metrics", lambda: self.stack.accepts("unix:" + self.worker_metrics))

    def begin_server(self, **settings):
        if self.stack.server:
            self.assertEqual(self.stack.server.stop(), 0)
        self.stack.start_server(TAVOLA_REDIS=self.url, **settings)

    def open_intents(self):
        return int(self.ask("select count(*) from intents"))

    # the shard map

    def test_the_number_of_streams_changes(self):
        """Under load, without a restart: new intents go to the streams of the new map, and none is lost."""
        self.begin_server()
        self.begin_worker()
        load = Load(self.stack)
        with load, self.stack.connect() as caller:
            self.wait_for_streaming()
            for shards in (7, 2, 5):
                self.assertEqual(len(caller.control_queue(control=RESHARD, shards=shards).queues), shards)
                wait_for("server and worker to follow", lambda: self.stack.logs().count(f"queues={shards} map") == 2)
                load.go_on(20, 1)
                before = self.stream_ids()
                load.go_on(100, 20)
                moved = self.moved(before)
                print(f"{shards} queues, in use: {sorted(moved)}", flush=True)
                self.assertLessEqual(moved, set(range(shards)))
                self.assertGreaterEqual(len(moved), min(shards, 4))
        load.check()

    def stream_ids(self):
        """The last message of each existing stream."""
        last = {}
        for shard in range(8):
            info = self.stack.redis_command("XINFO", "STREAM", f"tavola:{{q{shard}}}:intents")
            words = info.decode().split()
            if "last-generated-id" in words:
                last[shard] = words[words.index("last-generated-id") + 2]  # after the end of the stream
        return last

    def moved(self, before):
        """The streams that got a message since then."""
        now = self.stream_ids()
        return {shard for shard in now if now[shard] != before.get(shard)}

    # backlogs

    def fill(self):
        """Write every key several times while no worker runs."""
        Load(self.stack)  # table and index
        self.assertEqual(self.stack.worker.stop(), 0)
        with self.stack.connect() as caller:
            for number in range(ROUNDS):
                for first in range(0, KEYS, 100):
                    rows = [entity("p", f"{row:04}", Owner=f"o{number}") for row in range(first, first + 100)]
                    operations = [BatchOperation(insert_or_replace=one) for one in rows]
                    caller.execute_batch(table="source", operations=operations)
        self.assertEqual(self.open_intents(), KEYS * ROUNDS)

    def check_drained(self):
        wait_for("no open intent", lambda: self.open_intents() == 0, 60)
        with self.stack.connect() as caller:
            owners = [found.partition_key for found in caller.query("byOwner")]
        self.assertEqual(len(owners), KEYS)
        self.assertEqual(len(set(owners)), 1)

    def test_a_backlog_of_a_worker_outage(self):
        self.begin_server()
        self.begin_worker()
        self.fill()
        self.begin_worker_after_stop()
        self.check_drained()
        self.check_published_at_most(KEYS * ROUNDS)

    def test_a_backlog_of_a_redis_outage(self):
        self.begin_server()
        self.begin_worker()
        self.fill()
        self.stack.redis_command("FLUSHALL")
        self.begin_worker_after_stop()
        self.check_drained()
        self.check_published_at_most(2 * KEYS * ROUNDS)

    def test_a_flush_under_a_large_backlog_is_made_good_in_portions(self):
        """A stream never holds the whole backlog, and a new write does not wait for the backlog."""
        self.begin_server()
        self.begin_worker()
        self.fill()
        self.stack.sql("update queue_map set queues = 1, version = version + 1")
        with self.stack.connect() as caller:
            for partition in range(56):
                for first in range(0, 200, 100):
                    rows = [entity(f"f{partition}", f"{row:04}", Owner="o") for row in range(first, first + 100)]
                    operations = [BatchOperation(insert_or_replace=one) for one in rows]
                    caller.execute_batch(table="source", operations=operations)
        self.stack.redis_command("FLUSHALL")
        backlog = self.open_intents()
        self.assertGreater(backlog, 3 * MAX_WAITING)
        longest = 0
        self.begin_worker_after_stop()

        def is_drained():
            nonlocal longest
            longest = max(longest, self.stack.messages(0))
            return self.open_intents() == 0

        wait_for("no open intent", is_drained, 120)
        print(f"{backlog} open: at most {longest} in the queue", flush=True)
        self.assertGreater(longest, 0)
        self.assertLess(longest, 2 * MAX_WAITING)

    def test_a_backlog_of_one_partition_goes_as_fast_as_one_of_many(self):
        """After FLUSHALL, and while workers poll."""
        self.begin_server()
        self.begin_worker()
        Load(self.stack)  # table and index
        for away in (False, True):
            many, one = [self.drain_of(partitions, away) for partitions in (50, 1)]
            print(f"{BACKLOG} open{', no Redis' if away else ''}: of many partitions {many:.1f} s, of one {one:.1f} s", flush=True)
            self.assertLess(one, 6 * many + 2 * TIMEOUT_FACTOR)

    def drain_of(self, partitions, redis_away):
        """Seconds that the workers take for a backlog in this many partitions."""
        self.assertEqual(self.stack.worker.stop(), 0)
        each = BACKLOG // partitions
        with self.stack.connect() as caller:
            for partition in range(partitions):
                for first in range(0, each, 100):
                    rows = [entity(f"b{partition}", f"{row:04}", Owner=f"o{self.round}") for row in range(first, min(first + 100, each))]
                    caller.execute_batch(table="source", operations=[BatchOperation(insert_or_replace=one) for one in rows])
        self.round += 1
        self.assertEqual(self.open_intents(), BACKLOG)
        self.stack.redis_command("FLUSHALL")
        if redis_away:
            self.stack.redis.kill()
        self.begin_worker_after_stop()
        wait_for("the worker's first commit", lambda: self.open_intents() < BACKLOG)
        began = time.monotonic()
        wait_for("no open intent", lambda: self.open_intents() == 0, 120)
        elapsed = time.monotonic() - began
        if redis_away:
            self.stack.start_redis()
        return elapsed

    def test_work_that_fails_does_not_crowd_out_what_is_fresh(self):
        """Counted in retries, not in seconds: a slow machine takes longer for each."""
        self.begin_server()
        self.begin_worker()
        Load(self.stack)  # table and index
        Poison(self.stack, "source").put()
        with self.stack.connect() as caller:
            began = time.monotonic()
            for partition in range(FAILING // 20):
                rows = [entity(f"bad{partition}", f"poison{row}", Owner="o") for row in range(20)]
                operations = [BatchOperation(insert_or_replace=one) for one in rows]
                caller.execute_batch(table="source", operations=operations)
            wait_for("every first try", lambda: self.ask("select count(*) from dead_letters") == str(FAILING), 60)
            failures, latest = self.failures(), float(self.ask("select extract(epoch from max(next_try) - now()) from dead_letters"))
            tried = time.monotonic()
            meanwhile = []
            while time.monotonic() < tried + FAILING_SECONDS:
                meanwhile.append(self.failures_until_shown(caller, f"{len(meanwhile):04}"))
        print(f"{failures:.0f} failures of {FAILING} keys in {tried - began:.0f} s, the last one is tried again after {latest:.0f} s; "
              f"{len(meanwhile)} fresh writes, each shown after {statistics.median(meanwhile):.0f} more failures (median), "
              f"{max(meanwhile):.0f} (most)", flush=True)
        self.assertGreater(self.failures(), failures)
        # Each of two threads has 50 permits and gets 25 a second: one has given away half of the failures' permits.
        self.assertGreater(tried - began + latest, (failures / 2 - 50) / 25 / 2)
        self.assertLess(statistics.median(meanwhile), FAILING / 2)

    def failures(self):
        return metrics.read(self.worker_metrics).value("tavola_worker_retries_total")

    def failures_until_shown(self, caller, row):
        """How many attempts fail while a look-up waits for the write."""
        before = self.failures()
        written = caller.insert_or_replace_entity(table="source", entity=entity("good", row, Owner=row))
        found = caller.lookup_index(
            index="byOwner", equals=[value(row)], freshness={"at_least": [written.result.consistency_token]},
            timeout=60 * TIMEOUT_FACTOR)
        self.assertEqual(len(found.entities), 1)
        return self.failures() - before

    def begin_worker_after_stop(self):
        self.stack.worker = None
        self.begin_worker()

    def check_published_at_most(self, most):
        sample = metrics.read(self.worker_metrics)
        relayed, taken = sample.value("tavola_relay_published_total"), sample.value("tavola_worker_claimed_total")
        print(f"{KEYS * ROUNDS} intents of {KEYS} keys: {relayed:.0f} published by the relay, {taken:.0f} taken", flush=True)
        self.assertLessEqual(relayed, most)
        self.assertLessEqual(taken, most + KEYS * ROUNDS)
        self.assertEqual(sample.value("tavola_worker_retries_total"), 0)


if __name__ == "__main__":
    unittest.main()
