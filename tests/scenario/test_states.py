# SPDX-License-Identifier: Apache-2.0
"""Every operation in every state of an entity: one table of what is answered, from which docs/conformance.md is made too.

Each cell is run as a single call and, for writes, once more inside a batch; afterwards a read shows what is stored.
"""

import os
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ApiError, BatchOperation, entity, key, match, plain, types
from tavola_test.settings import SOURCE

DOCUMENT = os.path.join(SOURCE, "docs", "conformance.md")
BEGIN = "<!-- Made from tests/scenario/test_states.py; UPDATE_DOCS=1 and the test scenario_states write it. -->\n"
END = "<!-- end of the table -->\n"

SCAN_REQUEST = types.message("tavola.v1.ScanEntitiesRequest")
STATES = ("present", "absent", "deleted before", "expired", "no such table", "an index's table")

DONE = "done"
EXISTS = "ENTITY_ALREADY_EXISTS"
ABSENT = "RESOURCE_NOT_FOUND"
CHANGED = "UPDATE_CONDITION_NOT_SATISFIED"
NO_TABLE = "TABLE_NOT_FOUND"
OWNED = "INDEX_OWNED"
BAD = "INVALID_INPUT"
FOUND, NOTHING = "one", "none"

CODES = {
    EXISTS: "ALREADY_EXISTS",
    ABSENT: "NOT_FOUND",
    CHANGED: "ABORTED",
    NO_TABLE: "NOT_FOUND",
    OWNED: "FAILED_PRECONDITION",
    BAD: "INVALID_ARGUMENT",
}


def over(present, absent):
    """The outcomes of a well-formed write in all states."""
    return (present, absent, absent, absent, NO_TABLE, OWNED)


def of_reads(present, absent):
    return (present, absent, absent, absent, NO_TABLE, absent)


REFUSED = (BAD,) * len(STATES)
CURRENT = object()  # stands for the last ETag of the entity

# name, the call, precondition, outcomes
WRITES = [
    ("Insert", "insert", None, over(EXISTS, DONE)),
    ("InsertOrReplace", "insert_or_replace", None, over(DONE, DONE)),
    ("InsertOrMerge", "insert_or_merge", None, over(DONE, DONE)),
]
for name, kind in (("Replace", "replace"), ("Merge", "merge"), ("Delete", "delete")):
    WRITES += [
        (f"{name}, `if_match: \"*\"`", kind, match(), over(DONE, ABSENT)),
        (f"{name}, its last ETag", kind, CURRENT, over(DONE, ABSENT)),
        (f"{name}, another ETag", kind, match('W/"wrong"'), over(CHANGED, ABSENT)),
        (f"{name}, a condition that holds", kind, {"condition": "Old eq 1L"}, over(DONE, ABSENT)),
        (f"{name}, a condition that does not", kind, {"condition": "Old eq 2L"}, over(CHANGED, ABSENT)),
        (f"{name}, `*` and a condition that does not", kind, {"if_match": "*", "condition": "Old eq 2L"}, over(CHANGED, ABSENT)),
        (f"{name}, no precondition", kind, None, REFUSED),
        (f"{name}, a strong ETag", kind, match('"1"'), REFUSED),
        (f"{name}, a condition that is none", kind, {"condition": "Old eq"}, REFUSED),
    ]
WRITES += [
    (f"{name} in a batch, any precondition", kind, match(), REFUSED)
    for name, kind in (("Insert", "insert"), ("InsertOrReplace", "insert_or_replace"), ("InsertOrMerge", "insert_or_merge"))
]

READS = [
    ("Get", "get", of_reads(FOUND, ABSENT)),
    ("BatchGet", "batch_get", of_reads(FOUND, ABSENT)),
    ("Query", "query", of_reads(FOUND, NOTHING)),
    ("Count", "count", of_reads(FOUND, NOTHING)),
    ("Scan", "scan", of_reads(FOUND, NOTHING)),
]

