#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A unique index: docs/patterns/unique-index.md. TARGET may be given, as for first_steps.py."""

from employees import call, employee, employees, put, show, show_build, show_entities


def with_email(number, email):
    entity = employee("sales", number)
    entity["properties"]["Email"] = {"string_value": email}
    return entity


def owners(email):
    found = call("EntityService/QueryEntities", {"query": {"table": "employees", "filter": f"Email eq '{email}'"}})
    return [f"{one.partition_key}/{one.row_key}" for one in found.entities]


with employees("employees"):
    print("by hand: each caller looks whether the email is free, and writes")
    free = [not owners("new@example"), not owners("new@example")]  # two callers look, then both write
    for department, is_free in zip(("sales", "research"), free):
        if is_free:
            put("employees", department, "009999", LastName="Yilmaz", Email="new@example")
    print("   owners of one email:", *owners("new@example"))
    for department in ("sales", "research"):
        key = {"partition_key": department, "row_key": "009999"}
        call("EntityService/DeleteEntity", {"table": "employees", "key": key, "precondition": {"if_match": "*"}})

    show_build({
        "name": "emails",
        "table": "employees",
        "shape": "INDEX_SHAPE_COPY",
        "place": "INDEX_PLACE_OTHER_PARTITION",
        "partition_key": [{"property": "Email"}],
        "unique": True,
        "on_violation": "ON_VIOLATION_REJECT",
    })

    # The email has an owner, in another department: the write is refused, and nothing is stored.
    show("EntityService/InsertEntity", {"table": "employees", "entity": with_email(9999, "smith.3@research.example")})

    # A value without an owner is free again at once.
    owner = {"partition_key": "research", "row_key": "000003"}
    show("EntityService/DeleteEntity", {"table": "employees", "key": owner, "precondition": {"if_match": "*"}})
    show("EntityService/InsertEntity", {"table": "employees", "entity": with_email(9999, "smith.3@research.example")})

    # Two employees of one department swap their emails in one batch.
    swap = show("EntityService/ExecuteBatch", {
        "table": "employees",
        "operations": [
            {"insert_or_replace": with_email(7, "smith.3@sales.example")},
            {"insert_or_replace": with_email(3, "jones.7@sales.example")},
        ],
    })
    show_entities("IndexService/LookupIndex", {
        "index": "emails",
        "equals": [{"string_value": "smith.3@sales.example"}],
        "freshness": {"at_least": [swap.results[0].consistency_token]},
    })
