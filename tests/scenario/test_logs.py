# SPDX-License-Identifier: Apache-2.0
"""The logs of the programs and of PostgreSQL, as administrators read them."""

import os
import re
import signal
import time
import unittest

from tavola_test import log_lines, metrics
from tavola_test.client import entity
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

TROUBLE = re.compile(r"^.*\b(?:ERROR|FATAL|PANIC|WARNING):.*$", re.M)


class WhatPostgresLogs(unittest.TestCase):
    """The test has a cluster of its own, so that the log holds lines of this scenario only."""

    def setUp(self):
        self.made = Stack(own_postgres=True)
        self.addCleanup(self.made.close)
        self.before = len(self.made.cluster.server.output())  # lines of programs that waited for the cluster to start
        self.made.start_server()
        self.made.start_worker()

    def test_changes_of_the_catalogue_are_no_errors(self):
        with self.made.connect() as caller:
            caller.create_table(name="things")
            for number in range(8):
                self.write(caller, number)  # each server thread has a catalogue, which the next change makes stale
                caller.create_table(name=f"other{number}")
            self.write(caller, 9)
            caller.create_index(index={
                "name": "thingsByP", "table": "things", "shape": 1, "place": 2, "partition_key": [{"property": "P"}]
            })
            wait_ready(caller, "thingsByP")
            self.write(caller, 10)
            caller.delete_table(name="things")
        log = self.made.cluster.server.output()[self.before:]
        self.assertEqual(TROUBLE.findall(log), [], "PostgreSQL was given reason to complain")

    def write(self, caller, number):
        for row in range(8):
            caller.insert_or_replace_entity(table="things", entity=entity("p", f"{row}", P=f"v{number}"))


class TheFormOfALog(unittest.TestCase):
    def setUp(self):
        self.made = Stack()
        self.addCleanup(self.made.close)

    def check(self, program, debug_event):
        """Lines are JSON; SIGUSR1 adds those of level debug, SIGUSR2 leaves them out again."""
        levels = lambda: [line["log_level"] for line in log_lines.of(program.output(), "log_level")]
        debug = lambda: [line for line in log_lines.events(program.output()) if line["level"] == "debug"]
        self.assertTrue(all(line.startswith("{") for line in program.output().splitlines()))
        self.assertEqual(debug(), [])
        program.process.send_signal(signal.SIGUSR1)
        wait_for("everything is logged", lambda: levels() == ["debug"])
        debug_event()
        wait_for("a line of level debug", debug)
        program.process.send_signal(signal.SIGUSR2)
        wait_for("the level of the setting", lambda: levels() == ["debug", "info"])
        before = len(debug())
        debug_event()
        self.assertEqual(len(debug()), before)

    def test_json_and_the_level_at_run_time(self):
        self.made.start_server(TAVOLA_LOG_FORMAT="json")
        with self.made.connect() as caller:
            self.check(self.made.server, lambda: caller.list_tables())

    def test_a_worker_takes_the_signals_too(self):
        self.made.start_worker(TAVOLA_LOG_FORMAT="json")
        levels = lambda: [line["log_level"] for line in log_lines.of(self.made.worker.output(), "log_level")]
        wait_for("a worker that is ready", lambda: log_lines.of(self.made.worker.output(), "ready"))
        for number, wanted in ((signal.SIGUSR1, "debug"), (signal.SIGUSR2, "info")):
            self.made.worker.process.send_signal(number)
            wait_for(wanted, lambda: levels()[-1:] == [wanted])
        self.assertIsNone(self.made.worker.process.poll())


class WhatAnOutageLogs(unittest.TestCase):
    OUTAGE_SECONDS = 4

    def setUp(self):
        self.made = Stack()
        self.addCleanup(self.made.close)
        self.path = os.path.join(self.made.folder, "metrics")
        self.made.start_worker(TAVOLA_WORKER_METRICS_LISTEN="unix:" + self.path)

    def told(self):
        return [line["database"] for line in log_lines.of(self.made.worker.output(), "database")]

    def test_an_outage_is_told_once_however_long_it_lasts(self):
        wait_for("the worker to work", lambda: self.told() == ["available"])
        wait_for("its metrics", lambda: self.made.accepts("unix:" + self.path))
        self.made.postgres_down()
        wait_for("the worker to say so", lambda: len(self.told()) == 2)
        end = time.monotonic() + self.OUTAGE_SECONDS
        while time.monotonic() < end:
            self.assertEqual(metrics.read(self.path).value("tavola_database_available"), 0)
        self.assertEqual(self.told(), ["available", "unavailable"])
        self.made.postgres_up()
        wait_for("the end of it", lambda: len(self.told()) == 3)
        self.assertEqual(self.told(), ["available", "unavailable", "available"])


class TheFormOfLines(unittest.TestCase):
    """Stack.close parses the log lines that the programs of all scenarios write."""

    HEAD = "time=2026-11-22T08:00:01.250Z level=warn program=tavolad event=database"

    def test_what_is_well_formed(self):
        self.assertEqual(log_lines.parse(self.HEAD + r' why="say \"no\"\n\u0007 \\" n=1')["why"], 'say "no"\n\a \\')
        self.assertEqual(log_lines.parse(self.HEAD + ' why="" at=x:80')["why"], "")

    def test_what_is_not(self):
        for line in ("listening on 127.0.0.1:1", self.HEAD + " a=b=c", self.HEAD + ' a="b', self.HEAD + " a= b=1",
                     self.HEAD + " a=1  b=2", self.HEAD + ' a="\t"', self.HEAD + " level=info", self.HEAD + " ",
                     "level=warn " + self.HEAD):
            with self.assertRaises(ValueError):
                log_lines.parse(line)


if __name__ == "__main__":
    unittest.main()
