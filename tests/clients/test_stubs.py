# SPDX-License-Identifier: Apache-2.0
"""The examples in Go and Java, with stubs that protoc generates: each is compiled and run where its tools are installed."""

import os
import shutil
import subprocess
import tempfile
import unittest

from tavola_test.case import ServerCase
from tavola_test.ports import free_port
from tavola_test.processes import program, run_program
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.waiting import wait_for

PRINTED = "query: 0002 Grace\nlook-up: 0001 36\nagain: {} ENTITY_ALREADY_EXISTS\n"


def has(*names):
    """Whether all of these are there: files by their path, programs by their name."""
    return all(os.path.exists(name) if name.startswith("/") else shutil.which(name) for name in names)


class Stubs(ServerCase):
    with_worker = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        port = free_port()  # these libraries know no Unix sockets, or need more for them
        cls.target = f"127.0.0.1:{port}"
        cls.second = cls.stack.start("tavolad-tcp", [program("tavolad")], cls.stack.server_settings(TAVOLA_LISTEN=cls.target))
        wait_for("the server", lambda: run_program("tavola", "--target", cls.target, "health").returncode == 0)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_words(self, *words):
        done = subprocess.run(words, text=True, capture_output=True, check=False, timeout=300 * TIMEOUT_FACTOR)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def build(self, language):
        self.run_words("sh", os.path.join(SOURCE, "examples", language, "build.sh"), self.folder.name)

    @unittest.skipUnless(has("javac", "protoc", "grpc_java_plugin", "/usr/share/java/grpc-netty.jar", "/usr/share/java/netty-codec-http2.jar"),
                         "the packages of examples/java/build.sh are not installed: ./dev test installs them where there is a JDK")
    def test_java(self):
        self.build("java")
        jars = self.run_words("sh", os.path.join(SOURCE, "examples/java/build.sh"), "--jars").strip()
        printed = self.run_words("java", "-cp", f"{self.folder.name}:{jars}", "FirstSteps", self.target)
        self.assertEqual(printed, PRINTED.format("ALREADY_EXISTS"))

    @unittest.skipUnless(has("go", "protoc", "protoc-gen-go", "/usr/share/gocode/src/google.golang.org/grpc",
                             "/usr/share/gocode/src/github.com/golang/protobuf"),
                         "the packages of examples/go/build.sh are not installed")
    def test_go(self):
        self.build("go")
        printed = self.run_words(os.path.join(self.folder.name, "first_steps"), self.target)
        self.assertEqual(printed, PRINTED.format("AlreadyExists"))


if __name__ == "__main__":
    unittest.main()