CONTENT = {"Old": 1}
AFTERWARDS = {
    "insert": {"New": 2},
    "replace": {"New": 2},
    "insert_or_replace": {"New": 2},
    "merge": {"Old": 1, "New": 2},
    "insert_or_merge": {"Old": 1, "New": 2},
    "delete": None,
}


class States(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = "Source"
        cls.index = "Indexed"
        cls.client.create_table(name=cls.source)
        index = {"name": cls.index, "table": cls.source, "shape": 1, "partition_key": [{"property": "City"}]}
        cls.client.create_index(index=index)

    def arrange(self, state):
        """(table, the ETag the entity had last)"""
        if state == "no such table":
            return "nowhere", 'W/"1.1"'
        if state == "an index's table":
            return self.index, 'W/"1.1"'
        table, etag = self.new_table(), 'W/"1.1"'
        given = entity("p", "r", CONTENT)
        if state == "expired":
            given.expires.seconds = 1
        if state != "absent":
            etag = self.client.insert_entity(table=table, entity=given).result.etag
        if state == "deleted before":
            self.client.delete_entity(table=table, key=key(("p", "r")), precondition=match())
        return table, etag

    def write(self, kind, table, precondition, in_batch):
        what = key(("p", "r")) if kind == "delete" else entity("p", "r", New=2)
        fields = {"precondition": precondition} if precondition else {}
        if in_batch:
            beside = BatchOperation(insert_or_replace=entity("p", "beside"))
            operations = [beside, BatchOperation(**{kind: what}, **fields)]
            return self.client.execute_batch(table=table, operations=operations).results[1]
        name = "key" if kind == "delete" else "entity"
        return getattr(self.client, f"{kind}_entity")(table=table, **{name: what}, **fields).result

    def outcome(self, function, *arguments):
        """(the outcome in the table, the answer or error)"""
        try:
            return DONE, function(*arguments)
        except ApiError as error:
            self.assertEqual(error.code, CODES.get(error.reason), error)
            return error.reason, error

    def contents(self, table):
        if table == "nowhere":
            return {}
        return {found.row_key: (plain(found), found.etag) for found in self.client.query(table)}

    def check_write(self, kind, precondition, state, expected, in_batch):
        table, etag = self.arrange(state)
        before = self.contents(table)
        precondition = match(etag) if precondition is CURRENT else precondition
        outcome, answer = self.outcome(self.write, kind, table, precondition, in_batch)
        self.assertEqual(outcome, expected, answer)
        after = self.contents(table)
        if outcome != DONE:
            self.assertEqual(after, before)
            if in_batch and outcome not in (NO_TABLE, OWNED):
                self.assertEqual(answer.metadata["operation_index"], "1")
            return
        self.assertEqual("beside" in after, in_batch)
        content = {name: value for name, value in AFTERWARDS[kind].items()} if AFTERWARDS[kind] else None
        if content and state != "present":
            content.pop("Old", None)
        self.assertEqual(after["r"][0] if "r" in after else None, content)
        self.assertEqual(answer.etag, after["r"][1] if content else "")
        self.assertNotEqual(answer.etag, etag)

    def test_writes(self):
        for name, kind, precondition, outcomes in WRITES:
            for state, expected in zip(STATES, outcomes):
                for in_batch in (True,) if "in a batch" in name else (False, True):
                    with self.subTest(name, state=state, in_batch=in_batch):
                        self.check_write(kind, precondition, state, expected, in_batch)

    def read(self, how, table):
        address, query = key(("p", "r")), {"table": table, "filter": "PartitionKey eq 'p' and RowKey eq 'r'"}
        if how == "get":
            self.client.get_entity(table=table, key=address)
            return FOUND
        if how == "batch_get":
            result = self.client.batch_get_entities(table=table, keys=[address]).results[0]
            return FOUND if result.HasField("entity") else result.error.reason
        if how == "query":
            count = len(self.client.query_entities(query=query).entities)
        elif how == "count":
            count = self.client.count_entities(query=query).count
        else:
            scan = self.client.scan_entities([SCAN_REQUEST(query=query)])
            count = sum(len(reply.entities) for reply in scan)
        return FOUND if count == 1 else NOTHING

    def test_reads(self):
        for name, how, outcomes in READS:
            for state, expected in zip(STATES, outcomes):
                with self.subTest(name, state=state):
                    table, _ = self.arrange(state)
                    outcome, answer = self.outcome(self.read, how, table)
                    self.assertEqual(answer if outcome == DONE else outcome, expected)

    def test_the_document_has_this_table(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            text = file.read()
        head, rest = text.split(BEGIN)
        _, tail = rest.split(END)
        made = head + BEGIN + table_of_all() + END + tail
        if os.environ.get("UPDATE_DOCS"):
            with open(DOCUMENT, "w", encoding="utf-8") as file:
                file.write(made)
            text = made
        self.assertEqual(text, made, "UPDATE_DOCS=1 writes it anew")


def table_of_all():
    lines = ["| operation | " + " | ".join(STATES) + " |", "| --- " * (len(STATES) + 1) + "|"]
    rows = [(name, outcomes) for name, _, _, outcomes in WRITES] + [(name, outcomes) for name, _, outcomes in READS]
    lines += [f"| {name} | " + " | ".join(outcomes) + " |" for name, outcomes in rows]
    return "\n".join(lines) + "\n"


class Order(ServerCase):
    """If several parts of a request are wrong, the error names the first of them in this order."""

    def setUp(self):
        self.table = self.new_table()
        self.client.insert_entity(table=self.table, entity=entity("p", "r", A=1))

    def test_single_writes(self):
        call = self.client.replace_entity
        fat = {f"P{n}": 1 for n in range(253)}
        for code, reason, fields in (
            ("INVALID_ARGUMENT", "INVALID_RESOURCE_NAME", {"table": "a-b", "entity": entity("/", "r", {"a-b": 1}), "precondition": match('"1"')}),
            ("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", {"table": "nowhere", "entity": entity("/", "r", {"a-b": 1}), "precondition": match('"1"')}),
            ("INVALID_ARGUMENT", "PROPERTY_NAME_INVALID", {"table": "nowhere", "entity": entity("p", "r", {"a-b": 1}), "precondition": match('"1"')}),
            ("INVALID_ARGUMENT", "TOO_MANY_PROPERTIES", {"table": "nowhere", "entity": entity("p", "r", fat), "precondition": match('"1"')}),
            ("INVALID_ARGUMENT", "INVALID_INPUT", {"table": "nowhere", "entity": entity("p", "r"), "precondition": match('"1"')}),
            ("NOT_FOUND", "TABLE_NOT_FOUND", {"table": "nowhere", "entity": entity("p", "none"), "precondition": match('W/"1"')}),
            ("NOT_FOUND", "RESOURCE_NOT_FOUND", {"table": self.table, "entity": entity("p", "none"), "precondition": match('W/"1"')}),
            ("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", {"table": self.table, "entity": entity("p", "r"), "precondition": match('W/"1"')}),
        ):
            with self.subTest(reason):
                self.refused(code, reason, call, **fields)
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"A": 1})

    def test_an_etag_is_compared_before_the_merged_entity_is_measured(self):
        full = {f"P{n:03}": n for n in range(252)}
        self.client.insert_or_replace_entity(table=self.table, entity=entity("p", "r", full))
        for etag, code, reason in (
            ('W/"1"', "ABORTED", "UPDATE_CONDITION_NOT_SATISFIED"),
            ("*", "INVALID_ARGUMENT", "TOO_MANY_PROPERTIES"),
        ):
            self.refused(
                code, reason, self.client.merge_entity, table=self.table, entity=entity("p", "r", More=1), precondition=match(etag)
            )

    def test_batches(self):
        def ops(count, bad=None, at=0):
            out = [BatchOperation(insert_or_replace=entity("p", f"{n}")) for n in range(count)]
            return out if bad is None else out[:at] + [bad] + out[at + 1 :]

        bad_key = BatchOperation(insert=entity("p", "a/b"))
        absent = BatchOperation(delete=key(("p", "none")), precondition=match())
        elsewhere = BatchOperation(insert=entity("q", "x"))
        for code, reason, index, operations in (
            ("INVALID_ARGUMENT", "INVALID_INPUT", "100", ops(101, bad_key, 0)),
            ("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", "2", [ops(1)[0], elsewhere, bad_key]),
            ("INVALID_ARGUMENT", "COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS", "2", [ops(1)[0], absent, elsewhere]),
            ("INVALID_ARGUMENT", "INVALID_DUPLICATE_ROW", "1", [absent, absent]),
            # Errors that the request itself shows come before errors that need a read.
            ("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", "1", [absent, bad_key]),
            ("NOT_FOUND", "RESOURCE_NOT_FOUND", "1", [ops(1)[0], absent]),
        ):
            with self.subTest(reason):
                error = self.refused(code, reason, self.client.execute_batch, table=self.table, operations=operations)
                self.assertEqual(error.metadata.get("operation_index"), index)
        self.assertEqual(len(self.client.query(self.table)), 1)


