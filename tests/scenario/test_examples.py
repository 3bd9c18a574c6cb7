# SPDX-License-Identifier: Apache-2.0
"""The examples run unchanged, beside a server and a worker."""

import os
import subprocess
import sys
import unittest

from tavola_test.ports import free_port
from tavola_test.processes import program_environment
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack


# The last line that each example prints. Those of indexes end with an entity found through the index after a write.
PATTERNS = {
    "departments": "   Jones 0 0 19",
    "compound_key": "   with compound(): a~1b_c and a_b~1c",
    "data_series": "   the last one of the day goes to 2026-01-31 H23 and the next to 2026-02-01 H00",
    "eventually_consistent_transaction": "   afterwards: current 2026, archive 2019",
    "high_volume_delete": "entities that expire by themselves: no call at all, see docs/writes.md",
    "large_entities": "   two in one batch: of 2027, of 2028",
    "wide_entities": "   found by a property: 2026 runs stops",
    "log_tail": "   rows read: 10",
    "prepend_append": "   01_2026-01-31T12 0000000077",
    "intra_partition_index": "   22 rows examined, found 22: sales/000102 sales/000107 sales/000112 ...",
    "inter_partition_index": "   1 rows examined, found 1: sales/000007",
    "index_entities_blob": "   looked up: 000002 000007 000012 000017",
    "index_entities_same_partition": "   sales/Jones has 49 members: ['sales', '000007'] ['sales', '000012'] ...",
    "index_entities_other_partition": "   Jones/ has 199 members: ['finance', '000007'] ['finance', '000012'] ...",
    "unique_index": "   1 rows examined, found 1: sales/000007",
}


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

    def test_patterns(self):
        """Each example comes to its end; docs_commands compares its whole output with its page."""
        with Stack() as stack:
            stack.start_server()
            stack.start_worker()
            for name, last in PATTERNS.items():
                with self.subTest(pattern=name):
                    ended = self.run_example(f"patterns/{name}.py", stack.target)
                    self.assertEqual(ended.stdout.splitlines()[-1], last)

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
