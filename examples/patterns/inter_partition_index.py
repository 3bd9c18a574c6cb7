#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An inter-partition secondary index: docs/patterns/inter-partition-index.md. TARGET may be given, as for first_steps.py."""

from employees import employee, employees, person, put, read, show, show_build, show_entities, table_by_hand


def work_off(table, message):
    """The guide's worker: the message has the employee, and the worker writes the copy under the email."""
    put(table, "email_sales", message["Email"], **message)


with table_by_hand("byHand") as table:
    print("by hand: a message for each write, and a worker that writes the copy")
    messages = [{"Number": "000007", "Email": "jones@sales.example", "Phone": phone} for phone in ("10", "11")]
    for message in messages:
        put(table, "empid_sales", "000007", **message)
    for message in reversed(messages):  # two workers, of which the one with the first message is slower
        work_off(table, message)
    print("   the employee's phone:", read(table, "empid_sales", "000007")[0]["Phone"])
    print("   in the copy, with no message left:", read(table, "email_sales", "jones@sales.example")[0]["Phone"])

with employees("employees"):
    # Without an index: the department is not known, so the whole table is read.
    by_email = "Email eq 'jones.7@sales.example'"
    show_entities("EntityService/QueryEntities", {"query": {"table": "employees", "filter": by_email}})

    show_build({
        "name": "employeesByEmail",
        "table": "employees",
        "shape": "INDEX_SHAPE_COPY",
        "place": "INDEX_PLACE_OTHER_PARTITION",
        "partition_key": [{"property": "Email"}],
    })

    show_entities("IndexService/LookupIndex",
                  {"index": "employeesByEmail", "equals": [{"string_value": "jones.7@sales.example"}]})

    # A write is in the index milliseconds later. A caller that must see it sooner passes the token of the write.
    moved = employee("sales", 7)
    moved["properties"]["Email"] = {"string_value": "jones@sales.example"}
    write = show("EntityService/InsertOrReplaceEntity", {"table": "employees", "entity": moved})
    show_entities("IndexService/LookupIndex", {
        "index": "employeesByEmail",
        "equals": [{"string_value": "jones@sales.example"}],
        "freshness": {"at_least": [write.result.consistency_token]},
    })
