# SPDX-License-Identifier: Apache-2.0
"""Indexes whose entries are written with their entities, and indexes that refuse entities without a possible entry,
by calls alone.
"""

import json
import signal
import threading
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, key, plain, value
from tavola_test.waiting import wait_for


class StrongIndex(ServerCase):
    with_worker = True
    place = 1

    def setUp(self):
        self.table = self.new_table()
        self.copy, self.list = (self.new_strong(shape, "City") for shape in (1, 2))

    def new_strong(self, shape, by, **fields):
        name = self.new_name("i")
        self.client.create_index(index={
            "name": name, "table": self.table, "shape": shape, "place": self.place, "consistency": 1,
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
        """Both indexes, with either consistency, return the same."""
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
        self.assertEqual((found.index.place, found.index.consistency), (self.place, 1))
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


class StrongElsewhere(StrongIndex):
    """The same in partitions of their own, which here have the names of those of the entities."""

    place = 2


class Switched(ServerCase):
    """An index in other partitions becomes a strong one, and an eventual one again, while it is in use."""

    with_worker = True
    stop_worker, put = StrongIndex.stop_worker, StrongIndex.put

    def setUp(self):
        self.table = self.new_table()
        self.index = self.new_index(self.table, "City")
        self.switches = 0

    def switch(self, consistency):
        self.switches += 1
        return self.client.update_index(name=self.index, consistency=consistency)

    def become_strong(self):
        reply = self.switch(1)
        if reply.operation.operation_id:
            self.wait_done(reply.operation)
        self.assertEqual(self.client.get_index(name=self.index).index.consistency, 1)

    def rows(self, city, **freshness):
        found = self.client.lookup_index(index=self.index, equals=[value(city)], freshness=freshness)
        return sorted(each.row_key for each in found.entities)

    def test_it_says_what_it_is_on_its_way_to(self):
        self.stop_worker()
        self.put("a", "Bonn")
        reply = self.switch(1)
        self.assertEqual((reply.operation.kind, reply.operation.target), ("update_index", self.index))
        self.assertEqual((reply.index.consistency, reply.status.becoming), (2, 1))
        self.assertEqual(self.switch(1).operation.operation_id, reply.operation.operation_id)
        self.assertEqual(self.put("b", "Bonn").consistency_token, "")
        self.assertEqual((self.rows("Bonn"), self.rows("Bonn", latest=True)), (["b"], ["a", "b"]))

        self.stack.worker.send(signal.SIGCONT)
        self.wait_done(reply.operation)
        found = self.client.get_index(name=self.index)
        self.assertEqual((found.index.consistency, found.status.becoming), (1, 0))
        self.assertEqual((found.status.lag.open_intents, found.status.lag.age.ToNanoseconds()), (0, 0))
        self.assertEqual((self.rows("Bonn"), self.rows("Bonn", latest=True)), (["a", "b"], ["a", "b"]))

    def test_back_and_forth_with_the_worker_stopped(self):
        self.become_strong()
        self.stop_worker()
        self.put("a", "Bonn")
        self.assertEqual(self.rows("Bonn"), ["a"])
        reply = self.switch(2)
        self.assertEqual((reply.index.consistency, reply.status.becoming), (2, 0))
        self.assertFalse(reply.operation.operation_id)
        token = self.put("a", "Cork").consistency_token
        self.assertTrue(token)
        self.assertEqual((self.rows("Cork"), self.rows("Cork", latest=True)), ([], ["a"]))
        self.switch(1)
        self.put("a", "Oslo")
        self.assertEqual((self.rows("Oslo"), self.rows("Cork"), self.rows("Bonn")), (["a"], [], []))

    def test_a_switch_cannot_be_cancelled_but_by_its_opposite(self):
        self.stop_worker()
        operation = self.switch(1).operation
        error = self.refused(
            "FAILED_PRECONDITION", "OPERATION_NOT_CONTROLLABLE", self.client.control_operation,
            operation_id=operation.operation_id, control=3)
        self.assertIn("update_index", error.message)
        self.switch(2)
        self.assertEqual(self.client.get_operation(operation_id=operation.operation_id).operation.state, 5)

    def test_under_load_while_workers_die(self):
        """Each writer sees its own writes at once whenever the index says that it is a strong one."""
        writers = [Writer(self, n) for n in range(4)]
        for writer in writers:
            writer.start()
        for turn in range(12):
            self.switch(1 if turn % 2 == 0 else 2)
            written = [writer.turns for writer in writers]
            if turn % 3 == 0:
                self.stack.worker.kill()
                self.stack.start_worker()
            elif turn % 2 == 0:
                self.become_strong()
            wait_for("writes", lambda: all(writer.failure or writer.turns > before + 5 for writer, before in zip(writers, written)))
        self.become_strong()
        for writer in writers:
            writer.stopping = True
        for writer in writers:
            writer.join()
            if writer.failure:
                raise writer.failure
        self.assertGreater(sum(writer.looked for writer in writers), 0)
        done = self.wait_done(self.client.verify_index(name=self.index).operation)
        report = self.client.get_index_report(operation_id=done.operation_id).report
        counts = (report.missing, report.dangling, report.mismatched, report.manifests, report.in_flight)
        self.assertEqual(counts, (0, 0, 0, 0, 0))


class BadConsistency(ServerCase):
    """Of an index in other partitions it is changed; of one in the partition of its entities it is what it is."""

    def setUp(self):
        self.table = self.new_table()

    def add_index(self, **fields):
        name = self.new_name("i")
        self.client.create_index(index={
            "name": name, "table": self.table, "shape": 1, "partition_key": [{"property": "PartitionKey"}],
            "row_key": [{"property": "A"}], **fields})
        return name

    def test_it_is_one_of_two(self):
        index = self.add_index()
        for given in (0, 3, 99):
            error = self.refused(
                "INVALID_ARGUMENT", "INVALID_INPUT", self.client.update_index, name=index, consistency=given)
            self.assertIn("consistency", error.fields)
            self.assertIn("STRONG and EVENTUAL", error.message)

    def test_the_same_partition_is_strong(self):
        index = self.add_index(place=1)
        self.client.update_index(name=index, consistency=1)
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.update_index, name=index, consistency=2)
        self.assertIn("consistency", error.fields)
        self.assertIn("always STRONG", error.message)

    def test_a_table_and_nothing_are_no_index(self):
        for name in (self.table, "nothingThere"):
            self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.update_index, name=name, consistency=1)
        self.refused("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", self.client.update_index, consistency=1)


