# SPDX-License-Identifier: Apache-2.0
"""large_client.py TARGET WHAT WHICH TURNS - entities with photos, that often, by the Python package:

  fill       make the tables
  write one  an entity and its photo in one call
  write two  a blob, and then the entity that names it
  read one   the entity, and the content that it holds
  read two   the entity, and the blob that it names

Prints one line: turns N.
"""

import random
import sys

import tavola

PHOTO_BYTES = 200_000
KEPT = 100  # entities


def employee(turn):
    return {"PartitionKey": "sales", "RowKey": f"{turn % KEPT:04}", "LastName": "Jones"}


class InOneCall:
    def __init__(self, client):
        self.client, self.table = client, client.table("PhotosHeld")

    def write(self, turn, photo):
        self.table.put_with_content(employee(turn), "Photo", photo, action="insert_or_replace")

    def read(self, turn):
        return self.client.get_content(self.table.get("sales", f"{turn % KEPT:04}")["Photo"]).read()


class InTwo:
    def __init__(self, client):
        self.client, self.table = client, client.table("PhotosNamed")

    def write(self, turn, photo):
        name = f"photos/{turn % KEPT:04}"
        self.client.put_blob(name, photo)
        self.table.upsert(employee(turn) | {"Photo": name})

    def read(self, turn):
        return self.client.get_blob(self.table.get("sales", f"{turn % KEPT:04}")["Photo"]).read()


def main():
    target, what, which, turns = sys.argv[1:]
    with tavola.Client(target) as client:
        ways = {"one": InOneCall(client), "two": InTwo(client)}
        if what == "fill":
            client.create_table("PhotosHeld", blob_properties=True)
            client.create_table("PhotosNamed")
        for turn in range(int(turns)):
            # No two photos have a chunk in common, which would be stored once.
            for way in ways.values() if what == "fill" else [ways[which]]:
                if what == "read":
                    way.read(turn)
                else:
                    way.write(turn, random.randbytes(PHOTO_BYTES))
    print("turns", turns)


main()
