# SPDX-License-Identifier: Apache-2.0
"""What the tests of access have in common: a server that requires tokens, two accounts, and the outcomes of calls."""

import time

from tavola_test import client
from tavola_test.case import ServerCase
from tavola_test.client import ApiError
from tavola_test.credentials import key_of, sas, token
from tavola_test.processes import run_program
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

OK = ("OK", None)
ABSENT = ("NOT_FOUND", "RESOURCE_NOT_FOUND")
ANONYMOUS = ("UNAUTHENTICATED", "NO_AUTHENTICATION_INFORMATION")
FORGED = ("UNAUTHENTICATED", "AUTHENTICATION_FAILED")
REFUSED = ("PERMISSION_DENIED", "AUTHORIZATION_FAILURE")
MISMATCH = ("PERMISSION_DENIED", "AUTHORIZATION_PERMISSION_MISMATCH")
WRONG_PROTOCOL = ("PERMISSION_DENIED", "AUTHORIZATION_PROTOCOL_MISMATCH")
WRONG_ADDRESS = ("PERMISSION_DENIED", "AUTHORIZATION_SOURCE_IP_MISMATCH")


def address(partition, row):
    return {"partition_key": partition, "row_key": row}


def result(function, *arguments, **fields):
    """("OK", None), or the code and the reason."""
    try:
        function(*arguments, **fields)
        return OK
    except ApiError as error:
        return error.code, error.reason


class SecurityCase(ServerCase):
    """A server that requires tokens; accounts acme and globex; a table People of acme with some entities."""

    settings = {}  # further ones of the server

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.keys = cls.new_account("acme")
        cls.other_keys = cls.new_account("globex")
        cls.stack.start_server(TAVOLA_AUTHENTICATION="required", TAVOLA_LOG_LEVEL="debug", **cls.settings)
        cls.client = cls.connect(token(cls.keys[0]))
        cls.client.create_table(name="People")
        for partition in "abcde":
            for row in "123":
                cls.client.insert_entity(table="People", entity=client.entity(partition, row, {"N": 1}))
        cls.client.create_table(name="Other")
        cls.client.insert_entity(table="Other", entity=client.entity("a", "1"))
        # The server reads accounts and tables twice a second.
        wait_for("the table's age", lambda: result(cls.step, cls.connect(sas(cls.keys[0], "people", permissions="dt"))) == OK)

    @staticmethod
    def step(connection):
        connection.submit_transaction(
            transaction_id=f"t{time.time_ns()}",
            steps=[{"delete_if_exists": {"table": "People", "key": address("zz", "zz")}}],
        )

    @classmethod
    def operate(cls, *words, **settings):
        done = run_program("tavola", *words, settings={"TAVOLA_POSTGRES": cls.stack.postgres, **settings})
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.strip()

    @classmethod
    def new_account(cls, name, *more):
        """The two keys of the account."""
        printed = cls.operate("account", "create", name, *more)
        return [key_of(line.split()[-1]) for line in printed.splitlines()]

    @classmethod
    def connect(cls, given):
        connection = client.Client(cls.stack.target, token=given)
        cls.addClassCleanup(connection.channel.close)
        return connection

    def read(self, given, table="People", partition="a", row="1"):
        return result(self.connect(given).get_entity, table=table, key=address(partition, row))

    def check(self, cases):
        for name, got, want in cases:
            with self.subTest(name):
                self.assertEqual(got, want)
