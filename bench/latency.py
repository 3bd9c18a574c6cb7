# SPDX-License-Identifier: Apache-2.0
"""Latency at a load that does not wait for answers: alone, beside other work, and through an overload.

Calls are due at equal distances and latency counts from when a call was due (see h2_load.c): a server that stalls is
charged for all that had to wait. Index lag is the time from the acknowledgement of a write to the look-up that shows
its entry, seen by probes (see lag.c) beside a load of writes to the same table.

All other loads here come from the lean client (h2_load.c), over the same connections and with the same deadline: that of
the C core would take the processor that the server needs, and be what calls wait for. A share is one of the maximum
that this client has reached in this run.
"""

import contextlib
import subprocess
import threading
import time

import wire
from loads import _words
from rows import Row

SHARES = (25, 50, 80)  # per cent of the measured maximum
FIGURES = ("p50_us", "p99_us", "p999_us")
MIXED_SHARE = 0.2  # percent of each maximum, for the two loads that run beside other work
STEADY_SHARE = 0.5
OVERLOAD = 10
IN_FLIGHT, MAX_IN_FLIGHT = 4096, 8192
CALL_TIMEOUT_MS = 2000
_CALLS = ("connections=16", f"deadline={CALL_TIMEOUT_MS}")  # of all calls; one connection may not have all in flight
OVERLOAD_SECONDS = 6  # three deadlines
FEW_PER_SECOND = 300  # gets of a caller who has no part in an overload
PROBES = 2
LAG_TIMES = 4  # as long as the other measurements: a probe sees one lag after the other, and rests between them
SUSTAIN_TIMES = 3  # of which the median counts: from one to the next what is sustained moves by a third
BESIDE_SECONDS = 2  # reserve of a load beside a measurement; it is ended with the measurement
INDEXED_PER_SECOND = 60_000  # more than a server takes from this many callers
LOG_FILES = 128  # of 16 MB each: as much as PostgreSQL writes between two checkpoints with max_wal_size = 4GB
PLAIN_SHARE = 80
PLAIN_BESIDE = ("alone", "beside import")

_LOADS = {"get": "GetEntity", "upsert": "InsertOrReplaceEntity"}
_BESIDE = ("alone", "beside scan", "beside import", "beside index build", "beside vacuum")
_MIXED = (*_LOADS, "lag")
_PHASES = ("before", "during", "after")
_OVERLOADED = (*_LOADS, "page")
_FEW = ("few gets alone", "few gets beside an overload of pages")
SATURATING = {"get": 256, "upsert": 256, "page": 16}
_AT_SHARE = {("upsert", 80, "p99_us"): {"must": 25, "aim": 10}, ("lag", 80, "p99_us"): {"must": 8, "aim": 4}}
_BESIDE_BOUNDS = {("upsert", "beside scan"): {"must": 3, "aim": 1.5}, ("upsert", "beside import"): {"must": 3, "aim": 1.5},
                  ("upsert", "beside vacuum"): {"must": 4, "aim": 2}, ("get", "beside vacuum"): {"must": 4, "aim": 2}}


def _with_cost(seen):
    """With the CPU of server and database for each call that was answered OK; the client's CPU is not in it."""
    answered = (seen["calls"] - seen["failed"]) / seen["calls"]
    return seen | {"answered_us": (seen["server_us"] + seen["postgres_us"]) / answered}


def _method(load):
    return _LOADS.get(load, "QueryEntities")


