# SPDX-License-Identifier: Apache-2.0
"""The Azure Tables door byte by byte: bodies at every level of metadata, values of every type in bodies and filters, and the bodies of errors."""

import json
import re
import unittest
import urllib.parse

from tavola_test.azure import DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Door
from tavola_test.ports import free_port
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

LEVELS = ("nometadata", "minimalmetadata", "fullmetadata")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z"
# Of each type the annotation that it has in replies, if any, and a value as requests and replies write it.
TYPES = {
    "Binary": ("Edm.Binary", '"AAH+/w=="'),
    "Boolean": (None, "true"),
    "DateTime": ("Edm.DateTime", '"9999-12-31T23:59:59.9999999Z"'),
    "Double": (None, "0.1"),
    "Early": ("Edm.DateTime", '"1601-01-01T00:00:00Z"'),
    "Guid": ("Edm.Guid", '"c9da6455-213d-42c9-9a79-3e9149a57833"'),
    "Infinite": ("Edm.Double", '"-Infinity"'),
    "Int32": (None, "-2147483648"),
    "Int64": ("Edm.Int64", '"9007199254740993"'),
    "Nothing": ("Edm.Double", '"NaN"'),
    "String": (None, '"a\\"\\\\\\u0000\\n\u00e4\U0001f600"'),
    "Whole": (None, "3.0"),
}


def members(annotated):
    """The properties of TYPES as members of JSON, in the order of replies."""
    return ",".join(
        (f'"{name}@odata.type":"{edm}",' if annotated and edm else "") + f'"{name}":{value}' for name, (edm, value) in TYPES.items())


