# SPDX-License-Identifier: Apache-2.0
"""Requests of the service as bytes, and files of them for bench_load: so few need no generated code. A field is a
number and a value: bytes or text, an int (varint), or a list of fields (a message).
"""

import random

# Keys are numbers of one width: a request is a template into which they are written. bench_lag writes into
# its templates, too.
FIRST, COUNT = 10_000_000, 100_000
KEYS_PER_PARTITION = 100
_SOME_KEY, _SOME_PARTITION = "r99999999", "p999999"
_SOME_VALUE = "v99999999"
_SOME_GROUP = "g99999999"


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += _varint(number << 3) + _varint(value)
            continue
        if isinstance(value, str):
            value = value.encode()
        elif isinstance(value, (list, tuple)):
            value = message(*value)
        out += _varint(number << 3 | 2) + _varint(len(value)) + value
    return out


def fields(content):
    """[(number, int or bytes)] of a message made of varints and lengths."""
    out, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (content[at - 1] & 127) << shift
            shift += 7
            if content[at - 1] < 128:
                return value

    while at < len(content):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            at += value
            value = content[at - value : at]
        out.append((tag >> 3, value))
    return out


def get_blob(name, offset, length):
    return message((1, name), (2, offset), (3, length))


def rows_examined(reply):
    """Of a QueryEntitiesResponse: stats (3), rows_examined (3)."""
    return dict(fields(dict(fields(reply))[3]))[3]


def _string_property(name, text):
    return (15, [(1, name), (2, [(1, text)])])


def _entity(size=24):
    """Seven properties, the first of which an index reads; with 24 bytes in the others about 300 in a reply."""
    properties = [_string_property("Color", _SOME_VALUE)]
    properties += [_string_property(f"Prop{i}", "x" * size) for i in range(6)]
    return [(1, _SOME_PARTITION), (2, _SOME_KEY), *properties]


