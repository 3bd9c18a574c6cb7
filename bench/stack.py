# SPDX-License-Identifier: Apache-2.0
"""The parts that are measured, as children of the bench, and what CPU and memory they have used.

PostgreSQL and Redis are those of `tavola dev exec`, found in TAVOLA_POSTGRES and TAVOLA_REDIS.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 60  # seconds


def _stat(pid):
    """(parent, utime + stime, the same of children that have ended, stime) or None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    times = [int(field) / _TICKS for field in fields[11:15]]
    return int(fields[1]), times[0] + times[1], times[2] + times[3], times[1]


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
    def __init__(self, programs):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="tavola-bench-")
        self.children = {}
        self.starts = {}  # how each child was started
        self.targets = {}
        self.postgres = os.environ["TAVOLA_POSTGRES"]
        self.postmaster = int(self.sql("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"))
        if self.sql("show fsync") != "on" or self.sql("show synchronous_commit") != "on":
            raise RuntimeError("PostgreSQL does not write durably: there is nothing to measure here")

    # ---- children ----

    def environment(self, **settings):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TAVOLA_")}
        return plain | {"TAVOLA_POSTGRES": self.postgres} | settings

    def program(self, name):
        return os.path.join(self.programs, name)

    def migrate(self, **settings):
        subprocess.run([self.program("tavola"), "migrate"], env=self.environment(**settings), stdout=subprocess.DEVNULL,
                       check=True)

    def start(self, name, command, environment, awaited, prefix=()):
        """Start it and wait for what it says; its target follows if that ends with a space or "="."""
        self.starts[name] = (command, environment, awaited, prefix)
        path = f"{self.folder}/{name}.log"
        with open(path, "w", encoding="utf-8") as log:
            child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *prefix, *command], env=environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)
        self.children[name] = child
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and child.poll() is None:
            with open(path, encoding="utf-8", errors="replace") as log:
                for line in log:
                    if awaited in line and line.endswith("\n"):
                        if awaited.endswith((" ", "=")):
                            self.targets[name] = line.split(awaited)[1].split()[0].rstrip(",;")
                        return
            time.sleep(0.02)
        self.stop(name)
        with open(path, encoding="utf-8", errors="replace") as log:
            raise RuntimeError(f"{name} does not start: {' '.join(log.read().split())[-500:]}")

    def start_server(self, name="tavolad", prefix=(), health=None, **settings):
        """Ready when it returns; TAVOLA_..._THREADS of the caller reach it. health: what it takes to ask."""
        threads = {key: value for key, value in os.environ.items() if key.endswith("_THREADS")}
        plain = {"TAVOLA_REDIS": os.environ["TAVOLA_REDIS"], "TAVOLA_LISTEN": "127.0.0.1:0",
                 "TAVOLA_AUTHENTICATION": "none"}
        self.start(name, [self.program("tavolad")], self.environment(**plain | threads | settings),
                   "event=listening address=", prefix)
        self.wait_until_serving(name, **health or {})

    def wait_until_serving(self, name, **settings):
        environment = self.environment(TAVOLA_TARGET=self.targets[name], **settings)
        environment.pop("TAVOLA_POSTGRES")
        end = time.monotonic() + _PATIENCE
        while subprocess.run([self.program("tavola"), "health"], env=environment, capture_output=True,
                             check=False).returncode:
            if time.monotonic() > end:
                raise RuntimeError(f"{name} does not become ready")
            time.sleep(0.05)

    def start_echo(self, name, threads, reply_bytes):
        command = [self.program("../bench/bench_echo_server"), str(threads), str(reply_bytes)]
        self.start(name, command, self.environment(), "listening on ")

    @staticmethod
    def flush_redis():
        address = os.environ["TAVOLA_REDIS"]
        where = ["-s", address.removeprefix("unix:")] if address.startswith("unix:") else ["-u", address]
        subprocess.run(["redis-cli", *where, "flushall"], stdout=subprocess.DEVNULL, check=True)

    def start_worker(self, **settings):
        environment = self.environment(**{"TAVOLA_REDIS": os.environ["TAVOLA_REDIS"]} | settings)
        self.children["worker"] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", self.program("tavola-worker")], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self, name):
        child = self.children.pop(name, None)
        self.starts.pop(name, None)
        if child and child.poll() is None:
            child.terminate()
            try:
                child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def revive(self):
        """After a measurement that failed: servers that have ended are started again, a worker is stopped."""
        self.stop("worker")
        for name, child in list(self.children.items()):
            if child.poll() is not None and name in self.starts:
                self.start(name, *self.starts[name])

    def close(self):
        for name in list(self.children):
            self.stop(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the database ----

    def sql(self, text, database=None):
        command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, database or self.postgres]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()

    @contextlib.contextmanager
    def asking(self, database=None):
        """A function that asks for one number, over one connection: psql takes longer to start than to answer."""
        with subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", database or self.postgres], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as psql:

            def ask(query):
                psql.stdin.write(f"{query};\n")
                psql.stdin.flush()
                return int(psql.stdout.readline())

            yield ask

    # ---- CPU and memory ----

    def cpu(self, name):
        """Seconds so far; 0 for what is not running."""
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
        """The most resident bytes since forget_peak."""
        return self._memory(name, "VmHWM")

    def forget_peak(self, name):
        with open(f"/proc/{self.children[name].pid}/clear_refs", "w", encoding="utf-8") as file:
            file.write("5")
