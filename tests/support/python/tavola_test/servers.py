# SPDX-License-Identifier: Apache-2.0
"""Statements for a PostgreSQL through psql, and commands for a Redis through redis-cli."""

import contextlib
import os
import subprocess

from tavola_test.postgres import BINARIES

# Not the psql of the PATH: Debian's is a script in Perl that looks for this one, and takes six times as long.
_PSQL = [f"{BINARIES}/psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1"]
_NO_CONNECTION = 2  # an exit code of psql


class DatabaseAway(AssertionError):
    """PostgreSQL accepts no connection."""


def sql(conninfo, text):
    """Run statements; returns the rows as lines, with | between columns."""
    result = subprocess.run(
        [*_PSQL, "-c", text, conninfo], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    if result.returncode == _NO_CONNECTION:
        raise DatabaseAway(result.stderr)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return result.stdout.strip()


@contextlib.contextmanager
def session(conninfo):
    """One connection, because psql takes longer to start than to answer. The value is a function ask(text): it runs
    statements, of which exactly one returns a row, and returns that row.
    """
    with subprocess.Popen([*_PSQL, conninfo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as psql:

        def ask(text):
            psql.stdin.write(f"{text};\n")
            psql.stdin.flush()
            return psql.stdout.readline().strip()

        yield ask


def flush_redis():
    """Empty the Redis that TAVOLA_REDIS names."""
    address = os.environ["TAVOLA_REDIS"]
    where = ["-s", address.removeprefix("unix:")] if address.startswith("unix:") else ["-u", address]
    subprocess.run(["redis-cli", *where, "flushall"], stdout=subprocess.DEVNULL, check=True)
