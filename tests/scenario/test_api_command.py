# SPDX-License-Identifier: Apache-2.0
"""Tables, entities and any method from the shell, with JSON."""

import json
import re
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import Value, entity
from tavola_test.processes import run_program


class ApiCommand(ServerCase):
    def run_api(self, *arguments, text=""):
        return run_program("tavola", "api", *arguments, settings={"TAVOLA_TARGET": self.stack.target}, text=text)

    def call(self, method, request=None, text=""):
        """The replies as Python has them."""
        request = request if isinstance(request, str) else json.dumps(request or {})
        done = self.run_api(method, request, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(done.stdout)] if done.stdout.startswith("{\n") else \
            [json.loads(line) for line in done.stdout.splitlines()]

    def refused(self, code, *arguments, text=""):
        done = self.run_api(*arguments, text=text)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        return done.stderr

    def test_an_entity_is_written_read_queried_and_deleted(self):
        table, key = "ApiPeople", {"partitionKey": "sales", "rowKey": "é 1"}
        self.call("TableService/CreateTable", {"name": table})
        properties = {"Age": {"int32Value": 36}, "Salary": {"int64Value": "9007199254740993"}, "Photo": {"binaryValue": "AP8="},
                      "Born": {"datetimeValue": "1815-12-10T00:00:00.5Z"}, "Share": {"doubleValue": 0.1}, "Name": {"stringValue": "Ada \"A\""}}
        [written] = self.call("InsertEntity", {"table": table, "entity": {**key, "properties": properties}})
        [read] = self.call("EntityService.GetEntity", {"table": table, "key": key})
        self.assertEqual(read["entity"]["properties"], {**properties, "Born": {"datetimeValue": "1815-12-10T00:00:00.500Z"}})
        self.assertEqual(read["entity"]["etag"], written["result"]["etag"])
        [page] = self.call("/tavola.v1.EntityService/QueryEntities", {"query": {"table": table, "filter": "Age ge 36"}})
        self.assertEqual([one["rowKey"] for one in page["entities"]], ["é 1"])
        self.call("DeleteEntity", {"table": table, "key": key, "precondition": {"ifMatch": "*"}})
        self.assertNotIn("count", self.call("CountEntities", {"query": {"table": table}})[0])  # 0

    def test_what_the_shell_writes_is_what_other_clients_read(self):
        table = self.new_table()
        self.call("InsertOrReplaceEntity", {"table": table, "entity": {"partitionKey": "p", "rowKey": "r", "properties": {
            "Guid": {"guidValue": "00112233-4455-6677-8899-aabbccddeeff"}, "No": {"doubleValue": "NaN"}}}})
        read = self.client.get_entity(table=table, key={"partition_key": "p", "row_key": "r"}).entity
        self.assertEqual(read.properties["Guid"], Value(guid_value="00112233-4455-6677-8899-aabbccddeeff"))
        self.assertNotEqual(read.properties["No"].double_value, read.properties["No"].double_value)

    def test_streams(self):
        table = self.new_table()
        lines = [json.dumps({"table": table, "entities": [{"partitionKey": "p", "rowKey": f"{n:03}"}]}) for n in range(100)]
        answers = self.call("ImportEntities", "-", text="\n".join(lines) + "\n")
        self.assertEqual([answer["committed"] for answer in answers], [str(n + 1) for n in range(100)])
        pages = self.call("ScanEntities", {"query": {"table": table}})
        self.assertEqual(sum(len(page.get("entities", ())) for page in pages), 100)
        [first] = self.call_lines("ScanEntities", json.dumps({"query": {"table": table}}), "--count", "1")
        self.assertEqual(first["entities"][0]["rowKey"], "000")

    def call_lines(self, *arguments, text=""):
        done = self.run_api(*arguments, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_stream_with_a_wrong_request_is_not_begun(self):
        table = self.new_table()
        good = json.dumps({"table": table, "entities": [{"partitionKey": "p", "rowKey": "r"}]})
        wrong = self.refused(2, "ImportEntities", "-", text=good + '\n{"table": "t", "entities": [{"RowKey": "x"}]}\n')
        self.assertIn("request 2: entities[0].RowKey: unknown field; Entity has partitionKey, rowKey", wrong)
        self.assertIn("at most 100 requests", self.refused(2, "ImportEntities", "-", text=(good + "\n") * 101))
        self.assertNotIn("count", self.call("CountEntities", {"query": {"table": table}})[0])

    def test_help_has_the_comments_of_the_protos(self):
        """No server is asked: each method says what it does, and so does each field."""
        methods = [line.split()[0] for line in self.run_api("list").stdout.splitlines() if "." not in line.split()[0]]
        self.assertGreater(len(methods), 40)
        for method in methods:
            done = run_program("tavola", "api", method.replace("/", "."), "--help", settings={"TAVOLA_TARGET": "unix:/nowhere"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = done.stdout.splitlines()
            self.assertEqual(lines[0], "tavola.v1." + method.replace("/", "."))
            self.assertRegex(lines[1], r"^  [A-Z]")
            for line, following in zip(lines, lines[1:] + [""]):
                self.assertLessEqual(len(line), 110)
                if re.match(r"  [a-z]\w* {3,}", line):
                    self.assertRegex(following, r"^      \S", f"{method}: {line}")
        shown = self.run_api("fields", "QueueControl").stderr + self.run_api("fields", "ControlQueueRequest").stdout
        self.assertRegex(shown, r"QUEUE_CONTROL_PAUSE\n +No new work is begun\.\n")

    def test_the_example_of_an_update_turns_settings_off(self):
        """The help shows how the form of a mask is written, and its example does what it says."""
        shown = self.run_api("UpdateTable", "--help").stdout
        self.assertRegex(shown, r'updateMask +google.protobuf.FieldMask\n +in JSON: text, names of fields with commas between them: "')
        example = re.search(r'`(\{"table".*?\})` ends the', " ".join(shown.split()))[1]
        policy = {"id": "readers", "permissions": "r", "expiry": "2099-01-01T00:00:00Z"}
        self.call("CreateTable", {"name": "people", "changeFeed": True})
        [changed] = self.call("UpdateTable", {"table": {"name": "people", "policies": [policy]}})
        self.assertEqual((changed["table"]["changeFeed"], len(changed["table"]["policies"])), (True, 1))
        [changed] = self.call("UpdateTable", example)
        self.assertFalse({"changeFeed", "policies"} & set(changed["table"]))

    def test_a_server_that_is_not_there(self):
        done = run_program("tavola", "api", "GetEntity", settings={"TAVOLA_TARGET": "unix:/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("does a server listen there? --target or TAVOLA_TARGET sets the address.", done.stderr)

    def test_a_call_has_a_deadline(self):
        self.assertIn("DEADLINE_EXCEEDED", self.refused(1, "WaitOperation", '{"operationId": "none"}', "--timeout", "0.001"))

    def test_failures_say_what_is_wrong(self):
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("p", "r"))
        key = {"partitionKey": "p", "rowKey": "none"}
        said = self.refused(1, "GetEntity", json.dumps({"table": table, "key": key}))
        self.assertTrue(said.startswith("tavola: NOT_FOUND / RESOURCE_NOT_FOUND: "), said)
        self.assertIn(f"  table: {table}\n", said)
        self.assertIn("key.rowKey: want text", self.refused(2, "GetEntity", '{"key": {"rowKey": 1}}'))
        self.assertIn("line 1, column 1 of the JSON", self.refused(2, "GetEntity", "{"))
        self.assertIn('there is no method "Getentity"; did you mean "GetEntity"?', self.refused(2, "Getentity"))
        self.assertIn('--timeout takes a number from 0 to 1000000000, not "soon"', self.refused(2, "GetEntity", "{}", "--timeout", "soon"))
        self.assertIn('there is no option "--timout"; did you mean "--timeout"?', self.refused(2, "GetEntity", "{}", "--timout", "1"))
        self.assertIn("ServerReflectionInfo", self.refused(2, "ServerReflectionInfo"))
        self.assertIn("usage: tavola api METHOD", self.refused(2))
        self.assertIn("usage: tavola api METHOD", self.refused(2, "GetEntity", "{}", "{}"))

    def test_every_method_is_listed_with_its_fields(self):
        methods = [line.split()[0] for line in self.run_api("list").stdout.splitlines()]
        self.assertIn("EntityService/GetEntity", methods)
        for method in methods:
            shown = self.run_api("fields", method)
            self.assertEqual(shown.returncode, 0, method)
            self.assertEqual(len([line for line in shown.stdout.splitlines() if line and not line.startswith(" ")]), 3, method)
        self.assertIn("datetimeValue", self.run_api("fields", "Value").stdout)
        self.assertIn("text such as", self.run_api("fields", "Timestamp").stdout)


class EntityCommands(ServerCase):
    def run_command(self, *words, text="", code=0):
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target}, text=text)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def get(self, *words):
        return json.loads(self.run_command("entity", "get", *words))

    def query(self, *words):
        return [json.loads(line) for line in self.run_command("entity", "query", *words).splitlines()]

    def test_a_table_is_made_filled_asked_and_deleted(self):
        self.run_command("table", "create", "Words")
        self.assertIn("Words", self.run_command("table", "list").splitlines())
        etag = self.run_command("entity", "put", "Words", "sales", "1", "Name=Ada", "Age:int32=36", "Big:int64=9007199254740993",
                                "Share:double=1", "Url=http://a?b=c:d").strip()
        read = self.get("Words", "sales", "1")
        self.assertEqual({name: value for name, value in read.items() if name != "Timestamp"}, {
            "odata.etag": etag, "PartitionKey": "sales", "RowKey": "1", "Name": "Ada", "Age": 36, "Share": 1.0,
            "Big@odata.type": "Edm.Int64", "Big": "9007199254740993", "Url": "http://a?b=c:d"})
        self.run_command("entity", "put", "Words", json.dumps({**read, "RowKey": "2", "Age": 41}))
        self.assertEqual(self.get("Words", "sales", "2")["Big"], "9007199254740993")
        self.assertEqual([one["RowKey"] for one in self.query("Words", "Age gt 40")], ["2"])
        self.assertEqual(self.query("Words", "--select", "Name", "--limit", "1"), [
            {"odata.etag": etag, "PartitionKey": "sales", "RowKey": "1", "Timestamp": read["Timestamp"], "Name": "Ada"}])
        self.run_command("entity", "delete", "Words", "sales", "1")
        self.assertIn("RESOURCE_NOT_FOUND", self.run_command("entity", "get", "Words", "sales", "1", code=1))
        self.run_command("table", "delete", "Words")
        self.assertNotIn("Words", self.run_command("table", "list").splitlines())

    def test_writes_keep_to_what_was_asked(self):
        table = self.new_table()
        first = self.run_command("entity", "put", table, "p", "r", "A=1", "--insert").strip()
        self.assertIn("ENTITY_ALREADY_EXISTS", self.run_command("entity", "put", table, "p", "r", "--insert", code=1))
        second = self.run_command("entity", "put", table, "p", "r", "B=2", "--merge").strip()
        self.assertIn("UPDATE_CONDITION_NOT_SATISFIED", self.run_command(
            "entity", "put", table, "p", "r", "C=3", "--if-match", first, code=1))
        self.assertIn("UPDATE_CONDITION_NOT_SATISFIED", self.run_command(
            "entity", "delete", table, "p", "r", "--if-match", first, code=1))
        self.assertEqual({"A": "1", "B": "2"}, {name: self.get(table, "p", "r").get(name) for name in "AB"})
        self.run_command("entity", "put", table, "p", "r", "C=3", "--if-match", second)
        self.assertNotIn("A", self.get(table, "p", "r"))

    def test_lines_of_standard_input_are_written_until_one_is_wrong(self):
        table = self.new_table()
        lines = [json.dumps({"PartitionKey": "p", "RowKey": f"{n}", "N": n}) for n in range(3)]
        self.assertEqual(len(self.run_command("entity", "put", table, "-", text="\n".join(lines)).splitlines()), 3)
        self.assertEqual([one["N"] for one in self.query(table)], [0, 1, 2])
        said = self.run_command("entity", "put", table, "-", text=lines[0] + "\n{}\n", code=2)
        self.assertEqual(said, "tavola: line 2: PartitionKey is missing or not text: an entity needs both keys\n")

    def test_bad_words_change_nothing(self):
        table = self.new_table()
        for words, said in ((("p", "r", "Age"), '"Age" is not a property: use NAME=VALUE or NAME:TYPE=VALUE'),
                            (("p", "r", "Age:int32=x"), "Age: the value is not a valid Edm.Int32"),
                            (("p", "r", "Age:int=1"), "Age: its type must be one of Edm.String"),
                            (("p",), "usage: tavola entity put"),
                            (("p", "r", "--insert", "--merge"), "usage: tavola entity put"),
                            (("p", "r", "--upsert"), 'there is no option "--upsert"')):
            with self.subTest(words=words):
                self.assertIn(said, self.run_command("entity", "put", table, *words, code=2))
        self.assertIn("OUT_OF_RANGE_INPUT: PartitionKey", self.run_command("entity", "put", table, "p/", "r", code=1))
        self.assertEqual(self.query(table), [])
        self.assertIn("--limit takes a number from 1", self.run_command("entity", "query", table, "--limit", "0", code=2))


if __name__ == "__main__":
    unittest.main()
