#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An employee leaves the current table and is archived in a blob: docs/steps.md. TARGET may be given.

First the guide's two calls by hand, in either order, by a program that stops between them or is overtaken; then the same as
a step.
"""

import contextlib
import json

from scene import new_tables

import tavola

ADA, EDITH, GRACE = ("sales", "000001"), ("sales", "000002"), ("sales", "000003")


def employee(key, name):
    return {"PartitionKey": key[0], "RowKey": key[1], "Name": name}


def name_of(key):
    return f"archive/{key[0]}/{key[1]}.json"


def put_by_hand(client, key, entity):
    client.put_blob(name_of(key), json.dumps(dict(entity), default=str).encode())


def archived(client, key):
    """The name in the archive; None: it is not there."""
    try:
        return json.loads(client.get_blob(name_of(key)).read())["Name"]
    except tavola.BlobNotFound:
        return None


def say(client, current, who, key):
    found, blob = current.find(*key), archived(client, key)
    print(f"   {who}: {'in the table as ' + found['Name'] if found else 'not in the table'}, "
          f"{'in the archive as ' + blob if blob else 'not in the archive'}")


with new_tables("employed") as (client, current):
    for key in (ADA, EDITH, GRACE):
        with contextlib.suppress(tavola.BlobNotFound):
            client.delete_blob(name_of(key))

    print("two calls by hand, the blob first")
    current.insert(employee(ADA, "Ada"))
    put_by_hand(client, ADA, current.get(*ADA))
    current.merge({"PartitionKey": ADA[0], "RowKey": ADA[1], "Name": "Countess"})  # somebody else
    # Here the program stops. If it went on, the delete would lose the change.
    say(client, current, "Ada", ADA)

    print("two calls by hand, the delete first")
    current.insert(employee(EDITH, "Edith"))
    entity = current.get(*EDITH)
    current.delete(*EDITH)
    # Here the program stops, and with it the only copy.
    say(client, current, "Edith", EDITH)

    print("put_blob")
    current.insert(employee(GRACE, "Grace"))
    leave = client.transaction(f"leave-{tavola.transaction.new_id()}")
    leave.put_blob(name_of(GRACE), table=current, key=GRACE, delete_entity=True, content_type="application/json")
    leave.submit().wait(timeout=30)
    leave.submit().wait(timeout=30)
    say(client, current, "Grace", GRACE)
    print(f"   receipts: {sum(attempt.HasField('receipt') for attempt in leave.message.timeline)}")
