# SPDX-License-Identifier: Apache-2.0
"""libtavola beside a server and a worker, and a program that finds it installed, with pkg-config."""

import json
import os
import subprocess
import tempfile
import unittest

from tavola_test.case import ServerCase
from tavola_test.processes import program_environment
from tavola_test.receiver import Receiver
from tavola_test.settings import BUILD, SOURCE, TIMEOUT_FACTOR


class CClient(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        outside = {"TAVOLA_FILE_ROOT": tempfile.mkdtemp(dir=cls.stack.folder), "TAVOLA_HTTP_CALL_HOSTS": cls.receiver.host}
        cls.stack.server.stop()
        cls.stack.start_server(**outside)
        cls.stack.start_worker(**outside)

    def run_with_target(self, *command, **environment):
        settings = {"TAVOLA_TARGET": self.stack.target, **environment}
        done = subprocess.run(command, env=program_environment(settings), text=True, capture_output=True,
                              timeout=200 * TIMEOUT_FACTOR, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_group_of_calls(self):
        program = os.path.join(BUILD, "tests", "client_service")
        self.assertIn("100%", self.run_with_target(program, CK_TIMEOUT_MULTIPLIER=str(TIMEOUT_FACTOR),
                                                   TEST_RECEIVER=f"{self.receiver.url}/c"))
        post, put = self.receiver.each_once("/c")
        self.assertEqual((post.method, post.headers["Content-Type"], json.loads(post.body)["Age"]), ("POST", "application/json", 5))
        self.assertEqual((put.method, put.headers["Content-Type"], put.body), ("PUT", "text/plain", b"text"))


@unittest.skipIf(TIMEOUT_FACTOR > 1, "an instrumented library needs the sanitizers' own linking")
class InstalledLibrary(ServerCase):
    with_worker = True

    def build(self, root, *flags):
        """The example, with the flags that pkg-config gives."""
        found = {"PKG_CONFIG_PATH": os.path.join(root, "lib", "pkgconfig"), "PATH": os.environ["PATH"]}
        words = subprocess.run(["pkg-config", "--cflags", "--libs", *flags, "tavola"], env=found, text=True, capture_output=True, check=True)
        built = os.path.join(root, "orders")
        source = os.path.join(SOURCE, "examples", "c", "orders.c")
        subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-o", built, source, *words.stdout.split()], check=True)
        return built

    def test_the_example_builds_and_runs(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", root], check=True, stdout=subprocess.DEVNULL)
            built = self.build(root)
            done = subprocess.run([built], text=True, capture_output=True, check=False, timeout=120, env=program_environment(
                {"TAVOLA_TARGET": self.stack.target, "LD_LIBRARY_PATH": os.path.join(root, "lib")}))
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
            with open(os.path.join(SOURCE, "examples", "c", "orders.expected"), encoding="utf-8") as expected:
                self.assertEqual(done.stdout, expected.read())
