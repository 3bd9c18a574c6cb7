#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Large entities: docs/patterns/large-entities.md. TARGET may be given.

First the guide's two writes by hand, a blob and the entity that names it, by programs that stop between them and beside a
reader; then the same in one call.
"""

from scene import new_tables, tavola

ADA, GRACE = ("sales", "000001"), ("sales", "000002")
PHOTOS = "example/photos/"  # of the blobs by hand


def employee(key, **properties):
    return tavola.Entity({"PartitionKey": key[0], "RowKey": key[1], **properties})


def photo(year):
    """Larger than a property may be."""
    return f"of {year}".encode() + bytes(200_000)


def shown(content):
    return content[:7].decode()


def photos_of_nobody(client, table):
    known = {one["Photo"] for one in table.query()}
    return sum(found.name not in known for found in client.blobs(PHOTOS))


def say(what, client, table):
    print(f"   {what}: employees {table.count()}, photos of nobody {photos_of_nobody(client, table)}")


def clear(client):
    for found in client.blobs(PHOTOS):
        client.delete_blob(found.name)


def by_hand(client, table):
    name = PHOTOS + "/".join(ADA)
    client.put_blob(name, photo(2019))
    # Here a program stops.
    say("a program stops between the writes", client, table)

    table.insert(employee(ADA, Taken="of 2019", Photo=name))
    client.put_blob(name, photo(2026))  # a change: the photo ...
    seen = table.get(*ADA)
    content = client.get_blob(seen["Photo"]).read()
    table.merge(employee(ADA, Taken="of 2026"))  # ... and then the employee
    print(f"   a reader beside a change: the entity says {seen['Taken']}, the photo is {shown(content)}")

    table.delete(*ADA)
    # Here a program stops.
    say("a program stops in a delete", client, table)


def in_one_call(client, table):
    ada = employee(ADA, Taken="of 2019")
    table.put_with_content(ada, "Photo", photo(2019), content_type="image/png")
    try:
        table.put_with_content(employee(ADA, Taken="of 2020"), "Photo", photo(2020))
    except tavola.EntityAlreadyExists:
        seen = table.get(*ADA)
        print(f"   a write is refused: the entity says {seen['Taken']}, the photo is {shown(client.get_content(seen['Photo']).read())}")

    ada["Taken"] = "of 2026"
    table.put_with_content(ada, "Photo", photo(2026), action="replace")
    print(f"   a reader beside a change: the entity says {seen['Taken']}, the photo is {shown(client.get_content(seen['Photo']).read())}")
    seen = table.get(*ADA)
    print(f"   a reader behind it: the entity says {seen['Taken']}, the photo is {shown(client.get_content(seen['Photo']).read())}")

    contents = [client.put_content(photo(year)) for year in (2027, 2028)]
    with table.batch() as batch:
        batch.merge(employee(ADA, Taken="of 2027", Photo=contents[0].reference), if_match=seen.etag)
        batch.insert(employee(GRACE, Taken="of 2028", Photo=contents[1].reference))
    print("   two in one batch:", ", ".join(shown(client.get_content(one["Photo"]).read()) for one in table.query()))


with new_tables("photographed", blob_properties=True) as (opened, photographed):
    clear(opened)
    print("by hand: the photo is put, then the employee is written")
    by_hand(opened, photographed)
    clear(opened)
    print("in one call")
    in_one_call(opened, photographed)
