# SPDX-License-Identifier: Apache-2.0
"""Unique indexes by calls alone: which writes are refused with which error, and that one of many concurrent writers
wins.
"""

import threading
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ApiError, BatchOperation, ImportEntitiesRequest, entity, key, value

REFUSAL = ("ALREADY_EXISTS", "UNIQUE_VIOLATION")


class UniqueIndex(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.index = self.new_name("i")
        self.client.create_index(index={
            "name": self.index, "table": self.table, "shape": 1, "unique": True, "partition_key": [{"property": "Email"}]
        })

    def put(self, row, email, client=None):
        client = client or self.client
        return client.insert_or_replace_entity(table=self.table, entity=entity("p", row, Email=email)).result

    def owner(self, email):
        found = self.client.lookup_index(index=self.index, equals=[value(email)], freshness={"latest": True}, timeout=20)
        return [found.row_key for found in found.entities]

    def test_a_second_owner_is_told_of_the_first_but_not_of_the_value(self):
        self.put("a", "ada@example.org")
        error = self.refused(*REFUSAL, self.put, "b", "ada@example.org")
        self.assertEqual(
            [error.metadata[name] for name in ("index", "properties", "owner_partition_key", "owner_row_key")],
            [self.index, "Email", "p", "a"])
        self.assertNotIn("ada@", error.message + str(error.metadata))
        self.wait_ready(self.index)
        self.assertEqual(self.owner("ada@example.org"), ["a"])

    def test_it_is_what_was_declared(self):
        self.assertTrue(self.client.get_index(name=self.index).index.unique)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.create_index, index={
            "name": self.new_name("i"), "table": self.table, "shape": 2, "unique": True,
            "partition_key": [{"property": "Email"}]
        })

    def test_numbers_are_one_value_whatever_their_types(self):
        self.put("a", 5)
        self.refused(*REFUSAL, self.put, "b", 5.0)
        self.put("b", 5.5)

    def test_a_batch_swaps_and_an_import_and_a_step_are_refused(self):
        self.put("a", "one")
        self.put("b", "two")
        self.client.execute_batch(table=self.table, operations=[
            BatchOperation(insert_or_replace=entity("p", row, Email=email)) for row, email in (("a", "two"), ("b", "one"))
        ])
        error = self.refused(*REFUSAL, self.client.execute_batch, table=self.table, operations=[
            BatchOperation(insert_or_replace=entity("p", row, Email=email)) for row, email in (("c", "three"), ("d", "one"))
        ])
        self.assertEqual(error.metadata["operation_index"], "1")
        replies = list(self.client.import_entities([ImportEntitiesRequest(
            table=self.table, entities=[entity("p", "e", Email="four"), entity("p", "f", Email="one")])]))
        rejected = [(found.key.row_key, found.error.reason) for reply in replies for found in reply.rejected]
        self.assertEqual(rejected, [("f", "UNIQUE_VIOLATION")])
        self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_replace": {"table": self.table, "entity": entity("p", "g", Email="one")}}])
        self.assertEqual(self.client.wait_transaction(transaction_id=f"{self.table}-t").transaction.state, 4)
        self.wait_ready(self.index)
        self.assertEqual([self.owner(email) for email in ("one", "two", "three", "four")], [["b"], ["a"], [], ["e"]])

    def test_a_repeated_request_is_refused_as_it_was(self):
        self.put("a", "one")
        for _ in range(2):
            self.refused(*REFUSAL, self.client.insert_entity, table=self.table, entity=entity("p", "b", Email="one"),
                         request_id=self.table)
            self.client.delete_entity(table=self.table, key=key(("p", "a")), precondition={"if_match": "*"}) \
                if self.is_there(self.table, "p", "a") else None

    def test_of_racing_callers_exactly_one_wins(self):
        wins, callers = [], [self.stack.connect() for _ in range(4)]

        def race(number, client):
            for i in range(25):
                try:
                    self.put(f"{number}-{i}", f"value{i}", client)
                    wins.append(i)
                except ApiError as error:
                    assert error.reason == "UNIQUE_VIOLATION", error

        threads = [threading.Thread(target=race, args=(n, client)) for n, client in enumerate(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for client in callers:
            client.channel.close()
        self.assertEqual(sorted(wins), list(range(25)))


if __name__ == "__main__":
    unittest.main()
