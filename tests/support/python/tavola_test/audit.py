# SPDX-License-Identifier: Apache-2.0
"""The audit after a campaign: rows without an owner, in every table of the schema (tests/support/audit.sql)."""

import os

from tavola_test import chunk_stores
from tavola_test.waiting import wait_for

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "audit.sql")
TABLES = "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace"
_OUR_OWN = {"poison", "versions_seen"}  # made by the campaigns
_MIGRATIONS = "schema_migrations"  # one row per migration, for good


def counts(stack):
    """Returns {"<table>: <what>": number of rows} without zeros, and what differs
    between rows and a chunk store. A table that the audit does not know is an error."""
    with open(FILE, encoding="utf-8") as file:
        lines = [line.rsplit("|", 1) for line in stack.sql(file.read()).split("\n")]
    known = {what.split(":")[0] for what, _ in lines} | _OUR_OWN | {_MIGRATIONS}
    tables = set(stack.sql(TABLES).split("\n"))
    assert tables <= known, f"tests/support/audit.sql says nothing of {tables - known}"
    left = {what: int(count) for what, count in lines if count != "0"}
    return {**left, **chunk_stores.differences(stack)}


def check(stack, seconds=30):
    """Wait until no row without an owner is left, at most this many seconds: purges and sweeps may still have to run.
    """
    left = {}

    def nothing():
        left.clear()
        left.update(counts(stack))
        return not left

    try:
        wait_for("rows that nothing owns to go", nothing, seconds)
    except AssertionError as error:
        raise AssertionError(f"rows that nothing owns: {left}") from error
