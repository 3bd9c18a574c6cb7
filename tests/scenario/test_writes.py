"""Writes as callers see them: what a request_id is worth."""

import unittest
import uuid

from case import ServerCase
from client import BatchOperation, entity, key, match


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
        self.assertEqual((again.message, again.metadata), (first.message, first.metadata))
        again = self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.execute_batch, **batch)
        self.assertEqual((again.message, again.metadata), (group.message, group.metadata))
        self.assertFalse(self.is_there(self.table, "p", "r"))

    def test_ids_have_their_form(self):
        put = {"table": self.table, "entity": entity("p", "r", A=1)}
        for bad in ("x" * 129, "\u00e9", "a\nb", "\x7f", "a\0"):
            with self.subTest(bad):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.insert_entity, **put, request_id=bad)
        self.assertFalse(self.is_there(self.table, "p", "r"))
        self.client.insert_entity(**put, request_id="~" * 127 + " ")


if __name__ == "__main__":
    unittest.main()
