#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/patterns have one form, every test that they name exists, and every number is a measured one.

A page has the sections of SECTIONS in this order, its picture, and its script. In the table of what can go wrong the last cell of each
row names at least one test. In the table of costs a row whose last cell is that of a bench has the numbers of costs.json, which come
out of `./dev bench patterns`. With UPDATE_DOCS=1 the numbers of build/bench.json, if it is there, go to costs.json and to the pages.
A ratio of build/bench.json may differ from that of the pages by BAND: another machine, another load.

usage: check_patterns.py ROOT BUILD_FOLDER
"""

import json
import os
import pathlib
import re
import sys

SECTIONS = ("Problem", "Picture", "The calls", "What can go wrong", "What it costs", "When not to", "Where it is in the code")
TEST_SOURCES = ("tests/**/*.py", "tests/**/*.c", "tests/**/*.mjs")
TEST = re.compile(r"^\s*def (test_\w+)|^(?:START_TEST|TEST)\((\w+)|^test\('([^']+)'", re.M)
CAUSES = "| what goes wrong | what Tavola does | shown by |"
COSTS = "| | by hand | with Tavola | ratio | measured by |"
BAND = 2.0  # times, or the part of it


def rows_of(text, head):
    """(the line, its cells) of each row of the table with this head."""
    lines = text.splitlines()
    if head not in lines:
        return
    for line in lines[lines.index(head) + 2:]:
        if not line.startswith("|"):
            return
        yield line, [cell.strip() for cell in line.strip("|").split("|")]


def tests_of(root):
    names = set()
    for pattern in TEST_SOURCES:
        for path in root.glob(pattern):
            names |= {name for found in TEST.findall(path.read_text(encoding="utf-8")) for name in found if name}
    return names


def check_form(name, text, root, complain):
    found = tuple(re.findall(r"^## (.*)$", text, re.M))
    if found != SECTIONS:
        complain(f"{name}: its sections are {', '.join(found)}; they have to be {', '.join(SECTIONS)}")
    for image in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text) or ["a picture"]:
        if not (root / "docs/patterns" / image).is_file():
            complain(f"{name}: there is no {image}")
    if f"    $ examples/patterns/{name.removesuffix('.md').replace('-', '_')}.py" not in text.splitlines():
        complain(f"{name}: its script is not run")
    code = text.partition("## Where it is in the code")[2]
    for path in re.findall(r"`([\w/.-]+\.\w+)`", code) or ["of the code"]:
        if not (root / path).is_file():
            complain(f"{name}: there is no file {path}")


def check_causes(name, text, tests, complain):
    rows = list(rows_of(text, CAUSES))
    if not rows:
        complain(f"{name}: it does not say what can go wrong: {CAUSES}")
    for line, cells in rows:
        named = re.findall(r"`(\w+)`", cells[-1])
        if not named:
            complain(f"{name}: no test shows: {line}")
        for test in named:
            if test not in tests:
                complain(f"{name}: there is no test {test}")


def shown(value):
    """A number of microseconds, or a ratio, as the pages have it: two or three digits."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}"


def cost_line(what, row, cost):
    values = [shown(cost["against_value"]) + " µs", shown(cost["value"]) + " µs", shown(cost["ratio"])]
    return f"| {' | '.join([what, *values])} | `{row}` |"


def check_costs(path, text, costs, update, complain):
    """Returns the text with the measured numbers."""
    name, rows = path.name, list(rows_of(text, COSTS))
    if not rows:
        complain(f"{name}: it does not say what it costs: {COSTS}")
    for line, cells in rows:
        row = re.fullmatch(r"`(.*)`", cells[-1])
        if not row:
            continue
        if row[1] not in costs:
            complain(f"{name}: costs.json has no row {row[1]}: UPDATE_DOCS=1 takes it from build/bench.json")
            continue
        wanted = cost_line(cells[0], row[1], costs[row[1]])
        if line != wanted and not update:
            complain(f"{name}: the bench says: {wanted}")
        text = text.replace(line, wanted)
    return text


def kept(row):
    return {member: row[member] for member in ("name", "value", "against_value", "ratio")}


def check_bench(costs, measured, complain):
    for name, cost in costs.items():
        now = measured.get(name)
        if now and not now.get("error") and not cost["ratio"] / BAND <= now["ratio"] <= cost["ratio"] * BAND:
            complain(f"{name}: build/bench.json has the ratio {now['ratio']}, the pages have {cost['ratio']}")


def main():
    root, build = (pathlib.Path(argument) for argument in sys.argv[1:3])
    sys.path.insert(0, str(root / "bench"))
    sys.path.insert(0, str(root / "tests/support/python"))
    import patterns  # pylint: disable=import-outside-toplevel # of bench/, which the argument names
    update, complaints = "UPDATE_DOCS" in os.environ, []
    pages = {path: path.read_text(encoding="utf-8") for path in sorted((root / "docs/patterns").glob("*.md"))}
    names = {row.name for row in patterns.ROWS}
    file, bench = root / "docs/patterns/costs.json", build / "bench.json"
    costs = {row["name"]: row for row in json.loads(file.read_text(encoding="utf-8"))} if file.exists() else {}
    measured = {row["name"]: row for row in json.loads(bench.read_text(encoding="utf-8"))} if bench.exists() else {}
    if update:
        costs |= {name: kept(row) for name, row in measured.items() if name in names and not row.get("error")}
        costs = {name: row for name, row in sorted(costs.items()) if name in names}
        file.write_text(json.dumps(list(costs.values()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    complaints += [f"costs.json: bench/patterns.py has no row {name}" for name in costs if name not in names]
    check_bench(costs, measured, complaints.append)
    tests = tests_of(root)
    for path, text in pages.items():
        check_form(path.name, text, root, complaints.append)
        check_causes(path.name, text, tests, complaints.append)
        wanted = check_costs(path, text, costs, update, complaints.append)
        if update:
            path.write_text(wanted, encoding="utf-8")
    print(*complaints, f"{len(pages)} pages, {len(costs)} measured costs", sep="\n")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
