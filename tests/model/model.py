# SPDX-License-Identifier: Apache-2.0
"""Random operations of several callers against a real server that is killed meanwhile, every answer compared.

  model.py [--seconds N] [--seed N] [--only entities|rest|indexes|blobs|copies]

A round of entities is a table of its own, and one of groups (groups.py): callers write and read them for some seconds, server,
worker and PostgreSQL are killed and started again, then all is still. What is stored then, and what queries, counts, scans and look-ups say about it, must be what the
reference says, and the whole history of each key must be linearizable (history.py). A round of rest is the same through both doors
(rest_calls.py). A round of indexes: index_round.py; of blobs: blob_round.py; of a copy rule: copy_round.py.

Runs under `tavola dev exec`; ./dev model does it.
"""

import argparse
import os
import random
import sys
import time

import filters
from blob_round import BlobRound
from calls import Caller, content_of, key_of, message_of
from copy_round import CopyRound
from group_callers import GroupReader, GroupWriter
from history import CLOCK_SLACK, Read, check, count_bounds
from index_round import IndexRound
from rest_calls import RestCaller
from tavola_test import audit
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for
from trouble import WORKER, Trouble
from workload import Client, World, project, wire_order

CALLERS = 5
GROUP_READERS = 2
ALONE = 0.5  # seconds of a round in which only the callers of groups run, before the others begin
COUNTS = 20  # counts of a round that are checked; each costs two searches per key
FINAL_QUERIES = 30
INDEX_READY = 3


class Round:
    """One table from its creation to its deletion."""

    def __init__(self, made, number, seed, seconds, caller_type=Caller):
        self.made = made
        self.random = random.Random(f"{seed} {number}")
        self.seconds = seconds
        prefix = "round" if caller_type is Caller else "rest"
        self.world = World(made, f"{prefix}{number}", seed, CALLERS, caller_type)
        # With an index every write is planned; without one, upserts take a shorter path.
        self.index = f"{prefix}by{number}" if number % 2 == 0 else None
        self.index_filter = filters.everything()
        # Upserts of a wide table are planned, too. The slices of the tests have the first rounds only.
        self.world.is_wide = number % 4 == (3 if caller_type is Caller else 1)
        if number % 4 == 2:
            self.index_filter = filters.random_filter(self.random, self.world.keys)
        self.group_index = f"{prefix}byGroup{number}" if self.index else None
        self.trouble = Trouble(made, self.world, self.random)

    def run(self):
        with self.made.connect() as caller:
            caller.create_table(name=self.world.table, wide_entities=self.world.is_wide)
            caller.create_table(name=self.world.groups)
            if self.index:
                self.create_index(caller, self.index, self.world.table, "C", filter=self.index_filter.text)
                self.create_index(caller, self.group_index, self.world.groups, "Group")
        groups = [GroupReader(self.world, number, self.group_index) for number in range(GROUP_READERS)]
        groups.append(GroupWriter(self.world))
        callers = [Client(self.world, number) for number in range(CALLERS)]
        for caller in groups:
            caller.start()
        self.world.ending.wait(self.seconds * ALONE)  # a torn page is rare, so many pages are read
        for caller in callers:
            caller.start()
        self.trouble.make_beside(groups + callers, self.seconds)
        wait_for("the last expiry", lambda: time.monotonic() > self.world.last_due + CLOCK_SLACK)
        self.check_stored()
        audit.check(self.made)
        undecided, longest = self.check_histories()
        self.world.check_timestamps()
        return undecided, longest

    @staticmethod
    def create_index(caller, name, table, property, **fields):
        index = {"name": name, "table": table, "shape": 1, **fields}
        caller.create_index(index={**index, "partition_key": [{"property": property}]})

    # what is stored at the end

    def check_stored(self):
        called = time.monotonic()
        with self.made.connect() as caller:
            entities = caller.query(self.world.table)
            answered = time.monotonic()
            stored = {key_of(found): content_of(found) for found in entities}
            for found in entities:
                version = int(found.etag.rstrip('"').split(".")[1], 16)
                self.world.add(Read(key_of(found), called, answered, content_of(found), version))
            for key in self.world.keys:
                if key not in stored:
                    self.world.add(Read(key, called, answered, None))
            assert set(stored) <= set(self.world.keys), set(stored) - set(self.world.keys)
            for _ in range(FINAL_QUERIES):
                self.check_query(caller, stored)
            if self.index:
                self.check_index(caller, stored)

    def check_query(self, caller, stored):
        filter = filters.random_filter(self.random, self.world.keys, depth=3)
        descending = self.random.random() < 0.5
        select = self.random.sample(filters.NAMES, 2) if self.random.random() < 0.3 else []
        of = project(select) if select else lambda content: content
        keys = sorted((key for key in stored if filter.holds(key, stored[key])), key=wire_order, reverse=descending)
        expected = [(key, of(stored[key])) for key in keys]
        query = {"table": self.world.table, "filter": filter.text, "descending": descending}
        fields = {"query": query, "options": {"select": select}}
        pages = caller.pages(caller.query_entities, page_size=self.random.choice([0, 1, 2, 5, 9]), **fields)
        found = [(key_of(entity), content_of(entity)) for page in pages for entity in page.entities]
        assert found == expected, f"{query} {select}:\n{found}\nexpected\n{expected}"
        counted = sum(page.count for page in caller.pages(caller.count_entities, query=query))
        assert counted == len(expected), f"count of {query}: {counted}, expected {len(expected)}"

    def check_index(self, caller, stored):
        wait_for("READY", lambda: caller.get_index(name=self.index).status.state == INDEX_READY, 60)
        wait_for("no open intent", lambda: self.made.sql("select count(*) from intents") == "0", 60)
        for kind, payload in filters.VALUES:
            if kind == "double" and payload in filters.NOT_A_NUMBER:
                continue
            wanted = sorted(
                (
                    key
                    for key in stored
                    if self.equates(stored[key], (kind, payload)) and self.index_filter.holds(key, stored[key])
                ),
                key=wire_order,
            )
            value = message_of(("", ""), (("C", kind, payload),)).properties["C"]
            found = sorted(map(key_of, caller.lookup(self.index, [value])), key=wire_order)
            assert found == wanted, f"look-up of {kind} {payload}: {found}, expected {wanted}"

    @staticmethod
    def equates(content, value):
        """Whether an index holds the entity, and a look-up with this value finds it: equal as filters compare."""
        stored = filters.value_of("C", None, content)
        return filters.compare(stored, value) == "equal"

    # what callers saw during the round

    def check_histories(self):
        undecided = longest = 0
        for key, events in self.world.events.items():
            verdict = check(events)
            assert verdict.holds is not False, f"{key}: {verdict.explanation}"
            undecided += verdict.holds is None
            longest = max(longest, len(events))
        for keys, filter, called, answered, counted in self.world.counts[:COUNTS]:
            least, most = count_bounds(self.world.events, keys, filter, called, answered)
            assert least <= counted <= most, f"count of {filter}: {counted}, can be {least} to {most}"
        return undecided, longest


