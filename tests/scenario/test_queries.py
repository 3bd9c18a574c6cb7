# SPDX-License-Identifier: Apache-2.0
"""Queries, counts and look-ups with filters and in both directions, as a caller in another language sees them."""

import random
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import entity, int32, plain

POINT, ROW_RANGE, INDEX_LOOKUP, PARTITION_SCAN, TABLE_SCAN = 1, 2, 3, 4, 5

PARTITIONS = ["", "a", "b", "c-d", "\ufffd", "\U0001f600", "k" * 512]
ROWS = ["", "1", "10", "2", "é", "\U0001f600", "r" * 512]


def utf8(found):
    """Keys are ordered by their bytes."""
    return found.partition_key.encode(), found.row_key.encode()


class Queries(ServerCase):
    """A table of entities with a number, every third without, and a colour."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = "Queried"
        cls.client.create_table(name=cls.table)
        rng = random.Random(7)
        cls.all = []
        for n, (partition, row) in enumerate((p, r) for p in PARTITIONS for r in ROWS):
            properties = {"Color": rng.choice(["red", "green", "blue"])}
            if n % 3:
                properties["Number"] = int32(rng.randrange(10))
            cls.all.append(entity(partition, row, properties))
        cls.client.load(cls.table, cls.all)
        cls.all.sort(key=utf8)

    # filter text, and the same in Python: p, r are the keys, x the properties
    filters = (
        ("", lambda p, r, x: True),
        ("Color eq 'red'", lambda p, r, x: x["Color"] == "red"),
        ("PartitionKey eq 'a' and Color ne 'red'", lambda p, r, x: p == "a" and x["Color"] != "red"),
        ("PartitionKey eq 'a' or Number gt 5", lambda p, r, x: p == "a" or x.get("Number", 0) > 5),
        ("not (Number ge 0)", lambda p, r, x: "Number" not in x),
        ("PartitionKey ge 'b' and PartitionKey lt 'k' and Number le 3", lambda p, r, x: "b" <= p < "k" and x.get("Number", 9) <= 3),
        ("RowKey eq '10'", lambda p, r, x: r == "10"),
        ("PartitionKey eq '\U0001f600' and startswith(RowKey, '1')", lambda p, r, x: p == "\U0001f600" and r.startswith("1")),
        ("PartitionKey eq '' and (RowKey eq '' or RowKey eq '2' or RowKey eq '9')", lambda p, r, x: p == "" and r in ("", "2", "9")),
        ("contains(Color, 'e') and not startswith(Color, 'g')", lambda p, r, x: "e" in x["Color"] and x["Color"][0] != "g"),
        ("PartitionKey eq 'a' and PartitionKey eq 'b'", lambda p, r, x: False),
    )

    def expected(self, holds):
        return [found for found in self.all if holds(found.partition_key, found.row_key, plain(found))]

    def query(self, text="", descending=False, **fields):
        query = {"table": self.table, "filter": text, "descending": descending}
        return list(self.client.pages(self.client.query_entities, query=query, **fields))

    def test_pages_of_any_size_are_together_what_matches(self):
        for text, holds in self.filters:
            expected = [(utf8(found), plain(found)) for found in self.expected(holds)]
            for size in (1, 3, 1000):
                for descending in (False, True):
                    with self.subTest(text, size=size, descending=descending):
                        pages = self.query(text, descending, page_size=size)
                        got = [(utf8(found), plain(found)) for page in pages for found in page.entities]
                        self.assertEqual(got, expected[::-1] if descending else expected)
                        for page in pages:
                            self.assertLessEqual(len(page.entities), size)
                            self.assertEqual(page.stats.rows_returned, len(page.entities))
                            self.assertGreaterEqual(page.stats.rows_examined, len(page.entities))

    def test_counts_are_the_number_of_matches(self):
        for text, holds in self.filters:
            with self.subTest(text):
                query = {"table": self.table, "filter": text}
                pages = list(self.client.pages(self.client.count_entities, query=query))
                self.assertEqual(sum(page.count for page in pages), len(self.expected(holds)))
                self.assertTrue(all(page.stats.rows_returned == 0 for page in pages))

    def test_the_path_is_told(self):
        for text, path in (
            ("PartitionKey eq 'a' and RowKey eq '1'", POINT),
            ("PartitionKey eq 'a' and (RowKey eq '1' or RowKey eq '2')", POINT),
            ("PartitionKey eq 'a' and RowKey gt '1' and Number eq 1", ROW_RANGE),
            ("PartitionKey eq 'a' and Number eq 1", PARTITION_SCAN),
            ("Number eq 1", TABLE_SCAN),
        ):
            with self.subTest(text):
                query = {"table": self.table, "filter": text}
                self.assertEqual(self.client.query_entities(query=query).stats.access_path, path)
                self.assertEqual(self.client.count_entities(query=query).stats.access_path, path)

    def test_max_plan_refuses_what_is_costlier(self):
        text = "PartitionKey eq 'a' and Number eq 1"
        for call in (self.client.query_entities, self.client.count_entities):
            for most in (PARTITION_SCAN, TABLE_SCAN):
                call(query={"table": self.table, "filter": text, "max_plan": most})
            for most in (POINT, ROW_RANGE, INDEX_LOOKUP):
                query = {"table": self.table, "filter": text, "max_plan": most}
                error = self.refused("FAILED_PRECONDITION", "PLAN_TOO_EXPENSIVE", call, query=query)
                self.assertEqual(error.metadata["actual"], "PARTITION_SCAN")
                self.assertEqual(error.metadata["table"], self.table)
        for unknown in (6, -1):
            query = {"table": self.table, "max_plan": unknown}
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.query_entities, query=query)

    def test_projection_keeps_matching_what_it_leaves_out(self):
        pages = self.query("Color eq 'red'", options={"select": ["Number"]})
        found = [plain(found) for page in pages for found in page.entities]
        expected = self.expected(lambda p, r, x: x["Color"] == "red")
        self.assertEqual(found, [{n: v for n, v in plain(x).items() if n == "Number"} for x in expected])

    def test_a_token_goes_with_its_query(self):
        def page(token="", call=self.client.query_entities, **more):
            fields = {"page_size": 2} if call == self.client.query_entities else {}
            select = more.pop("select", [])
            if call == self.client.query_entities:
                fields["options"] = {"select": select}
            return call(query={"table": self.table, **more}, page_token=token, **fields)

        token = page().next_page_token
        page(token)
        page(token, max_plan=TABLE_SCAN)
        for other in ({"descending": True}, {"filter": "Number eq 1"}, {"select": ["Number"]}):
            self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", page, token, **other)
        self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", page, token, call=self.client.count_entities)

    def test_pages_under_concurrent_writes(self):
        """An entity that exists all the time appears once and in order, whatever is written in between."""
        table = self.new_table()
        steady = [entity("p", f"{n:03}") for n in range(0, 200, 2)]
        self.client.load(table, steady)
        for descending in (False, True):
            got, token = [], ""
            for n in range(1, 200, 2):
                query = {"table": table, "descending": descending}
                page = self.client.query_entities(query=query, page_size=3, page_token=token)
                got += [found.row_key for found in page.entities]
                token = page.next_page_token
                if not token:
                    break
                self.client.insert_or_replace_entity(table=table, entity=entity("p", f"{n:03}"))
                self.client.insert_or_replace_entity(table=table, entity=entity("p", f"{200 - n:03}"))
            self.assertEqual(token, "")
            self.assertEqual(got, sorted(set(got), reverse=descending))
            self.assertLessEqual({found.row_key for found in steady}, set(got))


class LookUps(ServerCase):
    with_worker = True

    def test_descending(self):
        table = self.new_table()
        self.client.load(table, [entity("p", f"{n:02}", Color="red", Number=n) for n in range(20)])
        index = {"name": self.new_name("ix"), "table": table, "shape": 1, "place": 2}
        index["partition_key"] = [{"property": "Color"}]
        index["row_key"] = [{"property": "Number"}]
        self.client.create_index(index=index)
        self.wait_ready(index["name"])
        for size in (1, 7, 1000):
            found = self.client.lookup(index["name"], ["red"], page_size=size, descending=True)
            self.assertEqual([x.row_key for x in found], [f"{n:02}" for n in reversed(range(20))])


if __name__ == "__main__":
    unittest.main()
