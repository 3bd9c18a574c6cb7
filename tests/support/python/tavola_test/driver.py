# SPDX-License-Identifier: Apache-2.0
"""Server, worker, PostgreSQL and Redis, with callers at work, for campaigns that break them."""

import os
import signal

from tavola_test import invariants
from tavola_test.callers import ELSEWHERE_INDEX, Caller, Workload
from tavola_test.poison import Poison
from tavola_test.receiver import Receiver
from tavola_test.stack import Stack

SERVER, WORKER = "tavolad", "tavola-worker"
TROUBLES = ("postgres", "redis", "flush")
CALLS_AFTERWARDS = 3


def files_of(stack):
    """The directory for files that steps write; both programs are told of it."""
    folder = os.path.join(stack.folder, "files")
    os.makedirs(folder, exist_ok=True)
    return folder


class Driver:
    """Usable as a context."""

    with_power = False  # PostgreSQL on a disk whose power can be cut, where the machine allows it
    turn_pause = Caller.turn_pause  # of the callers

    def __init__(self, seed=0):
        self.stack = Stack(own_postgres=True, power=self.with_power)
        self.number = 0
        self.workload = Workload(self.stack, seed)
        self.receiver = self.stack.receiver = Receiver()
        try:
            self.start_all()
            self.stack.wait_until_serving()
            self.workload.prepare()
            self.poison = Poison(self.stack, "source", [ELSEWHERE_INDEX])
            invariants.prepare(self.stack)
            self.workload.start(self.turn_pause)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.workload.stop()
        for child in self.stack.children:
            child.send(signal.SIGCONT)
        self.receiver.close()
        self.stack.close()

    def start_all(self):
        self.start(SERVER)
        self.start(WORKER)

    def start(self, role, name="one", **settings):
        settings = {"TAVOLA_FILE_ROOT": files_of(self.stack), "TAVOLA_HTTP_CALL_HOSTS": self.receiver.host, **settings}
        if role == SERVER:
            return self.stack.start_server(wait=False, **settings)
        settings = {"TAVOLA_VISIBILITY_TIMEOUT_SECONDS": "1", "TAVOLA_SWEEP_INTERVAL_SECONDS": "1",
                    "TAVOLA_SCRUB_SHARE": "50", **settings}
        return self.stack.start_worker(TAVOLA_WORKER_NAME=name, **settings)

    def running(self, role):
        return self.stack.server if role == SERVER else self.stack.worker

    def make_trouble(self, trouble):
        if trouble == "postgres":
            self.stack.cluster.kill()
            self.stack.restart_own_postgres()
        elif trouble == "redis":
            self.stack.redis.kill()
            self.stack.start_redis()
        else:
            self.stack.redis_command("FLUSHALL")

    def go_on(self):
        """Wait until every caller has success; then pause all callers and check all invariants."""
        self.workload.wait_for_success(CALLS_AFTERWARDS)
        invariants.check_at_rest(self.stack, self.workload)
