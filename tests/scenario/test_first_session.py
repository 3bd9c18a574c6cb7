# SPDX-License-Identifier: Apache-2.0
"""A newcomer's first session, with the seconds of each step: from the programs to a query through an index and a dead letter
that is cured. The transcript is printed; the stack is that of ./dev run, behind its installation and build.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from tavola_test import servers
from tavola_test.ports import free_port
from tavola_test.processes import Child, program, program_environment, run_program
from tavola_test.waiting import wait_for

# A defect of the database: it refuses the entries of one name until it is mended.
BREAK = """
create function refuse_entries() returns trigger language plpgsql as $$ begin raise exception 'the disk of this row is broken'; end $$;
create trigger refuse_entries before insert on entities for each row when (new.partition_key = 'Grace') execute function refuse_entries();
"""
MEND = "drop trigger refuse_entries on entities; drop function refuse_entries()"
# Retries wait longer each time, minutes in all: the test does not.
HURRY = "update dead_letters set next_try = now() where not dead"


class FirstSession(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chmod(self.folder.name, 0o755)  # PostgreSQL of root runs as another user
        self.target = f"127.0.0.1:{free_port()}"
        self.lines, self.begun = [], time.monotonic()

    def tell(self, text, begun):
        self.lines.append(f"{time.monotonic() - begun:6.2f} s  {text}")

    def start(self):
        begun = time.monotonic()
        settings = {"TAVOLA_DEV_DATA": os.path.join(self.folder.name, "data"), "TAVOLA_LISTEN": self.target}
        self.log = os.path.join(self.folder.name, "log")
        stack = Child([program("tavola"), "dev", "run"], settings, self.log, at_our_end="TERM")
        self.addCleanup(self.stop, stack)
        wait_for("the stack", lambda: not stack.is_running() or "Ctrl-C stops everything" in stack.output(), 60)
        self.assertTrue(stack.is_running(), stack.output())
        self.tell("tavola dev run", begun)
        shown = subprocess.run([program("tavola"), "dev", "status"], env=program_environment(settings), capture_output=True, text=True, check=True)
        self.postgres = re.search(r"^postgres (.*)$", shown.stdout, re.M)[1]

    @staticmethod
    def stop(stack):
        stack.send(signal.SIGINT)
        stack.wait()

    def tavola(self, *words, text=""):
        begun = time.monotonic()
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.target}, text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.tell("tavola " + " ".join(words), begun)
        return done.stdout

    def await_output(self, what, state, pattern, *words):
        """Wait until the dead letters have this state, and then until a command prints this."""
        begun = time.monotonic()

        def shown():
            done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.target})
            return re.search(pattern, done.stdout)

        wait_for(what, lambda: servers.sql(self.postgres, f"{HURRY}; select {state} from dead_letters") == "t", 60)
        wait_for(what, shown, 60)
        self.tell(what, begun)

    def test_from_the_programs_to_an_indexed_query_and_a_cured_dead_letter(self):
        self.start()
        self.tavola("table", "create", "people")
        self.tavola("entity", "put", "people", "sales", "0001", "Name=Ada", "Age:int32=36")
        self.tavola("index", "create", "byName", "people", "Name")
        found = json.loads(self.tavola("lookup", "byName", "Ada", "--latest"))
        self.assertEqual(found["RowKey"], "0001")
        indexed = time.monotonic() - self.begun

        servers.sql(self.postgres, BREAK)
        self.tavola("entity", "put", "people", "sales", "0002", "Name=Grace", "Age:int32=45")
        self.await_output("the work is given up after ten attempts", "count(*) = 1 and bool_and(dead)", "dead letters: 1 dead", "top", "--once")
        servers.sql(self.postgres, MEND)
        self.assertIn("1 redriven", self.tavola("dead-letters", "redrive", "all"))
        self.assertEqual(json.loads(self.tavola("lookup", "byName", "Grace", "--latest"))["RowKey"], "0002")
        self.await_output("no dead letter is left", "count(*) = 0", "dead letters: 0 dead, 0 discarded; 0 being retried", "top", "--once")
        print("\n" + "\n".join(self.lines), f"\n{indexed:6.2f} s  to the indexed query, {time.monotonic() - self.begun:.2f} s in all", flush=True)


if __name__ == "__main__":
    unittest.main()
