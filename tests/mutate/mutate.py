#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Take one guard of the protocol away at a time, and require that a test which names it fails.

Works on a copy of the sources in the build folder. A mutant is caught when one of its tests ends with a failed
check: a crash, a time-out or a build that fails is no catch. Without any edit the same tests must pass.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time

from mutants import MUTANTS


def say(text):
    print(text, flush=True)


def remove_others(target, kept):
    """The build finds sources by their folders: one that was moved would be there twice."""
    for folder, _, names in os.walk(target):
        for name in names:
            path = os.path.join(folder, name)
            if path not in kept:
                os.remove(path)


def copy_sources(root, target):
    """The files that git tracks, with their present content, and no others; unchanged files keep their times, so that builds stay
    incremental.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    names = listed.decode().split("\0")
    remove_others(target, {os.path.join(target, name) for name in names if os.path.isfile(os.path.join(root, name))})
    for name in names:
        source, copy = os.path.join(root, name), os.path.join(target, name)
        if not name or not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(source, "rb") as file:
            content = file.read()
        if not os.path.exists(copy) or open(copy, "rb").read() != content:
            shutil.copy(source, copy)


def guard_of_test(sources, test, guard):
    """Whether the words "guard G8" stand at the test."""
    for folder, _, names in os.walk(os.path.join(sources, "tests")):
        for name in names:
            if not name.endswith(".c"):
                continue
            lines = open(os.path.join(folder, name), encoding="utf-8").read().split("\n")
            for i, line in enumerate(lines):
                if f"START_TEST({test})" in line:
                    words = " ".join(lines[max(0, i - 3):i + 1])
                    return re.search(rf"\b[Gg]uards?\b[^*]*\b{guard}\b", words) is not None
    return False


class Edited:
    """The edits of a mutant, undone at the end."""

    def __init__(self, sources, edits):
        self.files = {}
        for name, old, new in edits:
            path = os.path.join(sources, name)
            before = open(path, encoding="utf-8").read()
            edited = self.files[path][1] if path in self.files else before
            if edited.count(old) != 1:
                raise ValueError(f"{name} has {edited.count(old)} times, not once: {old!r}")
            self.files[path] = (before, edited.replace(old, new))

    def __enter__(self):
        for path, (_, after) in self.files.items():
            self.write(path, after)

    def __exit__(self, *_):
        for path, (before, _) in self.files.items():
            self.write(path, before)

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def run_suite(build, program, suite):
    """The names of tests with failed checks, and whether the suite came to its end; or an error's text."""
    made = subprocess.run(["ninja", "-C", build, program], capture_output=True, text=True)
    if made.returncode != 0:
        return None, "it does not build:\n" + made.stdout[-2000:]
    environment = dict(os.environ, CK_RUN_SUITE=suite, CK_VERBOSITY="normal", CK_TIMEOUT_MULTIPLIER="1")
    try:
        ran = subprocess.run([os.path.join(build, "tests", program)], env=environment, capture_output=True, text=True,
                             timeout=240)
    except subprocess.TimeoutExpired:
        return None, "the suite did not end"
    return re.findall(r":F:[^:]*:([A-Za-z0-9_]+):", ran.stdout), ran.stdout


def try_mutant(options, sources, mutant):
    guard, edits, program, suite, tests = mutant
    unnamed = [test for test in tests if not guard_of_test(sources, test, guard)]
    if unnamed:
        return f"not at {unnamed[0]}: the words \"guard {guard}\""
    try:
        edited = Edited(sources, edits)
    except ValueError as error:
        return str(error)
    with edited:
        failed, said = run_suite(options.build, program, suite)
    if failed is None:
        return said
    caught = [test for test in tests if test in failed]
    if not caught:
        return "NOT CAUGHT" + (f"; failed instead: {', '.join(failed)}" if failed else "") + "\n" + said[-1500:]
    say(f"{guard:4} {suite:14} caught by {', '.join(caught)}")
    return None


def try_unchanged(options, mutants):
    for program, suite in sorted({(mutant[2], mutant[3]) for mutant in mutants}):
        failed, said = run_suite(options.build, program, suite)
        if failed is None or failed:
            return f"{suite} fails without any mutant: {failed}\n{said[-1500:]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--root", required=True, help="the sources")
    parser.add_argument("--build", required=True, help="a folder for the copy and its build")
    parser.add_argument("guards", nargs="*", help="e.g. G8; none: all")
    options = parser.parse_args()
    sources = os.path.join(options.build, "sources")
    start, wrong = time.monotonic(), []

    mutants = [mutant for mutant in MUTANTS if not options.guards or mutant[0] in options.guards]
    copy_sources(options.root, sources)
    options.build = os.path.join(options.build, "build")
    subprocess.run(["cmake", "--preset", "release", "-B", options.build], cwd=sources, check=True,
                   stdout=subprocess.DEVNULL)
    problem = try_unchanged(options, mutants)
    if problem:
        sys.exit(problem)
    for mutant in mutants:
        problem = try_mutant(options, sources, mutant)
        if problem:
            wrong.append(mutant[0])
            say(f"{mutant[0]:4} {mutant[3]:14} {problem}")
    say(f"mutate: {len(mutants)} mutants, {len(mutants) - len(wrong)} caught, {time.monotonic() - start:.0f} s")
    sys.exit(1 if wrong or not mutants else 0)


if __name__ == "__main__":
    main()
