# SPDX-License-Identifier: Apache-2.0
"""Reads by an index that must see certain writes: consistency tokens, bounds on staleness, the latest."""

import contextlib
import queue
import signal
import threading
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, key, types, value
from tavola_test.waiting import wait_for

LookupIndexRequest = types.message("tavola.v1.LookupIndexRequest")
LookupIndexResponse = types.message("tavola.v1.LookupIndexResponse")
LOOKUP = "/tavola.v1.IndexService/LookupIndex"


class Freshness(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.index = self.new_index(self.table, by="City")

    def stop_worker(self):
        self.stack.worker.send(signal.SIGSTOP)
        self.addCleanup(self.continue_worker)

    def continue_worker(self):
        self.stack.worker.send(signal.SIGCONT)

    def insert(self, row, city, **fields):
        return self.client.insert_or_replace_entity(
            table=self.table, entity=entity("p", row, City=city), **fields
        ).result

    def rows(self, city, timeout=20, **freshness):
        reply = self.client.lookup_index(
            index=self.index, equals=[value(city)], freshness=freshness, timeout=timeout
        )
        return [found.row_key for found in reply.entities]

    def begin(self, city, timeout=20, **freshness):
        """A look-up that runs in the background."""
        request = LookupIndexRequest(index=self.index, equals=[value(city)], freshness=freshness)
        return self.client.start(LOOKUP, request.SerializeToString(), timeout)

    @staticmethod
    def rows_of(call):
        return [found.row_key for found in LookupIndexResponse.FromString(call.result()).entities]

    def test_every_write_is_seen_by_a_read_with_its_token(self):
        for i in range(50):
            city = f"city{i}"
            token = self.insert("r", city).consistency_token
            self.assertTrue(token)
            self.assertEqual(self.rows(city, at_least=[token]), ["r"])

    def test_a_read_waits_while_the_worker_stands_still(self):
        self.stop_worker()
        token = self.insert("a", "Bonn").consistency_token
        waiting = [self.begin("Bonn", at_least=[token]) for _ in range(200)]
        self.assertEqual(self.rows("Bonn"), [])
        error = self.refused(
            "FAILED_PRECONDITION", "NOT_FRESH_ENOUGH", self.in_time, self.rows, "Bonn", timeout=1, at_least=[token]
        )
        self.assertIn("has not reached the index", error.message)
        self.assertFalse(any(call.done() for call in waiting))
        connections = self.stack.sql(
            f"select count(*) from pg_stat_activity where datname = '{self.stack.database}'"
            " and application_name like 'tavolad page%' and state <> 'idle'"
        )
        self.assertEqual(connections, "0")
        self.continue_worker()
        for call in waiting:
            self.assertEqual(self.rows_of(call), ["a"])

    def test_a_batch_and_an_import_have_tokens(self):
        self.stop_worker()
        batch = self.client.execute_batch(table=self.table, operations=[
            BatchOperation(insert=entity("p", row, City="Bonn")) for row in "ab"
        ])
        tokens = {result.consistency_token for result in batch.results}
        self.assertEqual(len(tokens), 1)
        imported = list(self.client.import_entities([
            ImportEntitiesRequest(
                table=self.table, entities=[entity(f"p{i}", f"r{i:03}", City="Rome") for i in range(300)]
            )
        ]))
        calls = [
            self.begin("Bonn", at_least=tokens),
            self.begin("Rome", at_least=[reply.consistency_token for reply in imported]),
        ]
        self.continue_worker()
        self.assertEqual(self.rows_of(calls[0]), ["a", "b"])
        self.assertEqual(len(self.rows_of(calls[1])), 300)

    @contextlib.contextmanager
    def others_at_work(self):
        caller, table, over = self.stack.connect(), self.new_table(), threading.Event()

        def work():
            while not over.is_set():
                caller.insert_or_replace_entity(table=table, entity=entity("p", "r"))

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            caller.channel.close()

    def commits(self, row):
        """The number of transactions that have written the entities of this row key."""
        return int(self.stack.sql(f"select count(distinct xmin::text) from entities where row_key = '{self.table}{row}'"))

    def import_message(self, replies, row):
        """The answer to a message of a thousand entities, two of which are refused."""
        entities = [entity(f"p{i:03}", f"{self.table}{row}", City="Rome") for i in range(1000)]
        for refused in (5, 995):
            entities[refused].row_key = "long" * 1000
        self.given.put(ImportEntitiesRequest(table=self.table, entities=entities))
        return next(replies)

    def test_an_import_beside_others_has_small_chunks_and_the_same_answers(self):
        self.stop_worker()
        self.given = queue.Queue()
        replies = iter(self.client.import_entities(iter(self.given.get, None)))
        row, reply = 0, None
        with self.others_at_work():
            while row == 0 or self.commits(row) < 2:  # the first chunk has nothing before it that could tell
                row += 1
                reply = self.import_message(replies, row)
                self.assertEqual(reply.committed, row * 998)
                self.assertEqual([one.position for one in reply.rejected], [(row - 1) * 1000 + at for at in (5, 995)])
        self.given.put(None)
        self.assertEqual(list(replies), [])
        self.stack.sql("delete from intents where partition_key <> 'p000'")  # of all chunks but the first
        error = self.refused(
            "FAILED_PRECONDITION", "NOT_FRESH_ENOUGH", self.in_time, self.rows, "Rome", timeout=1,
            at_least=[reply.consistency_token]
        )
        self.assertIn("has not reached the index", error.message)

    def test_a_repeated_request_has_the_token_it_had(self):
        first = self.insert("a", "Bonn", request_id=f"{self.table}-1")
        again = self.insert("a", "Bonn", request_id=f"{self.table}-1")
        self.assertTrue(first.consistency_token)
        self.assertEqual(again.consistency_token, first.consistency_token)
        self.assertTrue(again.replayed)

    def test_writes_without_an_index_to_follow_have_none(self):
        other = self.new_table()
        result = self.client.insert_entity(table=other, entity=entity("p", "r", City="Bonn")).result
        self.assertEqual(result.consistency_token, "")
        self.assertEqual(self.rows("Bonn", at_least=[result.consistency_token]), [])

    def test_a_transaction_is_waited_for_with_its_effects(self):
        self.stop_worker()
        submitted = self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_replace": {"table": self.table, "entity": entity("p", "a", City="Bonn")}},
            {"insert_or_replace": {"table": self.table, "entity": entity("p", "b", City="Bonn")}},
        ]).transaction
        call = self.begin("Bonn", at_least=[submitted.consistency_token])
        error = self.refused("FAILED_PRECONDITION", "NOT_FRESH_ENOUGH", self.in_time, self.rows, "Bonn", timeout=1,
                             at_least=[submitted.consistency_token])
        self.assertIn("has not ended", error.message)
        self.continue_worker()
        self.assertEqual(self.rows_of(call), ["a", "b"])
        done = self.client.wait_transaction(transaction_id=f"{self.table}-t").transaction
        self.assertTrue(done.consistency_token)
        self.assertNotEqual(done.consistency_token, submitted.consistency_token)
        self.assertEqual(self.rows("Bonn", at_least=[done.consistency_token]), ["a", "b"])

    def test_staleness_is_bounded(self):
        self.assertEqual(self.rows("Bonn", max_staleness={"seconds": 3}), [])
        self.stop_worker()
        self.insert("a", "Bonn")
        # The open intent must grow old first.
        self.refused("FAILED_PRECONDITION", "NOT_FRESH_ENOUGH", lambda: wait_for(
            "a refusal", lambda: self.in_time(self.rows, "Bonn", timeout=1, max_staleness={"nanos": 500000000}) and False))
        call = self.begin("Bonn", max_staleness={"nanos": 500000000})
        self.continue_worker()
        self.assertEqual(self.rows_of(call), ["a"])

    def test_the_latest_need_no_worker(self):
        self.insert("a", "Bonn")
        self.insert("b", "Rome")
        wait_for("the index", lambda: self.rows("Bonn") == ["a"] and self.rows("Rome") == ["b"])
        self.stop_worker()
        self.insert("a", "Rome")
        self.insert("c", "Bonn")
        self.client.delete_entity(table=self.table, key=key(("p", "b")), precondition={"if_match": "*"})
        self.assertEqual(self.rows("Bonn", latest=True), ["c"])
        self.assertEqual(self.rows("Rome", latest=True), ["a"])
        self.assertEqual(self.rows("Oslo", latest=True), [])

    def test_tokens_are_not_made_by_callers(self):
        token = self.insert("a", "Bonn").consistency_token
        other = "A" if token[10] != "A" else "B"
        for text in ("t", token[:-1], token[:10] + other + token[11:]):
            error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.rows, "Bonn", at_least=[text])
            self.assertIn("freshness.at_least", error.message)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.rows, "Bonn", max_staleness={"seconds": -1})
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.rows, "Bonn", at_least=[token] * 101)

    def test_a_token_of_a_table_that_is_gone_is_refused(self):
        token = self.insert("a", "Bonn").consistency_token
        self.client.drop_index(name=self.index)
        self.client.delete_table(name=self.table)
        self.client.create_table(name=self.table)
        self.index = self.new_index(self.table, by="City")
        self.refused("FAILED_PRECONDITION", "TOKEN_EXPIRED", self.rows, "Bonn", at_least=[token])


if __name__ == "__main__":
    unittest.main()
