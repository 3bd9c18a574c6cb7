# SPDX-License-Identifier: Apache-2.0
"""The methods over HTTP: the Connect protocol, and what a client may do to a connection."""

import base64
import contextlib
import gzip
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import tempfile
import time
import unittest
import urllib.parse

from google.protobuf import descriptor_pb2

from tavola_test import metrics
from tavola_test.certificates import Authority
from tavola_test.credentials import token
from tavola_test.http_client import Caller, Raw, address_of, envelope, envelopes
from tavola_test.metrics import Sample
from tavola_test.security_case import SecurityCase
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

TABLE = "TableService/CreateTable"
INSERT = "EntityService/InsertEntity"
UPSERT = "EntityService/InsertOrReplaceEntity"
GET = "EntityService/GetEntity"
SCAN = "EntityService/ScanEntities"
IMPORT = "EntityService/ImportEntities"
QUERY = {"query": {"table": "things"}}
KEY = {"partitionKey": "p", "rowKey": "r"}


class HttpCase(unittest.TestCase):
    """A server with an HTTP listener, and a table with one entity in it. Tests of compressed requests do not wait for each other."""

    settings = {"TAVOLA_INFLATED_BYTES_RATE_LIMIT": "0"}

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        cls.metrics_socket = os.path.join(cls.stack.folder, "metrics")
        cls.stack.start_server(
            TAVOLA_HTTP_LISTEN="127.0.0.1:0", TAVOLA_METRICS_LISTEN="unix:" + cls.metrics_socket, **cls.settings)
        cls.address = address_of(cls.stack)
        caller = Caller(cls.address)
        cls.addClassCleanup(caller.close)
        caller.call(TABLE, {"name": "things"})
        reply = caller.call(UPSERT, {"table": "things", "entity": {**KEY, "properties": {"a": {"stringValue": "x" * 2000}}}})
        if reply.status != 200:
            raise AssertionError(reply.body)

    def setUp(self):
        self.caller = Caller(self.address)
        self.addCleanup(self.caller.close)

    def get(self, **more):
        return self.caller.call(GET, {"table": "things", "key": KEY}, **more)

    def metric(self, name, **labels):
        return Sample(metrics.get(self.metrics_socket)[2]).value(name, **labels)

    def expect_error(self, reply, status, code, text=""):
        error = reply.json()
        self.assertEqual((reply.status, error["code"]), (status, code), error)
        self.assertIn(text, error.get("message", ""))
        self.assertEqual(reply.headers["Content-Type"], "application/json")
        return error


