# SPDX-License-Identifier: Apache-2.0
"""Writes as callers see them: what a request_id guarantees."""

import queue
import time
import unittest
import uuid

from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, key, match, plain
from tavola_test.waiting import wait_for


class RequestIds(ServerCase):
    def setUp(self):
        self.table = self.new_table()
        self.id = str(uuid.uuid4())

    def writes(self):
        put = {"table": self.table, "entity": entity("p", "r", A=1)}
        client, address = self.client, key(("p", "r"))
        yield client.insert_entity, put
        yield client.insert_or_replace_entity, put
        yield client.insert_or_merge_entity, put
        yield client.replace_entity, {**put, "precondition": match()}
        yield client.merge_entity, {**put, "precondition": match()}
        yield client.delete_entity, {"table": self.table, "key": address, "precondition": match()}
        yield client.execute_batch, {"table": self.table, "operations": [BatchOperation(insert=put["entity"])]}

    def test_every_write_can_be_repeated(self):
        for call, fields in self.writes():
            with self.subTest(call=call):
                request_id = str(uuid.uuid4())
                first = call(**fields, request_id=request_id)
                before = self.client.query(self.table)
                again = call(**fields, request_id=request_id)

                results = list(getattr(first, "results", None) or [first.result])
                repeats = list(getattr(again, "results", None) or [again.result])
                self.assertFalse(any(result.replayed for result in results))
                self.assertTrue(all(result.replayed for result in repeats))
                for result in repeats:
                    result.replayed = False
                self.assertEqual(results, repeats)
                self.assertEqual(self.client.query(self.table), before)

    def test_another_content_is_refused(self):
        put = {"table": self.table, "request_id": self.id}
        self.client.insert_entity(entity=entity("p", "r", A=1), **put)

        self.refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", self.client.insert_entity, entity=entity("p", "r", A=2), **put)
        self.refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", self.client.insert_entity, entity=entity("q", "r", A=1), **put)
        self.assertEqual(len(self.client.query(self.table)), 1)

    def test_a_refusal_is_repeated(self):
        put = {"table": self.table, "entity": entity("p", "r", A=1), "request_id": self.id}
        batch = {"table": self.table, "operations": [BatchOperation(insert=put["entity"])], "request_id": self.id + "b"}
        self.client.insert_entity(table=self.table, entity=put["entity"])
        first = self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.insert_entity, **put)
        group = self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.execute_batch, **batch)
        self.client.delete_entity(table=self.table, key=key(("p", "r")), precondition=match())

        again = self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.insert_entity, **put)
        self.assertEqual((again.message, again.metadata), (first.message, {**first.metadata, "replayed": "true"}))
        again = self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.execute_batch, **batch)
        self.assertEqual((again.message, again.metadata), (group.message, {**group.metadata, "replayed": "true"}))
        self.assertFalse(self.is_there(self.table, "p", "r"))

    def test_nothing_of_a_refusal_is_lost_in_its_repeat(self):
        stored = entity("p", "r", State="open")
        self.client.insert_entity(table=self.table, entity=stored)
        delete = BatchOperation(delete=key(("p", "r")), precondition={"condition": "State eq 'done'"})
        batch = {"table": self.table, "operations": [delete], "request_id": self.id}
        refused = ("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.execute_batch)
        first = self.refused(*refused, **batch)
        self.assertEqual(set(first.metadata), {"table", "partition_key", "row_key", "operation_index", "clause", "actual"})
        self.assertEqual(self.refused(*refused, **batch).metadata, {**first.metadata, "replayed": "true"})

    def test_ids_have_their_form(self):
        put = {"table": self.table, "entity": entity("p", "r", A=1)}
        for bad in ("x" * 129, "\u00e9", "a\nb", "\x7f", "a\0"):
            with self.subTest(bad):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.insert_entity, **put, request_id=bad)
        self.assertFalse(self.is_there(self.table, "p", "r"))
        self.client.insert_entity(**put, request_id="~" * 127 + " ")


