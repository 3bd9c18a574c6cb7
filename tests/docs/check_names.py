#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command, option and setting that a page names exists: in the help of the programs, or in the sources of tests and build.

usage: check_names.py ROOT BIN_FOLDER
"""

import functools
import os
import re
import subprocess
import sys

PROGRAMS = ("tavolad", "tavola-worker", "tavola")
SOURCES = ("CMakeLists.txt", "dev", "bench", "demo", "tests", "clients", "base")
COMMAND = re.compile(r"(?<![\w./:=-])tavola((?: --[a-z-]+ \S+)*)((?: [a-z][a-z-]*){1,2})([^`\n|;]*)")
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")
SETTING = re.compile(r"TAVOLA_[A-Z_]*[A-Z]")


def pages(root):
    """(path below root, text) of the pages that readers follow."""
    for folder in (".", "docs", "docs/patterns", "docs/runbooks", "helm/tavola", "examples/orders"):
        for name in sorted(os.listdir(os.path.join(root, folder))):
            if name.endswith(".md") and name != "CHANGELOG.md":
                path = os.path.normpath(os.path.join(folder, name))
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    yield path, file.read()


def code(text):
    """The code of a page: text in backticks, and indented lines that begin with a prompt or with tavola."""
    yield from re.findall(r"`([^`\n]+)`", text)
    yield from (line for line in text.split("\n") if re.match(r"    +(\$ |tavola |TAVOLA_)", line))


@functools.lru_cache(maxsize=None)
def help_of(program, *words):
    """What the program prints for the command with --help; empty if there is no such command."""
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": os.environ["PATH"]})
    return done.stdout if done.returncode == 0 else ""


def usage_of(tavola, words):
    """The help of the command that begins with these words, or of a group of commands, if it stands alone; else empty."""
    single = help_of(tavola, words[0])
    is_group = "needs a second word" in single
    return help_of(tavola, *words) or ("" if is_group and len(words) > 1 else single)


def source_settings(root):
    found = set()
    for source in SOURCES:
        top = os.path.join(root, source)
        files = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names] or [top]
        for path in files:
            if path.endswith((".py", ".c", ".h", ".sh", ".js", ".mjs", ".txt", "/dev")):
                with open(path, encoding="utf-8", errors="replace") as file:
                    found |= set(SETTING.findall(file.read()))
    return found


def check_commands(path, text, tavola, complain):
    common = set(OPTION.findall(help_of(tavola)))
    for options, words, rest in (found for part in code(text) for found in COMMAND.findall(part)):
        words = words.split()
        usage = usage_of(tavola, words)
        if not usage:
            complain(f"{path}: there is no command tavola {' '.join(words)}")
        for option in OPTION.findall(options + " " + rest):
            if usage and option not in usage and option not in common:
                complain(f"{path}: tavola {' '.join(words)} has no option {option}")


def main(root, bin_folder):
    complaints = []
    programs = [os.path.join(bin_folder, name) for name in PROGRAMS]
    settings = set(SETTING.findall("".join(help_of(program) for program in programs))) | source_settings(root)
    for path, text in pages(root):
        check_commands(path, text, programs[-1], complaints.append)
        complaints += [f"{path}: there is no setting {name}" for name in sorted(set(SETTING.findall(text)) - settings)]
    print("\n".join(sorted(set(complaints))), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
