# SPDX-License-Identifier: Apache-2.0
"""The crash matrix: every failpoint of the sources, every fault there, at the first and at the second passage.

A process of the product is started with the failpoint armed while callers write all the time; what else it takes
to pass the point comes from provocations.py, and a point for which that is not enough is a failure. Faults:

  kill      SIGKILL at the point; it is started again
  stop      SIGSTOP at the point, until every lease is over, another process has done the work and all is as it
            has to be; then SIGCONT
  error     the call at the point fails
  X         SIGSTOP at the point; X; SIGCONT: what the process relies on has gone under its hands
  X+kill    SIGSTOP at the point; X; SIGKILL: both at the same point

where X is one of postgres (all its processes killed, started again), redis (killed, started again, empty) and
flush (FLUSHALL). After each: every caller goes on, everything comes to rest, and invariants.py must hold.

Run as a program it is the whole matrix, with several stacks at once, and prints a table.
"""

import argparse
import collections
import functools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

from tavola_test.callers import UNKNOWN_OUTCOME
from tavola_test.client import ApiError
from tavola_test.driver import SERVER, TROUBLES, WORKER, Driver
from tavola_test.outside_callers import BlobStepper, Holder
from tavola_test.provocations import provocation_of
from tavola_test.servers import DatabaseAway
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.waiting import wait_for
from tavola_test.wide_callers import WideWriter

FAULTS = ("kill", "stop", "error", *TROUBLES, *(trouble + "+kill" for trouble in TROUBLES))
HITS = (1, 2)
FOLDERS = ("service", "workers", "store", "chunks", "queue", "rpc")
REPORT_EVERY = 50
os.environ.setdefault("TEST_BLOB_STORE", "directory")  # which has points of its own, and all those of the database
PROVOKE_PAUSE = 0.1
PROVOKE_SECONDS = 3


@functools.cache
def points_in_sources():
    """{name of the failpoint: whether its call can fail}"""
    found = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(SOURCE, folder)):
            for name in sorted(names):
                if name.endswith(".c"):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        points = re.findall(r'FAILPOINT(_TRY)?\("([^"]+)"', file.read())
                    found.update({point: bool(can_fail) for can_fail, point in points})
    return dict(sorted(found.items()))


def cases(points, hits=HITS):
    """All cases of these points: (point, fault, hit)."""
    can_fail = points_in_sources()
    return [
        (point, fault, hit)
        for point in points
        for fault in FAULTS
        for hit in hits
        if fault != "error" or can_fail[point]
    ]


class Passages:
    """The log of a process with failpoints, of which each look reads what is new."""

    def __init__(self, path):
        self.path, self.size, self.counts = path, 0, collections.Counter()

    def of(self, point):
        """How often the point was passed."""
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as log:
                log.seek(self.size)
                self.counts.update(log.read().split())
                self.size = log.tell()
        return self.counts[point]


class Provoker(threading.Thread):
    """Calls provoke() until it is told to stop; some answers get lost."""

    def __init__(self, stack, provocation):
        super().__init__(daemon=True)
        self.stack, self.provocation = stack, provocation
        self.stopping = threading.Event()
        self.failure = None

    def run(self):
        while not self.stopping.wait(PROVOKE_PAUSE) and not self.failure:
            if not self.stack.accepts():
                continue
            try:
                with self.stack.connect(seconds=PROVOKE_SECONDS) as caller:
                    self.provocation.provoke(caller)
            except ApiError as error:
                if error.code not in UNKNOWN_OUTCOME:
                    self.failure = error
            except (DatabaseAway, OSError):  # PostgreSQL or Redis is the faulty part
                continue
            except Exception as failure:  # an exception is given to the driver, which fails with it
                self.failure = failure

    def end(self):
        self.stopping.set()
        self.join(60 * TIMEOUT_FACTOR)
        if self.failure:
            raise AssertionError(f"provoking: {self.failure!r}") from self.failure


