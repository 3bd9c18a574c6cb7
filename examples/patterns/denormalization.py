#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Copies of a manager's properties in the departments that name the manager: docs/patterns/denormalization.md. TARGET may be given."""

import collections

from scene import new_tables

from tavola import copies_of, literal_part

DEPARTMENTS = 250


def manager(number, name):
    return {"PartitionKey": "company", "RowKey": number, "Name": name}


def department(number, **more):
    return {"PartitionKey": "company", "RowKey": f"{number:04}", **more}


def say(what, departments):
    names = collections.Counter(one.get("ManagerName", "nobody") for one in departments)
    print(f"   {what}:", ", ".join(f"{name} {count}" for name, count in sorted(names.items())))


def differences(client, rule):
    """Verify the rule, and return how many entities were compared and how many copies differ."""
    operation = client.operation_of(client.send("IndexService/VerifyIndex", name=rule.name).operation).wait()
    report = client.send("IndexService/GetIndexReport", operation_id=operation.id).report
    return report.sources, report.copies


with new_tables("managers", "departments") as (client, managers, departments):
    managers.insert(manager("000007", "Jones"))
    managers.insert(manager("000123", "Smith"))
    departments.load(department(n, Manager="000007", ManagerName="Jones") for n in range(DEPARTMENTS))

    print("by hand: a message with the new name, and a worker that writes it into the departments")
    for message in ("Jones-Brown", "Jones-Lee"):
        managers.merge(manager("000007", message))
    for message in ("Jones-Lee", "Jones-Brown"):  # a queue keeps no order between two workers
        for n in range(DEPARTMENTS):
            departments.merge(department(n, ManagerName=message))
    say("after two messages in the other order", departments.query())
    for n in range(100):
        departments.merge(department(n, ManagerName="Jones-Lee"))
    say("a worker that stops half-way", departments.query())

    print("with a rule")
    copies = copies_of(managers, (literal_part("company"), "Manager"), {"ManagerName": "Name"})
    rule = departments.create_index("managerOfDepartment", copies=copies).wait()
    say("what was there is mended", departments.query())

    written = [managers.merge(manager("000007", "Jones-Miller")), departments.merge(department(0, Manager="000123")),
               departments.merge(department(1, ManagerName="somebody else"))]
    rule.lookup("000007", at_least=written).first()  # a look-up with their tokens waits for all copies
    say("a new name, another manager, a copy written over", departments.query())

    gone = managers.delete("company", "000123")
    rule.lookup("000123", at_least=[gone]).first()
    say("a manager is deleted", departments.query())
    print("   verified: {} compared, {} differ".format(*differences(client, rule)))
    rule.drop()
