#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Index entities beside their entities: docs/patterns/index-entities-same-partition.md. TARGET may be given, as for first_steps.py."""

from employees import employee, employees, show, show_build, show_entities, show_members

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
