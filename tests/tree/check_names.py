#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a public function's name does not begin with the name of its header, or of a type that the header defines.

    store/entities/read_batch.h     read_batch_run         the header
    rpc/channel.h                   rpc_channel_open       the folder and the header
    domain/entities/etag.h          condition_parse        struct condition is defined there
    rpc/call_parts.h                call_finish            what the files behind call.h share

It also holds words: a bound is MAX_ or MIN_, the code uses the words of docs/glossary.md, and a static function's name says
what the function takes, refuses or sends. Names of tests, and comments of tests in C, name the caller, worker or thread that acts.

usage: check_names.py ROOT
"""

import os
import re

import tree

LAYERS = ("api", "base", "chunks", "client", "domain", "http", "odata", "queue", "rpc", "service", "store", "workers")
# The C library's names with an x before them: they end the program where memory has run out.
ALLOWED = {"xmalloc", "xcalloc", "xrealloc", "memory_keep"}
VAGUE = r"\b(?i:whoever|somebody|nobody|anybody|everybody)\b"
VAGUE_TEST_NAME = r"(?:START_TEST\(|def test_)(?:\w+_)?(?:who|whom|whoever|nobody|nobodys|somebody|anybody|everybody)(?=_|\b)\w*"
NAME_THE_ACTOR = "name the caller, worker, session or thread that is meant"
FORBIDDEN = {
    r"\b(MOST|LEAST)_[A-Z]": "say MAX_ or MIN_",
    r"[A-Z]_(MOST|LEAST)_[A-Z]": "say _MAX_ or _MIN_",
    r"\b(most|least)_[a-z]|\b(most|least) = ": "say max or min",
    r"(?<!DEAD_)\bLETTER_|(?<!dead_)\bletter_(id|state)": "say dead letter",
    r"\b(?!index_)[a-z]+_place\b|\bstruct place\b": "say position, ctid, slot or entry; a place is that of an index",
    r"\bbook(_[a-z]+)?(->|\.|;|\))": "say snapshot",
    r"\b[a-z_]*hand_back|\b[a-z]+_in_hand|\bdead_hand": "say release, or claim",
    r"\b(haul|fate|manners|keeper|cures?)\b|(?i:patience)": "say batch, disposition, contract, lease renewal, remedy, timeout",
    VAGUE: NAME_THE_ACTOR,
    r"(?m)^static [^=;(\n]*[ *](take|refuse|tell|ask|begin|look|hold|say|put|goes)(?=\()": "say what the function takes, refuses, sends",
}
SHARED = ("_parts", "_internal", "_state")


def strip(text):
    """Without comments, preprocessor lines, and what stands in braces."""
    text = tree.without_preprocessor(tree.without_comments(text))
    out, depth = [], 0
    for character in text:
        depth += character == "{"
        if depth == 0:
            out.append(character)
        depth -= character == "}"
    return "".join(out)


def types_of(text):
    """struct, enum and function types that a header defines or names."""
    return set(re.findall(r"\b(?:struct|enum) (\w+) \{", text)) | set(re.findall(r"^(?:struct|enum) (\w+);", text, re.M))


def functions_of(text):
    """Names of the functions declared in a header."""
    for statement in strip(text).split(";"):
        statement = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?", "", statement, flags=re.S).strip()
        found = re.search(r"\b([a-z_]\w*)\s*\(", statement)
        if found and found.group(1) != "while" and not statement.startswith("typedef") and " " in statement[:found.start() + 1]:
            yield found.group(1)


def is_well_named(name, path, types):
    folder, base = os.path.basename(os.path.dirname(path)), os.path.basename(path)[:-2]
    for suffix in SHARED:
        base = base[:-len(suffix)] if base.endswith(suffix) else base
    prefixes = {base, f"{folder}_{base}"} | types
    return name in ALLOWED or any(name == prefix or name.startswith(prefix + "_") for prefix in prefixes) or \
        base.endswith("s") and name.startswith(base[:-1] + "_")


def test_files(root):
    """(path below root, text, further pattern that the text may not have) of every test in C or Python."""
    for path, text in tree.c_files(root, ("tests",)):
        yield path, tree.without_strings(text), VAGUE
    for folder, _, names in os.walk(os.path.join(root, "tests")):
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, root), file.read(), None


def check_tests(root, complain):
    for path, text, vague in test_files(root):
        for pattern in filter(None, (VAGUE_TEST_NAME, vague)):
            for found in re.finditer(pattern, text):
                complain(f"{path}: {found.group(0)}...: {NAME_THE_ACTOR}")


def check(root, complain):
    check_tests(root, complain)
    for path, text in tree.c_files(root, LAYERS):
        text = tree.without_strings(text)
        for pattern, advice in FORBIDDEN.items():
            for found in re.finditer(pattern, text):
                complain(f"{path}: {found.group(0)}...: {advice}")
        if not path.endswith(".h"):
            continue
        types = types_of(tree.without_comments(text))
        for function in functions_of(text):
            if not is_well_named(function, path, types):
                complain(f"{path}: {function} begins neither with the file's name nor with a type of this header")


if __name__ == "__main__":
    tree.run(check)
