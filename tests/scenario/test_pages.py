# SPDX-License-Identifier: Apache-2.0
"""Pages: for any size, direction, filter and keys their union is the whole, in order, each entity once; under writes
that go on meanwhile too, for every entity that these leave alone.

The keys are random: empty, of the greatest length, with characters above U+FFFF. TEST_SEED repeats a run.
"""

import os
import random
import threading
import time
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, entity, key, match, plain, types

SCAN_REQUEST = types.message("tavola.v1.ScanEntitiesRequest")
SEED = int(os.environ.get("TEST_SEED", "1"))
SIZES = (1, 2, 3, 7, 50, 999, 0, 1001)

# Single characters whose order by UTF-8 bytes, by UTF-16 units and by case differ; no key may hold / \ # ? and controls.
CHARACTERS = [" ", "!", "%", "'", '"', "0", "9", "A", "Z", "a", "b", "~", "\u00a0", "\u00e9", "\u20ac", "\ud7ff", "\ue000"]
CHARACTERS += ["\ufffd", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff"]
LONGEST = ["k" * 512, "k" * 511 + "l", "\u00e9" * 512, "\u20ac" * 341 + "k", "\U0001f600" * 256, "\uffff" * 341]


def random_key(rng):
    turn = rng.random()
    if turn < 0.1:
        return ""
    if turn < 0.2:
        return rng.choice(LONGEST)
    return "".join(rng.choice(CHARACTERS) for _ in range(rng.choice([1, 1, 2, 3, 12])))


def address(found):
    return found.partition_key, found.row_key


def wire_order(keys):
    return keys[0].encode(), keys[1].encode()


class PageCase(ServerCase):
    def setUp(self):
        self.rng = random.Random(f"{SEED} {self.id()}")
        self.table = self.new_table()

    def fill(self, count):
        """Entities with N in -3..3; returns {keys: N} in order."""
        wanted = {}
        for _ in range(count):
            partition = random_key(self.rng)
            for _ in range(self.rng.choice([1, 1, 4])):
                wanted[partition, random_key(self.rng)] = self.rng.randrange(-3, 4)
        self.client.load(self.table, [entity(*keys, N=n) for keys, n in wanted.items()])
        return {keys: wanted[keys] for keys in sorted(wanted, key=wire_order)}

    def read(self, text="", descending=False, size=0, between=lambda: None):
        """All pages of the query, after a check of what every page must satisfy."""
        query = {"table": self.table, "filter": text, "descending": descending}
        found, tokens = [], set()
        for page in self.client.pages(self.client.query_entities, query=query, page_size=size):
            self.assertLessEqual(len(page.entities), min(size or 1000, 1000))
            self.assertNotIn(page.next_page_token or object(), tokens, "no place comes twice")
            tokens.add(page.next_page_token)
            found += page.entities
            between()
        return found

    def scan(self, text="", descending=False):
        query = {"table": self.table, "filter": text, "descending": descending}
        return [found for reply in self.client.scan_entities([SCAN_REQUEST(query=query)]) for found in reply.entities]


class AtRest(PageCase):
    def test_any_size_any_keys_both_directions(self):
        wanted = self.fill(60)
        for text, holds in (
            ("", lambda keys, n: True),
            ("N gt 0", lambda keys, n: n > 0),
            ("not (N eq 1L) and PartitionKey ge 'a'", lambda keys, n: n != 1 and keys[0].encode() >= b"a"),
            ("PartitionKey lt '\U00010000'", lambda keys, n: keys[0].encode() < "\U00010000".encode()),
            ("RowKey eq ''", lambda keys, n: keys[1] == ""),
            ("PartitionKey eq '' and RowKey gt '\uffff'", lambda keys, n: keys[0] == "" and keys[1].encode() > "\uffff".encode()),
        ):
            expected = [keys for keys, n in wanted.items() if holds(keys, n)]
            for descending in (False, True):
                ordered = expected[::-1] if descending else expected
                for size in SIZES:
                    with self.subTest(text, descending=descending, size=size):
                        self.assertEqual([address(found) for found in self.read(text, descending, size)], ordered)
                with self.subTest(text, descending=descending):
                    self.assertEqual([address(found) for found in self.scan(text, descending)], ordered)
            counted = sum(
                page.count
                for page in self.client.pages(self.client.count_entities, query={"table": self.table, "filter": text})
            )
            self.assertEqual(counted, len(expected))

    def test_every_key_is_a_place_to_go_on_from(self):
        """Read page after page, each with its own token: no key is lost between tokens."""
        wanted = self.fill(25)
        for keys in wanted:
            with self.subTest(keys):
                text = "PartitionKey ge '{}'".format(keys[0].replace("'", "''"))
                expected = [other for other in wanted if other[0].encode() >= keys[0].encode()]
                self.assertEqual([address(found) for found in self.read(text, size=5)], expected)
                self.assertEqual([address(found) for found in self.read(text, descending=True, size=5)], expected[::-1])

    def test_more_than_one_page_of_a_thousand(self):
        wanted = [("p", f"{n:05}") for n in range(2500)]
        self.client.load(self.table, [entity(*keys) for keys in wanted])
        for descending in (False, True):
            ordered = wanted[::-1] if descending else wanted
            for size in (0, 1000, 999, 2**31 - 1):
                self.assertEqual([address(found) for found in self.read(descending=descending, size=size)], ordered)

    def test_pages_of_a_filter_that_matches_next_to_nothing(self):
        """A page ends when enough rows were examined: short and empty pages still lead to the end."""
        rows = [entity("p", f"{n:05}", N=int(n == 17_000)) for n in range(0, 25_000)]
        for first in range(0, len(rows), 5000):
            self.client.load(self.table, rows[first : first + 5000])
        for descending in (False, True):
            query = {"table": self.table, "filter": "N eq 1L", "descending": descending}
            pages = list(self.client.pages(self.client.query_entities, query=query))
            self.assertEqual([found.row_key for page in pages for found in page.entities], ["17000"])
            self.assertGreater(len(pages), 2)
            self.assertTrue(any(not page.entities and page.next_page_token for page in pages))


class Writer(threading.Thread):
    """Writes, deletes and moves entities with keys of its own, as fast as it can."""

    def __init__(self, stack, table, keys, seed):
        super().__init__(daemon=True)
        self.stack = stack
        self.table = table
        self.keys = keys
        self.rng = random.Random(seed)
        self.ending = threading.Event()
        self.writes = 0
        self.failure = None

    def run(self):
        try:
            with self.stack.connect() as client:
                while not self.ending.is_set():
                    self.write(client, self.rng.choice(self.keys))
                    self.writes += 1
        except Exception as failure:  # an exception is given to the test
            self.failure = failure

    def write(self, client, keys):
        partition, row = keys
        if self.rng.random() < 0.5:
            client.insert_or_replace_entity(table=self.table, entity=entity(partition, row, N=self.rng.randrange(9)))
            return
        # Deleted and inserted again in one commit with a neighbour: rows move in the heap, but the order of keys
        # stays.
        client.insert_or_replace_entity(table=self.table, entity=entity(partition, row))
        group = [
            BatchOperation(delete=key(keys), precondition=match()),
            BatchOperation(insert_or_replace=entity(partition, row + "+", N=1)),
        ]
        client.execute_batch(table=self.table, operations=group)


class UnderWrites(PageCase):
    WRITERS = 3
    SECONDS = 4

    def test_what_is_left_alone_comes_exactly_once(self):
        steady = self.fill(60)
        # The keys of every writer lie between the keys that no writer changes.
        moving = [(partition, row + "-") for partition, row in steady if len(row) < 100]
        moving += [(partition + "-", "x") for partition, _ in steady if len(partition) < 100]
        moving = [keys for keys in dict.fromkeys(moving) if not {keys, (keys[0], keys[1] + "+")} & set(steady)]
        writers = [
            Writer(self.stack, self.table, moving[n :: self.WRITERS], f"{SEED} {n}") for n in range(self.WRITERS)
        ]
        for writer in writers:
            writer.start()
        try:
            self.read_beside(writers, steady)
        finally:
            for writer in writers:
                writer.ending.set()
                writer.join(60)
        self.assertEqual([writer.failure for writer in writers], [None] * self.WRITERS)

    def read_beside(self, writers, steady):
        """For some seconds, and longer if few writes and reads have ended by then."""
        end, reads = time.monotonic() + self.SECONDS, 0
        while time.monotonic() < end or reads < 5 or min(writer.writes for writer in writers) < 10:
            self.assertEqual([writer.failure for writer in writers], [None] * self.WRITERS)
            descending, size = self.rng.random() < 0.5, self.rng.choice(SIZES[1:])
            if self.rng.random() < 0.3:
                found = self.scan(descending=descending)
            else:
                found = self.read(descending=descending, size=size)
            keys = [address(each) for each in found]
            self.assertEqual(keys, sorted(set(keys), key=wire_order, reverse=descending))
            alone = [(address(each), plain(each)["N"]) for each in found if address(each) in steady]
            self.assertEqual(alone, list(steady.items())[:: -1 if descending else 1])
            reads += 1


if __name__ == "__main__":
    unittest.main()
