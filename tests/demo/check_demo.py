# SPDX-License-Identifier: Apache-2.0
"""The whole demo with a few packages: it succeeds, prints a line at least every few seconds, and strikes in every
phase. check_demo.py runs inside `tavola dev exec`; exit code 77: this machine has no package index
"""

import os
import subprocess
import sys
import time

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "demo", "demo.py")
MAX_SILENCE = 10  # seconds; the demo prints after four, but the machine may be busy
NO_PACKAGE_INDEX = 77


def run():
    """(exit code, lines, the longest time between two lines)"""
    argv = [sys.executable, "-B", DEMO, "--packages", "3000", "--updates", "1500"]
    lines, longest, last = [], 0, time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as demo:
        for line in demo.stdout:
            now = time.monotonic()
            longest, last = max(longest, now - last), now
            lines.append(line.rstrip("\n"))
            print(line, end="", flush=True)
    return demo.returncode, lines, longest


def hits(lines, begin, end):
    """How often a process was killed or Redis emptied between the line with `begin` and the last one with `end`."""
    first = next(n for n, line in enumerate(lines) if begin in line)
    last = max(n for n, line in enumerate(lines) if end in line)
    return sum(" killed " in line or "Redis flushed" in line for line in lines[first:last] if "..." not in line)


def main():
    code, lines, longest = run()
    if code != 0:
        return code
    phases = {"load": ("packages to load", " sections ("), "build": ("both indexes declared", " is READY"),
              "updates": (" is READY", " moves acknowledged")}
    wrong = [f"nothing was killed during the {name}" for name, part in phases.items() if not hits(lines, *part)]
    if longest > MAX_SILENCE:
        wrong.append(f"silent for {longest:.1f} s")
    if not lines[-1].endswith("0 missing, 0 dangling, 0 mismatched, lag 0"):
        wrong.append(f"ends with: {lines[-1]}")
    for text in wrong:
        print(f"check_demo: {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
