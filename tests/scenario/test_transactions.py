# SPDX-License-Identifier: Apache-2.0
"""Transactions as callers follow them: watch, cancel, wait in a read, list by the entities that the steps touch."""

import threading
import unittest
import uuid

from tavola_test.case import ServerCase
from tavola_test.client import entity, key, plain, types

WatchTransactionRequest = types.message("tavola.v1.WatchTransactionRequest")
PENDING, RUNNING, DONE, FAILED, CANCELLED = 1, 2, 3, 4, 5


class Transactions(ServerCase):
    def setUp(self):
        self.table = self.new_table()
        self.addCleanup(self.stop_worker)

    def stop_worker(self):
        if self.stack.worker:
            self.stack.worker.stop()
            self.stack.worker = None

    def put(self, row, **properties):
        return {"insert_or_replace": {"table": self.table, "entity": entity("p", row, properties)}}

    def submit(self, *steps):
        name = str(uuid.uuid4())
        self.client.submit_transaction(transaction_id=name, steps=steps)
        return name

    def watch(self, name, timeout=30):
        for reply in self.client.watch_transaction([WatchTransactionRequest(transaction_id=name)], timeout=timeout):
            yield reply.transaction

    # watching

    def test_a_watch_shows_every_state_and_ends(self):
        name = self.submit(self.put("a", N=1), self.put("a", N=2))
        watch = self.watch(name)
        self.assertEqual(next(watch).state, PENDING)
        self.stack.start_worker()
        rest = list(watch)
        self.assertEqual(rest[-1].state, DONE)
        self.assertEqual(rest[-1].steps_done, 2)
        self.assertEqual(len(rest[-1].timeline), 2)
        done = [seen.steps_done for seen in rest]
        self.assertEqual(done, sorted(set(done)))

    def test_a_watch_of_what_has_ended_ends_at_once(self):
        name = self.submit(self.put("a", N=1))
        self.client.cancel_transaction(transaction_id=name)
        self.assertEqual([seen.state for seen in self.watch(name)], [CANCELLED])

    def test_a_watch_ends_ok_with_its_deadline(self):
        name = self.submit(self.put("a", N=1))
        self.assertEqual([seen.state for seen in self.in_time(lambda: list(self.watch(name, timeout=1)))], [PENDING])

    def test_a_watch_of_nothing_is_refused(self):
        self.refused("NOT_FOUND", "TRANSACTION_NOT_FOUND", lambda: list(self.watch("none")))

    # cancelling

    def test_cancelled_before_its_first_step_it_does_nothing(self):
        name = self.submit(self.put("c", N=1))
        self.assertEqual(self.client.cancel_transaction(transaction_id=name).transaction.state, CANCELLED)
        self.stack.start_worker()
        after = self.submit(self.put("d", N=1))
        self.assertEqual(self.client.wait_transaction(transaction_id=after).transaction.state, DONE)
        self.assertFalse(self.is_there(self.table, "p", "c"))
        self.refused("FAILED_PRECONDITION", "TRANSACTION_STARTED", self.client.cancel_transaction, transaction_id=after)
        self.refused("NOT_FOUND", "TRANSACTION_NOT_FOUND", self.client.cancel_transaction, transaction_id="none")

    # reads that wait

    def test_reads_wait_for_the_transaction_they_name(self):
        name = self.submit(self.put("w", N=1), self.put("w", N=2))
        options = {"wait_for_transaction": name}
        seen = []

        def read(call):
            seen.append(call())

        calls = [
            lambda: self.get(self.table, "p", "w", options=options),
            lambda: self.client.batch_get_entities(table=self.table, keys=[key(("p", "w"))], options=options).results[0].entity,
            lambda: self.client.query_entities(query={"table": self.table}, options=options).entities[0],
        ]
        threads = [threading.Thread(target=read, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        self.stack.start_worker()
        for thread in threads:
            thread.join()
        self.assertEqual([plain(each) for each in seen], [{"N": 2}] * 3)

    def test_a_read_says_when_it_could_not_wait_it_out(self):
        name = self.submit(self.put("x", N=1))
        options = {"wait_for_transaction": name}
        late = self.refused("FAILED_PRECONDITION", "NOT_FRESH_ENOUGH", self.in_time, self.get, self.table, "p", "x", options=options,
                            timeout=1)
        self.assertIn(name, late.message)
        self.client.cancel_transaction(transaction_id=name)
        self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.get, self.table, "p", "x", options=options)
        unknown = {"wait_for_transaction": "none"}
        self.refused("NOT_FOUND", "TRANSACTION_NOT_FOUND", self.get, self.table, "p", "x", options=unknown)

    def test_many_waiting_reads_hold_no_connection(self):
        name = self.submit(self.put("y", N=1))
        calls = []
        request = types.message("tavola.v1.GetEntityRequest")(
            table=self.table, key=key(("p", "y")), options={"wait_for_transaction": name}
        ).SerializeToString()
        for _ in range(300):
            calls.append(self.client.start("/tavola.v1.EntityService/GetEntity", request))
        self.client.insert_entity(table=self.table, entity=entity("p", "other", N=1))
        self.assertTrue(self.is_there(self.table, "p", "other"))
        self.stack.start_worker()
        for call in calls:
            self.assertTrue(call.result())

    # lists

    def test_lists_by_state_and_by_entity(self):
        first = self.submit(self.put("l1", N=1), self.put("l2", N=1))
        second = self.submit(self.put("l2", N=1))
        self.client.cancel_transaction(transaction_id=second)
        touched = {"table": self.table.upper(), "key": key(("p", "l2"))}

        def listed(**fields):
            pages = self.client.pages(self.client.list_transactions, page_size=1, **fields)
            return {each.transaction_id for page in pages for each in page.transactions}

        self.assertEqual(listed(entity=touched), {first, second})
        self.assertEqual(listed(entity=touched, state=CANCELLED), {second})
        self.assertIn(first, listed(state=PENDING))
        self.assertNotIn(second, listed(state=PENDING))
        token = self.client.list_transactions(page_size=1, entity=touched).next_page_token
        self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", self.client.list_transactions, page_token=token)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.list_transactions, state=99)

    def test_a_step_in_an_account_without_the_table_is_refused(self):
        step = {"delete_if_exists": {"account": "other", "table": self.table, "key": key(("p", "a"))}}
        error = self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.submit, self.put("a", N=1), step)
        self.assertEqual(error.metadata["operation_index"], "1")

    def test_a_table_that_has_gone_since_fails_the_transaction(self):
        table = self.new_table()
        step = {"delete_if_exists": {"table": table, "key": key(("p", "a"))}}
        name = self.submit(step)
        self.client.delete_table(name=table)
        self.assertEqual(self.client.submit_transaction(transaction_id=name, steps=[step]).transaction.state, PENDING)
        self.stack.start_worker()
        done = self.client.wait_transaction(transaction_id=name).transaction
        self.assertEqual(done.state, FAILED)
        self.assertEqual(done.timeline[0].error.reason, "TABLE_NOT_FOUND")


if __name__ == "__main__":
    unittest.main()