def describe(done, trouble):
    kinds = ", ".join(f"{done[kind]} {kind}" for kind in sorted(done))
    return f"{kinds}; {trouble.kills} kills, {trouble.crashes} crashes of PostgreSQL"


def run_entities(made, number, seed, seconds, caller_type=Caller):
    """A round of entities; returns how many events its histories have."""
    current = Round(made, number, seed, seconds, caller_type)
    began = time.monotonic()
    undecided, longest = current.run()
    events = sum(map(len, current.world.events.values()))
    print(
        f"round {number}: {describe(current.world.done, current.trouble)}; {events} events of {len(current.world.keys)} keys,"
        f" the longest history {longest}, {undecided} undecided; {time.monotonic() - began:.1f} s",
        flush=True,
    )
    return events


def run_rest(made, number, seed, seconds):
    """A round of entities whose callers use both doors: gRPC, and REST where it has a form for the call."""
    return run_entities(made, number, seed, seconds, RestCaller)


def run_counted(round_type, kind, counted):
    """A function that carries out a round, and returns how much of what it counts was compared."""

    def run(made, number, seed, seconds):
        current = round_type(made, number, seed, seconds)
        began = time.monotonic()
        current.run()
        print(f"round {number}, {kind}: {describe(current.world.done, current.trouble)}; {time.monotonic() - began:.1f} s", flush=True)
        return current.world.done[counted]

    return run


KINDS = {"entities": run_entities, "rest": run_rest, "indexes": run_counted(IndexRound, "indexes", "compared"),
         "blobs": run_counted(BlobRound, "blobs", "gets"), "copies": run_counted(CopyRound, "copies", "compared")}


def run_rounds(made, arguments, kinds):
    end = time.monotonic() + arguments.seconds
    seconds = arguments.round * TIMEOUT_FACTOR
    number, totals = 0, dict.fromkeys(kinds, 0)
    while number < len(kinds) or time.monotonic() + seconds / 2 < end:
        kind = kinds[number % len(kinds)]
        totals[kind] += KINDS[kind](made, number // len(kinds) + 1, arguments.seed, seconds)
        number += 1
    told = {"entities": "events: every answer explained", "rest": "events through both doors: every answer explained",
            "indexes": "entries, each what its entity asks for", "blobs": "contents read, each whole and not too old",
            "copies": "dependents, each with the copies of its source"}
    print(f"{number} rounds, " + "; ".join(f"{total} {told[kind]}" for kind, total in totals.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--round", type=float, default=8, help="seconds of calls per table")
    parser.add_argument("--only", choices=sorted(KINDS), help="rounds of one kind; all in turns")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with Stack() as made:
        made.server_defaults["TAVOLA_HTTP_LISTEN"] = "unix:" + os.path.join(made.folder, "http")
        made.start_server()
        made.start_worker(**WORKER)
        try:
            run_rounds(made, arguments, [arguments.only] if arguments.only else list(KINDS))
        except BaseException:
            print(f"failed with seed {arguments.seed}\n{made.logs()}", file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
