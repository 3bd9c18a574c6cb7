# SPDX-License-Identifier: Apache-2.0
"""The load that runs while things are killed: updates and moves from several threads, and the ledger.

The ledger is what the service has acknowledged, nothing else. Every package belongs to one thread, so what an
entity has to look like is never in doubt but while a write's answer is missing; such a write is sent again:

- If-Match with the ETag before: if the first attempt was carried out, the second is refused, and the entity is
  read to see that it is in the state the write asked for.
- If-Match `*`: the second attempt writes the same once more.
- A transaction has an id: the second Submit finds the first.
"""

import random
import threading
import time

from client import Conflict
from live import Counter

PACKAGES, ARCHIVE = "Packages", "Archive"

_THREADS = 8
_UPDATES_PER_MOVE = 12
_SUBMITTED_TWICE = 10  # every tenth move, although its first answer arrived
_BOUND = 10  # times the requested updates: without a disturbance the load must still end
_ARCHITECTURES = ("amd64", "all")


class Ledger:
    """What the two tables must hold: {key: properties}."""

    def __init__(self, packages):
        self.packages = packages
        self.archive = {}


class Failure(Exception):
    """The service has broken a promise."""


class Traffic:
    """Begins with start() and goes on until `updates` are made and finish() was called."""

    def __init__(self, client, ledger, updates, seed):
        self.client, self.ledger, self.target = client, ledger, updates
        self.counter = Counter(updates)
        self.changed = self.counter.changed
        self.moves = self.resolved = 0
        self.finishing = threading.Event()
        self.error = None
        keys = sorted(ledger.packages)
        random.Random(seed).shuffle(keys)
        # Sorted by packages, so that some have thousands; the package with a '/' in its name is always included.
        self.maintainers = [ledger.packages[key]["Maintainer"] for key in keys[:500]]
        self.maintainers += [value for value in set(self._all_maintainers()) if "/" in value[1]]
        self.threads = [
            threading.Thread(target=self._run, args=(keys[n::_THREADS], random.Random(seed + n)), daemon=True)
            for n in range(_THREADS)
        ]

    @property
    def updates(self):
        return self.counter.done

    def _all_maintainers(self):
        return (properties["Maintainer"] for properties in self.ledger.packages.values())

    def start(self):
        for thread in self.threads:
            thread.start()

    def finish(self):
        """Returns when every write and every transaction has its answer."""
        self.finishing.set()
        for thread in self.threads:
            thread.join()
        self.check()

    def abandon(self):
        """Ends the calls in flight; after that the ledger proves nothing."""
        self.error = self.error or Failure("given up")
        self.client.close()
        for thread in self.threads:
            thread.join()

    def check(self):
        if self.error:
            raise self.error

    def wait_for_updates(self, count, timeout=120):
        deadline = time.monotonic() + timeout
        with self.changed:
            while self.updates < count and not self.error:
                if not self.changed.wait(max(deadline - time.monotonic(), 0.001)) and time.monotonic() > deadline:
                    raise Failure(f"only {self.updates} updates were acknowledged in {timeout} s")
        self.check()

    # ---- a thread ----

    def _wants_more(self, keys):
        if self.error or not keys:
            return False
        return self.updates < self.target or (
            not self.finishing.is_set() and self.updates < self.target * _BOUND
        )

    def _run(self, keys, rng):
        etags, moves, count = {}, [], 0
        try:
            while self._wants_more(keys):
                count += 1
                at = rng.randrange(len(keys))
                if count % _UPDATES_PER_MOVE:
                    self._update(keys[at], etags, rng)
                else:
                    keys[at], keys[-1] = keys[-1], keys[at]
                    moves.append(self._submit_move(keys.pop(), rng))
            for move in moves:
                self._await_move(*move)
        except Exception as error:  # pylint: disable=broad-except # every failure is passed on to the demo
            with self.changed:
                self.error = self.error or error
                self.changed.notify_all()

    def _etag_of(self, key, etags):
        if key not in etags:
            properties, etags[key] = self.client.get(PACKAGES, key)
            if properties != self.ledger.packages[key]:
                raise Failure(f"{key} is not as it was written")
        return etags[key]

    def _update(self, key, etags, rng):
        before = self.ledger.packages[key]
        changes, write, unconditional = self._choose(before, rng)
        after = before | changes
        sent = after if write == self.client.replace else changes
        if_match = "*" if unconditional else self._etag_of(key, etags)
        try:
            etags[key] = write(PACKAGES, key, sent, if_match)
        except Conflict as conflict:
            etags[key] = self._resolve(key, after, conflict)
        self.ledger.packages[key] = after
        with self.changed:
            self.counter.done += 1
            self.changed.notify_all()

    def _choose(self, before, rng):
        """(changes, method, whether without an ETag)"""
        dice = rng.random()
        if dice < 0.6:
            return {"Maintainer": rng.choice(self.maintainers)}, self.client.merge, False
        size = before.get("InstalledSize", ("int64_value", 0))[1] + 1
        if dice < 0.8:
            changes = {"Maintainer": rng.choice(self.maintainers), "InstalledSize": ("int64_value", size)}
            return changes, self.client.replace, False
        if dice < 0.9:
            return {"Version": ("string_value", before["Version"][1] + "+b1")}, self.client.merge, True
        return {"Architecture": ("string_value", rng.choice(_ARCHITECTURES))}, self.client.merge, True

    def _resolve(self, key, after, conflict):
        if not conflict.maybe_ours:
            raise Failure(f"{key} was changed by somebody else: {conflict}")
        properties, etag = self.client.get(PACKAGES, key)
        if properties != after:
            raise Failure(f"{key} is neither as before nor as the write wanted it")
        with self.changed:
            self.resolved += 1
        return etag

    def _submit_move(self, key, rng):
        version = self.ledger.packages[key]["Version"][1]
        move = (f"archive-{key[1]}", key, (key[0], f"{key[1]}_{version}"))
        for _ in range(2 if rng.randrange(_SUBMITTED_TWICE) == 0 else 1):
            self.client.submit_move(move[0], (PACKAGES, key), (ARCHIVE, move[2]))
        return move

    def _await_move(self, transaction_id, source, destination):
        transaction = self.client.wait_transaction(transaction_id)
        if transaction.state != self.client.pb.TRANSACTION_STATE_DONE:
            last = transaction.timeline[-1].error.message if transaction.timeline else "no attempt"
            raise Failure(f"transaction {transaction_id} ended in state {transaction.state}: {last}")
        with self.changed:
            self.ledger.archive[destination] = self.ledger.packages.pop(source)
            self.moves += 1