class Conditions(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.client.insert_entity(table=self.table, entity=entity("p", "r", State="open", Count=3))
        self.before = self.get(self.table, "p", "r")

    def writes(self, condition):
        put = {"table": self.table, "entity": entity("p", "r", State="done")}
        precondition = {"condition": condition}
        client, address = self.client, key(("p", "r"))
        yield client.replace_entity, {**put, "precondition": precondition}
        yield client.merge_entity, {**put, "precondition": {**precondition, "if_match": "*"}}
        yield client.delete_entity, {"table": self.table, "key": address, "precondition": precondition}
        group = [BatchOperation(insert=entity("p", "other")), BatchOperation(delete=address, precondition=precondition)]
        yield client.execute_batch, {"table": self.table, "operations": group}

    def test_a_failure_says_what_is_there(self):
        for call, fields in self.writes("State eq 'open' and Count gt 3"):
            with self.subTest(call=call):
                error = self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", call, **fields)
                self.assertEqual(error.metadata["clause"], "Count gt 3")
                self.assertEqual(error.metadata["actual"], self.before.etag)
                self.assertEqual(error.entity, self.before)
                self.assertEqual(error.metadata.get("operation_index"), "1" if "operations" in fields else None)
                self.assertEqual(self.client.query(self.table), [self.before])

    def test_a_condition_that_holds_lets_write(self):
        for call, fields in self.writes("State eq 'open' and Count ge 3"):
            with self.subTest(call=call):
                call(**fields)
                self.client.insert_or_replace_entity(table=self.table, entity=entity("p", "r", State="open", Count=3))

    def test_a_large_entity_does_not_ride_along(self):
        self.client.insert_entity(table=self.table, entity=entity("p", "s", State="x" * 3000))
        error = self.refused(
            "ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.delete_entity, table=self.table,
            key=key(("p", "s")), precondition={"condition": "State eq 'y'"})
        self.assertIsNone(error.entity)

    def test_a_condition_needs_an_entity_and_grammar(self):
        delete = {"table": self.table, "key": key(("p", "none"))}
        self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.client.delete_entity, **delete, precondition={"condition": "A eq 1"})
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.delete_entity, **delete, precondition={"condition": "A eq"})
        self.assertIn("position", error.metadata)

    def test_a_refusal_is_repeated_with_its_entity(self):
        delete = {"table": self.table, "key": key(("p", "r")), "precondition": {"condition": "Count eq 4"}, "request_id": str(uuid.uuid4())}
        self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.delete_entity, **delete)
        self.client.insert_or_replace_entity(table=self.table, entity=entity("p", "r", Count=4))
        error = self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.delete_entity, **delete)
        self.assertEqual(error.entity, self.before)

    def test_steps_have_conditions(self):
        address = {"table": self.table, "key": key(("p", "r"))}

        def submit(condition):
            transaction_id = str(uuid.uuid4())
            step = {"delete_if_exists": address, "precondition": {"condition": condition}}
            self.client.submit_transaction(transaction_id=transaction_id, steps=[step])
            return self.client.wait_transaction(transaction_id=transaction_id, timeout=30).transaction

        failed = submit("Count eq 4")
        self.assertEqual(failed.state, 4)
        self.assertEqual(failed.timeline[0].error.reason, "UPDATE_CONDITION_NOT_SATISFIED")
        self.assertEqual(failed.steps[0].precondition.condition, "Count eq 4")
        self.assertTrue(self.is_there(self.table, "p", "r"))
        self.assertEqual(submit("Count eq 3").state, 3)
        self.assertFalse(self.is_there(self.table, "p", "r"))


