#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The prepend/append anti-pattern and log data: docs/patterns/prepend-append.md. TARGET may be given."""

import collections

from scene import new_tables
from tavola.keys import merged, padded, spread, spread_over

LINES = [padded(number) for number in range(3200)]

with new_tables("hot", "even") as (_, hot, even):
    print("the hour is the partition: one partition takes every write")
    hot.load({"PartitionKey": "2026-01-31T12", "RowKey": line} for line in LINES)
    shares = collections.Counter(entity["PartitionKey"] for entity in hot.query())
    print("   partitions:", len(shares), "the largest has", max(shares.values()))

    print("16 partitions share the hour")
    even.load({"PartitionKey": spread("2026-01-31T12", line), "RowKey": line} for line in LINES)
    shares = collections.Counter(entity["PartitionKey"] for entity in even.query())
    print("   partitions:", len(shares), "the largest has", max(shares.values()))

    print("read back in order: one query for each partition")
    queries = (even.query(f"PartitionKey eq '{partition}'", select=["RowKey"]) for partition in spread_over("2026-01-31T12"))
    print("   in the order of the row keys:", [entity["RowKey"] for entity in merged(queries)] == LINES)

    print("one entity is found without a search")
    line = even.get(spread("2026-01-31T12", LINES[77]), LINES[77])
    print("  ", *line.key)
