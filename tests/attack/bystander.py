#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A well-behaved caller: Gets, upserts or pages on one connection, one after the other and PERIOD apart, until standard input ends. Calls that are
late because others took long follow at once, so that it offers the same rate all the time.

usage: bystander.py HOST:PORT TOKEN TABLE get|upsert|page [CA]; a line per call: when it began (time.monotonic), seconds, code.
"""

import select
import sys
import time

import grpc

from tavola_test import client
from tavola_test.certificates import read
from tavola_test.client import ApiError

PERIOD = 0.008
MAX_BACKLOG = 0.25  # seconds of calls that are made up for
TIMEOUT_SECONDS = 30


def trusting(authority=None):
    """Credentials for a server whose certificate this authority has signed; without one, none."""
    return authority and grpc.ssl_channel_credentials(root_certificates=read(authority))


def main():
    address, token, table, method = sys.argv[1:5]
    caller = client.Client(address, trusting(*sys.argv[5:]), token=token, seconds=TIMEOUT_SECONDS)
    key = client.EntityKey(partition_key="p", row_key="1")
    entity = client.entity("p", "1", A=1)
    due = time.monotonic()
    while not select.select([sys.stdin], [], [], max(0, due - time.monotonic()))[0]:
        began = time.monotonic()
        due = max(due + PERIOD, began - MAX_BACKLOG)
        code = "OK"
        try:
            if method == "upsert":
                caller.insert_or_replace_entity(table=table, entity=entity)
            elif method == "page":
                caller.query(table)
            else:
                caller.get_entity(table=table, key=key)
        except ApiError as error:
            code = error.code
        print(f"{began:.6f} {time.monotonic() - began:.6f} {code}", flush=True)


if __name__ == "__main__":
    main()
