# SPDX-License-Identifier: Apache-2.0
"""Indexes that compare text without case, by calls alone: copies, lists and owners, in other partitions and in the same."""

import json
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import entity, value

NAMES = ("Ada", "ADA", "ada", "Straße", "STRAẞE", "STRASSE", "ΣΊΣΥΦΟΣ", "σίσυφος", "K", "\u212a", "ı", "I", "Zoe")


class FoldCase(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        for number, name in enumerate(NAMES):
            self.client.insert_entity(table=self.table, entity=entity("p", f"r{number:02}", Name=name))

    def new_folded(self, **fields):
        name = self.new_name("i")
        self.client.create_index(index={
            "name": name, "table": self.table, "shape": 1,
            "partition_key": [{"property": "Name", "fold_case": True}], **fields})
        self.wait_ready(name)
        return name

    def found(self, index, *equals, **fields):
        entities = self.client.lookup_index(
            index=index, equals=[value(text) for text in equals], timeout=20, **fields).entities
        return [found.properties["Name"].string_value for found in entities]

    def test_every_shape_and_place_finds_a_value_in_any_case(self):
        name = {"property": "Name", "fold_case": True}
        in_partition = {"place": 1, "partition_key": [{"property": "PartitionKey"}], "row_key": [name]}
        indexes = [(self.new_folded(), ()), (self.new_folded(shape=2), ()), (self.new_folded(**in_partition), ("p",)),
                   (self.new_folded(shape=2, **in_partition), ("p",))]
        for index, before in indexes:
            for asked, want in (
                ("aDa", ["Ada", "ADA", "ada"]), ("strasse", ["STRASSE"]), ("straße", ["Straße", "STRAẞE"]),
                ("Σίσυφος", ["ΣΊΣΥΦΟΣ", "σίσυφος"]), ("k", ["K", "\u212a"]), ("i", ["I"]), ("ı", ["ı"]), ("\u0130", []),
            ):
                for freshness in ({}, {"latest": True}):
                    with self.subTest(index=index, asked=asked, freshness=freshness):
                        self.assertEqual(self.found(index, *before, asked, freshness=freshness), want)
        self.client.insert_or_replace_entity(table=self.table, entity=entity("p", "r00", Name="ADELE"))
        for index, before in indexes:
            self.assertEqual(self.found(index, *before, "ada", freshness={"latest": True}), ["ADA", "ada"])
            self.assertEqual(self.found(index, *before, "Adele", freshness={"latest": True}), ["ADELE"])
        for index, _ in indexes:
            operation = self.client.verify_index(name=index).operation
            self.wait_done(operation)
            report = self.client.get_index_report(operation_id=operation.operation_id).report
            self.assertEqual((report.sources, report.missing, report.dangling, report.mismatched), (len(NAMES), 0, 0, 0))

    def test_a_range_and_the_declaration(self):
        index = self.new_folded(
            partition_key=[{"literal": "All"}], row_key=[{"property": "Name", "fold_case": True}], filter="Name ne 'ADA'")
        self.assertEqual(
            self.found(index, range={"at_least": value("AD"), "below": value("L")}), ["Ada", "ada", "I", "K", "\u212a"])
        self.assertEqual(self.found(index, "ADA"), ["Ada", "ada"])
        part = self.client.get_index(name=index).index.row_key[0]
        self.assertEqual((part.property, part.fold_case), ("Name", True))
        page = self.client.query_entities(query={"table": index, "filter": "PartitionKey eq 'All' and RowKey ge 'z'"})
        self.assertEqual([found.row_key for found in page.entities if found.row_key < "{"], ["zoe  !p  !r12"])

    def test_numbers_are_not_affected_and_lists_name_the_members(self):
        self.client.insert_entity(table=self.table, entity=entity("p", "n", Name=5))
        index = self.new_folded(shape=2)
        page = self.client.query_entities(query={"table": index, "filter": "PartitionKey eq 'ada'"}).entities[0]
        self.assertEqual(json.loads(page.properties["Members"].string_value), [["p", "r00"], ["p", "r01"], ["p", "r02"]])
        found = self.client.lookup_index(index=index, equals=[value(5)], keys_only=True).keys
        self.assertEqual([key.row_key for key in found], ["n"])
        self.assertEqual(self.client.get_index(name=index).status.violations, 0)

    def test_keys_of_two_entities_that_differ_in_case_keep_their_entries(self):
        table = self.new_table()
        for row in ("Ada", "ADA"):
            self.client.insert_entity(table=table, entity=entity("p", row, Name=row))
        index = self.new_folded(table=table, partition_key=[{"property": "RowKey", "fold_case": True}])
        self.assertEqual(self.found(index, "ada"), ["ADA", "Ada"])

    def test_a_value_in_another_case_has_one_owner(self):
        table = self.new_table()
        self.client.create_index(index={
            "name": self.new_name("i"), "table": table, "shape": 1, "unique": True,
            "partition_key": [{"property": "Name", "fold_case": True}]})
        self.client.insert_entity(table=table, entity=entity("p", "a", Name="Ada"))
        self.refused("ALREADY_EXISTS", "UNIQUE_VIOLATION", self.client.insert_entity,
                     table=table, entity=entity("p", "b", Name="ADA"))
        self.client.insert_or_replace_entity(table=table, entity=entity("p", "a", Name="ADA"))
        self.client.insert_entity(table=table, entity=entity("p", "b", Name="Bob"))

    def test_what_has_no_case_is_refused_by_the_name_of_the_field(self):
        for part in ({"literal": "A"}, {"property": "A", "width": 3}, {"property": "A", "inverted": True}):
            error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.create_index, index={
                "name": "folded", "table": self.table, "shape": 1, "partition_key": [{**part, "fold_case": True}]})
            self.assertEqual(list(error.fields), ["index.partition_key[0].fold_case"])
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.create_index, index={
            "name": "folded", "table": self.table, "shape": 1, "place": 1,
            "partition_key": [{"property": "PartitionKey", "fold_case": True}]})
        self.assertEqual(list(error.fields), ["index.partition_key"])


if __name__ == "__main__":
    unittest.main()
