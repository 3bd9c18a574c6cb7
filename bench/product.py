# SPDX-License-Identifier: Apache-2.0
"""The service on a database of its own: tables, requests, and the measurements of each round."""

import os
import subprocess
import time

import wire
from loads import ECHO
from stack import cpu_of
from tavola_test.settings import SOURCE

# Written per round to the table with an index, then indexed by the worker; the worker's start must not matter much.
INDEXED_KEYS = 60_000
IDLE_KEYS = 20_000  # written twice
HOT_WRITES = 20_000  # of one key
SCANNED_KEYS = 10_000  # rows of the partition that is filtered
INSERT_KEYS = 120_000  # per round: enough for every known machine
WORKER_TIMEOUT = 120  # seconds

_TABLES = ("Bench", "Large", "Scanned", "Indexed", "Indexed5", "IndexedStrong", "IndexedAtOnce",
           "IndexedUnique")
_INDEXES = [("ByColor", "Indexed", ["Color"])]
_INDEXES += [(f"ByColor{i}", "Indexed5", ["Color", f"Prop{i}"]) for i in range(5)]


def _pgbench_scripts(table, bytes_):
    """Get and upsert of the same rows in a table of the same shape, in the usual way."""
    keys = f"\\set k random({wire.FIRST}, {wire.FIRST + wire.COUNT - 1})\n\\set p :k / {wire.KEYS_PER_PARTITION}\n"
    get = f"""select version, ts, properties from {table}
where table_id = 1 and partition_key = 'p' || :p and row_key = 'r' || :k and bucket = 0;
"""
    upsert = f"""insert into {table} as e (table_id, partition_key, row_key, bucket, version, ts, properties)
values (1, 'p' || :p, 'r' || :k, 0, 1, 1, '\\x{"78" * bytes_}'::bytea)
on conflict (table_id, partition_key, row_key, bucket) do update
set version = e.version + 1, ts = e.ts + 1, properties = excluded.properties returning version, ts;
"""
    return keys + get, keys + upsert


def _pgbench_import(table, bytes_):
    """Upserts of a thousand neighbouring rows in one statement."""
    return f"""\\set k random({wire.FIRST}, {wire.FIRST + wire.COUNT - 1000})
insert into {table} as e (table_id, partition_key, row_key, bucket, version, ts, properties)
select 1, 'p' || n / {wire.KEYS_PER_PARTITION}, 'r' || n, 0, 1, 1, '\\x{"78" * bytes_}'::bytea
from generate_series(:k, :k + 999) n
on conflict (table_id, partition_key, row_key, bucket) do update
set version = e.version + 1, ts = e.ts + 1, properties = excluded.properties;
"""


