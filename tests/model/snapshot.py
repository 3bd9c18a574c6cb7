# SPDX-License-Identifier: Apache-2.0
"""Everything about the indexes of a table in one snapshot of the database, and what must be so in each of them:

  apply(open intents, index) == project(source)

Each entry that is there is the one that its source asks for; of a READY index none is missing; an entity with an open intent is left
out, unless the index is strong. A value of a unique index has one owner, and owners alone have entries.
"""

import collections
import json

from calls import content_of
from declarations import SOURCE_NAMES, STRONG, Violation
from tavola_test import client

READY = 3
CONSISTENCY, VERSIONS = 9, 13  # fields of a stored declaration

# One statement, so one snapshot. {table}: the name of the source.
READ = """
with source as (select table_id from tables where name = '{table}' and live and index_id is null),
living as (select * from indexes where source_table_id = (select table_id from source) and state <> 4),
rows as (
    select table_id, partition_key p, row_key r, version, ts, coalesce(expires, 0) expires, encode(properties, 'hex') properties from entities
    where not dead and (table_id = (select table_id from source) or table_id in (select index_id from living)))
select json_build_object(
    'source', (select table_id from source),
    'indexes', (select json_agg(json_build_object(
        'id', index_id, 'name', name, 'state', state, 'replaces', replaces, 'definition', encode(definition, 'hex'))) from living),
    'rows', (select json_agg(to_json(rows)) from rows),
    'open', (select json_agg(json_build_array(partition_key, row_key)) from intents
             where kind = 1 and table_id = (select table_id from source)),
    'buried', (select json_agg(json_build_array(index_id, partition_key, row_key)) from dead_letters
               where kind = 1 and dead and table_id = (select table_id from source)),
    'owners', (select json_agg(json_build_array(index_id, partition_key, row_key)) from unique_owners
               where index_id in (select index_id from living)))"""


def varint(bytes, at):
    number = shift = 0
    while True:
        number |= (bytes[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if bytes[at - 1] < 128:
            return number, at


def number_in(bytes, wanted):
    """A field that is a number, of a stored declaration; 0: absent."""
    at = 0
    while at < len(bytes):
        tag, at = varint(bytes, at)
        value, at = varint(bytes, at)
        if tag & 7 == 2:
            at += value
        elif tag >> 3 == wanted:
            return value
    return 0


class Entity:
    """A row of `entities`, read as an entity."""

    def __init__(self, row):
        self.key = (row["p"], row["r"])
        self.ticks = row["ts"]
        self.stamp = (row["version"], row["ts"])
        self.expires = row["expires"]
        self.content = content_of(client.Entity.FromString(bytes.fromhex(row["properties"])))

    @property
    def whole(self):
        return self.key, self.content, self.ticks

    def source(self):
        """The key of its source, if it is an entry."""
        texts = {name: payload for name, _, payload in self.content}
        return tuple(texts.get(name) for name in SOURCE_NAMES)


class Index:
    """An index in a snapshot."""

    def __init__(self, row, declarations):
        self.id, self.name, self.is_ready = row["id"], row["name"], row["state"] == READY
        definition = bytes.fromhex(row["definition"])
        self.declaration = next(found for found in declarations if found.marker.encode() in definition)
        self.is_strong = self.declaration.is_in_place or number_in(definition, CONSISTENCY) == STRONG
        self.keeps_versions = number_in(definition, VERSIONS) == 1
        self.entries = {}

    def __repr__(self):
        return f"index {self.name} {self.id} {self.declaration}"


class Snapshot:
    """What READ has returned."""

    def __init__(self, text, declarations):
        read = {name: value or [] for name, value in json.loads(text).items()}
        self.indexes = {row["id"]: Index(row, declarations) for row in read["indexes"]}
        self.sources, self.open = {}, {tuple(key) for key in read["open"]}
        self.buried = {(number, (partition, row)) for number, partition, row in read["buried"]}
        self.owners = collections.defaultdict(list)
        for number, partition, row in read["owners"]:
            self.owners[number].append((partition, row))
        for row in read["rows"]:
            found = Entity(row)
            if row["table_id"] == read["source"]:
                self.sources[found.key] = found
                continue
            entries, source = self.indexes[row["table_id"]].entries, found.source()
            assert source not in entries, f"{self.indexes[row['table_id']]}: {source} has two entries"
            entries[source] = found

    def check(self):
        """Returns how many entities were compared with their entries."""
        return sum(self.check_index(index) for index in self.indexes.values())

    def check_index(self, index):
        owners = self.check_owners(index) if index.declaration.is_unique else None
        compared = 0
        for key in {*self.sources, *index.entries}:
            if not index.is_strong and (key in self.open or (0, key) in self.buried):
                continue
            wanted = self.wanted(index, key, owners)
            entry = index.entries.get(key)
            there = entry and (entry.key, entry.content, entry.expires)
            is_late = not index.is_ready and there is None
            assert is_late or there == wanted, f"{index}: {key} has the entry {there}, not {wanted}; source {self.described(key)}"
            if index.keeps_versions and there:
                source = self.sources[key]
                assert entry.stamp == source.stamp, f"{index}: the entry of {key} has {entry.stamp}, not {source.stamp}"
            compared += not is_late
        return compared

    def described(self, key):
        source = self.sources.get(key)
        return source and source.whole

    def wanted(self, index, key, owners):
        source = self.sources.get(key)
        entry = source and index.declaration.entry_or_none(source.whole)
        if not entry or (owners is not None and key not in owners):
            return None
        return (*entry, source.expires)

    def check_owners(self, index):
        """The owners' keys. A value that entities have and that has no owner was a violation before its owner was deleted."""
        owners, owned = self.owners[index.id], {}
        assert len(owners) == len(set(owners)), f"{index}: an entity owns two values: {owners}"
        for key in owners:
            source = self.sources.get(key)
            assert source and index.declaration.entry_or_none(source.whole), f"{index}: {key} owns a value without an entry"
            value = index.declaration.owned(source.whole)
            assert value not in owned, f"{index}: {key} and {owned[value]} own one value"
            owned[value] = key
        if index.is_ready:
            self.check_violators(index, set(owners), owned)
        return set(owners)

    def check_violators(self, index, owners, owned):
        for key, source in self.sources.items():
            if key in owners or key in self.open or not index.declaration.entry_or_none(source.whole):
                continue
            value = index.declaration.owned(source.whole)
            assert value in owned or (index.id, key) in self.buried, f"{index}: the value of {key} has no owner, and the key is no violation"

    def violations(self, index):
        """The keys of the entities that cannot have their entry."""
        out = set()
        for key, source in self.sources.items():
            try:
                entry = index.declaration.entry(source.whole)
                if entry and index.declaration.is_unique and key not in self.owners[index.id]:
                    out.add(key)
            except Violation:
                out.add(key)
        return out


def read(made, table):
    """The text of a snapshot; an AssertionError while PostgreSQL is away."""
    return made.sql(READ.format(table=table))
