# SPDX-License-Identifier: Apache-2.0
"""Verifying an index beside reading its table by libpq, and what the scrub costs others."""

import wire
from rows import Row

INDEX = "ByOwnColor"  # of lookups.py: an entry for every entity
_RANGE = ("libpq range 1", "rate")
_MODES = {"verify full": (), "verify fast": ((4, 1),)}
_LOADS = ("get 64", "upsert 256")
_ABSENT = (3, [(1, "p"), (2, "absent")])

ROWS = [
    Row("entities verified, full / libpq binary range, one connection", ("verify full", "rate"), _RANGE, aim=0.2),
    Row("entities verified, fast / libpq binary range, one connection", ("verify fast", "rate"), _RANGE, aim=0.5),
] + [
    Row(f"{load}, beside the scrub at its default / without", (f"{load}, scrub", "rate"), (f"{load}, no scrub", "rate"))
    for load in _LOADS
]


class Verifications:
    def __init__(self, product):
        self.product = product

    def beside_worker(self, measure, **settings):
        self.product.start_worker(**settings)
        try:
            return measure()
        finally:
            self.product.stack.stop("worker")

    def request(self, *more):
        self.product.once("/tavola.v1.IndexService/VerifyIndex", [wire.message((1, INDEX), *more)])
        self.product.wait_for("select count(*) from operations where kind = 'verify_index' and state in (1, 2)")

    def run(self, more):
        """From the request to the end of the operation, by its own times."""
        product = self.product
        self.request(*more)
        seconds, entities, differences = product.sql(
            "select (o.ended - o.started) / 1e7, r.sources, r.missing + r.dangling + r.mismatched + r.manifests"
            " from operations o join index_reports r using (operation_id)"
            " where o.kind = 'verify_index' order by o.started desc limit 1").strip().split("|")
        if int(entities) != wire.COUNT or int(differences) != 0:
            raise RuntimeError(f"{entities} entities were verified, with {differences} differences")
        return {"entities": int(entities), "seconds": float(seconds)}

    def verify(self, more):
        def measure():
            self.request(_ABSENT)  # once it has ended, the worker has started
            return self.product.loads.measured(lambda: self.run(more), "entities", "worker")

        return self.beside_worker(measure, TAVOLA_SCRUB_SHARE="0")

    def load(self, load, **settings):
        product = self.product
        method, path, in_flight = {
            "get 64": ("GetEntity", product.get_uniform, 64),
            "upsert 256": ("InsertOrReplaceEntity", product.upsert_uniform, 256),
        }[load]
        product.sql("update index_scrubs set begun = '-infinity'")
        return self.beside_worker(lambda: product.call(method, path, in_flight), **settings)

    def measurements(self):
        loads = self.product.loads
        out = {"libpq range 1": lambda: loads.libpq("range", 1)}
        out |= {name: lambda more=more: self.verify(more) for name, more in _MODES.items()}
        for load in _LOADS:
            out[f"{load}, no scrub"] = lambda load=load: self.load(load, TAVOLA_SCRUB_SHARE="0")
            out[f"{load}, scrub"] = lambda load=load: self.load(load)
        return out
