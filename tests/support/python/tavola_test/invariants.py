# SPDX-License-Identifier: Apache-2.0
"""What must hold at rest: all callers paused, all work done. Read through the ordinary calls, and in SQL.

  I1  acknowledged writes are readable                I6  groups are all or nothing
  I2  entries are the projection of their sources     I7  no update is lost, versions never fall
  I3  no entry is newer than its source               I8  what was moved is in one place, every step done once
  I4  no intent is left, and none vanished undone     I12 each dead letter that is left was reported

I5, one answer for one request_id, and I9, an index as fresh as it says, the writers see for themselves (callers.py). A copy
of a table that is kept by its change feed alone is the same as the table. No table has rows that nothing owns (audit.py).
"""

import json

from tavola_test import audit
from tavola_test.callers import DIFFERENT, DONE, DOUBLED, OWNERS, TAGS, promise
from tavola_test.client import key, plain, value
from tavola_test.waiting import wait_for

# Queries that must return no row.
NOTHING = {
    "open intents": "select count(*) from intents",
    "dead letters": "select count(*) from dead_letters",
    "unfinished transactions": "select count(*) from transactions where finished = 0",
    # A worker may begin a pass of the scrub at any time.
    "unfinished operations": "select count(*) from operations where state = 1 and kind <> 'scrub_index'",
    "keys whose version has fallen":
        "select count(*) from entities e join versions_seen s using (table_id, partition_key, row_key)"
        " where e.version < s.version",
}
REMEMBER_VERSIONS = """
insert into versions_seen select table_id, partition_key, row_key, version from entities
on conflict (table_id, partition_key, row_key) do update set version = excluded.version
"""
PREPARE = """
create table versions_seen (
    table_id bigint, partition_key text collate "C", row_key text collate "C", version bigint,
    primary key (table_id, partition_key, row_key))
"""


def prepare(stack):
    stack.sql(PREPARE)


# Claims of dead workers expire, as if the time had passed.
HURRY = "update operations set claim_expires_at = now() where state = 1 and claim_expires_at > now()"


def drain(stack, seconds=40):
    names = ("open intents", "unfinished operations", "unfinished transactions")

    def counts():
        return stack.sql(f"{HURRY}; select concat_ws(' ', ({'), ('.join(NOTHING[name] for name in names)}))").split()

    try:
        wait_for("the end of all work", lambda: set(counts()) == {"0"}, seconds)
    except AssertionError as error:
        left = ", ".join(f"{count} {name}" for count, name in zip(counts(), names))
        raise AssertionError(f"{error}; left are {left}") from None


def counted(caller, index):
    """The addresses that a look-up of all values of an index returns, page by page."""

    def look_up(wanted):
        pages = caller.pages(
            caller.lookup_index, index=index, equals=[value(wanted)], keys_only=True, trust_index=True
        )
        return [(found.partition_key, found.row_key) for page in pages for found in page.keys]

    return look_up


