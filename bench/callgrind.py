# SPDX-License-Identifier: Apache-2.0
"""Reads the output of callgrind: the instructions of each function by itself, and how often each was called."""

import collections
import re

_NAMED = re.compile(r"(c?)(ob|fi|fl|fe|fn)=\((\d+)\)(?: (.*))?")
_KINDS = {"ob": "ob", "fl": "fl", "fi": "fl", "fe": "fl", "fn": "fn"}


class Dump:
    """self_cost: {object: instructions}; calls: {(file, function): times called}."""

    def __init__(self, path):
        self.self_cost = collections.Counter()
        self.calls = collections.Counter()
        self.by_function = collections.Counter()  # (object, function): instructions
        # Of the lines of a file, wherever they were inlined, with what they call in other libraries (locks, comparisons).
        self.by_file = collections.Counter()
        with open(path, encoding="utf-8") as dump:
            self._read(dump)

    def _read(self, dump):
        names = {"ob": {}, "fl": {}, "fn": {}}
        at = {"ob": "", "fl": "", "fn": ""}  # the function that the costs below belong to
        callee = {}
        skip = leaves = False
        for line in dump:
            named = _NAMED.match(line.replace("cfi=", "cfl=").replace("cfe=", "cfl="))
            if named:
                kind = _KINDS[named[2]]
                if named[4]:
                    names[kind][named[3]] = named[4].strip()
                (callee if named[1] else at)[kind] = names[kind][named[3]]
            elif line.startswith("calls="):
                self.calls[callee.get("fl", at["fl"]), callee["fn"]] += int(line[6:].split()[0])
                leaves = callee.get("ob", at["ob"]) != at["ob"]
                callee = {}
                skip = True  # the next line is the cost of the callee
            elif re.match(r"[+\-*\d]", line):
                cost = int(line.split()[-1])
                if skip and leaves:
                    self.by_file[at["fl"]] += cost
                if not skip:
                    self.self_cost[at["ob"]] += cost
                    self.by_function[at["ob"], at["fn"]] += cost
                    self.by_file[at["fl"]] += cost
                skip = False
