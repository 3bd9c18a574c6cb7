# SPDX-License-Identifier: Apache-2.0
"""Indexes whose entries are written with their entities, and indexes that refuse what they cannot hold, by calls alone."""

import json
import signal
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, key, plain, value


class StrongIndex(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.copy, self.list = (self.new_strong(shape, "City") for shape in (1, 2))

    def new_strong(self, shape, by, **fields):
        name = self.new_name("i")
        self.client.create_index(index={
            "name": name, "table": self.table, "shape": shape, "place": 1,
            "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": by}], **fields
        })
        self.wait_ready(name)
        return name

    def stop_worker(self):
        self.stack.worker.send(signal.SIGSTOP)
        self.addCleanup(self.stack.worker.send, signal.SIGCONT)

    def put(self, row, city, partition="p"):
        return self.client.insert_or_replace_entity(table=self.table, entity=entity(partition, row, City=city)).result

    def rows(self, city, partition="p", **fields):
        """The same by either index, of either freshness."""
        found = [
            [found.row_key for found in self.client.lookup_index(
                index=index, equals=[value(partition), value(city)], freshness=freshness, **fields).entities]
            for index in (self.copy, self.list)
            for freshness in ({}, {"latest": True}, {"max_staleness": {"nanos": 1000}})
        ]
        self.assertEqual(found, [found[0]] * len(found))
        return found[0]

    def test_it_is_what_was_declared(self):
        found = self.client.get_index(name=self.copy)
        self.assertEqual((found.index.place, found.index.consistency), (1, 1))
        self.assertEqual((found.status.lag.open_intents, found.status.lag.age.ToNanoseconds()), (0, 0))

    def test_every_kind_of_write_brings_its_entries_with_all_workers_stopped(self):
        self.stop_worker()
        token = self.put("a", "Bonn").consistency_token
        self.assertEqual(token, "")
        self.assertEqual(self.rows("Bonn"), ["a"])
        self.client.insert_or_merge_entity(table=self.table, entity=entity("p", "a", City="Cork"))
        self.assertEqual((self.rows("Bonn"), self.rows("Cork")), ([], ["a"]))
        self.client.execute_batch(table=self.table, operations=[
            BatchOperation(insert=entity("p", f"b{i:02}", City="Rome")) for i in range(100)
        ])
        self.assertEqual(len(self.rows("Rome")), 100)
        list(self.client.import_entities([ImportEntitiesRequest(
            table=self.table, entities=[entity("q", f"{i:03}", City="Rome") for i in range(200)])]))
        self.assertEqual(len(self.rows("Rome", partition="q")), 200)
        self.client.delete_entity(table=self.table, key=key(("p", "a")), precondition={"if_match": "*"})
        self.assertEqual(self.rows("Cork"), [])

    def test_a_batch_that_fails_leaves_no_entry(self):
        self.put("b", "Rome")
        error = self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.execute_batch,
                             table=self.table, operations=[
            BatchOperation(insert=entity("p", row, City="Bonn")) for row in "ab"
        ])
        self.assertEqual(error.metadata["operation_index"], "1")
        self.assertEqual(self.rows("Bonn"), [])

    def test_a_repeated_request_and_a_transaction(self):
        for _ in range(2):
            self.client.insert_or_replace_entity(
                table=self.table, entity=entity("p", "a", City="Bonn"), request_id=self.table)
        self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_replace": {"table": self.table, "entity": entity("p", "b", City="Bonn")}},
            {"move": {
                "source": {"table": self.table, "key": key(("p", "a"))},
                "destination": {"table": self.table, "key": key(("q", "c"))},
            }},
        ])
        self.client.wait_transaction(transaction_id=f"{self.table}-t")
        self.assertEqual((self.rows("Bonn"), self.rows("Bonn", partition="q")), (["b"], ["c"]))

    def test_entries_are_read_as_entities(self):
        self.put("a", "Bonn")
        entry = self.get(self.copy, "p", "Bonn  !a")
        self.assertEqual(plain(entry)["$SourceRowKey"], "a")
        self.assertEqual(json.loads(plain(self.get(self.list, "p", "Bonn"))["Members"]), [["p", "a"]])
        page = self.client.query_entities(query={"table": self.copy, "filter": "PartitionKey eq 'p'"})
        self.assertEqual([found.row_key for found in page.entities], ["Bonn  !a"])

    def test_an_index_that_rejects_refuses_every_kind_of_write(self):
        name = self.new_strong(1, "Age", on_violation=2)
        refusal = ("INVALID_ARGUMENT", "INDEX_KEY_VIOLATION")
        many = "x" * 400
        good = {"City": "Bonn", "Age": 7}
        error = self.refused(*refusal, self.client.insert_entity, table=self.table, entity=entity("p", "a", Age=many * 3))
        self.assertIn("would be longer than a key may be: Age (String)", error.message)
        self.assertEqual(error.metadata["index"], name)
        self.assertNotIn("xxx", error.message)
        self.client.insert_entity(table=self.table, entity=entity("p", "a", **good))
        self.refused(*refusal, self.client.insert_or_merge_entity, table=self.table, entity=entity("p", "a", Age=many * 3))
        error = self.refused(*refusal, self.client.execute_batch, table=self.table, operations=[
            BatchOperation(insert=entity("p", "b", **good)), BatchOperation(insert=entity("p", "c", Age=many * 3))
        ])
        self.assertEqual(error.metadata["operation_index"], "1")
        replies = list(self.client.import_entities([ImportEntitiesRequest(
            table=self.table, entities=[entity("p", "d", **good), entity("p", "e", Age=many * 3)])]))
        rejected = [(found.key.row_key, found.error.reason) for reply in replies for found in reply.rejected]
        self.assertEqual(rejected, [("e", "INDEX_KEY_VIOLATION")])
        self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_replace": {"table": self.table, "entity": entity("p", "f", Age=many * 3)}}])
        ended = self.client.wait_transaction(transaction_id=f"{self.table}-t").transaction
        self.assertEqual(ended.state, 4, ended)
        self.assertEqual(self.rows("Bonn"), ["a", "d"])


if __name__ == "__main__":
    unittest.main()
