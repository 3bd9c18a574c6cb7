#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An eventually consistent transaction: docs/patterns/eventually-consistent-transaction.md. TARGET may be given."""

from scene import new_tables

KEY = ("sales", "000007")


def employed(since):
    return {"PartitionKey": "sales", "RowKey": "000007", "Name": "Jones", "Since": since}


def work_off(current, archive):
    """The guide's worker: read, insert or replace in the archive, delete if it exists. A message may come twice."""
    found = current.find(*KEY)
    if found:
        archive.upsert(found)
        current.delete(*KEY)


def say(what, current, archive):
    states = ((table, table.find(*KEY)) for table in (current, archive))
    print(f"   {what}:", ", ".join(f"{table.name} {found['Since'] if found else 'nobody'}" for table, found in states))


with new_tables("current", "archive") as (client, current, archive):
    print("two steps by hand")
    current.insert(employed("2019"))
    work_off(current, archive)
    say("moved", current, archive)
    current.insert(employed("2026"))
    say("employed again", current, archive)
    work_off(current, archive)
    say("the message comes a second time", current, archive)

    print("SubmitTransaction")
    current.upsert(employed("2019"))
    archive.delete(*KEY)
    leave = client.transaction("jones-leaves-in-2025")
    leave.move(current, KEY, archive)
    leave.submit().wait(timeout=30)
    say("moved", current, archive)
    current.insert(employed("2026"))
    say("employed again", current, archive)
    print("   submitted a second time:", leave.submit().wait(timeout=30).state)
    say("afterwards", current, archive)
