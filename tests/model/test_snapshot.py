# SPDX-License-Identifier: Apache-2.0
"""The judge of snapshots: what is right passes, and each kind of difference is noticed."""

import copy
import json
import unittest

import filters
from calls import message_of
from declarations import COPY, OTHER_PARTITION, SAME_PARTITION, Declaration
from snapshot import Snapshot

SOURCE, INDEX = 7, 8
KEY = ("p", "a")
READY, BUILDING, STRONG = 3, 1, 1


def row(table, key, content, **fields):
    return {"table_id": table, "p": key[0], "r": key[1], "version": 1, "ts": 1, "expires": 0,
            "properties": message_of(("", ""), content).SerializeToString().hex(), **fields}


class Judge(unittest.TestCase):
    def setUp(self):
        self.declaration = self.declare()
        self.rows = [self.source("a", "one"), self.source("b", "two"), self.entry("a", "one"), self.entry("b", "two")]
        self.more = {}

    def declare(self, **fields):
        fields = {"shape": COPY, "place": OTHER_PARTITION, "partition_key": [{"property": "A"}], "row_key": [], **fields}
        return Declaration("m00001x", fields, filters.everything())

    @staticmethod
    def source(name, text, **fields):
        return row(SOURCE, ("p", name), (("A", "string", text),), **fields)

    def entry(self, name, text, **fields):
        key, content = self.declaration.entry((("p", name), (("A", "string", text),), 0))
        return row(INDEX, key, content, **fields)

    def check(self, state=READY, consistency=0, versions=0):
        numbers = ((9, consistency), (13, versions))
        definition = b"\x0a\x07m00001x" + b"".join(bytes([field << 3, number]) for field, number in numbers if number)
        index = {"id": INDEX, "name": "i", "state": state, "replaces": None, "definition": definition.hex()}
        read = {"source": SOURCE, "indexes": [index], "rows": self.rows, "open": None, "buried": None, "owners": None, **self.more}
        return Snapshot(json.dumps(read), [self.declaration]).check()

    def differs(self, **fields):
        with self.assertRaises(AssertionError):
            self.check(**fields)

    def test_what_is_right(self):
        self.assertEqual(self.check(), 2)

    def test_each_difference(self):
        right = self.rows
        cases = {
            "missing": right[:3],
            "dangling": [right[0], *right[2:]],
            "twice": [*right, {**right[3], "r": "elsewhere"}],
            "elsewhere": [*right[:3], {**right[3], "r": "elsewhere"}],
            "mismatched": [*right[:3], {**right[3], "properties": right[2]["properties"]}],
            "expiry": [*right[:3], {**right[3], "expires": 5}],
            "no source": [*right, row(INDEX, ("x", "y"), ())],
        }
        for name, rows in cases.items():
            with self.subTest(name):
                self.rows = copy.deepcopy(rows)
                self.differs()

    def test_an_entry_that_should_have_the_version_of_its_source(self):
        self.rows[0]["version"] = 2
        self.assertEqual(self.check(), 2)
        self.differs(versions=1)

    def test_what_is_open_is_left_out_unless_the_index_is_strong(self):
        self.more = {"open": [["p", "b"]]}
        self.rows = self.rows[:3]
        self.assertEqual(self.check(), 1)
        self.differs(consistency=STRONG)
        self.declaration = self.declare(place=SAME_PARTITION, partition_key=[{"property": "PartitionKey"}], row_key=[{"property": "A"}])
        self.rows = [self.source("a", "one"), self.source("b", "two"), self.entry("a", "one")]
        self.differs()

    def test_an_index_that_is_built_may_lack_entries_but_not_have_wrong_ones(self):
        self.rows = self.rows[:3]
        self.assertEqual(self.check(state=BUILDING), 1)
        self.rows[2] = {**self.rows[2], "r": "elsewhere"}
        self.differs(state=BUILDING)

    def test_owners(self):
        self.declaration = self.declare(unique=True)
        both = [[INDEX, "p", "a"], [INDEX, "p", "b"]]
        self.more = {"owners": both}
        self.assertEqual(self.check(), 2)
        cases = {
            "no owner": ([], self.rows),
            "twice": ([*both, both[0]], self.rows),
            "two owners": (both, [self.source("a", "one"), self.source("b", "one"), self.entry("a", "one"), self.entry("b", "one")]),
            "an owner without a value": (both, [self.rows[0], self.rows[2]]),
            "an entry without an owner": (both[:1], self.rows),
            "a value without an owner": (both[:1], self.rows[:3]),
        }
        for name, (owners, rows) in cases.items():
            with self.subTest(name):
                self.more, self.rows = {"owners": owners}, rows
                self.differs()

    def test_a_violation_of_uniqueness(self):
        self.declaration = self.declare(unique=True)
        self.rows = [self.source("a", "one"), self.source("b", "one"), self.entry("a", "one")]
        self.more = {"owners": [[INDEX, "p", "a"]]}
        self.assertEqual(self.check(), 2)
        self.rows, self.more = [self.source("b", "one")], {"buried": [[INDEX, "p", "b"]]}
        self.assertEqual(self.check(), 1)


if __name__ == "__main__":
    unittest.main()
