# SPDX-License-Identifier: Apache-2.0
"""The measured programs as children of the bench, and the CPU and memory that they have used. PostgreSQL and Redis
are those of `tavola dev exec`, found in TAVOLA_POSTGRES and TAVOLA_REDIS.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile

from tavola_test import servers
from tavola_test.processes import Child, bench_program, program, run_program
from tavola_test.waiting import wait_for

_TICKS = os.sysconf("SC_CLK_TCK")
_TIMEOUT = 60  # seconds


def _stat(pid):
    """(parent, utime + stime, the same of children that have ended, stime), or None if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    times = [int(field) / _TICKS for field in fields[11:15]]
    return int(fields[1]), times[0] + times[1], times[2] + times[3], times[1]


def cpu_of(pid):
    """Seconds of one process so far, in user mode and in the kernel."""
    return _stat(pid)[1]


def cpu_of_family(pid):
    """A process and all its children, also those that have ended: PostgreSQL with its backends."""
    own = _stat(pid)
    total = own[1] + own[2]
    for name in os.listdir("/proc"):
        stat = _stat(name) if name.isdigit() else None
        if stat and stat[0] == pid:
            total += stat[1]
    return total


class Stack:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tavola-bench-")
        self.children = {}
        self.starts = {}  # how each child was started
        self.targets = {}
        self.postgres = os.environ["TAVOLA_POSTGRES"]
        self.postmaster = int(self.sql("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"))
        if self.sql("show fsync") != "on" or self.sql("show synchronous_commit") != "on":
            raise RuntimeError("PostgreSQL does not write durably: there is nothing to measure here")
        folder = self.sql("show data_directory")
        self.is_in_memory = subprocess.check_output(["stat", "-f", "-c", "%T", folder], text=True).strip() == "tmpfs"

    # ---- children ----

    def settings(self, **more):
        return {"TAVOLA_POSTGRES": self.postgres} | more

    def migrate(self, **settings):
        done = run_program("tavola", "migrate", settings=self.settings(**settings))
        if done.returncode != 0:
            raise RuntimeError(f"tavola migrate: {done.stderr.strip()}")

    def start(self, name, command, settings, awaited):
        """Start it and wait until its output has `awaited`; the target follows if `awaited` ends with a space or "=".
        """
        self.starts[name] = (command, settings, awaited)
        log = f"{self.folder}/{name}.log"
        open(log, "w", encoding="utf-8").close()  # a line of an earlier start does not count
        child = self.children[name] = Child(command, settings, log, at_our_end="TERM")

        def line():
            lines = child.output().splitlines(keepends=True)
            return next((one for one in lines if awaited in one and one.endswith("\n")), not child.is_running())

        found = wait_for(f"{awaited!r} of {name}", line, _TIMEOUT)
        if found is True:
            self.stop(name)
            raise RuntimeError(f"{name} does not start: {' '.join(child.output().split())[-500:]}")
        if awaited.endswith((" ", "=")):
            self.targets[name] = found.split(awaited)[1].split()[0].rstrip(",;")

    def start_server(self, name="tavolad", prefix=(), health=None, **settings):
        """Returns once the program is ready; TAVOLA_..._THREADS of the caller's environment apply. health: the
        options of the health command.
        """
        threads = {key: value for key, value in os.environ.items() if key.endswith("_THREADS")}
        plain = {"TAVOLA_REDIS": os.environ["TAVOLA_REDIS"], "TAVOLA_LISTEN": "127.0.0.1:0",
                 "TAVOLA_AUTHENTICATION": "none"}
        self.start(name, [*prefix, program("tavolad")], self.settings(**plain | threads | settings),
                   "event=listening address=")
        self.wait_until_serving(name, **health or {})

    def wait_until_serving(self, name, **settings):
        settings = {"TAVOLA_TARGET": self.targets[name]} | settings
        wait_for(f"{name} serving", lambda: run_program("tavola", "health", settings=settings).returncode == 0, _TIMEOUT)

    def start_echo(self, name, threads, reply_bytes):
        command = [bench_program("bench_echo_server"), str(threads), str(reply_bytes)]
        self.start(name, command, self.settings(), "listening on ")

    def start_worker(self, **settings):
        settings = self.settings(**{"TAVOLA_REDIS": os.environ["TAVOLA_REDIS"]} | settings)
        self.children["worker"] = Child([program("tavola-worker")], settings, os.devnull, at_our_end="TERM")

    def stop(self, name):
        child = self.children.pop(name, None)
        self.starts.pop(name, None)
        if child and child.is_running():
            try:
                child.stop(_TIMEOUT)
            except subprocess.TimeoutExpired:
                child.kill()

    def revive(self):
        """After a measurement that failed: servers that have ended are started again, a worker is stopped."""
        self.stop("worker")
        for name, child in list(self.children.items()):
            if not child.is_running() and name in self.starts:
                self.start(name, *self.starts[name])

    def close(self):
        for name in list(self.children):
            self.stop(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the database ----

    def sql(self, text, database=None):
        return servers.sql(database or self.postgres, text)

    @contextlib.contextmanager
    def asking(self, database=None):
        """Until the end of the `with`, a function that asks for one number over one connection."""
        with servers.session(database or self.postgres) as ask:
            yield lambda query: int(ask(query))

    # ---- CPU and memory ----

    def cpu(self, name):
        """Seconds so far; 0 if it does not run."""
        if name == "postgres":
            return cpu_of_family(self.postmaster)
        return self._stat_of(name)[1]

    def kernel_cpu(self, name):
        """The part of it that was spent in the kernel."""
        return self._stat_of(name)[3]

    def _stat_of(self, name):
        child = self.children.get(name)
        return child and _stat(child.pid) or (0, 0, 0, 0)

    def _memory(self, name, field):
        with open(f"/proc/{self.children[name].pid}/status", encoding="utf-8") as file:
            return int(re.search(rf"{field}:\s+(\d+) kB", file.read())[1]) * 1024

    def memory(self, name):
        """Resident bytes."""
        return self._memory(name, "VmRSS")

    def peak_memory(self, name):
        """The maximum of resident bytes since forget_peak."""
        return self._memory(name, "VmHWM")

    def forget_peak(self, name):
        with open(f"/proc/{self.children[name].pid}/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")
