# SPDX-License-Identifier: Apache-2.0
"""Whose instructions a call costs, and how many properties are unpacked on the way: a server below callgrind.

It runs fifty times slower than it would, so that nothing here is about time; batches are those of a busy server.
"""

import glob
import os
import subprocess

from callgrind import Dump
from rest import Rest
from rows import Row
from tavola_test.ports import free_port

NAME = "profiled"
SHOWN = 10  # functions
IN_FLIGHT = 64
OWNERS = (("libgrpc", "gRPC"), ("libgpr", "gRPC"), ("libabsl", "gRPC"), ("libupb", "gRPC"), ("libaddress", "gRPC"),
          ("tavolad", "ours"), ("libprotobuf-c", "protobuf-c"), ("libpq", "libpq"), ("libc.so", "libc"), ("libm.", "libc"),
          ("libmicrohttpd", "libmicrohttpd"), ("libjansson", "Jansson"), ("ld-linux", "libc"), ("vdso", "libc"), ("libcrypto", "OpenSSL"), ("libssl", "OpenSSL"))
# Reading a stored property, in whatever way, happens in these files.
PROPERTY_FILES = ("property.c", "property_parse.c", "property_value.c", "property_size.c")

# What bounds and shares what callers take: connections, memory, rates, quotas, places to wait. Credentials are not among them.
BOUND_FILES = ("rpc/door.c", "rpc/door_rules.c", "rpc/door_table.c", "rpc/frame_scan.c", "rpc/socket_calls.c", "rpc/call_count.c",
               "base/fair_shares.c", "base/token_bucket.h", "domain/access/account_usage.c", "service/admission/rates.c",
               "service/admission/memory_shares.c", "store/lanes/fair_queue.c")

ROWS = [
    Row("properties unpacked per Get / 1", ("profile of Get", "unpacked"), 1.0, "<=", 0, 0, "1"),
    Row("our own instructions per Get / all in the process", ("profile of Get", "ours"), ("profile of Get", "all"), "<=",
        unit="instructions"),
    Row("our own instructions per upsert / all in the process", ("profile of upsert", "ours"),
        ("profile of upsert", "all"), "<=", unit="instructions"),
    Row("instructions of the bounds per Get / all in the process", ("profile of Get", "bounds"), ("profile of Get", "all"), "<=",
        0.05, 0.02, unit="instructions"),
    Row("instructions of the bounds per upsert / all in the process", ("profile of upsert", "bounds"),
        ("profile of upsert", "all"), "<=", 0.05, 0.02, unit="instructions"),
    Row("instructions of a Get over REST / of one over gRPC", ("profile of REST Get", "all"), ("profile of Get", "all"), "<=",
        unit="instructions"),
    Row("instructions of a Get as JSON / of one over gRPC", ("profile of JSON Get", "all"), ("profile of Get", "all"), "<=",
        unit="instructions"),
]


def _owner(path):
    base = os.path.basename(path)
    return next((owner for prefix, owner in OWNERS if base.startswith(prefix)), "other")


class Profiling:
    def __init__(self, product):
        self.product = product
        self.stack = product.stack
        self.shares = {}  # call: {part: instructions}, for print_shares
        self.unpacked = {}  # call: times a function that reads properties was entered
        self.bounds = {}  # call: [(instructions, file)], the costliest first
        self.door = None  # the same server over HTTP
        self.functions = {}  # call: [(instructions, function)] of Tavola's functions, the costliest first

    def prepare(self):
        folder = self.stack.folder
        prefix = ("valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/callgrind.out")
        port = free_port()
        self.stack.start_server(NAME, prefix, TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
        self.door = Rest(self.product, NAME, port)

    def control(self, *words):
        pid = str(self.stack.children[NAME].pid)
        subprocess.run(["callgrind_control", *words, pid], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def load(self, method, path):
        return self.product.loads.run(method, path, IN_FLIGHT, "once", server=NAME, seconds=120)

    def call(self, title, load):
        """Instructions per call, counted while IN_FLIGHT are in flight. load() makes calls, and returns what it saw."""
        if NAME not in self.stack.children:
            self.prepare()
        load()
        self.control("-i", "on")
        self.control("-z")
        seen = load()
        self.control("-d")
        self.control("-i", "off")
        dumps = sorted(glob.glob(f"{self.stack.folder}/callgrind.out.*"), key=os.path.getmtime)
        dump = Dump(dumps[-1])
        shares = {}
        for name, cost in dump.self_cost.items():
            owner = _owner(name)
            shares[owner] = shares.get(owner, 0) + cost / seen["calls"]
        self.shares[title] = dict(sorted(shares.items(), key=lambda share: -share[1]))
        own = [(cost / seen["calls"], function) for (name, function), cost in dump.by_function.items()
               if _owner(name) == "ours"]
        self.functions[title] = sorted(own, reverse=True)[:SHOWN]
        unpacked = sum(times for (file, _), times in dump.calls.items() if os.path.basename(file) in PROPERTY_FILES)
        self.unpacked[title] = unpacked / seen["calls"]
        bounds = {file: cost / seen["calls"] for file, cost in dump.by_file.items() if file.endswith(BOUND_FILES)}
        self.bounds[title] = sorted(((cost, file.split("/")[-1]) for file, cost in bounds.items()), reverse=True)
        return {"all": sum(shares.values()), "ours": shares.get("ours", 0), "unpacked": self.unpacked[title],
                "bounds": sum(bounds.values())}

    def measurements(self):
        product = self.product
        loads = {
            "Get": lambda: self.load("GetEntity", product.get_some),
            "upsert": lambda: self.load("InsertOrReplaceEntity", product.upsert_some),
            "REST Get": lambda: self.door.get(IN_FLIGHT),
            "JSON Get": lambda: self.door.json_get(IN_FLIGHT),
        }
        return {f"profile of {title}": lambda title=title, load=load: self.call(title, load) for title, load in loads.items()}

    def print_shares(self):
        for title, shares in self.shares.items():
            total = sum(shares.values())
            parts = ", ".join(f"{owner} {cost / total:.0%} ({cost:,.0f})" for owner, cost in shares.items())
            print(f"instructions of the server per {title}, without the kernel's: {total:,.0f} = {parts}")
            dearest = ", ".join(f"{function} {cost:,.0f}" for cost, function in self.functions[title])
            print(f"  of ours: {dearest}")
            print("  of the bounds: " + ", ".join(f"{file} {cost:,.0f}" for cost, file in self.bounds[title]))
            print(f"  functions that read properties were entered {self.unpacked[title]:.1f} times")