class Check:
    """One check; `differences` counts the wrong entries of the indexes."""

    def __init__(self, stack, workload):
        self.stack, self.workload = stack, workload

    def run(self):
        with self.stack.connect() as caller:
            self.caller = caller
            self.source = self.read("source")
            self.check_writers()
            self.check_counters()
            self.check_copies("byOwner", "Owner")
            self.check_lookups("byOwner", "Owner", OWNERS)
            self.check_lookups("byTag", "Tag", TAGS)
            self.check_copies("ownerHere", "Owner")
            self.check_copies("ownerAtOnce", "Owner")
            self.check_copies("ownerOnce", "Owner")
            self.check_members("tagHere", "Tag")
            self.check_moves()
        for each in self.workload.callers:
            each.at_rest()
        self.check_nothing()

    def read(self, table):
        return {(found.partition_key, found.row_key): found for found in self.caller.query(table)}

    def check_writers(self):
        for writer in self.workload.writers:
            writer.check(self.numbers(writer.table))
        self.workload.watcher.check(self.numbers(self.workload.watcher.table))

    def numbers(self, table):
        stored = self.source if table == "source" else self.read(table)
        return {address: plain(found)["N"] for address, found in stored.items()}

    def check_counters(self):
        counters = self.workload.counters
        number = plain(self.source[counters[0].ADDRESS])["N"]
        sure = sum(counter.sure for counter in counters)
        maybe = sum(counter.maybe for counter in counters)
        promise(sure <= number <= sure + maybe, "updates are lost or doubled", sure, number, maybe)
        for counter in counters:
            counter.sure = counter.maybe = 0
        counters[0].sure = number

    def check_copies(self, index, source):
        """Every entity with the property has one entry, with the properties and the time of the entity."""
        entries = {}
        for found in self.caller.query(index):
            properties = plain(found)
            address = (properties.pop("$SourcePartitionKey"), properties.pop("$SourceRowKey"))
            promise(address not in entries, index, address, "has two entries", kind=DIFFERENT)
            entries[address] = (properties, found.timestamp.ToNanoseconds())
        expected = {
            address: (plain(found), found.timestamp.ToNanoseconds())
            for address, found in self.source.items()
            if source in plain(found)
        }
        wrong = {
            address: (expected.get(address), entries.get(address))
            for address in {*entries, *expected}
            if expected.get(address) != entries.get(address)
        }
        promise(not wrong, "index difference", index, "(entity, entry)", wrong, kind=DIFFERENT, count=len(wrong))

    def check_lookups(self, index, source, values):
        look_up = counted(self.caller, index)
        for wanted in values:
            expected = sorted(address for address, found in self.source.items() if plain(found).get(source) == wanted)
            promise(look_up(wanted) == expected, "index difference", index, wanted, kind=DIFFERENT)

    def check_members(self, index, source):
        """Every value of a partition has a list of its entities."""
        lists = {}
        for found in self.caller.query(index):
            for member in json.loads(plain(found)["Members"]):
                lists.setdefault(found.partition_key, []).append(tuple(member))
        expected = {}
        for address, found in self.source.items():
            if source in plain(found):
                expected.setdefault(address[0], []).append(address)
        sorts = [{partition: sorted(all_of) for partition, all_of in of.items()} for of in (lists, expected)]
        promise(sorts[0] == sorts[1], "index difference", index, sorts, kind=DIFFERENT)

    def check_moves(self):
        archive = {address: plain(found) for address, found in self.read("archive").items()}
        for row, written_over in self.workload.mover.moved.items():
            number = int(row.rpartition("-")[2])
            promise(("moved", row) not in self.source, row, "is still where it was", kind=DOUBLED)
            promise(archive.get(("moved", row), {}).get("N") == number, row, "did not arrive")
            expected = number if written_over is None else written_over
            found = archive.get(("log", row), {}).get("N")
            promise(found == expected, row, "a step was done again, or not at all", found, expected, kind=DOUBLED)
            self.check_timeline(row)
            for partition in ("moved", "log"):
                self.caller.delete_entity(table="archive", key=key((partition, row)), precondition={"if_match": "*"})
        left = [address for address in archive if address[1] not in self.workload.mover.moved]
        promise(not left, "archive rows that no transaction has written", left)
        self.workload.mover.moved = {}

    def check_timeline(self, transaction_id):
        transaction = self.caller.get_transaction(transaction_id=transaction_id).transaction
        promise(transaction.state == DONE, transaction_id, "is in state", transaction.state)
        done = [attempt.step for attempt in transaction.timeline if not attempt.error.reason]
        promise(done == list(range(len(transaction.steps))), transaction_id, "steps done", done, kind=DOUBLED)

    def check_nothing(self):
        counts = self.stack.sql("; ".join(f"select '{name}', ({text})" for name, text in NOTHING.items()))
        for line in counts.split("\n"):
            name, count = line.split("|")
            promise(count == "0", name, count)
        audit.check(self.stack)
        self.stack.sql(REMEMBER_VERSIONS)


def check_at_rest(stack, workload, seconds=40):
    """Pause the callers, wait until no work is open, check, and let the callers go on."""
    workload.pause()
    try:
        workload.check_callers()
        workload.finish()
        drain(stack, seconds)
        Check(stack, workload).run()
    finally:
        workload.resume()
