# SPDX-License-Identifier: Apache-2.0
"""What the examples of indexes have in common: a table of employees, and calls that are printed as they are made."""

import contextlib
import json
import pathlib
import sys

import grpc

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from calls import call, person, reason_of  # noqa: E402

DEPARTMENTS = ("finance", "marketing", "research", "sales")
LAST_NAMES = ("Brown", "Garcia", "Jones", "Smith", "Yilmaz")


def employee(department, number):
    """The entity of an employee: every fifth one has the same last name, and each has an email of its own."""
    name = LAST_NAMES[number % len(LAST_NAMES)]
    return person(department, f"{number:06}", LastName=name, Email=f"{name.lower()}.{number}@{department}.example")


@contextlib.contextmanager
def employees(table):
    """A table with 250 employees in each of four departments: PartitionKey is the department, RowKey the number."""
    call("TableService/CreateTable", {"name": table})
    try:
        stream = ({"table": table, "entities": [employee(department, number) for number in range(250)]}
                  for department in DEPARTMENTS)
        list(call("EntityService/ImportEntities", stream))
        yield
    finally:
        call("TableService/DeleteTable", {"name": table})


def show(path, fields):
    """Print a call, make it, and return its reply; if it is refused, print the refusal."""
    print(path, json.dumps(fields))
    try:
        return call(path, fields)
    except grpc.RpcError as error:
        reason, metadata = reason_of(error)
        print("   refused:", reason, json.dumps(metadata, sort_keys=True))
        return None


def show_entities(path, fields):
    """Print a call, the keys of the entities that it finds, and the number of rows that it has read."""
    reply = show(path, fields)
    keys = [f"{entity.partition_key}/{entity.row_key}" for entity in reply.entities]
    print(f"   {reply.stats.rows_examined} rows examined, found {len(keys)}:", *keys[:3], *["..."] * (len(keys) > 3))
    return reply


def show_members(fields):
    """Print a query of a list index's own table, and the members of the lists that it finds."""
    for entity in show("EntityService/QueryEntities", fields).entities:
        members = json.loads(entity.properties["Members"].string_value)
        print(f"   {entity.partition_key}/{entity.row_key} has {len(members)} members:", *members[:2], "...")


def show_build(declaration):
    """Create an index and wait until it is ready."""
    build = show("IndexService/CreateIndex", {"index": declaration}).status.build
    call("OperationService/WaitOperation", {"operation_id": build.operation_id})