class Names(ServerCase):
    def test_names_of_tables_are_compared_without_case(self):
        name = self.new_name("Mixed")
        self.client.create_table(name=name)
        for other in (name.lower(), name.upper()):
            self.refused("ALREADY_EXISTS", "TABLE_ALREADY_EXISTS", self.client.create_table, name=other)
            self.assertEqual(self.client.get_table(name=other).table.name, name)
            self.client.insert_or_replace_entity(table=other, entity=entity("p", "r", N=1))
            self.client.execute_batch(table=other, operations=[BatchOperation(merge=entity("p", "r", B=1), precondition=match())])
            self.assertTrue(self.is_there(other, "p", "r"))
            self.assertEqual(len(self.client.query(other)), 1)
            self.client.load(other, [entity("p", "s")])
            self.client.delete_entity(table=other, key=key(("p", "s")), precondition=match())
        self.client.delete_table(name=name.upper())
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.get_table, name=name)

    def test_keys_and_properties_are_compared_with_case(self):
        table = self.new_table()
        self.client.load(table, [entity("p", "r", A=1, a=2), entity("P", "r"), entity("p", "R")])
        self.assertEqual(len(self.client.query(table)), 3)
        self.assertEqual(plain(self.get(table, "p", "r")), {"A": 1, "a": 2})
        self.assertEqual(len(self.client.query(table, "a eq 2")), 1)
        self.assertEqual(self.client.query(table, "A eq 2"), [])

    def test_a_name_that_no_table_can_have_is_refused_everywhere(self):
        address, some, query = key(("p", "r")), entity("p", "r"), {}
        for name, code, reason in (
            ("a-b", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("1ab", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("abc\0", "INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"),
            ("ab", "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            ("a" * 64, "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"),
            ("Tables", "INVALID_ARGUMENT", "INVALID_INPUT"),
        ):
            query = {"table": name}
            for method, fields in (
                ("insert_entity", {"entity": some}),
                ("insert_or_replace_entity", {"entity": some}),
                ("insert_or_merge_entity", {"entity": some}),
                ("replace_entity", {"entity": some, "precondition": match()}),
                ("merge_entity", {"entity": some, "precondition": match()}),
                ("delete_entity", {"key": address, "precondition": match()}),
                ("execute_batch", {"operations": [BatchOperation(insert=some)]}),
                ("get_entity", {"key": address}),
                ("batch_get_entities", {"keys": [address]}),
            ):
                with self.subTest(name, method=method):
                    self.refused(code, reason, getattr(self.client, method), table=name, **fields)
            for method in ("query_entities", "count_entities", "explain_query", "delete_range"):
                with self.subTest(name, method=method):
                    self.refused(code, reason, getattr(self.client, method), query=query)
            self.refused(code, reason, self.client.load, name, [some])
            self.refused(code, reason, self.client.get_table, name=name)


if __name__ == "__main__":
    unittest.main()
