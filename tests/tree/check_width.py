#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a line with a comment is wider than docs/style.md allows; clang-format has the other lines of C.

Every folder with C sources is checked, and the protos of the API, whose comments callers read.

usage: check_width.py ROOT
"""

import re

import tree

FOLDERS = ("base", "domain", "api", "store", "queue", "rpc", "http", "chunks", "odata", "service", "workers", "client", "bench", "examples",
           "tests")
MAX_WIDTH = 120
COMMENT = re.compile(r"/\*|^ *\*/?( |$)")
PROTO_COMMENT = re.compile(r"^ *//")


def check_lines(path, text, comment, complain):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_WIDTH and comment.search(line):
            complain(f"{path}:{number}: {len(line)} columns, at most {MAX_WIDTH} for a comment")


def check(root, complain):
    """Complain of every such line."""
    for path, text in tree.c_files(root, FOLDERS):
        check_lines(path, text, COMMENT, complain)
    for path, text in tree.files(root, ("api",), (".proto",)):
        check_lines(path, text, PROTO_COMMENT, complain)


if __name__ == "__main__":
    tree.run(check)
