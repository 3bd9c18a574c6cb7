# SPDX-License-Identifier: Apache-2.0
"""What the checks of the tree share: its C files, their text without comments, and the end of a check's program."""

import os
import re
import sys


def files(root, layers, suffixes):
    """(path below root, text) of every file below the layers that exist whose name ends with one of the suffixes."""
    for layer in layers:
        for folder, _, names in os.walk(os.path.join(root, layer)):
            for name in sorted(names):
                if name.endswith(suffixes):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, root), file.read()


def c_files(root, layers):
    """(path below root, text) of every C file below the layers that exist."""
    return files(root, layers, (".c", ".h"))


def without_strings(text):
    """The text with empty string literals."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def without_comments(text):
    """The text without comments; line breaks stay, so that lines can be counted."""
    return re.sub(r"/\*.*?\*/", lambda found: " " + "\n" * found.group(0).count("\n"), text, flags=re.S)


def without_preprocessor(text):
    return re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", "", text, flags=re.M)


def arguments(text, start):
    """The arguments or parameters of the list that opens before start, and the position behind its end."""
    found, depth, begun = [], 1, start
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 or depth == 1 and text[at] == ",":
            found.append(" ".join(text[begun:at].split()))
            begun = at + 1
        if depth == 0:
            return found, at + 1
    return found, len(text)


def run(check):
    """Print what check(root, complain) complains of; the program fails if it does."""
    complaints = []
    check(sys.argv[1], complaints.append)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)
