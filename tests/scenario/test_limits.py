# SPDX-License-Identifier: Apache-2.0
"""Every limit of the data model: exactly at it a write succeeds and reads back the same; one step over it is
refused with its code and reason, and a read afterwards shows that nothing changed."""

import math
import struct
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import (
    BatchOperation,
    ImportEntitiesRequest,
    contents,
    entity,
    guid,
    int32,
    key,
    match,
    plain,
    raw_field,
    types,
    value,
    when,
)

MIB = 1024 * 1024
INSERT_REQUEST = types.message("tavola.v1.InsertEntityRequest")
BATCH_REQUEST = types.message("tavola.v1.ExecuteBatchRequest")
INSERT = "/tavola.v1.EntityService/InsertEntity"
BATCH = "/tavola.v1.EntityService/ExecuteBatch"


def units(text):
    return len(text.encode("utf-16-le")) // 2


def size_of(of):
    """The size formula of the data model."""
    total = 4 + 2 * (units(of.partition_key) + units(of.row_key))
    for name, given in of.properties.items():
        kind = given.WhichOneof("kind")
        content = getattr(given, kind)
        sizes = {
            "string_value": lambda: 2 * units(content) + 4,
            "binary_value": lambda: len(content) + 4,
            "guid_value": lambda: 16,
            "int32_value": lambda: 4,
            "boolean_value": lambda: 1,
        }
        total += 8 + 2 * units(name) + sizes.get(kind, lambda: 8)()
    return total


class LimitCase(ServerCase):
    """Each test has a table with one entity, the witness."""

    def setUp(self):
        self.table = self.new_table()
        self.client.insert_entity(table=self.table, entity=entity("p", "witness", A="unchanged"))
        self.before = self.client.query(self.table)

    def accepts(self, some):
        """Every way of writing accepts the entity, and it reads back the same."""
        result = self.client.insert_entity(table=self.table, entity=some).result
        stored = self.get(self.table, some.partition_key, some.row_key)
        self.assertEqual((stored.partition_key, stored.row_key), (some.partition_key, some.row_key))
        self.assertEqual(stored.etag, result.etag)
        self.assertEqual(contents(stored), contents(some))
        self.client.insert_or_replace_entity(table=self.table, entity=some)
        self.client.insert_or_merge_entity(table=self.table, entity=some)
        self.client.replace_entity(table=self.table, entity=some, precondition=match())
        address = key((some.partition_key, some.row_key))
        reply = self.client.batch_get_entities(table=self.table, keys=[address])
        self.assertEqual(contents(reply.results[0].entity), contents(some))
        self.client.delete_entity(table=self.table, key=address, precondition=match())
        self.client.execute_batch(table=self.table, operations=[BatchOperation(insert=some)])
        self.client.delete_entity(table=self.table, key=address, precondition=match())

    def refuses(self, some, code, reason, **metadata):
        """Every way of writing refuses the entity; nothing has changed afterwards."""
        client = self.client
        errors = [
            self.refused(code, reason, client.insert_entity, table=self.table, entity=some),
            self.refused(code, reason, client.insert_or_replace_entity, table=self.table, entity=some),
            self.refused(code, reason, client.insert_or_merge_entity, table=self.table, entity=some),
            self.refused(code, reason, client.replace_entity, table=self.table, entity=some, precondition=match()),
            self.refused(code, reason, client.merge_entity, table=self.table, entity=some, precondition=match()),
        ]
        for error in errors:
            self.assertLessEqual(metadata.items(), error.metadata.items(), error)
        operations = [BatchOperation(insert=entity("p", "other")), BatchOperation(insert_or_replace=some)]
        operations[0].insert.partition_key = some.partition_key
        error = self.refused(code, reason, client.execute_batch, table=self.table, operations=operations[1:])
        self.assertEqual(error.metadata["operation_index"], "0")
        reply = list(client.import_entities([ImportEntitiesRequest(table=self.table, entities=[some])]))[0]
        self.assertEqual((reply.committed, reply.rejected[0].error.reason), (0, reason))
        put = {"table": self.table, "entity": some}
        self.refused(
            code, reason, client.submit_transaction, transaction_id="t", steps=[{"insert_or_replace": put}]
        )
        self.unchanged()

    def unchanged(self):
        self.assertEqual(self.client.query(self.table), self.before)


