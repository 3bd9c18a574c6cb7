# SPDX-License-Identifier: Apache-2.0
"""Random declarations of indexes, and the entry that each asks for: docs/indexes.md and domain/properties/key_part.h once more,
written as plainly as possible.

An entity is (key, content, ticks): content as in filters.py, ticks of its Timestamp.
"""

import os
import struct
import sys

import filters

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "demo"))

import index_keys  # noqa: E402  the text of keys, as the demo writes it

COPY, LIST = 1, 2
SAME_PARTITION, OTHER_PARTITION = 1, 2
STRONG, EVENTUAL = 1, 2
SKIP, REJECT = 1, 2
SOURCE_KEYS = ({"property": "PartitionKey"}, {"property": "RowKey"})
SOURCE_NAMES = ("$SourcePartitionKey", "$SourceRowKey")
MAX_KEY_UNITS, MAX_KEY_BYTES = 512, 1024
SECONDS_BEFORE_1970 = 11_644_473_600  # ticks count from 1601
MAX_TICKS = 2_650_467_743_999_999_999
WIDTHS = (1, 4, 10)
NAMES = ("A", "B", "C")


class Violation(Exception):
    """The entity cannot have its entry."""


# ---- one part of a key ----


def whole(kind, payload):
    """(number, least, greatest, digits, digits if inverted) of a whole number or a time; None: it is neither."""
    if kind == "int32":
        return payload, -(2**31), 2**31 - 1, 10, 10
    if kind == "int64":
        return payload, -(2**63), 2**63 - 1, 19, 20
    if kind == "datetime":
        return (payload[0] + SECONDS_BEFORE_1970) * 10**7 + payload[1] // 100, 0, MAX_TICKS, 19, 19
    return None


def encode_whole(part, kind, payload):
    number, least, greatest, digits, inverted_digits = whole(kind, payload)
    if part.get("width"):
        if kind == "datetime":
            raise Violation
        least, most, digits = 0, 10 ** part["width"] - 1, part["width"]
        if number < 0 or number > min(most, greatest):
            raise Violation
        greatest, inverted_digits = most, digits
    if part.get("inverted"):
        return f"{greatest - number:0{inverted_digits}}"
    if least == 0:
        return f"{number:0{digits}}"
    return f"0{number:0{digits}}" if number >= 0 else f"-{number - least:0{digits}}"


def encode_double(part, payload):
    bits = struct.unpack("<Q", payload)[0]
    if filters.number_of(payload) != filters.number_of(payload):
        raise Violation
    ordered = bits ^ (2**64 - 1) if bits >> 63 else bits | 2**63
    return f"{ordered ^ (2**64 - 1) if part.get('inverted') else ordered:016x}"


LETTERS = {"boolean": "b", "int32": "i", "int64": "l", "datetime": "t", "double": "d", "guid": "g", "binary": "x"}


def fold(text):
    """Simple case folding, for the characters that the texts of these tests have."""
    return text.lower()


def encode(part, value):
    """A value as a part of a key; Violation: it cannot be one."""
    kind, payload = value
    ordered = whole(kind, payload) is not None
    if (part.get("width") and not ordered) or (part.get("inverted") and not ordered and kind != "double"):
        raise Violation
    if kind == "string":
        return index_keys.encode(fold(payload) if part.get("fold_case") else payload)
    if ordered:
        return "!" + LETTERS[kind] + encode_whole(part, kind, payload)
    if kind == "double":
        return "!d" + encode_double(part, payload)
    return "!" + LETTERS[kind] + {"boolean": lambda: str(int(payload)), "guid": lambda: payload, "binary": payload.hex if kind == "binary" else None}[kind]()


def canonical(part, value):
    """Values that are one value for a unique index are equal in this form."""
    kind, payload = value
    if kind in ("int32", "int64"):
        return ("number", payload)
    if kind == "double":
        return ("number", filters.number_of(payload))
    return (kind, fold(payload) if kind == "string" and part.get("fold_case") else payload)


# ---- a declaration ----


