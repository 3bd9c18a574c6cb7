# SPDX-License-Identifier: Apache-2.0
"""Requests that no client should send: each gets its code and reason, and a read afterwards shows that nothing
changed.
"""

import base64
import unittest

from tavola_test import client
from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, key, match, raw_field, types, value

MIB = 1024 * 1024
BAD_TEXT = (b"\xff", b"a\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc3")


def service_of(name):
    return next(path for path, method in types.methods() if method.name == name and path.startswith("/tavola."))


class BadInput(ServerCase):
    def setUp(self):
        self.table = self.new_table()
        self.client.insert_entity(table=self.table, entity=entity("p", "r", A=1))
        self.before = self.state()

    def tearDown(self):
        self.assertEqual(self.state(), self.before, "nothing has changed")

    def state(self):
        return (
            [table.name for table in self.client.list_tables().tables],
            self.client.query(self.table),
            self.client.list_indexes().indexes,
            self.client.list_transactions().transactions,
            self.client.list_operations().operations,
        )

    def raw_refused(self, method, message, code="INVALID_ARGUMENT", reason="INVALID_INPUT"):
        return self.refused(code, reason, self.client.raw, service_of(method), message)


class Malformed(BadInput):
    def test_malformed_messages_to_every_method(self):
        for path, method in types.methods():
            if not path.startswith("/tavola.") or any(types.is_streamed(method)):
                continue
            for message in (b"\xff", b"\x0a\x05ab", b"\x0a", b"\x07", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x00"):
                with self.subTest(path=path, message=message):
                    self.raw_refused(method.name, message)

    def test_malformed_messages_in_a_stream(self):
        call = self.client.channel.stream_stream(service_of("ImportEntities"))
        good = ImportEntitiesRequest(table=self.table).SerializeToString()
        for messages in ([b"\x0a\x05ab"], [good, b"\xff"]):
            with self.assertRaises(client.grpc.RpcError) as caught:
                list(call(iter(messages), timeout=20))
            error = client.ApiError(caught.exception)
            self.assertEqual((error.code, error.reason), ("INVALID_ARGUMENT", "INVALID_INPUT"))

    def test_malformed_entities(self):
        head = raw_field(1, self.table)
        for some in (
            raw_field(15, b"\xff"),
            raw_field(15, raw_field(1, "A") + raw_field(2, b"\x0a\x05ab")),
            raw_field(15, raw_field(1, "A") + b"\x12"),
            raw_field(1, "p") + b"\x7a\x20",
        ):
            with self.subTest(some):
                self.raw_refused("InsertEntity", head + raw_field(2, some))

    def test_unknown_fields_are_ignored_and_not_stored(self):
        unknown = raw_field(99, "x") + b"\xf8\x06\x01"
        record = raw_field(1, "A") + raw_field(2, value(1).SerializeToString() + unknown) + unknown
        some = raw_field(1, "p") + raw_field(2, "new") + raw_field(15, record) + unknown
        message = raw_field(1, self.table) + raw_field(2, some) + unknown
        self.client.raw(service_of("InsertEntity"), message)
        stored = self.get(self.table, "p", "new")
        self.assertEqual(client.contents(stored), {"A": value(1).SerializeToString()})
        self.client.delete_entity(table=self.table, key=key(("p", "new")), precondition=match())

    def test_missing_parts(self):
        for method, message, reason in (
            ("InsertEntity", raw_field(1, self.table), "PROPERTIES_NEED_VALUE"),
            ("GetEntity", raw_field(1, self.table), "PROPERTIES_NEED_VALUE"),
            ("DeleteEntity", raw_field(1, self.table) + raw_field(4, raw_field(1, "*")), "PROPERTIES_NEED_VALUE"),
            ("QueryEntities", b"", "INVALID_INPUT"),
            ("CreateIndex", b"", "INVALID_INPUT"),
            ("BatchGetEntities", raw_field(1, self.table), "INVALID_INPUT"),
            ("ExecuteBatch", raw_field(1, self.table), "INVALID_INPUT"),
        ):
            with self.subTest(method):
                error = self.missing(method, message)
                self.assertIn(error.reason, (reason, "INVALID_INPUT"))

    def missing(self, method, message):
        with self.assertRaises(client.ApiError) as caught:
            self.client.raw(service_of(method), message)
        self.assertEqual(caught.exception.code, "INVALID_ARGUMENT")
        return caught.exception


class Text(BadInput):
    """Text that is not UTF-8, and NUL where it may not be."""

    def test_keys(self):
        for bad in BAD_TEXT:
            with self.subTest(bad):
                for some in (raw_field(1, bad) + raw_field(2, "r"), raw_field(1, "p") + raw_field(2, bad)):
                    message = raw_field(1, self.table) + raw_field(2, some)
                    for method in ("InsertEntity", "InsertOrReplaceEntity", "InsertOrMergeEntity", "GetEntity"):
                        self.raw_refused(method, message)
                    self.raw_refused("BatchGetEntities", message)
                    any_state = raw_field(4, raw_field(1, "*"))
                    for method in ("ReplaceEntity", "MergeEntity", "DeleteEntity"):
                        self.raw_refused(method, message + any_state)
                    operation = raw_field(1, self.table) + raw_field(2, raw_field(1, some))
                    self.raw_refused("ExecuteBatch", operation)

    def test_nul_in_keys_is_not_their_end(self):
        self.client.insert_entity(table=self.table, entity=entity("p", "a"))
        for text in ("a\0", "a\0b", "\0"):
            self.refused(
                "OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", self.get, self.table, "p", text
            )
            self.refused(
                "OUT_OF_RANGE",
                "OUT_OF_RANGE_INPUT",
                self.client.delete_entity,
                table=self.table,
                key=key(("p", text)),
                precondition=match(),
            )
        self.client.delete_entity(table=self.table, key=key(("p", "a")), precondition=match())

    def test_properties(self):
        for bad in BAD_TEXT:
            with self.subTest(bad):
                for record in (
                    raw_field(1, bad) + raw_field(2, value(1).SerializeToString()),
                    raw_field(1, "A") + raw_field(2, raw_field(1, bad)),
                    raw_field(1, "A") + raw_field(2, raw_field(7, bad)),
                ):
                    some = raw_field(1, "p") + raw_field(2, "x") + raw_field(15, record)
                    with self.assertRaises(client.ApiError) as caught:
                        self.client.raw(service_of("InsertEntity"), raw_field(1, self.table) + raw_field(2, some))
                    error = caught.exception
                    self.assertEqual(error.code, "INVALID_ARGUMENT")
                    self.assertIn(error.reason, ("INVALID_INPUT", "PROPERTY_NAME_INVALID"))

    def test_names(self):
        for bad in BAD_TEXT + (b"abc\xff",):
            with self.subTest(bad):
                for method in ("CreateTable", "GetTable", "GetIndex", "DropIndex"):
                    with self.assertRaises(client.ApiError) as caught:
                        self.client.raw(service_of(method), raw_field(1, bad))
                    self.assertIn(caught.exception.code, ("INVALID_ARGUMENT", "OUT_OF_RANGE", "NOT_FOUND"))
                    if method == "CreateTable" and len(bad) >= 3:
                        self.assertEqual(caught.exception.reason, "INVALID_RESOURCE_NAME")

    def test_the_rest(self):
        for bad in BAD_TEXT:
            with self.subTest(bad):
                self.raw_refused("QueryEntities", raw_field(1, raw_field(1, self.table) + raw_field(2, b"RowKey eq '" + bad + b"'")))
                for reads in (raw_field(1, bad), raw_field(1, "A") + raw_field(1, bad)):
                    message = raw_field(1, self.table) + raw_field(2, raw_field(2, "r")) + raw_field(3, reads)
                    self.raw_refused("GetEntity", message)
                step = raw_field(3, raw_field(2, self.table) + raw_field(3, b""))
                self.raw_refused("SubmitTransaction", raw_field(1, bad) + raw_field(2, step))
                self.raw_refused("QueryEntities", raw_field(1, raw_field(1, self.table)) + raw_field(3, bad), reason="PAGE_TOKEN_INVALID")
                for part in (raw_field(1, bad), raw_field(2, bad)):
                    index = raw_field(1, "badIndex") + raw_field(2, self.table) + b"\x18\x01" + raw_field(5, part)
                    with self.assertRaises(client.ApiError) as caught:
                        self.client.raw(service_of("CreateIndex"), raw_field(1, index))
                    self.assertEqual(caught.exception.code, "INVALID_ARGUMENT")
                etag = raw_field(4, raw_field(1, b'W/"' + bad + b'"'))
                self.raw_refused("DeleteEntity", raw_field(1, self.table) + raw_field(2, raw_field(1, "p") + raw_field(2, "r")) + etag)


class Methods(BadInput):
    def test_unknown_methods_are_unimplemented_at_once(self):
        for path in (
            "/tavola.v1.EntityService/None",
            "/tavola.v1.EntityService/FoldEntities",
            "/tavola.v1.None/GetEntity",
            "/None/None",
            "/tavola.v1.EntityService",
            "/",
        ):
            with self.subTest(path):
                with self.assertRaises(client.ApiError) as caught:
                    self.client.raw(path, b"x")
                self.assertEqual(caught.exception.code, "UNIMPLEMENTED")

    def test_many_unknown_methods_at_once(self):
        calls = [self.client.start(f"/none/M{number}", b"x" * 1000) for number in range(200)]
        for call in calls:
            self.assertEqual(call.code().name, "UNIMPLEMENTED")

    def test_an_unknown_stream(self):
        for make in (self.client.channel.stream_stream, self.client.channel.stream_unary):
            with self.assertRaises(client.grpc.RpcError) as caught:
                reply = make("/tavola.v1.EntityService/None")(iter([b"x", b"y"]), timeout=10)
                list(reply)
            self.assertEqual(caught.exception.code().name, "UNIMPLEMENTED")


class Sizes(BadInput):
    def test_large_messages(self):
        for size, reason in ((5 * MIB, "REQUEST_BODY_TOO_LARGE"), (15 * MIB, "REQUEST_BODY_TOO_LARGE"), (20 * MIB, None)):
            for method in ("InsertEntity", "ExecuteBatch", "GetEntity", "SubmitTransaction", "CreateTable"):
                with self.subTest(method=method, size=size):
                    with self.assertRaises(client.ApiError) as caught:
                        self.client.raw(service_of(method), raw_field(1, self.table) + raw_field(1000, b"x" * size))
                    self.assertEqual((caught.exception.code, caught.exception.reason), ("RESOURCE_EXHAUSTED", reason))
            self.assertTrue(self.is_there(self.table, "p", "r"))

    def test_errors_stay_small(self):
        """Status and details share some 8 KiB, so long values of the request are not returned whole."""
        long = "k" * 100000
        error = self.refused(
            "INVALID_ARGUMENT",
            "PROPERTY_VALUE_TOO_LARGE",
            self.client.insert_entity,
            table=self.table,
            entity=entity(long, long),
        )
        self.assertLess(len(error.message), 1000)
        self.assertTrue(all(len(text.encode()) <= 256 for text in error.metadata.values()))
        name = "1" + "x" * 100000
        error = self.refused(
            "INVALID_ARGUMENT",
            "PROPERTY_NAME_TOO_LONG",
            self.client.insert_entity,
            table=self.table,
            entity=entity("p", "x", {name: 1}),
        )
        self.assertTrue(all(len(text.encode()) <= 256 for text in error.metadata.values()))


class Preconditions(BadInput):
    def each_write(self, precondition):
        some, address = entity("p", "r", A=2), key(("p", "r"))
        fields = {"precondition": precondition} if precondition is not None else {}
        yield lambda: self.client.replace_entity(table=self.table, entity=some, **fields)
        yield lambda: self.client.merge_entity(table=self.table, entity=some, **fields)
        yield lambda: self.client.delete_entity(table=self.table, key=address, **fields)
        for operation in (
            BatchOperation(replace=some, **fields),
            BatchOperation(merge=some, **fields),
            BatchOperation(delete=address, **fields),
        ):
            yield lambda operation=operation: self.client.execute_batch(table=self.table, operations=[operation])

    def test_not_an_etag(self):
        current = self.get(self.table, "p", "r").etag
        for etag in (
            "",
            current[2:],
            "W/abc",
            "abc",
            '"abc"',
            'W/"a"b"',
            'W/"a", W/"b"',
            current + ", " + current,
            'W/"' + "x" * 61 + '"',
            'W/"é"',
            'W/"a\n"',
            'W/"a\0"',
            "**",
            " *",
            "*\0",
        ):
            with self.subTest(etag):
                for write in self.each_write(match(etag)):
                    self.refused("INVALID_ARGUMENT", "INVALID_INPUT", write)

    def test_absent(self):
        for precondition in (None, {}):
            for write in self.each_write(precondition):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", write)

    def test_another_etag(self):
        current = self.get(self.table, "p", "r").etag
        for etag in ('W/"wrong"', 'w/"wrong"', 'W/"' + "x" * 60 + '"', current[:-1] + '0"', 'W/"0' + current[3:]):
            with self.subTest(etag):
                for write in self.each_write(match(etag)):
                    self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", write)

    def test_the_prefix_counts_in_any_case(self):
        current = self.get(self.table, "p", "r").etag
        for write in list(self.each_write(match("w" + current[1:])))[:1]:
            write()
        self.assertNotEqual(self.get(self.table, "p", "r").etag, current)
        self.before = self.state()


class Filters(BadInput):
    def query(self, text):
        return self.client.query_entities(query={"table": self.table, "filter": text})

    def test_operators_of_other_languages_are_answered_with_ours(self):
        for text in ("A = 5", "A == 5", "A EQ 5", "A eq 5 AND B eq 6"):
            error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.query, text)
            self.assertIn(" eq, ", error.message)

    def test_mistakes_have_a_position(self):
        for text, position in (
            ("PartitionKey eq", 15),
            ("PartitionKey eq 'p", 16),
            ("PartitionKey 'p'", 13),
            ("PartitionKey eq 'p' and", 23),
            ("(PartitionKey eq 'p'", 20),
            ("PartitionKey eq 'p')", 19),
            ("PartitionKey eq 'p' RowKey eq 'r'", 20),
            ("PartitionKey == 'p'", 13),
            ("eq", None),
            ("'p'", None),
            ("PartitionKey eq 'p'\0", 19),
            ("A eq datetime'yesterday'", 5),
            ("A eq 99999999999999999999999L", 5),
            ("(" * 101 + "A eq 1" + ")" * 101, None),
        ):
            with self.subTest(text):
                error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.query, text)
                self.assertIn("position", error.metadata)
                if position is not None:
                    self.assertEqual(error.metadata["position"], str(position), error)

    def test_a_nul_in_the_filter_of_a_range(self):
        """It is stored as a text of PostgreSQL."""
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.delete_range,
                             query={"table": self.table, "filter": "A eq 'b\0c'"})
        self.assertIn("NUL at byte 7", error.message)

    def test_names_that_no_property_can_have(self):
        """Inside `not` each of these would match every entity."""
        address = {"partition_key": "p", "row_key": "r"}
        query = {"table": self.table}
        steps = [{"delete_if_exists": {"table": self.table, "key": address}}]
        for name, position in (("Age\u200b", 8), ("\ufeffAge", 5), ("Age\U0001f600", 8), ("\u00a0", 5), ("A$B", 6)):
            text = f"not ({name} eq 1)"
            condition = {"if_match": "*", "condition": text}
            for call, fields in (
                (self.client.query_entities, {"query": {**query, "filter": text}}),
                (self.client.count_entities, {"query": {**query, "filter": text}}),
                (self.client.delete_range, {"query": {**query, "filter": text}}),
                (self.client.delete_entity, {**query, "key": address, "precondition": condition}),
                (self.client.submit_transaction,
                    {"transaction_id": "t", "steps": [{**steps[0], "precondition": condition}]}),
            ):
                with self.subTest(call=call, name=name):
                    error = self.refused("INVALID_ARGUMENT", "PROPERTY_NAME_INVALID", call, **fields)
                    self.assertEqual(error.metadata["position"], str(position), error)


