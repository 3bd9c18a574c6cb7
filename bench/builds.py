# SPDX-License-Identifier: Apache-2.0
"""How fast an index of a table that is there already is built: alone, five at once, and beside writes.

The time counts from the declaration until the index is READY, so walk and validation are in it; what it is compared with is one
statement of PostgreSQL that copies the same rows, in the order of their keys, into a table of the same shape.
"""

import statistics
import threading
import time

import wire
from rows import Row

TABLE, WRITTEN = "Built", "Bench"
AT_ONCE = 5
WRITES = 256  # in flight
SHARE = 0.5  # of the maximum of the writes
MUST, AIM = 40_000, 80_000
TIMEOUT = 1200  # seconds, of the builds of a measurement
BESIDE_MUST, BESIDE_AIM = 20_000, 40_000
VERIFY_AIM = 300_000
FAST = (4, 1)

ROWS = [
    Row("index build, entities / 40,000 a second", ("build", "rate"), MUST, must=1, aim=AIM / MUST),
    Row("index build, entities / insert ... select of the same rows", ("build", "rate"), ("insert select", "rate")),
    Row("unique index build, entities / 40,000 a second", ("build unique", "rate"), MUST, must=1, aim=AIM / MUST),
    Row("strong index build, entities / 40,000 a second", ("build strong", "rate"), MUST, must=1, aim=AIM / MUST),
    Row("same-partition index build, entities / 40,000 a second", ("build same partition", "rate"), MUST, must=1,
        aim=AIM / MUST),
    Row("unique same-partition index build, entities / 40,000 a second", ("build unique, same partition", "rate"), MUST, must=1,
        aim=AIM / MUST),
    Row("five indexes at once, entries / one index", (f"build of {AT_ONCE}", "rate"), ("build", "rate")),
    Row("index build beside writes at half, entities / 20,000 a second", ("build beside writes", "rate"), BESIDE_MUST,
        must=1, aim=BESIDE_AIM / BESIDE_MUST),
    Row("verification in full, entities / 300,000 a second", ("verify full", "rate"), VERIFY_AIM, aim=1),
    Row("verification, fast, entities / in full", ("verify fast", "rate"), ("verify full", "rate")),
    Row("upsert beside index build, p99 / alone", ("build beside writes", "p99_us"), ("writes at half", "p99_us"), "<=",
        unit="us"),
]


