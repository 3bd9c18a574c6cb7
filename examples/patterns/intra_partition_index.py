#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An intra-partition secondary index: docs/patterns/intra-partition-index.md. TARGET may be given, as for first_steps.py."""

from employees import employee, employees, person, put_together, read, show, show_build, show_entities, table_by_hand


def put_by_hand(table, number, email):
    """The employee, and a copy under the email, in one batch: the guide's solution."""
    return put_together(table, person("sales", f"empid_{number}", Email=email), person("sales", f"email_{email}", Number=number))


def number_by_hand(table, email):
    return read(table, "sales", f"email_{email}")[0].get("Number")


with table_by_hand("byHand") as table:
    print("by hand: the employee and a copy under the email, in one batch")
    put_by_hand(table, "000007", "jones.7@sales.example")
    put_by_hand(table, "000007", "jones@sales.example")
    print("   after a change, by the new email:", number_by_hand(table, "jones@sales.example"))
    print("   by the email that 000007 has no more:", number_by_hand(table, "jones.7@sales.example"))
    put_by_hand(table, "000012", "jones@sales.example")
    print("   000012 has the same email; by it:", number_by_hand(table, "jones@sales.example"))
    print("   an email with a slash:", put_by_hand(table, "000017", "jones/smith@sales.example"))

with employees("employees"):
    # Without an index: the whole department is read.
    by_email = "PartitionKey eq 'sales' and Email eq 'jones.7@sales.example'"
    show_entities("EntityService/QueryEntities", {"query": {"table": "employees", "filter": by_email}})

    show_build({
        "name": "employeesByEmail",
        "table": "employees",
        "shape": "INDEX_SHAPE_COPY",
        "place": "INDEX_PLACE_SAME_PARTITION",
        "partition_key": [{"property": "PartitionKey"}],
        "row_key": [{"property": "Email"}],
    })

    look_up = {"index": "employeesByEmail", "equals": [{"string_value": "sales"}, {"string_value": "jones.7@sales.example"}]}
    show_entities("IndexService/LookupIndex", look_up)

    # A write and its entry are one commit: the look-up that follows sees both, in whatever state the workers are.
    moved = employee("sales", 7)
    moved["properties"]["Email"] = {"string_value": "jones@sales.example"}
    show("EntityService/InsertOrReplaceEntity", {"table": "employees", "entity": moved})
    show_entities("IndexService/LookupIndex", look_up)

    # The entries are in the order of the emails, so a range of them is read in that order.
    show_entities("IndexService/LookupIndex", {
        "index": "employeesByEmail",
        "equals": [{"string_value": "sales"}],
        "range": {"at_least": {"string_value": "jones"}, "below": {"string_value": "jones.2"}},
    })
