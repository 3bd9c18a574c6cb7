# SPDX-License-Identifier: Apache-2.0
"""list_client.py TARGET WHAT MEMBERS TURNS - work on a list of that many members, that often, by the Python package:

  fill blob|TABLE    put the list, of keys 0000000 ... / make a table with a list index, and entities that are its members
  add blob|TABLE     one more member: an entity and the list that it is on
  read blob|TABLE    all keys of the list

Prints one line: turns N.
"""

import json
import sys

import tavola

NAME = "Jones"


def key(number):
    return f"{number:07}"


def employee(number):
    return {"PartitionKey": "sales", "RowKey": key(number), "LastName": NAME}


class InBlob:
    def __init__(self, client, members):
        self.client, self.members = client, members
        self.table, self.blob = client.table("ListedByHand"), f"lists/{members}"

    def fill(self):
        self.client.put_blob(self.blob, "".join(map(key, range(self.members))).encode())

    def read(self):
        text = self.client.get_blob(self.blob).read().decode()
        return [text[at:at + 7] for at in range(0, len(text), 7)]

    def add(self, turn):
        """The list has as many members before each turn."""
        reader = self.client.get_blob(self.blob)
        text = reader.read()
        more = key(self.members + turn).encode()
        self.client.put_blob(self.blob, text[:-7] + more, if_match=reader.blob.etag)
        self.table.upsert(employee(self.members + turn))


class InIndex:
    def __init__(self, client, members, table):
        self.client, self.members, self.is_here = client, members, table.startswith("Here")
        self.table, self.index = client.table(table), client.table(table + "ByName")
        self.filter = f"PartitionKey eq '{'sales' if self.is_here else NAME}'"

    def fill(self):
        """Both indexes are written with their entities, as the list in the blob is."""
        table, name = self.client.create_table(self.table.name), self.index.name
        if self.is_here:
            table.create_index(name, "PartitionKey", row_key=["LastName"], shape="list", place="same_partition").wait()
        else:
            table.create_index(name, "LastName", shape="list", place="other_partition", consistency="strong").wait()
        table.load(map(employee, range(self.members)))

    def read(self):
        return [member for entity in self.index.query(self.filter) for member in json.loads(entity["Members"])]

    def add(self, turn):
        self.table.upsert(employee(self.members + turn))


def main():
    target, what, which, members, turns = sys.argv[1:]
    members, turns = int(members), int(turns)
    with tavola.Client(target) as client:
        on = InBlob(client, members) if which == "blob" else InIndex(client, members, which)
        if what == "fill":
            on.fill()
        for turn in range(turns):
            if what == "add":
                on.add(turn)
            elif (found := len(on.read())) < members:
                raise SystemExit(f"{found} of {members} members")
    print("turns", turns)


main()
