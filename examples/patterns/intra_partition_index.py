#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An intra-partition secondary index: docs/patterns/intra-partition-index.md. TARGET may be given, as for first_steps.py."""

from employees import employee, employees, show, show_build, show_entities

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