def _at(template, key, value=0):
    template = template.replace(_SOME_PARTITION.encode(), b"p%d" % (key // KEYS_PER_PARTITION))
    template = template.replace(_SOME_KEY.encode(), b"r%d" % key)
    return template.replace(_SOME_VALUE.encode(), b"v%d" % (FIRST + value))


# ---- which keys ----


def uniform(count, among=COUNT, rng=random):
    return [FIRST + rng.randrange(among) for _ in range(count)]


def zipf(count, rng=random):
    """Probability proportional to 1 / rank; ranks are spread over the keys."""
    keys = list(range(FIRST, FIRST + COUNT))
    rng.shuffle(keys)
    return rng.choices(keys, [1 / rank for rank in range(1, COUNT + 1)], k=count)


def hot(count):
    return [FIRST] * count


def each(first, count, rng=random):
    """Every key once, in any order."""
    return rng.sample(range(first, first + count), count)


# ---- requests ----

LARGE = 3300  # bytes of a property of an entity of 20 kB


def get(table, keys):
    template = message((1, table), (2, [(1, _SOME_PARTITION), (2, _SOME_KEY)]))
    return (_at(template, key) for key in keys)


def write(table, keys, first_value=0, size=24):
    """Insert, InsertOrReplace, and Replace, whose precondition bench_load adds. Each has a different value."""
    template = message((1, table), (2, _entity(size)))
    return (_at(template, key, value) for value, key in enumerate(keys, first_value))


def batch(table, count, rng=random):
    """Entity group transactions of 100 upserts: a partition each."""
    one = message((2, [(4, _entity())]))
    for _ in range(count):
        first = FIRST + rng.randrange(COUNT // KEYS_PER_PARTITION) * KEYS_PER_PARTITION
        yield message((1, table)) + b"".join(_at(one, first + i) for i in range(KEYS_PER_PARTITION))


def import_(table, keys, size=1000):
    one = message((2, _entity()))
    for begin in range(0, len(keys), size):
        part = keys[begin : begin + size]
        yield message((1, table)) + b"".join(_at(one, key) for key in part)


def import_partition(table, partition, keys, size=1000):
    """The same, all of it in one partition, a name as long as any."""
    one = message((2, _entity())).replace(_SOME_PARTITION.encode(), partition.encode())
    for begin in range(0, len(keys), size):
        yield message((1, table)) + b"".join(_at(one, key) for key in keys[begin : begin + size])


GROUP = 20  # entities with one value of Prop0: import_found


def import_found(table, keys, size=1000):
    """Every entity has a Color of its own, and its Prop0 is that of GROUP entities: both are there to be looked up."""
    entity = [(1, _SOME_PARTITION), (2, _SOME_KEY), _string_property("Color", _SOME_VALUE),
              _string_property("Prop0", _SOME_GROUP)]
    one = message((2, entity + [_string_property(f"Prop{i}", "x" * 24) for i in range(1, 6)]))
    for begin in range(0, len(keys), size):
        part = keys[begin : begin + size]
        yield message((1, table)) + b"".join(
            _at(one, key, key - FIRST).replace(_SOME_GROUP.encode(), _group_of(key)) for key in part)


def _group_of(key):
    return b"g%d" % (FIRST + (key - FIRST) // GROUP)


def find(index, keys, *more):
    """Look-ups of the entities' own Color: one hit each."""
    template = message((1, index), (2, [(1, _SOME_VALUE)]), *more)
    return (_at(template, key, key - FIRST) for key in keys)


def find_group(index, keys, *more):
    """Look-ups of the entities' Prop0: GROUP hits each."""
    template = message((1, index), (2, [(1, _SOME_GROUP)]), *more)
    return (template.replace(_SOME_GROUP.encode(), _group_of(key)) for key in keys)


def query_rows(table, keys, count):
    """Of each key's partition, so many rows by a range that begins with the key's, or a little before it."""
    for key in keys:
        first = key - max(0, key % KEYS_PER_PARTITION + count - KEYS_PER_PARTITION)
        rows = f"PartitionKey eq 'p{key // KEYS_PER_PARTITION}' and RowKey ge 'r{first}' and RowKey lt 'r{first + count}'"
        yield message((1, [(1, table), (2, rows)]))


def token_of(reply):
    """Of the reply to a single write: result (1), consistency_token (3)."""
    return dict(fields(dict(fields(reply))[1]))[3]


def query(table, keys, among=COUNT, filter_more=""):
    """Pages of 1000 that begin at each key's partition."""
    for key in keys:
        partition = min(key, FIRST + among - 2000) // KEYS_PER_PARTITION
        yield message((1, [(1, table), (2, f"PartitionKey ge 'p{partition}'{filter_more}")]), (2, 1000))


def scan(table):
    """The whole table, as one stream."""
    return [message((1, [(1, table)]))]


def query_filter(table, text):
    return [message((1, [(1, table), (2, text)]), (2, 1000))]


def lookup(index):
    """By a value that bench_lag writes into it."""
    return [message((1, index), (2, [(1, _SOME_VALUE)]), (5, 1))]


def probe(table):
    """An entity whose key and value bench_lag writes into it."""
    return [message((1, table), (2, _entity()))]


def create_table(name, change_feed=False):
    return [message((1, name), (2, int(change_feed)))]


def create_index(name, table, properties=("Color",), unique=False, strong=False):
    """COPY, in another partition."""
    parts = [(5, [(2, one)]) for one in properties]
    options = [*([(9, 1)] if unique else []), *([(11, 1)] if strong else [])]
    return [message((1, [(1, name), (2, table), (3, 1), *parts, (8, 1), *options]))]


def create_copy_rule(name, source, dependents, named_by, copies):
    """named_by: the dependents' properties that have the keys of the source; copies: of a dependent's property to the source's."""
    keys = [(number, [(2, one)]) for number, one in zip((2, 3), named_by)]
    rule = [(1, source), *keys, *((4, [(1, to), (2, of)]) for to, of in copies.items())]
    return [message((1, [(1, name), (2, dependents), (3, 1), (12, rule)]))]


def create_strong_index(name, table, properties=("Color",), unique=False):
    """COPY, in the partition of its entities."""
    parts = [(6, [(2, one)]) for one in properties]
    options = [(9, 1)] if unique else []
    return [message((1, [(1, name), (2, table), (3, 1), (4, 1), (5, [(2, "PartitionKey")]), *parts, (8, 1), *options]))]


def save(path, requests):
    with open(path, "wb") as file:
        for request in requests:
            file.write(b"\0" + len(request).to_bytes(4, "big") + request)
    return path