class Latency:
    def __init__(self, product):
        self.product = product
        self.stack = product.stack
        self.loads = product.loads
        self.seconds = 2 * product.loads.seconds
        self.plain_maximum = 0
        self.sustained = 0  # writes per second that the worker keeps up with
        self.mixed = {}
        self.saturated = {}
        self.paths = {"get": product.get_uniform, "upsert": product.upsert_uniform, "page": product.queries}

    def prepare(self):
        product = self.product
        self.write = product.file("lag-write", wire.probe("Indexed"))
        self.lookup = product.file("lag-lookup", wire.lookup("ByColor"))
        product.create(["Built"])
        keys = range(wire.FIRST, wire.FIRST + wire.COUNT)
        product.once("ImportEntities", wire.import_("Built", keys), 2, "stream")
        self.builds = 0
        self.need_worker()
        self.use_log_again()

    def use_log_again(self):
        """PostgreSQL fills a file of its log with zeros before it uses it for the first time: all commits stand still
        for 10 to 40 ms, and the p99 of two seconds would be made of that. A database that has been at work for an
        hour uses its old files again, after each checkpoint; so does this one from now on.
        """
        product = self.product
        product.sql(f"do $$ begin for i in 1..{LOG_FILES} loop"
                    " perform pg_logical_emit_message(false, 'bench', ''); perform pg_switch_wal();"
                    " end loop; end $$")
        product.sql("checkpoint")

    # ---- alone ----

    def call(self, method, path, in_flight, *options, **named):
        return self.loads.lean_call(method, path, in_flight, *_CALLS, *options, **named)

    def saturate(self, load):
        self.saturated[load] = _with_cost(self.call(_method(load), self.paths[load], SATURATING[load]))
        return self.saturated[load]

    def maximum(self, load):
        """Measured if it was not, so that every row can be chosen alone."""
        return (self.saturated.get(load) or self.saturate(load))["rate"]

    def one_at_a_time(self, load):
        """By the client that callers have."""
        return self.loads.call(_method(load), self.paths[load], 1)

    def open_loop(self, load, rate):
        return self.call(_method(load), self.paths[load], IN_FLIGHT, f"rate={rate:.0f}", seconds=self.seconds)

    def indexed_writes(self, rate, seconds):
        """A file of writes that all change their entry, for so long at that rate: a load that began the file again would
        write what is stored, and nothing would have to be done.
        """
        count = round(rate * seconds)
        self.product.next_value += count
        return self.product.file("indexed", wire.write("Indexed", wire.uniform(count), self.product.next_value))

    def need_worker(self):
        """Start it again, if a measurement that failed has stopped it; before a load begins, whose intents would never end."""
        if "worker" not in self.stack.children:
            self.product.start_worker()
            self.product.wait_for("select count(*) from intents")

    def sustain_once(self):
        writes = self.indexed_writes(INDEXED_PER_SECOND, self.loads.seconds)
        began = time.monotonic()
        seen = self.call("InsertOrReplaceEntity", writes, 64)
        self.product.wait_for("select count(*) from intents")
        return seen | {"rate": seen["calls"] / (time.monotonic() - began)}

    def sustain(self):
        """As many writes as server and worker together can carry to the index."""
        self.need_worker()
        seen = sorted((self.sustain_once() for _ in range(SUSTAIN_TIMES)), key=lambda one: one["rate"])
        self.sustained = seen[SUSTAIN_TIMES // 2]["rate"]
        return seen[SUSTAIN_TIMES // 2]

    def lag(self, share):
        self.need_worker()
        if not self.sustained:
            self.sustain()
        rate = self.sustained * share
        writes = self.indexed_writes(rate, LAG_TIMES * self.seconds + BESIDE_SECONDS)
        with self.beside_load("InsertOrReplaceEntity", writes, IN_FLIGHT, f"rate={rate:.0f}", *_CALLS,
                              program="bench_h2_load", times=LAG_TIMES):
            seen = self.loads.lag(LAG_TIMES * self.seconds, PROBES, self.write, self.lookup)
        self.product.wait_for("select count(*) from intents")
        return seen

    def lag_idle(self):
        self.need_worker()
        return self.loads.lag(self.seconds, 1, self.write, self.lookup)

    # ---- the database alone, loaded by pgbench ----

    def plain_saturated(self):
        seen = self.loads.pgbench(self.product.pgbench_upsert)
        self.plain_maximum = seen["rate"]
        return seen

    def plain_one_at_a_time(self):
        return self.loads.pgbench(self.product.pgbench_upsert, clients=1, logged=True)

    def plain_open_loop(self, share):
        if not self.plain_maximum:
            self.plain_saturated()
        return self.loads.pgbench(self.product.pgbench_upsert, rate=self.plain_maximum * share, logged=True)

    @contextlib.contextmanager
    def plain_import(self):
        """One client of pgbench that upserts a thousand rows, again and again."""
        command = ["pgbench", "-n", "-M", "prepared", "-c1", "-T", "60", "-f", self.product.pgbench_import, self.product.postgres]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            child.kill()
            child.wait()

    def plain_beside(self, kind):
        with contextlib.nullcontext() if kind == PLAIN_BESIDE[0] else self.plain_import():
            return self.plain_open_loop(MIXED_SHARE)

    # ---- beside other work ----

    @contextlib.contextmanager
    def beside_load(self, *arguments, times=1, **named):
        child = subprocess.Popen(self.loads.command(*arguments, seconds=times * self.seconds + BESIDE_SECONDS, **named),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(0.3)
        try:
            yield
            if child.poll():
                raise RuntimeError(f"the load beside it failed: {child.stderr.read()}")
        finally:
            child.kill()
            child.wait()

    @contextlib.contextmanager
    def beside_vacuum(self):
        """One vacuum with ANALYZE after the other, each with the pauses that autovacuum makes."""
        over = threading.Event()

        def vacuum():
            while not over.is_set():
                self.stack.sql("vacuum (analyze) entities", f"{self.stack.postgres} options='-c vacuum_cost_delay=2ms'")

        thread = threading.Thread(target=vacuum)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    @contextlib.contextmanager
    def beside_build(self):
        self.builds += 1
        index = wire.create_index(f"Built{self.builds}", "Built")
        self.product.once("/tavola.v1.IndexService/CreateIndex", index)
        yield
        self.product.wait_for("select count(*) from indexes where state <> 3")

    def other_work(self, kind):
        return {
            "alone": contextlib.nullcontext,
            "beside scan": lambda: self.beside_load("ScanEntities", self.product.stream, 1, "drain"),
            "beside import": lambda: self.beside_load("ImportEntities", self.product.import_all, 1, "stream"),
            "beside index build": self.beside_build,
            "beside vacuum": self.beside_vacuum,
        }[kind]()

    def start(self, load):
        command = self.loads.command(_method(load), self.paths[load], IN_FLIGHT, *_CALLS,
                                     f"rate={self.maximum(load) * MIXED_SHARE:.0f}", seconds=self.seconds,
                                     program="bench_h2_load")
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_mixed(self, kind):
        """Gets, upserts and a probe of the lag at once, beside other work."""
        self.need_worker()
        for load in _LOADS:
            self.maximum(load)  # before the other work begins
        with self.other_work(kind):
            children = {load: self.start(load) for load in _LOADS}
            seen = {"lag": self.loads.lag(self.seconds, 1, self.write, self.lookup)}
            for load, child in children.items():
                out, complaint = child.communicate()
                if child.returncode != 0:
                    raise RuntimeError(f"{load}: ended with {child.returncode}: {(complaint or out).strip()}")
                seen[load] = _words(out)
                seen[load]["rate"] = seen[load]["calls"] / seen[load]["seconds"]
        return seen

    def mix(self, load, kind):
        if load == _MIXED[0]:
            self.mixed[kind] = self.run_mixed(kind)
        return self.mixed[kind][load]

    # ---- overload ----

    def overload(self, load):
        seen = self.call(_method(load), self.paths[load], MAX_IN_FLIGHT, f"rate={self.maximum(load) * OVERLOAD:.0f}",
                         "lenient", seconds=OVERLOAD_SECONDS)
        return _with_cost(seen) | {"rate": (seen["calls"] - seen["failed"]) / seen["seconds"]}

    def few_gets(self):
        return self.call("GetEntity", self.paths["get"], IN_FLIGHT, f"rate={FEW_PER_SECOND}", seconds=OVERLOAD_SECONDS)

    def few_gets_beside_overload(self):
        with self.beside_load("QueryEntities", self.paths["page"], MAX_IN_FLIGHT, f"rate={self.maximum('page') * OVERLOAD:.0f}",
                              "lenient", *_CALLS, program="bench_h2_load", times=OVERLOAD_SECONDS / self.seconds):
            return self.few_gets()

    def phase(self, load, phase):
        if phase == "during":
            return self.overload(load)
        return self.open_loop(load, self.maximum(load) * STEADY_SHARE)

    def measurements(self):
        """Measurements that a row compares come one after the other, while the machine is the same."""
        out = {}
        for load in _LOADS:
            out |= {f"{load} one at a time": lambda load=load: self.one_at_a_time(load)} | self._saturated(load)
            out |= {f"{load} at {share} %": lambda load=load, share=share: self.open_loop(load, self.maximum(load) * share / 100)
                    for share in SHARES}
            out |= self._overloaded(load)
        out |= self._saturated("page") | self._overloaded("page")
        out |= dict(zip(_FEW, (self.few_gets, self.few_gets_beside_overload)))
        out |= {"pgbench upsert one at a time": self.plain_one_at_a_time, "pgbench upsert saturated": self.plain_saturated,
                f"pgbench upsert at {PLAIN_SHARE} %": lambda: self.plain_open_loop(PLAIN_SHARE / 100)}
        out |= {f"pgbench upsert {kind}": lambda kind=kind: self.plain_beside(kind) for kind in PLAIN_BESIDE}
        out |= {"indexed, sustained": self.sustain, "lag idle": self.lag_idle}
        out |= {f"lag at {share} %": lambda share=share: self.lag(share / 100) for share in SHARES}
        out |= {f"{load} {kind}": lambda load=load, kind=kind: self.mix(load, kind) for kind in _BESIDE for load in _MIXED}
        return out

    def _saturated(self, load):
        return {f"{load} saturated": lambda: self.saturate(load)}

    def _overloaded(self, load):
        return {f"{load} {phase} overload": lambda phase=phase: self.phase(load, phase) for phase in _PHASES}


def _named(figure):
    return {"p50_us": "p50", "p99_us": "p99", "p999_us": "p99.9"}[figure]


def _rows():
    unloaded = {load: (f"{load} one at a time", "p50_us") for load in _LOADS} | {"lag": ("lag idle", "p50_us")}
    maximum = {load: f"{load} saturated" for load in _LOADS} | {"lag": "indexed, sustained"}
    for load, against in unloaded.items():
        for share in SHARES:
            for figure in FIGURES:
                bounds = _AT_SHARE.get((load, share, figure), {})
                yield Row(f"{load} at {share} % of the maximum, {_named(figure)} / one at a time, p50",
                          (f"{load} at {share} %", figure), against, "<=", unit="us", rests_on=(maximum[load],), **bounds)
    for figure in FIGURES:
        yield Row(f"pgbench upsert at {PLAIN_SHARE} % of its maximum, {_named(figure)} / one at a time, p50",
                  (f"pgbench upsert at {PLAIN_SHARE} %", figure), ("pgbench upsert one at a time", "p50_us"), "<=", unit="us",
                  rests_on=("pgbench upsert saturated",))
    for figure in FIGURES:
        yield Row(f"pgbench upsert {PLAIN_BESIDE[1]}, {_named(figure)} / alone", (f"pgbench upsert {PLAIN_BESIDE[1]}", figure),
                  (f"pgbench upsert {PLAIN_BESIDE[0]}", figure), "<=", unit="us")
    for kind in _BESIDE[1:]:
        for load in _MIXED:
            for figure in FIGURES:
                bounds = _BESIDE_BOUNDS.get((load, kind), {}) if figure == "p99_us" else {}
                yield Row(f"{load} {kind}, {_named(figure)} / alone", (f"{load} {kind}", figure),
                          (f"{load} alone", figure), "<=", unit="us",
                          rests_on=(f"{_MIXED[0]} {kind}", f"{_MIXED[0]} alone"), **bounds)
    for load in _OVERLOADED:
        during = f"{load} during overload"
        yield Row(f"{load}, answered in an overload of {OVERLOAD} times / maximum", (during, "rate"),
                  (f"{load} saturated", "rate"), must=0.9, aim=0.98)
        yield Row(f"{load}, CPU of server and PostgreSQL per call answered in an overload of {OVERLOAD} times / at the maximum",
                  (during, "answered_us"), (f"{load} saturated", "answered_us"), "<=", unit="us")
        yield Row(f"{load}, answered in an overload of {OVERLOAD} times, p50 / 50 ms", (during, "p50_us"), 50_000, "<=",
                  unit="us", must=1, aim=0.4)
        for figure in FIGURES:
            yield Row(f"{load} after an overload, {_named(figure)} / before", (f"{load} after overload", figure),
                      (f"{load} before overload", figure), "<=", unit="us")
    for figure in FIGURES:
        yield Row(f"{_FEW[1]}, {_named(figure)} / alone", (_FEW[1], figure), (_FEW[0], figure), "<=", unit="us",
                  rests_on=("page saturated",))


ROWS = list(_rows())
