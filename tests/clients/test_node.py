# SPDX-License-Identifier: Apache-2.0
"""Runs test_node.mjs with the packed and installed Node package beside a server, which is killed and started on request."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from test_orders import FOLDER as ORDERS
from test_orders import OrdersCase
from tavola_test.processes import Child, program_environment, run_program
from tavola_test.receiver import Receiver
from tavola_test.settings import BUILD, SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(BUILD, "node")
LEFT_OUT = 77
MAX_BYTES = 2 << 30  # of memory that the test may write to; it takes less than a tenth


class Restarts(threading.Thread):
    """Kills the stack's server and starts it again whenever the file is there, and removes the file then."""

    def __init__(self, stack, flag, settings):
        super().__init__(daemon=True)
        self.stack, self.flag, self.settings, self.over = stack, flag, settings, threading.Event()

    def run(self):
        while not self.over.wait(0.02):
            if self.flag.exists():
                self.stack.server.send(signal.SIGKILL)
                self.stack.server.wait()
                self.stack.start_server(wait=False, **self.settings)
                self.flag.unlink()


class Node(unittest.TestCase):
    def test_the_package(self):
        shutil.copy(HERE / "test_node.mjs", FOLDER)
        with Stack() as stack, contextlib.closing(Receiver()) as receiver:
            made = run_program("tavola", "account", "create", "acme", settings={"TAVOLA_POSTGRES": stack.postgres})
            outside = {"TAVOLA_FILE_ROOT": tempfile.mkdtemp(dir=stack.folder), "TAVOLA_HTTP_CALL_HOSTS": receiver.host}
            stack.start_server(**outside)
            stack.start_worker(**outside)
            restarts = Restarts(stack, pathlib.Path(stack.folder, "restart"), outside)
            restarts.start()
            environment = {
                "TEST_TARGET": stack.target,
                "TEST_RESTART": str(restarts.flag),
                "TEST_SOURCE": SOURCE,
                "TEST_RECEIVER": f"{receiver.url}/node",
                "TEST_FILES": outside["TAVOLA_FILE_ROOT"],
                "TEST_KEY": made.stdout.split()[2],
                "TEST_TAVOLA": os.path.join(BUILD, "bin/tavola"),
            }
            # Memory that grows without bound ends the test, and not what runs beside it.
            child = Child(["prlimit", f"--data={MAX_BYTES}", "node", "--test-reporter=tap", str(FOLDER / "test_node.mjs")], environment,
                          os.path.join(stack.folder, "node.txt"))
            try:
                wait_for("the end of the test", lambda: child.exit_code() is not None, 120)
            except AssertionError as late:
                raise AssertionError(child.output()[-8000:]) from late
            finally:
                child.kill()
                restarts.over.set()
                restarts.join()
            self.assertEqual(child.exit_code(), 0, child.output()[-8000:])
            post, put = receiver.each_once("/node")
            self.assertEqual((post.method, post.headers["Content-Type"], json.loads(post.body)["Name"]), ("POST", "application/json", "Ada"))
            self.assertEqual((put.method, put.headers["Content-Type"], put.body), ("PUT", "text/plain", b"text"))

    def test_its_version_is_that_of_the_tree(self):
        """The package has the version of the newest release, as the whole tree has."""
        package = json.loads(pathlib.Path(SOURCE, "clients/node/package.json").read_text(encoding="utf-8"))
        newest = re.search(r"^## (\d+\.\d+\.\d+)", pathlib.Path(SOURCE, "CHANGELOG.md").read_text(encoding="utf-8"), re.M)[1]
        self.assertEqual(package["version"], newest)
        for version in package["dependencies"].values():
            self.assertRegex(version, r"^\d+\.\d+\.\d+$")


class Page(unittest.TestCase):
    """docs/node.md as a reader follows it: in a folder of their own, with the source tree in ~/tavola."""

    page = pathlib.Path(SOURCE, "docs/node.md").read_text(encoding="utf-8")

    def block(self, before):
        """The lines of the first block behind these words."""
        lines = self.page[self.page.index(before) + len(before):].splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("    "))
        last = next(number for number in range(first, len(lines)) if lines[number] and not lines[number].startswith("    "))
        return "".join(line[4:] + "\n" for line in lines[first:last]).strip() + "\n"

    def test_its_command_installs_and_its_program_prints_what_it_says(self):
        install = self.block("install the package from the source tree:")
        self.assertRegex(install, r"^\$ npm pack .* && npm install .*\n$")
        with Stack() as stack, tempfile.TemporaryDirectory() as home:
            stack.start_server()
            stack.start_worker()
            pathlib.Path(home, "tavola").symlink_to(FOLDER / "stage")
            own = pathlib.Path(home, "own")
            own.mkdir()
            (own / "first.mjs").write_text(self.block("A first program, `first.mjs`:"), encoding="utf-8")
            environment = {**program_environment({"TAVOLA_TARGET": stack.target}), "HOME": home, "npm_config_cache": str(FOLDER / "npm"),
                           "npm_config_prefer_offline": "true", "npm_config_audit": "false"}
            done = subprocess.run(["bash", "-ec", install[2:] + "node first.mjs >printed"], cwd=own, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120 * TIMEOUT_FACTOR)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual((own / "printed").read_text(encoding="utf-8"), self.block("It prints:"))


class Orders(OrdersCase):
    def test_node(self):
        shutil.copy(os.path.join(ORDERS, "orders.mjs"), FOLDER)
        self.check("node", str(FOLDER / "orders.mjs"))


if __name__ == "__main__":
    got = subprocess.run(["sh", HERE / "get_node_client.sh", FOLDER], stdout=subprocess.PIPE, text=True, check=False)
    print(got.stdout, end="")
    if got.returncode != 0:
        sys.exit(LEFT_OUT if got.returncode == LEFT_OUT else 1)
    unittest.main()
