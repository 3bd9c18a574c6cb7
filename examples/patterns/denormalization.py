#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Copies of a manager's properties in the departments that name the manager: docs/patterns/denormalization.md. TARGET may be given."""

import collections

from scene import new_tables
from tavola.denormalization import RULES_TABLE, CopyRule, Literal

DEPARTMENTS = 250


class Stopped(Exception):
    """The program is stopped at this place."""


def manager(number, name, **more):
    return {"PartitionKey": "company", "RowKey": number, "Name": name, **more}


def department(number, **more):
    return {"PartitionKey": "company", "RowKey": f"{number:04}", **more}


def say(what, departments):
    names = collections.Counter(one.get("ManagerName", "nobody") for one in departments.query())
    print(f"   {what}:", ", ".join(f"{name} {count}" for name, count in sorted(names.items())))


def stop_at(step):
    def on_step(passed):
        if passed == step:
            raise Stopped

    return on_step


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
    say("after two messages in the other order", departments)
    for n in range(100):
        departments.merge(department(n, ManagerName="Jones-Lee"))
    say("a worker that stops half-way", departments)

    print("with a rule")
    CopyRule.create(client, "managerOfDepartment", source="managers", dependents="departments", named_by=(Literal("company"), "Manager"),
                    copies={"ManagerName": "Name"})
    rule = CopyRule(client, "managerOfDepartment")
    rule.catch_up()
    say("what was there is mended", departments)

    managers.merge(manager("000007", "Jones-Miller"))
    departments.merge(department(0, Manager="000123"))
    departments.merge(department(1, ManagerName="somebody else"))
    rule.on_step = stop_at("moved on")
    try:
        rule.catch_up()
    except Stopped:
        status = rule.status()
        print(f"   a program that stops half-way: {status.waiting} manager waits, {status.visited} of the departments are done")
    rule = CopyRule(client, "managerOfDepartment")
    rule.catch_up()
    say("another program goes on", departments)

    managers.delete("company", "000123")
    rule.catch_up()
    say("a manager is deleted", departments)
    report = rule.verify()
    print(f"   verified: {report.compared} compared, {len(report.differences)} differ")
    rule.drop()
    client.table(RULES_TABLE).drop()
