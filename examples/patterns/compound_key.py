#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A compound key: docs/patterns/compound-key.md. TARGET may be given."""

from scene import entities_of, new_tables, tavola
from tavola.keys import compound, padded, starts_with

with new_tables("reviews") as (_, reviews):
    reviews.load(
        {"PartitionKey": "sales", "RowKey": compound(padded(number, 6), str(year)), "Employee": number,
         "Rating": (number + year) % 5 + 1}
        for number in range(200) for year in range(2017, 2027))

    print("the filter as the guide prints it")
    entities_of(reviews.query("PartitionKey eq 'sales' and RowKey ge 'empid_000123' and RowKey lt '000123_2012'"))

    try:
        reviews.query("PartitionKey eq 'sales'", select=["RowKey", "Manager Rating"]).first()
    except tavola.Error as error:
        print("   its select:", error.reason)

    print("a property for the number: every review of the partition is read")
    entities_of(reviews.query("PartitionKey eq 'sales' and Employee eq 123"))

    print("all reviews of one employee")
    of_one = "PartitionKey eq 'sales' and " + starts_with(compound("000123", ""))
    print("  ", of_one)
    for review in entities_of(reviews.query(of_one, select=["Rating"]))[:3]:
        print("  ", review["RowKey"], review["Rating"])

    print("parts that hold the separator")
    print("  ", "joined by hand: ", "_".join(["a_b", "c"]), "and", "_".join(["a", "b_c"]))
    print("  ", "with compound():", compound("a_b", "c"), "and", compound("a", "b_c"))
