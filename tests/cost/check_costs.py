# SPDX-License-Identifier: Apache-2.0
"""Instructions that operations take in our own functions, against those that were accepted.

  check_costs.py PROGRAM COSTS COMPILER [accept]

PROGRAM (operations.c) runs under callgrind. What libraries execute is left out. COSTS is a file with the accepted
numbers of each COMPILER: another one makes other code, so for one that is not in there nothing is checked. Times
depend on the machine and on who else uses it; these numbers do not.

Fails where an operation costs over 2 % more than accepted. With `accept` (or UPDATE_COSTS set) the numbers become the
accepted ones.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from callgrind import Dump  # pylint: disable=wrong-import-position

TOLERANCE = 0.02
MEASURED = "cost_measured"


def own_instructions(path, program):
    """Of one dump: the instructions executed in functions of the program itself."""
    return sum(cost for name, cost in Dump(path).self_cost.items() if os.path.basename(name) == program)


def count(program):
    """{operation: instructions of one run}"""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", f"--toggle-collect={MEASURED}",
                   f"--dump-after={MEASURED}", f"--callgrind-out-file={folder}/out", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr}")
        runs, *names = done.stdout.splitlines()
        runs = int(runs.removeprefix("RUNS "))
        dumps = [f"{folder}/out.{i + 1}" for i in range(len(names))]
        if not all(os.path.exists(dump) for dump in dumps):
            sys.exit(f"callgrind wrote {glob.glob(folder + '/*')} for {len(names)} operations")
        own = [own_instructions(dump, os.path.basename(program)) / runs for dump in dumps]
        return dict(zip(names, own))


def compare(counted, accepted):
    """Print all of them; returns the operations that cost too much."""
    worse = []
    for name, instructions in counted.items():
        before = accepted.get(name)
        if before is None:
            worse.append(f"{name}: has no accepted number")
            continue
        change = instructions / before - 1
        print(f"{name:26} {before:10,.1f} {instructions:10,.1f} {change:+8.1%}")
        if change > TOLERANCE:
            worse.append(f"{name}: {instructions:,.1f} instructions, {before:,.1f} were accepted ({change:+.1%})")
    return worse


def main():
    program, path, compiler = sys.argv[1:4]
    with open(path, encoding="utf-8") as file:
        known = json.load(file)
    if len(sys.argv) > 4 or os.environ.get("UPDATE_COSTS"):
        known[compiler] = {name: round(value, 1) for name, value in count(program).items()}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=4, sort_keys=True)
            file.write("\n")
        print(f"accepted for {compiler}")
        return 0
    if compiler not in known:
        print(f"no numbers are accepted for {compiler}, only for {', '.join(sorted(known)) or 'no compiler'}: not checked")
        return 0
    worse = compare(count(program), known[compiler])
    for text in worse:
        print(text, file=sys.stderr)
    if worse:
        print("if that is worth it: UPDATE_COSTS=1 ctest --test-dir build -R instruction_costs", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