class TableNames(ServerCase):
    def test_limits(self):
        for name in ("abc", "A" * 63, "a00", "Z" + "9" * 62, "tableS1"):
            self.assertEqual(self.client.create_table(name=name).table.name, name)
        names = [table.name for table in self.client.list_tables().tables]
        for name, code, reason in (
            ("ab", "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            ("", "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            ("a" * 64, "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            ("1abc", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("a_c", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("a-c", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("a c", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("abcé", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("abc\0d", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("$MetricsX", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("tables", "INVALID_ARGUMENT", "INVALID_INPUT"),
            ("TABLES", "INVALID_ARGUMENT", "INVALID_INPUT"),
        ):
            with self.subTest(name):
                self.refused(code, reason, self.client.create_table, name=name)
        self.assertEqual([table.name for table in self.client.list_tables().tables], names)

    def test_an_ill_formed_name_is_absent_when_deleted(self):
        for name in ("none", "ab", "a" * 64, "1abc", "a-c", "tables", ""):
            with self.subTest(name):
                self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.client.delete_table, name=name)


class Keys(LimitCase):
    def test_length(self):
        for good in ("", "k" * 512, "é" * 512, "€" * 341 + "k", "😀" * 256):
            self.accepts(entity(good, "r", A=1))
            self.accepts(entity("p", good, A=1))
            self.accepts(entity(good, good, A=1))
        for bad in ("k" * 513, "é" * 513, "€" * 342, "😀" * 257):
            self.refuses(entity(bad, "r"), "INVALID_ARGUMENT", "PROPERTY_VALUE_TOO_LARGE")
            self.refuses(entity("p", bad), "INVALID_ARGUMENT", "PROPERTY_VALUE_TOO_LARGE")
            address = key(("p", bad))
            self.refused(
                "INVALID_ARGUMENT", "PROPERTY_VALUE_TOO_LARGE", self.client.get_entity, table=self.table, key=address
            )

    def test_characters(self):
        self.accepts(entity("% ' , \" ; = & + ~ | \u00a0 \ufeff", "日本 \U0001f600 \u0301 \uffff \ue000", A=1))
        bad = list("/\\#?") + [chr(c) for c in (0x00, 0x01, 0x09, 0x0A, 0x1F, 0x7F, 0x80, 0x9F)]
        for character in bad:
            with self.subTest(repr(character)):
                for text in (character, "a" + character, character + "a"):
                    self.refuses(entity("p", text), "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT")
                    self.refuses(entity(text, "r"), "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT")
                for call in (self.client.get_entity, self.client.delete_entity):
                    fields = {} if call is self.client.get_entity else {"precondition": match()}
                    address = key(("p", character))
                    self.refused(
                        "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", call, table=self.table, key=address, **fields
                    )

    def test_order_is_by_bytes(self):
        rows = ["", "B", "a", "b", "bB", "é", "\ue000", "\uffff", "😀"]
        table = self.new_table()
        self.client.load(table, [entity("p", row) for row in reversed(rows)])
        self.assertEqual([found.row_key for found in self.client.query(table)], rows)


class Properties(LimitCase):
    def test_names(self):
        self.accepts(entity("p", "r", {"a" * 255: 1, "_": 2, "Ünïcode1": 3, "日本語": 4, "A_1": 5, "a_1": 6}))
        self.refuses(entity("p", "r", {"a" * 256: 1}), "INVALID_ARGUMENT", "PROPERTY_NAME_TOO_LONG")
        for name in ("", "1a", "a-b", "a b", "a.b", "a/b", "$a", "a\0b", "PartitionKey", "RowKey", "Timestamp", "😀"):
            with self.subTest(name):
                self.refuses(entity("p", "r", {name: 1}), "INVALID_ARGUMENT", "PROPERTY_NAME_INVALID")

    def test_count(self):
        full = {f"P{n:03}": n for n in range(252)}
        self.accepts(entity("p", "r", full))
        self.refuses(entity("p", "r", {**full, "P252": 1}), "INVALID_ARGUMENT", "TOO_MANY_PROPERTIES")
        self.client.insert_entity(table=self.table, entity=entity("p", "r", {**full, "Null1": None, "Null2": None}))
        self.assertEqual(plain(self.get(self.table, "p", "r")), full)

    def test_count_after_a_merge(self):
        full = {f"P{n:03}": n for n in range(252)}
        self.client.insert_entity(table=self.table, entity=entity("p", "r", full))
        before = self.client.query(self.table)
        more = entity("p", "r", P252=1)
        merges = (
            lambda: self.client.merge_entity(table=self.table, entity=more, precondition=match()),
            lambda: self.client.insert_or_merge_entity(table=self.table, entity=more),
            lambda: self.client.execute_batch(table=self.table, operations=[BatchOperation(insert_or_merge=more)]),
        )
        for merge in merges:
            self.refused("INVALID_ARGUMENT", "TOO_MANY_PROPERTIES", merge)
        self.assertEqual(self.client.query(self.table), before)
        self.client.merge_entity(table=self.table, entity=entity("p", "r", P000=-1), precondition=match())

    def test_strings(self):
        self.accepts(entity("p", "r", A="x" * 32768, B="é" * 32768, C="😀" * 16384, D="", E="\0", F="a\0b\0"))
        for text in ("x" * 32769, "€" * 32769, "😀" * 16384 + "x"):
            self.refuses(entity("p", "r", A=text), "INVALID_ARGUMENT", "PROPERTY_VALUE_TOO_LARGE", property="A")

    def test_binaries(self):
        self.accepts(entity("p", "r", A=b"\0" * 65536, B=b"", C=bytes(range(256))))
        self.refuses(entity("p", "r", A=b"x" * 65537), "INVALID_ARGUMENT", "PROPERTY_VALUE_TOO_LARGE", property="A")

    def test_a_property_twice(self):
        record = raw_field(1, "A") + raw_field(2, value(1).SerializeToString())
        message = INSERT_REQUEST(table=self.table, entity=entity("p", "r")).SerializeToString()
        message += raw_field(2, raw_field(15, record) * 2)
        self.refused("INVALID_ARGUMENT", "DUPLICATE_PROPERTIES_SPECIFIED", self.client.raw, INSERT, message)
        self.unchanged()


class EntitySize(LimitCase):
    def filled(self, row, total):
        """An entity of exactly this size."""
        some = entity("p", row, {f"S{n:02}": "x" * 32768 for n in range(15)})
        rest = total - size_of(some) - (8 + 2 * len("Rest") + 4)
        some.properties["Rest"].binary_value = b"b" * rest
        self.assertEqual(size_of(some), total)
        return some

    def test_limit(self):
        self.accepts(self.filled("r", MIB))
        self.refuses(self.filled("r", MIB + 1), "INVALID_ARGUMENT", "ENTITY_TOO_LARGE")

    def test_the_whole_is_checked_before_its_values(self):
        self.refuses(entity("p", "r", A=b"x" * MIB), "INVALID_ARGUMENT", "ENTITY_TOO_LARGE")

    def test_after_a_merge(self):
        some = self.filled("r", MIB - 100)
        self.client.insert_entity(table=self.table, entity=some)
        before = self.client.query(self.table)
        more = entity("p", "r", More=b"x" * 100)
        self.refused(
            "INVALID_ARGUMENT",
            "ENTITY_TOO_LARGE",
            self.client.merge_entity,
            table=self.table,
            entity=more,
            precondition=match(),
        )
        self.refused(
            "INVALID_ARGUMENT", "ENTITY_TOO_LARGE", self.client.insert_or_merge_entity, table=self.table, entity=more
        )
        self.assertEqual(self.client.query(self.table), before)
        fits = entity("p", "r", More=b"x" * (100 - (8 + 2 * 4 + 4)))
        self.client.merge_entity(table=self.table, entity=fits, precondition=match())
        self.assertEqual(size_of(self.get(self.table, "p", "r")), MIB)


class Counts(LimitCase):
    def test_operations_of_a_batch(self):
        operations = [BatchOperation(insert=entity("b", f"{n:03}", N=n)) for n in range(101)]
        for refused in (operations, []):
            self.refused(
                "INVALID_ARGUMENT", "INVALID_INPUT", self.client.execute_batch, table=self.table, operations=refused
            )
        self.unchanged()
        results = self.client.execute_batch(table=self.table, operations=operations[:100]).results
        self.assertEqual(len(results), 100)
        self.assertEqual(len(self.client.query(self.table, "PartitionKey eq 'b'")), 100)

    def test_entities_of_a_page(self):
        table = self.new_table()
        self.client.load(table, [entity("p", f"{n:04}") for n in range(1001)])
        for size in (0, 1000, 1001, 2**31 - 1):
            page = self.client.query_entities(query={"table": table}, page_size=size)
            self.assertEqual(len(page.entities), 1000)
            self.assertTrue(page.next_page_token)
        page = self.client.query_entities(query={"table": table}, page_token=page.next_page_token)
        self.assertEqual(([found.row_key for found in page.entities], page.next_page_token), (["1000"], ""))
        for call, fields in (
            (self.client.query_entities, {"query": {"table": table}}),
            (self.client.list_tables, {}),
            (self.client.list_indexes, {}),
            (self.client.list_operations, {}),
            (self.client.list_transactions, {}),
        ):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", call, page_size=-1, **fields)

    def test_keys_of_a_batch_get(self):
        call = self.client.batch_get_entities
        self.assertEqual(len(call(table=self.table, keys=[key(("p", "witness"))] * 1000).results), 1000)
        for keys in ([], [key(("p", "witness"))] * 1001):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", call, table=self.table, keys=keys)

    def test_names_of_a_select(self):
        self.get(self.table, "p", "witness", options={"select": [f"P{n}" for n in range(252)]})

    def test_length_of_a_filter(self):
        query = self.client.query
        text = "PartitionKey eq 'p'"
        self.assertEqual(query(self.table, text + " " * (32768 - len(text))), self.before)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", query, self.table, text + " " * (32769 - len(text)))


class RequestSize(LimitCase):
    def padded(self, request, total):
        """The request with an unknown field that makes it exactly this many bytes long."""
        message = request.SerializeToString()
        rest = total - len(message)
        for length in range(rest - 10, rest):
            padding = raw_field(1000, b"x" * length)
            if len(padding) == rest:
                return message + padding
        raise AssertionError("no such padding")

    def test_single_write(self):
        request = INSERT_REQUEST(table=self.table, entity=entity("p", "r"))
        for over in (1, MIB, 8 * MIB):
            error = self.refused(
                "RESOURCE_EXHAUSTED",
                "REQUEST_BODY_TOO_LARGE",
                self.client.raw,
                INSERT,
                self.padded(request, 4 * MIB + over),
            )
            self.assertEqual(error.metadata["limit"], str(4 * MIB))
        self.unchanged()
        self.client.raw(INSERT, self.padded(request, 4 * MIB))
        self.assertTrue(self.is_there(self.table, "p", "r"))

    def test_batch(self):
        operations = [
            BatchOperation(insert=entity("b", str(n), {f"P{p}": b"x" * 60000 for p in range(17)})) for n in range(4)
        ]
        request = BATCH_REQUEST(table=self.table, operations=operations)
        self.refused(
            "RESOURCE_EXHAUSTED", "REQUEST_BODY_TOO_LARGE", self.client.raw, BATCH, self.padded(request, 4 * MIB + 1)
        )
        self.unchanged()
        self.client.raw(BATCH, self.padded(request, 4 * MIB))
        self.assertEqual(len(self.client.query(self.table, "PartitionKey eq 'b'")), 4)

    def test_import_message(self):
        entities = [entity("b", str(n), {f"P{p}": b"x" * 60000 for p in range(17)}) for n in range(5)]
        self.refused("RESOURCE_EXHAUSTED", "REQUEST_BODY_TOO_LARGE", self.client.load, self.table, entities)
        self.unchanged()
        self.assertEqual(self.client.load(self.table, entities[:4]), 4)


class Types(LimitCase):
    def test_extremes_of_all_types_read_back_the_same(self):
        doubles = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, math.inf, -math.inf, 0.1]
        for number, some in enumerate(
            [
                {"A": "", "B": "\0", "C": "\uffff", "D": "\U0010ffff", "E": "\x7f\x80\x01", "F": "e\u0301"},
                {"A": True, "B": False},
                {"A": int32(-(2**31)), "B": int32(2**31 - 1), "C": int32(0), "D": int32(-1)},
                {"A": -(2**63), "B": 2**63 - 1, "C": 0, "D": 2**53 + 1},
                {f"D{n}": each for n, each in enumerate(doubles + [math.nan])},
                {"A": when(-11644473600), "B": when(253402300799, 999999900), "C": when(0), "D": when(-1, 999999900)},
                {"A": guid("00000000-0000-0000-0000-000000000000"), "B": guid("f" * 8 + ("-" + "f" * 4) * 3 + "-" + "f" * 12)},
                {"A": b"", "B": b"\0", "C": b"\xff" * 100},
            ]
        ):
            with self.subTest(number):
                self.accepts(entity("p", f"r{number}", some))

    def test_every_nan_is_one(self):
        """Equal content has equal bytes: the other bits of a NaN are not kept."""
        odd = struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0]
        self.client.insert_entity(table=self.table, entity=entity("p", "r", A=odd))
        self.assertEqual(contents(self.get(self.table, "p", "r")), contents(entity("p", "r", A=math.nan)))

    def test_zero_and_false_are_values(self):
        some = entity("p", "r", A=False, B=0, C=int32(0), D=0.0, E="", F=b"", G=when(0))
        self.client.insert_entity(table=self.table, entity=some)
        self.assertEqual(contents(self.get(self.table, "p", "r")), contents(some))

    def test_guids_are_stored_in_lower_case(self):
        mixed = "C9DA6455-213d-42C9-9A79-3E9149A57833"
        self.client.insert_entity(table=self.table, entity=entity("p", "r", A=guid(mixed)))
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": mixed.lower()})
        self.before = self.client.query(self.table)
        for bad in ("", mixed[:-1], mixed + "0", "{" + mixed + "}", mixed.replace("-", ""), "g" + mixed[1:], mixed[:-1] + "\0"):
            with self.subTest(bad):
                self.refuses(entity("p", "s", A=guid(bad)), "INVALID_ARGUMENT", "INVALID_INPUT", property="A")

    def test_times(self):
        self.client.insert_entity(table=self.table, entity=entity("p", "r", A=when(1, 123456789)))
        self.assertEqual(self.get(self.table, "p", "r").properties["A"], when(1, 123456700), "finer than 100 ns is cut")
        self.client.delete_entity(table=self.table, key=key(("p", "r")), precondition=match())
        for seconds, nanos in ((-11644473601, 999999999), (253402300800, 0), (-(2**63), 0), (2**63 - 1, 0)):
            some = entity("p", "r", A=when(seconds, nanos))
            self.refuses(some, "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", property="A")
        for nanos in (-1, 1_000_000_000, 2**31 - 1):
            with self.subTest(nanos=nanos):
                self.refuses(entity("p", "r", A=when(1, nanos)), "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", property="A")

    def test_an_int32_of_more_than_32_bits(self):
        record = raw_field(1, "A") + raw_field(2, b"\x18" + b"\xff" * 9 + b"\x01")
        some = raw_field(1, "p") + raw_field(2, "wide") + raw_field(15, record)
        message = raw_field(1, self.table) + raw_field(2, some)
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.raw, INSERT, message)
        self.assertEqual(error.metadata["property"], "A")
        self.unchanged()


if __name__ == "__main__":
    unittest.main()
