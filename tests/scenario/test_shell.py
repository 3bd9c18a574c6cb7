# SPDX-License-Identifier: Apache-2.0
"""`tavola shell`: from a pipe, and as a person types it."""

import os
import pty
import signal
import subprocess
import tempfile
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import entity
from tavola_test.processes import program, program_environment, run_program
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.waiting import wait_for


class FromAPipe(ServerCase):
    def run_shell(self, text, code=0):
        done = run_program("tavola", "shell", settings={"TAVOLA_TARGET": self.stack.target}, text=text, seconds=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_commands_follow_each_other_over_one_connection(self):
        done = self.run_shell('table create Shelf\n# a comment\n\nentity put Shelf {"PartitionKey": "p", "RowKey": "1", "A": "x y"}\n'
                              "tavola entity put Shelf p 2 'A=it is' --insert\nquery Shelf -o csv\ncount Shelf\nexit\ncount Nowhere\n")
        self.assertEqual(done.stdout.splitlines()[2:], ["PartitionKey,RowKey,A", "p,1,x y", "p,2,it is", "2"])

    def test_a_script_ends_with_the_first_command_that_fails(self):
        done = self.run_shell("count None\ntable list\n", code=1)
        self.assertIn("TABLE_NOT_FOUND", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("there is no command", self.run_shell("cuont None\ntable list\n", code=2).stderr)
        self.assertIn("is not closed", self.run_shell("query None 'Age\n", code=2).stderr)
        self.assertIn("this is a shell", self.run_shell("shell\n", code=2).stderr)
        self.assertIn("usage: tavola count TABLE [FILTER]", self.run_shell("count --help\n").stdout)


class AsAPersonTypesIt(ServerCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.shown = b""

    def begin(self, typed_before=b""):
        self.shown = b""
        self.leader, follower = pty.openpty()
        os.write(self.leader, typed_before)
        settings = {"TAVOLA_TARGET": self.stack.target, "XDG_STATE_HOME": self.folder.name, "TERM": "xterm"}
        running = subprocess.Popen([program("tavola"), "shell"], env=program_environment(settings), stdin=follower, stdout=follower,
                                   stderr=follower, start_new_session=True)
        os.close(follower)
        os.set_blocking(self.leader, False)
        self.addCleanup(os.close, self.leader)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        self.await_text("tavola> ")
        return running

    def shows(self, text):
        try:
            self.shown += os.read(self.leader, 65536)
        except (BlockingIOError, OSError):
            pass
        return text.encode() in self.shown

    def await_text(self, text):
        wait_for(f"{text!r} in {self.shown!r}", lambda: self.shows(text))

    def type(self, text, expected):
        self.shown = b""
        os.write(self.leader, text.encode())
        self.await_text(expected)

    def test_completion_history_and_failures(self):
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("p", "r"))
        running = self.begin()
        self.type("cou\t" + table + "\r", "\n1\r\n")
        self.type("table c\tx-y\r", "INVALID")  # a table has no such name
        self.type("dead-letters \t", "redrive")
        self.type("\x15exit\r", "")
        self.assertEqual(running.wait(timeout=30), 0)
        path = os.path.join(self.folder.name, "tavola", "history")
        with open(path, encoding="utf-8") as file:
            self.assertIn(f"count\\040{table}", file.read())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        again = self.begin()
        self.type("\x1b[A\x1b[A\x1b[A\r", "\n1\r\n")
        # The terminal takes it for itself until the shell reads a line again.
        wait_for("the end", lambda: os.write(self.leader, b"\x04") and again.poll() is not None)
        self.assertEqual(again.returncode, 0)

    def test_an_end_that_was_typed_before_a_line_is_read(self):
        self.assertEqual(self.begin(typed_before=b"\x04").wait(timeout=60 * TIMEOUT_FACTOR), 0)

    def test_a_second_interrupt_ends_it(self):
        running = self.begin()
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGINT)
        wait_for("the end", lambda: running.send_signal(signal.SIGINT) or running.poll() is not None)
        self.assertEqual(running.returncode, 130)


if __name__ == "__main__":
    unittest.main()
