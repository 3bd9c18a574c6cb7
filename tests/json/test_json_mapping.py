# SPDX-License-Identifier: Apache-2.0
"""Messages through JSON and back, beside protobuf's own mapping for Python (json_format): every message of the API at random, and
what has to be read or refused one by one."""

import base64
import json
import os
import random
import subprocess
import unittest

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor

from tavola_test.client import types

MESSAGES_OF_A_TYPE = 12
MAX_DEPTH = 4
TEXTS = ("", "a", "Ärger", "日本", "\"quoted\" \\ /", "line\nline\ttab\r", "\0\x01\x1f\x7f", "\u2028", "𝄞", "x" * 300)
DOUBLES = (0.0, -0.0, 1.0, 0.1, -1.5, 1e300, 5e-324, 2.0 ** 53 + 2, 1 / 3, float("inf"), float("-inf"), float("nan"))
FLOATS = (0.0, 1.0, 0.5, -1.5, 1e30, float("inf"), float("nan"))
BYTES = (b"", b"\0", b"\xff\xfe", b"\xfb\xef\xbe", bytes(range(256)))
INTEGERS = {
    32: (0, 1, -1, 2**31 - 1, -(2**31)), 64: (0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)),
    -32: (0, 1, 2**32 - 1), -64: (0, 1, 2**53 + 1, 2**64 - 1),
}
WELL_KNOWN = "google.protobuf."
F = FieldDescriptor
INTEGER_TYPES = {
    F.TYPE_INT32: 32, F.TYPE_SINT32: 32, F.TYPE_SFIXED32: 32, F.TYPE_INT64: 64, F.TYPE_SINT64: 64, F.TYPE_SFIXED64: 64,
    F.TYPE_UINT32: -32, F.TYPE_FIXED32: -32, F.TYPE_UINT64: -64, F.TYPE_FIXED64: -64,
}


