#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a line with a comment is wider than docs/style.md allows; clang-format has the other lines.

usage: check_width.py ROOT
"""

import re

import tree

LAYERS = ("base", "domain", "api", "store", "queue", "workers")
MAX_WIDTH = 120
COMMENT = re.compile(r"/\*|^ *\*/?( |$)")


def check(root, complain):
    """Complain of every such line."""
    for path, text in tree.c_files(root, LAYERS):
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > MAX_WIDTH and COMMENT.search(line):
                complain(f"{path}:{number}: {len(line)} columns, at most {MAX_WIDTH} for a comment")


if __name__ == "__main__":
    tree.run(check)
