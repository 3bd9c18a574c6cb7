"""The parts that are measured, as children of the bench, and what CPU they have used.

PostgreSQL and Redis are those of `tavola dev exec`, found in TAVOLA_POSTGRES and TAVOLA_REDIS.
"""

import os
import shutil
import subprocess
import tempfile
import time

_TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 30  # seconds


def _stat(pid):
    """(parent, utime + stime, the same of children that have ended) or None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    times = [int(field) / _TICKS for field in fields[11:15]]
    return int(fields[1]), times[0] + times[1], times[2] + times[3]


def cpu_of(pid):
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
    def __init__(self, programs):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="tavola-bench-")
        self.children = {}
        self.postgres = os.environ["TAVOLA_POSTGRES"]
        self.postmaster = int(self.sql("select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"))

    # ---- children ----

    def _environment(self, **settings):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TAVOLA_")}
        return plain | {"TAVOLA_POSTGRES": self.postgres} | settings

    def program(self, name):
        return os.path.join(self.programs, name)

    def migrate(self):
        subprocess.run([self.program("tavola"), "migrate"], env=self._environment(), stdout=subprocess.DEVNULL, check=True)

    def _start(self, name, command, environment, awaited):
        """Started, and what follows `awaited` in its output."""
        path = f"{self.folder}/{name}.log"
        with open(path, "w", encoding="utf-8") as log:
            child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.children[name] = child
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and child.poll() is None:
            with open(path, encoding="utf-8", errors="replace") as log:
                for line in log:
                    if awaited in line and line.endswith("\n"):
                        return line.split(awaited)[1].split()[0] if awaited.endswith(" ") else ""
            time.sleep(0.02)
        with open(path, encoding="utf-8", errors="replace") as log:
            raise RuntimeError(f"{name} does not start:\n{log.read()}")

    def start_server(self):
        settings = {name: value for name, value in os.environ.items() if name.endswith("_THREADS")}
        environment = self._environment(
            TAVOLA_REDIS=os.environ["TAVOLA_REDIS"],
            TAVOLA_LISTEN="127.0.0.1:0",
            TAVOLA_AUTHENTICATION="none",
            **settings,
        )
        self.target = self._start("tavolad", [self.program("tavolad")], environment, "listening on ").rstrip(",;")

    def start_echo(self, threads, reply_bytes):
        command = [self.program("../bench/bench_echo_server"), str(threads), str(reply_bytes)]
        self.echo_target = self._start("echo", command, self._environment(), "listening on ")

    def start_worker(self):
        environment = self._environment(TAVOLA_REDIS=os.environ["TAVOLA_REDIS"])
        self.children["worker"] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", self.program("tavola-worker")],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self, name):
        child = self.children.pop(name, None)
        if child and child.poll() is None:
            child.terminate()
            try:
                child.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def close(self):
        for name in list(self.children):
            self.stop(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the database ----

    def sql(self, text):
        command = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, self.postgres]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    # ---- CPU ----

    def cpu(self, name):
        """Seconds so far; 0 for what is not running."""
        if name == "postgres":
            return cpu_of_family(self.postmaster)
        child = self.children.get(name)
        return cpu_of(child.pid) if child else 0
