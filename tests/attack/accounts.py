# SPDX-License-Identifier: Apache-2.0
"""Accounts of a stack, and how long they wait."""

from tavola_test import client
from tavola_test.credentials import key_of
from tavola_test.processes import run_program


def new_account(stack, name):
    """The key of a new account."""
    done = run_program("tavola", "account", "create", name, settings={"TAVOLA_POSTGRES": stack.postgres})
    assert done.returncode == 0, done.stderr
    return key_of(done.stdout.split()[2])


def is_known(caller):
    """Whether the server knows the account of the caller's token."""
    try:
        caller.list_tables()
        return True
    except client.ApiError:
        return False


def percentile_99(seconds):
    return sorted(seconds)[int(len(seconds) * 0.99)]
