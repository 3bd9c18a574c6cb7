#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a bound in docs/threat-model.md is not the one of the sources.

usage: check_bounds.py ROOT
"""

import os
import re
import sys

PAGE = "docs/threat-model.md"
ROW = re.compile(r"^\| .* \| `([A-Z_]+)` \| `([a-z_/]+\.[ch])` \| ([0-9]+) \|$", re.M)


def default_of(name, text):
    """Of a setting its fallback, of a constant its value; None: the text has neither."""
    if name.startswith("TAVOLA_"):
        found = re.search(rf'\.name = "{name}",(?:(?!\.name).)*?\.fallback = "([0-9]+)"', text, re.S)
        return int(found[1]) if found else None
    found = re.search(rf"\b{name}\s*=\s*([0-9 *]+)[,\s}}/]", text)
    return eval(found[1], {"__builtins__": {}}) if found else None  # digits and * alone


def main():
    root = sys.argv[1]
    with open(os.path.join(root, PAGE), encoding="utf-8") as page:
        rows = ROW.findall(page.read())
    failures = [] if rows else [f"{PAGE}: no row of bounds was found"]
    for name, path, said in rows:
        with open(os.path.join(root, path), encoding="utf-8") as source:
            real = default_of(name, source.read())
        if real != int(said):
            failures.append(f"{PAGE}: {name} is {said}, {path} has {real}")
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
