#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An inter-partition secondary index: docs/patterns/inter-partition-index.md. TARGET may be given, as for first_steps.py."""

from employees import employee, employees, show, show_build, show_entities

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
