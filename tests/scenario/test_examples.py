# SPDX-License-Identifier: Apache-2.0
"""The examples run unchanged, beside a server and a worker. docs_commands runs those of patterns, and compares all that they print."""

import os
import subprocess
import sys
import unittest

from tavola_test.ports import free_port
from tavola_test.processes import program_environment
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack


class Examples(unittest.TestCase):
    def run_example(self, name, *arguments):
        script = os.path.join(SOURCE, "examples", name)
        ended = subprocess.run([sys.executable, "-B", script, *arguments], env=program_environment({}), text=True,
                               capture_output=True, timeout=120 * TIMEOUT_FACTOR, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended

    def test_reason(self):
        with Stack(redis=False) as stack:
            stack.start_server()
            with stack.connect() as caller:
                caller.create_table(name="People")
            self.assertEqual(self.run_example("reason.py", "people", stack.target).stdout, "found\n")
            self.assertEqual(self.run_example("reason.py", "nosuch", stack.target).stdout,
                             "NOT_FOUND TABLE_NOT_FOUND {'table': 'nosuch'}\n")

    def test_azure_rest(self):
        port = free_port()
        with Stack(redis=False) as stack:
            stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
            said = self.run_example("azure_rest.py", f"http://127.0.0.1:{port}/devstoreaccount1").stdout
        self.assertEqual(said, "412 UpdateConditionNotSatisfied\nGrace 37\nO'Neil 50\n")

    def test_first_steps(self):
        with Stack() as stack:
            stack.start_server()
            stack.start_worker()
            ended = self.run_example("first_steps.py", stack.target)
        for line in (
            "the second replace: UPDATE_CONDITION_NOT_SATISFIED",
            "imported 200 rejected 0",
            "counted 212",
            "scanned 212",
            "looked up [('sales', '0001'), ('sales', '0099')]",
            "transaction TRANSACTION_STATE_DONE after 1 attempt(s)",
            "deleted 200",
            "done",
        ):
            self.assertIn(line, ended.stdout)


if __name__ == "__main__":
    unittest.main()
