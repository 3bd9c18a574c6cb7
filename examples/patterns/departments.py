#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The design guide's departments and employees as one application: each question that it asks, answered by every design that can, with
what each answer reads. docs/patterns.md; TARGET may be given.

One partition for each department, as in the guide: the department's own entity, with a copy of its manager, its employees, their reviews
under compound keys, and expenses as a log tail.
"""

import datetime

from scene import new_tables
from tavola.keys import compound, log_tail, padded, starts_with

DEPARTMENTS = ("finance", "marketing", "research", "sales")
LAST_NAMES = ("Brown", "Garcia", "Jones", "Smith", "Yilmaz")
EMPLOYEES, YEARS, CLAIMS = 100, 5, 50
START = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)


def number_of(number):
    return compound("employee", padded(number, 6))


def employee(department, number):
    name = LAST_NAMES[number % len(LAST_NAMES)]
    return {"PartitionKey": department, "RowKey": number_of(number), "LastName": name,
            "Email": f"{name.lower()}.{number}@{department}.example"}


def company():
    """All entities of the company, of four kinds that share a table; the beginning of a RowKey tells the kind."""
    for department in DEPARTMENTS:
        manager = employee(department, 7)
        yield {"PartitionKey": department, "RowKey": "department", "Manager": "000007", "ManagerEmail": manager["Email"]}
        for number in range(EMPLOYEES):
            yield employee(department, number)
            for year in range(2026 - YEARS, 2026):
                yield {"PartitionKey": department, "RowKey": compound("review", padded(number, 6), str(year)), "Rating": (number + year) % 5}
        for claim in range(CLAIMS):
            tail = log_tail(START + datetime.timedelta(minutes=claim), padded(claim, 4))
            yield {"PartitionKey": department, "RowKey": compound("claim", tail), "Amount": claim}


def ask(design, pages):
    """Ask, and print what the answer has read."""
    seen = list(pages.pages())
    found = [entity for page in seen for entity in page.entities]
    print(f"   {design:44} {seen[0].stats.access_path:14} {sum(page.stats.rows_examined for page in seen):6} {len(found):6}")
    return found


def in_department(text, department="sales"):
    return f"PartitionKey eq '{department}' and {text}"


with new_tables("company", "archive") as (client, table, archive):
    table.load(company())
    email, name = "jones.7@sales.example", "Jones"
    within = table.create_index("byEmailWithin", "PartitionKey", row_key=["Email"], place="same_partition").wait(60)
    across = table.create_index("byEmail", "Email", place="other_partition").wait(60)
    names = table.create_index("byNameWithin", "PartitionKey", row_key=["LastName"], shape="list", place="same_partition").wait(60)
    all_names = table.create_index("byName", "LastName", shape="list", place="other_partition").wait(60)

    print(f"   {'design':44} {'access path':14} {'read':>6} {'found':>6}")
    print("an employee by number")
    ask("the key", table.query(in_department(f"RowKey eq '{number_of(7)}'")))
    print("an employee by email, in a department")
    ask("none: the partition is read", table.query(in_department(f"Email eq '{email}'")))
    ask("intra-partition index", within.lookup("sales", email))
    print("an employee by email")
    ask("none: the table is read", table.query(f"Email eq '{email}'"))
    ask("inter-partition index", across.lookup(email))
    print("employees by last name, in a department")
    ask("none: the partition is read", table.query(in_department(f"LastName eq '{name}'")))
    ask("index entities in the partition", names.lookup("sales", name))
    print("employees by last name")
    ask("none: the table is read", table.query(f"LastName eq '{name}'"))
    ask("index entities in partitions of their own", all_names.lookup(name))
    print("a department with its manager")
    ask("two reads: the department, then the manager", table.query(in_department("RowKey eq 'department'")))
    ask("", table.query(in_department(f"RowKey eq '{number_of(7)}'")))
    ask("a copy in the department (denormalization)", table.query(in_department("RowKey eq 'department'")))
    print("all reviews of an employee")
    ask("compound key", table.query(in_department(starts_with(compound("review", "000007", "")))))
    print("the newest ten claims")
    newest = next(table.query(in_department(starts_with(compound("claim", ""))), page_size=10).pages())
    print(f"   {'log tail':44} {newest.stats.access_path:14} {newest.stats.rows_examined:6} {len(newest.entities):6}")

    print("the manager's email changes: the entity, the copy and all index entries")
    manager = {**employee("sales", 7), "Email": "jones@sales.example"}
    with table.batch() as batch:
        batch.upsert(manager)
        batch.upsert({"PartitionKey": "sales", "RowKey": "department", "ManagerEmail": manager["Email"]}, merge=True)
    print("  ", table.get("sales", "department")["ManagerEmail"], len(list(within.lookup("sales", manager["Email"]))),
          len(list(across.lookup(manager["Email"], latest=True))))

    print("an employee leaves: to the archive, and out of every index")
    leave = client.transaction("departments-000007-leaves")
    leave.move(table, ("sales", number_of(7)), archive)
    leave.submit().wait(timeout=30)
    print("  ", archive.get("sales", number_of(7))["LastName"], len(list(within.lookup("sales", manager["Email"]))),
          len(list(across.lookup(manager["Email"], latest=True))), len(list(names.lookup("sales", name))))
