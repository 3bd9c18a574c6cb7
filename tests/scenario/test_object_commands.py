# SPDX-License-Identifier: Apache-2.0
"""The commands that show operations, tables and indexes, and change them."""

import json
import os
import subprocess
import unittest

from tavola_test import metrics
from tavola_test.case import ServerCase
from tavola_test.client import entity
from tavola_test.processes import program, program_environment, run_program
from tavola_test.proxy import Proxy
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for


class CommandsCase(ServerCase):
    def run_command(self, *words, code=0):
        """Both outputs of a command that ends with this exit code."""
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target}, seconds=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def fields(self, *words, code=0):
        """The lines of a command that shows an object, by their titles."""
        lines = self.run_command(*words, code=code).splitlines()
        return {line[:16].rstrip(): line[17:] for line in lines if not line.startswith("tavola")}


class Operations(CommandsCase):
    """No worker is there: what began goes on for ever, unless a command ends it. Metrics tell that a call waits."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        cls.metrics = os.path.join(cls.stack.folder, "metrics")
        cls.stack.start_server(TAVOLA_METRICS_LISTEN="unix:" + cls.metrics)
        cls.client = cls.stack.connect()
        cls.addClassCleanup(cls.client.channel.close)

    def begin(self):
        """The id of an operation that deletes a range."""
        return self.client.delete_range(query={"table": self.new_table()}).operation.operation_id

    def rate(self, operation_id):
        return self.stack.sql(f"select rate from operations where operation_id = '{operation_id}'")

    def test_an_operation_is_shown(self):
        table = self.new_table()
        operation_id = self.client.delete_range(query={"table": table}).operation.operation_id
        shown = self.fields("operation", "show", operation_id)
        self.assertRegex(shown.pop("started"), "^20.*Z$")
        self.assertEqual(shown, {"operation": operation_id, "kind": "delete_range", "target": table, "state": "RUNNING", "done": "0"})

    def test_operations_are_listed_in_each_form(self):
        operation_id = self.begin()
        listed = self.run_command("operation", "list")
        self.assertRegex(listed, r"^operation +kind +target +state +done +total +started +ended +reason\n")
        self.assertRegex(listed, rf"(?m)^{operation_id} +delete_range +\S+ +RUNNING +0 +- +20\S+Z  - +-$")
        csv = self.run_command("operations", "list", "-o", "csv")
        self.assertRegex(csv, rf'^operation_id,kind,target,state,done,total,started,ended,reason\n(?s:.*\n)?{operation_id},delete_range,\w+,RUNNING,0,0,')
        lines = [json.loads(line) for line in self.run_command("operation", "list", "-o", "jsonl").splitlines()]
        self.assertIn(operation_id, [one["operationId"] for one in lines])
        self.assertEqual(json.loads(self.run_command("operation", "list", "-o", "json")), lines)

    def test_an_operation_is_paused_resumed_and_slowed_down(self):
        operation_id = self.begin()
        self.assertEqual(self.fields("operation", "pause", operation_id)["state"], "PAUSED")
        self.assertEqual(self.fields("operation", "resume", operation_id)["state"], "RUNNING")
        self.assertEqual(self.fields("operation", "throttle", operation_id, "250")["operation"], operation_id)
        self.assertEqual(self.rate(operation_id), "250")
        self.run_command("operation", "throttle", operation_id, "0")
        self.assertEqual(self.rate(operation_id), "0")

    def test_what_is_cancelled_has_ended(self):
        operation_id = self.begin()
        self.assertEqual(self.fields("operation", "cancel", operation_id)["state"], "CANCELLED")
        self.assertEqual(self.fields("operation", "cancel", operation_id)["state"], "CANCELLED")
        self.assertIn("OPERATION_NOT_CONTROLLABLE: the delete_range has ended", self.run_command("operation", "pause", operation_id, code=1))
        self.assertEqual(self.fields("operation", "wait", operation_id, code=1)["state"], "CANCELLED")

    def test_a_build_cannot_be_cancelled(self):
        table, index = self.new_table(), self.new_name("i")
        self.run_command("index", "create", index, table, "Age", "--no-wait")
        build = self.fields("index", "show", index)["build"]
        self.assertIn("a build cannot be cancelled", self.run_command("operation", "cancel", build, code=1))

    def test_a_wait_ends_when_its_time_is_up(self):
        operation_id = self.begin()
        self.run_command("operation", "pause", operation_id)
        said = self.run_command("operation", "wait", operation_id, "--timeout", "1", code=1)
        self.assertRegex(said, "(?m)^state +PAUSED$")
        self.assertIn(f"tavola operation wait: {operation_id} has not ended in time: it is PAUSED", said)

    def test_a_wait_over_a_slow_network_is_no_failed_call(self):
        """The answer that the server sends a tenth of a second before the call's deadline comes too late, nearly always."""
        operation_id = self.begin()
        proxy = Proxy(self.stack.target.removeprefix("unix:"))
        self.addCleanup(proxy.stop)
        proxy.delay(0.5)
        done = run_program("tavola", "operation", "wait", operation_id, "--timeout", "1", settings={"TAVOLA_TARGET": f"127.0.0.1:{proxy.port}"}, seconds=60)
        self.assertRegex(done.stdout, "(?m)^state +RUNNING$")
        self.assertEqual((done.returncode, done.stderr), (1, f"tavola operation wait: {operation_id} has not ended in time: it is RUNNING\n"))

    def test_a_wait_without_a_time_ends_with_the_operation(self):
        operation_id = self.begin()
        settings = program_environment({"TAVOLA_TARGET": self.stack.target})
        with subprocess.Popen([program("tavola"), "operation", "wait", operation_id], env=settings, stdout=subprocess.PIPE, text=True) as waiting:
            wait_for("the wait to begin", lambda: metrics.read(self.metrics).value("tavola_waiting_calls") == 1)
            self.assertIsNone(waiting.poll())
            self.run_command("operation", "cancel", operation_id)
            self.assertRegex(waiting.communicate(timeout=60)[0], "(?m)^state +CANCELLED$")
            self.assertEqual(waiting.returncode, 1)

    def test_what_is_wrong_is_said(self):
        for words in (("show",), ("wait",), ("pause",), ("resume",), ("cancel",), ("throttle", "x"), ("throttle",)):
            with self.subTest(words):
                self.assertIn(f"usage: tavola operation {words[0]} ID", self.run_command("operation", *words, code=2))
        for words in (("show", "x"), ("wait", "x"), ("pause", "x"), ("resume", "x"), ("cancel", "x"), ("throttle", "x", "1")):
            with self.subTest(words):
                self.assertIn('OPERATION_NOT_FOUND: there is no operation "x"', self.run_command("operation", *words, code=1))
        self.assertIn("ROWS_PER_SECOND is a number, 0 for no limit, not \"fast\"", self.run_command("operation", "throttle", "x", "fast", code=2))
        self.assertIn("--timeout takes a number from 1 to 86400", self.run_command("operation", "wait", "x", "--timeout", "0", code=2))
        self.assertIn("-o takes", self.run_command("operation", "list", "-o", "xml", code=2))
        self.assertIn("usage: tavola operation list [-o FORM]", self.run_command("operation", "list", "x", code=2))


