# SPDX-License-Identifier: Apache-2.0
"""The entries that the reference computes: cases by hand, after domain/properties/key_part.h and docs/indexes.md."""

import random
import unittest

import filters
from declarations import COPY, LIST, OTHER_PARTITION, SAME_PARTITION, Declaration, Violation, canonical, encode, random_declaration

ALICE = (("sales", "0001"), (("Age", "int32", 36), ("Name", "string", "Ada")), 0)


def declare(partition_key, row_key=(), **fields):
    fields = {"shape": COPY, "place": OTHER_PARTITION, **fields}
    filter = fields.pop("filter", filters.everything())
    return Declaration("m", {"partition_key": list(partition_key), "row_key": list(row_key), **fields}, filter)


class Parts(unittest.TestCase):
    def test_values_are_written_as_the_description_says(self):
        cases = [
            ({}, ("string", "a b"), "a b"),
            ({}, ("boolean", True), "!b1"),
            ({}, ("int32", 36), "!i00000000036"),
            ({}, ("int32", -1), "!i-2147483647"),
            ({}, ("int64", 5), "!l00000000000000000005"),
            ({}, ("int64", -(2**63)), "!l-0000000000000000000"),
            ({}, ("double", filters.packed(0.0)), "!d8000000000000000"),
            ({}, ("double", filters.packed(-0.0)), "!d7fffffffffffffff"),
            ({}, ("binary", b"\x05\xff"), "!x05ff"),
            ({}, ("guid", filters.GUIDS[0]), "!g" + filters.GUIDS[0]),
            ({}, ("datetime", (0, 100)), "!t0116444736000000001"),
            ({"width": 4}, ("int32", 36), "!i0036"),
            ({"width": 4, "inverted": True}, ("int64", 36), "!l9963"),
            ({"inverted": True}, ("int32", 0), "!i2147483647"),
            ({"inverted": True}, ("int64", -1), "!l09223372036854775808"),
            ({"inverted": True}, ("double", filters.packed(0.0)), "!d7fffffffffffffff"),
            ({"fold_case": True}, ("string", "AB\u00c9"), "ab\u00e9"),
            ({"fold_case": True}, ("int32", 1), "!i00000000001"),
        ]
        for options, value, expected in cases:
            with self.subTest(options=options, value=value):
                self.assertEqual(encode({"property": "A", **options}, value), expected)

    def test_what_a_part_cannot_hold_is_a_violation(self):
        cases = [
            ({"width": 1}, ("int32", 10)),
            ({"width": 10}, ("int32", -1)),
            ({"width": 4}, ("double", filters.packed(1.5))),
            ({"width": 4}, ("datetime", (0, 0))),
            ({"inverted": True}, ("string", "a")),
            ({"inverted": True}, ("boolean", True)),
            ({}, ("double", filters.packed(float("nan")))),
        ]
        for options, value in cases:
            with self.subTest(options=options, value=value), self.assertRaises(Violation):
                encode({"property": "A", **options}, value)

    def test_one_value_of_a_unique_index(self):
        five = [("int32", 5), ("int64", 5), ("double", filters.packed(5.0))]
        self.assertEqual(len({canonical({}, value) for value in five}), 1)
        self.assertEqual(len({canonical({}, ("double", filters.packed(zero))) for zero in (0.0, -0.0)}), 1)
        self.assertEqual(len({canonical({"fold_case": True}, ("string", text)) for text in ("Ada", "ADA")}), 1)
        self.assertEqual(len({canonical({}, value) for value in [("string", "5"), ("boolean", True), ("int32", 1), *five]}), 4)


class Entries(unittest.TestCase):
    def test_the_table_of_the_page(self):
        cases = [
            (declare([{"property": "Name"}]), ("Ada", "sales  !0001")),
            (declare([{"literal": "people"}], [{"property": "Age"}]), ("people", "!i00000000036  !sales  !0001")),
            (declare([{"property": "Name"}], [{"property": "RowKey"}]), ("Ada", "0001  !sales")),
            (declare([{"property": "Name"}], [{"property": "RowKey", "fold_case": True}]), ("Ada", "0001  !sales  !0001")),
            (declare([{"property": "PartitionKey"}], [{"property": "Age"}], place=SAME_PARTITION),
             ("sales", "!i00000000036  !0001")),
            (declare([{"property": "Name"}], [{"property": "RowKey"}], shape=LIST), ("Ada", "0001  !sales  !0001")),
        ]
        for declaration, key in cases:
            with self.subTest(declaration=declaration):
                self.assertEqual(declaration.entry(ALICE)[0], key)

    def test_no_entry(self):
        self.assertIsNone(declare([{"property": "Missing"}]).entry(ALICE))
        self.assertIsNone(declare([{"property": "Name"}], filter=filters.exists("Missing")).entry(ALICE))
        long = (("p", "r"), (("Name", "string", "x" * 600),), 0)
        self.assertRaises(Violation, declare([{"property": "Name"}]).entry, long)
        self.assertIsNone(declare([{"property": "Name"}]).entry_or_none(long))

    def test_what_an_entry_takes_along(self):
        keys = (("$SourcePartitionKey", "string", "sales"), ("$SourceRowKey", "string", "0001"))
        age, name = ALICE[1]
        cases = [
            ({}, (*keys, age, name)),
            ({"projection": {"keys_only": True}}, keys),
            ({"projection": {"some": {"names": ["Name", "Gone"]}}}, (*keys, name)),
            ({"shape": LIST}, keys),
        ]
        for fields, content in cases:
            with self.subTest(fields=fields):
                self.assertEqual(declare([{"property": "Name"}], **fields).entry(ALICE)[1], content)

    def test_a_random_declaration_has_its_marker(self):
        for seed in range(200):
            declaration = random_declaration(random.Random(seed), "i", "t", "m00001x", [("p", "r")])
            self.assertIn("m00001x", str(declaration.fields))
            self.assertTrue(declaration.properties())


if __name__ == "__main__":
    unittest.main()
