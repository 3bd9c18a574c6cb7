#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""High-volume delete: docs/patterns/high-volume-delete.md. TARGET may be given."""

import datetime
import itertools

from scene import new_tables, tavola
from tavola.keys import period_table

JANUARY = datetime.datetime(2026, 1, 31, tzinfo=datetime.timezone.utc)


def attempts(month, count):
    return ({"PartitionKey": f"user{number % 7}", "RowKey": f"{month}{number:05}"} for number in range(count))


def delete_by_batches(table):
    """The keys are read, and deleted a hundred at a time in each partition. Returns the number of calls."""
    calls = 1
    for partition, entities in itertools.groupby(table.query(), key=lambda entity: entity["PartitionKey"]):
        keys = [entity.key for entity in entities]
        for first in range(0, len(keys), 100):
            with table.batch() as batch:
                for key in keys[first:first + 100]:
                    batch.delete(*key)
            calls += 1
    return calls


with new_tables("logins", "logins202510", "logins202511", "claims") as (_, all_of_them, october, november, claims):
    print("one table, batches of a hundred")
    all_of_them.load(attempts("202510", 5000))
    calls = delete_by_batches(all_of_them)
    all_of_them.insert({"PartitionKey": "user0", "RowKey": "20251099999"})
    print(f"   {calls} calls; a writer that is late leaves {all_of_them.count()} entity for ever")

    print("one table, DeleteRange")
    all_of_them.load(attempts("202510", 5000))
    operation = all_of_them.delete_range("RowKey lt '202511'").wait(timeout=60)
    print(f"   1 call, {operation.state}: {all_of_them.count()} left")

    print("a table for each month")
    october.load(attempts("202510", 5000))
    november.load(attempts("202511", 10))
    october.drop()
    try:
        october.upsert({"PartitionKey": "user0", "RowKey": "20251099999"})
    except tavola.TableNotFound as error:
        print(f"   1 call; a writer that is late: {error.reason}")
    print(f"   November has {november.count()}")

    print("tables of months that the workers make ahead and drop when they are past")
    periods = claims.update(periods={"unit": "month", "ahead": 1, "kept": 12}).periods
    print(f"   a rule of the table: {periods.ahead} ahead, {periods.kept} kept")
    print("   a claim of January 2026 goes to", period_table("claims", JANUARY))
    claims.update(periods=None)

    print("entities that expire by themselves: no call at all, see docs/writes.md")
    october.client.create_table(october.name)
