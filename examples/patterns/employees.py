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


# ---- the same by hand, as programs do it on a service without indexes: quiet calls ----


@contextlib.contextmanager
def table_by_hand(name):
    """An empty table for index entities that the script keeps itself."""
    call("TableService/CreateTable", {"name": name})
    try:
        yield name
    finally:
        call("TableService/DeleteTable", {"name": name})


def put(table, partition, row, if_match=None, **properties):
    """Insert or replace an entity; with if_match replace it. Returns None, or the reason of the refusal."""
    fields = {"table": table, "entity": person(partition, row, **properties)}
    try:
        if if_match:
            call("EntityService/ReplaceEntity", fields | {"precondition": {"if_match": if_match}})
        else:
            call("EntityService/InsertOrReplaceEntity", fields)
    except grpc.RpcError as error:
        return reason_of(error)[0]
    return None


def put_together(table, *entities):
    """Insert or replace entities of one partition in one batch. Returns None, or the reason of the refusal."""
    try:
        call("EntityService/ExecuteBatch", {"table": table, "operations": [{"insert_or_replace": one} for one in entities]})
    except grpc.RpcError as error:
        return reason_of(error)[0]
    return None


def read(table, partition, row):
    """(the text of each property by name, the ETag) of an entity; of one that is not there ({}, None)."""
    try:
        entity = call("EntityService/GetEntity", {"table": table, "key": {"partition_key": partition, "row_key": row}}).entity
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.NOT_FOUND:
            raise
        return {}, None
    return {name: value.string_value for name, value in entity.properties.items()}, entity.etag
