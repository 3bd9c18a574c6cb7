# SPDX-License-Identifier: Apache-2.0
"""Redis over TLS, and a Redis that fails over: the programs use the master that Sentinels name, and leave it when it
is no longer the master.
"""

import json
import os
import shutil
import signal
import tempfile
import unittest

from tavola_test.certificates import Authority
from tavola_test.load import Load
from tavola_test.processes import run_program
from tavola_test.redis_servers import Node, RedisCase, Sentinels
from tavola_test.waiting import wait_for


class Tls(RedisCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="redis-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority = Authority(cls.folder, "authority")
        cls.stranger = Authority(cls.folder, "stranger")
        cls.tls = {"authority": cls.authority.file, "pair": cls.authority.sign("redis")}
        cls.certificate, cls.key = cls.authority.sign("client")
        cls.ours = {"TAVOLA_REDIS_CERT": cls.certificate, "TAVOLA_REDIS_KEY": cls.key}

    def test_messages_go_over_tls(self):
        node = Node(self.stack, "redis-tls", "--requirepass", "secret", tls=self.tls)
        self.start(f"rediss://:secret@localhost:{node.port}", TAVOLA_REDIS_CA=self.authority.file, **self.ours)
        with Load(self.stack, writers=1) as load:
            self.wait_for_streaming()
            self.wait_for_messages()
        load.check()

    def test_doctor_reaches_it_with_the_same_settings(self):
        node = Node(self.stack, "redis-tls", tls=self.tls)
        given = {"TAVOLA_REDIS": f"rediss://localhost:{node.port}", **self.ours}

        def reached(**more):
            told = json.loads(run_program("tavola", "doctor", "--json", "--no-probe", settings={**given, **more}).stdout)
            return [one["severity"] for one in told["findings"] if one["part"] == "Redis" and one["what"] == "it can be reached"]

        wait_for("an answer of Redis", lambda: reached(TAVOLA_REDIS_CA=self.authority.file) == ["ok"])
        self.assertEqual(reached(TAVOLA_REDIS_CA=self.stranger.file), [])
        self.assertEqual(reached(), [])

    def why_polling(self, url, **settings):
        log = os.path.join(self.stack.folder, "tavola-worker.log")
        if os.path.exists(log):
            os.unlink(log)
        self.stack.start_worker(TAVOLA_REDIS=url, **settings)
        wait_for("polling", lambda: "queue_mode=polling" in self.stack.worker.output())
        self.stack.worker.stop()
        return self.stack.worker.output().split("queue_mode=polling")[-1]

    def test_an_untrusted_certificate_gets_no_connection(self):
        node = Node(self.stack, "redis-tls", tls=self.tls)
        url = f"rediss://localhost:{node.port}"
        elsewhere = Authority(self.folder, "elsewhere")
        other = {"authority": elsewhere.file, "pair": elsewhere.sign("other", "DNS:other.example")}
        misnamed = Node(self.stack, "redis-misnamed", tls=other)
        self.assertIn("self-signed certificate in certificate chain", self.why_polling(url, TAVOLA_REDIS_CA=self.stranger.file, **self.ours))
        # Redis refuses the connection after the handshake; the reason is read only if it arrives before the close.
        self.assertRegex(self.why_polling(url, TAVOLA_REDIS_CA=self.authority.file), "certificate|closed the connection")
        certificate, key = elsewhere.sign("client2")
        why = self.why_polling(
            f"rediss://localhost:{misnamed.port}",
            TAVOLA_REDIS_CA=elsewhere.file,
            TAVOLA_REDIS_CERT=certificate,
            TAVOLA_REDIS_KEY=key,
        )
        self.assertIn("hostname mismatch", why)
        self.assertRegex(self.why_polling(f"redis://localhost:{node.port}"), "closed|reset")

    def test_settings_that_cannot_be_meant_are_refused(self):
        good = {"TAVOLA_POSTGRES": "host=/x", "TAVOLA_LISTEN": "unix:/x", "TAVOLA_AUTHENTICATION": "none"}
        cases = (
            ({"TAVOLA_REDIS": "redis://localhost:1", "TAVOLA_REDIS_CA": self.authority.file}, "the address is without TLS"),
            ({"TAVOLA_REDIS": "rediss://localhost:1", "TAVOLA_REDIS_CERT": self.certificate}, "needs its key"),
            ({"TAVOLA_REDIS": "rediss://localhost:1", "TAVOLA_REDIS_CA": "/nowhere"}, "/nowhere cannot be used"),
            ({"TAVOLA_REDIS": "sentinel://localhost:1"}, "TAVOLA_REDIS"),
        )
        for more, why in cases:
            for program in ("tavolad", "tavola-worker"):
                result = run_program(program, settings={**good, **more})
                self.assertNotEqual(result.returncode, 0, (program, more))
                self.assertIn(why, result.stderr + result.stdout)

    def test_sentinels_over_tls(self):
        sentinels = Sentinels(self.stack, tls=self.tls)
        self.start(sentinels.url(), TAVOLA_REDIS_CA=self.authority.file, **self.ours)
        with Load(self.stack, writers=1) as load:
            self.wait_for_streaming()
            self.wait_for_messages()
        load.check()


class Failover(RedisCase):
    """Under load: callers notice nothing, and all work is done in the end."""

    def setUp(self):
        super().setUp()
        self.sentinels = Sentinels(self.stack)
        self.first, self.second = self.sentinels.nodes
        self.start(self.sentinels.url())
        self.load = Load(self.stack)

    def check_new_master(self):
        self.sentinels.wait_for_master(self.second)
        self.load.go_on()
        self.wait_for_streaming()
        self.wait_for_messages()
        self.assertGreater(int(self.second.ask("XLEN", "tavola:{q0}:intents") or -1), -1)

    def test_the_master_dies(self):
        with self.load:
            self.wait_for_streaming()
            self.first.child.kill()
            self.check_new_master()
        self.load.check()

    def test_the_master_is_told_to_step_down(self):
        with self.load:
            self.wait_for_streaming()
            self.sentinels.sentinels[0].ask("SENTINEL", "FAILOVER", "main")
            self.check_new_master()
            wait_for("the first one as a replica", lambda: self.first.role() == "slave", 30)
        self.load.check()

    def test_the_master_cannot_be_reached_and_comes_back(self):
        with self.load:
            self.wait_for_streaming()
            self.first.child.send(signal.SIGSTOP)
            self.check_new_master()
            self.first.child.send(signal.SIGCONT)
            wait_for("the first one as a replica", lambda: self.first.role() == "slave", 30)
            self.load.go_on()
            self.wait_for_messages()
        self.load.check()

    def test_a_master_without_its_replica_takes_nothing(self):
        for node in self.sentinels.nodes:
            node.ask("CONFIG", "SET", "min-replicas-to-write", "1")
        with self.load:
            self.wait_for_streaming()
            self.second.child.kill()
            self.wait_for_streaming(0)
            self.load.go_on()
            self.assertIn("NOREPLICAS", self.stack.worker.output())
            self.second.start()
            self.wait_for_streaming()
            self.wait_for_messages()
        self.load.check()

    def test_sentinels_that_are_gone_or_all_gone(self):
        with self.load:
            self.wait_for_streaming()
            for sentinel in self.sentinels.sentinels:
                sentinel.child.kill()
            self.load.go_on()
            self.wait_for_messages()
        self.load.check()


if __name__ == "__main__":
    unittest.main()
