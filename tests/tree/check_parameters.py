#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a function has more than six parameters: a struct is passed instead.

It looks at declarations and definitions that begin in the first column of a C file. Function types and pointers among
the parameters count as one parameter each.

usage: check_parameters.py ROOT
"""

import os
import re
import sys

MAX_PARAMETERS = 6
FOLDERS = ("api", "base", "bench", "client", "domain", "http", "odata", "queue", "rpc", "service", "store", "tests", "workers")
# Functions whose parameters another library dictates.
ALLOWED = {
    ("base/metrics_server.c", "handle_request"): "the access handler of libmicrohttpd",
    ("bench/h2_load.c", "read_request"): "a data source of nghttp2",
}

FUNCTION = re.compile(r"^(?!typedef\b|return\b|else\b)[A-Za-z_][\w \t*\n]*?\b(\w+)\(", re.M)


def strip(text):
    """The text without comments, strings and preprocessor lines."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", "", text, flags=re.M)


def parameters(text, start):
    """The parameters of the list that opens before start, and the position behind its end."""
    found, depth, begin = [], 1, start
    for at in range(start, len(text)):
        character = text[at]
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 or depth == 1 and character == ",":
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            return found, at + 1
    return found, len(text)


def functions_of(text):
    """(name, number of parameters) of each declaration and definition."""
    text = strip(text)
    for match in FUNCTION.finditer(text):
        if not re.search(r"\w[\s*]+$", match.group(0)[:-len(match.group(1)) - 1]):
            continue  # a call, or a macro: there is no type before the name
        found, end = parameters(text, match.end())
        if re.match(r"\s*[;{]", text[end:]):
            yield match.group(1), 0 if found == ["void"] else len(found)


def check(root, complain):
    for layer in FOLDERS:
        for folder, _, names in os.walk(os.path.join(root, layer)):
            for name in sorted(names):
                if not name.endswith((".c", ".h")):
                    continue
                path = os.path.join(folder, name)
                short = os.path.relpath(path, root)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                for function, count in functions_of(text):
                    if count > MAX_PARAMETERS and (short, function) not in ALLOWED:
                        complain(f"{short}: {function} has {count} parameters; allowed are {MAX_PARAMETERS}: pass a struct")


def main():
    complaints = []
    check(sys.argv[1], complaints.append)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
