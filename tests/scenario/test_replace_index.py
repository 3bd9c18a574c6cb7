# SPDX-License-Identifier: Apache-2.0
"""Replacing an index while callers write and look up: every answer is that of the one or of the other index, and whole."""

import json
import threading
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ApiError, ImportEntitiesRequest, entity, value
from tavola_test.waiting import wait_for

HOME, MOVERS = 60, 1500
COPY, LIST = 1, 2
DONE, FAILED, CANCELLED = 3, 4, 5
PAUSE, CANCEL = 1, 3


class Crowd:
    """Threads that call something until they are told to stop; the first failure is that of the test."""

    def __init__(self, stack, *turns):
        self.stopped, self.failure, self.counts = threading.Event(), None, [0] * len(turns)
        self.clients = [stack.connect() for _ in turns]
        self.threads = [threading.Thread(target=self.run, args=(n, turn)) for n, turn in enumerate(turns)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread, client in zip(self.threads, self.clients):
            thread.join()
            client.channel.close()
        if self.failure:
            raise self.failure

    def run(self, number, turn):
        try:
            while not self.stopped.is_set() and not self.failure:
                turn(self.clients[number], self.counts[number])
                self.counts[number] += 1
        except BaseException as failure:  # for the test's own thread
            self.failure = failure

    def go_on(self, turns=5):
        """Wait until every caller has done that many more turns."""
        wanted = [count + turns for count in self.counts]
        wait_for("more turns", lambda: self.failure or all(a >= b for a, b in zip(self.counts, wanted)), 60)


class ReplaceIndex(ServerCase):
    with_worker = True

    def setUp(self):
        self.table, self.index = self.new_table(), self.new_name("i")
        people = [entity("p", f"h{row:03}", City="home") for row in range(HOME)]
        people += [entity("p", f"m{row:05}", City=f"c{row % 7}") for row in range(MOVERS)]
        list(self.client.import_entities([
            ImportEntitiesRequest(table=self.table, entities=people[at:at + 500]) for at in range(0, len(people), 500)]))
        self.client.create_index(index=self.declaration(COPY))
        self.wait_ready(self.index)

    def declaration(self, shape, place=2, **fields):
        """Look-ups by partition and City, whatever the shape and the place."""
        return {
            "name": self.index, "table": self.table, "shape": shape, "place": place,
            "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": "City"}], **fields}

    def replace(self, *declared, **fields):
        return self.client.replace_index(index=self.declaration(*declared, **fields)).operation

    def ended(self, operation):
        return self.client.wait_operation(operation_id=operation.operation_id, timeout=60).operation

    def look_up(self, client, city, **fields):
        return [found.row_key for found in client.lookup_index(
            index=self.index, equals=[value("p"), value(city)], timeout=20, **fields).entities]

    # ---- what callers do all the time ----

    def writes_and_finds(self, client, number):
        """What a write's token names is found; the first answer may be that the index was replaced in between."""
        row, city = f"m{number % MOVERS:05}", f"here{number}"
        result = client.insert_or_replace_entity(table=self.table, entity=entity("p", row, City=city)).result
        freshness = {"at_least": [result.consistency_token]} if result.consistency_token else {}
        for attempt in range(3):
            try:
                found = self.look_up(client, city, freshness=freshness)
                break
            except ApiError as error:
                if error.reason != "STORE_UNAVAILABLE" or attempt == 2:
                    raise
        assert found == [row], (number, found)

    def looks_up(self, client, number):
        found = self.look_up(client, "home", freshness={"latest": True} if number % 2 else {}, trust_index=number % 3 == 0)
        assert found == [f"h{row:03}" for row in range(HOME)], (number, len(found))

    def queries(self, client, number):
        """The table of the index's name, as a copy or as a list."""
        page = client.query_entities(
            query={"table": self.index, "filter": "PartitionKey eq 'p' and RowKey ge 'home' and RowKey lt 'homf'"})
        listed = [json.loads(found.properties["Members"].string_value) for found in page.entities
                  if "Members" in found.properties]
        count = sum(map(len, listed)) if listed else len(page.entities)
        assert count == HOME, (number, count)

    def test_no_caller_notices(self):
        with Crowd(self.stack, self.writes_and_finds, self.looks_up, self.queries) as crowd:
            for declared in ((LIST,), (COPY, 1), (COPY,), (LIST, 1), (COPY,)):
                crowd.go_on()
                operation = self.replace(*declared)
                self.assertEqual(operation.kind, "replace_index")
                self.assertEqual(self.ended(operation).state, DONE)
                found = self.client.get_index(name=self.index)
                self.assertEqual((found.index.shape, found.index.place), (declared + (2,))[:2])
                crowd.go_on()
        operation = self.client.verify_index(name=self.index).operation
        self.wait_done(operation)
        report = self.client.get_index_report(operation_id=operation.operation_id).report
        self.assertEqual((report.sources, report.missing, report.dangling, report.mismatched, report.manifests),
                         (HOME + MOVERS, 0, 0, 0, 0))
        wait_for("the end of the purges", lambda: self.stack.sql("select count(*) from indexes where state = 4") == "0", 60)

    def test_programs_die_meanwhile(self):
        operation = self.replace(LIST)
        self.stack.worker.kill()
        self.stack.start_worker()
        self.stack.server.kill()
        self.stack.start_server()
        self.assertEqual(self.ended(operation).state, DONE)
        self.looks_up(self.client, 0)
        self.assertEqual(self.client.get_index(name=self.index).index.shape, LIST)

    def test_a_status_shows_it_and_a_cancellation_ends_it(self):
        operation = self.replace(LIST)
        self.client.control_operation(operation_id=operation.operation_id, control=PAUSE)
        status = self.client.get_index(name=self.index).status
        self.assertEqual(status.replacement.operation_id, operation.operation_id)
        self.assertEqual([view.index.name for view in self.client.list_indexes().indexes].count(self.index), 1)
        error = self.refused("FAILED_PRECONDITION", "INDEX_NOT_READY", self.replace, LIST)
        self.assertIn("being replaced already", error.message)
        for _ in range(2):
            reply = self.client.control_operation(operation_id=operation.operation_id, control=CANCEL)
            self.assertEqual(reply.operation.state, CANCELLED)
        found = self.client.get_index(name=self.index)
        self.assertFalse(found.status.HasField("replacement"))
        self.assertEqual(found.index.shape, COPY)
        self.looks_up(self.client, 0)
        self.assertEqual(self.ended(self.replace(LIST)).state, DONE)
        self.refused("FAILED_PRECONDITION", "OPERATION_NOT_CONTROLLABLE", self.client.control_operation,
                     operation_id=self.client.get_index(name=self.index).status.build.operation_id, control=CANCEL)

    def test_what_cannot_hold_the_entities_leaves_the_index_as_it_was(self):
        operation = self.replace(COPY, row_key=[{"property": "City", "width": 3}], on_violation=2)
        ended = self.ended(operation)
        self.assertEqual(ended.state, FAILED)
        self.assertIn("City is of type String", ended.error.message)
        self.client.insert_entity(table=self.table, entity=entity("q", "new", City="home"))
        self.looks_up(self.client, 0)
        self.assertEqual(self.client.get_index(name=self.index).index.on_violation, 1)

    def test_page_tokens_end_with_the_index_that_gave_them(self):
        first = self.client.lookup_index(index=self.index, equals=[value("p"), value("home")], page_size=10)
        self.assertEqual(self.ended(self.replace(COPY)).state, DONE)
        self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", self.client.lookup_index, index=self.index,
                     equals=[value("p"), value("home")], page_size=10, page_token=first.next_page_token)

    def test_it_is_of_the_same_table_and_name(self):
        other = self.new_table()
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.replace, COPY, table=other)
        self.assertEqual(list(error.fields), ["index.table"])
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.replace, COPY, name="nobody")
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.replace, COPY, name=other)
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.replace, COPY, unique=True, row_key=[], filter="(")
        self.assertEqual(list(error.fields), ["index.filter"])

    def test_a_dropped_index_takes_its_replacement_along(self):
        operation = self.replace(LIST)
        self.wait_done(self.client.drop_index(name=self.index).operation)
        self.assertIn(self.ended(operation).state, (CANCELLED, DONE))
        self.refused("NOT_FOUND", "INDEX_NOT_FOUND", self.client.get_index, name=self.index)
        wait_for("the end of the purges", lambda: self.stack.sql("select count(*) from indexes where state = 4") == "0", 60)


if __name__ == "__main__":
    unittest.main()
