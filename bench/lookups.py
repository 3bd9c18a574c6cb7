# SPDX-License-Identifier: Apache-2.0
"""Look-ups and short row-range queries beside Get: the same client, 8 connections with 8 calls each, the same entities."""

import wire
from rows import Row

_GET = ("get 8x8", "rate")
_RANGES = ("libpq ranges", "rate")  # rows
_EIGHT = "connections=8"
IN_FLIGHT = 64

_LATEST = (4, [(3, 1)])  # freshness.latest
_TRUSTED = (6, 1)  # trust_index
_INDEXES = [("ByOwnColor", "Found", ["Color"]), ("ByProp0", "Found", ["Prop0"])]

_LOADS = ("lookup 1", "lookup 1 trusted", "lookup 1 latest", "lookup 1 at_least", "lookup 20", "lookup 20 trusted", "rows 1", "rows 20")

ROWS = [
    Row("look-up, one hit, checked / Get", ("lookup 1", "rate"), _GET, must=0.5, aim=0.8),
    Row("look-up, one hit, trust_index / Get", ("lookup 1 trusted", "rate"), _GET),
    Row("look-up, one hit, latest, nothing open / Get", ("lookup 1 latest", "rate"), _GET, must=0.4),
    Row("look-up, one hit, at_least / Get", ("lookup 1 at_least", "rate"), _GET),
    Row("look-up, 20 hits, checked / Get", ("lookup 20", "rate"), _GET, must=0.35, either="look-up"),
    Row("look-up, 20 hits, rows returned / libpq, ranges of 20", ("lookup 20", "rows"), _RANGES, must=0.5, either="look-up"),
    Row("look-up, 20 hits, trust_index / Get", ("lookup 20 trusted", "rate"), _GET),
    Row("row-range query, one hit / Get", ("rows 1", "rate"), _GET, must=0.35),
    Row("row-range query, 20 hits / Get", ("rows 20", "rate"), _GET, must=0.35, either="row range"),
    Row("row-range query, 20 hits, rows / libpq, ranges of 20", ("rows 20", "rows"), _RANGES, must=0.5, either="row range"),
] + [Row(f"{name}, p99 / Get", (name, "p99_us"), ("get 8x8", "p99_us"), "<=", unit="us") for name in _LOADS]


class Lookups:
    def __init__(self, product):
        self.product = product

    def prepare(self):
        """A table with two indexes that are caught up."""
        product, keys = self.product, list(range(wire.FIRST, wire.FIRST + wire.COUNT))
        product.create(["Found"])
        product.once("ImportEntities", wire.import_found("Found", keys), 2, "stream")
        product.create([], _INDEXES)
        product.sql("vacuum analyze")
        product.sql("checkpoint")
        self.make_requests(self.applied_token())

    def applied_token(self):
        """Of a write that the indexes have followed."""
        reply = f"{self.product.stack.folder}/token-reply"
        path = self.product.file("token-write", wire.write("Found", [wire.FIRST], wire.COUNT))
        self.product.loads.run("InsertOrReplaceEntity", path, 1, "once", f"keep={reply}", server=self.product.server, seconds=5)
        self.product.start_worker()
        self.product.wait_for("select count(*) from intents")
        self.product.stack.stop("worker")
        with open(reply, "rb") as file:
            return wire.token_of(file.read())

    def make_requests(self, token):
        keys = wire.uniform(20_000)
        at_least = (4, [(1, token)])
        requests = {
            "get 8x8": wire.get("Found", keys),
            "lookup 1": wire.find("ByOwnColor", keys),
            "lookup 1 trusted": wire.find("ByOwnColor", keys, _TRUSTED),
            "lookup 1 latest": wire.find("ByOwnColor", keys, _LATEST),
            "lookup 1 at_least": wire.find("ByOwnColor", keys, at_least),
            "lookup 20": wire.find_group("ByProp0", keys),
            "lookup 20 trusted": wire.find_group("ByProp0", keys, _TRUSTED),
            "rows 1": wire.query_rows("Found", keys, 1),
            "rows 20": wire.query_rows("Found", keys, wire.GROUP),
        }
        self.paths = {name: self.product.file(name.replace(" ", "-"), one) for name, one in requests.items()}

    def load(self, name):
        method = "/tavola.v1.IndexService/LookupIndex" if name.startswith("lookup") else None
        method = method or ("GetEntity" if name.startswith("get") else "QueryEntities")
        seen = self.product.lean_call(method, self.paths[name], IN_FLIGHT, _EIGHT)
        return seen | {"rows": seen["rate"] * wire.GROUP} if " 20" in name else seen

    def measurements(self):
        calls = {name: lambda name=name: self.load(name) for name in ("get 8x8", *_LOADS)}
        return calls | {"libpq ranges": lambda: self.product.loads.libpq("rows20", 2)}