class Declaration:
    """The message, as keyword arguments, and its meaning. A name that nothing else has stands somewhere in it: its marker."""

    def __init__(self, marker, fields, filter):
        self.marker = marker
        self.fields = fields
        self.filter = filter

    def __repr__(self):
        return f"{self.marker} {self.fields}"

    @property
    def is_unique(self):
        return self.fields.get("unique", False)

    @property
    def is_in_place(self):
        return self.fields["place"] == SAME_PARTITION

    def row_parts(self):
        declared = self.fields.get("row_key", [])
        if not declared or self.fields["shape"] == LIST:
            return [*declared, *SOURCE_KEYS]
        named = [*self.fields["partition_key"], *declared]
        as_they_are = {part["property"] for part in named if "property" in part and not part.get("fold_case")}
        return [*declared, *(part for part in SOURCE_KEYS if part["property"] not in as_they_are)]

    def properties(self):
        parts = [*self.fields["partition_key"], *self.fields.get("row_key", [])]
        return [part for part in parts if "property" in part]

    @staticmethod
    def value_of(name, entity):
        key, content, ticks = entity
        if name == "Timestamp":
            return ("datetime", (ticks // 10**7 - SECONDS_BEFORE_1970, ticks % 10**7 * 100))
        return filters.value_of(name, key, content)

    def join(self, parts, entity):
        """None: the entity has no entry."""
        joined = ""
        for part in parts:
            if "literal" in part:
                joined += part["literal"]
                continue
            value = self.value_of(part["property"], entity)
            if value is None:
                return None
            joined += encode(part, value) + (index_keys.END if part is not parts[-1] else "")
        if len(joined.encode()) > MAX_KEY_BYTES or len(joined.encode("utf-16-le")) > 2 * MAX_KEY_UNITS:
            raise Violation
        return joined

    def entry(self, entity):
        """((partition key, row key), content) or None; Violation."""
        key, content, _ = entity
        if not self.filter.holds(key, content):
            return None
        partition = key[0] if self.is_in_place else self.join(self.fields["partition_key"], entity)
        if partition is None:
            return None
        row = self.join(self.row_parts(), entity)
        return None if row is None else ((partition, row), self.projected(key, content))

    def entry_or_none(self, entity):
        try:
            return self.entry(entity)
        except Violation:
            return None

    def projected(self, key, content):
        projection = self.fields.get("projection", {})
        kept = content if self.fields["shape"] == COPY and not projection.get("keys_only") else ()
        if "some" in projection:
            kept = tuple(value for value in kept if value[0] in projection["some"]["names"])
        return tuple(sorted([*kept, *((name, "string", text) for name, text in zip(SOURCE_NAMES, key))]))

    def owned(self, entity):
        """What an entity with an entry owns in a unique index."""
        return tuple(canonical(part, self.value_of(part["property"], entity)) for part in self.properties())


# ---- random ones ----


def random_part(random, names=NAMES):
    part = {"property": random.choice(names)}
    turn = random.random()
    if turn < 0.2:
        part["fold_case"] = True
    elif turn < 0.3:
        part["inverted"] = True
    elif turn < 0.35:
        part["width"] = random.choice(WIDTHS)
        part["inverted"] = random.random() < 0.5
    return part


def random_keys(random):
    if random.random() < 0.35:
        row = [random_part(random) for _ in range(random.choice([1, 1, 2]))]
        return {"place": SAME_PARTITION, "partition_key": [{"property": "PartitionKey"}], "row_key": row}
    partition = [random_part(random) for _ in range(random.choice([1, 1, 1, 2]))]
    if random.random() < 0.1:
        partition = [{"property": random.choice(["PartitionKey", "Timestamp"]), "fold_case": random.random() < 0.3}]
    row = [random_part(random, (*NAMES, "PartitionKey", "RowKey")) for _ in range(random.choice([0, 0, 1, 2]))]
    keys = {"place": OTHER_PARTITION, "partition_key": partition, "row_key": row}
    if random.random() < 0.5:
        keys["consistency"] = random.choice([STRONG, EVENTUAL])
    return keys


def random_declaration(random, name, table, marker, keys):
    """keys: those of entities, for the filter."""
    fields = {"name": name, "table": table, **random_keys(random)}
    fields["shape"] = random.choice([COPY, COPY, LIST])
    fields["on_violation"] = REJECT if random.random() < 0.15 else SKIP
    filter = filters.random_filter(random, keys) if random.random() < 0.35 else filters.everything()
    if fields["shape"] == COPY:
        fields["unique"] = random.random() < 0.35
        if random.random() < 0.2:
            fields["projection"] = {"keys_only": True}
        elif random.random() < 0.4:
            fields["projection"] = {"some": {"names": random.sample([*NAMES, "N", "Gone"], 2)}}
    mark(random, fields, marker)
    if "literal" not in str(fields):
        filter = filters.both(filter, filters.negation(filters.exists(marker))) if filter.text else filters.negation(filters.exists(marker))
    fields["filter"] = filter.text
    return Declaration(marker, fields, filter)


def mark(random, fields, marker):
    """The marker is a literal part; else the filter has it."""
    turn = random.random()
    if turn < 0.3 and fields["place"] == OTHER_PARTITION:
        fields["partition_key"].insert(random.randrange(2), {"literal": marker})
    elif turn < 0.6 and fields["row_key"]:
        fields["row_key"].insert(random.randrange(2), {"literal": marker})
