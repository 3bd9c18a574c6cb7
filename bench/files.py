# SPDX-License-Identifier: Apache-2.0
"""`tavola import` and `tavola export` of a large file, beside what the server does with the same entities from a client that
sends finished messages; their memory; and an import that is killed in the middle and continued.
"""

import json
import os
import signal
import subprocess
import time

import wire
from rows import Row
from tavola_test.processes import program, program_environment

MB = 1e6
_FINISHED = "the client parses each line and types each value; the other one sends messages that are finished before"

ROWS = [
    Row("tavola import of a file / import of finished messages", ("file import", "rate"), ("own import", "rate"), must=0.7, note=_FINISHED),
    Row("tavola import of a file, memory / 64 MB", ("file import", "bytes"), 64 * MB, "<=", 1.0, unit="B"),
    Row("tavola export to a file / scan that drops what it reads", ("file export", "rate"), ("own scan", "rate"), note=_FINISHED),
    Row("tavola export to a file, memory / 64 MB", ("file export", "bytes"), 64 * MB, "<=", 1.0, unit="B"),
    Row("tavola export --snapshot / without", ("snapshot export", "rate"), ("file export", "rate")),
    Row("killed and continued import, entities missing or twice + 1", ("killed import", "wrong"), 1.0, "<=", 1.0, unit="entities"),
]


def _run(words, target, check=True):
    """(seconds, largest resident bytes) of the command."""
    begun = time.monotonic()
    child = subprocess.Popen([program("tavola"), *words], env=program_environment({"TAVOLA_TARGET": target}),
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if check and child.returncode != 0:
        raise RuntimeError(f"tavola {words[0]} ended with {child.returncode}: {said[-300:]}")
    return time.monotonic() - begun, usage.ru_maxrss * 1024


class Files:
    def __init__(self, product, entities):
        self.product, self.entities = product, entities
        self.loads, self.stack = product.loads, product.stack
        self.tables = 0

    def prepare(self):
        """The entities as JSON lines, and as the messages of an import: the same keys and values. And the server."""
        self.product.start()
        self.path, self.out = f"{self.stack.folder}/entities.jsonl", f"{self.stack.folder}/out.jsonl"
        with open(self.path, "w", encoding="utf-8") as file:
            for key in range(wire.FIRST, wire.FIRST + self.entities):
                properties = {f"Prop{i}": "x" * 24 for i in range(6)}
                row = {"PartitionKey": f"p{key // wire.KEYS_PER_PARTITION}", "RowKey": f"r{key}", "Color": f"v{wire.FIRST}", **properties}
                file.write(json.dumps(row) + "\n")

    def new_table(self):
        self.tables += 1
        name = f"Files{self.tables}"
        _run(["table", "create", name], self.target)
        return name

    @property
    def target(self):
        return self.stack.targets[self.product.server]

    def rate(self, seconds):
        return self.entities / seconds

    def own_import(self):
        table = self.new_table()
        keys = range(wire.FIRST, wire.FIRST + self.entities)
        path = self.product.file("files-import", wire.import_(table, keys))
        seen = self.loads.run("ImportEntities", path, 1, "stream", "once", server=self.product.server, seconds=300)
        os.remove(path)
        return {"rate": seen["calls"] * 1000 / seen["seconds"]}

    def file_import(self):
        self.table = self.new_table()
        seconds, memory = _run(["import", self.table, self.path], self.target)
        return {"rate": self.rate(seconds), "bytes": memory}

    def own_scan(self):
        path = self.product.file("files-scan", wire.scan(self.table))
        seen = self.loads.run("ScanEntities", path, 1, "drain", "once", server=self.product.server, seconds=300)
        return {"rate": self.entities / seen["seconds"]}

    def file_export(self, *more):
        seconds, memory = _run(["export", self.table, "--output", self.out, *more], self.target)
        if sum(1 for _ in open(self.out, "rb")) != self.entities:
            raise RuntimeError("the export has not all entities")
        os.remove(self.out)
        return {"rate": self.rate(seconds), "bytes": memory}

    def killed_import(self):
        """An import that is killed when about half of the file is sent, and run again to its end."""
        table, state = self.new_table(), self.path + ".tavola-import"
        child = subprocess.Popen([program("tavola"), "import", table, self.path], stderr=subprocess.DEVNULL,
                                 env=program_environment({"TAVOLA_TARGET": self.target}))
        while child.poll() is None and self.done(state) < self.entities // 2:
            time.sleep(0.02)
        child.send_signal(signal.SIGKILL)
        if child.wait() != -signal.SIGKILL:
            raise RuntimeError("the import had ended before it was killed")
        _run(["import", table, self.path], self.target)
        _run(["export", table, "--output", self.out], self.target)
        with open(self.out, "rb") as file:
            lines = list(file)
        keys = {json.loads(line)["RowKey"] for line in lines}
        os.remove(self.out)
        return {"wrong": 1 + abs(len(lines) - len(keys)) + abs(self.entities - len(keys))}

    @staticmethod
    def done(state):
        try:
            with open(state, encoding="utf-8") as file:
                return int(file.read().split()[4])
        except (OSError, IndexError):
            return 0

    def measurements(self):
        return {
            "own import": self.own_import,
            "file import": self.file_import,
            "own scan": self.own_scan,
            "file export": self.file_export,
            "snapshot export": lambda: self.file_export("--snapshot"),
            "killed import": self.killed_import,
        }