class Bytes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        port = free_port()
        cls.stack.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
        wait_for("the door", lambda: cls.stack.accepts(f"127.0.0.1:{port}"))
        cls.door = Door(port, DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT)
        cls.base = f"http://127.0.0.1:{port}/{DEVELOPMENT_ACCOUNT}"

    def setUp(self):
        self.table = "B" + re.sub("[^A-Za-z0-9]", "", self.id().rsplit(".", 1)[1])[:60]
        self.assertEqual(self.door.send("POST", "/Tables", {"TableName": self.table}).status, 201)

    def insert(self, row, properties="", level="minimalmetadata", **headers):
        body = f'{{"PartitionKey":"p","RowKey":"{row}"{"," if properties else ""}{properties}}}'.encode()
        return self.door.send("POST", f"/{self.table}", body, Content_Type="application/json",
                              Accept=f"application/json;odata={level}", **headers)

    def get(self, path, level):
        reply = self.door.send("GET", path, Accept=f"application/json;odata={level}")
        self.assertEqual(reply.status, 200, reply.text)
        self.assertEqual(reply.headers["Content-Type"], f"application/json;odata={level};streaming=true;charset=utf-8")
        self.assertEqual(reply.headers["DataServiceVersion"], "3.0;")
        return reply

    def entity(self, level, etag, time, row, properties):
        """An entity as an element of a set."""
        link = f"{self.table}(PartitionKey='p',RowKey='{row}')"
        quoted = '"' + etag.replace('"', '\\"') + '"'
        return "{" + {
            "nometadata": "",
            "minimalmetadata": f'"odata.etag":{quoted},',
            "fullmetadata": f'"odata.type":"{DEVELOPMENT_ACCOUNT}.{self.table}","odata.id":"{self.base}/{link}","odata.etag":{quoted},'
                            f'"odata.editLink":"{link}",',
        }[level] + f'"PartitionKey":"p","RowKey":"{row}",' + (
            '"Timestamp@odata.type":"Edm.DateTime",' if level == "fullmetadata" else "") + f'"Timestamp":"{time}"' + (
            f",{properties}" if properties else "") + "}"

    def head(self, level, what):
        return "" if level == "nometadata" else f'"odata.metadata":"{self.base}/$metadata#{what}",'

    # ---- entities

    def test_an_entity_of_every_type(self):
        made = self.insert("r", members(annotated=True))
        self.assertEqual(made.status, 201, made.text)
        time, etag = re.search(f'"Timestamp":"({TIME})"', made.text)[1], made.headers["ETag"]
        self.insert("s")
        second = self.door.send("GET", f"/{self.table}(PartitionKey='p',RowKey='s')")
        second_time, second_etag = re.search(f'"Timestamp":"({TIME})"', second.text)[1], second.headers["ETag"]
        for level in LEVELS:
            with self.subTest(level):
                properties = members(annotated=level != "nometadata")
                one = self.entity(level, etag, time, "r", properties)
                other = self.entity(level, second_etag, second_time, "s", "")
                alone = "{" + self.head(level, f"{self.table}/@Element") + one[1:]
                if level == "minimalmetadata":
                    self.assertEqual(made.text, alone)
                self.assertEqual(self.get(f"/{self.table}(PartitionKey='p',RowKey='r')", level).text, alone)
                whole = "{" + self.head(level, self.table) + f'"value":[{one},{other}]}}'
                for path in (f"/{self.table}", f"/{self.table}()", f"/{self.table}/"):
                    self.assertEqual(self.get(path, level).text, whole)
                nothing = "{" + self.head(level, self.table) + '"value":[]}'
                self.assertEqual(self.get(f"/{self.table}()?$filter=Int32%20eq%201", level).text, nothing)

    def test_new_entities_at_every_level(self):
        for level in LEVELS:
            with self.subTest(level):
                made = self.insert(level, '"A":1', level)
                time = re.search(f'"Timestamp":"({TIME})"', made.text)[1]
                want = self.entity(level, made.headers["ETag"], time, level, '"A":1')
                self.assertEqual(made.text, "{" + self.head(level, f"{self.table}/@Element") + want[1:])
                self.assertEqual((made.status, made.headers["Preference-Applied"]), (201, None))
        told = self.insert("told", Prefer="return-content")
        self.assertEqual((told.status, told.headers["Preference-Applied"]), (201, "return-content"))
        quiet = self.insert("quiet", Prefer="return-no-content")
        self.assertEqual((quiet.status, quiet.text, quiet.headers["Preference-Applied"]), (204, "", "return-no-content"))
        self.assertEqual(quiet.headers["DataServiceId"], f"{self.base}/{self.table}(PartitionKey='p',RowKey='quiet')")

    def test_what_is_selected(self):
        etag = self.insert("r", '"L@odata.type":"Edm.Int64","L":"5","A":1').headers["ETag"].replace('"', '\\"')
        link = f"{self.table}(PartitionKey='p',RowKey='r')"
        for level, element in {
            "nometadata": '{"RowKey":"r","L":"5","X":null}',
            "minimalmetadata": f'{{"odata.etag":"{etag}","RowKey":"r","L@odata.type":"Edm.Int64","L":"5","X":null}}',
            "fullmetadata": f'{{"odata.type":"{DEVELOPMENT_ACCOUNT}.{self.table}","odata.id":"{self.base}/{link}","odata.etag":"{etag}",'
                            f'"odata.editLink":"{link}","RowKey":"r","L@odata.type":"Edm.Int64","L":"5","X":null}}',
        }.items():
            with self.subTest(level):
                whole = "{" + self.head(level, f"{self.table}&$select=L,RowKey,X") + f'"value":[{element}]}}'
                self.assertEqual(self.get(f"/{self.table}()?$select=L,RowKey,X", level).text, whole)
                one = "{" + self.head(level, f"{self.table}/@Element&$select=L,RowKey,X") + element[1:]
                self.assertEqual(self.get(f"/{link}?$select=L,RowKey,X", level).text, one)

    def test_a_body_may_begin_with_a_byte_order_mark(self):
        mark, one = b"\xef\xbb\xbf", f"/{self.table}(PartitionKey='p',RowKey='r')"
        headers = {"Content_Type": "application/json", "Accept": "application/json;odata=nometadata"}
        self.assertEqual(self.door.send("POST", "/Tables", mark + b'{"TableName":"Marked"}', **headers).status, 201)
        self.assertEqual(self.door.send("POST", f"/{self.table}", mark + b'{"PartitionKey":"p","RowKey":"r"}', **headers).status, 201)
        self.assertEqual(self.door.send("PUT", one, mark + b'{"A":1}', If_Match="*", **headers).status, 204)
        self.assertEqual(json.loads(self.get(one, "nometadata").text)["A"], 1)
        self.assertEqual(self.door.send("PUT", one, mark + mark + b"{}", If_Match="*", **headers).code(), "InvalidInput")

    def test_the_format_option_precedes_the_header(self):
        self.insert("r")
        for written, level in (("application/json;odata=nometadata", "nometadata"), ("json", "minimalmetadata"),
                               ("json;odata=nometadata", "nometadata"), ("application/json;odata=fullmetadata", "fullmetadata")):
            for sent in (written, urllib.parse.quote(written)):
                reply = self.door.send("GET", f"/{self.table}()?$format={sent}", Accept="application/atom+xml")
                self.assertEqual(reply.headers["Content-Type"], f"application/json;odata={level};streaming=true;charset=utf-8")
        for accept in (None, "*/*", "application/json", "text/html, application/json;q=0.5"):
            reply = self.door.send("GET", f"/{self.table}()", Accept=accept)
            self.assertIn("odata=minimalmetadata", reply.headers["Content-Type"])
        self.assertEqual(self.door.send("GET", f"/{self.table}()", Accept="application/atom+xml").code(), "AtomFormatNotSupported")

    # ---- tables

    def test_tables(self):
        for level in LEVELS:
            with self.subTest(level):
                name = "Made" + level
                item = f"\"odata.type\":\"{DEVELOPMENT_ACCOUNT}.Tables\",\"odata.id\":\"{self.base}/Tables('{name}')\"," \
                       f"\"odata.editLink\":\"Tables('{name}')\"," if level == "fullmetadata" else ""
                item += f'"TableName":"{name}"}}'
                one = "{" + self.head(level, "Tables/@Element") + item
                made = self.door.send("POST", "/Tables", {"TableName": name}, Accept=f"application/json;odata={level}")
                self.assertEqual((made.status, made.text), (201, one))
                self.assertEqual(self.get(f"/Tables('{name}')", level).text, one)
                whole = "{" + self.head(level, "Tables") + f'"value":[{{{item}]}}'
                self.assertEqual(self.get(f"/Tables?$filter=TableName%20eq%20'{name}'", level).text, whole)

    # ---- values

    def test_values_as_they_are_sent(self):
        for number, (sent, kept) in enumerate((
            ('"A":2147483647', '"A":2147483647'),
            ('"A":2147483648', '"A":2147483648.0'),
            ('"A":-2147483649', '"A":-2147483649.0'),
            ('"A":9007199254740993', '"A":9007199254740992.0'),
            ('"A":9223372036854775808', '"A":9.223372036854776e+18'),
            ('"A":1e0', '"A":1.0'),
            ('"A":-0.0', '"A":-0.0'),
            ('"A":5e-324', '"A":5e-324'),
            ('"A":1.7976931348623157e308', '"A":1.7976931348623157e+308'),
            ('"A":"NaN"', '"A":"NaN"'),
            ('"A":"2020-01-01T00:00:00Z"', '"A":"2020-01-01T00:00:00Z"'),
            ('"A":"NaN","A@odata.type":"Edm.Double"', '"A@odata.type":"Edm.Double","A":"NaN"'),
            ('"A":"Infinity","A@odata.type":"Edm.Double"', '"A@odata.type":"Edm.Double","A":"Infinity"'),
            ('"A@odata.type":"Edm.Double","A":"-Infinity"', '"A@odata.type":"Edm.Double","A":"-Infinity"'),
            ('"A@odata.type":"Edm.Double","A":3', '"A":3.0'),
            ('"A@odata.type":"Edm.Double","A":"3.5"', '"A":3.5'),
            ('"A@odata.type":"Edm.Int32","A":"7"', '"A":7'),
            ('"A@odata.type":"Edm.Boolean","A":"false"', '"A":false'),
            ('"A@odata.type":"Edm.String","A":"x"', '"A":"x"'),
            ('"A@odata.type":"Edm.Int64","A":"-9223372036854775808"', '"A@odata.type":"Edm.Int64","A":"-9223372036854775808"'),
            ('"A@odata.type":"Edm.Int64","A":9223372036854775807', '"A@odata.type":"Edm.Int64","A":"9223372036854775807"'),
            ('"A@odata.type":"Edm.DateTime","A":"1601-01-01T00:00:00.0000001Z"',
             '"A@odata.type":"Edm.DateTime","A":"1601-01-01T00:00:00.0000001Z"'),
            ('"A@odata.type":"Edm.DateTime","A":"9999-12-31T23:59:59.99999999Z"',
             '"A@odata.type":"Edm.DateTime","A":"9999-12-31T23:59:59.9999999Z"'),
            ('"A@odata.type":"Edm.DateTime","A":"2020-01-01T01:30:00+01:30"', '"A@odata.type":"Edm.DateTime","A":"2020-01-01T00:00:00Z"'),
            ('"A@odata.type":"Edm.DateTime","A":"2020-01-01T00:00:00.1200"', '"A@odata.type":"Edm.DateTime","A":"2020-01-01T00:00:00.12Z"'),
            ('"A@odata.type":"Edm.Guid","A":"C9DA6455-213D-42C9-9A79-3E9149A57833"',
             '"A@odata.type":"Edm.Guid","A":"c9da6455-213d-42c9-9a79-3e9149a57833"'),
            ('"A@odata.type":"Edm.Binary","A":""', '"A@odata.type":"Edm.Binary","A":""'),
            ('"A":null,"B":1', '"B":1'),
            ('"A@odata.type":"Edm.Int64","B":1', '"B":1'),
        )):
            with self.subTest(sent):
                made = self.insert(str(number), sent)
                self.assertEqual(made.status, 201, made.text)
                self.assertTrue(made.text.endswith(f'Z",{kept}}}'), made.text)

    def test_values_that_are_refused(self):
        for sent, code, message in (
            ('"A":1e400', "InvalidInput", None),
            ('"A":{}', "InvalidInput", None),
            ('"A":"\\ud800"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Int64","A":"9223372036854775808"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Int64","A":1.5', "InvalidInput", None),
            ('"A@odata.type":"Edm.Int64","A":" 1"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Int32","A":2147483648', "InvalidInput", None),
            ('"A@odata.type":"Edm.Double","A":"nan"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Double","A":"INF"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Boolean","A":1', "InvalidInput", None),
            ('"A@odata.type":"Edm.DateTime","A":""', "InvalidInput", None),
            ('"A@odata.type":"Edm.DateTime","A":"2021-02-29T00:00:00Z"', "InvalidInput", None),
            ('"A@odata.type":"Edm.DateTime","A":"1600-12-31T23:59:59Z"', "OutOfRangeInput",
             "The 'A' parameter of value '12/31/1600 23:59:59' is out of range."),
            ('"A@odata.type":"Edm.Guid","A":"c9da6455"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Binary","A":"#"', "InvalidInput", None),
            ('"A@odata.type":"Edm.Float","A":1', "InvalidInput", None),
            ('"A":1,"A":1', "DuplicatePropertiesSpecified", "A property is specified more than one time."),
        ):
            with self.subTest(sent):
                reply = self.insert("r", sent)
                self.assertEqual((reply.status, reply.code()), (400, code), reply.text)
                if message:
                    self.assertIn(f'"value":"{message}\\nRequestId:', reply.text)

    def test_values_in_filters(self):
        self.insert("r", members(annotated=True))
        for text, found in (
            ("Int64 eq 9007199254740993L", True),
            ("Int64 eq 9007199254740992L", False),
            ("Int64 eq 9007199254740993", True),
            ("Int64 gt 9007199254740992L and Int64 lt 9007199254740994L", True),
            ("Int32 eq -2147483648", True),
            ("Int32 eq -2147483648L", False),
            ("Double eq 0.1", True),
            ("Double lt 0.10000000000000002", True),
            ("Whole eq 3", True),
            ("Whole eq 3D", True),
            ("Whole eq 30e-1", True),
            ("Infinite eq -INF", True),
            ("Infinite lt -1.7976931348623157e308", True),
            ("Nothing eq NaN", False),
            ("Nothing ne NaN", True),
            ("Nothing gt 0.0 or Nothing le 0.0", False),
            ("DateTime eq datetime'9999-12-31T23:59:59.9999999Z'", True),
            ("DateTime gt datetime'9999-12-31T23:59:59.9999998Z'", True),
            ("DateTime eq datetime'9999-12-31T23:59:59.999Z'", False),
            ("Early eq datetime'1601-01-01T00:00:00Z'", True),
            ("Early lt datetime'1601-01-01T00:00:00.0000001Z'", True),
            ("Guid eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'", True),
            ("Binary eq X'0001feff'", True),
            ("Binary eq binary'0001FEFF'", True),
            ("Binary gt X''", True),
            ("Boolean", True),
            ("true eq Boolean", True),
            ("PartitionKey eq 'p' and RowKey eq 'r'", True),
            ("String gt 'a'", True),
            ("Timestamp gt datetime'2020-01-01T00:00:00Z'", True),
            ("Absent ne 1", False),
            ("not (Absent eq 1)", True),
        ):
            with self.subTest(text):
                for written in (urllib.parse.quote(text), urllib.parse.quote(text, safe="'()").replace("%20", "+")):
                    reply = self.get(f"/{self.table}()?$filter={written}", "nometadata")
                    self.assertEqual('"RowKey":"r"' in reply.text, found, reply.text)

    # ---- errors

    def test_errors_in_both_forms(self):
        """The whole body: code, text, the id of the request and the time, in JSON and in XML."""
        self.insert("r")
        entity, absent = f"/{self.table}(PartitionKey='p',RowKey='r')", f"/{self.table}(PartitionKey='p',RowKey='x')"
        for method, path, body, headers, status, code, message in (
            ("GET", absent, None, {}, 404, "ResourceNotFound", "The specified resource does not exist."),
            ("GET", "/Absent()", None, {}, 404, "TableNotFound", "The table specified does not exist."),
            ("GET", "/Tables('Absent')", None, {}, 404, "TableNotFound", "The table specified does not exist."),
            ("DELETE", "/Tables('Absent')", None, {}, 404, "ResourceNotFound", "The specified resource does not exist."),
            ("POST", "/Tables", {"TableName": self.table}, {}, 409, "TableAlreadyExists", "The table specified already exists."),
            ("POST", "/Tables", {"TableName": "a-b"}, {}, 400, "InvalidResourceName",
             "The specifed resource name contains invalid characters."),
            ("POST", f"/{self.table}", {"PartitionKey": "p", "RowKey": "r"}, {}, 409, "EntityAlreadyExists",
             "The specified entity already exists."),
            ("POST", f"/{self.table}", {"PartitionKey": "p"}, {}, 400, "PropertiesNeedValue",
             "The values are not specified for all properties in the entity."),
            ("POST", f"/{self.table}", {"PartitionKey": "p<&", "RowKey": "a/b"}, {}, 400, "OutOfRangeInput",
             "The 'RowKey' parameter of value 'a/b' is out of range."),
            ("PUT", entity, {"A-B": 1}, {}, 400, "PropertyNameInvalid", "The property name is invalid."),
            ("PUT", entity, {"A" * 256: 1}, {}, 400, "PropertyNameTooLong", "The property name exceeds the maximum allowed length (255)."),
            ("PUT", entity, {"A": "x" * 32769}, {}, 400, "PropertyValueTooLarge",
             "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the "
             "maximum number of characters should be 32K or less."),
            ("PUT", entity, {f"A{n}": n for n in range(253)}, {}, 400, "TooManyProperties",
             "The entity contains more properties than allowed."),
            ("PUT", entity, {f"A{n}": "x" * 32000 for n in range(17)}, {}, 400, "EntityTooLarge",
             "The entity is larger than the maximum allowed size (1MB)."),
            ("PUT", entity, {}, {"If_Match": 'W/"wrong"'}, 412, "UpdateConditionNotSatisfied",
             "The update condition specified in the request was not satisfied."),
            ("PUT", entity, {}, {"If_Match": "<&>"}, 400, "InvalidInput",
             "The etag value '<&>' specified in one of the request headers is not valid. Please make sure only one etag value is specified "
             "and is valid."),
            ("GET", f"/{self.table}()?$filter=A%20eq%20B", None, {}, 501, "NotImplemented",
             "The requested operation is not implemented on the specified resource."),
            ("PUT", f"/{self.table}", {}, {}, 405, "MethodNotAllowed", "The requested method is not allowed on the specified resource."),
            ("POST", f"/{self.table}", {}, {"Content_Type": "application/atom+xml"}, 415, "AtomFormatNotSupported",
             "Atom format is not supported."),
            ("GET", f"/{self.table}()", None, {"x_ms_version": "soon"}, 400, "InvalidHeaderValue",
             "The value for one of the HTTP headers is not in the correct format."),
            ("GET", f"/{self.table}()?timeout=x", None, {}, 400, "InvalidQueryParameterValue",
             "Value for one of the query parameters specified in the request URI is invalid."),
            ("PUT", entity, {}, {"X_HTTP_Method": "MERGE"}, 400, "XMethodNotUsingPost",
             "The request uses X-HTTP-Method with an HTTP verb other than POST."),
            ("POST", entity, {}, {"X_HTTP_Method": "GET"}, 400, "XMethodIncorrectValue", "The specified X-HTTP-Method is invalid."),
            ("GET", entity, None, {"Authorization": "SharedKey devstoreaccount1:x"}, 403, "AuthenticationFailed",
             "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the "
             "signature."),
        ):
            with self.subTest(code, path=path):
                reply = self.door.send(method, path, body, Accept="application/json", **headers)
                tail = rf"\\nRequestId:{reply.headers['x-ms-request-id']}\\nTime:{TIME}"
                self.assertEqual((reply.status, reply.code()), (status, code), reply.text)
                self.assertIn("application/json;odata=minimalmetadata", reply.headers["Content-Type"])
                self.assertRegex(reply.text, r'\A\{"odata\.error":\{"code":"' + code + r'","message":\{"lang":"en-US","value":"'
                                 + re.escape(message) + tail + r'"\}\}\}\Z')
                if method == "POST" and not headers or method == "GET" and status in (404, 501) or status == 415:
                    continue  # a client that accepts XML alone is told that Atom is not supported
                reply = self.door.send(method, path, body, Accept="application/xml", **headers)
                escaped = message.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&apos;")
                tail = rf"\nRequestId:{reply.headers['x-ms-request-id']}\nTime:{TIME}"
                self.assertEqual((reply.status, reply.code(), reply.headers["Content-Type"]), (status, code, "application/xml"), reply.text)
                self.assertRegex(reply.text, r'\A<\?xml version="1\.0" encoding="utf-8"\?><Error><Code>' + code + "</Code><Message>"
                                 + re.escape(escaped) + tail + r"</Message></Error>\Z")

    def test_operations_with_xml_bodies_fail_in_xml(self):
        for method, path, body, status, code in (
            ("GET", "/Absent?comp=acl", None, 404, "TableNotFound"),
            ("PUT", f"/{self.table}?comp=acl", "<", 400, "InvalidXmlDocument"),
            ("PUT", "/?restype=service&comp=properties", "<StorageServiceProperties><Other/></StorageServiceProperties>", 400,
             "UnsupportedXmlNode"),
            ("GET", "/?restype=service&comp=stats", None, 400, "InvalidQueryParameterValue"),
        ):
            with self.subTest(path=path):
                reply = self.door.send(method, path, body, Accept="application/json")
                self.assertEqual((reply.status, reply.code(), reply.headers["Content-Type"]), (status, code, "application/xml"), reply.text)
                self.assertTrue(reply.text.startswith(f'<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>'))


if __name__ == "__main__":
    unittest.main()