class Cases(Driver):
    """Runs cases one after the other."""

    def start_all(self):
        super().start_all()
        limbo = self.workload.limbo
        for caller in (Holder, BlobStepper, WideWriter):
            self.workload.add(caller(self.stack, caller.__name__.lower(), 0, limbo))

    def start_armed(self, role, point, action, hit):
        self.passages = Passages(os.path.join(self.stack.folder, f"points{self.number}"))
        self.running(role).kill()
        return self.start(role, TAVOLA_FAILPOINT=f"{point}:{action}:{hit}", TAVOLA_FAILPOINT_LOG=self.passages.path)

    # one case

    def run(self, point, fault, hit):
        self.number += 1
        trouble, _, killed = fault.partition("+")
        action = fault if fault in ("kill", "error") else "stop"
        self.provocation = provocation_of(point)(self.stack, self.poison, self.number)
        role = self.provocation.role
        with self.stack.connect() as caller:
            self.provocation.prepare(caller)
        self.workload.limbo.is_open = True
        target = self.start_armed(role, point, action, hit)
        self.reach(target, point, action, hit)
        if fault == "kill":
            self.start(role)
        elif fault == "stop":
            self.replace_and_continue(role, target)
        elif trouble in TROUBLES:
            self.make_trouble(trouble)
            if killed:
                target.kill()
                self.start(role)
            else:
                target.send(signal.SIGCONT)
        self.provoker.end()
        self.settle()
        self.workload.limbo.is_open = False
        self.go_on()

    def reach(self, target, point, action, hit):
        """Let callers and provoker work until the process reaches the point."""

        def reached():
            self.workload.check_callers()
            if self.provoker.failure:
                self.provoker.end()
            if action == "kill":
                return not target.is_running()
            if not target.is_running():
                raise AssertionError(f"it ended with {target.exit_code()}:\n{target.output()[-2000:]}")
            return target.is_stopped() if action == "stop" else self.passages.of(point) >= hit

        self.provoker = Provoker(self.stack, self.provocation)
        self.provoker.start()
        try:
            wait_for(f"passage {hit} of {point}", reached, 30)
        finally:
            self.provoker.stopping.set()
        if action == "kill" and target.exit_code() != -signal.SIGKILL:
            raise AssertionError(f"it ended with {target.exit_code()}:\n{target.output()[-2000:]}")

    def replace_and_continue(self, role, late):
        """Another process does the work and must find everything right before the stopped one continues."""
        if role == SERVER:
            self.stack.new_target()
        other = self.start(role, name="two")
        self.provoker.end()
        self.settle()
        self.go_on()
        late.send(signal.SIGCONT)
        self.go_on()
        late.kill()
        promise_alive(other)

    def settle(self):
        wait_for("a server", self.stack.accepts)
        self.stack.wait_until_serving()
        with self.stack.connect() as caller:
            self.repeatedly(self.provocation.settle, caller)

    @staticmethod
    def repeatedly(settle, caller):
        """Wait until no answer gets lost: the process that was hit may notice late that its connections are closed."""

        def settled():
            try:
                settle(caller)
                return True
            except ApiError as error:
                if error.code not in UNKNOWN_OUTCOME:
                    raise
                return False

        wait_for("an answer", settled, 60)

    def pass_all(self):
        """Pass every point once, without a fault."""
        self.number += 1
        self.passages = Passages(os.path.join(self.stack.folder, "passed"))
        for role in (SERVER, WORKER):
            self.running(role).kill()
            self.start(role, TAVOLA_FAILPOINT_LOG=self.passages.path)
        self.stack.wait_until_serving()
        kinds = {provocation_of(point) for point in points_in_sources()} - {None}
        for kind in sorted(kinds, key=lambda kind: kind.__name__):
            self.number += 1
            self.provocation = kind(self.stack, self.poison, self.number)
            wanted = [point for point in points_in_sources() if provocation_of(point) is kind]
            with self.stack.connect() as caller:
                self.provocation.prepare(caller)
            self.provoker = Provoker(self.stack, self.provocation)
            self.provoker.start()
            try:
                for point in wanted:
                    wait_for(f"a passage of {point}", lambda point=point: self.passages.of(point), 30)
            finally:
                self.provoker.end()
            self.settle()
        self.go_on()


def promise_alive(child):
    if not child.is_running():
        raise AssertionError(f"a process ended with {child.exit_code()}:\n{child.output()[-2000:]}")


# ---- the campaign ----