class Ends(CommandsCase):
    """A worker is there: what began ends."""
    with_worker = True

    def test_a_wait_for_what_is_done_ends_well(self):
        table, index = self.new_table(), self.new_name("i")
        self.client.insert_entity(table=table, entity=entity("p", "r", {"Age": 36}))
        self.run_command("index", "create", index, table, "Age", "--no-wait")
        waited = self.fields("operation", "wait", self.fields("index", "show", index)["build"])
        self.assertEqual((waited["target"], waited["state"], waited["done"], waited["total"]), (index, "DONE", "3", "3"))
        self.assertRegex(waited["ended"], "^20.*Z$")

    def test_a_wait_for_what_fails_says_why(self):
        table, index = self.new_table(), self.new_name("i")
        self.client.insert_entity(table=table, entity=entity("p", "r", {"Age": 36}))
        declared = {"name": index, "table": table, "shape": 1, "place": 2, "partition_key": [{"property": "Age", "width": 1}], "on_violation": 2}
        build = self.client.create_index(index=declared).status.build.operation_id
        waited = self.fields("operation", "wait", build, code=1)
        self.assertEqual(waited["state"], "FAILED")
        self.assertIn("1 entities cannot have their entry", waited["message"])
        listed = self.run_command("operation", "list")
        self.assertRegex(listed, rf"(?m)^{build} +build +{index} +FAILED .* {waited['reason']}$\n +on_violation is REJECT, and 1 entities")
        shown = self.fields("index", "show", index)
        self.assertEqual((shown["state"], shown["build"], shown["build state"]), ("BUILDING", build, "FAILED"))
        self.assertIn("1 entities cannot have their entry", shown["build error"])
        self.assertRegex(self.run_command("index", "list", table), r"\n +build failed: on_violation is REJECT, and 1 entities")