class Tokens(BadInput):
    def setUp(self):
        super().setUp()
        self.client.load(self.table, [entity("p", str(number)) for number in range(5)])
        self.before = self.state()

    def page(self, token="", text="", table=None, size=2):
        query = {"table": table or self.table, "filter": text}
        return self.client.query_entities(query=query, page_size=size, page_token=token)

    def invalid(self, call, *arguments, **fields):
        return self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", call, *arguments, **fields)

    def test_forged(self):
        token = self.page().next_page_token
        self.assertRegex(token, r"^[A-Za-z0-9_=-]+$")
        for at in range(0, len(token), 5):
            other = "A" if token[at] != "A" else "B"
            self.invalid(self.page, token[:at] + other + token[at + 1 :])
        for forged in (token[:-4], token + "AAAA", token[4:], "x", "AAAA", "=", "%", " ", "x" * 5000, "é", "a\0b"):
            self.invalid(self.page, forged)
        padded = token + "=" * (-len(token) % 4)
        decoded = base64.urlsafe_b64decode(padded)
        self.invalid(self.page, base64.urlsafe_b64encode(b"\0" * len(decoded)).decode().rstrip("="))

    def test_of_another_query(self):
        token = self.page().next_page_token
        other = self.new_table()
        self.client.load(other, [entity("p", str(number)) for number in range(5)])
        self.invalid(self.page, token, table=other)
        self.invalid(self.page, token, "PartitionKey eq 'p'")
        filtered = self.page(text="PartitionKey eq 'p'").next_page_token
        self.invalid(self.page, filtered)
        self.invalid(self.page, filtered, "PartitionKey eq 'q'")
        self.assertEqual(len(self.page(token, size=3).entities), 3, "another page size is no other query")
        self.client.delete_table(name=other)
        self.before = self.state()

    def test_of_another_list(self):
        token = self.page().next_page_token
        tables = [self.new_table() for _ in range(3)]
        list_token = self.client.list_tables(page_size=1).next_page_token
        for call in (self.client.list_tables, self.client.list_indexes, self.client.list_operations, self.client.list_transactions):
            self.invalid(call, page_token=token)
            if call != self.client.list_tables:
                self.invalid(call, page_token=list_token)
        self.invalid(self.page, list_token)
        for table in tables:
            self.client.delete_table(name=table)
        self.before = self.state()

    def test_of_an_earlier_table_of_the_name(self):
        table = self.new_table()
        self.client.load(table, [entity("p", str(number)) for number in range(5)])
        token = self.page(table=table).next_page_token
        self.client.delete_table(name=table)
        self.client.create_table(name=table)
        self.client.load(table, [entity("p", str(number)) for number in range(5)])
        self.invalid(self.page, token, table=table)
        self.client.delete_table(name=table)
        self.before = self.state()


