# SPDX-License-Identifier: Apache-2.0
"""Blobs: what `tavola blob put` and `get` move, and ranges, beside rows of a chunk's size that libpq alone writes and reads in
the same database; and the memory of a server with a bound while large and many contents pass it.

The content of a measured put is new in each round, so every chunk is stored. The contents of the measurements of memory are
equal chunks, of which the database stores one: the server receives, hashes and sends every byte all the same.

Chunks in a directory, and in an emulator of S3 on this machine, are each put and got by a server of their own, beside the server
that keeps them in the database. Where the emulator cannot be fetched, its rows are left out.
"""

import os
import random
import subprocess
import time

import wire
from rows import Row
from tavola_test.chunk_stores import S3, Directory
from tavola_test.processes import program, program_environment
from tavola_test.settings import BUILD, SOURCE

MIB = 1 << 20
CHUNK = 256 * 1024
STORED = 400  # chunks for libpq to read
BLOB_BYTES = 128 * MIB
RANGE_BYTES = 4096
NAME = "memory of blobs"
LIMIT = 256 * MIB
STORES = {"directory": "a directory", "s3": "S3 (emulator)"}
LARGE, PUTS, PUT_BYTES = 10 << 30, 1000, 10 * 1000 * 1000

ROWS = [
    Row("put of a blob / libpq, one connection", ("blob put", "rate"), ("libpq chunk put", "rate"), unit="MiB/s"),
    Row("four puts at once / libpq, four connections", ("blob put 4", "rate"), ("libpq chunk put 4", "rate"), unit="MiB/s"),
    Row("get of a blob / libpq, one connection", ("blob get", "rate"), ("libpq chunk get", "rate"), unit="MiB/s"),
    Row("four gets at once / libpq, four connections", ("blob get 4", "rate"), ("libpq chunk get 4", "rate"), unit="MiB/s"),
    Row("ranges of 4 KiB, 8 in flight / chunks by libpq, 8 connections", ("blob range", "rate"), ("libpq chunk range", "rate")),
    *(Row(f"{what}, chunks in {where} / in the database", (f"{load} {store}", "rate"), (load, "rate"), unit=unit)
      for store, where in STORES.items() for what, load, unit in
      (("put of a blob", "blob put", "MiB/s"), ("get of a blob", "blob get", "MiB/s"), ("ranges of 4 KiB", "blob range", "1/s"))),
    Row("server CPU per MiB put / 1 ms", ("blob put", "server_us"), 1000.0, "<=", unit="us"),
    Row("server CPU per MiB got / 1 ms", ("blob get", "server_us"), 1000.0, "<=", unit="us"),
    Row("memory, a blob of 10 GiB put and got / 256 MB", ("memory large blob", "bytes"), LIMIT, "<=", 1.0, unit="B"),
    Row("memory, 1,000 puts of 10 MB at once / 256 MB", ("memory many puts", "bytes"), LIMIT, "<=", 1.0, unit="B"),
]


