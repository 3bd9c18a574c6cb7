#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Wide entities: docs/patterns/wide-entities.md. TARGET may be given.

A year of a machine, a property for each hour. First spread by hand over entities of 250 properties, by the guide, beside a
writer; then in one wide entity.
"""

from scene import new_tables, tavola

HOURS, IN_ROW = 8760, 250  # of a year; of one ordinary entity, which has at most 252
EARLY, LATE = "H0005", "H8700"
PLANNED = 2  # hours of maintenance that a year has, at most


def hour(number):
    return f"H{number:04}"


def row_of(name):
    return f"2026_{int(name[1:]) // IN_ROW:02}"


def by_hand(table):
    """A year of entities m7/2026_00, m7/2026_01, ..."""
    for begin in range(0, HOURS, IN_ROW):
        names = [hour(number) for number in range(begin, min(begin + IN_ROW, HOURS))]
        table.insert({"PartitionKey": "m7", "RowKey": row_of(names[0]), **{name: "runs" for name in names}})


def year_by_hand(table, between=lambda: None):
    """The entities of the year, read by the two calls that the replies' size would need."""
    last = row_of(hour(HOURS // 2))
    found = list(table.query(f"PartitionKey eq 'm7' and RowKey ge '2026_' and RowKey lt '{last}'"))
    between()
    return found + list(table.query(f"PartitionKey eq 'm7' and RowKey ge '{last}' and RowKey lt '2026`'"))


def stops(entities):
    return sum(value == "stops" for entity in entities for value in entity.values())


def set_by_hand(table, **hours):
    with table.batch() as batch:
        for name, value in hours.items():
            batch.merge({"PartitionKey": "m7", "RowKey": row_of(name), name: value})


def year(**hours):
    return tavola.Entity({"PartitionKey": "m7", "RowKey": "2026", **hours})


with new_tables("hoursByHand") as (client, table):
    print(f"by hand: an entity for each {IN_ROW} hours")
    by_hand(table)
    set_by_hand(table, **{LATE: "stops"})

    def move():
        """The stop is moved to another hour of the year, in one batch."""
        set_by_hand(table, **{EARLY: "stops", LATE: "runs"})

    print("   stops:", stops(year_by_hand(table)), "- read beside a batch that moves it:", stops(year_by_hand(table, move)))
    read = [year_by_hand(table) for _ in range(2)]  # two planners, who may have one stop more
    for found, name in zip(read, ("H4000", "H6000")):
        entity = next(one for one in found if one["RowKey"] == row_of(name))
        if stops(found) < PLANNED:
            entity[name] = "stops"
            table.replace(entity)  # if it has its ETag still
    print(f"   stops after two planners who allow {PLANNED}: {stops(year_by_hand(table))}")

with new_tables("hours", wide_entities=True) as (client, table):
    print("a wide entity")
    table.insert(year(**{hour(number): "runs" for number in range(HOURS)} | {LATE: "stops"}))
    read = [table.get("m7", "2026") for _ in range(2)]
    print("   properties:", len(read[0]) - 2, "- stops:", stops(read[:1]))
    for found, name in zip(read, ("H4000", "H6000")):
        try:
            if stops([found]) < PLANNED:
                table.merge(year(**{name: "stops"}), if_match=found.etag)
        except tavola.ConditionNotMet:
            print("   the second planner reads again")
    print(f"   stops after two planners who allow {PLANNED}: {stops([table.get('m7', '2026')])}")
    page = next(table.query(f"PartitionKey eq 'm7' and {LATE} eq 'stops'", select=[EARLY, LATE]).pages())
    print("   found by a property:", page.entities[0]["RowKey"], page.entities[0][EARLY], page.entities[0][LATE])