class Selections(BadInput):
    def test_names_that_are_none(self):
        for names in ([""], ["A", ""], [f"A{n}" for n in range(256)], ["bad name"], ["1st"]):
            self.refused(
                "INVALID_ARGUMENT", "INVALID_INPUT", self.get, self.table, "p", "r", options={"select": names}
            )
        self.get(self.table, "p", "r", options={"select": ["RowKey", "A_b", "été"] + ["A"] * 256})


class Declarations(BadInput):
    """What cannot be an index is refused by the name of the field, whether it is created or replaces one."""

    HERE = {"place": 1, "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": "A"}]}
    INVALID, UNKNOWN = ("INVALID_ARGUMENT", "INVALID_INPUT"), ("UNIMPLEMENTED", "NOT_IMPLEMENTED")
    ROWS = [
        ({"shape": 0}, INVALID, "index.shape", "COPY or LIST"),
        ({"place": 3}, INVALID, "index.place", "3 is not a value of the enum"),
        ({"consistency": 3}, INVALID, "index.consistency", "3 is not a value of the enum"),
        ({"on_violation": 3}, INVALID, "index.on_violation", "3 is not a value of the enum"),
        ({"shape": 2, "unique": True}, INVALID, "index.unique", "LIST"),
        ({"unique": True, "partition_key": [{"literal": "all"}]}, INVALID, "index.unique", "needs a property"),
        ({"shape": 2, "partition_key": [{"literal": "all"}]}, INVALID, "index.partition_key", "must be a property"),
        ({**HERE, "consistency": 2}, INVALID, "index.consistency", "always STRONG"),
        ({**HERE, "partition_key": [{"property": "A"}]}, INVALID, "index.partition_key", "the property PartitionKey"),
        ({**HERE, "partition_key": [{"property": "PartitionKey"}, {"property": "A"}]}, INVALID, "index.partition_key", "one part"),
        ({**HERE, "partition_key": [{"property": "PartitionKey", "fold_case": True}]}, INVALID, "index.partition_key", "fold_case"),
        ({"partition_key": []}, INVALID, "index.partition_key", "1 to 16 parts"),
        ({"row_key": [{"property": "A"}] * 17}, INVALID, "index.row_key", "allowed are 16"),
        ({"row_key": [{"property": "A"}, {}]}, INVALID, "index.row_key[1]", "literal or a property"),
        ({"partition_key": [{"property": "A", "width": 20}]}, INVALID, "index.partition_key[0].width", "0 to 19"),
        ({"partition_key": [{"literal": "a", "width": 4}]}, INVALID, "index.partition_key[0].width", "not for literals"),
        ({"partition_key": [{"literal": "a", "inverted": True}]}, INVALID, "index.partition_key[0].inverted", "not for literals"),
        ({"partition_key": [{"property": "A", "fold_case": True, "inverted": True}]}, INVALID,
         "index.partition_key[0].fold_case", "one with inverted"),
        ({"partition_key": [{"literal": "a/b"}]}, ("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT"), "index.partition_key[0].literal", "not allowed in keys"),
        ({"shape": 2, "projection": {"keys_only": True}}, INVALID, "index.projection", "LIST"),
        ({"projection": {"keys_only": False}}, INVALID, "index.projection.keys_only", "leave the projection out"),
        ({"projection": {"some": {"names": ["A", "A"]}}}, INVALID, "index.projection.some.names", "twice"),
        ({"filter": "exits(A)"}, UNKNOWN, "index.filter", "exits"),
        ({"filter": "A add 1 eq 2"}, UNKNOWN, "index.filter", "add"),
        ({"filter": "A eq"}, INVALID, "index.filter", ""),
        ({"filter": "5"}, INVALID, "index.filter", ""),
        ({"filter": "A eq 1 or " * 450 + "A eq 1"}, INVALID, "index.filter", "allowed are 4096"),
        ({"name": "1st"}, ("INVALID_ARGUMENT", "INVALID_RESOURCE_NAME"), "index.name", ""),
    ]

    def test_a_declaration_that_cannot_be_names_its_field(self):
        usual = {"name": "cannotBe", "table": self.table, "shape": 1, "partition_key": [{"property": "A"}]}
        for change, refusal, field, words in self.ROWS:
            for call in (self.client.create_index, self.client.replace_index):
                with self.subTest(change=str(change)[:100], call=call.__name__):
                    error = self.refused(*refusal, call, index={**usual, **change})
                    self.assertEqual(list(error.fields), [field])
                    self.assertIn(words, error.message)

    def test_a_change_that_cannot_be_names_its_field(self):
        for consistency in (0, 3):
            error = self.refused(*self.INVALID, self.client.update_index, name="nobody", consistency=consistency)
            self.assertEqual(list(error.fields), ["consistency"])


if __name__ == "__main__":
    unittest.main()
