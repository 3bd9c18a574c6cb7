# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a round: server and worker are killed, and PostgreSQL crashes."""

import os
import signal
import time

from tavola_test.waiting import wait_for

WORKER = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1", "TAVOLA_VISIBILITY_TIMEOUT_SECONDS": "1"}


class Trouble:
    """Kills the programs of a stack at random moments. world: what the callers share; its `ending` and `failure` end it."""

    def __init__(self, made, world, random):
        self.made, self.world, self.random = made, world, random
        self.kills = self.crashes = 0

    def make_beside(self, callers, seconds):
        """Beside callers that have been started, until the time is over. Then they end, and no call of theirs can take effect any more."""
        self.make(seconds)
        self.world.ending.set()
        for caller in callers:
            caller.join(120)
            assert not caller.is_alive(), "a caller hangs"
        if self.world.failure:
            raise self.world.failure
        self.end()

    def make(self, seconds):
        """Until the time is over."""
        end = time.monotonic() + seconds
        while not self.world.failure:
            pause = self.random.uniform(0.15, 0.5) * seconds
            if time.monotonic() + pause > end:
                break
            self.world.ending.wait(pause)
            if self.random.random() < 0.3:
                self.crash_postgres()
                continue
            self.kills += 1
            if self.random.random() < 0.3:
                self.made.worker.kill()
                self.made.start_worker(**WORKER)
            self.made.server.kill()
            self.made.start_server()
        while time.monotonic() < end and not self.world.failure:
            self.world.ending.wait(0.05)

    def crash_postgres(self):
        """If one session is killed, PostgreSQL ends all others and recovers from its log."""
        self.crashes += 1
        sessions = f"select pid from pg_stat_activity where datname = '{self.made.database}' order by pid"

        def pids():
            try:
                return ["none", *self.made.sql(sessions, database=self.made.postgres_home).split()]
            except AssertionError:
                return None

        victim = wait_for("a session", lambda: (pids() or [])[1:])[0]
        os.kill(int(victim), signal.SIGKILL)
        wait_for("PostgreSQL", lambda: victim not in (pids() or [victim]))

    def end(self):
        """Wait until no call can take effect any more: the server and its sessions have ended."""
        assert self.made.server.stop() == 0
        busy = (f"select coalesce(string_agg(application_name || ': ' || state || ': ' || query, '; '), '') from pg_stat_activity "
                f"where datname = '{self.made.database}' and state <> 'idle' and backend_type = 'client backend'")

        def sessions():
            return self.made.sql(busy, database=self.made.postgres_home)

        try:
            wait_for("the end of all sessions", lambda: sessions() == "")
        except AssertionError as error:
            raise AssertionError(f"{error}; there are {sessions()}") from None
        self.made.start_server()
