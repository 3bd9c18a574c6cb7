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
        with open(path, encoding="utf-8") as dump:
            self._read(dump)

    def _read(self, dump):
        names = {"ob": {}, "fl": {}, "fn": {}}
        at = {"ob": "", "fl": "", "fn": ""}  # the function that the costs below belong to
        callee = {}
        skip = False
        for line in dump:
            named = _NAMED.match(line.replace("cfi=", "cfl=").replace("cfe=", "cfl="))
            if named:
                kind = _KINDS[named[2]]
                if named[4]:
                    names[kind][named[3]] = named[4].strip()
                (callee if named[1] else at)[kind] = names[kind][named[3]]
            elif line.startswith("calls="):
                self.calls[callee.get("fl", at["fl"]), callee["fn"]] += int(line[6:].split()[0])
                callee = {}
                skip = True  # the next line is the cost of the callee
            elif re.match(r"[+\-*\d]", line):
                if not skip:
                    cost = int(line.split()[-1])
                    self.self_cost[at["ob"]] += cost
                    self.by_function[at["ob"], at["fn"]] += cost
                skip = False
