#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a mutant no longer fits the sources: mutate.py would find that out only when it is run.

What an edit replaces must stand once in its file, and the suite and the tests that are to catch the mutant must exist.
A test must name its guard.

usage: check_mutants.py ROOT
"""

import glob
import os
import re
import sys

from mutants import MUTANTS
from mutate import guard_of_test


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check(root, complain):
    tests = [read(path) for path in glob.glob(os.path.join(root, "tests/**/*.c"), recursive=True)]
    for guard, edits, _, suite, names in MUTANTS:
        for path, old, _ in edits:
            full = os.path.join(root, path)
            count = read(full).count(old) if os.path.isfile(full) else 0
            if count != 1:
                complain(f"{guard}: {path} has {count} times, not once: {old!r}")
        if not any(f'suite_create("{suite}")' in text for text in tests):
            complain(f"{guard}: there is no suite {suite}")
        for name in names:
            if not any(re.search(rf"START_TEST\({name}\)", text) for text in tests):
                complain(f"{guard}: there is no test {name}")
            elif not guard_of_test(root, name, guard):
                complain(f"{guard}: the test {name} does not name it")


def main():
    complaints = []
    check(sys.argv[1], complaints.append)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
