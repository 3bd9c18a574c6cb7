#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A log tail: docs/patterns/log-tail.md. TARGET may be given."""

import datetime
import itertools

from scene import new_tables, tavola
from tavola.keys import log_tail, log_tail_time

START = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)
EXPENSES = [{"PartitionKey": "jones", "Amount": number} for number in range(1000)]


def newest(expenses):
    """The ten entities with the smallest row keys: one page of ten rows."""
    page = next(expenses.query("PartitionKey eq 'jones'", page_size=10).pages())
    print("   the newest ten:", *(entity["Amount"] for entity in page.entities))
    print("   rows read:", page.stats.rows_examined)
    return page.entities


with new_tables("byTick", "byTail") as (_, by_tick, by_tail):
    print("inverted ticks alone: two expenses of one tick")
    tick = log_tail(START, unique="")
    by_tick.insert({**EXPENSES[0], "RowKey": tick})
    try:
        by_tick.insert({**EXPENSES[1], "RowKey": tick})
    except tavola.EntityAlreadyExists as error:
        print("   the second one:", error.reason)

    print("inverted ticks and what makes them unique: an expense in each second")
    times = (START + datetime.timedelta(seconds=number) for number in itertools.count())
    by_tail.load({**expense, "RowKey": log_tail(when, f"{expense['Amount']:04}")} for expense, when in zip(EXPENSES, times))
    found = newest(by_tail)
    print("   written at", log_tail_time(found[0]["RowKey"]).isoformat())

    print("the service reads backwards too: here the oldest ten, with ascending keys the newest")
    page = next(by_tail.query("PartitionKey eq 'jones'", page_size=10, descending=True).pages())
    print("   the oldest ten:", *(entity["Amount"] for entity in page.entities))
    print("   rows read:", page.stats.rows_examined)