class Writer(threading.Thread):
    """Moves its entity from city to city. Where the index is a strong one before and after, its look-up is exact."""

    def __init__(self, case, number):
        super().__init__(daemon=True)
        self.case, self.row = case, f"w{number}"
        self.client = case.stack.connect()
        self.turns = self.looked = 0
        self.stopping, self.failure = False, None

    def run(self):
        try:
            while not self.stopping:
                self.turn(f"c{self.turns}{self.row}")
                self.turns += 1
        except BaseException as failure:
            self.failure = failure

    def is_strong(self):
        return self.client.get_index(name=self.case.index).index.consistency == 1

    def turn(self, city):
        switches, was_strong = self.case.switches, self.is_strong()
        self.client.insert_or_replace_entity(table=self.case.table, entity=entity("p", self.row, City=city))
        found = self.client.lookup_index(index=self.case.index, equals=[value(city)])
        if was_strong and self.is_strong() and self.case.switches == switches:
            self.looked += 1
            if [each.row_key for each in found.entities] != [self.row]:
                raise AssertionError(f"{city} is not found by a strong index")
        latest = self.client.lookup_index(index=self.case.index, equals=[value(city)], freshness={"latest": True})
        if [each.row_key for each in latest.entities] != [self.row]:
            raise AssertionError(f"{city} is not found by the latest")


if __name__ == "__main__":
    unittest.main()
