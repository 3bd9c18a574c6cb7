#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when an environment variable that tests read has no row in the table of tests/README.md, or a row has no reader.

usage: check_test_settings.py ROOT
"""

import os
import re

import tree

PAGE = "tests/README.md"
FOLDERS = ("tests", "bench", "demo")
READING = re.compile(r"""(?:environ\.get\(|environ\[|getenv\()["']([A-Z][A-Z_]+)["']""")
OF_THE_SYSTEM = {"HOME", "PATH", "TMPDIR", "USER"}


def is_of_tests(name):
    return not name.startswith("TAVOLA_") and name not in OF_THE_SYSTEM


def names_read(root):
    """name -> a file that reads it."""
    found = {}
    for folder in FOLDERS:
        for path, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name != "tree"]  # test_checks.py has examples
            for name in sorted(files):
                if name.endswith((".py", ".c")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        for setting in filter(is_of_tests, READING.findall(file.read())):
                            found.setdefault(setting, os.path.relpath(os.path.join(path, name), root))
    return found


def names_documented(root):
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        return set(re.findall(r"^\| `([A-Z][A-Z_]+)` \|", file.read(), re.M))


def check(root, complain):
    read, documented = names_read(root), names_documented(root)
    for name in sorted(set(read) - documented):
        complain(f"{PAGE}: no row for {name}, which {read[name]} reads")
    for name in sorted(filter(is_of_tests, documented - set(read))):
        complain(f"{PAGE}: no test reads {name}")


if __name__ == "__main__":
    tree.run(check)
