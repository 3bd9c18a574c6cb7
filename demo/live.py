# SPDX-License-Identifier: Apache-2.0
"""The line at the bottom of the terminal: the present phase, its rate, the lag of the indexes, the last disturbance.
On a terminal it is replaced several times a second; elsewhere a line is printed if no other line was printed for a
while.
"""

import contextlib
import threading
import time

import grpc

_BETWEEN_BARS = 0.2  # seconds
_BETWEEN_LINES = 4.0
_BETWEEN_LOOKS = 0.5  # at the lag
_RATE_OVER = 2.0  # seconds over which a rate is measured
_RECENT = 8.0  # seconds for which a disturbance is shown


class Counter:
    """The counts of a phase, which several threads add to."""

    def __init__(self, total=0):
        self.done, self.total = 0, total
        self.begin = time.monotonic()
        self.changed = threading.Condition()

    def add(self, count):
        with self.changed:
            self.done += count
            self.changed.notify_all()

    def set(self, done, total):
        with self.changed:
            self.done, self.total = done, total

    def per_second(self):
        return self.done / max(time.monotonic() - self.begin, 0.001)


class Rate:
    """The growth of a number over the last seconds."""

    def __init__(self):
        self.samples = []

    def at(self, now, number):
        if self.samples and number < self.samples[-1][1]:
            self.samples = []
        self.samples.append((now, number))
        while now - self.samples[0][0] > _RATE_OVER:
            self.samples.pop(0)
        seconds = now - self.samples[0][0]
        return (number - self.samples[0][1]) / seconds if seconds > 0.1 else 0


def lag_text(statuses):
    """The lag of the index that is furthest behind, and how fast it shrinks."""
    lag = max((status.lag for status in statuses), key=lambda one: one.open_intents)
    age = lag.age.seconds + lag.age.nanos / 1e9
    return f"lag {age:.1f} s, {lag.open_intents:,} open, {lag.applied_per_second:,.0f}/s applied"


class Live:
    """A context: the line is shown until its end."""

    def __init__(self, story):
        self.story = story
        self.what, self.counter = "", None
        self.client, self.indexes = None, ()
        self.lag, self.hit_text, self.hit_at = "", "", 0
        self.rate = Rate()
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=run, daemon=True) for run in (self._show, self._look)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def watch(self, client, indexes):
        """From now on the lag of these indexes is shown."""
        self.indexes, self.client = indexes, client

    def now(self, what, counter=None):
        """Show this phase from now on, with its counts."""
        self.rate = Rate()
        self.what, self.counter = what, counter

    @contextlib.contextmanager
    def phase(self, name, what, counter=None):
        """A phase of the demo."""
        self.now(what, counter)
        with self.story.phase(name):
            yield

    def hit(self, text):
        """A process was killed, or Redis was emptied."""
        self.hit_text, self.hit_at = text, time.monotonic()

    # ---- the line ----

    def text(self, now):
        parts, counter = [self.what], self.counter
        if counter:
            of = f" of {counter.total:,}" if counter.total else ""
            parts[0] += f" {counter.done:,}{of}, {self.rate.at(now, counter.done):,.0f}/s"
        if now - self.hit_at < _RECENT:
            parts.append(f"{self.hit_text} {now - self.hit_at:.1f} s ago")
        if self.indexes:
            parts.append(self.lag)
        return " | ".join(part for part in parts if part)

    def _show(self):
        terminal = self.story.out.isatty()
        while not self.stopping.wait(_BETWEEN_BARS):
            text = self.text(time.monotonic())
            if terminal:
                self.story.bar(text)
            elif self.story.silent_for() > _BETWEEN_LINES:
                self.story.say(f"... {text}")

    def _look(self):
        while not self.stopping.wait(_BETWEEN_LOOKS):
            if not self.indexes:
                continue
            try:
                self.lag = lag_text([self._status(name) for name in self.indexes])
            except (grpc.RpcError, ValueError):  # ValueError: the channel was closed
                self.lag = "lag unknown: the server does not answer"

    def _status(self, name):
        request = self.client.pb.GetIndexRequest(name=name)
        return self.client.method("IndexService/GetIndex")(request, timeout=1).status
