# SPDX-License-Identifier: Apache-2.0
"""What the patterns of docs/patterns cost, beside what a program does without them: CPU of all of Tavola and of PostgreSQL for one
answer, or for one entity.
"""

import large
import lists
import table as table_rows
import wire
from product import INDEXED_KEYS
from rows import Row

EMPLOYEES, YEARS = 200, 10  # of the compound key
CLAIMS, NEWEST = 1000, 10  # of the log tail
HOURS = 24  # of the data series
LINES, SHARES = 3200, 16  # of an hour whose partition is spread
LOGINS, IN_BATCH = 60_000, 100  # of a period
MOVES = 2000
DEPARTMENTS = 5000  # that name one manager

_CPU = "cpu_us"
_PAIRS = [
    ("reviews of an employee: compound key / property", "reviews by key", "reviews by property"),
    ("newest ten of a thousand: log tail / to the end", "newest by tail", "newest to the end"),
    ("a day of a series, read: one entity / an entity for each hour", "day as one", "day of hours"),
    ("a day of a series, write of an hour: merge / an entity for each hour", "merge of an hour", "write of an hour"),
    ("writes to an hour: 16 partitions / one partition", "writes to 16", "writes to one"),
    ("an hour in order: 16 queries / one query", "hour of 16", "hour of one"),
    ("end of a period, per entity: DeleteTable with its purge / batches of a hundred", "period by table", "period by batches"),
    ("end of a period, per entity: DeleteRange / batches of a hundred", "period by range", "period by batches"),
    ("an entity moves: a transaction / two writes", "move by transaction", "move by hand"),
    ("one of 2,000 by a property: look-up / partition read", "found by index", "found by reading"),
    ("a department with its manager: a copy / two reads", "manager copied", "manager read too"),
    ("a department, write: with a copy rule / without", "write under a rule", "write without a rule"),
    ("a manager's name in 5,000 departments, per copy: a rule / merges", "copies by rule", "copies by hand"),
]

INDEX_ROWS = [row for row in table_rows.ROWS if row.name.startswith("cost of one ")]
ROWS = [Row(name, (ours, _CPU), (naive, _CPU), "<=", unit="us") for name, ours, naive in _PAIRS] + INDEX_ROWS + lists.ROWS + large.ROWS


def entity(partition, row, **properties):
    return [(1, partition), (2, row), *((15, [(1, name), (2, [(1, text)])]) for name, text in properties.items())]


def imports(table, entities):
    """Requests of a thousand entities each."""
    for begin in range(0, len(entities), 1000):
        yield wire.message((1, table), *((2, one) for one in entities[begin:begin + 1000]))


def query(table, text, page_size=1000):
    return wire.message((1, [(1, table), (2, text)]), (2, page_size))


def upserts(table, entities):
    return [wire.message((1, table), (2, one)) for one in entities]


def point(table, row):
    return query(table, f"PartitionKey eq 'company' and RowKey eq '{row}'")


def department(number):
    """All name one manager."""
    return entity("company", f"{number:06}", Manager="000007", ManagerName="Jones", Text="x" * 100)


def delete_batches(table, keys):
    """Batches of a hundred, of one partition."""
    for begin in range(0, len(keys), IN_BATCH):
        yield wire.message((1, table), *((2, [(6, list(zip((1, 2), key))), (7, [(1, "*")])]) for key in keys[begin:begin + IN_BATCH]))


