# SPDX-License-Identifier: Apache-2.0
"""Steps of transactions that put and delete blobs."""

import hashlib
import json
import os
import subprocess
import sys
import unittest
import uuid

from tavola_test import audit, blobs
from tavola_test.blobs import CHUNK, content
from tavola_test.case import ServerCase
from tavola_test.client import entity, key
from tavola_test.processes import program_environment, run_program
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR

DONE, FAILED = 3, 4


class BlobSteps(ServerCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def setUp(self):
        self.table = self.new_table()

    def run_steps(self, *steps, name=None):
        name = name or str(uuid.uuid4())
        self.client.submit_transaction(transaction_id=name, steps=steps)
        return self.client.wait_transaction(transaction_id=name, timeout=30).transaction

    def employee(self, row, **properties):
        self.client.insert_entity(table=self.table, entity=entity("sales", row, properties or {"Name": "Ada"}))
        return {"table": self.table, "key": key(("sales", row))}

    def blob(self, name):
        return blobs.get(self.client, name)

    def is_absent(self, name):
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.stat_blob, name=name)

    def ends(self, step, state, reason=""):
        ended = self.run_steps(step)
        self.assertEqual((ended.state, ended.timeline[-1].error.reason), (state, reason))
        return ended.timeline[-1]

    def test_a_put_has_the_content_and_a_receipt(self):
        for size in (0, 5, CHUNK, 3 * CHUNK + 7, 1024 * 1024):
            data = content(size, size)
            attempt = self.ends({"put_blob": {"name": f"a/{size}", "data": data, "content_type": "a/b"}}, DONE)
            found, got = self.blob(f"a/{size}")
            self.assertEqual((got, found.content_type), (data, "a/b"))
            self.assertEqual((attempt.receipt.size, attempt.receipt.sha256, attempt.receipt.etag),
                             (size, hashlib.sha256(data).digest(), found.etag))
        replaced = self.ends({"put_blob": {"name": "a/5", "data": b"new"}}, DONE)
        self.assertEqual(self.blob("a/5")[1], b"new")
        self.assertEqual(self.client.stat_blob(name="a/5").blob.etag, replaced.receipt.etag)

    def test_an_entity_goes_from_the_table_into_a_blob(self):
        address = self.employee("1", Name="Ada", Age=36)
        self.assertEqual(self.ends({"put_blob": {"name": "archive/1.json", "entity": address, "delete_entity": True}}, DONE).receipt.size > 0, True)
        self.assertFalse(self.is_there(self.table, "sales", "1"))
        line = json.loads(self.blob("archive/1.json")[1])
        self.assertEqual((line["RowKey"], line["Name"]), ("1", "Ada"))

    def test_a_submission_that_is_repeated_puts_once(self):
        name, step = str(uuid.uuid4()), {"put_blob": {"name": "once", "data": b"first"}}
        first = self.run_steps(step, name=name)
        blobs.put(self.client, "once", b"later")
        self.assertEqual(self.run_steps(step, name=name), first)
        self.assertEqual(self.blob("once")[1], b"later")

    def test_conditions_are_about_what_the_name_points_to(self):
        first = blobs.put(self.client, "c", b"1").etag
        self.ends({"put_blob": {"name": "c", "data": b"2", "if_absent": True}}, FAILED, "BLOB_ALREADY_EXISTS")
        self.ends({"put_blob": {"name": "none", "data": b"2", "if_match": "*"}}, FAILED, "UPDATE_CONDITION_NOT_SATISFIED")
        self.is_absent("none")
        second = self.ends({"put_blob": {"name": "c", "data": b"2", "if_match": first}}, DONE).receipt.etag
        self.ends({"put_blob": {"name": "c", "data": b"3", "if_match": first}}, FAILED, "UPDATE_CONDITION_NOT_SATISFIED")
        self.assertEqual(self.blob("c")[1], b"2")
        self.ends({"delete_blob": {"name": "c", "if_match": first}}, FAILED, "UPDATE_CONDITION_NOT_SATISFIED")
        self.assertEqual(self.ends({"delete_blob": {"name": "c", "if_match": second}}, DONE).etag_before, second)
        self.is_absent("c")
        self.ends({"delete_blob": {"name": "c"}}, DONE, "BLOB_NOT_FOUND")
        self.ends({"delete_blob": {"name": "c", "if_match": "*"}}, FAILED, "UPDATE_CONDITION_NOT_SATISFIED")
        self.ends({"put_blob": {"name": "c", "data": b"new", "if_absent": True}}, DONE)

    def test_if_the_condition_does_not_hold_the_entity_stays(self):
        address = self.employee("1")
        blobs.put(self.client, "taken", b"x")
        step = {"name": "taken", "entity": address, "delete_entity": True, "if_absent": True}
        self.ends({"put_blob": step}, FAILED, "BLOB_ALREADY_EXISTS")
        self.assertTrue(self.is_there(self.table, "sales", "1"))
        self.ends({"put_blob": {**step, "entity": {**address, "key": key(("sales", "none"))}}}, FAILED, "RESOURCE_NOT_FOUND")

    def test_bad_steps_are_refused_when_they_are_submitted(self):
        for step in ({"put_blob": {"name": "a//b", "data": b""}}, {"put_blob": {"name": "a"}},
                     {"put_blob": {"name": "a", "data": b"x", "delete_entity": True}},
                     {"put_blob": {"name": "a", "data": b"x", "if_match": "x"}},
                     {"put_blob": {"name": "a", "data": b"x", "if_match": "*", "if_absent": True}},
                     {"put_blob": {"name": "a", "data": bytes(1024 * 1024 + 1)}},
                     {"put_blob": {"name": "a", "data": b"x", "content_type": "\n"}},
                     {"delete_blob": {"name": ""}}, {"delete_blob": {"name": "a", "if_match": "x"}}):
            with self.subTest(step=str(step)[:60]):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.submit_transaction, transaction_id="bad", steps=[step])

    def test_nothing_is_left_of_contents_that_got_no_name(self):
        blobs.put(self.client, "l/taken", b"x")
        for number in range(3):
            self.ends({"put_blob": {"name": "l/taken", "data": content(CHUNK + number), "if_absent": True}}, FAILED, "BLOB_ALREADY_EXISTS")
            self.ends({"put_blob": {"name": "l/new", "data": content(CHUNK + number)}}, DONE)
        self.ends({"delete_blob": {"name": "l/new"}}, DONE)
        self.stack.sql(blobs.COLLECT_AT_ONCE)
        audit.check(self.stack, 20)

    def test_steps_with_blobs_wait_for_the_end_of_an_upgrade(self):
        self.stack.sql("update schema_migrations set oldest_program = 36")
        self.refused("FAILED_PRECONDITION", "STEP_NOT_CONFIGURED", self.client.submit_transaction, transaction_id="early",
                     steps=[{"delete_blob": {"name": "x"}}])
        self.stack.sql("update schema_migrations set oldest_program = version")
        self.ends({"delete_blob": {"name": "x"}}, DONE, "BLOB_NOT_FOUND")

    def submit(self, *lines):
        return run_program("tavola", "tx", "submit", "--table", self.table, "--wait", settings={"TAVOLA_TARGET": self.stack.target},
                           text="".join(json.dumps(line) + "\n" for line in lines))

    def test_the_command_line_takes_such_steps(self):
        self.employee("7")
        line = {"putBlob": "line/7.json", "from": {"PartitionKey": "sales", "RowKey": "7"}, "deleteEntity": True,
                "contentType": "application/json", "blobIfAbsent": True}
        submitted = self.submit(line, {"putBlob": "line/text", "content": "text"})
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        described, found = self.blob("line/7.json")
        self.assertEqual((described.content_type, json.loads(found)["Name"]), ("application/json", "Ada"))
        self.assertRegex(submitted.stdout, rf"(?m)^  step 0 attempt \d+ by .*: {described.size} bytes, ETag {described.etag}$")
        self.assertFalse(self.is_there(self.table, "sales", "7"))
        self.assertEqual(self.blob("line/text")[1], b"text")
        self.assertEqual(self.submit({"putBlob": "line/text", "content": "x", "blobIfAbsent": True}).returncode, 1)
        self.assertEqual(self.submit({"putBlob": "line/text", "content": "y", "blobIfMatch": self.blob("line/text")[0].etag}).returncode, 0)
        self.assertEqual(self.blob("line/text")[1], b"y")
        self.assertEqual(self.submit({"deleteBlob": "line/text", "blobIfMatch": described.etag}).returncode, 1)
        self.assertEqual(self.submit({"deleteBlob": "line/text"}).returncode, 0)
        self.is_absent("line/text")

    def test_the_command_line_refuses_lines_that_are_wrong(self):
        entity_key = {"PartitionKey": "p", "RowKey": "r"}
        for bad in ({"putBlob": "a"}, {"putBlob": "a", "content": "x", "from": entity_key}, {"putBlob": "a", "writeFile": "b", "content": "x"},
                    {"deleteBlob": "a", "content": "x"}, {"deleteBlob": "a", "from": entity_key}, {"deleteBlob": "a", "ifMatch": "*"},
                    {"writeFile": "a", "content": "x", "contentType": "a/b"}, {"delete": entity_key, "blobIfMatch": "*"},
                    {"putBlob": "a", "content": "x", "blobIfAbsent": "yes"}):
            with self.subTest(line=bad):
                refused = self.submit(bad)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("line 1", refused.stderr)
        batched = run_program("tavola", "batch", self.table, settings={"TAVOLA_TARGET": self.stack.target},
                              text=json.dumps({"putBlob": "a", "from": entity_key}))
        self.assertEqual(batched.returncode, 2)
        self.assertFalse(self.is_there(self.table, "p", "r"))

    def test_the_example_loses_an_employee_by_hand_and_none_by_a_step(self):
        script = os.path.join(SOURCE, "examples/patterns/archive_to_blob.py")
        ran = subprocess.run([sys.executable, "-B", script, self.stack.target], env=program_environment({}), capture_output=True,
                             text=True, check=False, timeout=60 * TIMEOUT_FACTOR)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.splitlines(), [
            "two calls by hand, the blob first", "   Ada: in the table as Countess, in the archive as Ada",
            "two calls by hand, the delete first", "   Edith: not in the table, not in the archive",
            "put_blob", "   Grace: not in the table, in the archive as Grace", "   receipts: 1",
        ])


if __name__ == "__main__":
    unittest.main()
