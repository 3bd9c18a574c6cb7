# SPDX-License-Identifier: Apache-2.0
"""`tavola top` as a person sees it: in a terminal of tmux, under load, with its keys."""

import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import entity
from tavola_test.processes import program, run_program
from tavola_test.waiting import wait_for


@unittest.skipUnless(shutil.which("tmux"), "tmux is not installed")
class Top(ServerCase):
    with_worker = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.create_table(name="Busy")
        cls.client.create_index(index={"name": "BusyByName", "table": "Busy", "shape": 1, "place": 2,
                                       "partition_key": [{"property": "Name"}]})
        cls.done = threading.Event()
        cls.load = threading.Thread(target=cls.write)
        cls.load.start()
        cls.addClassCleanup(cls.load.join)
        cls.addClassCleanup(cls.done.set)

    @classmethod
    def write(cls):
        number = 0
        while not cls.done.is_set():
            number += 1
            cls.client.insert_or_replace_entity(table="Busy", entity=entity("p", str(number % 50), {"Name": f"n{number % 7}"}))
            cls.done.wait(0.01)  # the load of a quiet service

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-S", os.path.join(self.folder.name, "tmux"), "-f", "/dev/null", *words], text=True,
                              capture_output=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
        return done.stdout

    def words(self, settings=""):
        return f"trap : INT; env {settings} TAVOLA_TARGET={self.stack.target} {program('tavola')} top; echo code $?; sleep 60"

    def begin(self, columns, rows):
        self.tmux("new-session", "-d", "-s", "top", "-x", str(columns), "-y", str(rows), self.words())
        self.addCleanup(self.tmux, "kill-server")

    def begin_again(self, settings):
        """Another one in the same terminal, which is cleared."""
        self.tmux("respawn-pane", "-k", "-t", "top", self.words(settings))

    def pane(self):
        return self.tmux("capture-pane", "-p", "-t", "top").splitlines()

    def await_line(self, pattern):
        """The first line of the pane that has the pattern."""
        found = []

        def look():
            found[:] = [line for line in self.pane() if re.search(pattern, line)]
            return found

        wait_for(f"{pattern} in the pane", look, 30)
        return found[0]

    def press(self, *keys):
        self.tmux("send-keys", "-t", "top", *keys)

    def test_200_columns_under_load(self):
        self.begin(200, 50)
        self.await_line(r"^tavola \d.*unix:")
        line = self.await_line(r"^EntityService/InsertOrReplaceEntity +\d+\.\d +[▁-█]+ .*ms .*ms")
        self.assertRegex(line, r"[▂-█]")
        self.await_line(r"^BusyByName +READY ")
        self.await_line(r"^q0 +RECONCILE +RUNNING ")
        self.await_line(r"^  Hot partitions \(\d+\)$")
        for row in self.pane():
            self.assertLessEqual(len(row), 200)

    def test_80_columns_and_the_keys(self):
        self.begin(80, 24)
        self.await_line(r"^> Methods \(\d+\)$")
        self.await_line(r"^EntityService/InsertOrReplaceEntity +\d+\.\d +\d+\.\d ")
        self.press("4")
        self.await_line(r"^> Indexes \(1\)$")
        self.press("/", "n", "o", "n", "e", "Enter")
        self.await_line(r"^> Indexes \(0\)$")
        self.await_line(r"^filtered by none ")
        self.press("/", "Escape")
        self.await_line(r"^> Indexes \(1\)$")
        self.press("h")
        self.await_line(r"^p +pause or resume the chosen queue")
        self.press("h", "3")
        self.await_line(r"^> Queues \(16\)$")
        self.press("s", "s", "s", "s")  # by the queue, then by its work
        self.press("p")
        asked = self.await_line(r"^pause queue (\S+ \S+)\? y/n$").split()
        self.press("n")
        self.await_line(r"^q quit")
        self.press("p")
        self.await_line(r"\? y/n$")
        self.press("y")
        self.await_line(rf"^{asked[2]} +{asked[3][:-1]} +PAUSED ")
        self.client.control_queue(control=2)
        self.press("q")
        self.await_line("^code 0$")

    def test_workers_and_what_they_do(self):
        self.stack.start_worker(TAVOLA_WORKER_NAME="second")
        second = self.stack.worker
        self.addCleanup(second.kill)
        self.begin(200, 60)
        self.press("6")
        self.await_line(r"^> Workers \(2\)$")
        self.await_line(r"^\S+-\d+ +(waits|\d+ claimed) +[1-9]\d*\.\d +[▁-█]+ +\d+\.\d +0 +16 +\d")
        self.await_line(r"^second +(waits|\d+ claimed) ")
        second.kill()
        self.await_line(r"^second +.* (([6-9]|\d\d)(\.\d)? s|\d+(\.\d)? min)")  # one that runs reports more often

    def test_slow_calls_by_table_and_access_path(self):
        """The table is large enough that a filter without keys takes more than a millisecond."""
        self.client.create_table(name="Slow")
        self.client.load("Slow", [entity("p", f"{n:05}", {"Name": "x" * 200}) for n in range(5000)])
        self.assertEqual(self.client.query_entities(query={"table": "Slow", "filter": "Name eq 'secret'"}).entities[:], [])
        said = self.client.list_server_samples()
        slow = [one for one in said.slowest if one.table == "Slow" and one.method == "EntityService/QueryEntities"]
        self.assertEqual([(one.account, one.access_path, one.calls, one.rows_examined) for one in slow], [("default", 5, 1, 5000)])
        self.assertGreater(slow[0].slowest.ToMicroseconds(), 1000)
        self.assertEqual(slow[0].mean, slow[0].slowest)
        self.assertNotIn("secret", str(said))
        order = [one.slowest.ToMicroseconds() for one in said.slowest]
        self.assertEqual(order, sorted(order, reverse=True))
        self.begin(200, 60)
        self.press("2")
        self.await_line(r"^QueryEntities +\d+\.\d ms +\d+\.\d ms +1 Slow +TABLE_SCAN +5000")

    def test_it_follows_the_size_of_the_terminal(self):
        self.begin(80, 24)
        self.await_line(r"^> Methods")
        self.tmux("resize-window", "-t", "top", "-x", "160", "-y", "40")
        self.await_line(r"^EntityService/InsertOrReplaceEntity +\d+\.\d +[▁-█]+ ")
        self.tmux("resize-window", "-t", "top", "-x", "40", "-y", "12")
        self.await_line(r"^EntityService/InsertOrRe +\d+\.\d")
        wait_for("lines that fit", lambda: all(len(line) <= 40 for line in self.pane()))
        self.press("C-c")
        self.await_line("^code 0$")

    def test_it_has_no_colours(self):
        """With and without NO_COLOR: titles are bold, underlined or reversed, and the terminal keeps its colours."""
        self.begin(80, 24)
        for settings in ("", "NO_COLOR=1"):
            with self.subTest(settings):
                self.begin_again(settings)
                self.await_line(r"^EntityService/InsertOrReplaceEntity +\d+\.\d ")
                styles = set(re.findall(r"\033\[([0-9;:]*)m", self.tmux("capture-pane", "-e", "-p", "-t", "top")))
                self.assertIn("1", styles)
                for style in styles:
                    for number in re.split("[;:]", style):
                        self.assertNotRegex(number, r"^([34][0-7]|[34]8|9[0-7]|10[0-7])$")

    def test_without_a_terminal_it_prints_plain_pages(self):
        done = run_program("tavola", "top", "--once", settings={"TAVOLA_TARGET": self.stack.target, "TERM": "xterm"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\033", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^BusyByName +Busy +READY ")
        self.assertRegex(done.stdout, r"(?m)^\S+-\d+ +\d\.\d s +\d+ +\d+ +\d+ +0 +16 *$")

    def test_a_server_that_is_gone_is_said(self):
        self.tmux("new-session", "-d", "-s", "top", "-x", "80", "-y", "24", f"env TAVOLA_TARGET=unix:/nowhere {program('tavola')} top; sleep 60")
        self.addCleanup(self.tmux, "kill-server")
        self.await_line("(UNAVAILABLE|DEADLINE_EXCEEDED)")
        self.press("q")


if __name__ == "__main__":
    unittest.main()