class TestUnary(HttpCase):
    def test_an_entity_is_read_as_json(self):
        reply = self.get()

        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.headers["Content-Type"], "application/json")
        self.assertLessEqual(KEY.items(), reply.json()["entity"].items())
        self.assertEqual(reply.json()["entity"]["properties"]["a"], {"stringValue": "x" * 2000})

    def test_an_error_has_its_code_its_text_and_its_details(self):
        reply = self.caller.call(GET, {"table": "things", "key": {"partitionKey": "p", "rowKey": "none"}})

        error = self.expect_error(reply, 404, "not_found", "RESOURCE_NOT_FOUND: ")
        detail = error["details"][0]
        self.assertEqual(detail["type"], "google.rpc.ErrorInfo")
        self.assertIn(b"RESOURCE_NOT_FOUND", base64.b64decode(detail["value"] + "=="))
        self.assertNotIn("=", detail["value"])
        self.assertEqual(detail["debug"]["reason"], "RESOURCE_NOT_FOUND")

    def test_messages_that_are_none_are_refused(self):
        post = {"Content-Type": "application/json"}
        for body, text in [(b"", ""), (b"{", ""), (b'{"tabel":"x"}', "tabel"), (b'{"table":1}', "table"), (b"[]", "")]:
            with self.subTest(body=body):
                reply = self.caller.request("POST", f"/tavola.v1.{GET}", body, post)
                self.expect_error(reply, 400, "invalid_argument", text)
        reply = self.caller.request("POST", f"/tavola.v1.{GET}", b"\xff\xff", {"Content-Type": "application/proto"})
        self.expect_error(reply, 400, "invalid_argument")

    def test_a_text_of_very_many_values_is_refused(self):
        reply = self.caller.request("POST", f"/tavola.v1.{GET}", b'{"x":[' + b"0," * 300_000 + b"0]}", {"Content-Type": "application/json"})

        self.expect_error(reply, 429, "resource_exhausted", "values")

    def test_other_paths_verbs_and_types_are_refused(self):
        json_type = {"Content-Type": "application/json"}
        self.expect_error(self.caller.request("POST", "/tavola.v1.EntityService/Nothing", b"{}", json_type), 404, "unimplemented")
        self.expect_error(self.caller.request("POST", "/no.Service/Nothing", b"{}", json_type), 404, "unimplemented")
        self.expect_error(self.caller.request("POST", "/grpc.health.v1.Health/Check", b"{}", json_type), 404, "unimplemented")
        reply = self.caller.request("PUT", f"/tavola.v1.{GET}", b"{}", json_type)
        self.expect_error(reply, 405, "unimplemented")
        self.assertEqual(reply.headers["Allow"], "GET, POST")
        reply = self.caller.request("GET", f"/tavola.v1.{UPSERT}")
        self.expect_error(reply, 405, "unimplemented")
        self.assertEqual(reply.headers["Allow"], "POST")
        for content_type in ["text/plain", "application/grpc", "application/connect+json", "application/json; charset=latin1", ""]:
            with self.subTest(content_type=content_type):
                reply = self.caller.request("POST", f"/tavola.v1.{GET}", b"{}", {"Content-Type": content_type})
                self.assertEqual(reply.status, 415)
                self.assertEqual(reply.headers["Accept-Post"], "application/json, application/proto")

    def test_a_name_of_elsewhere_is_refused(self):
        """A page whose own name resolves to this machine asks without Origin."""
        for host, status in (("evil.example:10002", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example", 403),
                             ("localhost", 200), ("127.0.0.1:1", 200), ("[::1]", 200)):
            for path in ("/tavola.v1.EntityService/QueryEntities?encoding=json&message=" + urllib.parse.quote(json.dumps(QUERY)), "/healthz"):
                with Raw(self.address) as raw:
                    raw.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                    self.assertEqual(raw.read_all().split()[1], str(status).encode(), (host, path))

    def test_headers_of_the_protocol_are_checked(self):
        self.assertEqual(self.get(headers={"Connect-Protocol-Version": "1"}).status, 200)
        self.expect_error(self.get(headers={"Connect-Protocol-Version": "2"}), 400, "invalid_argument", "Connect-Protocol-Version")
        self.assertEqual(self.get(headers={"Connect-Timeout-Ms": "10000"}).status, 200)
        for bad in ["", "1s", "-1", "12345678901"]:
            self.expect_error(self.get(headers={"Connect-Timeout-Ms": bad}), 400, "invalid_argument", "Connect-Timeout-Ms")
        self.expect_error(self.get(headers={"Connect-Timeout-Ms": "0"}), 504, "deadline_exceeded")

    def test_bodies_are_compressed_both_ways(self):
        message = json.dumps({"table": "things", "key": KEY}).encode()
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip", "Accept-Encoding": "br, gzip;q=0.5"}

        reply = self.caller.request("POST", f"/tavola.v1.{GET}", gzip.compress(message), headers)

        self.assertEqual((reply.status, reply.headers["Content-Encoding"]), (200, "gzip"), reply.body)
        self.assertEqual(json.loads(gzip.decompress(reply.body))["entity"]["rowKey"], "r")
        reply = self.get(headers={"Accept-Encoding": "gzip;q=0"})
        self.assertIsNone(reply.headers["Content-Encoding"])
        self.expect_error(self.caller.request("POST", f"/tavola.v1.{GET}", message, headers), 400, "invalid_argument", "inflated")
        self.expect_error(self.caller.request("POST", f"/tavola.v1.{GET}", message, {**headers, "Content-Encoding": "br"}),
                          400, "invalid_argument", "Content-Encoding")

    def test_a_body_that_inflates_to_too_much_is_refused(self):
        bomb = gzip.compress(b" " * 20_000_000)
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

        reply = self.caller.request("POST", f"/tavola.v1.{GET}", bomb, headers)

        self.assertLess(len(bomb), 50_000)
        self.expect_error(reply, 429, "resource_exhausted", "REQUEST_BODY_TOO_LARGE")

    def test_a_read_is_called_by_get_as_well(self):
        message = json.dumps({"table": "things", "key": KEY})
        quoted = urllib.parse.quote(message)
        coded = base64.urlsafe_b64encode(message.encode()).decode().rstrip("=")

        plain = self.caller.request("GET", f"/tavola.v1.{GET}?connect=v1&encoding=json&message={quoted}")
        in_base64 = self.caller.request("GET", f"/tavola.v1.{GET}?encoding=json&base64=1&message={coded}")
        head = self.caller.request("HEAD", f"/tavola.v1.{GET}?encoding=json&message={quoted}")

        self.assertEqual(plain.json(), in_base64.json())
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(self.caller.request("GET", f"/tavola.v1.{GET}?message=%7B").status, 415)
        self.expect_error(self.caller.request("GET", f"/tavola.v1.{GET}?encoding=json&message=%7"), 400, "invalid_argument")

    def test_the_schema_is_a_page(self):
        reply = self.caller.request("GET", "/schema.binpb")

        files = descriptor_pb2.FileDescriptorSet.FromString(reply.body).file
        services = {f"{file.package}.{service.name}" for file in files for service in file.service}
        self.assertEqual((reply.status, reply.headers["Content-Type"]), (200, "application/protobuf"))
        self.assertLessEqual({"tavola.v1.TableService", "tavola.v1.EntityService"}, services)
        self.assertLessEqual({name for file in files for name in file.dependency}, {file.name for file in files})
        self.assertEqual(self.caller.request("POST", "/schema.binpb").status, 405)

    def test_health_is_a_page(self):
        self.assertEqual(self.caller.request("GET", "/healthz").body, b"ok\n")
        self.assertEqual(self.caller.request("POST", "/healthz").status, 405)


class TestStreams(HttpCase):
    def test_a_table_is_scanned(self):
        reply, found, ends = self.caller.stream(SCAN, [QUERY])

        self.assertEqual((reply.status, reply.headers["Content-Type"]), (200, "application/connect+json"))
        self.assertEqual([item["rowKey"] for message in found for item in message.get("entities", [])], ["r"])
        self.assertEqual(ends, [{}])

    def test_messages_of_a_stream_are_compressed(self):
        body = envelope(gzip.compress(json.dumps(QUERY).encode()), 1)
        headers = {"Content-Type": "application/connect+json", "Connect-Content-Encoding": "gzip", "Connect-Accept-Encoding": "gzip"}

        reply = self.caller.request("POST", f"/tavola.v1.{SCAN}", body, headers)

        parts = list(envelopes(reply.body))
        self.assertEqual(reply.headers["Connect-Content-Encoding"], "gzip")
        self.assertEqual([flags for flags, _ in parts], [1, 2])
        self.assertEqual(json.loads(gzip.decompress(parts[0][1]))["entities"][0]["rowKey"], "r")

    def test_errors_of_a_stream_are_its_end(self):
        for messages, code in [([{"query": {"table": "nothing"}}], "not_found"), ([{"tabel": 1}], "invalid_argument"), ([], "invalid_argument"),
                               ([QUERY] * 2, "invalid_argument")]:
            with self.subTest(messages=messages):
                reply, found, ends = self.caller.stream(SCAN, messages)
                self.assertEqual((reply.status, found), (200, []))
                self.assertEqual(ends[0]["error"]["code"], code)

    def test_bad_envelopes_end_the_stream(self):
        headers = {"Content-Type": "application/connect+json"}
        whole = envelope(json.dumps(QUERY).encode())
        for body in [whole[:3], whole[:-1], envelope(b"{}", 2), envelope(b"{}", 1), envelope(b"{}", 128)]:
            with self.subTest(body=body):
                reply = self.caller.request("POST", f"/tavola.v1.{SCAN}", body, headers)
                ends = [json.loads(text) for flags, text in envelopes(reply.body) if flags & 2]
                self.assertEqual(ends[0]["error"]["code"], "invalid_argument")

    def test_entities_are_imported(self):
        def entity(row):
            return {"partitionKey": "z", "rowKey": str(row), "properties": {"n": {"int32Value": row}}}

        first = {"table": "things", "entities": [entity(1)]}
        rest = [{"entities": [entity(row), entity(row + 1)]} for row in (2, 4)]
        reply, found, ends = self.caller.stream(IMPORT, [first, *rest])

        self.assertEqual(reply.status, 200)
        self.assertEqual(ends, [{}], found)
        for row in range(1, 6):
            read = self.caller.call(GET, {"table": "things", "key": {"partitionKey": "z", "rowKey": str(row)}})
            self.assertEqual(read.status, 200, read.body)


class TestConnections(HttpCase):
    REQUEST = (b"POST /tavola.v1.EntityService/GetEntity HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               b"Content-Length: %d\r\n%s\r\n%s")

    def request(self, body=json.dumps({"table": "things", "key": KEY}).encode(), headers=b""):
        return self.REQUEST % (len(body), headers, body)

    def test_requests_one_behind_the_other_are_answered_in_order(self):
        missing = json.dumps({"table": "things", "key": {"partitionKey": "p", "rowKey": "none"}}).encode()
        with Raw(self.address) as raw:
            raw.send(self.request() + self.request(missing) + self.request(headers=b"Connection: close\r\n"))
            answer = raw.read_all()

        self.assertEqual([part[1:4] for part in answer.split(b"HTTP/1.1")[1:]], [b"200", b"404", b"200"])

    def test_a_client_that_will_send_no_more_counts_as_gone(self):
        with Raw(self.address) as raw:
            raw.send(self.request())
            raw.socket.shutdown(1)
            self.assertIn(raw.read_all()[:12], (b"", b"HTTP/1.1 200"))
        self.assertEqual(self.get().status, 200)

    def test_a_client_that_ends_its_side_at_any_moment_is_let_go(self):
        for n in range(300):
            with Raw(self.address) as raw:
                raw.send(self.request())
                end = time.perf_counter() + n * 10e-6
                while time.perf_counter() < end:
                    pass
                raw.socket.shutdown(1)
                self.assertIn(raw.read_all()[:12], (b"", b"HTTP/1.1 200"))

    def test_requests_whose_end_is_in_doubt_are_refused(self):
        body = b"{}"
        line = b"POST /tavola.v1.EntityService/GetEntity HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for headers in [b"Content-Length: 2\r\nContent-Length: 3\r\n", b"Content-Length: 2\r\nContent-Length: 2\r\n",
                        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"Content-Length: -2\r\n",
                        b"Transfer-Encoding : chunked\r\n", b"Content-Length: 2\r\nTransfer-Encoding : chunked\r\n",
                        b"Content-Length: 2x\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"Content-Length: 99999999999999999999\r\n"]:
            with self.subTest(headers=headers), Raw(self.address) as raw:
                raw.send(line + headers + b"\r\n" + body)
                answer = raw.read_all()
                self.assertTrue(answer == b"" or answer.split()[1] in (b"400", b"413"), answer)
                self.assertNotIn(b"HTTP/1.1 200", answer)

    def test_chunks_are_read_and_bad_ones_refused(self):
        line = (b"POST /tavola.v1.EntityService/GetEntity HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        body = json.dumps({"table": "things", "key": KEY}).encode()
        half = len(body) // 2
        good = b"%x\r\n%s\r\n%X;x=y\r\n%s\r\n0\r\n\r\n" % (half, body[:half], len(body) - half, body[half:])
        with Raw(self.address) as raw:
            raw.send(line + good)
            self.assertTrue(raw.read_all().startswith(b"HTTP/1.1 200"))
        for bad in [b"zz\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n0\r\n\r\n", b"ffffffffffffffffff\r\n{}\r\n0\r\n\r\n", b"2\r\n{}xx0\r\n\r\n"]:
            with self.subTest(bad=bad), Raw(self.address) as raw:
                raw.send(line + bad)
                answer = raw.read_all()
                self.assertTrue(answer == b"" or answer.split()[1] in (b"400", b"413"), answer)

    def test_headers_have_a_limit(self):
        many = b"".join(b"X-Header-%d: %s\r\n" % (i, b"x" * 140) for i in range(100))
        for more, status in [(b"X-Long: " + b"x" * 16_000 + b"\r\n", b"200"), (many, b"200"), (many + many, b"431"),
                             (b"".join(b"X-%d: 1\r\n" % i for i in range(130)), b"431"),
                             *((b"X-Long: " + b"x" * size + b"\r\n", b"431") for size in (17_000, 22_500, 23_500, 28_000))]:
            with self.subTest(bytes=len(more)), Raw(self.address) as raw:
                raw.send(self.request(headers=more + b"Connection: close\r\n"))
                self.assertIn(status, raw.read_all().split(b"\r\n")[0])
        for size, status in [(10_000, b"200"), (17_000, b"431"), (23_000, b"431"), (40_000, b"414")]:
            with self.subTest(line=size), Raw(self.address) as raw:
                raw.send(b"GET /healthz?" + b"x" * size + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                self.assertIn(status, raw.read_all().split(b"\r\n")[0])

    def test_a_body_that_is_too_large_is_refused_before_it_is_sent(self):
        with Raw(self.address) as raw:
            raw.send(self.REQUEST % (17 * 1024 * 1024, b"Expect: 100-continue\r\n", b""))
            self.assertTrue(raw.read_all().startswith(b"HTTP/1.1 429"))

    def test_a_client_that_expects_it_is_told_to_go_on(self):
        body = json.dumps({"table": "things", "key": KEY}).encode()
        with Raw(self.address) as raw:
            raw.send(self.REQUEST % (len(body), b"Expect: 100-continue\r\nConnection: close\r\n", b""))
            self.assertTrue(raw.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100"))
            raw.send(body)
            self.assertTrue(raw.read_all().startswith(b"HTTP/1.1 200"))


class TestLongCalls(HttpCase):
    WATCH = "EntityService/WatchEntities"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        caller = Caller(cls.address)
        cls.addClassCleanup(caller.close)
        caller.call(TABLE, {"name": "watched", "changeFeed": True})

    def begin_watch(self, raw):
        body = envelope(json.dumps({"table": "watched"}).encode())
        raw.send(b"POST /tavola.v1.%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/connect+json\r\nContent-Length: %d\r\n\r\n%s"
                 % (self.WATCH.encode(), len(body), body))
        wait_for("the watch", lambda: self.metric("tavola_open_watches") == 1)

    def test_changes_come_as_they_are_made(self):
        with Raw(self.address) as raw:
            self.begin_watch(raw)
            raw.read_until(b'"resumeToken"') # the watch sends what is committed after its first message
            self.caller.call(UPSERT, {"table": "watched", "entity": {**KEY, "properties": {"a": {"booleanValue": True}}}})
            self.assertIn(b'"rowKey":"r"', raw.read_until(b'"rowKey":"r"'))
        wait_for("the end of the watch", lambda: self.metric("tavola_open_watches") == 0)

    def test_a_client_that_dies_ends_its_watch(self):
        with Raw(self.address) as raw:
            self.begin_watch(raw)
        wait_for("the end of the watch", lambda: self.metric("tavola_open_watches") == 0)

    def test_a_deadline_ends_a_stream(self):
        reply, _, ends = self.caller.stream(self.WATCH, [{"table": "watched"}], {"Connect-Timeout-Ms": "300"})

        self.assertEqual((reply.status, ends[0]["error"]["code"]), (200, "deadline_exceeded"))

    def test_a_client_that_does_not_read_delays_no_other_client(self):
        for row in range(60):
            self.caller.call(UPSERT, {"table": "things", "entity": {
                "partitionKey": "z", "rowKey": f"large{row}", "properties": {f"p{n}": {"stringValue": "x" * 30000} for n in range(10)}}})
        body = envelope(json.dumps(QUERY).encode())
        with Raw(self.address) as raw:
            raw.send(b"POST /tavola.v1.%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/connect+json\r\nContent-Length: %d\r\n\r\n%s"
                     % (SCAN.encode(), len(body), body))
            wait_for("the scan", lambda: self.metric("tavola_http_connections", state="busy") == 1)
            for _ in range(10):
                self.assertEqual(self.get().status, 200)
            wait_for("the end of the calls", lambda: self.metric("tavola_http_connections", state="busy") == 1)
        wait_for("the end of the scan", lambda: self.metric("tavola_http_connections", state="busy") == 0)


class TestPages(HttpCase):
    def test_pages_of_this_machine_may_call_and_others_may_not(self):
        local = self.get(headers={"Origin": "http://localhost:3000"})
        foreign = self.get(headers={"Origin": "https://evil.example"})

        self.assertEqual((local.status, local.headers["Access-Control-Allow-Origin"]), (200, "http://localhost:3000"))
        self.expect_error(foreign, 403, "permission_denied", "Origin")
        self.assertIsNone(foreign.headers["Access-Control-Allow-Origin"])
        self.assertIsNone(self.get().headers["Access-Control-Allow-Origin"])

    def test_a_preflight_says_what_is_allowed(self):
        asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}

        local = self.caller.request("OPTIONS", f"/tavola.v1.{GET}", headers={**asked, "Origin": "http://127.0.0.1:1"})
        foreign = self.caller.request("OPTIONS", f"/tavola.v1.{GET}", headers={**asked, "Origin": "https://evil.example"})

        self.assertEqual(local.status, 204)
        self.assertIn("Content-Type", local.headers["Access-Control-Allow-Headers"])
        self.assertEqual((foreign.status, foreign.headers["Access-Control-Allow-Origin"]), (403, None))


class TestManyConnections(HttpCase):
    """Idle connections: 10,000, or as many as the limit of files allows."""

    settings = {"TAVOLA_MAX_CONNECTIONS": "12000", "TAVOLA_MAX_CONNECTIONS_PER_ADDRESS": "12000"}
    BYTES_EACH = 32 * 1024  # of these 24 kB are the library's, for a request's headers

    def resident(self):
        with open(f"/proc/{self.stack.server.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    def test_idle_connections_cost_little(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        count = min(10_000, hard // 2 - 500)
        self.get()
        before = self.resident()
        opened = []
        self.addCleanup(lambda: [raw.socket.close() for raw in opened])
        for _ in range(count):
            opened.append(Raw(self.address))
            opened[-1].send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for raw in opened:
            self.assertTrue(raw.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 200"))

        each = (self.resident() - before) / count
        print(f"{count} idle connections, {each:.0f} bytes each")
        self.assertGreaterEqual(self.metric("tavola_http_connections", state="idle"), count)
        self.assertEqual(self.get().status, 200)
        self.assertLess(each, self.BYTES_EACH * TIMEOUT_FACTOR)  # sanitizers have memory of their own


class TestStop(HttpCase):
    def test_a_stop_answers_what_is_open_and_closes_what_is_idle(self):
        body = json.dumps({"table": "things", "key": KEY}).encode()
        with Raw(self.address) as idle, Raw(self.address) as open_call:
            open_call.send(TestConnections.REQUEST % (len(body), b"", body[:-1]))
            wait_for("the request", lambda: self.metric("tavola_http_connections", state="busy") == 1)
            self.stack.server.send(signal.SIGTERM)
            self.assertEqual(idle.read_all(), b"")
            open_call.send(body[-1:])
            answer = open_call.read_all()
            self.assertIn(answer.split()[1], (b"200", b"503"))
            self.assertIn(b"Connection: close", answer)
        self.assertEqual(self.stack.server.wait(), 0)


class TestCredentials(SecurityCase):
    settings = {"TAVOLA_HTTP_LISTEN": "127.0.0.1:0"}

    def test_a_token_is_checked_before_the_body_is_read(self):
        address = address_of(self.stack)
        message = {"table": "People", "key": {"partitionKey": "p", "rowKey": "none"}}
        for headers, status, code in [({}, 401, "unauthenticated"), ({"Authorization": "Bearer tvt1.x"}, 401, "unauthenticated"),
                                      ({"Authorization": "Bearer " + token(self.keys[0])}, 404, "not_found")]:
            with self.subTest(headers=headers):
                caller = Caller(address)
                self.addCleanup(caller.close)
                reply = caller.call(GET, message, headers)
                self.assertEqual((reply.status, reply.json()["code"]), (status, code))
        with Raw(address) as raw:
            raw.send(TestConnections.REQUEST % (5_000_000, b"", b""))
            self.assertTrue(raw.read_all().startswith(b"HTTP/1.1 401"))

    def test_clients_may_hang_up_while_their_account_is_looked_for(self):
        unknown = f"Authorization: Bearer {token(self.keys[0], account='nobody')}\r\n".encode()

        with self.stack.locked("catalogue"), contextlib.ExitStack() as open_callers:  # nobody is found or missed meanwhile
            callers = [open_callers.enter_context(Raw(address_of(self.stack))) for _ in range(16)]
            for caller in callers:
                caller.send(TestConnections.REQUEST % (100_000, unknown, b""))
            for caller in callers:
                caller.socket.shutdown(socket.SHUT_WR)
            replies = [caller.read_all() for caller in callers]
        self.assertTrue(all(reply == b"" or reply.startswith(b"HTTP/1.1 499") for reply in replies), replies)
        with Raw(address_of(self.stack)) as raw:
            raw.send(TestConnections.REQUEST % (100_000, unknown, b""))
            self.assertTrue(raw.read_all().startswith(b"HTTP/1.1 401"))


class TestTls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="http-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.authority = Authority(cls.folder, "authority")
        cls.stranger = Authority(cls.folder, "stranger")
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)

    def serve(self, certificate, key_file, **settings):
        log = os.path.join(self.stack.folder, "tavolad.log")
        if os.path.exists(log):
            os.unlink(log)
        server = self.stack.start_server(
            wait=False, TAVOLA_LISTEN="127.0.0.1:0", TAVOLA_HTTP_LISTEN="127.0.0.1:0", TAVOLA_TLS_CERT=certificate,
            TAVOLA_TLS_KEY=key_file, **settings)
        self.addCleanup(server.kill)
        return address_of(self.stack)

    def context(self, authority, pair=None):
        context = ssl.create_default_context(cafile=authority.file)
        if pair:
            context.load_cert_chain(*pair)
        return context

    def status(self, address, context):
        caller = Caller(("localhost", address[1]), context=context)
        self.addCleanup(caller.close)
        return caller.request("GET", "/healthz").status

    def test_certificates_are_renewed_without_a_restart(self):
        copies = [os.path.join(self.folder, name) for name in ("served.crt", "served.key")]
        for source, copy in zip(self.authority.sign("localhost"), copies):
            shutil.copy(source, copy)
        address = self.serve(*copies)
        self.assertIn(self.status(address, self.context(self.authority)), (200, 503))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.status(address, self.context(self.stranger))

        for source, copy in zip(self.stranger.sign("localhost"), copies):
            shutil.copy(source, copy + ".new")
            os.rename(copy + ".new", copy)

        self.assertIn(self.status(address, self.context(self.stranger)), (200, 503))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.status(address, self.context(self.authority))

    def test_headers_that_are_too_long_are_refused_over_tls_too(self):
        address, context = self.serve(*self.authority.sign("localhost")), self.context(self.authority)
        for size in (17_000, 22_500, 23_500, 28_000):  # the last ones leave the library no memory for a reply
            with self.subTest(bytes=size), socket.create_connection(address, timeout=30) as raw, \
                    context.wrap_socket(raw, server_hostname="localhost") as encrypted:
                encrypted.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * size + b"\r\n\r\n")
                self.assertIn(b" 431 ", encrypted.recv(65536).split(b"\r\n")[0])

    def test_callers_show_a_certificate_where_one_is_required(self):
        address = self.serve(*self.authority.sign("localhost"), TAVOLA_TLS_CLIENT_CA=self.authority.file)

        self.assertIn(self.status(address, self.context(self.authority, self.authority.sign("caller"))), (200, 503))
        for pair in [None, self.stranger.sign("caller")]:
            with self.subTest(pair=pair), self.assertRaises((OSError, http.client.HTTPException)):
                self.status(address, self.context(self.authority, pair))


class InflatedBytes(HttpCase):
    settings = {"TAVOLA_INFLATED_BYTES_RATE_LIMIT": "1000"}

    def test_compressed_requests_are_inflated_at_a_rate(self):
        """One account may take a quarter of a second's worth, and then pays for what it took."""
        large = {"table": "things", "entity": {**KEY, "properties": {"a": {"stringValue": "x" * 20000}}}}
        headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        path, packed = f"/tavola.v1.{UPSERT}", gzip.compress(json.dumps(large).encode())
        self.assertEqual(self.caller.request("POST", path, packed, headers).status, 200)
        for _ in range(2):
            reply = self.caller.request("POST", path, packed, headers)
            self.assertEqual((reply.status, json.loads(reply.body)["code"]), (429, "resource_exhausted"), reply.body)
        self.assertEqual(self.caller.call(UPSERT, large).status, 200)
        headers = {"Content-Type": "application/connect+json", "Connect-Content-Encoding": "gzip"}
        body = envelope(gzip.compress(json.dumps(QUERY).encode()), 1)
        reply = self.caller.request("POST", f"/tavola.v1.{SCAN}", body, headers)
        self.assertIn(b"resource_exhausted", reply.body)


if __name__ == "__main__":
    unittest.main()
