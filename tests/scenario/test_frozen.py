# SPDX-License-Identifier: Apache-2.0
"""A database that does not answer, as on a hanging disk: connections stay open, and no statement ends."""

import re
import signal
import time
import unittest

from tavola_test import log_lines
from tavola_test.client import ApiError, entity
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

FROZEN_SECONDS = 7

# What libpq and PostgreSQL say about connections and servers.
FOREIGN_TEXT = re.compile(r"socket|libpq|server on|could not|connection to|timeout expired|SSL|host|canceling")


class Frozen(unittest.TestCase):
    def setUp(self):
        self.stack = Stack(own_postgres=True)
        self.addCleanup(self.stack.close)
        self.stack.start_server()
        self.caller = self.stack.connect()
        self.addCleanup(self.caller.channel.close)
        self.caller.create_table(name="things")

    def told(self):
        return [line["database"] for line in log_lines.of(self.stack.server.output(), "database")]

    def await_health(self, status):
        """Prints how long it takes: two seconds and a moment, on a machine that does nothing else."""
        begun = time.monotonic()
        wait_for(f"health {status}", lambda: self.stack.health(self.caller) == status)
        print(f"health {status} after {time.monotonic() - begun:.1f} s", flush=True)

    def test_it_is_told_while_it_lasts_and_so_is_its_return(self):
        begun = time.monotonic()
        self.stack.cluster.send(signal.SIGSTOP)
        self.addCleanup(self.stack.cluster.send, signal.SIGCONT)
        self.await_health("NOT_SERVING")
        self.assertEqual(self.told()[-1], "unavailable")
        self.refused_in_our_words()
        time.sleep(max(0, FROZEN_SECONDS - (time.monotonic() - begun)))  # seconds that the fault lasts
        self.stack.cluster.send(signal.SIGCONT)
        self.await_health("SERVING")
        self.assertEqual(self.told()[-1], "available")
        self.caller.insert_or_replace_entity(table="things", entity=entity("p", "r"))

    def refused_in_our_words(self):
        with self.assertRaises(ApiError) as caught:
            self.caller.insert_entity(table="things", entity=entity("p", "frozen"), timeout=3)
        self.assertIn(caught.exception.code, ("UNAVAILABLE", "DEADLINE_EXCEEDED"))

    def test_reads_that_are_given_up_do_not_keep_the_server_from_stopping(self):
        self.stack.cluster.send(signal.SIGSTOP)
        self.addCleanup(self.stack.cluster.send, signal.SIGCONT)
        with self.assertRaises(ApiError) as caught:
            self.caller.count_entities(query={"table": "things"}, timeout=2)
        self.assertIn(caught.exception.code, ("UNAVAILABLE", "DEADLINE_EXCEEDED"))
        self.assertEqual(self.stack.server.stop(), 0)

    def test_no_word_of_libpq_reaches_a_caller(self):
        self.stack.cluster.kill()
        self.await_health("NOT_SERVING")
        calls = (
            lambda: self.caller.insert_entity(table="things", entity=entity("p", "r")),
            lambda: self.caller.get_entity(table="things", key={"partition_key": "p", "row_key": "r"}),
            lambda: self.caller.query("things", ""),
            lambda: self.caller.create_table(name="others"),
            lambda: self.caller.list_tables(),
        )
        for call in calls:
            with self.assertRaises(ApiError) as caught:
                call()
            self.assertEqual((caught.exception.code, caught.exception.reason), ("UNAVAILABLE", "STORE_UNAVAILABLE"))
            self.assertNotRegex(caught.exception.message, FOREIGN_TEXT)
        self.assertRegex(self.stack.server.output(), "database=unavailable why=")


if __name__ == "__main__":
    unittest.main()
