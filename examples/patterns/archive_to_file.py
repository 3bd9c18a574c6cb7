#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An employee leaves the current table and is archived in a file: docs/steps.md. TARGET may be given.

The server and its workers need TAVOLA_FILE_ROOT. First the guide's worker by hand, which stops between its two parts and
begins again; then the same as a step.
"""

import json
import pathlib
import tempfile

from scene import new_tables

import tavola

ADA, GRACE = ("sales", "000001"), ("sales", "000002")


def employee(key, name):
    return {"PartitionKey": key[0], "RowKey": key[1], "Name": name}


def archive_by_hand(current, key, file, stops=False):
    """Append to the file, then delete the entity. A message may come twice."""
    found = current.find(*key)
    if not found:
        return
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(dict(found), default=str) + "\n")
    if not stops:
        current.delete(*key)


def say(what, current, key):
    print(f"   {what}: {'in the table' if current.find(*key) else 'not in the table'}")


with new_tables("employed") as (client, current), tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "archive.jsonl")
    print("two parts by hand")
    current.insert(employee(ADA, "Ada"))
    archive_by_hand(current, ADA, file, stops=True)
    archive_by_hand(current, ADA, file)
    say("Ada", current, ADA)
    print(f"   lines in the file: {len(file.read_text(encoding='utf-8').splitlines())}")

    print("append_file")
    current.insert(employee(GRACE, "Grace"))
    leave = client.transaction(f"leave-{tavola.transaction.new_id()}")
    leave.append_file("archive/employees.jsonl", table=current, key=GRACE, delete_entity=True)
    leave.submit().wait(timeout=30)
    leave.submit().wait(timeout=30)
    say("Grace", current, GRACE)
    receipts = [attempt.receipt for attempt in leave.message.timeline if attempt.HasField("receipt")]
    print(f"   receipts: {len(receipts)}, the first at byte {receipts[0].offset}")
