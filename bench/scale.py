# SPDX-License-Identifier: Apache-2.0
"""How cost grows: with the number of entities, each number in a database and on a server of its own, called in turn;
and with the number of connections.
"""

import features
import wire
from loads import ECHO
from product import Product
from rows import Row

PART = 100_000  # entities per file that is imported
APPLIED_KEYS = 15_000  # of the table with an index, per round
CONNECTIONS = (1, 64, 1000)
SOME = 20_000
_OPERATIONS = (("get", 0.8, 0.95), ("pgbench get", None, None), ("upsert", 0.8, 0.95), ("page", None, None),
               ("index apply", None, None))
# The same rows, as many as the gets read: the cost of the size alone in PostgreSQL.
_PGBENCH_GET = """\\set k {first} + random(0, {some} - 1) * {step}
\\set p :k / {partition}
select version, ts, properties from entities
where table_id = {table} and partition_key = 'p' || :p and row_key = 'r' || :k and not dead;
"""


def short(size):
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


class Site:
    """One number of entities. The table with an index is small; its rows lie among those of the large one."""

    def __init__(self, stack, loads, size):
        name = f"scale{size}"
        words = [word for word in stack.postgres.split() if not word.startswith("dbname=")]
        self.stack = stack
        self.size = size
        self.product = Product(stack, loads, name, " ".join([*words, f"dbname={name}"]))

    def prepare(self):
        product, size = self.product, self.size
        self.stack.sql(f"create database {product.server}")
        product.start()
        product.create(["Bench", "Indexed"], [("ByColor", "Indexed", ["Color"])])
        for first in range(wire.FIRST, wire.FIRST + size, PART):
            keys = range(first, min(first + PART, wire.FIRST + size))
            product.once("ImportEntities", wire.import_("Bench", keys), 2, "stream")
        product.sql("vacuum analyze")
        product.sql("checkpoint")
        keys = wire.uniform(SOME, size)
        self.gets = product.file(f"gets-{size}", wire.get("Bench", keys))
        self.upserts = product.file(f"upserts-{size}", wire.write("Bench", keys))
        table = product.sql("select table_id from tables where name = 'Bench'")
        some = min(SOME, size)
        self.plain_gets = product.text(f"pgbench-{size}", _PGBENCH_GET.format(
            first=wire.FIRST, some=some, step=size // some, partition=wire.KEYS_PER_PARTITION, table=table))
        self.queries = product.file(f"queries-{size}", wire.query("Bench", wire.uniform(500, size), size))

    def apply(self):
        self.product.indexed("Indexed", APPLIED_KEYS)
        return self.product.worker(APPLIED_KEYS)

    def measurements(self):
        product = self.product
        one = {
            "get": lambda: product.call("GetEntity", self.gets, 64),
            "pgbench get": lambda: product.loads.pgbench(self.plain_gets, product.postgres),
            "upsert": lambda: product.call("InsertOrReplaceEntity", self.upserts, 256),
            "page": lambda: product.per_entity(product.call("QueryEntities", self.queries, 2), 1000),
            "index apply": self.apply,
        }
        return {f"{name} at {short(self.size)}": measure for name, measure in one.items()}


class Scale:
    def __init__(self, stack, loads, sizes):
        self.stack = stack
        self.loads = loads
        self.sites = [Site(stack, loads, size) for size in sorted(sizes)]
        self.extras = features.Features(self.sites[0].product)

    def prepare(self, say):
        for site in self.sites:
            say(f"importing {site.size:,} entities")
            site.prepare()
        product = self.sites[0].product
        path = product.file("get-one", wire.get("Bench", wire.hot(1)))
        reply = self.loads.run("GetEntity", path, 1, "once", server=product.server, seconds=5)
        self.stack.start_echo("echo", 1, round(reply["reply_bytes"]))

    def connected(self, method, server, connections):
        return self.loads.call(method, self.sites[0].gets, max(64, connections), f"connections={connections}", server=server)

    def measurements(self):
        # Ordered by operation, so that the two sizes of a ratio are measured close together.
        by_site = [site.measurements() for site in self.sites]
        out = {name: one[name] for names in zip(*by_site) for name, one in zip(names, by_site)}
        server = self.sites[0].product.server
        for n in CONNECTIONS:
            out[f"echo, connections: {n}"] = lambda n=n: self.connected(ECHO, "echo", n)
            out[f"get, connections: {n}"] = lambda n=n: self.connected("GetEntity", server, n)
            for one in features.CONNECTING:
                out[f"get, connections: {n}, {one.name}"] = lambda n=n, one=one: self.extras.call(
                    one, "GetEntity", self.sites[0].gets, max(64, n), f"connections={n}")
        return out

    def rows(self):
        smallest, largest = self.sites[0], self.sites[-1]
        out = []
        for site in self.sites[1:]:
            for name, must, aim in _OPERATIONS:
                bounds = (must, aim) if site is largest else (None, None)
                out.append(Row(f"{name} at {short(site.size)} / at {short(smallest.size)}",
                               (f"{name} at {short(site.size)}", "rate"), (f"{name} at {short(smallest.size)}", "rate"),
                               must=bounds[0], aim=bounds[1]))
            for name in ("get", "pgbench get"):
                here, there = f"{name} at {short(site.size)}", f"{name} at {short(smallest.size)}"
                out.append(Row(f"{here} / at {short(smallest.size)}, PostgreSQL CPU", (here, "postgres_us"),
                               (there, "postgres_us"), sense="<=", unit="us"))
        for n in CONNECTIONS:
            get = (f"get, connections: {n}", "rate")
            out.append(Row(f"Get / echo, connections: {n}", get, (f"echo, connections: {n}", "rate")))
            out += [Row(f"Get with {one.name} / without, connections: {n}", (f"{get[0]}, {one.name}", "rate"), get)
                    for one in features.CONNECTING]
        return out