class Product:
    """server: its name; postgres: its database, if it is not the shared one."""

    def __init__(self, stack, loads, server="tavolad", postgres=None):
        self.stack = stack
        self.loads = loads
        self.server = server
        self.postgres = postgres or stack.postgres
        self.threads = int(os.environ.get("TAVOLA_RPC_THREADS", "1"))
        self.next_insert = self.next_new = wire.FIRST + wire.COUNT
        self.next_value = 0  # of the indexed property: a value that stays causes no work

    # ---- setting up ----

    def file(self, name, requests):
        return wire.save(f"{self.stack.folder}/{name}", requests)

    def text(self, name, content):
        path = f"{self.stack.folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    def once(self, method, requests, in_flight=1, *options):
        path = self.file("once", requests)
        return self.loads.run(method, path, in_flight, "once", *options, server=self.server, seconds=300)

    def call(self, *arguments, **named):
        return self.loads.call(*arguments, server=self.server, **named)

    def lean_call(self, *arguments, **named):
        return self.loads.lean_call(*arguments, server=self.server, **named)

    def python(self, *arguments):
        """Run a program with the Python package of this tree, as a caller does."""
        environment = os.environ | {"PYTHONPATH": f"{SOURCE}/clients/python"}
        done = subprocess.run(["/usr/bin/python3", "-B", *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-500:])

    def caller(self, program, *arguments):
        """Run such a program of bench/ with the server's address and the arguments."""
        self.python(f"{SOURCE}/bench/{program}", self.stack.targets[self.server], *map(str, arguments))

    def cost_of_caller(self, program, *arguments):
        """CPU of Tavola and of PostgreSQL for one turn; the last argument is the number of turns."""
        def run():
            self.caller(program, *arguments)
            return {"turns": arguments[-1], "seconds": 1.0}

        seen = self.loads.measured(run, "turns", self.server)
        return {"cpu_us": seen["server_us"] + seen["postgres_us"]}

    def sql(self, text):
        return self.stack.sql(text, self.postgres)

    def start(self):
        self.stack.migrate(TAVOLA_POSTGRES=self.postgres)
        self.stack.start_server(self.server, TAVOLA_POSTGRES=self.postgres)

    def start_worker(self, **settings):
        self.stack.start_worker(TAVOLA_POSTGRES=self.postgres, **settings)

    def create_index(self, request):
        self.once("/tavola.v1.IndexService/CreateIndex", request)

    def create(self, tables, indexes=()):
        for name in tables:
            self.once("/tavola.v1.TableService/CreateTable", wire.create_table(name))
        if "IndexedStrong" in tables:
            self.create_index(wire.create_strong_index("ColorHere", "IndexedStrong"))
            self.create_index(wire.create_index("ColorAtOnce", "IndexedAtOnce", strong=True))
            self.create_index(wire.create_index("ColorOnce", "IndexedUnique", unique=True))
        for name, table, properties in indexes:
            self.create_index(wire.create_index(name, table, properties))
        if indexes:
            self.start_worker()
            self.wait_for("select count(*) from indexes where state <> 3")
            self.stack.stop("worker")

    def prepare(self):
        self.start()
        self.create(_TABLES, _INDEXES)
        self.make_requests()
        keys = list(range(wire.FIRST, wire.FIRST + wire.COUNT))
        self.once("ImportEntities", wire.import_("Bench", keys), 2, "stream")
        self.once("ImportEntities", wire.import_partition("Scanned", "p000000", keys[:SCANNED_KEYS]), 1, "stream")
        self.once("InsertOrReplaceEntity", wire.write("Large", range(wire.FIRST, wire.FIRST + 1000), size=wire.LARGE), 64)
        self.copy("bench_rows", "Bench")
        self.copy("large_rows", "Large")
        self.sql("vacuum analyze")
        self.sql("checkpoint")
        self.reply_bytes = self.reply_of(self.get_hot)
        self.stack.start_echo("echo", self.threads, self.reply_bytes)
        self.stack.start_echo("echo large", self.threads, self.reply_of(self.get_large))

    def reply_of(self, path):
        return round(self.loads.run("GetEntity", path, 1, "once", seconds=1)["reply_bytes"])

    def copy(self, rows, table):
        """A copy of the table's rows, for the statements that the product is compared with."""
        columns = "partition_key, row_key, version, ts, properties"
        self.sql(
            f"create table {rows} (like entities including all) with (fillfactor = 85);"
            f"insert into {rows} (bucket, table_id, {columns}) select 0, 1, {columns}"
            f" from entities where table_id = (select table_id from tables where name = '{table}')")

    def make_requests(self):
        some = 20_000
        keys = wire.uniform(some)
        self.import_all = self.file("import", wire.import_("Bench", range(wire.FIRST, wire.FIRST + wire.COUNT)))
        self.get_hot = self.file("get-hot", wire.get("Bench", wire.hot(1)))
        self.get_uniform = self.file("get-uniform", wire.get("Bench", keys))
        self.get_zipf = self.file("get-zipf", wire.get("Bench", wire.zipf(some)))
        self.get_large = self.file("get-large", wire.get("Large", wire.uniform(1000, 1000)))
        self.get_some = self.file("get-some", wire.get("Bench", keys[:2000]))
        self.upsert_some = self.file("upsert-some", wire.write("Bench", keys[:2000]))
        self.one_entity = self.file("one-entity", wire.import_("Bench", [wire.FIRST]))
        self.upsert_uniform = self.file("upsert-uniform", wire.write("Bench", keys))
        self.upsert_zipf = self.file("upsert-zipf", wire.write("Bench", wire.zipf(some)))
        self.upsert_hot = self.file("upsert-hot", wire.write("Bench", wire.hot(some)))
        self.upsert_large = self.file("upsert-large", wire.write("Large", wire.uniform(1000, 1000), size=wire.LARGE))
        self.replace = self.file("replace", wire.write("Bench", wire.each(wire.FIRST, some)))
        self.batches = self.file("batches", wire.batch("Bench", 300))
        self.queries = self.file("queries", wire.query("Bench", wire.uniform(500)))
        self.stream = self.file("stream", wire.scan("Bench"))
        self.filtered = self.file("filtered", wire.query_filter("Scanned", "PartitionKey eq 'p000000' and Prop0 eq 'absent'"))
        self.pgbench_get, self.pgbench_upsert = [
            self.text(f"pgbench-{i}", script) for i, script in enumerate(_pgbench_scripts("bench_rows", 250))]
        self.pgbench_import = self.text("pgbench-import", _pgbench_import("bench_rows", 250))
        self.pgbench_large = self.text("pgbench-large", _pgbench_scripts("large_rows", 20_000)[1].replace(
            f"{wire.FIRST + wire.COUNT - 1})", f"{wire.FIRST + 999})"))

    def wait_for(self, count_query, seconds=WORKER_TIMEOUT):
        """Wait until the query returns 0."""
        with self.stack.asking(self.postgres) as ask:
            self.wait_while(lambda: ask(count_query) > 0, count_query, seconds)

    @staticmethod
    def wait_while(condition, what, seconds=WORKER_TIMEOUT):
        """Check twenty times a second; returns when the condition held last and when it first failed."""
        held, end = None, time.monotonic() + seconds
        while time.monotonic() < end:
            seen = time.monotonic()
            if not condition():
                return held, seen
            held = seen
            time.sleep(0.05)
        raise RuntimeError(f"not within {seconds} s: {what}")

    # ---- loads that need preparation ----

    def insert(self):
        path = self.file("insert", wire.write("Bench", wire.each(self.next_insert, INSERT_KEYS)))
        self.next_insert += INSERT_KEYS
        try:
            return self.call("InsertEntity", path, 256, "once")
        finally:
            self.sql(f"delete from entities where row_key >= 'r{wire.FIRST + wire.COUNT}'"
                           " and table_id = (select table_id from tables where name = 'Bench')")
            self.sql("vacuum entities")

    def indexed(self, table, keys, first=wire.FIRST):
        """Every key once, with a new value: as many entries to write, and as many to remove for keys that were
        written before.
        """
        path = self.file("indexed", wire.write(table, wire.each(first, keys), self.next_value))
        self.next_value += keys
        return self.call("InsertOrReplaceEntity", path, 256, "once", seconds=60)

    def unique(self, keys):
        """Work that this leaves for workers must not count in the next measurement."""
        try:
            return self.indexed("IndexedUnique", keys)
        finally:
            self.sql("delete from intents where table_id = (select table_id from tables where name = 'IndexedUnique')")

    def worker_new(self, table, keys):
        """As many new keys: an entry to write for each, none to remove."""
        self.indexed(table, keys, self.next_new)
        self.next_new += keys
        return self.worker(keys)

    def worker_idle(self, table, keys):
        """Every key gets another value and then its former one: two intents each, after which no entry changes."""
        before = self.file("indexed-before", wire.write(table, range(wire.FIRST, wire.FIRST + keys), self.next_value))
        self.next_value += keys
        self.call("InsertOrReplaceEntity", before, 256, "once", seconds=60)
        self.worker(keys)
        self.indexed(table, keys)
        self.call("InsertOrReplaceEntity", before, 256, "once", seconds=60)
        return self.worker(2 * keys)

    def worker_hot(self, table, writes):
        """That many upserts of one key, each with another value: the rate counts the intents that they leave, of which
        the last one alone would do.
        """
        path = self.file("indexed-hot", wire.write(table, [wire.FIRST] * writes, self.next_value))
        self.next_value += writes
        self.call("InsertOrReplaceEntity", path, 64, "once", seconds=60)
        return self.worker(int(self.sql("select count(*) from intents")))

    def worker(self, intents, entries_per_intent=1, **settings):
        """The work that `indexed` has left, from the first commit of a worker with these settings on."""
        count, any_ = "select count(*) from intents", "select exists (select from intents)::int"
        with self.stack.asking(self.postgres) as ask:
            if ask(count) != intents:
                raise RuntimeError(f"{ask(count)} intents are open before the worker starts, not {intents}")
            asking = ask("select pg_backend_pid()")

            def postgres():
                # without the session that asks: its counts are no work of the worker
                return self.stack.cpu("postgres") - cpu_of(asking)

            before = postgres()
            self.start_worker(**settings)
            began, _ = self.wait_while(lambda: ask(count) == intents, "the worker's first commit")
            _, done = self.wait_while(lambda: ask(any_), "the worker's last commit")
            used = {"server_us": self.stack.cpu("worker"), "postgres_us": postgres() - before}
        seconds = done - began
        entries = intents * entries_per_intent
        self.stack.stop("worker")
        return {"rate": entries / seconds} | {name: value * 1e6 / entries for name, value in used.items()}

    def scan_stream(self):
        """All rows in one stream, once; the rate counts rows, not calls."""
        seen = self.call("ScanEntities", self.stream, 1, "drain", "once", seconds=60)
        return self.per_entity(seen, wire.COUNT / seen["calls"])

    def filtered_scan(self):
        """Rows per second that a call examines, as its statistics say."""
        reply = f"{self.stack.folder}/filtered-reply"
        self.loads.run("QueryEntities", self.filtered, 1, "once", f"keep={reply}", server=self.server, seconds=5)
        with open(reply, "rb") as file:
            examined = wire.rows_examined(file.read())
        return self.per_entity(self.call("QueryEntities", self.filtered, 2), examined)

    @staticmethod
    def per_entity(seen, entities):
        """Entities per second of calls for several entities each; latencies are those of calls."""
        cpu = {name: seen[name] / entities for name in ("server_us", "kernel_us", "postgres_us", "client_us")}
        return seen | cpu | {"rate": seen["rate"] * entities}

    def measurements(self):
        """In the order of a round: a ceiling is measured beside the row that is compared with it."""
        loads, call = self.loads, self.loads.call
        get, upsert = "GetEntity", "InsertOrReplaceEntity"
        method = f"/tavola.v1.EntityService/{get}"
        return {
            "echo h2load": lambda: loads.h2load("echo", ECHO, self.get_hot, self.reply_bytes),
            "get h2load": lambda: loads.h2load("tavolad", method, self.get_hot, self.reply_bytes),
            "echo 64": lambda: call(ECHO, self.get_uniform, 64, server="echo"),
            "get 64": lambda: call(get, self.get_uniform, 64),
            "get 64 zipf": lambda: call(get, self.get_zipf, 64),
            "get 64 hot": lambda: call(get, self.get_hot, 64),
            "echo 64 large": lambda: call(ECHO, self.get_uniform, 64, server="echo large"),
            "get 64 large": lambda: call(get, self.get_large, 64),
            "pgbench get": lambda: loads.pgbench(self.pgbench_get),
            "echo 1": lambda: call(ECHO, self.get_uniform, 1, server="echo"),
            "get 1": lambda: call(get, self.get_uniform, 1),
            "libpq get 1": lambda: loads.libpq("get", 1),
            "libpq get arrays": lambda: loads.libpq("gets", 2),
            "pgbench upsert": lambda: loads.pgbench(self.pgbench_upsert),
            "upsert 1": lambda: call(upsert, self.upsert_uniform, 1),
            "upsert 64": lambda: call(upsert, self.upsert_uniform, 64),
            "upsert 256": lambda: call(upsert, self.upsert_uniform, 256),
            "upsert 256 lean": lambda: self.lean_call(upsert, self.upsert_uniform, 256),
            "upsert 64 zipf": lambda: call(upsert, self.upsert_zipf, 64),
            "upsert 64 hot": lambda: call(upsert, self.upsert_hot, 64),
            "pgbench upsert large": lambda: loads.pgbench(self.pgbench_large),
            "upsert 64 large": lambda: call(upsert, self.upsert_large, 64),
            "replace 64": lambda: call("ReplaceEntity", self.replace, 64, "if-match"),
            "replace 256": lambda: call("ReplaceEntity", self.replace, 256, "if-match"),
            "insert 256": self.insert,
            "upsert indexed": lambda: self.indexed("Indexed", INDEXED_KEYS),
            "upsert strong": lambda: self.indexed("IndexedStrong", INDEXED_KEYS),
            "upsert strong elsewhere": lambda: self.indexed("IndexedAtOnce", INDEXED_KEYS),
            "upsert unique": lambda: self.unique(INDEXED_KEYS),
            "worker": lambda: self.worker(INDEXED_KEYS),
            "upsert indexed 5": lambda: self.indexed("Indexed5", INDEXED_KEYS // 3),
            "worker 5": lambda: self.worker(INDEXED_KEYS // 3, 5),
            "worker new": lambda: self.worker_new("Indexed", INDEXED_KEYS),
            "worker no-op": lambda: self.worker_idle("Indexed", IDLE_KEYS),
            "worker hot": lambda: self.worker_hot("Indexed", HOT_WRITES),
            "libpq upsert": lambda: loads.libpq("upsert", 2),
            "batch": lambda: self.per_entity(call("ExecuteBatch", self.batches, 8), 100),
            "import": lambda: self.per_entity(call("ImportEntities", self.import_all, 2, "stream"), 1000),
            "libpq range": lambda: loads.libpq("range", 2),
            "pages": lambda: self.per_entity(call("QueryEntities", self.queries, 2), 1000),
            "scan stream": self.scan_stream,
            "filtered scan": self.filtered_scan,
            "redis stream": lambda: loads.queue("raw"),
            "queue": lambda: loads.queue("queue"),
        }
