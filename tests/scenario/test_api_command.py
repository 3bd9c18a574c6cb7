# SPDX-License-Identifier: Apache-2.0
"""`tavola api`: any method from the shell, with its messages as JSON."""

import json
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
        self.assertIn("at most 100 requests", self.refused(2, "ImportEntities", "-", text="{}\n" * 101))

    def test_failures_say_what_is_wrong(self):
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("p", "r"))
        key = {"partitionKey": "p", "rowKey": "none"}
        said = self.refused(1, "GetEntity", json.dumps({"table": table, "key": key}))
        self.assertTrue(said.startswith("tavola: NOT_FOUND / RESOURCE_NOT_FOUND: "), said)
        details = json.loads(said[said.index("{"):])["details"]
        self.assertEqual(details[0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo")
        self.assertEqual(details[0]["reason"], "RESOURCE_NOT_FOUND")
        self.assertIn("key.rowKey: want text", self.refused(2, "GetEntity", '{"key": {"rowKey": 1}}'))
        self.assertIn("line 1, column 1 of the JSON", self.refused(2, "GetEntity", "{"))
        self.assertIn('there is no method "GetEntities"', self.refused(2, "GetEntities"))
        self.assertIn("ServerReflectionInfo", self.refused(2, "ServerReflectionInfo"))
        self.assertIn("usage: tavola api METHOD", self.refused(2))
        self.assertIn("usage: tavola api METHOD", self.refused(2, "GetEntity", "{}", "{}"))

    def test_every_method_is_listed_with_its_fields(self):
        methods = [line.split()[0] for line in self.run_api("list").stdout.splitlines()]
        self.assertIn("EntityService/GetEntity", methods)
        for method in methods:
            shown = self.run_api("fields", method)
            self.assertEqual(shown.returncode, 0, method)
            self.assertEqual(len([line for line in shown.stdout.splitlines() if not line.startswith(" ")]), 2, method)
        self.assertIn("datetimeValue", self.run_api("fields", "Value").stdout)


if __name__ == "__main__":
    unittest.main()
