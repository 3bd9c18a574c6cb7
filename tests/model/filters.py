# SPDX-License-Identifier: Apache-2.0
"""Random filters, and what they mean: docs/filters.md once more, written as plainly as possible.

A value is (kind, payload) with a payload that compares exactly: Doubles as their eight bytes, DateTimes as seconds and
nanoseconds. The content of an entity is a sorted tuple of (name, kind, payload).
"""

import struct

MISSING = "missing"


def packed(number):
    return struct.pack("<d", number)


STRINGS = ["", "a", "ab", "it's", "\u00e9", "\ue000", "\U0001f600", "nul\0inside"]
GUIDS = ["00000000-0000-0000-0000-000000000001", "5a000000-0000-0000-0000-000000000000"]
DOUBLES = [0.0, -0.0, 1.5, 5.0, -2.25, float("nan"), float("inf"), float("-inf")]
NOT_A_NUMBER = [packed(float("nan"))]
VALUES = (
    [("string", text) for text in STRINGS]
    + [("boolean", truth) for truth in (False, True)]
    + [("int32", number) for number in (0, 1, 5, -7, 2**31 - 1, -(2**31))]
    + [("int64", number) for number in (0, 1, 5, -7, 2**63 - 1, -(2**63))]
    + [("double", packed(number)) for number in DOUBLES]
    + [("datetime", (seconds, nanos)) for seconds, nanos in ((0, 0), (-1, 999999900), (1577836800, 100))]
    + [("guid", text) for text in GUIDS]
    + [("binary", text) for text in (b"", b"\x05", b"\x05\x00", b"\xff")]
)

# Literals by their text; strings are quoted when they are written.
LITERALS = (
    [(str(number), ("int32", number)) for number in (0, 5, -7, 2147483647)]
    + [(f"{number}L", ("int64", number)) for number in (0, 5, -7, 2**63 - 1)]
    + [("1.5", ("double", packed(1.5))), ("5.0", ("double", packed(5.0))), ("-2.25", ("double", packed(-2.25)))]
    + [("NaN", ("double", packed(float("nan")))), ("INF", ("double", packed(float("inf"))))]
    + [("true", ("boolean", True)), ("false", ("boolean", False))]
    + [("datetime'2020-01-01T00:00:00.0000001Z'", ("datetime", (1577836800, 100)))]
    + [("datetime'1970-01-01T00:00:00Z'", ("datetime", (0, 0)))]
    + [(f"guid'{text}'", ("guid", text)) for text in GUIDS]
    + [("X'05'", ("binary", b"\x05")), ("binary'0500'", ("binary", b"\x05\x00"))]
)

NAMES = ["A", "B", "C", "N"]
TRUE_IF = {
    "eq": {"equal"},
    "ne": {"less", "greater", "unordered"},
    "gt": {"greater"},
    "ge": {"greater", "equal"},
    "lt": {"less"},
    "le": {"less", "equal"},
}
MIRRORED = {"eq": "eq", "ne": "ne", "gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
# A literal of the first kind is compared as one of the stored kind.
WIDENS = {("int32", "int64"), ("int32", "double"), ("int64", "double")}


def number_of(payload):
    return struct.unpack("<d", payload)[0] if isinstance(payload, bytes) else float(payload)


def ordered(kind, payload):
    """A value that Python orders as the service orders values of one kind."""
    return payload.encode() if kind == "string" else payload


def compare(stored, literal):
    """How a stored value compares with a literal: less, equal, greater, unordered or missing."""
    if stored is None:
        return MISSING
    if stored[0] != literal[0] and (literal[0], stored[0]) not in WIDENS:
        return "less"
    if stored[0] == "double":
        left, right = number_of(stored[1]), number_of(literal[1])
        if left != left or right != right:
            return "unordered"
    else:
        left, right = ordered(*stored), ordered(stored[0], literal[1])
    return "less" if left < right else "greater" if left > right else "equal"


class Filter:
    """Its text, and whether it matches (key, content)."""

    def __init__(self, text, holds):
        self.text = text
        self.holds = holds

    def __repr__(self):
        return self.text


def value_of(name, key, content):
    if name == "PartitionKey":
        return ("string", key[0])
    if name == "RowKey":
        return ("string", key[1])
    for found, kind, payload in content:
        if found == name:
            return (kind, payload)
    return None


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def comparison(name, operator, literal, text, mirrored=False):
    wanted = TRUE_IF[operator]
    parts = [text, MIRRORED[operator], name] if mirrored else [name, operator, text]
    return Filter(" ".join(parts), lambda key, content: compare(value_of(name, key, content), literal) in wanted)


def text_function(function, name, text):
    test = {"startswith": str.startswith, "endswith": str.endswith, "contains": str.__contains__}[function]

    def holds(key, content):
        value = value_of(name, key, content)
        return value is not None and value[0] == "string" and test(value[1], text)

    return Filter(f"{function}({name},{quoted(text)})", holds)


def exists(name):
    return Filter(f"exists({name})", lambda key, content: value_of(name, key, content) is not None)


def alone(name):
    return Filter(name, lambda key, content: value_of(name, key, content) == ("boolean", True))


def everything():
    return Filter("", lambda key, content: True)


def negation(of):
    return Filter(f"not ({of})", lambda key, content: not of.holds(key, content))


def both(left, right):
    return Filter(f"({left}) and ({right})", lambda key, content: left.holds(key, content) and right.holds(key, content))


def either(left, right):
    return Filter(f"({left}) or ({right})", lambda key, content: left.holds(key, content) or right.holds(key, content))


def random_leaf(random, keys):
    turn = random.random()
    if turn < 0.25:
        key = random.choice(keys)
        name, text = random.choice([("PartitionKey", key[0]), ("RowKey", key[1])])
        if random.random() < 0.2:
            return text_function("startswith", name, text[:1])
        return comparison(name, random.choice(sorted(TRUE_IF)), ("string", text), quoted(text), random.random() < 0.2)
    name = random.choice(NAMES)
    if turn < 0.35:
        return exists(name)
    if turn < 0.4:
        return alone(name)
    if turn < 0.5:
        function = random.choice(["startswith", "endswith", "contains"])
        return text_function(function, name, random.choice(["", "a", "'", "\u00e9"]))
    text, literal = random.choice(LITERALS)
    if random.random() < 0.3:
        literal = ("string", random.choice(STRINGS[:-1]))
        text = quoted(literal[1])
    return comparison(name, random.choice(sorted(TRUE_IF)), literal, text, random.random() < 0.2)


def random_filter(random, keys, depth=2):
    turn = random.random()
    if depth == 0 or turn < 0.4:
        return random_leaf(random, keys)
    if turn < 0.5:
        return negation(random_filter(random, keys, depth - 1))
    join = both if turn < 0.8 else either
    return join(random_filter(random, keys, depth - 1), random_filter(random, keys, depth - 1))


def in_partition(partition):
    return comparison("PartitionKey", "eq", ("string", partition), quoted(partition))
