#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""An order system: orders by customer, by status and by day; finished ones go to an archive; a signature per customer.

usage: orders.py ACCOUNT; needs TAVOLA_ACCOUNT_KEY, and clients/python installed or in PYTHONPATH. See examples/orders/README.md.
"""

import collections
import datetime
import itertools
import os
import sys

import tavola

account = tavola.Account(sys.argv[1], os.environ["TAVOLA_ACCOUNT_KEY"])
client = tavola.Client(token=account)


def names(orders):
    return " ".join("/".join(order.key) for order in orders)


# Tables and indexes; the table keeps its changes for whoever follows them.
orders = client.create_table("orders", change_feed=True)
archive = client.create_table("archive")
by_status = orders.create_index("ordersByStatus", "Status").wait()
by_day = orders.create_index("ordersByDay", "Day").wait()
watch = orders.watch()

# New orders: the customer is the partition, so one customer's orders lie together.
for customer, number, day, total in (
    ("acme", "1001", 1, 120.5), ("acme", "1002", 2, 80.0), ("acme", "1003", 3, 15.25),
    ("globex", "1004", 1, 42.0), ("globex", "1005", 2, 99.0), ("globex", "1006", 4, 7.5),
):
    day = datetime.datetime(2026, 3, day, tzinfo=datetime.timezone.utc)
    orders.insert({"PartitionKey": customer, "RowKey": number, "Status": "open", "Day": day, "Total": total})

second = datetime.datetime(2026, 3, 2, tzinfo=datetime.timezone.utc)
print("orders of acme:", names(orders.query("PartitionKey eq 'acme'")))
print("orders of 2026-03-02:", names(by_day.lookup(second, latest=True)))

# Two are finished: only from open to done, whoever else is at work on them.
for customer, number in (("acme", "1002"), ("globex", "1005")):
    orders.merge({"PartitionKey": customer, "RowKey": number, "Status": "done"}, condition="Status eq 'open'")

# Finished orders move to the archive, all of them or, after a crash, the rest later: the transaction is carried to its end.
with client.transaction() as transaction:
    for order in by_status.lookup("done", latest=True):
        transaction.move(orders, order.key, archive)
transaction.wait()
print("open:", names(by_status.lookup("open", latest=True)))
print("archived:", names(archive.query()))

# What a follower of the table has seen.
seen = collections.Counter(change.kind for change in itertools.islice(watch, 10))
print("seen:", *(f"{seen[kind]} {kind}" for kind in ("inserted", "changed", "deleted")))
watch.cancel()

# A customer gets a signature for its own orders, and opens nothing else with it.
until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
signature = account.sign(tavola.Signature("orders", "r", until, start_partition="acme", end_partition="acme"))
tenant = tavola.Client(token=signature).table("orders")
print("acme sees:", names(tenant.query()))
try:
    tenant.delete("acme", "1001")
except tavola.PermissionDenied as error:
    print("acme may not delete:", error.reason)
