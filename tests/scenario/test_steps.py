# SPDX-License-Identifier: Apache-2.0
"""Steps of transactions outside the tables, as callers and operators see them."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid

from tavola_test.case import ServerCase
from tavola_test.client import entity, key
from tavola_test.processes import program_environment, run_program
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.waiting import wait_for

DONE, FAILED, DEAD = 3, 4, 6


class Steps(ServerCase):
    """A server and a worker with a directory for files."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.settings = {"TAVOLA_FILE_ROOT": cls.root}
        cls.stack.server.stop()
        cls.stack.start_server(**cls.settings)
        cls.stack.start_worker(**cls.settings)

    def setUp(self):
        self.table = self.new_table()

    def submit(self, *steps):
        name = str(uuid.uuid4())
        self.client.submit_transaction(transaction_id=name, steps=steps)
        return name

    def ended(self, name):
        return self.client.wait_transaction(transaction_id=name, timeout=30).transaction

    def run_steps(self, *steps):
        return self.ended(self.submit(*steps))

    def tavola(self, *arguments, lines):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return run_program("tavola", *arguments, settings={"TAVOLA_TARGET": self.stack.target}, text=text)

    def path(self, name):
        accounts = os.listdir(self.root)
        self.assertEqual(len(accounts), 1)
        return os.path.join(self.root, accounts[0], name)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def employee(self, row, **properties):
        self.client.insert_entity(table=self.table, entity=entity("sales", row, properties or {"Name": "Ada"}))
        return {"table": self.table, "key": key(("sales", row))}

    # append_file

    def test_appends_of_many_transactions_are_each_there_once(self):
        names = [self.submit(*({"append_file": {"path": "logs/many", "data": f"{number}-{part}\n".encode()}} for part in range(3)))
                 for number in range(30)]
        ended = [self.ended(name) for name in names]
        self.assertEqual({each.state for each in ended}, {DONE})
        content = self.content("logs/many")
        self.assertEqual(sorted(content.decode().split()), sorted(f"{number}-{part}" for number in range(30) for part in range(3)))
        for each in ended:
            for attempt in each.timeline:
                receipt = attempt.receipt
                written = content[receipt.offset:receipt.offset + receipt.size]
                self.assertEqual(hashlib.sha256(written).digest(), receipt.sha256)

    def test_a_file_that_another_program_has_cut_is_a_dead_letter(self):
        append = {"append_file": {"path": "logs/cut", "data": b"line\n"}}
        self.assertEqual(self.run_steps(append).state, DONE)
        os.rename(self.path("logs/cut"), self.path("logs/away"))
        name = self.submit(append)
        wait_for("a dead letter", lambda: self.client.get_transaction(transaction_id=name).transaction.state == DEAD)
        os.replace(self.path("logs/away"), self.path("logs/cut"))
        self.client.redrive_dead_letters(filter={"cause": "FILE_CHANGED"})
        self.assertEqual(self.ended(name).state, DONE)
        self.assertEqual(self.content("logs/cut"), b"line\nline\n")

    def test_the_example_shows_a_double_by_hand_and_none_by_a_step(self):
        script = os.path.join(SOURCE, "examples/patterns/archive_to_file.py")
        ran = subprocess.run([sys.executable, "-B", script, self.stack.target], env=program_environment({}), capture_output=True,
                             text=True, check=False, timeout=60 * TIMEOUT_FACTOR)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.splitlines(), [
            "two parts by hand", "   Ada: not in the table", "   lines in the file: 2",
            "append_file", "   Grace: not in the table", "   receipts: 1, the first at byte 0",
        ])
        self.assertEqual(len(self.content("archive/employees.jsonl").splitlines()), 1)

    # write_file

    def test_the_command_line_takes_such_steps(self):
        self.employee("7")
        lines = [
            {"writeFile": "line/text", "content": "text"},
            {"writeFile": "line/entity", "from": {"PartitionKey": "sales", "RowKey": "7"}, "deleteEntity": True},
        ]
        submitted = self.tavola("tx", "submit", "--table", self.table, "--wait", lines=lines)
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.assertEqual(self.content("line/text"), b"text")
        self.assertRegex(submitted.stdout, r"(?m)^  step 0 attempt \d+ by \S+: 4 bytes$")
        self.assertEqual(json.loads(self.content("line/entity"))["Name"], "Ada")
        self.assertFalse(self.is_there(self.table, "sales", "7"))
        for bad in ({"writeFile": "a"}, {"writeFile": "a", "content": "x", "from": {"PartitionKey": "p", "RowKey": "r"}},
                    {"content": "x"}, {"writeFile": "a", "content": "x", "deleteEntity": "yes"}):
            refused = self.tavola("tx", "submit", "--table", self.table, lines=[bad])
            self.assertEqual(refused.returncode, 2, bad)
            self.assertIn("line 1", refused.stderr)

    def test_a_file_is_written_once_and_has_a_receipt(self):
        step = {"write_file": {"path": "notes/one.txt", "data": b"one"}}
        done = self.run_steps(step)
        self.assertEqual(done.state, DONE, done)
        self.assertEqual(self.content("notes/one.txt"), b"one")
        self.assertEqual(done.timeline[0].receipt.size, 3)
        self.assertEqual(done.timeline[0].receipt.sha256, hashlib.sha256(b"one").digest())
        self.assertEqual(self.run_steps(step).state, DONE)
        self.assertEqual(self.content("notes/one.txt"), b"one")

    def test_an_employee_is_archived_and_deleted(self):
        address = self.employee("1", Name="Ada", Age=36)
        done = self.run_steps({"write_file": {"path": "archive/sales-1.json", "entity": address, "delete_entity": True}})
        self.assertEqual(done.state, DONE, done)
        archived = json.loads(self.content("archive/sales-1.json"))
        self.assertEqual((archived["PartitionKey"], archived["RowKey"], archived["Name"], archived["Age"]), ("sales", "1", "Ada", "36"))
        self.assertFalse(self.is_there(self.table, "sales", "1"))
        self.assertTrue(done.timeline[0].etag_before)
        self.assertFalse(done.timeline[0].etag_after)

    def test_an_archived_employee_keeps_the_time_at_which_it_expires(self):
        given = entity("sales", "2", Name="Grace")
        given.expires.FromJsonString("2999-12-31T00:00:00.5Z")
        self.client.insert_entity(table=self.table, entity=given)
        self.run_steps({"write_file": {"path": "archive/sales-2.json", "entity": {"table": self.table, "key": key(("sales", "2"))}}})
        self.assertEqual(json.loads(self.content("archive/sales-2.json"))["tavola.expires"], "2999-12-31T00:00:00.5Z")

    def test_other_content_under_the_name_is_a_dead_letter_that_can_be_redriven(self):
        self.run_steps({"write_file": {"path": "same", "data": b"one"}})
        name = self.submit({"write_file": {"path": "same", "data": b"two"}})
        wait_for("a dead letter", lambda: self.client.get_transaction(transaction_id=name).transaction.state == DEAD)
        seen = self.client.get_transaction(transaction_id=name).transaction
        self.assertEqual([attempt.error.reason for attempt in seen.timeline], ["FILE_EXISTS"])
        self.assertEqual(self.content("same"), b"one")
        os.remove(self.path("same"))
        self.client.redrive_dead_letters(filter={"cause": "FILE_EXISTS"})
        self.assertEqual(self.ended(name).state, DONE)
        self.assertEqual(self.content("same"), b"two")

    def test_storage_that_fails_is_shown_and_tried_again(self):
        self.run_steps({"write_file": {"path": "first", "data": b"x"}})
        away = self.root + ".away"
        os.rename(self.root, away)
        name = self.submit({"write_file": {"path": "later", "data": b"x"}})
        wait_for("some attempts", lambda: len(self.client.get_transaction(transaction_id=name).transaction.timeline) > 1)
        os.rename(away, self.root)
        done = self.ended(name)
        self.assertEqual(done.state, DONE)
        self.assertEqual(done.timeline[0].error.reason, "FILE_STORAGE_FAILED")

    def test_bad_steps_are_refused_and_change_nothing(self):
        good = {"path": "a", "data": b"x"}
        bad = [
            {"path": "../a"}, {"path": "/a"}, {"path": ""}, {"path": "a//b"}, {"path": ".a"},
            {"data": b"x" * (1024 * 1024 + 1)}, {"delete_entity": True},
        ]
        for change in bad:
            error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.submit, {"write_file": {**good, **change}})
            self.assertEqual(error.metadata["operation_index"], "0")
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.submit, {"write_file": {"path": "a"}})
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.submit, {"write_file": good, "precondition": {"if_match": "*"}})
        missing = {"path": "a", "entity": {"table": "nowhere", "key": key(("p", "r"))}}
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.submit, {"write_file": missing})

    def test_many_steps_of_one_transaction(self):
        steps = [{"write_file": {"path": f"many/{number}", "data": str(number).encode()}} for number in range(100)]
        self.assertEqual(self.run_steps(*steps).state, DONE)
        self.assertEqual(sorted(os.listdir(self.path("many"))), sorted(str(number) for number in range(100)))


class NotConfigured(ServerCase):
    def test_steps_that_no_worker_is_configured_for_are_refused(self):
        step = {"write_file": {"path": "a", "data": b"x"}}
        error = self.refused("FAILED_PRECONDITION", "STEP_NOT_CONFIGURED", self.client.submit_transaction,
                             transaction_id="t", steps=[step])
        self.assertIn("TAVOLA_FILE_ROOT", error.message)


if __name__ == "__main__":
    unittest.main()
