# SPDX-License-Identifier: Apache-2.0
"""$batch at the Azure Tables door: what clients send, what they get, and what fails how."""

import json
import re
import unittest

from tavola_test.azure import BATCH_TYPE, DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Door, change_set, request, single, table_sas
from tavola_test.ports import free_port
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for


class Answer:
    def __init__(self, text):
        head, _, self.body = text.strip("\r\n").partition("\r\n\r\n")
        status, *lines = head.split("\r\n")
        self.status = int(status.split()[1])
        self.headers = dict(line.split(": ", 1) for line in lines)

    def code(self):
        return json.loads(self.body)["odata.error"]["code"] if self.status >= 400 else "OK"

    def message(self):
        return json.loads(self.body)["odata.error"]["message"]["value"].split("\n")[0]


def answers(reply):
    """The answers of a reply: the status lines with all behind them, up to the next boundary."""
    return [Answer(found) for found in re.findall(r"\r\n\r\n(HTTP/1\.1 .*?)\r\n--(?:changeset|batch)response", reply.text, re.S)]


class Batch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.port = free_port()
        cls.stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{cls.port}")
        wait_for("the door", lambda: cls.stack.accepts(f"127.0.0.1:{cls.port}"))
        cls.door = Door(cls.port, DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT)

    def setUp(self):
        self.table = "T" + re.sub("[^A-Za-z0-9]", "", self.id().rsplit(".", 1)[1])[:60]
        self.assertEqual(self.door.send("POST", "/Tables", {"TableName": self.table}).status, 201)

    def url(self, row=None, table=None, partition="p"):
        keys = f"(PartitionKey='{partition}',RowKey='{row}')" if row is not None else ""
        return f"https://elsewhere.example:1/{DEVELOPMENT_ACCOUNT}/{table or self.table}{keys}"

    def insert(self, row, partition="p", **more):
        return request("POST", self.url(), {"PartitionKey": partition, "RowKey": row, "N": 1}, Prefer="return-no-content", **more)

    def send(self, body, door=None, content_type=BATCH_TYPE, **more):
        return (door or self.door).send("POST", "/$batch", body, Content_Type=content_type, **more)

    def rows(self):
        reply = self.door.send("GET", f"/{self.table}()", Accept="application/json;odata=nometadata")
        return {entity["RowKey"]: entity.get("N") for entity in json.loads(reply.text)["value"]}

    def only_answer(self, reply):
        self.assertEqual(reply.status, 202, reply.text)
        found = answers(reply)
        self.assertEqual(len(found), 1, reply.text)
        return found[0]

    def failed(self, reply, status, code, message=None):
        answer = self.only_answer(reply)
        self.assertEqual((answer.status, answer.code()), (status, code), reply.text)
        self.assertIn(f"RequestId:{reply.headers['x-ms-request-id']}", reply.text)
        if message is not None:
            self.assertEqual(answer.message(), message)

    def refused(self, reply, status, code):
        self.assertEqual((reply.status, reply.code()), (status, code), reply.text)

    # ---- what works

    def test_all_kinds_of_writes(self):
        for row in "1234":
            self.door.send("POST", f"/{self.table}", {"PartitionKey": "p", "RowKey": row, "N": 0, "Old": 1})
        reply = self.send(change_set(
            self.insert("new"),
            request("PUT", self.url("1"), {"N": 1}, If_Match="*"),
            request("MERGE", self.url("2"), {"N": 2}, If_Match="*"),
            request("PATCH", self.url("3"), {"N": 3}),
            request("PUT", self.url("5"), {"N": 5}),
            request("DELETE", self.url("4"), If_Match="*"),
            request("POST", self.url(), {"PartitionKey": "p", "RowKey": "told", "N": 9}, Accept="application/json;odata=nometadata"),
        ))
        self.assertEqual(reply.status, 202, reply.text)
        self.assertRegex(reply.headers["Content-Type"], "^multipart/mixed; boundary=batchresponse_")
        found = answers(reply)
        self.assertEqual([answer.status for answer in found], [204, 204, 204, 204, 204, 204, 201], reply.text)
        self.assertEqual([answer.headers["Content-ID"] for answer in found], list("1234567"))
        self.assertEqual(["ETag" in answer.headers for answer in found], [True] * 5 + [False, True])
        self.assertEqual(found[0].headers["Preference-Applied"], "return-no-content")
        self.assertIn("Location", found[0].headers)
        self.assertEqual(json.loads(found[6].body)["N"], 9)
        self.assertEqual(self.rows(), {"1": 1, "2": 2, "3": 3, "5": 5, "new": 1, "told": 9})
        merged = json.loads(self.door.send("GET", f"/{self.table}(PartitionKey='p',RowKey='2')").text)
        self.assertEqual((merged["N"], merged["Old"]), (2, 1))

    def test_what_clients_are_seen_to_send(self):
        whole = change_set(self.insert("ROW"), request("DELETE", self.url("gone"), If_Match="*"))
        forms = {
            "line feeds": whole.replace("\r\n", "\n"),
            "a last boundary without dashes": whole.replace("--batch_1--", "--batch_1"),
            "a preamble": "preamble\r\n" + whole,
            "an epilogue": whole + "epilogue",
            "blank lines": whole.replace("binary\r\n\r\n", "binary\r\n\r\n\r\n"),
            "quotes": whole.replace("boundary=changeset_1", 'boundary="changeset_1"'),
            "paths": whole.replace("https://elsewhere.example:1", ""),
            "relative": whole.replace(f"https://elsewhere.example:1/{DEVELOPMENT_ACCOUNT}/", ""),
            "lengths": whole.replace("Prefer:", "Content-Length: 43\r\nPrefer:"),
        }
        for number, (name, body) in enumerate(forms.items()):
            with self.subTest(name):
                self.door.send("PUT", f"/{self.table}(PartitionKey='p',RowKey='gone')", {})
                reply = self.send(body.replace("ROW", str(number)))
                self.assertEqual([answer.status for answer in answers(reply)], [204, 204], reply.text)
                self.assertIn(str(number), self.rows())

    def test_content_ids_come_back(self):
        body = change_set(self.insert("1"), self.insert("2")).replace("binary\r\n", "binary\r\nContent-ID: mine\r\n", 1)
        self.assertEqual([answer.headers["Content-ID"] for answer in answers(self.send(body))], ["mine", "2"])

    def test_a_single_get(self):
        self.send(change_set(self.insert("1")))
        answer = self.only_answer(self.send(single(request("GET", self.url("1"), Accept="application/json;odata=nometadata"))))
        self.assertEqual((answer.status, json.loads(answer.body)["N"]), (200, 1))
        self.failed(self.send(single(request("GET", self.url("2")))), 404, "ResourceNotFound", "0:The specified resource does not exist.")
        self.failed(self.send(single(request("GET", self.url("2", table="Nothing")))), 404, "TableNotFound")

    # ---- what fails

    def test_nothing_of_a_failed_change_set_stays(self):
        self.send(change_set(self.insert("1")))
        missing = request("PUT", self.url("none"), {}, If_Match="*")
        stale = request("PUT", self.url("1"), {}, If_Match="W/\"wrong\"")
        for name, operations, status, code, message in (
            ("exists", (self.insert("2"), self.insert("1")), 409, "EntityAlreadyExists", "1:The specified entity already exists."),
            ("missing", (self.insert("2"), self.insert("3"), missing), 404, "ResourceNotFound", "2:The specified resource does not exist."),
            ("stale", (stale, self.insert("2")), 412, "UpdateConditionNotSatisfied", None),
            ("no table", (request("POST", self.url(table="Nothing"), {"PartitionKey": "p", "RowKey": "1"}),), 404, "TableNotFound",
             "0:The table specified does not exist."),
            ("two partitions", (self.insert("2"), self.insert("2", partition="q")), 400, "CommandsInBatchActOnDifferentPartitions",
             "1:All commands in a batch must operate on same entity group."),
            ("two tables", (self.insert("2"), request("POST", self.url(table="Other"), {"PartitionKey": "p", "RowKey": "3"})), 400,
             "CommandsInBatchActOnDifferentPartitions", None),
            ("a row twice", (self.insert("2"), self.insert("3"), request("DELETE", self.url("2"), If_Match="*")), 400, "InvalidDuplicateRow",
             "2:The batch request contains multiple changes with same row key. An entity can appear only once in a batch request."),
            ("no key", (self.insert("2"), request("POST", self.url(), {"PartitionKey": "p"})), 400, "PropertiesNeedValue", None),
            ("no If-Match", (self.insert("2"), request("DELETE", self.url("1"))), 400, "InvalidInput", None),
            ("broken JSON", (self.insert("2"), self.insert("3") + "}"), 400, "InvalidInput", None),
            ("a table", (self.insert("2"), request("POST", f"/{DEVELOPMENT_ACCOUNT}/Tables", {"TableName": "New"})), 400, "InvalidInput", None),
            ("another account", (self.insert("2"), request("POST", f"/default/{self.table}", {"PartitionKey": "p", "RowKey": "3"})), 400,
             "InvalidInput", None),
            ("101", tuple(self.insert(str(row)) for row in range(2, 103)), 400, "InvalidInput",
             "99:The batch request operation exceeds the maximum 100 changes per change set."),
        ):
            with self.subTest(name):
                self.failed(self.send(change_set(*operations)), status, code, message)
                self.assertEqual(self.rows(), {"1": 1})

    def test_a_body_that_is_cut_off_changes_nothing(self):
        whole = change_set(self.insert("1"), self.insert("2"))
        for name, body in (
            ("without the last boundary", whole.replace("--batch_1--\r\n", "")),
            ("in the last boundary", whole.replace("--batch_1--\r\n", "--batch_")),
            ("behind the operations", whole[: whole.index("--changeset_1--")]),
            ("in an operation", whole[: whole.rindex("{")]),
            ("between operations", whole[: whole.rindex("--changeset_1\r\n") + len("--changeset_1\r\n")]),
            ("in the change set only", whole.replace("--changeset_1--\r\n", "")),
            ("behind a GET", single(request("GET", self.url("1"))).replace("--batch_1--\r\n", "")),
        ):
            with self.subTest(name):
                reply = self.send(body)
                self.refused(reply, 400, "InvalidInput")
                self.assertIn("cut off", reply.text)
                self.assertEqual(self.rows(), {})

    def test_reason_phrases_fit(self):
        atom = change_set(request("POST", self.url(), {}, Content_Type="application/atom+xml"))
        reply = self.send(atom)
        self.failed(reply, 415, "AtomFormatNotSupported")
        self.assertIn("HTTP/1.1 415 Unsupported Media Type\r\n", reply.text)

    def test_a_hundred_operations(self):
        reply = self.send(change_set(*(self.insert(f"{row:03}") for row in range(100))))
        self.assertEqual(len(answers(reply)), 100)
        self.assertEqual(len(self.rows()), 100)

    def test_what_is_no_batch(self):
        whole = change_set(self.insert("1"))
        get = request("GET", self.url("1"))
        for name, body, content_type in (
            ("another type", whole, "application/json"),
            ("no boundary", whole, "multipart/mixed"),
            ("another boundary", whole, "multipart/mixed; boundary=batch_2"),
            ("nothing", "", BATCH_TYPE),
            ("an empty change set", change_set(), BATCH_TYPE),
            ("two change sets", whole.replace("--batch_1--\r\n", "") + whole, BATCH_TYPE),
            ("a GET in a change set", change_set(self.insert("1"), get), BATCH_TYPE),
            ("two GETs", single(get).replace("--batch_1--\r\n", "") + single(get), BATCH_TYPE),
            ("a write outside", single(self.insert("1")), BATCH_TYPE),
            ("a change set in a change set", whole.replace("application/http", "multipart/mixed; boundary=deeper"), BATCH_TYPE),
        ):
            with self.subTest(name):
                self.refused(self.send(body, content_type=content_type), 400, "InvalidInput")
                self.assertEqual(self.rows(), {})
        self.refused(self.send(change_set(*(self.insert(str(n)).replace('"N": 1', '"N": "' + "x" * 60000 + '"') for n in range(80)))), 413,
                     "RequestBodyTooLarge")

    def test_each_operation_needs_its_permission(self):
        adding = Door(self.port, account=DEVELOPMENT_ACCOUNT)
        query = table_sas(DEVELOPMENT_KEY, self.table, "a", account=DEVELOPMENT_ACCOUNT)
        ranged = table_sas(DEVELOPMENT_KEY, self.table, "a", account=DEVELOPMENT_ACCOUNT, low=("p", "1"), high=("p", "1"))
        inserted = self.send(change_set(self.insert("1")), door=adding, query=query)
        self.assertEqual(self.only_answer(inserted).status, 204)
        mixed = change_set(self.insert("2"), request("DELETE", self.url("1"), If_Match="*"))
        self.failed(self.send(mixed, door=adding, query=query), 403, "AuthorizationPermissionMismatch")
        self.failed(self.send(change_set(self.insert("2")), door=adding, query=ranged), 403, "AuthorizationFailure")
        self.failed(self.send(single(request("GET", self.url("1"))), door=adding, query=query), 403, "AuthorizationPermissionMismatch")
        self.assertEqual(self.rows(), {"1": 1})


if __name__ == "__main__":
    unittest.main()