class Patterns:
    def __init__(self, product):
        self.product = product
        self.lists, self.large = lists.Lists(product), large.Large(product)
        self.made = 0

    # ---- tables that are read ----

    def prepare(self):
        product = self.product
        product.create(["Reviews", "Expenses", "Hours", "Days", "Hot", "Even", "Current", "Archive", "Managers", "Departments", "Bosses", "Ruled",
                        "Alone"])
        reviews = [entity("sales", f"{number:06}_{2017 + year}", Employee=f"{number:06}", Email=f"{number}.{year}@example", Text="x" * 200)
                   for number in range(EMPLOYEES) for year in range(YEARS)]
        tables = {
            "Reviews": reviews,
            "Expenses": [entity("jones", f"{number:010}", Text="x" * 200) for number in range(CLAIMS)],
            "Hours": [entity("chat7", f"2026-01-31T{hour:02}", Messages="17") for hour in range(HOURS)],
            "Days": [entity("chat7", "2026-01-31", **{f"H{hour:02}": "17" for hour in range(HOURS)})],
            "Hot": [entity("hour", f"{line:010}", Text="x" * 100) for line in range(LINES)],
            "Managers": [entity("company", f"{number:06}", Name="Jones", Text="x" * 100) for number in range(100)],
            "Bosses": [entity("company", "000007", Name="Jones")],
            "Departments": [department(number) for number in range(DEPARTMENTS)],
            "Ruled": [department(number) for number in range(DEPARTMENTS)],
            "Even": [entity(f"{line % SHARES:02}_hour", f"{line:010}", Text="x" * 100) for line in range(LINES)],
        }
        for name, entities in tables.items():
            product.once("ImportEntities", imports(name, entities), 1, "stream")
        product.create([], [("ByEmail", "Reviews", ["Email"])])
        self.make_rule()
        self.lists.prepare()
        self.large.prepare()
        product.sql("vacuum analyze")
        self.make_reads()
        self.make_writes(tables)

    def make_rule(self):
        """Two of one kind: what is written to Ruled to be measured is not followed when a manager of Departments changes."""
        product = self.product
        for source, dependents in (("Managers", "Departments"), ("Bosses", "Ruled")):
            product.create_index(wire.create_copy_rule(
                f"{dependents}ByManager", source, dependents, ("PartitionKey", "Manager"), {"ManagerName": "Name"}))
        product.start_worker()
        product.wait_for("select count(*) from indexes where state <> 3")
        product.stack.stop("worker")

    def make_reads(self):
        def of_employee(number):
            return f"RowKey ge '{number:06}_' and RowKey lt '{number:06}`'"

        numbers = range(EMPLOYEES)
        self.reads = {
            "reviews by key": [[query("Reviews", f"PartitionKey eq 'sales' and {of_employee(number)}")] for number in numbers],
            "reviews by property": [[query("Reviews", f"PartitionKey eq 'sales' and Employee eq '{number:06}'")] for number in numbers],
            "newest by tail": [[query("Expenses", "PartitionKey eq 'jones'", NEWEST)]],
            "newest to the end": [[query("Expenses", "PartitionKey eq 'jones'")]],
            "day as one": [[query("Days", "PartitionKey eq 'chat7' and RowKey eq '2026-01-31'")]],
            "day of hours": [[query("Hours", "PartitionKey eq 'chat7'")]],
            "hour of one": [[query("Hot", "PartitionKey eq 'hour'")]],
            "hour of 16": [[query("Even", f"PartitionKey eq '{share:02}_hour'") for share in range(SHARES)]],
            "found by reading": [[query("Reviews", f"PartitionKey eq 'sales' and Email eq '{number}.3@example'")] for number in numbers],
            "manager copied": [[point("Departments", f"{number:06}")] for number in numbers],
            "manager read too": [[point("Departments", f"{number:06}"), point("Managers", f"{number % 100:06}")] for number in numbers],
            "found by index": [[wire.message((1, "ByEmail"), (2, [(1, f"{number}.3@example")]))] for number in numbers],
        }

    def make_writes(self, tables):
        merges = [entity("chat7", "2026-01-31", **{f"H{hour:02}": "18"}) for hour in range(HOURS)]
        self.writes = {
            "write of an hour": ("InsertOrReplaceEntity", upserts("Hours", tables["Hours"])),
            "merge of an hour": ("InsertOrMergeEntity", upserts("Days", merges)),
            "writes to one": ("InsertOrReplaceEntity", upserts("Hot", tables["Hot"])),
            "write without a rule": ("InsertOrReplaceEntity", upserts("Alone", tables["Departments"])),
            "write under a rule": ("InsertOrReplaceEntity", upserts("Ruled", tables["Departments"])),
            "writes to 16": ("InsertOrReplaceEntity", upserts("Even", tables["Even"])),
        }

    # ---- measurements ----

    @staticmethod
    def with_cpu(seen, share=1):
        """Figures for an answer that takes several calls, or for one of several entities of a call."""
        return seen | {_CPU: (seen["server_us"] + seen["postgres_us"]) * share, "rate": seen["rate"] / share}

    def read(self, name):
        answers = self.reads[name]
        method = "/tavola.v1.IndexService/LookupIndex" if name == "found by index" else "QueryEntities"
        path = self.product.file("reads", [call for answer in answers for call in answer])
        return self.with_cpu(self.product.call(method, path, 8), len(answers[0]) * self.pages_of(name))

    @staticmethod
    def pages_of(name):
        """An hour of one partition has four pages; each of them is as large as the first, which is measured."""
        return LINES / 1000 if name == "hour of one" else 1

    def write(self, name):
        method, requests = self.writes[name]
        return self.with_cpu(self.product.call(method, self.product.file("writes", requests), 64))

    def period(self):
        """(name, keys) of a table of its own with the logins of a period, all in one partition for each user."""
        self.made += 1
        name = f"Logins{self.made}"
        keys = [(f"user{number % 5}", f"{number:010}") for number in range(LOGINS)]
        self.product.create([name])
        self.product.once("ImportEntities", imports(name, [entity(*key, Text="x" * 100) for key in keys]), 1, "stream")
        return name, sorted(keys)

    def period_by_batches(self):
        """The keys are read, page by page, and deleted a hundred at a time."""
        name, keys = self.period()
        reads = self.product.file("period-reads", [query(name, f"PartitionKey eq 'user{user}'") for user in range(5)])
        read = self.product.call("QueryEntities", reads, 1, "once", seconds=60)
        path = self.product.file("period-deletes", delete_batches(name, keys))
        deleted = self.product.call("ExecuteBatch", path, 1, "once", seconds=60)
        cpu = sum(one["calls"] * (one["server_us"] + one["postgres_us"]) for one in (read, deleted))
        return {"rate": LOGINS / (read["seconds"] + deleted["seconds"]), _CPU: cpu / LOGINS}

    def period_in_background(self, method, request, left):
        """One call, and what the worker does behind it until nothing is left."""
        stack = self.product.stack
        self.product.start_worker()
        try:
            # The worker's start does not count.
            self.product.wait_for("select (not exists (select from leases where expires_at > now()))::int")
            before = [stack.cpu(name) for name in ("tavolad", "worker", "postgres")]
            self.product.once(method, [request])
            self.product.wait_for(left)
            return {_CPU: sum(stack.cpu(name) - was for name, was in zip(("tavolad", "worker", "postgres"), before)) * 1e6 / LOGINS}
        finally:
            stack.stop("worker")

    def period_by_table(self):
        name, _ = self.period()
        left = f"select exists (select from entities where table_id = {self.table_id(name)})::int"
        return self.period_in_background("/tavola.v1.TableService/DeleteTable", wire.message((1, name)), left)

    def period_by_range(self):
        name, _ = self.period()
        left = "select count(*) from operations where kind = 'delete_range' and state in (1, 2)"
        request = wire.message((1, [(1, name), (2, "RowKey ge '0'")]))
        return self.period_in_background("DeleteRange", request, left)

    def table_id(self, name):
        return int(self.product.sql(f"select table_id from tables where name = '{name}'"))

    def employees(self):
        """Keys that are not in the archive yet, and are in the table that they leave."""
        self.made += 1
        keys = [("sales", f"{self.made:04}{number:06}") for number in range(MOVES)]
        self.product.once("ImportEntities", imports("Current", [entity(*key, Text="x" * 100) for key in keys]), 1, "stream")
        return keys

    def move_by_hand(self):
        keys = self.employees()
        put = self.product.file("move-put", upserts("Archive", [entity(*key, Text="x" * 100) for key in keys]))
        gone = self.product.file("move-gone", [wire.message((1, "Current"), (2, list(zip((1, 2), key))), (4, [(1, "*")])) for key in keys])
        seen = [self.product.call(method, path, 64, "once", seconds=60)
                for method, path in (("InsertOrReplaceEntity", put), ("DeleteEntity", gone))]
        return {_CPU: sum(one["server_us"] + one["postgres_us"] for one in seen)}

    def move_by_transaction(self):
        keys, stack = self.employees(), self.product.stack

        def address(table, key):
            return [(2, table), (3, list(zip((1, 2), key)))]

        path = self.product.file("move", [
            wire.message((1, "move-" + key[1]), (2, [(4, [(1, address("Current", key)), (2, address("Archive", key))])]))
            for key in keys])
        sent = self.product.call("/tavola.v1.TransactionService/SubmitTransaction", path, 64, "once", seconds=60)
        done = self.product.worker(MOVES)
        stack.stop("worker")
        return {_CPU: sum(one["server_us"] + one["postgres_us"] for one in (sent, done))}

    def copies_by_hand(self):
        """The departments are known and merged one by one, 64 at a time."""
        self.made += 1
        merges = [entity("company", f"{number:06}", ManagerName=f"Jones {self.made}") for number in range(DEPARTMENTS)]
        path = self.product.file("copies", upserts("Alone", merges))
        return self.with_cpu(self.product.call("InsertOrMergeEntity", path, 64, "once", seconds=60))

    def copies_by_rule(self):
        """A write of the manager, and all that follows from it."""
        product, stack, no_intents = self.product, self.product.stack, "select exists (select from intents)::int"
        self.made += 1
        product.start_worker()
        try:
            product.wait_for(no_intents)
            product.wait_for("select (not exists (select from leases where expires_at > now()))::int")
            before = [stack.cpu(name) for name in ("tavolad", "worker", "postgres")]
            product.once("InsertOrMergeEntity", upserts("Managers", [entity("company", "000007", Name=f"Jones {self.made}")]))
            product.wait_for(no_intents)
            return {_CPU: sum(stack.cpu(name) - was for name, was in zip(("tavolad", "worker", "postgres"), before)) * 1e6 / DEPARTMENTS}
        finally:
            stack.stop("worker")

    def measurements(self):
        product = self.product
        out = {name: lambda name=name: self.read(name) for name in self.reads}
        out |= {name: lambda name=name: self.write(name) for name in self.writes}
        out |= {
            "period by batches": self.period_by_batches,
            "period by table": self.period_by_table,
            "period by range": self.period_by_range,
            "copies by hand": self.copies_by_hand,
            "copies by rule": self.copies_by_rule,
            "move by hand": self.move_by_hand,
            "move by transaction": self.move_by_transaction,
        }
        used = {name for row in INDEX_ROWS for name, _ in row.sources} - {"upsert indexed"}
        all_of_them = product.measurements()
        out |= {name: one for name, one in all_of_them.items() if name in used}
        # What this leaves for a worker must not count in the next measurement.
        return out | self.lists.measurements() | self.large.measurements() | {
            "upsert indexed": all_of_them["upsert indexed"], "worker": lambda: product.worker(INDEXED_KEYS)}
