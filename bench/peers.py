# SPDX-License-Identifier: Apache-2.0
"""Other products on the same machine: Azurite, etcd, BullMQ, graphile-worker, each beside what of ours it is like.

They differ in what they promise; the difference stands beside the ratio. Azurite and our own door for its protocol (rest.py)
are loaded with bench_h1_load, etcd and our gRPC with bench_h2_load, which costs as little: what a client takes of the processors is not the
server's.
"""

import functools
import os
import shutil
import subprocess
import time

import rest
import wire
from loads import ECHO, _checked, _words
from product import IDLE_KEYS, INDEXED_KEYS
from rows import Row
from tavola_test.ports import free_port
from tavola_test.processes import program_environment

IN_FLIGHT = (32, 256)  # musts hold for the first size
KEYS = 1000  # all products store the same entities, read in the same order
JOBS = 30_000
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")

_AZURITE = "an emulator: keeps all in memory and writes it to disk now and then, so that an acknowledged write may be lost"
_ETCD = "as durable as ours; bytes by key, all of them in memory: no properties, no indexes"
_BULLMQ = "jobs in Redis without fsync, adding included; they do nothing, an index entry is written and committed"
_NOTHING = "neither does anything: what is left is taking, looking and removing"
_ECHO = "the bare core: no Get of ours can be more"
_GRAPHILE = "jobs in the same PostgreSQL, committed; they do nothing, adding not counted"

_C_CORE = "what a client with the C core makes of it, whose CPU is the server's loss here"

_CALLS = (  # ours, theirs, title, must, aim, note
    ("get", "azurite get", "Get / Azurite", 20, 40, _AZURITE),
    ("upsert", "azurite upsert", "Upsert / Azurite", 12, 25, _AZURITE),
    ("get", "etcd range", "Get / etcd range", 3, 5, _ETCD),
    ("upsert", "etcd put", "InsertOrReplace / etcd put", 1.5, 3, _ETCD),
)

ROWS = [
    Row(title, (f"{ours} {IN_FLIGHT[0]}", "rate"), (f"{theirs} {IN_FLIGHT[0]}", "rate"), must=must, aim=aim, note=note)
    for ours, theirs, title, must, aim, note in _CALLS
] + [
    Row(f"{title}, {IN_FLIGHT[1]} in flight each", (f"{ours} {IN_FLIGHT[1]}", "rate"), (f"{theirs} {IN_FLIGHT[1]}", "rate"))
    for ours, theirs, title, *_ in _CALLS
] + [
    Row("Get, C-core client / Azurite", ("get C core", "rate"), (f"azurite get {IN_FLIGHT[0]}", "rate"), note=_C_CORE),
    Row("Upsert, C-core client / Azurite", ("upsert C core", "rate"), (f"azurite upsert {IN_FLIGHT[0]}", "rate"),
        note=_C_CORE),
    Row("echo / Azurite", (f"echo {IN_FLIGHT[0]}", "rate"), (f"azurite get {IN_FLIGHT[0]}", "rate"), note=_ECHO),
    # Each of these keys gets another entry: one to remove, one to write.
    Row("worker, index entries / BullMQ add + process", ("worker", "rate"), ("bullmq", "rate"), must=3, aim=8,
        note=_BULLMQ),
    Row("worker, index entries / graphile-worker tuned", ("worker", "rate"), ("graphile-worker", "rate"), must=1, aim=3,
        note=_GRAPHILE),
    Row("worker, entries of new keys / BullMQ add + process", ("worker new", "rate"), ("bullmq", "rate"), note=_BULLMQ),
    Row("worker, entries of new keys / graphile-worker tuned", ("worker new", "rate"), ("graphile-worker", "rate"),
        note=_GRAPHILE),
    Row("worker, intents with nothing to do / graphile-worker tuned", ("worker no-op", "rate"), ("graphile-worker", "rate"),
        note=_NOTHING),
] + rest.ROWS


