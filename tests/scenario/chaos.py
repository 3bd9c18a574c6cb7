# SPDX-License-Identifier: Apache-2.0
"""Chaos: everything breaks at random while callers do everything.

Two servers, two workers, PostgreSQL and Redis, with a network of proxies between them and before one of the servers.
The callers write, read, move, look up with tokens, put blobs by calls, in steps and with entities that hold them, write
wide entities, archive into files and to a service over HTTP, keep copies by a rule, create, fill and delete tables and
indexes, and some of their work fails until it is given up; an operator redrives and discards it. Faults come one over
the other: SIGKILL and SIGSTOP of each process, a PostgreSQL that is frozen or slow, power cuts of its disk, FLUSHALL, a
slow, silent or cut network. Every so often calm is made, everything comes to rest, and all invariants must hold
(invariants.py); what a caller sees meanwhile that must not be is found at once.

Faults and what callers choose come from the seed; when they meet does not.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time

from tavola_test import invariants
from tavola_test.callers import DIFFERENT, DOUBLED, LOST, Broken, Caller, Writer, promise
from tavola_test.client import ApiError, BatchOperation, entity, plain
from tavola_test.copy_callers import Copier
from tavola_test.driver import SERVER, WORKER, Driver, files_of
from tavola_test.outside_callers import Archivist, BlobStepper, BlobWriter, Holder
from tavola_test.poison import DEAD
from tavola_test.proxy import Proxy
from tavola_test.waiting import wait_for
from tavola_test.wide_callers import WideWriter

READY, STRONG = 3, 1
ROWS = 20
CHANGE_PAUSE = 0.1
CALM_EVERY = (15, 25)  # seconds
PAUSE = (0.1, 1.0)  # seconds between two faults
ABSENCE = (0.0, 1.5)  # seconds until a killed process is started again
STANDSTILL = (0.5, 7.0)  # the longest one is longer than every lease
BAD_NETWORK = (0.5, 4.0)
RHYTHMS = ((0.05, 0.05), (0.2, 0.05), (0.5, 0.1))  # seconds for which a slow PostgreSQL is stopped, and for which it then runs


class Changer(Caller):
    """Creates a table, fills it, indexes it, checks that the index is complete, replaces the index and makes it a strong one, with the same check
    after each, and deletes index and table.
    """

    def __init__(self, stack, name, seed):
        super().__init__(stack, name, seed)
        self.number = 0
        self.steps = (self.create, self.fill, self.index, self.look, self.replace, self.look, self.strengthen, self.look_at_once,
                      self.drop, self.delete)
        self.at = 0
        self.by = None  # the property of the declaration that is in force in the end

    def table(self):
        return f"{self.name}{self.number}"

    def turn(self):
        time.sleep(CHANGE_PAUSE)
        if not self.steps[self.at]():
            return
        self.at = (self.at + 1) % len(self.steps)
        self.number += self.at == 0

    def unless(self, reasons, call, **fields):
        """Make the call; True also if it is refused for one of the reasons, because its effect is there already."""
        try:
            return self.attempt(call, **fields) is not None
        except ApiError as error:
            if error.reason not in reasons:
                raise
            return True

    def create(self):
        return self.unless({"TABLE_ALREADY_EXISTS"}, "create_table", name=self.table())

    def fill(self, more=0):
        """With a request_id, so that a call without an answer writes nothing later."""
        operations = [BatchOperation(insert_or_replace=entity("p", f"{row:02}", N=more + row)) for row in range(ROWS)]
        return self.attempt("execute_batch", table=self.table(), operations=operations, request_id=f"{self.table()}-{more}")

    def declare(self, by):
        self.by = by
        return {"name": self.table() + "ByN", "table": self.table(), "shape": 1, "partition_key": [{"property": by}]}

    def index(self):
        return self.unless({"INDEX_EXISTS"}, "create_index", index=self.declare("N"))

    def replace(self):
        """A call without an answer may have begun the replacement; a second one would be refused, or replace the index once more."""
        return self.unless({"INDEX_NOT_READY"}, "replace_index", index=self.declare("RowKey"))

    def look(self):
        """No caller writes any more, so an index that is READY has every entry."""
        reply = self.attempt("get_index", name=self.table() + "ByN")
        if not reply or reply.status.state != READY or reply.status.HasField("replacement"):
            return False
        by = reply.index.partition_key[0].property
        promise(by == self.by, self.table(), "its index is by", by, self.by, kind=DIFFERENT)
        return self.count() is not None

    def count(self):
        reply = self.attempt("query_entities", query={"table": self.table() + "ByN"}, page_size=1000)
        if reply:
            count = len(reply.entities)
            promise(count == ROWS, self.table(), "its index is READY and has entries", count, kind=DIFFERENT)
        return reply and reply.entities

    def strengthen(self):
        """Until it is a strong index; UpdateIndex may be called again and again."""
        reply = self.attempt("update_index", name=self.table() + "ByN", consistency=STRONG)
        return reply and reply.index.consistency == STRONG

    def look_at_once(self):
        """Of a strong index every entry is there as soon as a write is answered. A replacement may have begun late, by a call without an answer."""
        if not self.strengthen() or not self.fill(more=1000):
            return False
        entries = self.count()
        if entries is None or not self.strengthen():
            return False
        numbers = sorted(plain(found)["N"] for found in entries)
        promise(numbers == list(range(1000, 1000 + ROWS)), self.table(), "its strong index is late", numbers, kind=DIFFERENT)
        return True

    def drop(self):
        """Every second index is deleted together with its table."""
        return self.number % 2 or self.unless({"INDEX_NOT_FOUND"}, "drop_index", name=self.table() + "ByN")

    def delete(self):
        return self.unless({"TABLE_NOT_FOUND", "RESOURCE_NOT_FOUND"}, "delete_table", name=self.table())

    def finish(self):
        while self.at != 0:
            self.turn()


class Operator(Caller):
    """An operator who redrives or discards some of the dead letters."""

    call_seconds = 10

    def turn(self):
        reply = self.attempt("list_dead_letters", filter={"state": DEAD})
        if not reply or not reply.dead_letters:
            time.sleep(0.1)
            return
        dead_letter = self.random.choice(reply.dead_letters)
        promise(dead_letter.cause and dead_letter.history, "a dead letter without cause or history", dead_letter)
        if self.random.random() < 0.5:
            self.attempt("redrive_dead_letters", dead_letter_ids=[dead_letter.dead_letter_id])
        else:
            self.attempt("discard_dead_letters", dead_letter_ids=[dead_letter.dead_letter_id], reason="who cares")


class Slowness:
    """Stops and continues all of PostgreSQL's processes in turns."""

    def __init__(self, cluster, rhythm):
        self.cluster, self.rhythm = cluster, rhythm
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        still, going = self.rhythm
        while not self.ending.is_set():
            self.cluster.send(signal.SIGSTOP)
            self.ending.wait(still)
            self.cluster.send(signal.SIGCONT)
            self.ending.wait(going)

    def end(self):
        self.ending.set()
        self.thread.join()


