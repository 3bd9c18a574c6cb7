#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when store/ reads a column of a result by a bare number.

    pg_int8(rows, i, 3)                      no: the reader cannot see what column 3 is
    pg_int8(rows, i, TABLE_CREATED)          yes: a member of an enum, in the order of the statement's select list

usage: check_columns.py ROOT
"""

import re

import tree

READERS = re.compile(r"\b(pg_(?:bool|int2|int4|int8|bytes|uuid|intent_id)|PQ(?:getvalue|getisnull|getlength))\(")


def bare_columns(text):
    for found in READERS.finditer(text):
        inside, _ = tree.arguments(text, found.end())
        if len(inside) >= 3 and re.search(r"(?<![\w.])\d", inside[2]):
            yield found.start(), f"{found.group(1)} reads column {inside[2]}: name it by an enum"


def check(root, complain):
    for path, text in tree.c_files(root, ("store",)):
        text = tree.without_comments(tree.without_strings(text))
        for start, complaint in bare_columns(text):
            complain(f"{path}:{text.count(chr(10), 0, start) + 1}: {complaint}")


if __name__ == "__main__":
    tree.run(check)
