"""What administrators read: the programs' logs and PostgreSQL's."""

import re
import unittest

from client import entity
from stack import Stack, wait_ready

TROUBLE = re.compile(r"^.*\b(?:ERROR|FATAL|PANIC|WARNING):.*$", re.M)


class WhatPostgresLogs(unittest.TestCase):
    """A cluster of the test's own: its log is this scenario's alone."""

    def setUp(self):
        self.made = Stack(own_postgres=True)
        self.addCleanup(self.made.close)
        self.before = len(self.made.cluster.server.output())  # of who waited for the cluster to begin
        self.made.start_server()
        self.made.start_worker()

    def test_changes_of_the_catalogue_are_no_errors(self):
        with self.made.connect() as caller:
            caller.create_table(name="things")
            for number in range(8):
                self.write(caller, number)  # each server thread has a catalogue, and the next change makes it old
                caller.create_table(name=f"other{number}")
            self.write(caller, 9)
            caller.create_index(index={
                "name": "thingsByP", "table": "things", "shape": 1, "place": 2, "partition_key": [{"property": "P"}]
            })
            wait_ready(caller, "thingsByP")
            self.write(caller, 10)
            caller.delete_table(name="things")
        log = self.made.cluster.server.output()[self.before:]
        self.assertEqual(TROUBLE.findall(log), [], "PostgreSQL was given reason to complain")

    def write(self, caller, number):
        for row in range(8):
            caller.insert_or_replace_entity(table="things", entity=entity("p", f"{row}", P=f"v{number}"))


if __name__ == "__main__":
    unittest.main()
