#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Index entities in partitions of their own: docs/patterns/index-entities-other-partition.md. TARGET may be given, as for
first_steps.py."""

from employees import employees, put, read, show, show_build, show_entities, show_members, table_by_hand


def add_by_hand(table, name, number):
    """The guide's worker: it reads the list of the name and adds what the message says."""
    numbers, _ = read(table, name, "")
    put(table, name, "", Numbers=",".join(filter(None, [numbers.get("Numbers"), number])))


with table_by_hand("byHand") as table:
    print("by hand: a message for each employee, and a worker that adds the number to the list")
    for message in ("000002", "000007", "000007"):  # a queue delivers at least once
        add_by_hand(table, "Jones", message)
    print("   after a message that came twice:", read(table, "Jones", "")[0]["Numbers"])
    seen, _ = read(table, "Jones", "")  # two workers read the list
    for message in ("000012", "000017"):
        put(table, "Jones", "", Numbers=seen["Numbers"] + "," + message)
    print("   after two workers at once:", read(table, "Jones", "")[0]["Numbers"])

with employees("employees"):
    # Without an index: the whole table is read.
    show_entities("EntityService/QueryEntities", {"query": {"table": "employees", "filter": "LastName eq 'Jones'"}})

    show_build({
        "name": "employeesByName",
        "table": "employees",
        "shape": "INDEX_SHAPE_LIST",
        "place": "INDEX_PLACE_OTHER_PARTITION",
        "partition_key": [{"property": "LastName"}],
    })

    show_entities("IndexService/LookupIndex", {"index": "employeesByName", "equals": [{"string_value": "Jones"}]})

    # The list as it is stored: entities of the index's own table, without reading any employee.
    lists = {"query": {"table": "employeesByName", "filter": "PartitionKey eq 'Jones'"}}
    show_members(lists)

    # An employee who leaves is off the list milliseconds later; a look-up that must see it at once passes the token.
    gone = {"partition_key": "finance", "row_key": "000002"}
    write = show("EntityService/DeleteEntity", {"table": "employees", "key": gone, "precondition": {"if_match": "*"}})
    show_entities("IndexService/LookupIndex", {
        "index": "employeesByName",
        "equals": [{"string_value": "Jones"}],
        "freshness": {"at_least": [write.result.consistency_token]},
    })
    show_members(lists)
