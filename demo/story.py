# SPDX-License-Identifier: Apache-2.0
"""What the demo prints: lines with the time since its start, a line that is replaced, and the duration of each phase."""

import contextlib
import shutil
import sys
import threading
import time


class Story:
    def __init__(self, out=sys.stdout):
        self.out = out
        self.start = self.said = time.monotonic()
        self.phases = []
        self.bar_shown = False
        self.lock = threading.Lock()

    def say(self, text):
        with self.lock:
            self._clear()
            self.said = time.monotonic()
            print(f"{self.said - self.start:6.1f} s  {text}", file=self.out, flush=True)

    def silent_for(self):
        """Seconds since the last line."""
        return time.monotonic() - self.said

    def bar(self, text):
        """Replaces the previous bar; on a terminal only."""
        with self.lock:
            self._clear()
            line = f"{time.monotonic() - self.start:6.1f} s  {text}"
            print(line[: shutil.get_terminal_size().columns - 1], end="", file=self.out, flush=True)
            self.bar_shown = True

    def _clear(self):
        if self.bar_shown:
            print("\r\033[K", end="", file=self.out)
            self.bar_shown = False

    @contextlib.contextmanager
    def phase(self, name):
        begin = time.monotonic()
        yield
        self.phases.append((name, time.monotonic() - begin))

    def summary(self):
        with self.lock:
            self._clear()
            print(file=self.out)
            for name, seconds in self.phases:
                print(f"  {name:<44}{seconds:8.1f} s", file=self.out)
            total = time.monotonic() - self.start
            print(f"  {'all of it':<44}{total:8.1f} s\n", file=self.out, flush=True)
