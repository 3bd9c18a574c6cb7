# SPDX-License-Identifier: Apache-2.0
"""The Azure Tables door in plain HTTP: the bytes of replies, headers, errors, and what clients of every age send."""

import http.client
import json
import os
import re
import socket
import unittest
import urllib.parse

from tavola_test.client import entity
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

BASE = "/devstoreaccount1"
GUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z"


class Connection(http.client.HTTPConnection):
    """To a Unix socket; requests name the host that replies are to have in their addresses."""

    def __init__(self, path):
        super().__init__("localhost:10002", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Reply:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)

    def code(self):
        return self.json()["odata.error"]["code"]

    def message(self):
        return self.json()["odata.error"]["message"]["value"].split("\n")[0]


class Rest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.http = os.path.join(cls.stack.folder, "http")
        cls.stack.start_worker()
        cls.stack.start_server(TAVOLA_HTTP_LISTEN="unix:" + cls.http, TAVOLA_AZURE_REQUEST_IDS="on")
        wait_for("the door", lambda: cls.stack.accepts("unix:" + cls.http))

    def setUp(self):
        self.connection = Connection(self.http)
        self.addCleanup(self.connection.close)
        self.table = "T" + re.sub("[^A-Za-z0-9]", "", self.id().rsplit(".", 1)[1])[:60]
        reply = self.send("POST", "/Tables", {"TableName": self.table}, Prefer="return-no-content")
        self.assertEqual(reply.status, 204, reply.text)

    def send(self, method, path, body=None, **headers):
        """path behind the account; the names of headers with _ for -"""
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            named.setdefault("Content-Type", "application/json")
        self.connection.request(method, BASE + path, body, named)
        return Reply(self.connection.getresponse())

    def insert(self, row, **properties):
        return self.send("POST", f"/{self.table}", {"PartitionKey": "p", "RowKey": row, **properties})

    def of(self, row, partition="p"):
        return f"/{self.table}(PartitionKey='{partition}',RowKey='{row}')"

    def refused(self, reply, status, code, message=None):
        self.assertEqual((reply.status, reply.code()), (status, code), reply.text)
        self.assertEqual(reply.headers["x-ms-error-code"], code)
        if message is not None:
            self.assertEqual(reply.message(), message)

    def test_wide_entities_have_the_limits_of_their_table(self):
        with self.stack.connect() as client:
            client.create_table(name="RestWide", wide_entities=True)
        many = {f"n{n:04}": n for n in range(5_000)}
        self.refused(self.insert("r", **many), 400, "TooManyProperties")
        self.refused(self.insert("r", **{f"b{n:03}": "x" * 30_000 for n in range(40)}), 400, "EntityTooLarge")
        self.table = "RestWide"
        for method in ("PUT", "PATCH"):
            reply = self.send(method, self.of("r"), many)
            self.assertEqual(reply.status, 204, reply.text)
        read = self.send("GET", self.of("r"), Accept="application/json;odata=nometadata").json()
        self.assertEqual({name: read[name] for name in many}, many)
        self.refused(self.insert("s", **{f"n{n:06}": 1 for n in range(100_001)}), 400, "TooManyProperties")

    # ---- tables

    def test_tables_at_each_level(self):
        name = self.table
        for level, item in {
            "nometadata": f'{{"TableName":"{name}"}}',
            "minimalmetadata": f'{{"odata.metadata":"http://localhost:10002/devstoreaccount1/$metadata#Tables/@Element","TableName":"{name}"}}',
            "fullmetadata": '{"odata.metadata":"http://localhost:10002/devstoreaccount1/$metadata#Tables/@Element",'
            f'"odata.type":"devstoreaccount1.Tables","odata.id":"http://localhost:10002/devstoreaccount1/Tables(\'{name}\')",'
            f'"odata.editLink":"Tables(\'{name}\')","TableName":"{name}"}}',
        }.items():
            with self.subTest(level):
                reply = self.send("GET", f"/Tables('{name}')", Accept=f"application/json;odata={level}")
                self.assertEqual(reply.text, item)
                self.assertEqual(reply.headers["Content-Type"], f"application/json;odata={level};streaming=true;charset=utf-8")

    def test_a_new_table_is_answered_with_its_address(self):
        made = self.send("POST", "/Tables", {"TableName": "Answered"})
        self.assertEqual(made.status, 201)
        self.assertEqual(made.headers["Location"], "http://localhost:10002/devstoreaccount1/Tables('Answered')")
        self.assertIsNone(made.headers["Preference-Applied"])
        quiet = self.send("POST", "/Tables", {"TableName": "Quiet"}, Prefer="return-no-content")
        self.assertEqual((quiet.status, quiet.text), (204, ""))
        self.assertEqual(quiet.headers["Preference-Applied"], "return-no-content")
        self.assertEqual(quiet.headers["DataServiceId"], "http://localhost:10002/devstoreaccount1/Tables('Quiet')")
        self.assertEqual(self.send("DELETE", "/Tables('Quiet')").status, 204)

    def test_tables_are_listed_in_pages_and_by_filter(self):
        for n in range(5):
            self.send("POST", "/Tables", {"TableName": f"Listed{n}"}, Prefer="return-no-content")
        query = "/Tables?$filter=TableName%20ge%20'Listed'%20and%20TableName%20lt%20'Listee'&$top=2"
        names, path = [], query
        while path:
            reply = self.send("GET", path, Accept="application/json;odata=nometadata")
            names += [item["TableName"] for item in reply.json()["value"]]
            token = reply.headers["x-ms-continuation-NextTableName"]
            path = token and f"{query}&NextTableName={token}"
        self.assertEqual(names, [f"Listed{n}" for n in range(5)])

    def test_what_cannot_be_a_table(self):
        for name, code, message in (
            ("a-b", "InvalidResourceName", "The specifed resource name contains invalid characters."),
            ("1ab", "InvalidResourceName", "The specifed resource name contains invalid characters."),
            ("ab", "OutOfRangeInput", "The specified resource name length is not within the permissible limits."),
            ("a" * 64, "OutOfRangeInput", "The specified resource name length is not within the permissible limits."),
            ("tables", "InvalidInput", "One of the request inputs is not valid."),
        ):
            with self.subTest(name):
                self.refused(self.send("POST", "/Tables", {"TableName": name}), 400, code, message)
        self.refused(self.send("POST", "/Tables", {"TableName": self.table.upper()}), 409, "TableAlreadyExists")
        self.refused(self.send("DELETE", "/Tables('a-b')"), 404, "ResourceNotFound")
        self.refused(self.send("DELETE", "/Tables('absent')"), 404, "ResourceNotFound")
        self.refused(self.send("DELETE", f"/Tables('{self.table}')", If_Match="*"), 400, "InvalidInput")
        self.refused(self.send("GET", "/absent"), 404, "TableNotFound")
        self.refused(self.send("GET", "/a-b()"), 404, "TableNotFound")

    # ---- entities

    def test_an_entity_at_each_level(self):
        entity = {"PartitionKey": "O'Neil", "RowKey": "ä/", "L@odata.type": "Edm.Int64", "L": "9007199254740993", "D": 3.0}
        entity["RowKey"] = "ä b"
        made = self.send("POST", f"/{self.table}", entity, Accept="application/json;odata=fullmetadata")
        self.assertEqual(made.status, 201, made.text)
        etag, time = made.headers["ETag"], made.json()["Timestamp"]
        self.assertRegex(time, f"^{TIME}$")
        link = f"{self.table}(PartitionKey='O''Neil',RowKey='%C3%A4%20b')"
        root, quoted = "http://localhost:10002/devstoreaccount1/", json.dumps(etag)
        self.assertEqual(made.headers["Location"], root + link)
        keys = f'"PartitionKey":"O\'Neil","RowKey":"ä b","Timestamp":"{time}"'
        head = f'"odata.metadata":"{root}$metadata#{self.table}/@Element"'
        typed = '"D":3.0,"L@odata.type":"Edm.Int64","L":"9007199254740993"}'
        full = (
            f'{{{head},"odata.type":"devstoreaccount1.{self.table}","odata.id":"{root}{link}","odata.etag":{quoted},'
            f'"odata.editLink":"{link}",' + keys.replace('"Timestamp"', '"Timestamp@odata.type":"Edm.DateTime","Timestamp"') + "," + typed
        )
        self.assertEqual(made.text, full)
        for level, text in {
            "nometadata": f'{{{keys},"D":3.0,"L":"9007199254740993"}}',
            "minimalmetadata": f'{{{head},"odata.etag":{quoted},{keys},{typed}',
            "fullmetadata": full,
        }.items():
            with self.subTest(level):
                reply = self.send("GET", "/" + link, Accept=f"application/json;odata={level}")
                self.assertEqual(reply.text, text)
                self.assertEqual(reply.headers["ETag"], etag)

    def test_an_entity_expires(self):
        """A write sets the time, a merge without it keeps it, and a reply has it if it was asked for."""
        when, asked = "2999-12-31T00:00:00.5Z", {"x_tavola_expires": "true", "Accept": "application/json;odata=nometadata"}
        inserted = {"PartitionKey": "p", "RowKey": "r", "A": 1, "tavola.expires": when}
        self.assertEqual(self.send("POST", f"/{self.table}", inserted, **asked).json()["tavola.expires"], when)
        self.assertEqual(self.send("PATCH", self.of("r"), {"B": 2}).status, 204)
        read = self.send("GET", self.of("r"), **asked).json()
        self.assertEqual(list(read), ["PartitionKey", "RowKey", "Timestamp", "tavola.expires", "A", "B"])
        self.assertNotIn("tavola.expires", self.send("GET", self.of("r")).json())
        listed = self.send("GET", f"/{self.table}()?$select=A", **asked).json()["value"]
        self.assertEqual(listed, [{"tavola.expires": when, "A": 1}])
        self.assertEqual(self.send("PUT", self.of("r"), {"A": 1}).status, 204)
        self.assertNotIn("tavola.expires", self.send("GET", self.of("r"), **asked).json())
        self.assertEqual(self.send("PUT", self.of("r"), {"tavola.expires": "1999-01-01T00:00:00Z"}).status, 204)
        self.assertEqual(self.send("GET", self.of("r")).status, 404)

    def test_what_is_no_time_at_which_an_entity_expires(self):
        for value, said in (("soon", "is not a time such as 2026-01-31T12:00:00Z"), ("1600-01-01", "is not in the years 1601 to 9999")):
            with self.subTest(value):
                reply = self.insert("r", **{"tavola.expires": value})
                self.assertEqual(reply.status, 400)
                self.assertIn(said, reply.text + reply.headers.get("x-tavola-message", ""))
        refused = self.send("GET", f"/{self.table}()", x_tavola_expires="yes")
        self.assertEqual((refused.status, refused.code()), (400, "InvalidInput"))
        self.assertIn("x-tavola-expires must be true, or be left out", refused.text + refused.headers.get("x-tavola-message", ""))

    def test_headers_of_every_reply(self):
        for path, status in ((f"/{self.table}", 200), ("/absent", 404)):
            reply = self.send("GET", path, x_ms_client_request_id="mine-1", x_ms_version="2019-07-07")
            self.assertEqual(reply.status, status)
            self.assertRegex(reply.headers["x-ms-request-id"], f"^{GUID}$")
            self.assertEqual(reply.headers["x-ms-client-request-id"], "mine-1")
            self.assertEqual(reply.headers["x-ms-version"], "2019-07-07")
            self.assertEqual(reply.headers["Cache-Control"], "no-cache")
            self.assertEqual(reply.headers["X-Content-Type-Options"], "nosniff")
            self.assertTrue(reply.headers["Date"].endswith(" GMT"))
        reply = self.send("GET", f"/{self.table}")
        self.assertEqual(reply.headers["x-ms-version"], "2019-02-02")
        self.assertIsNone(reply.headers["x-ms-client-request-id"])
        self.refused(self.send("GET", f"/{self.table}", x_ms_version="soon"), 400, "InvalidHeaderValue")

    def test_the_text_of_an_error(self):
        reply = self.send("GET", self.of("none"))
        request_id = reply.headers["x-ms-request-id"]
        self.assertRegex(
            reply.text,
            '^{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":'
            rf'"The specified resource does not exist.\\nRequestId:{request_id}\\nTime:{TIME}"}}}}}}$',
        )
        xml = self.send("GET", self.of("none"), Accept="application/xml")
        self.assertEqual(xml.headers["Content-Type"], "application/xml")
        self.assertTrue(xml.text.startswith('<?xml version="1.0" encoding="utf-8"?><Error><Code>AtomFormatNotSupported</Code>'))

    def test_writes_and_their_conditions(self):
        self.refused(self.send("PUT", self.of("r"), {"A": 1}, If_Match="*"), 404, "ResourceNotFound")
        put = self.send("PUT", self.of("r"), {"A": 1, "B": 2})
        self.assertEqual((put.status, put.text), (204, ""))
        first = put.headers["ETag"]
        self.refused(self.insert("r"), 409, "EntityAlreadyExists")
        merged = self.send("PATCH", self.of("r"), {"B": 3, "A": None}, If_Match=first)
        self.assertEqual(merged.status, 204)
        self.assertNotEqual(merged.headers["ETag"], first)
        entity = self.send("GET", self.of("r")).json()
        self.assertEqual((entity["A"], entity["B"], entity["odata.etag"]), (1, 3, merged.headers["ETag"]))
        self.refused(self.send("MERGE", self.of("r"), {}, If_Match=first), 412, "UpdateConditionNotSatisfied")
        self.refused(self.send("PUT", self.of("r"), {}, If_Match='W/"wrong"'), 412, "UpdateConditionNotSatisfied")
        self.assertEqual(self.send("MERGE", self.of("r"), "", If_Match=merged.headers["ETag"].replace("W/", "w/")).status, 204)
        self.assertEqual(self.send("PUT", self.of("r"), {"C": 1}, If_Match="*").status, 204)
        self.assertNotIn("A", self.send("GET", self.of("r")).json())
        for etag in ('"strong"', "none", "", 'W/"a",W/"b"'):
            with self.subTest(etag):
                self.refused(self.send("PUT", self.of("r"), {}, If_Match=etag), 400, "InvalidInput",
                    f"The etag value '{etag}' specified in one of the request headers is not valid. Please make sure only one "
                    "etag value is specified and is valid.")
        self.refused(self.send("PUT", self.of("r"), {}, If_None_Match="*"), 400, "InvalidInput",
            "If-None-Match HTTP header cannot be specified for PUT/DELETE operations.")
        self.refused(self.send("DELETE", self.of("r")), 400, "InvalidInput")
        self.refused(self.send("DELETE", self.of("r"), If_Match=first), 412, "UpdateConditionNotSatisfied")
        gone = self.send("DELETE", self.of("r"), If_Match="*")
        self.assertEqual((gone.status, gone.headers["ETag"]), (204, None))
        self.refused(self.send("DELETE", self.of("r"), If_Match="*"), 404, "ResourceNotFound")
        self.refused(self.send("PUT", "/absent(PartitionKey='',RowKey='')", {}), 404, "TableNotFound")

    def test_verbs_in_a_header(self):
        self.assertEqual(self.send("POST", self.of("t"), {"A": 1}, X_HTTP_Method="PUT").status, 204)
        self.assertEqual(self.send("POST", self.of("t"), {"B": 1}, X_HTTP_Method="MERGE").status, 204)
        self.assertEqual(self.send("GET", self.of("t")).json()["A"], 1)
        self.assertEqual(self.send("POST", self.of("t"), X_HTTP_Method="DELETE", If_Match="*").status, 204)
        self.refused(self.send("PUT", self.of("t"), {}, X_HTTP_Method="MERGE"), 400, "XMethodNotUsingPost")
        self.refused(self.send("POST", self.of("t"), {}, X_HTTP_Method="GET"), 400, "XMethodIncorrectValue")
        self.refused(self.send("PUT", f"/{self.table}", {}), 405, "MethodNotAllowed")

    def test_keys_in_urls(self):
        for row, written in (("", ""), ("''", "'"), ("%25%20%C3%A4", "% ä"), ("a%2Bb+c", "a+b+c"), ("%F0%9F%98%80", "😀"), ("a,b)(", "a,b)(")):
            with self.subTest(row):
                self.assertEqual(self.send("PUT", self.of(row), {"A": 1}).status, 204)
                self.assertEqual(self.send("GET", self.of(row)).json()["RowKey"], written)
        query = "Bad Request - Error in query syntax."
        for row in ("a%2Fb", "a%5Cb", "a/b", "a'b", "%zz", "%C3"):
            with self.subTest(row):
                self.refused(self.send("PUT", self.of(row), {}), 400, "InvalidInput", query)
                self.refused(self.send("GET", self.of(row)), 400, "InvalidInput", query)
        for row in ("a%23", "a%3F", "%7F", "%01"):
            with self.subTest(row):
                self.refused(self.send("PUT", self.of(row), {}), 400, "OutOfRangeInput", "One of the request inputs is out of range.")
                self.refused(self.send("GET", self.of(row)), 404, "ResourceNotFound")
        self.refused(self.insert("a/b"), 400, "OutOfRangeInput", "The 'RowKey' parameter of value 'a/b' is out of range.")
        self.refused(self.insert("a" * 513), 400, "PropertyValueTooLarge")
        self.refused(self.send("POST", f"/{self.table}", {"PartitionKey": "p"}), 400, "PropertiesNeedValue")
        self.refused(self.send("POST", f"/{self.table}", {"PartitionKey": "p", "RowKey": None}), 400, "PropertiesNeedValue")

    def test_limits_of_entities(self):
        for properties, code in (
            ({"A" * 256: 1}, "PropertyNameTooLong"),
            ({"A-B": 1}, "PropertyNameInvalid"),
            ({f"A{n}": n for n in range(253)}, "TooManyProperties"),
            ({"A": "x" * 32769}, "PropertyValueTooLarge"),
            ({f"A{n}": "x" * 32768 for n in range(17)}, "EntityTooLarge"),
            ({"A": [1]}, "InvalidInput"),
            ({"A": "x", "A@odata.type": "Edm.Int32"}, "InvalidInput"),
        ):
            self.refused(self.insert("limits", **properties), 400, code)
        self.refused(self.send("POST", f"/{self.table}", '{"PartitionKey":"p","RowKey":"r","A":1,"A":2}'), 400, "DuplicatePropertiesSpecified")
        self.refused(self.send("POST", f"/{self.table}", '{"PartitionKey"'), 400, "InvalidInput")
        self.refused(self.send("POST", f"/{self.table}", "{}", Content_Type="application/atom+xml"), 415, "AtomFormatNotSupported")
        out_of_range = {"D": "1600-01-01T00:00:00Z", "D@odata.type": "Edm.DateTime"}
        self.refused(self.insert("limits", **out_of_range), 400, "OutOfRangeInput")
        self.assertEqual(self.insert("limits", **{f"A{n}": n for n in range(252)}).status, 201)

    def test_a_body_beyond_the_limit(self):
        reply = self.send("POST", f"/{self.table}", "x" * (4 * 1024 * 1024 + 1))
        self.refused(reply, 413, "RequestBodyTooLarge")

    # ---- queries

    def rows(self, query, **headers):
        reply = self.send("GET", f"/{self.table}()?{query}", **headers)
        self.assertEqual(reply.status, 200, reply.text)
        return [item["RowKey"] for item in reply.json()["value"]], reply

    def test_queries(self):
        for n in range(7):
            self.insert(f"r{n}", N=n, Even=n % 2 == 0)
        self.assertEqual(self.rows("$filter=N%20ge%205")[0], ["r5", "r6"])
        self.assertEqual(self.rows("$filter=Even")[0], ["r0", "r2", "r4", "r6"])
        self.assertEqual(self.rows("$filter=PartitionKey+eq+'p'+and+RowKey+lt+'r2'&$top=1000")[0], ["r0", "r1"])
        self.assertEqual(self.rows("$filter=")[0], [f"r{n}" for n in range(7)])
        self.assertEqual(self.rows("$top=0")[0], [])
        first, reply = self.rows("$top=3&$select=RowKey,N")
        self.assertEqual(set(reply.json()["value"][0]), {"odata.etag", "RowKey", "N"})
        self.assertIn("#" + self.table + "&$select=RowKey,N", reply.json()["odata.metadata"])
        token = reply.headers["x-ms-continuation-NextPartitionKey"]
        second, reply = self.rows(f"$top=4&$select=RowKey,N&NextPartitionKey={token}")
        self.assertEqual(first + second, [f"r{n}" for n in range(7)])
        self.refused(self.send("GET", f"/{self.table}?NextPartitionKey={token}"), 400, "InvalidInput")
        self.refused(self.send("GET", f"/{self.table}?NextPartitionKey=1!8!U21pdGg-"), 400, "InvalidInput")
        for query, status, code in (
            ("$filter=N%20gt", 400, "InvalidInput"),
            ("$filter=1", 400, "InvalidInput"),
            ("$filter=N%20eq%20null", 400, "InvalidInput"),
            ("$filter=N%20eq%20M", 501, "NotImplemented"),
            ("$filter=tolower(N)%20eq%20'x'", 501, "NotImplemented"),
            ("$top=1001", 400, "InvalidInput"),
            ("$top=-1", 400, "InvalidInput"),
            ("$select=A-B", 400, "InvalidInput"),
            ("$orderby=N", 501, "NotImplemented"),
            ("$format=yaml", 400, "InvalidInput"),
            ("timeout=x", 400, "InvalidQueryParameterValue"),
        ):
            with self.subTest(query):
                self.refused(self.send("GET", f"/{self.table}?{query}"), status, code)

    def test_what_a_query_costs(self):
        self.insert("r")
        _, reply = self.rows("$filter=PartitionKey%20eq%20'p'")
        self.assertEqual(reply.headers["x-tavola-access-path"], "PARTITION_SCAN")
        self.assertEqual(reply.headers["x-tavola-rows-examined"], "1")
        self.refused(self.send("GET", f"/{self.table}", x_tavola_max_plan="PARTITION_SCAN"), 400, "PlanTooExpensive")
        self.refused(self.send("GET", f"/{self.table}", x_tavola_max_plan="FAST"), 400, "InvalidInput")

    def test_selected_properties_that_are_not_there_are_null(self):
        self.insert("r", A=1)
        entity = self.send("GET", self.of("r") + "?$select=A,B", Accept="application/json;odata=nometadata")
        self.assertEqual(entity.text, '{"A":1,"B":null}')

    # ---- Tavola's own

    def test_an_index_is_a_table(self):
        for n in range(4):
            self.insert(f"r{n}", City="Paris" if n % 2 else "Rome", N=n)
        with self.stack.connect() as caller:
            key_part = [{"property": "City"}]
            caller.create_index(index={"name": "byCity", "table": self.table, "shape": 1, "place": 2, "partition_key": key_part})
            wait_ready(caller, "byCity")
        found = self.send("GET", "/byCity()?$filter=PartitionKey%20eq%20'Paris'", Accept="application/json;odata=nometadata")
        self.assertEqual([item["N"] for item in found.json()["value"]], [1, 3])
        self.assertEqual(found.json()["value"][0]["$SourceRowKey"], "r1")
        self.assertEqual(found.headers["x-tavola-access-path"], "PARTITION_SCAN")
        self.assertIn("byCity", [item["TableName"] for item in self.send("GET", "/Tables").json()["value"]])
        self.refused(self.send("POST", "/byCity", {"PartitionKey": "p", "RowKey": "r"}), 409, "IndexOwned")
        self.refused(self.send("DELETE", "/Tables('byCity')"), 409, "IndexOwned")
        written = self.insert("r4", City="Paris")
        self.assertTrue(written.headers["x-tavola-consistency-token"])

    def make_index(self, name, *partition_key, **more):
        with self.stack.connect() as caller:
            parts = [{"property": part} for part in partition_key]
            caller.create_index(index={"name": name, "table": self.table, "shape": 1, "place": 2, "partition_key": parts, **more})
            wait_ready(caller, name)
        # The server reads the catalogue twice a second.
        wait_for("the index", lambda: self.through(name, "none eq 1").code() != "IndexNotFound")

    def through(self, index, text, more="", **headers):
        path = f"/{self.table}()?$filter={urllib.parse.quote(text)}{more}"
        return self.send("GET", path, Accept="application/json;odata=nometadata", x_tavola_index=index, **headers)

    def test_a_query_goes_through_an_index(self):
        for n in range(6):
            self.insert(f"r{n}", City="Paris" if n % 2 else "Rome", N=n)
        self.make_index("through", "City", row_key=[{"property": "N"}])
        written = self.insert("r7", City="Paris", N=7)
        token = written.headers["x-tavola-consistency-token"]
        for text, rows in (
            ("City eq 'Paris'", [1, 3, 5, 7]),
            ("City eq 'Paris' and N gt 3", [5, 7]),
            ("City eq 'Paris' and N ge 3 and N lt 7", [3, 5]),
            ("City eq 'Paris' and N lt 5", [1, 3]),
            ("City eq 'Paris' and N eq 5", [5]),
            ("City eq 'Paris' and not (N eq 5)", [1, 3, 7]),
            ("City eq 'Paris' and RowKey eq 'r3'", [3]),
            ("City eq 'Berlin'", []),
        ):
            with self.subTest(text):
                reply = self.through("through", text, x_tavola_consistency_token=token)
                self.assertEqual([item["N"] for item in reply.json()["value"]], rows, reply.text)
                self.assertEqual(reply.headers["x-tavola-access-path"], "INDEX_LOOKUP")
                self.assertLessEqual(int(reply.headers["x-tavola-rows-examined"]), 5)
                self.assertGreaterEqual(int(reply.headers["x-tavola-lag-ms"]), 0)
                self.assertRegex(reply.headers["x-tavola-as-of"], r"^\d{4}-\d\d-\d\dT")
        self.assertEqual([item["N"] for item in self.through("through", "City eq 'Rome'", "&$top=0").json()["value"]], [])

    def test_a_query_through_an_index_reads_what_it_selects_of_a_wide_entity(self):
        self.table = "Wide"
        with self.stack.connect() as caller:
            caller.create_table(name=self.table, wide_entities=True)
            parts = {"City": "Paris", "A": "a", "Z": "z", **{f"b{n:02}": b"x" * 60_000 for n in range(55)}}  # more than a reply holds
            caller.insert_entity(table=self.table, entity=entity("p", "large", parts))
        self.make_index("wideByCity", "City", projection={"keys_only": True})
        where = "City eq 'Paris' and Z eq 'z'"
        self.refused(self.through("wideByCity", where), 400, "EntityTooLarge")
        for select, values in (("A", {"A": "a"}), ("A,RowKey", {"RowKey": "large", "A": "a"}), ("RowKey", {"RowKey": "large"})):
            reply = self.through("wideByCity", where, "&$select=" + select)
            self.assertEqual(reply.json()["value"], [values], reply.text)
        self.assertEqual(self.through("wideByCity", "City eq 'Paris' and Z eq 'y'", "&$select=A").json()["value"], [])

    def test_pages_of_a_query_through_an_index(self):
        for n in range(7):
            self.insert(f"r{n}", Kind="k", N=n)
        self.make_index("paged", "Kind")
        rows, token, pages = [], "", 0
        while token is not None:
            reply = self.through("paged", "Kind eq 'k' and N ne 0 and N ne 1", "&$top=2&NextPartitionKey=" + token, x_tavola_latest="true")
            rows += [item["N"] for item in reply.json()["value"]]
            token, pages = reply.headers["x-ms-continuation-NextPartitionKey"], pages + 1
        self.assertEqual((rows, pages), ([2, 3, 4, 5, 6], 4))
        first = self.through("paged", "Kind eq 'k'", "&$top=2").headers["x-ms-continuation-NextPartitionKey"]
        self.refused(self.through("paged", "Kind eq 'j'", "&NextPartitionKey=" + first), 400, "InvalidInput")

    def test_queries_that_an_index_does_not_answer(self):
        self.insert("r", City="Rome", Age=1)
        self.make_index("partial", "City", filter="Age ge 0")
        for headers, text, status, code in (
            ({}, "Age eq 1", 400, "InvalidInput"),
            ({}, "City eq 'Rome'", 400, "InvalidInput"),
            ({}, "City eq 'Rome' or Age ge 0", 400, "InvalidInput"),
            ({"x_tavola_max_plan": "ROW_RANGE"}, "City eq 'Rome' and Age ge 0", 400, "PlanTooExpensive"),
            ({"x_tavola_max_staleness_ms": "soon"}, "City eq 'Rome' and Age ge 0", 400, "InvalidInput"),
            ({"x_tavola_latest": "1"}, "City eq 'Rome' and Age ge 0", 400, "InvalidInput"),
            ({"x_tavola_consistency_token": "x"}, "City eq 'Rome' and Age ge 0", 400, "InvalidInput"),
        ):
            with self.subTest(text=text, **headers):
                self.refused(self.through("partial", text, **headers), status, code)
        good = self.through("partial", "City eq 'Rome' and Age ge 0", x_tavola_max_plan="INDEX_LOOKUP", x_tavola_latest="true")
        self.assertEqual(len(good.json()["value"]), 1, good.text)
        self.refused(self.through("absent", "City eq 'Rome'"), 404, "IndexNotFound")
        self.refused(self.through("a-b", "City eq 'Rome'"), 404, "IndexNotFound")
        self.refused(self.send("GET", f"/{self.table}()", x_tavola_latest="true"), 400, "InvalidInput")
        self.send("POST", "/Tables", {"TableName": "Elsewhere"})
        self.refused(self.send("GET", "/Elsewhere()?$filter=City%20eq%20'Rome'", x_tavola_index="partial"), 404, "IndexNotFound")

    def test_a_request_that_is_sent_again_is_not_done_again(self):
        first = self.send("POST", f"/{self.table}", {"PartitionKey": "p", "RowKey": "once"}, x_ms_client_request_id="once-1")
        again = self.send("POST", f"/{self.table}", {"PartitionKey": "p", "RowKey": "once"}, x_ms_client_request_id="once-1")
        self.assertEqual((first.status, again.status), (201, 201))
        self.assertEqual(first.headers["ETag"], again.headers["ETag"])
        self.assertEqual(again.headers["x-tavola-replayed"], "true")

    def test_accounts(self):
        for account, status in (("devstoreaccount1", 200), ("default", 200), ("another", 404)):
            self.connection.request("GET", f"/{account}/Tables")
            self.assertEqual(Reply(self.connection.getresponse()).status, status)
        self.connection.request("GET", "/Tables", headers={"Host": "devstoreaccount1.table.example.com:10002"})
        reply = Reply(self.connection.getresponse())
        self.assertEqual(reply.json()["odata.metadata"], "http://devstoreaccount1.table.example.com:10002/$metadata#Tables")
        self.connection.request("GET", "/devstoreaccount1-secondary/" + self.table)
        self.assertEqual(Reply(self.connection.getresponse()).status, 200)
        self.connection.request("POST", "/devstoreaccount1-secondary/" + self.table, "{}")
        self.refused(Reply(self.connection.getresponse()), 403, "InsufficientAccountPermissions")


if __name__ == "__main__":
    unittest.main()
