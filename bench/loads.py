# SPDX-License-Identifier: Apache-2.0
"""The programs that make load, what they saw, and what CPU it cost.

Every load gives a dict: rate (1/s), server_us, kernel_us, postgres_us and client_us (CPU per operation of the server
that was asked, the part of it in the kernel, of PostgreSQL with all its processes, and of the load itself), and what the
load says: p50_us, p99_us, ...
"""

import os
import re
import resource
import subprocess
import tempfile
import time

import wire
from tavola_test.processes import bench_program

SERVICE = "/tavola.v1.EntityService/"
ECHO = "/bench.Echo/Echo"


def _words(text):
    """name value name value ... on the last line of what a load prints"""
    words = text.splitlines()[-1].split()
    return {name: float(value) for name, value in zip(words[::2], words[1::2])}


def _checked(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(command[0])}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def _children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _logged_latencies(folder):
    """Microseconds, sorted, of all transactions in the logs of pgbench."""
    found = []
    for name in os.listdir(folder):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            found += [int(line.split()[2]) for line in file]
    return sorted(found)


def _percentiles(values):
    """Of sorted values, in the words of the other loads."""
    shares = {"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999}
    return {name: values[int((len(values) - 1) * share)] for name, share in shares.items()}


class Loads:
    def __init__(self, stack, seconds):
        self.stack = stack
        self.seconds = seconds

    def measured(self, run, operations, server):
        """run() returns the measured values; operations is the name of their count."""
        parts = {"server_us": lambda: self.stack.cpu(server), "kernel_us": lambda: self.stack.kernel_cpu(server),
                 "postgres_us": lambda: self.stack.cpu("postgres"), "client_us": _children_cpu}
        before = {name: cpu() for name, cpu in parts.items()}
        seen = run()
        client = parts["client_us"]()
        time.sleep(0.1)  # backends of connections that were just closed may still be ending
        for name, cpu in parts.items():
            used = (client if name == "client_us" else cpu()) - before[name]
            seen[name] = used * 1e6 / seen[operations]
        return seen | {"rate": seen[operations] / seen["seconds"]}

    # ---- gRPC, with the C core, or with the client that is as lean as those of others ----

    def command(self, method, path, in_flight, *options, server="tavolad", seconds=None, program="bench_load"):
        """bench_load (see load.c), or bench_h2_load (see h2_load.c), as a command."""
        method = method if method.startswith("/") else SERVICE + method
        seconds = seconds or self.seconds
        return [bench_program(program), self.stack.targets[server], method, path, str(in_flight),
                str(seconds), *options]

    def run(self, *arguments, **named):
        return _words(_checked(self.command(*arguments, **named)))

    def call(self, *arguments, server="tavolad", **named):
        return self.measured(lambda: self.run(*arguments, server=server, **named), "calls", server)

    def lean_call(self, *arguments, **named):
        return self.call(*arguments, program="bench_h2_load", **named)

    def lag(self, seconds, probes, write, lookup):
        """Probes, each writing an entity and looking for its entry (see lag.c)."""
        command = [bench_program("bench_lag"), self.stack.targets["tavolad"], str(seconds), str(probes)]
        return _words(_checked([*command, write, lookup]))

    # ---- independent load generators ----

    def run_h2load(self, server, method, path, reply_bytes):
        command = ["h2load", "-t1", "-c8", "-m8", "-D", str(max(1, round(self.seconds))), "-d", path]
        command += ["-H", "content-type: application/grpc", "-H", "te: trailers"]
        text = _checked([*command, f"http://{self.stack.targets[server]}{method}"])
        done = int(re.search(r"requests: (\d+) total", text)[1])
        succeeded = int(re.search(r"(\d+) succeeded", text)[1])
        data = int(re.search(r"\((\d+)\) data", text)[1])
        # gRPC returns its status in the trailers, which h2load ignores: an error would have no data.
        if succeeded < done or data < done * reply_bytes:
            raise RuntimeError(f"h2load saw failures:\n{text}")
        took = re.search(r"finished in ([\d.]+)(m?)s", text)
        return {"calls": done, "seconds": float(took[1]) / (1000 if took[2] else 1)}

    def h2load(self, server, method, path, reply_bytes):
        return self.measured(lambda: self.run_h2load(server, method, path, reply_bytes), "calls", server)

    def run_pgbench(self, *options):
        text = _checked(["pgbench", "-n", "-M", "prepared", "-j1", *options])
        done = int(re.search(r"actually processed: (\d+)", text)[1])
        return {"calls": done, "seconds": done / float(re.search(r"tps = ([\d.]+)", text)[1])}

    def run_logged_pgbench(self, *options):
        """Its log, a line for each transaction, costs it processor time."""
        with tempfile.TemporaryDirectory(dir=self.stack.folder) as folder:
            seen = self.run_pgbench("-l", f"--log-prefix={folder}/log", *options)
            return seen | _percentiles(_logged_latencies(folder))

    def pgbench(self, script, database=None, clients=8, rate=0, logged=False):
        """logged: with latencies. rate: an open loop, whose latencies count from when a transaction was due."""
        options = [f"-c{clients}", "-T", str(max(1, round(self.seconds))), "-f", script]
        options += [f"-R{rate:.0f}"] if rate else []
        run = self.run_logged_pgbench if logged else self.run_pgbench
        return self.measured(lambda: run(*options, database or self.stack.postgres), "calls", "none")

    # ---- ceilings of database and queue ----

    def libpq(self, mode, connections, first=wire.FIRST, count=wire.COUNT - 1000):
        command = [bench_program("bench_pg_load"), mode, str(connections), str(self.seconds)]
        command += [str(first), str(count)]
        return self.measured(lambda: _words(_checked(command)), "rows", "none")

    def queue(self, mode):
        command = [bench_program("bench_queue_load"), mode, str(self.seconds)]
        return self.measured(lambda: _words(_checked(command)), "messages", "none")
