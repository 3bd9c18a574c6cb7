#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Index entities beside their entities: docs/patterns/index-entities-same-partition.md. TARGET may be given, as for first_steps.py."""

from employees import (employees, person, put, put_together, read, show, show_build, show_entities, show_members,
                       table_by_hand)

MAX_TEXT = 32768  # UTF-16 units of one property


def with_number(numbers, number):
    """The list of an index entity with one number more."""
    return ",".join(filter(None, [numbers, number]))


with table_by_hand("byHand") as table:
    print("by hand: one entity for each last name, with the list of the numbers")
    put(table, "sales", "Jones", Numbers="000002")
    seen, etag = read(table, "sales", "Jones")  # two callers read the list, and each adds a number
    for number in ("000007", "000012"):
        put_together(table, person("sales", number, LastName="Jones"),
                     person("sales", "Jones", Numbers=with_number(seen["Numbers"], number)))
    print("   three employees, the list has:", read(table, "sales", "Jones")[0]["Numbers"])
    put(table, "sales", "Jones", if_match="*", Numbers="000002")
    _, etag = read(table, "sales", "Jones")
    for number in ("000007", "000012"):
        print(f"   with the ETag that both have read, {number}:", put(table, "sales", "Jones", if_match=etag,
                                                                     Numbers=with_number("000002", number)) or "written")
    numbers = ",".join(f"{number:06}" for number in range(MAX_TEXT // 7 + 1))
    print("   employee", numbers.count(",") + 1, "of one name:", put(table, "sales", "Jones", Numbers=numbers))

with employees("employees"):
    # Without an index: the whole department is read.
    by_name = "PartitionKey eq 'sales' and LastName eq 'Jones'"
    show_entities("EntityService/QueryEntities", {"query": {"table": "employees", "filter": by_name}})

    show_build({
        "name": "employeesByName",
        "table": "employees",
        "shape": "INDEX_SHAPE_LIST",
        "place": "INDEX_PLACE_SAME_PARTITION",
        "partition_key": [{"property": "PartitionKey"}],
        "row_key": [{"property": "LastName"}],
    })

    look_up = {"index": "employeesByName", "equals": [{"string_value": "sales"}, {"string_value": "Jones"}]}
    show_entities("IndexService/LookupIndex", look_up)

    # The list as it is stored for this last name: an entity of the index's own table, without reading any employee.
    lists = "PartitionKey eq 'sales' and RowKey ge 'Jones' and RowKey lt 'Jonet'"
    show_members({"query": {"table": "employeesByName", "filter": lists}})

    # An employee who leaves is off the list in the same commit, without any worker.
    show("EntityService/ExecuteBatch", {
        "table": "employees",
        "operations": [{"delete": {"partition_key": "sales", "row_key": "000002"}, "precondition": {"if_match": "*"}}],
    })
    show_members({"query": {"table": "employeesByName", "filter": lists}})
