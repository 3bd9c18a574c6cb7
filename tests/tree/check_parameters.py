#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a function has more than six parameters: a struct is passed instead.

It looks at declarations and definitions that begin in the first column of a C file. Function types and pointers among
the parameters count as one parameter each.

usage: check_parameters.py ROOT
"""

import re

import tree

MAX_PARAMETERS = 6
FOLDERS = ("api", "base", "bench", "chunks", "client", "domain", "http", "odata", "queue", "rpc", "service", "store", "tests", "workers")
# Functions whose parameters another library dictates.
ALLOWED = {
    ("http/metrics_server.c", "handle_request"): "the access handler of libmicrohttpd",
    ("http/connection.c", "connection_show_certificate"): "gnutls_certificate_retrieve_function2",
    ("http/server_parts.h", "connection_show_certificate"): "gnutls_certificate_retrieve_function2",
    ("http/exchange.c", "exchange_handle"): "the access handler of libmicrohttpd",
    ("http/server_parts.h", "exchange_handle"): "the access handler of libmicrohttpd",
    ("bench/h2_load.c", "read_request"): "a data source of nghttp2",
}

FUNCTION = re.compile(r"^(?!typedef\b|return\b|else\b)[A-Za-z_][\w \t*\n]*?\b(\w+)\(", re.M)


def functions_of(text):
    """(name, number of parameters) of each declaration and definition."""
    text = tree.without_preprocessor(tree.without_strings(tree.without_comments(text)))
    for match in FUNCTION.finditer(text):
        if not re.search(r"\w[\s*]+$", match.group(0)[:-len(match.group(1)) - 1]):
            continue  # a call, or a macro: there is no type before the name
        found, end = tree.arguments(text, match.end())
        if re.match(r"\s*[;{]", text[end:]):
            yield match.group(1), 0 if found == ["void"] else len(found)


def check(root, complain):
    for path, text in tree.c_files(root, FOLDERS):
        for function, count in functions_of(text):
            if count > MAX_PARAMETERS and (path, function) not in ALLOWED:
                complain(f"{path}: {function} has {count} parameters; allowed are {MAX_PARAMETERS}: pass a struct")


if __name__ == "__main__":
    tree.run(check)
