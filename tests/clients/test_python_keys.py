# SPDX-License-Identifier: Apache-2.0
"""Keys for the patterns of docs/patterns in the Python client: the vectors that all clients share, their order, and what is refused."""

import datetime as dt
import itertools
import json
import os
import unittest

from tavola_test.settings import SOURCE

from tavola import Entity, keys
from tavola.values import EPOCH

with open(os.path.join(SOURCE, "tests/vectors/keys.json"), encoding="utf-8") as file:
    VECTORS = json.load(file)


def when(milliseconds):
    return EPOCH + dt.timedelta(milliseconds=milliseconds)


class Keys(unittest.TestCase):
    def check(self, kind, make, *members):
        """What `make` returns for each vector has to equal the vector's `members`."""
        self.assertTrue(VECTORS[kind])
        for vector in VECTORS[kind]:
            with self.subTest(kind, **vector):
                self.assertEqual(make(vector), tuple(vector[member] for member in members))

    def test_vectors(self):
        self.check("compound", lambda vector: (keys.compound(*vector["parts"]),), "key")
        self.check("compound", lambda vector: (keys.parts_of(vector["key"]),), "parts")
        self.check("starts_with", lambda vector: (keys.starts_with(vector["prefix"]),), "filter")
        self.check("log_tail", lambda vector: (keys.log_tail(when(vector["when"]), vector["unique"]),), "key")
        self.check("series", lambda vector: (keys.day_of(when(vector["when"])), keys.hour_of(when(vector["when"]))), "day", "hour")
        self.check("period_table", lambda vector: (keys.period_table(vector["name"], when(vector["when"]), vector["unit"]),), "table")
        self.check("spread", lambda vector: (keys.spread(vector["partition_key"], vector["row_key"], vector["partitions"]),), "key")

    def test_no_two_lists_of_parts_share_a_key(self):
        lists = [parts for count in (1, 2, 3) for parts in itertools.product(("", "a", "_", "~", "~1", "a_b"), repeat=count)]
        self.assertEqual(len({keys.compound(*parts) for parts in lists}), len(lists))
        for parts in lists:
            self.assertEqual(keys.parts_of(keys.compound(*parts)), list(parts))

    def test_padded_numbers_have_the_order_of_numbers(self):
        numbers = [0, 1, 9, 10, 99, 100, 9_999_999_999]
        self.assertEqual(sorted(map(keys.padded, numbers)), list(map(keys.padded, numbers)))
        for number, width in ((-1, 10), (10, 1), (10_000_000_000, 10)):
            with self.assertRaises(ValueError):
                keys.padded(number, width)

    def test_a_prefix_without_a_larger_text_is_refused(self):
        for prefix in ("", "\U0010ffff\U0010ffff"):
            with self.assertRaises(ValueError):
                keys.starts_with(prefix)

    def test_log_tails_count_down_and_are_unique(self):
        now = dt.datetime.now(dt.timezone.utc)
        self.assertLess(keys.log_tail(now + dt.timedelta(microseconds=1)), keys.log_tail(now))
        self.assertNotEqual(keys.log_tail(now), keys.log_tail(now))
        self.assertEqual(keys.log_tail_time(keys.log_tail(now)), now)
        with self.assertRaises(TypeError):
            keys.log_tail(dt.datetime(2026, 1, 1))  # without a zone

    def test_a_unit_that_no_period_has_is_refused(self):
        with self.assertRaisesRegex(ValueError, "hour, day, month, year"):
            keys.period_table("logins", unit="week")

    def test_spread_uses_every_partition_and_no_other(self):
        self.assertEqual({keys.spread("p", str(n)) for n in range(1000)}, set(keys.spread_over("p")))
        for partitions in (0, 101):
            with self.assertRaises(ValueError):
                keys.spread_over("p", partitions)

    def test_merged_has_the_order_of_row_keys(self):
        queries = [[Entity(PartitionKey="p", RowKey=key) for key in row_keys] for row_keys in ("adf", "", "bce")]
        self.assertEqual("".join(entity["RowKey"] for entity in keys.merged(queries)), "abcdef")


if __name__ == "__main__":
    unittest.main()
