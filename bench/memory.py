# SPDX-License-Identifier: Apache-2.0
"""Resident memory of a server of its own: idle, per connection and stream, through a scan and an import of a million."""

import select
import subprocess

from rows import Row

NAME = "memory"
CONNECTIONS = 400
STREAMS, STREAM_CONNECTIONS = 1000, 20
TURNS = 10  # of a table of 100,000
MB, KB = 1e6, 1e3

ROWS = [
    Row("memory, idle / 40 MB", ("memory idle", "bytes"), 40 * MB, "<=", 1.0, 0.75, "B"),
    Row("memory per open connection / 60 kB", ("memory per connection", "bytes"), 60 * KB, "<=", 1.0, 0.75, "B"),
    Row("memory per open stream / 60 kB", ("memory per stream", "bytes"), 60 * KB, "<=", unit="B"),
    Row("memory, scan of a million, above idle / 16 MB", ("memory scan", "bytes"), 16 * MB, "<=", 1.0, 0.75, "B"),
    Row("memory, import of a million, above idle / 16 MB", ("memory import", "bytes"), 16 * MB, "<=", unit="B"),
]


class Memory:
    def __init__(self, product):
        self.product = product
        self.stack = product.stack

    def fresh(self):
        self.stack.stop(NAME)
        self.stack.start_server(NAME)
        return self.stack.memory(NAME)

    def idle(self):
        return {"bytes": self.fresh()}

    def held(self, method, path, in_flight, connections, *options):
        """Resident bytes while all of them are open."""
        command = self.product.loads.command(method, path, in_flight, "hold", f"connections={connections}", *options,
                                             server=NAME, seconds=20)
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            if not select.select([child.stdout], [], [], 20)[0] or child.stdout.readline().strip() != "holding":
                raise RuntimeError("connections or streams do not open")
            return self.stack.memory(NAME)
        finally:
            child.terminate()
            child.wait()

    def per_connection(self):
        before = self.fresh()
        held = self.held("GetEntity", self.product.get_hot, CONNECTIONS, CONNECTIONS)
        return {"bytes": (held - before) / CONNECTIONS}

    def per_stream(self):
        """Streams that have imported one entity each; the memory of their connections is subtracted."""
        self.fresh()
        one = self.product.one_entity
        before = self.held("ImportEntities", one, STREAM_CONNECTIONS, STREAM_CONNECTIONS, "stream")
        held = self.held("ImportEntities", one, STREAMS, STREAM_CONNECTIONS, "stream")
        return {"bytes": (held - before) / (STREAMS - STREAM_CONNECTIONS)}

    def peak(self, method, path, *options):
        before = self.fresh()
        self.stack.forget_peak(NAME)
        for _ in range(TURNS):
            self.product.loads.run(method, path, 1, "once", *options, server=NAME, seconds=60)
        return {"bytes": self.stack.peak_memory(NAME) - before}

    def measurements(self):
        product = self.product
        return {
            "memory idle": self.idle,
            "memory per connection": self.per_connection,
            "memory per stream": self.per_stream,
            "memory scan": lambda: self.peak("ScanEntities", product.stream, "drain"),
            "memory import": lambda: self.peak("ImportEntities", product.import_all, "stream"),
        }