class Indexes(CommandsCase):
    with_worker = True

    def test_an_index_that_rejects_refuses_writes_and_builds(self):
        table, index, skipping, late = self.new_table(), self.new_name("i"), self.new_name("i"), self.new_name("i")
        key = ["entity", "put", table, "p", "r"]
        self.run_command("index", "create", skipping, table, "Name", "--on-violation", "skip")
        self.run_command("index", "create", index, table, "Name", "--on-violation", "reject")
        self.assertEqual([self.fields("index", "show", name)["on violation"] for name in (skipping, index)], ["SKIP", "REJECT"])
        self.assertIn("INDEX_KEY_VIOLATION", self.run_command(*key, "Name=" + "x" * 2000, code=1))
        self.run_command(*key, "Name=Ada", "Mail=" + "x" * 2000)
        self.assertIn("1 entities cannot have their entry", self.run_command("index", "create", late, table, "Mail", "--on-violation", "reject", code=1))
        self.run_command("index", "drop", index)
        self.run_command(*key, "Name=" + "x" * 2000)
        for word in ("REJECT", "refuse", ""):
            said = self.run_command("index", "create", late, table, "Name", "--on-violation", word, code=2)
            self.assertIn(f'--on-violation takes skip or reject, not "{word}"', said)


class Tables(CommandsCase):
    SWITCHES = {"change feed": "false", "sample queries": "false", "wide entities": "false", "blob properties": "false"}

    def settings(self, *words):
        """What a command prints of a table, except its name and the time at which it was created."""
        printed = self.fields("table", *words)
        self.assertEqual(printed.pop("table"), words[1])
        self.assertRegex(printed.pop("created"), "^20.*Z$")
        return printed

    def test_a_table_is_shown_with_all_that_it_has(self):
        table, index = self.new_table(), self.new_name("i")
        self.assertEqual(self.settings("show", table), self.SWITCHES)
        self.client.update_table(table={"name": table, "default_max_plan": 2, "periods": {"unit": 3, "ahead": 1, "kept": 12}, "policies": [
            {"id": "readers", "permissions": "ru", "expiry": {"seconds": 1800000000}}, {"id": "later", "start": {"seconds": 1800000000}}, {"id": "none"}]})
        lines = self.run_command("table", "show", table).splitlines()
        self.assertEqual(lines[-5:], [
            "default max plan ROW_RANGE", "periods          MONTH, 1 ahead, 12 kept",
            "policy           readers: permissions ru, until 2027-01-15T08:00:00Z", "policy           later: from 2027-01-15T08:00:00Z", "policy           none"])
        self.run_command("index", "create", index, table, "Age", "--no-wait")
        self.assertEqual(self.settings("show", index), {"index": index, **self.SWITCHES})

    def test_each_setting_is_changed_alone_and_back(self):
        table = self.new_table()
        changed = dict(self.SWITCHES)
        for words, title, value in ((("--change-feed", "on"), "change feed", "true"), (("--sample-queries", "on"), "sample queries", "true"),
                                    (("--blob-properties", "on"), "blob properties", "true"),
                                    (("--default-max-plan", "partition_scan"), "default max plan", "PARTITION_SCAN"),
                                    (("--periods", "day", "--ahead", "7", "--kept", "30"), "periods", "DAY, 7 ahead, 30 kept")):
            with self.subTest(words):
                changed[title] = value
                self.assertEqual(self.settings("set", table, *words), changed)
                self.assertEqual(self.settings("show", table), changed)
        back = self.settings("set", table, "--change-feed", "off", "--sample-queries=off", "--blob-properties", "off", "--default-max-plan", "any",
                             "--periods", "off")
        self.assertEqual(back, self.SWITCHES)
        self.assertEqual(self.settings("show", table), self.SWITCHES)

    def test_each_word_of_a_setting_is_known_to_the_service(self):
        table = self.new_table()
        for plan in ("point", "row_range", "index_lookup", "partition_scan", "table_scan"):
            self.assertEqual(self.settings("set", table, "--default-max-plan", plan)["default max plan"], plan.upper())
        for unit in ("hour", "day", "month", "year"):
            self.assertEqual(self.settings("set", table, "--periods", unit, "--ahead", "31", "--kept", "1000")["periods"],
                             f"{unit.upper()}, 31 ahead, 1000 kept")

    def test_what_is_wrong_is_said(self):
        table = self.new_table()
        numbers = "needs --ahead N, the tables of coming periods, and --kept N"
        for words, said in (
                ((), "name what is to change: --change-feed, --sample-queries, --blob-properties, --default-max-plan or --periods"),
                (("--change-feed", "true"), '--change-feed takes on or off, not "true"'),
                (("--sample-queries", "On"), '--sample-queries takes on or off, not "On"'),
                (("--blob-properties", ""), "--blob-properties takes on or off"),
                (("--default-max-plan", "POINT"), "takes any, point, row_range, index_lookup, partition_scan or table_scan, not"),
                (("--periods", "week", "--ahead", "1", "--kept", "1"), "--periods takes off, hour, day, month or year"),
                (("--periods", "day", "--ahead", "1"), numbers), (("--periods", "day", "--kept", "1"), numbers), (("--ahead", "1", "--kept", "1"), numbers),
                (("--periods", "off", "--ahead", "1", "--kept", "1"), numbers),
                (("--periods", "day", "--ahead", "32", "--kept", "1"), "--ahead takes a number from 1 to 31"),
                (("--periods", "day", "--ahead", "1", "--kept", "1001"), "--kept takes a number from 1 to 1000"),
                (("--change-feed",), "--change-feed needs a value"), (("more", "--change-feed", "on"), "usage: tavola table set NAME ")):
            with self.subTest(words):
                self.assertIn(said, self.run_command("table", "set", table, *words, code=2))
        self.assertEqual(self.settings("show", table), self.SWITCHES)
        self.assertIn("usage: tavola table show NAME", self.run_command("table", "show", code=2))
        for words in (("show", "none"), ("set", "none", "--change-feed", "on")):
            self.assertIn("NOT_FOUND / TABLE_NOT_FOUND", self.run_command("table", *words, code=1))
        self.run_command("index", "create", "OwnedIndex", table, "Age", "--no-wait")
        self.assertIn("INDEX_OWNED", self.run_command("table", "set", "OwnedIndex", "--change-feed", "on", code=1))


if __name__ == "__main__":
    unittest.main()
