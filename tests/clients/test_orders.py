# SPDX-License-Identifier: Apache-2.0
"""The order system of examples/orders in each language: every program prints the same."""

import os
import subprocess
import unittest

from tavola_test.processes import program_environment, run_program
from tavola_test.settings import BIN, SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack

FOLDER = os.path.join(SOURCE, "examples/orders")
PRINTED = """\
orders of acme: acme/1001 acme/1002 acme/1003
orders of 2026-03-02: acme/1002 globex/1005
open: acme/1001 acme/1003 globex/1004 globex/1006
archived: acme/1002 globex/1005
seen: 6 inserted 2 changed 2 deleted
acme sees: acme/1001 acme/1003
acme may not delete: AUTHORIZATION_PERMISSION_MISMATCH
"""


class OrdersCase(unittest.TestCase):
    """A stack for the class; every program has an account of its own on it."""

    accounts = 0

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server(TAVOLA_AUTHENTICATION="required")
        cls.stack.start_worker()

    def check(self, *command):
        OrdersCase.accounts += 1
        account = f"shop{OrdersCase.accounts}"
        made = run_program("tavola", "account", "create", account, settings={"TAVOLA_POSTGRES": self.stack.postgres})
        environment = {"TAVOLA_TARGET": self.stack.target, "TAVOLA_ACCOUNT_KEY": made.stdout.split()[2]}
        environment["PATH"] = f"{BIN}:{os.environ['PATH']}"
        ended = subprocess.run([*command, account], env=program_environment(environment), text=True, capture_output=True, check=False,
                               timeout=100 * TIMEOUT_FACTOR)
        self.assertEqual((ended.stdout, ended.returncode), (PRINTED, 0), ended.stderr + self.stack.logs())


class Orders(OrdersCase):
    def test_python(self):
        self.check(os.path.join(FOLDER, "orders.py"))

    def test_shell(self):
        self.check(os.path.join(FOLDER, "orders.sh"))


if __name__ == "__main__":
    unittest.main()
