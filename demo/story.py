"""What the demo prints: lines with the time since its start, the duration of each phase, and progress."""

import contextlib
import sys
import threading
import time

_WIDTH = 30
_BETWEEN_BARS = 0.1  # seconds
_BETWEEN_LINES = 5.0


class Story:
    def __init__(self, out=sys.stdout):
        self.out = out
        self.start = time.monotonic()
        self.phases = []
        self.bar_shown = False
        self.lock = threading.Lock()

    def say(self, text):
        with self.lock:
            self._clear()
            print(f"{time.monotonic() - self.start:6.1f} s  {text}", file=self.out, flush=True)

    def bar(self, text):
        """Replaces the bar before; only on a terminal."""
        with self.lock:
            self._clear()
            print(f"          {text}", end="", file=self.out, flush=True)
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


class Progress:
    """Counts from several threads; a bar on a terminal, else a line now and then."""

    def __init__(self, story, label, total):
        self.story, self.label, self.total = story, label, total
        self.done = 0
        self.shown = self.begin = time.monotonic()
        self.changed = threading.Condition()

    def add(self, count):
        with self.changed:
            self.done += count
            self.changed.notify_all()
        self._show()

    def set(self, done, total):
        with self.changed:
            self.done, self.total = done, total
        self._show()

    def _show(self):
        now = time.monotonic()
        terminal = self.story.out.isatty()
        if now - self.shown < (_BETWEEN_BARS if terminal else _BETWEEN_LINES):
            return
        self.shown = now
        share = min(self.done / self.total, 1) if self.total else 0
        if terminal:
            filled = int(share * _WIDTH)
            self.story.bar(f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.label} {self.done:,} of {self.total:,}")
        else:
            self.story.say(f"{self.label}: {self.done:,} of {self.total:,}")

    def rate(self):
        return self.done / max(time.monotonic() - self.begin, 0.001)