class Transcoder:
    """The program; one line for each question."""

    def __init__(self):
        self.child = subprocess.Popen([os.environ["JSON_TRANSCODE"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, verb, name, argument):
        self.child.stdin.write(f"{verb} {name} {argument}\n".encode())
        self.child.stdin.flush()
        return self.child.stdout.readline().decode().rstrip("\n")

    def close(self):
        self.child.stdin.close()
        self.child.stdout.close()
        return self.child.wait()


class JsonMapping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.transcoder = Transcoder()

    @classmethod
    def tearDownClass(cls):
        assert cls.transcoder.close() == 0

    def to_json(self, message):
        text = self.transcoder.ask("write", message.DESCRIPTOR.full_name, message.SerializeToString().hex())
        self.assertFalse(text.startswith("!"), text)
        return text

    def from_json(self, name, text):
        """The message, or the error as text."""
        answer = self.transcoder.ask("read", name, text)
        return answer[1:] if answer.startswith("!") else types.message(name).FromString(bytes.fromhex(answer))

    # ---- at random ----

    def scalar(self, field, chance):
        if field.type in INTEGER_TYPES:
            return chance.choice(INTEGERS[INTEGER_TYPES[field.type]])
        if field.type == F.TYPE_ENUM:
            return chance.choice(field.enum_type.values).number
        return chance.choice({F.TYPE_STRING: TEXTS, F.TYPE_BYTES: BYTES, F.TYPE_BOOL: (False, True), F.TYPE_DOUBLE: DOUBLES,
                              F.TYPE_FLOAT: FLOATS}[field.type])

    def fill_well_known(self, message, chance):
        kind = message.DESCRIPTOR.name
        if kind == "Timestamp":
            message.seconds = chance.choice((0, 1, -62135596800, 253402300799, 951782400, -1))
            message.nanos = chance.choice((0, 1, 1000, 500000000, 999999999))
        elif kind == "Duration":
            sign = chance.choice((1, -1))
            message.seconds = sign * chance.choice((0, 1, 315576000000))
            message.nanos = sign * chance.choice((0, 1, 1000, 500000000, 999999999))
        elif kind == "FieldMask":
            message.paths.extend(chance.sample(("a", "row_key", "a.b_c"), chance.randrange(4)))
        elif kind == "Any":
            inner = types.message(chance.choice(("tavola.v1.Entity", "google.protobuf.Duration", "google.rpc.ErrorInfo")))()
            self.fill(inner, chance, MAX_DEPTH - 1)
            message.Pack(inner)

    def fill_map(self, target, entry, chance, depth):
        value = entry.fields_by_name["value"]
        for _ in range(chance.randrange(3)):
            key = self.scalar(entry.fields_by_name["key"], chance)
            if "\0" in str(key):
                continue  # no name of ours has one, and Jansson takes none
            if value.message_type:
                self.fill(target[key], chance, depth + 1)
            else:
                target[key] = self.scalar(value, chance)

    def fill_field(self, message, field, chance, depth):
        target = getattr(message, field.name)
        if field.message_type and field.message_type.GetOptions().map_entry:
            self.fill_map(target, field.message_type, chance, depth)
        elif field.label == F.LABEL_REPEATED:
            for _ in range(chance.randrange(3)):
                if field.message_type:
                    self.fill(target.add(), chance, depth + 1)
                else:
                    target.append(self.scalar(field, chance))
        elif field.message_type:
            target.SetInParent()
            self.fill(target, chance, depth + 1)
        else:
            setattr(message, field.name, self.scalar(field, chance))

    def fill(self, message, chance, depth=0):
        if message.DESCRIPTOR.full_name.startswith(WELL_KNOWN):
            self.fill_well_known(message, chance)
            return message
        for field in message.DESCRIPTOR.fields:
            if chance.random() < (0.7 if depth == 0 else 0.5) and (depth < MAX_DEPTH or not field.message_type):
                self.fill_field(message, field, chance, depth)
        return message

    def every_type(self):
        def nested(message):
            if not message.GetOptions().map_entry:
                yield message
            for inner in message.nested_types:
                yield from nested(inner)

        for file in types.files:
            for message in types.pool.FindFileByName(file.name).message_types_by_name.values():
                yield from (one.full_name for one in nested(message))

    def check(self, message):
        name = message.DESCRIPTOR.full_name
        ours, theirs = self.to_json(message), json_format.MessageToJson(message, descriptor_pool=types.pool)
        # repr: nan is not equal to itself, and -0.0 is to 0.0
        self.assertEqual(repr(_sorted(json.loads(ours))), repr(_sorted(json.loads(theirs))), name)
        back = self.from_json(name, ours)
        self.assertNotIsInstance(back, str, f"{name}: {back}")
        again = self.from_json(name, json.dumps(json.loads(theirs)))
        self.assertNotIsInstance(again, str, f"{name}: {again}")
        for one in (back, again):
            self.assertEqual(_canonical(one), _canonical(message), name)

    def test_every_message_is_written_and_read_as_by_protobufs_own_library(self):
        count = 0
        for name in self.every_type():
            for seed in range(MESSAGES_OF_A_TYPE):
                self.check(self.fill(types.message(name)(), random.Random(f"{name} {seed}")))
                count += 1
        self.assertGreater(count, 1000)

    # ---- what else is read ----

    def test_other_forms_of_values_are_read(self):
        for name, text, wanted in (
            ("tavola.v1.Entity", '{"partitionKey": "a", "row_key": "b"}', {"partitionKey": "a", "rowKey": "b"}),
            ("tavola.v1.Entity", '{"partitionKey": null}', {}),
            ("tavola.v1.Value", '{"int64Value": 7}', {"int64Value": "7"}),
            ("tavola.v1.Value", '{"int64Value": "-9007199254740993"}', {"int64Value": "-9007199254740993"}),
            ("tavola.v1.Value", '{"int32Value": 7.0}', {"int32Value": 7}),
            ("tavola.v1.Value", '{"int32Value": "7"}', {"int32Value": 7}),
            ("tavola.v1.Value", '{"doubleValue": "1.5"}', {"doubleValue": 1.5}),
            ("tavola.v1.Value", '{"doubleValue": 7}', {"doubleValue": 7.0}),
            ("tavola.v1.Value", '{"binaryValue": "-_8"}', {"binaryValue": base64.b64encode(b"\xfb\xff").decode()}),
            ("tavola.v1.Value", '{"datetimeValue": "2026-01-02T03:04:05+01:00"}', {"datetimeValue": "2026-01-02T02:04:05Z"}),
            ("tavola.v1.Value", '{"booleanValue": false}', {"booleanValue": False}),
        ):
            with self.subTest(text=text):
                read = self.from_json(name, text)
                self.assertNotIsInstance(read, str, read)
                self.assertEqual(json.loads(self.to_json(read)), wanted)

    def test_what_no_message_can_hold_is_refused_with_its_place(self):
        for name, text, wanted in (
            ("tavola.v1.Entity", "", "line 1, column 0 of the JSON"),
            ("tavola.v1.Entity", '{"rowKey": }', "line 1, column 12 of the JSON"),
            ("tavola.v1.Entity", '{"rowKey": "a", "rowKey": "b"}', "duplicate object key"),
            ("tavola.v1.Entity", '{"rowKey": "a", "row_key": "b"}', "row_key: given twice, under both names of the field"),
            ("tavola.v1.Entity", "[]", "the message: want an object"),
            ("tavola.v1.Entity", '{"RowKey": "a"}', "RowKey: unknown field; Entity has partitionKey, rowKey, timestamp, etag, expires, properties"),
            ("tavola.v1.Entity", '{"@type": "a"}', "@type: unknown field"),
            ("tavola.v1.Entity", '{"rowKey": 5}', "rowKey: want text"),
            ("tavola.v1.Entity", '{"properties": {"A": null}}', "properties.A: a value of a map must not be null"),
            ("tavola.v1.Entity", '{"properties": {"A": {"int32Value": 2147483648}}}',
             "properties.A.int32Value: want an integer of 32 bits"),
            ("tavola.v1.Value", '{"int32Value": 1.5}', "int32Value: want an integer of 32 bits"),
            ("tavola.v1.Value", '{"int64Value": 1e30}', "int64Value: want an integer of 64 bits, as a number or text"),
            ("tavola.v1.Value", '{"int64Value": " 1"}', "int64Value: want an integer of 64 bits, as a number or text"),
            ("tavola.v1.Value", '{"doubleValue": "x"}', "doubleValue: want a number"),
            ("tavola.v1.Value", '{"booleanValue": "true"}', "booleanValue: want true or false"),
            ("tavola.v1.Value", '{"binaryValue": "a b"}', "binaryValue: want bytes as text in base64"),
            ("tavola.v1.Value", '{"datetimeValue": "2026-02-30T00:00:00Z"}', "datetimeValue: want a time as text"),
            ("tavola.v1.Value", '{"datetimeValue": "0000-01-01T00:00:00Z"}', "datetimeValue: want a time as text"),
            ("tavola.v1.Value", '{"int32Value": 1, "booleanValue": true}', "booleanValue: another field of the same oneof"),
            ("tavola.v1.LookupIndexRequest", '{"equals": [{"int32Value": 1}, {"int32Value": true}]}',
             "equals[1].int32Value: want an integer of 32 bits"),
            ("tavola.v1.LookupIndexRequest", '{"equals": {}}', "equals: want a list"),
            ("tavola.v1.LookupIndexRequest", '{"equals": [5]}', 'equals[0]: want an object with the value\'s type, such as {"int32Value": 5}'),
            ("tavola.v1.CreateIndexRequest", '{"index": {"shape": "COPY"}}',
             "index.shape: want one of INDEX_SHAPE_COPY, INDEX_SHAPE_LIST"),
            ("tavola.v1.CreateIndexRequest", '{"index": {"copies": {"properties": {"A": 5}}}}', "index.copies.properties.A: want text"),
            ("google.rpc.Status", '{"details": [{"@type": "x/y"}]}', 'details[0]: want "@type", the URL of a known type'),
            ("google.rpc.Status", '{"details": [{"@type": "x/tavola.v1.Entity", "rowKey": 5}]}', "details[0].rowKey: want text"),
            ("google.protobuf.Duration", '"1.5"', "the message: want a number of seconds as text"),
            ("google.protobuf.FieldMask", '"row_key"', "the message: want names of fields in lowerCamelCase"),
        ):
            with self.subTest(text=text):
                refused = self.from_json(name, text)
                self.assertIsInstance(refused, str)
                self.assertIn(wanted, refused)

    def test_messages_that_are_nested_too_deep_are_refused(self):
        deep = '{"@type": "x/google.rpc.Status", "details": [' * 60 + "]}" * 60
        deep = deep.replace('"@type": "x/google.rpc.Status", ', "", 1)
        self.assertIn("nested over 100 levels", self.from_json("google.rpc.Status", deep))
        self.assertIn("maximum parsing depth", self.from_json("google.rpc.Status", "[" * 100000))

    def test_bytes_that_are_no_such_message_are_not_written(self):
        for hex_ in ("0a", "0a05", "ff", "0affffffffffffffffff7f"):
            answer = self.transcoder.ask("write", "tavola.v1.Entity", hex_)
            self.assertIn("are not a well-formed tavola.v1.Entity", answer)
        self.assertIn("not a well-formed", self.transcoder.ask("write", "tavola.v1.Entity", "1202fffe"))  # no UTF-8

    def test_parts_of_a_message_are_joined_and_the_last_scalar_counts(self):
        status = types.message("google.rpc.Status")
        parts = status(code=1, message="a").SerializeToString() + status(code=2).SerializeToString()
        answer = self.transcoder.ask("write", "google.rpc.Status", parts.hex())
        self.assertEqual(json.loads(answer), {"code": 2, "message": "a"})


def _sorted(value):
    """With the names of objects in order, and whole numbers as integers."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(one) for one in value]
    if isinstance(value, float) and value.is_integer() and str(value) != "-0.0":
        return int(value)
    return value


def _canonical(message):
    return message.SerializeToString(deterministic=True)


if __name__ == "__main__":
    unittest.main()
