# SPDX-License-Identifier: Apache-2.0
"""The disturbances. Each strikes while work is open, because otherwise it would prove nothing."""

import time

from stack import SERVER, WORKER
from tavola_test.servers import flush_redis

FLUSH = "redis"
DURING_LOAD = ((0.2, SERVER), (0.4, SERVER), (0.7, WORKER), (0.8, FLUSH), (0.9, SERVER))  # share of the load, what
DURING_BUILD = ((0.1, WORKER), (0.3, SERVER), (0.5, FLUSH), (0.6, WORKER))  # share of the build, what
DURING_UPDATES = (WORKER, FLUSH, WORKER, SERVER, WORKER, FLUSH, WORKER, SERVER, WORKER)
_TIMEOUT = 30  # seconds until work must be open


class Disturber:
    """Kills processes and empties Redis, and prints what it does."""

    def __init__(self, story, live, stack, client):
        self.story, self.live, self.stack, self.client = story, live, stack, client
        self.count = 0

    def hit(self, what, moment):
        """moment: the work that was open."""
        begin = time.monotonic()
        self.count += 1
        if what == FLUSH:
            flush_redis()
            self.live.hit("Redis flushed")
            self.story.say(f"Redis flushed           with {moment}")
            return
        self.stack.kill(what)
        self.live.hit(f"{what} killed")
        self.stack.start(what)
        if what == SERVER:
            self.client.wait_until_serving(self.stack.check)
        self.story.say(
            f"{what + ' killed':<23} with {moment}; back after {(time.monotonic() - begin) * 1000:.0f} ms"
        )

    # ---- load ----

    def during_load(self, counter, wait_for, begin, end):
        """Spread over this part of the load; disturbances that come too late for it are left out."""
        for share, what in DURING_LOAD:
            if begin <= share < end and wait_for(int(share * counter.total)):
                self.hit(what, f"{counter.done:,} of {counter.total:,} packages loaded")

    # ---- build ----

    def new_build(self):
        """A function that gets the progress of a build (done, total) and strikes when its moment has come."""
        left = list(DURING_BUILD)

        def came_to(done, total):
            if left and total and done >= left[0][0] * total:
                self.hit(left.pop(0)[1], f"{done:,} of {total:,} keys of an index read")

        return came_to

    # ---- updates ----

    def _wait_for_open_intents(self, index, traffic):
        """The number of open intents, once it has gone down: then the worker is at work, and is hit."""
        deadline = time.monotonic() + _TIMEOUT
        before, worked = 0, False
        while time.monotonic() < deadline:
            count = self.client.index_status(index).lag.open_intents
            worked = worked or count < before
            before = count
            if worked and count > 0:
                return count
            traffic.check()
        raise RuntimeError(f"no moment with open intents and a working worker for {_TIMEOUT} s")

    def during_updates(self, index, traffic):
        """Spread over the traffic's updates."""
        for number, what in enumerate(DURING_UPDATES):
            traffic.wait_for_updates((number + 1) * traffic.target // (len(DURING_UPDATES) + 1))
            self.stack.check()
            count = self._wait_for_open_intents(index, traffic)
            self.hit(what, f"{count:5} open intents, after {traffic.updates:,} updates")