class Chaos(Driver):
    with_power = True

    def __init__(self, seed):
        self.random = random.Random(f"{seed} faults")
        self.kills = self.flushes = self.stops = self.networks = self.checks = 0
        self.freezes = self.slowness = self.power_cuts = 0
        self.restores = {}  # the present faults: (when to end it, how)
        self.children = {}
        self.proxies = {}
        super().__init__(seed)

    # the stack

    def start_all(self):
        stack = self.stack
        self.proxies["postgres"] = Proxy(os.path.join(stack.postgres_folder, ".s.PGSQL.5432"))
        self.proxies["redis"] = Proxy(stack.redis_socket)
        self.targets = {"one": stack.target}
        stack.new_target()
        self.targets["two"] = stack.target
        self.proxies["server"] = Proxy(stack.target.removeprefix("unix:"))
        self.starts = {
            (role, name): (lambda role=role, name=name: self.start_one(role, name))
            for role in (SERVER, WORKER)
            for name in ("one", "two")
        }
        for subject, start in self.starts.items():
            self.children[subject] = start()
        for name in self.targets:
            self.wait_until_serving(name)
        workload = self.workload
        workload.add(Writer(stack, "poison", 0, "source", workload.limbo))
        workload.add(Changer(stack, "changed", 0))
        workload.add(Changer(stack, "other", 0))
        workload.add(Operator(stack, "operator", 0))
        workload.add(BlobWriter(stack, "blobs", 0, workload.limbo))
        workload.add(BlobStepper(stack, "stepped", 0, workload.limbo))
        workload.add(Holder(stack, "holder", 0, workload.limbo))
        workload.add(WideWriter(stack, "wide", 0, workload.limbo))
        workload.add(Archivist(stack, "archived", 0, files_of(stack)))
        workload.add(Copier(stack, "copied", 0))
        ways = [self.targets["one"], self.targets["two"], f"127.0.0.1:{self.proxies['server'].port}"]
        for number, caller in enumerate(workload.callers):
            caller.target = ways[number % len(ways)]
            if caller.name == "poison":
                caller.looks_up = False

    def start_one(self, role, name):
        """The first server and the first worker reach PostgreSQL and Redis directly."""
        settings = {}
        if name == "two":
            port = self.proxies["postgres"].port
            settings["TAVOLA_POSTGRES"] = f"host=127.0.0.1 port={port} user=postgres dbname={self.stack.database}"
            settings["TAVOLA_REDIS"] = f"redis://127.0.0.1:{self.proxies['redis'].port}"
        if role == SERVER:
            settings["TAVOLA_LISTEN"] = self.targets[name]
        return self.start(role, name=name, **settings)

    def wait_until_serving(self, name):
        self.stack.target = self.targets[name]
        self.stack.server = self.children[SERVER, name]
        self.stack.wait_until_serving()

    def close(self):
        super().close()
        for proxy in self.proxies.values():
            proxy.stop()

    # faults: each returns how it is ended

    def kill(self, subject):
        self.kills += 1
        if subject == "postgres":
            self.stack.cluster.kill()
            return self.stack.restart_own_postgres
        if subject == "redis":
            self.stack.redis.kill()
            return self.stack.start_redis
        self.children[subject].kill()

        def start():
            self.children[subject] = self.starts[subject]()

        return start

    def stop(self, subject):
        self.stops += 1
        receiver = self.stack.redis if subject == "redis" else self.children[subject]
        receiver.send(signal.SIGSTOP)
        return lambda: receiver.send(signal.SIGCONT)

    def freeze(self, _):
        self.freezes += 1
        self.stack.cluster.send(signal.SIGSTOP)
        return lambda: self.stack.cluster.send(signal.SIGCONT)

    def slow_down(self, _):
        self.slowness += 1
        return Slowness(self.stack.cluster, self.random.choice(RHYTHMS)).end

    def cut_power(self, _):
        self.power_cuts += 1
        self.stack.cut_power()
        return self.stack.power_returns

    def spoil(self, subject):
        self.networks += 1
        proxy = self.proxies[subject[1]]
        how = self.random.choice(("slow", "silent", "cut"))
        if how == "slow":
            proxy.delay(self.random.choice((0.01, 0.1, 0.5)))
            return lambda: proxy.delay(0)
        spoil = proxy.silence if how == "silent" else proxy.cut
        spoil(True)
        return lambda: spoil(False)

    def break_something(self):
        kind = self.random.random()
        processes = [*self.starts, "postgres", "redis"]
        if kind < 0.3:
            self.disturb(self.random.choice(processes), self.kill, ABSENCE)
        elif kind < 0.5:
            self.disturb(self.random.choice([*self.starts, "redis"]), self.stop, STANDSTILL)
        elif kind < 0.56:
            self.disturb("postgres", self.freeze, STANDSTILL)
        elif kind < 0.62:
            self.disturb("postgres", self.slow_down, STANDSTILL)
        elif kind < 0.67:
            if self.stack.disk:
                self.disturb("postgres", self.cut_power, ABSENCE)
        elif kind < 0.82:
            self.disturb(("network", self.random.choice(sorted(self.proxies))), self.spoil, BAD_NETWORK)
        elif kind < 0.9:
            if "redis" not in self.restores:
                self.flushes += 1
                self.stack.redis_command("FLUSHALL")
        else:
            self.poison_work()

    def disturb(self, subject, how, duration):
        if subject not in self.restores:
            self.restores[subject] = (time.monotonic() + self.random.uniform(*duration), how(subject))

    def poison_work(self):
        """Work on some keys fails for a while, until it is given up."""
        if "postgres" in self.restores or "poison" in self.restores:
            return
        self.poison.put()
        self.restores["poison"] = (time.monotonic() + 3, self.give_up_and_cure)

    def give_up_and_cure(self):
        if "postgres" in self.restores:
            self.restores["poison"] = (time.monotonic() + 1, self.give_up_and_cure)
            return
        self.poison.give_up()
        self.poison.cure()

    def mend(self, everything=False):
        """PostgreSQL is started before the programs that need it."""
        for subject in sorted(self.restores, key=lambda subject: subject != "postgres"):
            when, restore = self.restores[subject]
            if everything or when <= time.monotonic():
                del self.restores[subject]
                restore()

    # time passes

    def look(self):
        self.workload.check_callers()
        for subject, child in self.children.items():
            if subject not in self.restores and not child.is_running():
                raise AssertionError(f"{subject} ended by itself:\n{child.output()[-3000:]}")

    def storm(self, seconds):
        self.workload.limbo.is_open = True
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pause = time.monotonic() + self.random.uniform(*PAUSE)
            while time.monotonic() < min(pause, end):
                self.mend()
                self.look()
                time.sleep(0.02)
            self.break_something()

    def calm(self):
        """End all faults, redrive what was given up, wait until no work is open, and check all invariants."""
        self.mend(everything=True)
        for name in self.targets:
            self.wait_until_serving(name)
        with self.stack.connect() as caller:
            wait_for("the end of the dead letters", lambda: self.heal(caller), 60)
        self.workload.wait_for_success(2, 60)
        self.workload.pause()
        busy = f"select count(*) from pg_stat_activity where datname = '{self.stack.database}' and state <> 'idle'"
        wait_for("idle servers", lambda: self.stack.sql(busy, database="postgres") == "0", 30)
        self.workload.limbo.is_open = False
        self.workload.resume()
        with self.stack.connect() as caller:
            wait_for("the end of the dead letters", lambda: self.heal(caller), 60)
        invariants.check_at_rest(self.stack, self.workload, 60)
        epoch = int(self.stack.sql("select epoch from catalogue"))
        promise(epoch == 0, "nothing was restored, but the epoch was raised to", epoch, kind=DIFFERENT)
        self.checks += 1

    def heal(self, caller):
        self.look()
        try:
            return self.poison.heal(caller)
        except ApiError:
            return False

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.storm(min(self.random.uniform(*CALM_EVERY), end - time.monotonic()))
            self.calm()

    # the end

    def summary(self, seconds, failure):
        broken = {LOST: 0, DOUBLED: 0, DIFFERENT: 0}
        seen = {id(found): found for found in [*self.workload.failures(), failure, failure and failure.__cause__]}
        for found in seen.values():
            if isinstance(found, Broken):
                broken[found.kind] += found.count
        counts = ", ".join(f"{count} {kind}" for kind, count in broken.items())
        return (
            f"chaos: {seconds:.0f} s, {self.workload.written()} writes acknowledged, {self.kills} kills, "
            f"{self.flushes} flushes, {counts}"
        )


def run(seconds, seed):
    """Returns the last line of output, and what went wrong or None."""
    began = time.monotonic()
    print(f"chaos: seed {seed}", flush=True)
    with Chaos(seed) as chaos:
        failure = None
        if not chaos.stack.disk:
            print(f"chaos: goes on without power cuts: {chaos.stack.no_disk}", flush=True)
        try:
            chaos.run(seconds)
        except Exception as found:  # every exception counts as a finding of the campaign
            failure = found
            print(chaos.stack.logs())
            print(f"chaos: FAILED: {found!r}"[:4000])
        print(
            f"chaos: {chaos.stops} stops, {chaos.freezes} frozen and {chaos.slowness} slow databases, "
            f"{chaos.power_cuts} power cuts, {chaos.networks} bad networks, {chaos.checks} times at rest"
        )
        return chaos.summary(time.monotonic() - began, failure), failure


def main():
    parser = argparse.ArgumentParser(prog="./dev chaos", description="everything breaks at random")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SECONDS") or 300))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    line, failure = run(arguments.seconds, arguments.seed)
    print(line)
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