class DeleteRange(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.client.load(self.table, [entity(f"p{n % 3}", f"r{n:04}", Odd=bool(n % 2)) for n in range(1500)])

    def test_what_matches_goes(self):
        query = {"table": self.table, "filter": "PartitionKey ge 'p1' and Odd"}
        reply = self.client.delete_range(query=query)
        self.assertEqual((reply.operation.kind, reply.operation.target), ("delete_range", self.table))
        done = self.wait_done(reply.operation)

        self.assertEqual(done.done, 500)
        self.assertEqual(self.client.query(self.table, query["filter"]), [])
        self.assertEqual(len(self.client.query(self.table)), 1000)

    def test_it_can_be_held_and_given_up(self):
        operation = self.client.delete_range(query={"table": self.table}).operation
        held = self.client.control_operation(operation_id=operation.operation_id, control=1).operation
        self.assertEqual(held.state, 2)
        ended = self.client.control_operation(operation_id=operation.operation_id, control=3).operation
        self.assertEqual(ended.state, 5)
        self.refused(
            "FAILED_PRECONDITION", "OPERATION_NOT_CONTROLLABLE", self.client.control_operation,
            operation_id=operation.operation_id, control=2)

    def test_what_it_refuses(self):
        call, query = self.client.delete_range, {"table": self.table}
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", call)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", call, query={**query, "filter": "A eq"})
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", call, query={**query, "descending": True})
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", call, query={"table": "nowhere"})
        self.refused("FAILED_PRECONDITION", "PLAN_TOO_EXPENSIVE", call, query={**query, "max_plan": 1})
        for bad in ({"control": 0}, {"control": 5}, {"control": 1, "rows_per_second": 1}, {"control": 4, "rows_per_second": -1}):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.control_operation, operation_id="x", **bad)
        self.refused("NOT_FOUND", "OPERATION_NOT_FOUND", self.client.control_operation, operation_id="x", control=1)
        self.assertEqual(len(self.client.query(self.table)), 1500)


class Expiry(ServerCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def setUp(self):
        self.table = self.new_table()

    def put(self, row_key, seconds, **properties):
        given = entity("p", row_key, **properties)
        if seconds is not None:
            given.expires.FromMicroseconds(int((time.time() + seconds) * 1e6))
        self.client.insert_or_replace_entity(table=self.table, entity=given)
        return given

    def test_an_entity_goes_by_itself(self):
        given = self.put("r", 2, A=1)
        self.put("stays", 100)
        self.assertEqual(self.get(self.table, "p", "r").expires, given.expires)
        self.assertEqual([found.row_key for found in self.client.query(self.table)], ["r", "stays"])
        wait_for("its time", lambda: not self.is_there(self.table, "p", "r"), 10)
        self.assertEqual([found.row_key for found in self.client.query(self.table)], ["stays"])
        self.refused(
            "NOT_FOUND", "RESOURCE_NOT_FOUND", self.client.merge_entity, table=self.table, entity=entity("p", "r"),
            precondition=match())
        self.client.insert_entity(table=self.table, entity=entity("p", "r", B=1))
        self.assertEqual(plain(self.get(self.table, "p", "r")), {"B": 1})

    def test_its_entries_go_with_it(self):
        index = self.new_index(self.table, by="City")
        self.put("a", 100, City="Bonn")
        self.put("b", 1, City="Bonn")
        wait_for("its entry removed", lambda: self.client.get_index(name=index).status.entries == 1, 30)
        wait_for("its deletion", lambda: not self.is_there(self.table, "p", "b"), 10)

    def test_times_have_a_range(self):
        given = entity("p", "r")
        for seconds in (-11644473601, 253402300800):
            given.expires.seconds = seconds
            self.refused("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", self.client.insert_entity, table=self.table, entity=given)
        given.expires.seconds = 253402300799
        self.client.insert_entity(table=self.table, entity=given)
        self.assertEqual(self.get(self.table, "p", "r").expires.seconds, 253402300799)
        given.row_key = "s"
        given.expires.seconds = -11644473600
        self.client.insert_entity(table=self.table, entity=given)
        self.assertFalse(self.is_there(self.table, "p", "s"))


class Imports(ServerCase):
    def setUp(self):
        self.table = self.new_table()
        self.given = queue.Queue()
        self.addCleanup(self.given.put, None)
        self.replies = iter(self.client.import_entities(iter(self.given.get, None)))

    def send(self, row, **fields):
        self.given.put(ImportEntitiesRequest(entities=[entity("p", row)], **fields))
        return next(self.replies).committed

    def test_the_case_of_the_table_does_not_matter(self):
        self.assertEqual(self.send("a", table=self.table), 1)
        self.assertEqual(self.send("b", table=self.table.upper()), 2)
        self.assertEqual(self.send("c"), 3)

    def test_an_import_ends_with_its_table(self):
        self.assertEqual(self.send("a", table=self.table), 1)
        self.client.delete_table(name=self.table)
        self.client.create_table(name=self.table)

        error = self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.send, "b", table=self.table)

        self.assertIn("another", error.message)
        self.assertEqual(self.client.query(self.table), [])


if __name__ == "__main__":
    unittest.main()
