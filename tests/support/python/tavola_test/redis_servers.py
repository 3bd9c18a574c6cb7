# SPDX-License-Identifier: Apache-2.0
"""Redis as operators run it: over TLS, and as several servers with Sentinels."""

import os
import subprocess
import sys
import unittest

from tavola_test import metrics
from tavola_test.ports import free_port
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for


class Node:
    """A Redis, or a Sentinel, on a TCP port."""

    def __init__(self, stack, name, *words, tls=None):
        self.stack, self.name, self.port = stack, name, free_port()
        self.folder = os.path.join(stack.folder, name)
        os.mkdir(self.folder)
        self.tls = tls
        self.words = [*words, *self.tls_words()]
        self.child = None
        self.start()

    def tls_words(self):
        if not self.tls:
            return ["--port", str(self.port)]
        certificate, key = self.tls["pair"]
        words = ["--port", "0", "--tls-port", str(self.port), "--tls-replication", "yes"]
        words += ["--tls-cert-file", certificate, "--tls-key-file", key]
        return [*words, "--tls-ca-cert-file", self.tls["authority"], "--tls-auth-clients", "yes"]

    def start(self):
        words = [*self.words, "--bind", "127.0.0.1", "--dir", self.folder]
        self.child = self.stack.start(self.name, [self.stack.redis_program(), *words])
        wait_for(self.name, lambda: self.ask("PING").startswith(("PONG", "NOAUTH")))

    def ask(self, *words):
        """The answer to a command as redis-cli prints it; empty if no server answers."""
        where = ["-h", "127.0.0.1", "-p", str(self.port)]
        if self.tls:
            certificate, key = self.tls["pair"]
            where += ["--tls", "--cacert", self.tls["authority"], "--cert", certificate, "--key", key]
        result = subprocess.run(
            ["redis-cli", *where, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
        )
        return result.stdout.strip() if result.returncode == 0 else ""

    def role(self):
        return self.ask("ROLE").split("\n")[0]


class Sentinels:
    """A master, a replica, and three Sentinels, of which two decide."""

    def __init__(self, stack, tls=None):
        self.tls = tls
        self.nodes = [Node(stack, "redis-a", "--save", "", tls=tls)]
        follow = ["--replicaof", "127.0.0.1", str(self.nodes[0].port)]
        self.nodes.append(Node(stack, "redis-b", "--save", "", *follow, tls=tls))
        self.sentinels = [self.start_sentinel(stack, number) for number in range(3)]
        self.wait_until_watched()

    def start_sentinel(self, stack, number):
        config = os.path.join(stack.folder, f"sentinel{number}.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"sentinel monitor main 127.0.0.1 {self.nodes[0].port} 2\n")
            file.write("sentinel down-after-milliseconds main 700\nsentinel failover-timeout main 2000\n")
        return Node(stack, f"sentinel{number}", config, "--sentinel", tls=self.tls)

    def wait_until_watched(self):
        """Every Sentinel knows the others and the replica, so that they can decide on a fail-over."""

        def is_whole(sentinel):
            lines = sentinel.ask("SENTINEL", "MASTER", "main").split("\n")
            known = dict(zip(lines[::2], lines[1::2]))
            return known.get("num-slaves") == "1" and known.get("num-other-sentinels") == "2"

        for sentinel in self.sentinels:
            wait_for(f"{sentinel.name} seeing all", lambda sentinel=sentinel: is_whole(sentinel), 30)
        other = next(node for node in self.nodes if node is not self.master())
        wait_for("a replica in step", lambda: "master_link_status:up" in other.ask("INFO", "replication"), 30)

    def master(self):
        """The node that all Sentinels name as the master."""
        named = {sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main").split("\n")[-1] for sentinel in self.sentinels}
        return next((node for node in self.nodes if named == {str(node.port)}), None)

    def wait_for_master(self, node):
        wait_for(f"{node.name} as the master", lambda: self.master() is node and node.role() == "master", 30)

    def url(self):
        places = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"sentinel{'s' if self.tls else ''}://{places}/main"


class RedisCase(unittest.TestCase):
    """A stack whose Redis the test starts, and what its worker logs about it."""

    def setUp(self):
        self.stack = Stack(redis=False)
        self.addCleanup(self.stack.close)
        self.addCleanup(self.keep_logs)
        self.worker_metrics = os.path.join(self.stack.folder, "mw")

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        out = super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print(self.logs, file=sys.stderr)
        return out

    def keep_logs(self):
        self.logs = self.stack.logs()

    def start(self, url, **settings):
        settings = {"TAVOLA_REDIS": url, **settings}
        self.stack.start_server(**settings)
        self.stack.start_worker(TAVOLA_WORKER_METRICS_LISTEN="unix:" + self.worker_metrics, **settings)
        wait_for("the worker's metrics", lambda: self.stack.accepts("unix:" + self.worker_metrics))

    def worker(self, name, **labels):
        return metrics.read(self.worker_metrics).value(name, **labels)

    def wait_for_streaming(self, want=1):
        wait_for(f"streaming={want}", lambda: self.worker("tavola_worker_streaming") == want, 30)

    def wait_for_messages(self):
        """Wait until a message has come through Redis after now."""
        before = self.worker("tavola_worker_claimed_total", source="queue")
        wait_for("a message", lambda: self.worker("tavola_worker_claimed_total", source="queue") > before, 30)