class Builds:
    """size: entities of the table that gets the indexes. The writes go to another table, which has none."""

    def __init__(self, product, size):
        self.product = product
        self.stack = product.stack
        self.size = size
        self.built = 0
        self.maximum = None

    def prepare(self):
        product = self.product
        product.start()
        product.create([TABLE, WRITTEN])
        product.once("ImportEntities", wire.import_found(TABLE, range(wire.FIRST, wire.FIRST + self.size)), 2, "stream")
        product.once("ImportEntities", wire.import_(WRITTEN, range(wire.FIRST, wire.FIRST + wire.COUNT)), 2, "stream")
        product.sql("vacuum analyze")
        product.sql("checkpoint")
        self.upserts = product.file("upserts", wire.write(WRITTEN, wire.uniform(20_000)))
        product.start_worker()
        product.wait_for("select count(*) from leases where owner = ''")

    # ---- loads ----

    def insert_select(self):
        """The rows as a statement copies them."""
        product = self.product
        product.sql("create table copied (like entities including all) with (fillfactor = 85)")
        began, used = time.monotonic(), self.stack.cpu("postgres")
        product.sql(f"insert into copied select * from entities where table_id = (select table_id from tables where"
                    f" name = '{TABLE}') order by partition_key, row_key")
        seen = {"rate": self.size / (time.monotonic() - began),
                "postgres_us": (self.stack.cpu("postgres") - used) * 1e6 / self.size}
        product.sql("drop table copied")
        return seen

    def write(self, *options, seconds=None):
        return self.product.call("InsertOrReplaceEntity", self.upserts, WRITES, *options, seconds=seconds)

    def write_at_half(self, seconds=None):
        if self.maximum is None:
            self.maximum = self.write()["rate"]
        return self.product.loads.call("InsertOrReplaceEntity", self.upserts, 4096, f"rate={self.maximum * SHARE:.0f}",
                                       server=self.product.server, seconds=seconds)

    # ---- builds ----

    def build(self, count=1, declare=wire.create_index, **rules):
        """From the first declaration until all are READY; then they go again. declare: a function of wire.py."""
        if "worker" not in self.stack.children:  # a measurement that failed has stopped it
            self.product.start_worker()
        names = [f"Index{self.built + i}" for i in range(count)]
        self.built += count
        used = {"server_us": self.stack.cpu("worker"), "postgres_us": self.stack.cpu("postgres")}
        began = time.monotonic()
        for number, name in enumerate(names):
            self.product.create_index(declare(name, TABLE, ["Color" if count == 1 else f"Prop{number}"], **rules))
        self.product.wait_for("select count(*) from indexes where state in (1, 2)", TIMEOUT)
        seconds = time.monotonic() - began
        entries = self.size * count
        cpu = {"server_us": self.stack.cpu("worker"), "postgres_us": self.stack.cpu("postgres")}
        for name in names:
            self.product.once("/tavola.v1.IndexService/DropIndex", [wire.message((1, name))])
        self.product.wait_for("select count(*) from operations where state = 1", TIMEOUT)
        self.product.sql("vacuum entities, index_state")
        return {"rate": entries / seconds} | {name: (cpu[name] - used[name]) * 1e6 / entries for name in cpu}

    def verify(self, *mode):
        """Of an index that is made for it: the time of the operation."""
        product, name = self.product, f"Index{self.built}"
        self.built += 1
        if "worker" not in self.stack.children:
            product.start_worker()
        product.create_index(wire.create_index(name, TABLE))
        product.wait_for("select count(*) from indexes where state in (1, 2)", TIMEOUT)
        product.sql("vacuum analyze")
        product.once("/tavola.v1.IndexService/VerifyIndex", [wire.message((1, name), *mode)])
        product.wait_for("select count(*) from operations where kind = 'verify_index' and state in (1, 2)", TIMEOUT)
        seconds = float(product.sql("select (ended - started) / 1e7 from operations where kind = 'verify_index'"
                                    " order by started desc limit 1"))
        product.once("/tavola.v1.IndexService/DropIndex", [wire.message((1, name))])
        product.wait_for("select count(*) from operations where state = 1", TIMEOUT)
        return {"rate": self.size / seconds}

    def build_beside_writes(self):
        """The writes' latencies are the medians of loads of some seconds, one after the other until the build is done."""
        seen, failures = {}, []

        def run():
            try:
                seen.update(self.build())
            except Exception as failure:  # pylint: disable=broad-except # told in the main thread
                failures.append(failure)

        self.write_at_half()
        thread = threading.Thread(target=run)
        thread.start()
        beside = []
        while thread.is_alive():
            beside.append(self.write_at_half(seconds=2))
        thread.join()
        if failures:
            raise failures[0]
        return {"rate": seen["rate"]} | {
            figure: statistics.median(one[figure] for one in beside) for figure in ("p50_us", "p99_us", "p999_us")}

    def measurements(self):
        return {
            "insert select": self.insert_select,
            "build": self.build,
            "build unique": lambda: self.build(unique=True),
            "build strong": lambda: self.build(strong=True),
            "build same partition": lambda: self.build(declare=wire.create_strong_index),
            "build unique, same partition": lambda: self.build(declare=wire.create_strong_index, unique=True),
            f"build of {AT_ONCE}": lambda: self.build(AT_ONCE),
            "verify full": self.verify,
            "verify fast": lambda: self.verify(FAST),
            "writes at half": self.write_at_half,
            "build beside writes": self.build_beside_writes,
        }