def _install(folder):
    """In a folder of the build, installed once."""
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "bullmq.js", "graphile.js"):
        shutil.copy(os.path.join(HERE, name), folder)
    _checked(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"])


# ---- etcd: it speaks gRPC, so the load is the same as ours ----


class Etcd:
    def __init__(self, peers):
        self.peers = peers
        client, peer = (f"127.0.0.1:{free_port()}" for _ in range(2))
        command = ["etcd", "--data-dir", f"{peers.stack.folder}/etcd", "--listen-client-urls", f"http://{client}",
                   "--advertise-client-urls", f"http://{client}", "--listen-peer-urls", f"http://{peer}",
                   "--initial-advertise-peer-urls", f"http://{peer}", "--initial-cluster", f"default=http://{peer}"]
        peers.stack.start("etcd", command, {}, "ready to serve client requests")
        peers.stack.targets["etcd"] = client
        keys = [b"p%d/r%d" % (key // 100, key) for key in range(wire.FIRST, wire.FIRST + KEYS)]
        file = peers.product.file
        self.puts = file("etcd-put", [wire.message((1, key), (2, b"x" * 250)) for key in keys])
        self.ranges = file("etcd-range", [wire.message((1, key)) for key in keys])
        peers.product.loads.run("/etcdserverpb.KV/Put", self.puts, 1, "once", server="etcd", seconds=60)

    def range(self, in_flight):
        return self.peers.product.loads.lean_call("/etcdserverpb.KV/Range", self.ranges, in_flight, server="etcd")

    def put(self, in_flight):
        return self.peers.product.loads.lean_call("/etcdserverpb.KV/Put", self.puts, in_flight, server="etcd")


class Peers:
    def __init__(self, product, folder):
        self.product = product
        self.stack = product.stack
        self.folder = folder

    def prepare(self):
        _install(self.folder)
        self.stack.sql("create database graphile")
        keys = range(wire.FIRST, wire.FIRST + KEYS)
        self.gets = self.product.file("peers-get", wire.get("Bench", keys))
        self.upserts = self.product.file("peers-upsert", wire.write("Bench", keys))

    # Each is started by its first measurement, so that one which does not start fails alone.

    @functools.cached_property
    def azurite(self):
        return rest.start_azurite(self.product, self.folder)

    @functools.cached_property
    def door(self):
        return rest.start_door(self.product)

    @functools.cached_property
    def etcd(self):
        return Etcd(self)

    def jobs(self, program, *arguments, **environment):
        command = ["node", os.path.join(self.folder, program), *arguments]

        def run():
            done = subprocess.run(command, env=program_environment(environment), capture_output=True, text=True,
                                  check=False, timeout=120)
            if done.returncode != 0:
                raise RuntimeError(f"{program}: {done.stderr.strip()[-500:]}")
            return _words(done.stdout)

        return self.product.loads.measured(run, "jobs", "none")

    def bullmq(self):
        return self.jobs("bullmq.js", os.environ["TAVOLA_REDIS"].removeprefix("unix:"), str(JOBS))

    def graphile(self):
        known = dict(word.split("=", 1) for word in self.stack.postgres.split())
        return self.jobs("graphile.js", str(JOBS), PGHOST=known["host"], PGUSER=known["user"], PGDATABASE="graphile")

    def worker(self):
        self.product.indexed("Indexed", INDEXED_KEYS)
        time.sleep(0.5)
        return self.product.worker(INDEXED_KEYS)

    def measurements(self):
        core, lean = self.product.loads.call, self.product.loads.lean_call
        calls = {
            "azurite get": lambda n: self.azurite.get(n),
            "etcd range": lambda n: self.etcd.range(n),
            "get": lambda n: lean("GetEntity", self.gets, n),
            "echo": lambda n: lean(ECHO, self.gets, n, server="echo"),
            "azurite upsert": lambda n: self.azurite.upsert(n),
            "etcd put": lambda n: self.etcd.put(n),
            "upsert": lambda n: lean("InsertOrReplaceEntity", self.upserts, n),
        }
        calls = {f"{name} {n}": lambda one=one, n=n: one(n) for n in IN_FLIGHT for name, one in calls.items()}
        for n in rest.IN_FLIGHT:
            for name in ("get", "upsert", "page", "batch"):
                calls[f"azurite {name} {n}"] = lambda name=name, n=n: getattr(self.azurite, name)(n)
                calls[f"rest {name} {n}"] = lambda name=name, n=n: getattr(self.door, name)(n)
        for name, script in rest.floors(self.product).items():
            calls[f"pgbench {name} 1"] = lambda script=script: self.product.loads.pgbench(script, clients=1)
        calls["get C core"] = lambda: core("GetEntity", self.gets, IN_FLIGHT[0])
        for name in ("get", "upsert"):
            calls[f"json {name} 32"] = lambda name=name: getattr(self.door, f"json_{name}")(32)
        calls["upsert C core"] = lambda: core("InsertOrReplaceEntity", self.upserts, IN_FLIGHT[0])
        jobs = {"bullmq": self.bullmq, "graphile-worker": self.graphile, "worker": self.worker,
                "worker new": lambda: self.product.worker_new("Indexed", INDEXED_KEYS),
                "worker no-op": lambda: self.product.worker_idle("Indexed", IDLE_KEYS)}
        return calls | jobs
