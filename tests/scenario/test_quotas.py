# SPDX-License-Identifier: Apache-2.0
"""Quotas of entities and bytes: an account at its quota writes nothing more, whatever way, deletes what it likes, and goes on
when the next count has seen it. Other accounts notice nothing.
"""

from tavola_test import client
from tavola_test.client import ApiError, match
from tavola_test.credentials import sas, token
from tavola_test.security_case import OK, REFUSED, SecurityCase, address, result
from tavola_test.waiting import wait_for

FULL = ("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED")
INDEX = {"name": "ByN", "table": "Held", "shape": 1, "place": 2, "partition_key": [{"property": "N"}]}
QUOTA = 5
BYTES = 20000


class Quotas(SecurityCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.start_worker()

    @classmethod
    def start_worker(cls):
        cls.stack.start_worker(TAVOLA_USAGE_SHARE="100", TAVOLA_USAGE_INTERVAL_SECONDS="1")

    def setUp(self):
        """An account of its own, with a table and an index."""
        self.name = self.id().split(".")[-1].replace("_", "")[-60:]
        self.keys = self.new_account(self.name)
        self.caller = self.connect(token(self.keys[0], account=self.name))
        self.caller.create_table(name="Held")
        self.caller.create_index(index=INDEX)

    def put(self, row, **properties):
        return result(self.caller.insert_or_replace_entity, table="Held", entity=client.entity("p", row, **properties))

    def delete(self, row):
        return result(self.caller.delete_entity, table="Held", key=address("p", row), precondition=match())

    def usage(self):
        return self.caller.get_account_usage()

    def fill(self, *quota):
        """QUOTA entities that are counted; then the quota is set, and the server knows it."""
        for row in range(QUOTA):
            self.assertEqual(self.put(f"{row}", N=row), OK)
        wait_for("the count", lambda: self.usage().entities.used == QUOTA)
        self.operate("account", "set-quota", self.name, *quota)
        # Read only, and refused as a write would be.
        request = {"index": {**INDEX, "name": "Never"}} if quota[0] == "--bytes" else None
        if request:
            wait_for("the quota", lambda: result(self.caller.create_index, **request) == FULL)
        else:
            wait_for("the quota", lambda: self.put("0", N=0) == FULL)

    def load(self, rows):
        chunk = client.ImportEntitiesRequest(table="Held", entities=[client.entity("p", row) for row in rows])
        return list(self.caller.import_entities([chunk]))

    # ---- entities ----

    def test_entities_used_up(self):
        self.fill("--entities", f"{QUOTA}")
        with self.assertRaises(ApiError) as caught:
            self.caller.insert_entity(table="Held", entity=client.entity("p", "new"))
        self.assertEqual(caught.exception.metadata, {"what": "entities", "limit": f"{QUOTA}", "actual": f"{QUOTA}"})
        batch = [{"delete": address("p", "0"), "precondition": match()}, {"insert": client.entity("p", "new")}]
        step = {"insert_or_replace": {"table": "Held", "entity": client.entity("p", "new")}}
        move = {"move": {"source": {"table": "Held", "key": address("p", "1")}, "destination": {"table": "Held", "key": address("p", "moved")}}}
        self.check((
            ("a batch with an insert", result(self.caller.execute_batch, table="Held", operations=batch), FULL),
            ("a transaction with an upsert", result(self.caller.submit_transaction, transaction_id="t1", steps=[step]), FULL),
            ("a transaction with a move", result(self.caller.submit_transaction, transaction_id="t2", steps=[move]), OK),
            ("an import", result(lambda: self.load(["new"])), FULL),
            ("a merge", result(self.caller.merge_entity, table="Held", entity=client.entity("p", "2", M=1),
                               precondition=match()), OK),
            ("a read", result(self.caller.get_entity, table="Held", key=address("p", "2")), OK),
            ("another account", result(self.client.insert_or_replace_entity, table="People", entity=client.entity("a", "1")), OK),
            ("a delete", self.delete("3"), OK),
        ))
        wait_for("the count", lambda: self.usage().entities.used == QUOTA - 1)
        wait_for("room", lambda: self.put("new") == OK)

    def test_a_signature_is_held_to_the_quota_of_its_account(self):
        self.fill("--entities", f"{QUOTA}")
        holder = self.connect(sas(self.keys[0], "held", account=self.name, permissions="rau"))
        put = {"table": "Held", "entity": client.entity("p", "new")}
        self.assertEqual(result(holder.insert_or_replace_entity, **put), FULL)
        self.assertEqual(result(holder.get_account_usage), REFUSED)

    # ---- bytes ----

    def test_bytes_used_up(self):
        self.fill("--bytes", "1")
        self.check((
            ("an upsert", self.put("0"), FULL),
            ("a merge", result(self.caller.merge_entity, table="Held", entity=client.entity("p", "2", M=1),
                               precondition=match()), FULL),
            ("a delete", self.delete("3"), OK),
        ))

    def test_entries_of_indexes_are_bytes_and_no_entities(self):
        before = self.usage()
        self.assertEqual((before.entities.quota, before.bytes.quota), (0, 0))
        self.put("large", N=1, Text="x" * BYTES)
        wait_for("the count", lambda: self.usage().index_entries == 1)
        counted = self.usage()
        self.assertEqual((counted.entities.used, counted.tables.used, counted.indexes.used), (1, 1, 1))
        self.assertGreater(counted.bytes.used, BYTES)
        self.assertGreater(counted.counted.seconds, 0)
        self.assertEqual((counted.tables.quota, counted.indexes.quota), (5000, 5000))
        self.assertEqual(self.delete("large"), OK)
        wait_for("the next count", lambda: (self.usage().entities.used, self.usage().bytes.used) == (0, 0))

    # ---- blobs ----

    def timeline(self, name):
        return [one.error.reason for one in self.caller.get_transaction(transaction_id=name).transaction.timeline]

    def test_a_step_that_puts_a_blob_waits_for_room(self):
        """The quota is used up when the step is performed, not when it was submitted."""
        step = {"put_blob": {"name": "late", "data": b"late"}}
        self.assertEqual(self.put("0", N=0), OK)
        wait_for("the count", lambda: self.usage().bytes.used > 0)
        self.stack.worker.stop()
        try:
            self.caller.submit_transaction(transaction_id="late", steps=[step])
            self.operate("account", "set-quota", self.name, "--bytes", "1")
        finally:
            self.start_worker()
        wait_for("the refusal", lambda: "QUOTA_EXCEEDED" in self.timeline("late"))
        self.assertEqual(result(self.caller.stat_blob, name="late"), ("NOT_FOUND", "BLOB_NOT_FOUND"))
        wait_for("the quota", lambda: result(self.caller.submit_transaction, transaction_id="never", steps=[step]) == FULL)
        self.operate("account", "set-quota", self.name, "--bytes", "default")
        done = self.caller.wait_transaction(transaction_id="late", timeout=60).transaction
        self.assertEqual((done.state, done.timeline[-1].receipt.size), (3, len(b"late")))
        self.assertEqual(self.caller.stat_blob(name="late").blob.size, len(b"late"))

    # ---- the command line ----

    def test_the_command_line_shows_usage(self):
        self.fill("--entities", f"{QUOTA}", "--bytes", "none")
        printed = self.operate("account", "usage", TAVOLA_TARGET=self.stack.target, TAVOLA_TOKEN=token(self.keys[0], account=self.name))
        self.assertIn(f"entities  {QUOTA} of {QUOTA}\n", printed)
        self.assertIn("of any number\n", printed)
        self.operate("account", "set-quota", self.name, "--entities", "default")
        wait_for("room", lambda: self.put("new") == OK)
