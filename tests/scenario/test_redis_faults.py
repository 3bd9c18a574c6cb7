# SPDX-License-Identifier: Apache-2.0
"""Redis is disposable: if it fails in any way under load, callers notice nothing, no work is lost, and none is done
twice.
"""

import os
import shutil
import signal
import statistics
import unittest

from tavola_test import metrics
from tavola_test.load import Load
from tavola_test.redis_servers import RedisCase
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.waiting import wait_for

# If writes waited for Redis, each would take as long as Redis is given, which is seconds. The median and its multiple leave room for a
# machine that stands still now and then.
SLOWER = 20
LEAST_SECONDS = 0.025 * TIMEOUT_FACTOR


class Faults(RedisCase):
    def setUp(self):
        super().setUp()
        self.stack.start_redis()
        self.server_metrics = os.path.join(self.stack.folder, "ms")
        self.start("unix:" + self.stack.redis_socket, TAVOLA_METRICS_LISTEN="unix:" + self.server_metrics)
        self.load = Load(self.stack)

    def go_on(self, writes=200):
        seconds = self.load.go_on(writes)
        usual = statistics.median(self.load.at_first)
        print(f"{len(seconds)} writes: median {statistics.median(seconds):.4f} s, at first {usual:.4f}, slowest {seconds[-5:]}", flush=True)
        self.assertLess(statistics.median(seconds), SLOWER * max(usual, LEAST_SECONDS))

    def command(self, *words):
        answer = self.stack.redis_command(*words)
        self.assertFalse(answer.startswith(b"-"), answer)

    def messages(self):
        return sum(self.stack.messages(shard) for shard in range(4))

    def wait_until_server_publishes(self, want=1):
        wait_for(
            f"tavola_queue_available {want}",
            lambda: metrics.read(self.server_metrics).value("tavola_queue_available") == want,
        )

    def wait_until_back(self):
        self.wait_for_streaming()
        self.wait_for_messages()
        self.wait_until_server_publishes()

    def test_flushed_again_and_again(self):
        with self.load:
            self.wait_for_streaming()
            for _ in range(10):
                self.command("FLUSHALL")
                self.go_on(30)
            self.wait_until_back()
        self.load.check()

    def test_killed_and_started_again(self):
        with self.load:
            self.wait_for_streaming()
            for _ in range(2):
                self.stack.redis.kill()
                self.wait_for_streaming(0)
                self.wait_until_server_publishes(0)
                self.go_on()
                self.stack.start_redis()
                self.wait_until_back()
        self.load.check()

    def test_stopped_for_a_while(self):
        with self.load:
            self.wait_for_streaming()
            self.stack.redis.send(signal.SIGSTOP)
            self.wait_for_streaming(0)
            self.go_on(600)
            self.stack.redis.send(signal.SIGCONT)
            self.wait_until_back()
        self.load.check()

    def test_rewound_to_an_old_snapshot(self):
        """After a restore of an old Redis snapshot: messages of finished work come back, and the newest messages are
        missing.
        """
        dump, kept = (os.path.join(self.stack.folder, name) for name in ("dump.rdb", "kept.rdb"))
        with self.load:
            self.wait_for_streaming()
            # Without workers no message is claimed, so the snapshot is full of messages.
            self.stack.worker.send(signal.SIGSTOP)
            wait_for("messages", lambda: self.messages() > 50)
            self.command("SAVE")
            shutil.copy(dump, kept)
            self.stack.worker.send(signal.SIGCONT)
            self.go_on()
            self.stack.redis.kill()
            shutil.copy(kept, dump)
            self.stack.start_redis()
            self.go_on()
            self.wait_until_back()
        self.load.check()

    def test_full(self):
        with self.load:
            self.wait_for_streaming()
            self.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
            self.command("CONFIG", "SET", "maxmemory", "1")
            self.wait_for_streaming(0)
            self.go_on()
            self.command("CONFIG", "SET", "maxmemory", "0")
            self.wait_until_back()
        self.load.check()


if __name__ == "__main__":
    unittest.main()