def run_cases(chosen, seed, report):
    """After a failure begin again with a new stack, so that one broken case does not hide others."""
    driver = None
    for case in chosen:
        began = time.monotonic()
        try:
            driver = driver or Cases(seed)
            driver.run(*case)
            report(case, time.monotonic() - began, None)
        except Exception as failure:  # every exception belongs to this case
            logs = driver.stack.logs() if driver else ""
            report(case, time.monotonic() - began, f"{type(failure).__name__}: {failure}\n{logs}")
            if driver:
                driver.close()
            driver = None
    if driver:
        driver.close()


def print_line(case, seconds, failure):
    print(json.dumps([*case, round(seconds, 1), failure]), flush=True)


def start_part(points, arguments):
    argv = ["setpriv", "--pdeathsig", "TERM", sys.executable, "-B", __file__, "--part", ",".join(points), "--seed", str(arguments.seed)]
    argv += ["--hits", arguments.hits, "--faults", arguments.faults]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


class Table:
    def __init__(self, folder, expected):
        self.cells = {}
        self.folder = folder
        self.expected = expected
        self.failures = 0
        self.lock = threading.Lock()

    def read(self, part):
        for line in part.stdout:
            point, fault, hit, seconds, failure = json.loads(line)
            with self.lock:
                self.note(point, fault, hit, seconds, failure)

    def note(self, point, fault, hit, seconds, failure):
        self.cells[point, fault, hit] = "ok" if failure is None else "FAIL"
        if len(self.cells) % REPORT_EVERY == 0:
            print(f"{len(self.cells)} of {self.expected} cases", flush=True)
        if failure is None:
            return
        self.failures += 1
        path = os.path.join(self.folder, f"{point}-{fault}-{hit}.log")
        with open(path, "w", encoding="utf-8") as log:
            log.write(failure)
        print(f"FAILED {point} {fault} {hit} after {seconds} s: {failure.splitlines()[0][:300]}\n  {path}", flush=True)

    def cell(self, point, fault, hits):
        found = [self.cells.get((point, fault, hit), "-") for hit in hits]
        return " ".join(found)

    def show(self, points, faults, hits):
        width = max(len(point) for point in points)
        widths = [max(len(fault), 3 * len(hits) - 1) for fault in faults]
        head = "  ".join(fault.ljust(size) for fault, size in zip(faults, widths))
        print(f"{'point'.ljust(width)}  {head}")
        for point in points:
            cells = [self.cell(point, fault, hits).ljust(size) for fault, size in zip(faults, widths)]
            print(f"{point.ljust(width)}  {'  '.join(cells)}".rstrip())


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev crash", description="every failpoint x every fault")
    parser.add_argument("--points", default="", help="those whose names begin so, divided by commas; all")
    parser.add_argument("--faults", default=",".join(FAULTS), help=f"some of {','.join(FAULTS)}")
    parser.add_argument("--hits", default=",".join(map(str, HITS)), help="which passages")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--logs", default=".", help="folder for the logs of failures")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    arguments = read_arguments()
    faults = arguments.faults.split(",")
    hits = [int(hit) for hit in arguments.hits.split(",")]
    if arguments.part:
        chosen = [case for case in cases(arguments.part.split(","), hits) if case[1] in faults]
        run_cases(chosen, arguments.seed, print_line)
        return 0
    starts = tuple(arguments.points.split(","))
    points = [point for point in points_in_sources() if point.startswith(starts)]
    unknown = [point for point in points if not provocation_of(point)]
    if unknown or not points:
        print(f"crash: no workload for {', '.join(unknown)}" if unknown else "crash: no such point")
        return 1
    began = time.monotonic()
    table = Table(arguments.logs, sum(fault in faults for _, fault, _ in cases(points, hits)))
    parts = [start_part(points[n :: arguments.jobs], arguments) for n in range(min(arguments.jobs, len(points)))]
    readers = [threading.Thread(target=table.read, args=(part,)) for part in parts]
    for reader in readers:
        reader.start()
    for part, reader in zip(parts, readers):
        reader.join()
        table.failures += part.wait() != 0
    table.show(points, faults, hits)
    print(
        f"crash: {len(points)} points, {len(table.cells)} cases, {table.failures} failed, seed {arguments.seed}, "
        f"{time.monotonic() - began:.0f} s"
    )
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
