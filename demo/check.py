# SPDX-License-Identifier: Apache-2.0
"""The proof: compares what is stored, read through the ordinary calls, with what must be stored. What must be stored
comes from the ledger of acknowledged writes alone; the server is never asked to verify.
"""

import json

import index_keys

_SAMPLES = 5


class Differences:
    def __init__(self):
        self.missing = self.dangling = self.mismatched = 0
        self.samples = []

    def any(self):
        return self.missing + self.dangling + self.mismatched > 0

    def note(self, what, where):
        setattr(self, what, getattr(self, what) + 1)
        if len(self.samples) < _SAMPLES:
            self.samples.append(f"{what}: {where}")

    def compare(self, name, expected, actual):
        """Two dicts by key."""
        for key, value in expected.items():
            if key not in actual:
                self.note("missing", f"{name} {key}")
            elif actual[key] != value:
                self.note("mismatched", f"{name} {key}: {actual[key]} is not {value}")
        for key in actual:
            if key not in expected:
                self.note("dangling", f"{name} {key}")


def read_table(client, table, differences, counter):
    """{key: properties}; a key that comes twice is a mismatch."""
    out = {}
    for entity in client.query(table):
        counter.add(1)
        key = (entity.partition_key, entity.row_key)
        if key in out:
            differences.note("mismatched", f"{table} {key} came twice")
        out[key] = client.properties(entity)
    return out


def expected_entries(packages, part, projected):
    """Entries of a copy index: by the property `part`, with the properties `projected`."""
    out = {}
    for (section, package), properties in packages.items():
        key = (index_keys.encode(properties[part][1]), index_keys.join(section, package))
        out[key] = {name: properties[name] for name in projected if name in properties}
        out[key]["$SourcePartitionKey"] = ("string_value", section)
        out[key]["$SourceRowKey"] = ("string_value", package)
    return out


def expected_members(packages, part):
    """Members of a list index: {(value, section, package): True}."""
    return {(properties[part][1], *key): True for key, properties in packages.items()}


def read_members(client, index, values, differences):
    """All members out of all pages. The first page of a value is at the row key "", every further one at the
    address the page before names: the encoded last member."""
    names = {index_keys.encode(value): value for value in values}
    members, partition, address, last = {}, None, "", ("", "")

    def end_value():
        if address:
            differences.note("missing", f"{index} {partition}: the page {address!r}")

    for page in client.query(index):
        if page.partition_key != partition:
            end_value()
            partition, address, last = page.partition_key, "", ("", "")
        if page.row_key != address:
            differences.note("mismatched", f"{index} {partition}: page {page.row_key!r}, expected {address!r}")
        properties = client.properties(page)
        for member in json.loads(properties["Members"][1]):
            member = tuple(member)
            # In the order of the bytes, section first; neither is ever empty.
            if [part.encode() for part in member] <= [part.encode() for part in last]:
                differences.note("mismatched", f"{index} {partition}: {member} comes after {last}")
            members[(names.get(partition, partition), *member)] = True
            last = member
        address = properties["NextRowKey"][1] if "NextRowKey" in properties else ""
        if address and address != index_keys.join(*last):
            differences.note("mismatched", f"{index} {partition}: the page after {last} is {address!r}")
    end_value()
    return members
