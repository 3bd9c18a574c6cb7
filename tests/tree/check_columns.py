#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when store/ reads a column of a result by a bare number.

    pg_int8(rows, i, 3)                      no: the reader cannot see what column 3 is
    pg_int8(rows, i, TABLE_CREATED)          yes: a member of an enum, in the order of the statement's select list

usage: check_columns.py ROOT
"""

import os
import re
import sys

READERS = re.compile(r"\b(pg_(?:bool|int2|int4|int8|bytes|uuid|intent_id)|PQ(?:getvalue|getisnull|getlength))\(")


def strip(text):
    """Without comments and strings; line breaks stay, so that lines can be counted."""
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group(0).count("\n"), text, flags=re.S)


def arguments(text, start):
    """The arguments of a call whose opening parenthesis ends at start."""
    out, depth, begun = [], 1, start
    for i in range(start, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0 or (depth == 1 and text[i] == ","):
            out.append(" ".join(text[begun:i].split()))
            begun = i + 1
        if depth == 0:
            break
    return out


def bare_columns(text):
    for found in READERS.finditer(text):
        inside = arguments(text, found.end())
        if len(inside) >= 3 and re.search(r"(?<![\w.])\d", inside[2]):
            yield found.start(), f"{found.group(1)} reads column {inside[2]}: name it by an enum"


def check(root, complain):
    for folder, _, names in os.walk(os.path.join(root, "store")):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = strip(file.read())
            for start, complaint in bare_columns(text):
                complain(f"{os.path.relpath(path, root)}:{text.count(chr(10), 0, start) + 1}: {complaint}")


def main():
    complaints = []
    check(sys.argv[1], complaints.append)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