class Blobs:
    def __init__(self, product, quick):
        self.product, self.stack, self.loads = product, product.stack, product.loads
        self.share = 10 if quick else 1
        self.puts = 0
        self.stores = {}

    def prepare(self):
        self.product.start()
        self.product.sql(
            "create table bench_chunks (number int8 primary key, bytes bytea not null);"
            "alter table bench_chunks alter column bytes set storage external;"
            f"insert into bench_chunks select n, convert_to(repeat(md5(n::text), {CHUNK // 32}), 'UTF8')"
            f" from generate_series(1, {STORED}) n")
        self.run([self.put(self.new_file(), "got")])
        self.start_stores()

    def start_stores(self):
        self.stores["directory"] = Directory(self.stack.folder)
        folder = f"{BUILD}/s3"
        if subprocess.run(["sh", f"{SOURCE}/tests/s3/with_s3.sh", folder, "true"], check=False).returncode == 0:
            os.environ["TEST_S3"] = folder
            self.stores["s3"] = S3(self.stack.folder)
        for name, store in self.stores.items():
            self.stack.start_server(name, **store.settings)
            self.run([self.put(self.new_file(), f"got {name}", name)])

    def close(self):
        for name, store in self.stores.items():
            self.stack.stop(name)
            store.close()

    def new_file(self):
        self.puts += 1
        path = f"{self.stack.folder}/blob{self.puts}"
        with open(path, "wb") as file:
            file.write(os.urandom(BLOB_BYTES))
        return path

    def tavola(self, *words, server=None):
        target = self.stack.targets[server or self.product.server]
        return subprocess.Popen([program("tavola"), "blob", *words], env=program_environment({"TAVOLA_TARGET": target}),
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def put(self, path, name, server=None):
        return lambda: self.tavola("put", name, path, server=server)

    @staticmethod
    def run(starts):
        """Seconds that the commands took, side by side."""
        begun = time.monotonic()
        children = [start() for start in starts]
        for child in children:
            said = child.communicate()[1]
            if child.returncode != 0:
                raise RuntimeError(f"{' '.join(child.args[1:])}: {said.decode().strip()}")
        return time.monotonic() - begun

    def moved(self, starts, server=None):
        """Counted in MiB."""
        mib = len(starts) * BLOB_BYTES // MIB
        return self.loads.measured(lambda: {"mib": mib, "seconds": self.run(starts)}, "mib", server or self.product.server)

    def measure_put(self, count, server=None):
        paths = [self.new_file() for _ in range(count)]
        seen = self.moved([self.put(path, f"put{i}", server) for i, path in enumerate(paths)], server)
        for path in paths:
            os.remove(path)
        return seen

    def measure_get(self, count, server=None):
        name = f"got {server}" if server else "got"
        return self.moved([lambda: self.tavola("get", name, server=server)] * count, server)

    def libpq(self, mode, connections):
        seen = self.loads.libpq(mode, connections, 1, STORED)
        return seen | {"rate": seen["rate"] * CHUNK / MIB}

    def measure_ranges(self, server=None):
        """Each is answered with two messages: the description, and the bytes."""
        name, server = (f"got {server}", server) if server else ("got", self.product.server)
        path = self.product.file("blob-ranges", [
            wire.get_blob(name, random.randrange(BLOB_BYTES - RANGE_BYTES), RANGE_BYTES) for _ in range(2000)])
        seen = self.loads.call("/tavola.v1.BlobService/GetBlob", path, 8, "drain", "connections=8", server=server)
        return seen | {"rate": seen["rate"] / 2}

    def measurements(self):
        return {
            "libpq chunk put": lambda: self.libpq("chunk-put", 1),
            "blob put": lambda: self.measure_put(1),
            "libpq chunk put 4": lambda: self.libpq("chunk-put", 4),
            "blob put 4": lambda: self.measure_put(4),
            "libpq chunk get": lambda: self.libpq("chunk-get", 1),
            "blob get": lambda: self.measure_get(1),
            "libpq chunk get 4": lambda: self.libpq("chunk-get", 4),
            "blob get 4": lambda: self.measure_get(4),
            "libpq chunk range": lambda: self.loads.libpq("chunk-get", 8, 1, STORED),
            "blob range": self.measure_ranges,
        } | {f"{load} {store}": lambda measure=measure, store=store: measure(store) for store in self.stores for load, measure in (
            ("blob put", lambda store: self.measure_put(1, store)), ("blob get", lambda store: self.measure_get(1, store)),
            ("blob range", self.measure_ranges))}

    # ---- memory ----

    def bounded(self):
        self.stack.stop(NAME)
        self.stack.start_server(NAME, TAVOLA_MEMORY_LIMIT="256MB")
        self.stack.forget_peak(NAME)

    def large_blob(self):
        self.bounded()
        path = f"{self.stack.folder}/hole"
        with open(path, "wb") as file:
            file.truncate(LARGE // self.share)
        self.run([self.put(path, "large", NAME)])
        self.run([lambda: self.tavola("get", "large", server=NAME)])
        return {"bytes": self.stack.peak_memory(NAME)}

    def many_puts(self):
        self.bounded()
        done = subprocess.run(["/usr/bin/python3", "-B", f"{SOURCE}/bench/many_puts.py", self.stack.targets[NAME], str(PUTS // self.share), str(PUT_BYTES)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr[-500:])
        return {"bytes": self.stack.peak_memory(NAME), "refused": float(done.stdout)}

    def memory_measurements(self):
        return {"memory large blob": self.large_blob, "memory many puts": self.many_puts}
