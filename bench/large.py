# SPDX-License-Identifier: Apache-2.0
"""Large and wide entities, beside what a program does by hand: a blob and the entity that names it, and an entity that is spread
over rows; and wide entities with an index beside those without. CPU of Tavola and of PostgreSQL for one answer.
"""

import wire
from rows import Row

CLIENT = "large_client.py"
TURNS = 200
HOURS, IN_ROW, MACHINES = 8760, 250, 20
READ_HOURS = 24
INDEXED_MACHINES = 200
LOOK_UP = "/tavola.v1.IndexService/LookupIndex"
_CPU = "cpu_us"
_PAIRS = [
    ("an entity with 200 KB, write: one call / a blob and an entity", "large write one", "large write two"),
    ("an entity with 200 KB, read: by reference / by name", "large read one", "large read two"),
    ("8,760 properties, read: a wide entity / 36 entities", "year as one", "year of rows"),
    ("24 of 8,760 properties, read: a wide entity / one of 36 entities", "day of a wide one", "day of a row"),
    ("one of 8,760 properties, write: a wide entity / one of 36 entities", "hour of a wide one", "hour of a row"),
    ("2 of 8,760 properties, write: with an eventual index / without", "write with an index", "write without an index"),
    ("24 of 8,760 properties: look-up by a property / query by key", "day by look-up", "day of a wide one"),
    ("24 of 8,760 properties: look-up that reads the entity / query by key", "day by look-up, sources", "day of a wide one"),
]
ROWS = [Row(name, (ours, _CPU), (naive, _CPU), "<=", unit="us") for name, ours, naive in _PAIRS]


def name_of(hour):
    return f"H{hour:04}"


def text_property(name, text):
    return (15, [(1, name), (2, [(1, text)])])


def entity(machine, row, hours, text, **more):
    """A year, or a part of it."""
    return [(1, f"m{machine:02}"), (2, row), *(text_property(name_of(hour), text) for hour in hours),
            *(text_property(name, given) for name, given in more.items())]


def row_of(hour):
    return f"2026_{hour // IN_ROW:02}"


def upsert(table, one):
    return wire.message((1, table), (2, one))


def query(table, text, select=()):
    return wire.message((1, [(1, table), (2, text)]), (2, 1000), (4, [(1, name) for name in select]))


def index(name, table, by, copied):
    """An eventual index by one property, which copies these properties."""
    names = (7, [(2, [(1, one) for one in copied])])
    return wire.message((1, [(1, name), (2, table), (3, 1), (5, [(2, by)]), names, (8, 1)]))


def first_day():
    return [name_of(hour) for hour in range(READ_HOURS)]


class Large:
    def __init__(self, product):
        self.product = product

    def prepare(self):
        product = self.product
        product.caller(CLIENT, "fill", "both", TURNS // 2)
        product.once("/tavola.v1.TableService/CreateTable", [wire.message((1, "Wide"), (3, 1))])
        product.create(["Narrow"])
        for machine in range(MACHINES):
            product.once("InsertOrReplaceEntity", [upsert("Wide", entity(machine, "2026", range(HOURS), "runs"))])
            product.once("InsertOrReplaceEntity", [
                upsert("Narrow", entity(machine, row_of(begin), range(begin, min(begin + IN_ROW, HOURS)), "runs"))
                for begin in range(0, HOURS, IN_ROW)])
        self.prepare_indexed()
        self.make_calls()

    def prepare_indexed(self):
        """Entities with a machine's serial number, which stays, and with its state, which each write changes."""
        product = self.product
        for table, machines in (("WideFound", MACHINES), ("WideIndexed", INDEXED_MACHINES), ("WideBare", INDEXED_MACHINES)):
            product.once("/tavola.v1.TableService/CreateTable", [wire.message((1, table), (3, 1))])
            for machine in range(machines):
                whole = entity(machine, "2026", range(HOURS), "runs", Serial=f"s{machine}", State="new")
                product.once("InsertOrReplaceEntity", [upsert(table, whole)])
        product.create_index([index("BySerial", "WideFound", "Serial", first_day())])
        product.create_index([index("ByState", "WideIndexed", "State", ["Serial"])])
        product.start_worker()
        product.wait_for("select count(*) from indexes where state <> 3")
        product.wait_for("select count(*) from intents")
        product.stack.stop("worker")
        self.states = 0

    def changes(self, table, machines):
        """A new state and an hour of each machine."""
        self.states += 1
        return [upsert(table, entity(machine, "2026", [machine * 43 % HOURS], "stops", State=f"n{self.states}")) for machine in machines]

    def write_indexed(self, table):
        requests = [one for _ in range(20) for one in self.changes(table, range(INDEXED_MACHINES))]
        seen = self.product.call("InsertOrMergeEntity", self.product.file("large", requests), 8)
        self.product.sql("delete from intents")  # they must not count in the next measurement
        return seen | {_CPU: seen["server_us"] + seen["postgres_us"]}

    def make_calls(self):
        # An hour of each machine, in different parts of the year.
        hours = [(machine, (machine * 431 + turn * 977) % (HOURS - READ_HOURS)) for machine in range(MACHINES) for turn in range(20)]
        days = [(machine, hour // IN_ROW * IN_ROW) for machine, hour in hours]

        def day(begin):
            return [name_of(hour) for hour in range(begin, begin + READ_HOURS)]

        def key(machine, row):
            return f"PartitionKey eq 'm{machine:02}' and RowKey eq '{row}'"

        self.calls = {
            "year as one": ("QueryEntities", [query("Wide", f"PartitionKey eq 'm{machine:02}'") for machine in range(MACHINES)]),
            "year of rows": ("QueryEntities", [query("Narrow", f"PartitionKey eq 'm{machine:02}'") for machine in range(MACHINES)]),
            "day of a wide one": ("QueryEntities", [query("Wide", key(machine, "2026"), day(begin)) for machine, begin in days]),
            "day of a row": ("QueryEntities", [query("Narrow", key(machine, row_of(begin)), day(begin)) for machine, begin in days]),
            "day by look-up": (LOOK_UP, [wire.message((1, "BySerial"), (2, [(1, f"s{machine}")])) for machine in range(MACHINES)]),
            "day by look-up, sources": (LOOK_UP, [
                wire.message((1, "BySerial"), (2, [(1, f"s{machine}")]), (10, 1), *((11, name) for name in day(begin)))
                for machine, begin in days]),
            "hour of a wide one": ("InsertOrMergeEntity", [upsert("Wide", entity(machine, "2026", [hour], "stops")) for machine, hour in hours]),
            "hour of a row": ("InsertOrMergeEntity", [upsert("Narrow", entity(machine, row_of(hour), [hour], "stops")) for machine, hour in hours]),
        }

    def measure(self, name):
        method, requests = self.calls[name]
        seen = self.product.call(method, self.product.file("large", requests), 8)
        return seen | {_CPU: seen["server_us"] + seen["postgres_us"]}

    def measurements(self):
        out = {name: lambda name=name: self.measure(name) for name in self.calls}
        out |= {"write with an index": lambda: self.write_indexed("WideIndexed"),
                "write without an index": lambda: self.write_indexed("WideBare")}
        return out | {f"large {what} {which}": lambda what=what, which=which: self.product.cost_of_caller(CLIENT, what, which, TURNS)
                      for what in ("write", "read") for which in ("one", "two")}
