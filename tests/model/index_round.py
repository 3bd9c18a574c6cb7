# SPDX-License-Identifier: Apache-2.0
"""Random indexes of a table, beside writers, while programs are killed: built, replaced, switched, verified and dropped again and
again. In each snapshot of the database, and at rest by every call, each index must equal what the test computes from its source.
"""

import collections
import random
import threading
import time

import filters
import snapshot
from calls import key_of, message_of
from declarations import LIST, fold
from history import CLOCK_SLACK
from index_callers import FAST, FULL, Inspector, Keeper, Slot, Writer
from tavola_test import audit
from tavola_test.client import ApiError
from tavola_test.waiting import wait_for
from trouble import Trouble

WRITERS = 3
SLOTS = 3
FAVOURITES = 8  # values that entities often have, so that they meet in lists and in unique indexes
DONE = 3
# What is still to be done; entities that have expired and not been swept are among it.
OPEN = """select (select count(*) from intents) + (select count(*) from operations where state = 1)
    + (select count(*) from indexes where state = 4)
    + (select count(*) from entities where not dead and expires < extract(epoch from clock_timestamp()) * 1e7 + 116444736000000000)"""


class IndexWorld:
    """What all callers of a round share."""

    def __init__(self, made, table, seed):
        self.made, self.table, self.seed = made, table, seed
        self.favourites = random.Random(f"{seed} {table} values").sample(filters.VALUES, FAVOURITES)
        self.slots = [Slot(f"{table}i{number}") for number in range(SLOTS)]
        self.declarations = []  # all that there ever were; appended before they are sent
        self.markers = iter(range(1, 10**5))
        self.done = collections.Counter()
        self.last_due = 0
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.failure = None

    def new_marker(self):
        with self.lock:
            return f"m{next(self.markers):05}x"

    def declaration_of(self, index):
        text = str(index)
        return next(found for found in self.declarations if found.marker in text)


class IndexRound:
    """One table from its creation on."""

    def __init__(self, made, number, seed, seconds):
        self.made, self.seconds = made, seconds
        self.world = IndexWorld(made, f"indexed{number}", seed)
        self.trouble = Trouble(made, self.world, random.Random(f"{seed} {number} trouble"))

    def run(self):
        with self.made.connect() as caller:
            caller.create_table(name=self.world.table)
        callers = [Writer(self.world, number) for number in range(WRITERS)]
        callers += [Keeper(self.world, slot) for slot in self.world.slots]
        callers.append(Inspector(self.world, "inspector"))
        for caller in callers:
            caller.start()
        self.trouble.make_beside(callers, self.seconds)
        wait_for("the last expiry", lambda: time.monotonic() > self.world.last_due + CLOCK_SLACK)
        with self.made.connect() as caller:
            self.check_at_rest(caller)

    # all is still

    def check_at_rest(self, caller):
        views = [view for view in (self.rest(caller, slot.name) for slot in self.world.slots) if view]
        wait_for("no open work", lambda: self.made.sql(OPEN) == "0", 60)
        taken = snapshot.Snapshot(snapshot.read(self.made, self.world.table), self.world.declarations)
        assert not taken.open, taken.open
        taken.check()
        for view in views:
            index = next(found for found in taken.indexes.values() if found.name == view.index.name)
            assert index.is_ready, index
            self.check_index(caller, taken, index)
        audit.check(self.made)
        caller.delete_table(name=self.world.table)

    @staticmethod
    def rest(caller, name):
        """The index once it is built, and no other one is being built in its place; None: it is not there, or could not be built."""

        def settled():
            try:
                view = caller.get_index(name=name)
            except ApiError as error:
                assert error.reason == "INDEX_NOT_FOUND", error
                return "gone"
            if view.status.state != snapshot.READY and view.status.build.state > DONE:
                caller.drop_index(name=name)
                return "gone"
            is_going_on = view.status.HasField("replacement") or view.status.state != snapshot.READY
            return None if is_going_on else view

        view = wait_for(f"the build of {name}", settled, 60)
        return None if view == "gone" else view

    def check_index(self, caller, taken, index):
        alive = {key_of(found) for found in caller.query(self.world.table)}
        expected = {key: entry for key, entry in index.entries.items() if key in alive}
        self.check_entries(caller, index, expected)
        self.check_lookups(caller, taken, index, expected)
        status = caller.get_index(name=index.name).status
        violations = taken.violations(index)
        counted = {key for number, key in taken.buried if number == index.id}
        assert counted == violations, f"{index}: counted as violations but none {counted - violations}, not counted {violations - counted}"
        assert status.violations == len(violations), f"{index}: {status.violations} violations, not {len(violations)}"
        assert status.keys_behind == 0, status
        for mode in (FULL, FAST):
            operation = caller.verify_index(name=index.name, mode=mode).operation
            assert caller.wait_operation(operation_id=operation.operation_id, timeout=20).operation.state == DONE
            reply = caller.get_index_report(operation_id=operation.operation_id)
            assert not reply.differences and not reply.report.in_flight, f"{index}: {reply}"

    def check_entries(self, caller, index, expected):
        """The index's own table, in the order of its keys; a list's by its number of pages alone."""
        found = caller.query(index.name)
        if index.declaration.fields["shape"] == LIST:
            assert bool(found) == bool(expected), f"{index}: {found}"
            return
        keys = [key_of(entry) for entry in found]
        assert keys == sorted((entry.key for entry in expected.values()), key=lambda key: (key[0].encode(), key[1].encode())), f"{index}: {keys}"

    def check_lookups(self, caller, taken, index, expected):
        """Everything, in both orders; and the entities of each value of the first parts, as filters equate."""
        order = sorted(expected, key=lambda key: tuple(text.encode() for text in expected[key].key))
        for descending in (False, True):
            found = [key_of(found) for found in caller.lookup(index.name, [], descending=descending)]
            assert found == (order[::-1] if descending else order), f"{index}: {found}, not {order}"
        names = [part for part in index.declaration.fields["partition_key"] if "property" in part]
        if any(part["property"] == "Timestamp" for part in names):
            return
        for source in taken.sources.values():
            values = [index.declaration.value_of(part["property"], source.whole) for part in names]
            if source.key in expected:
                self.check_value(caller, taken, index, (names, values), order)

    def check_value(self, caller, taken, index, wanted, order):
        names, values = wanted
        equals = [message_of(("", ""), (("V", *value),)).properties["V"] for value in values]
        found = [key_of(found) for found in caller.lookup(index.name, equals)]
        matching = [key for key in order if all(
            self.equates(part, index.declaration.value_of(part["property"], taken.sources[key].whole), value)
            for part, value in zip(names, values))]
        assert sorted(found) == sorted(matching), f"{index}: {values} finds {found}, not {matching}"

    @staticmethod
    def equates(part, stored, value):
        if part.get("fold_case") and stored[0] == value[0] == "string":
            stored, value = (("string", fold(text)) for _, text in (stored, value))
        return filters.compare(stored, value) == "equal"
