# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md has every setting as the programs print it with --help. UPDATE_DOCS=1 writes the page.

usage: check_configuration.py ROOT BIN_FOLDER
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys

PROGRAMS = {"tavolad": "the server", "tavola-worker": "the worker", "tavola": "the command line"}
HEAD = """\
# Configuration

<!-- Made from what the programs print with --help; UPDATE_DOCS=1 and the test docs_configuration write it. -->

All settings are environment variables. A bad value, or a name that begins with `TAVOLA_` and that no program knows, stops the
start, and the message says which. `--print-config` of each program shows the settings in effect, secrets hidden. `docs/operations.md` says
how they work together.
"""


def settings_of(program):
    """(name, help, allowed and default) of each setting."""
    shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True,
                           env={"PATH": os.environ["PATH"]}).stdout
    text = shown[shown.index("Settings are environment variables"):]
    for name, rest in re.findall(r"^  (TAVOLA_[A-Z0-9_]+)\n((?:      .*\n)+)", text, re.M):
        *described, last = (line.strip() for line in rest.splitlines())
        yield name, " ".join(described), last


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def page(programs):
    parts = [HEAD]
    for name, what in PROGRAMS.items():
        parts.append(f"\n## {name}, {what}\n\n| setting | meaning | values |\n|---|---|---|\n")
        parts += [f"| `{setting}` | {cell(meaning)} | {cell(values)} |\n" for setting, meaning, values in settings_of(programs / name)]
    return "".join(parts)


def main():
    path = pathlib.Path(sys.argv[1], "docs/configuration.md")
    wanted = page(pathlib.Path(sys.argv[2]))
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(wanted, encoding="utf-8")
    found = path.read_text(encoding="utf-8")
    if found != wanted:
        sys.stdout.writelines(difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), "the page", "the programs", n=0))
        sys.exit("docs/configuration.md is not what the programs say: UPDATE_DOCS=1 writes it")


if __name__ == "__main__":
    main()
