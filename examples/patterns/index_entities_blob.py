#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Index entities, the list in a blob: docs/patterns/index-entities-blob.md. TARGET may be given."""

from scene import new_tables, tavola

LIST = "byName/sales/Jones"


class Killed(Exception):
    """The program ends here."""


def employee(number, name="Jones"):
    return {"PartitionKey": "sales", "RowKey": number, "LastName": name}


def listed(client):
    """(the numbers, the ETag) of the list; nobody has put one yet: (set(), "")."""
    try:
        reader = client.get_blob(LIST)
        return set(reader.read().decode().split()), reader.blob.etag
    except tavola.BlobNotFound:
        return set(), ""


def text_of(numbers):
    return "".join(number + "\n" for number in sorted(numbers)).encode()


def change(client, changed):
    """Replace the list only if it is the one that was read; else begin again. Prints how many attempts it took, if several."""
    attempts = 0
    while True:
        attempts += 1
        numbers, etag = listed(client)
        condition = {"if_match": etag} if etag else {"if_absent": True}
        try:
            client.put_blob(LIST, text_of(changed(numbers, attempts)), **condition)
        except (tavola.ConditionNotMet, tavola.BlobAlreadyExists):
            continue
        if attempts > 1:
            print("   attempts:", attempts)
        return


def hire(client, table, number, killed=False):
    """The list first, so that it never lacks an employee; what it has too much, look_up leaves out."""
    change(client, lambda numbers, _: numbers | {number})
    if killed:
        raise Killed
    table.insert(employee(number))


def look_up(client, table):
    numbers, _ = listed(client)
    found = table.get_many([("sales", number) for number in sorted(numbers)])
    return [one["RowKey"] for one in found if one and one["LastName"] == "Jones"]


with new_tables("employees") as (client, table):
    print("by hand: the list is read, changed and put")
    table.insert(employee("000002"))
    client.put_blob(LIST, text_of({"000002"}))
    seen, _ = listed(client)  # two callers read the list
    for number in ("000007", "000012"):
        table.insert(employee(number))
        client.put_blob(LIST, text_of(seen | {number}))
    print("   after two callers at once:", *sorted(listed(client)[0]))
    table.insert(employee("000017"))  # the program dies before it puts the list
    print("   employees:", *[one["RowKey"] for one in table.query()])

    print("with the ETag of the list, and the list before the employee")

    def in_between(numbers, attempt):
        """Another caller adds a number between the read and the put of the first attempt."""
        if attempt == 1:
            change(client, lambda others, _: others | {"000007"})
        return numbers | {"000017"}

    change(client, in_between)
    print("   after two callers at once:", *sorted(listed(client)[0]))
    try:
        hire(client, table, "000022", killed=True)
    except Killed:
        print("   after a program that died in between:", *sorted(listed(client)[0]))
    print("   looked up:", *look_up(client, table))

    print("a list index")
    by_name = table.create_index("employeesByName", "PartitionKey", row_key=["LastName"], shape="list", place="same_partition").wait()
    print("   looked up:", *[one["RowKey"] for one in by_name.lookup("sales", "Jones")])
    client.delete_blob(LIST)
