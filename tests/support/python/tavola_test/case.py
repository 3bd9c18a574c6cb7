# SPDX-License-Identifier: Apache-2.0
"""What test cases with one server have in common."""

import sys
import unittest

from tavola_test.client import ApiError
from tavola_test.stack import Stack, wait_ready


class ServerCase(unittest.TestCase):
    """A stack per class, with a server and, if the class asks for it, a worker; tables per test."""

    with_worker = False
    server_settings = {}
    worker_settings = {}
    tables = 0

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server(**cls.server_settings)
        if cls.with_worker:
            cls.stack.start_worker(**cls.worker_settings)
        cls.client = cls.stack.connect()
        cls.addClassCleanup(cls.client.channel.close)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        out = super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print(self.stack.logs(), file=sys.stderr)
        return out

    def new_name(self, prefix="t"):
        ServerCase.tables += 1
        return f"{prefix}{ServerCase.tables}x"

    def new_table(self):
        name = self.new_name()
        self.client.create_table(name=name)
        return name

    def refused(self, code, reason, function, *arguments, **fields):
        """Assert that the call fails like this; returns the error."""
        with self.assertRaises(ApiError) as caught:
            function(*arguments, **fields)
        error = caught.exception
        self.assertEqual((error.code, error.reason), (code, reason), error)
        self.assertEqual(error.domain, "tavola")
        self.assertTrue(error.message)
        return error

    @staticmethod
    def in_time(function, *arguments, **fields):
        """What a call returns or raises that the server answers a moment before the call's deadline. A busy machine may miss
        the moment, hence several tries.
        """
        for _ in range(10):
            try:
                return function(*arguments, **fields)
            except ApiError as error:
                if error.code != "DEADLINE_EXCEEDED":
                    raise
        raise AssertionError("never answered before its deadline")

    def get(self, table, partition_key, row_key, **fields):
        address = {"partition_key": partition_key, "row_key": row_key}
        return self.client.get_entity(table=table, key=address, **fields).entity

    def is_there(self, table, partition_key, row_key):
        try:
            self.get(table, partition_key, row_key)
            return True
        except ApiError as error:
            self.assertEqual((error.code, error.reason), ("NOT_FOUND", "RESOURCE_NOT_FOUND"))
            return False

    def wait_ready(self, index):
        wait_ready(self.client, index)

    def new_index(self, table, by):
        """Create a copy index of the table by a property, wait until it is ready, and return its name."""
        name = self.new_name("i")
        self.client.create_index(index={
            "name": name, "table": table, "shape": 1, "place": 2, "partition_key": [{"property": by}]
        })
        self.wait_ready(name)
        return name

    def wait_done(self, operation):
        reply = self.client.wait_operation(operation_id=operation.operation_id, timeout=30)
        self.assertEqual(reply.operation.state, 3, reply)
        return reply.operation
