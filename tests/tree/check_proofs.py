#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a page that says which test shows a promise names a test, a file or a guard that is not there.

In docs/reliability.md and docs/conformance.md: a name in backticks with at least three words, divided by underscores, stands somewhere
in the sources; a path in backticks is one of a file, or the end of one. Every guard of the tables in docs/protocol.md and
docs/reliability.md has a mutant in tests/mutate/mutants.py, and every mutant's guard is in both.

usage: check_proofs.py ROOT
"""

import os
import re

import tree

PAGES = ("docs/reliability.md", "docs/conformance.md")
GUARD_PAGES = ("docs/protocol.md", "docs/reliability.md")
FOLDERS = ("api", "base", "chunks", "client", "domain", "http", "odata", "queue", "rpc", "service", "store", "workers", "migrations", "tests", "demo", "bench")
SUFFIXES = (".c", ".h", ".py", ".sql", ".pml", ".sh", ".proto", ".lua")
NAME = re.compile(r"^[a-z]+(?:_[a-z0-9]+){2,}$")
PATH = re.compile(r"^[\w/.-]+\.(?:c|h|py|sql|pml|sh|proto|lua)$")


def sources(root):
    """{path: text}"""
    found = {}
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith(SUFFIXES):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        found[os.path.relpath(os.path.join(path, name), root)] = file.read()
    return found


def read(root, path):
    full = os.path.join(root, path)
    if not os.path.isfile(full):
        return ""
    with open(full, encoding="utf-8") as file:
        return file.read()


def check_names(root, complain):
    files = sources(root)
    words = set(re.findall(r"\b[a-z]+(?:_[a-z0-9]+){2,}\b", "\n".join(files.values())))
    for page in PAGES:
        for name in re.findall(r"`([^`\n]+)`", read(root, page)):
            if NAME.match(name) and name not in words:
                complain(f"{page}: nothing is called {name}")
            elif PATH.match(name) and not any(path == name or path.endswith("/" + name) for path in files):
                complain(f"{page}: there is no file {name}")


def check_guards(root, complain):
    mutants = set(re.findall(r'^    \("(G\d+)"', read(root, "tests/mutate/mutants.py"), re.M))
    for page in GUARD_PAGES:
        guards = set(re.findall(r"^\| (G\d+) ", read(root, page), re.M))
        for guard in sorted(guards ^ mutants):
            complain(f"{page}: {guard} has no mutant" if guard in guards else f"{page}: {guard} is not in the table of guards")


def check(root, complain):
    check_names(root, complain)
    check_guards(root, complain)


if __name__ == "__main__":
    tree.run(check)
