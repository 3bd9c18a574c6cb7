# SPDX-License-Identifier: Apache-2.0
"""Chunks of blobs in an S3 that answers late, cut, twice or wrong. blobs_in_s3 has the tests with one that works."""

import hashlib
import hmac
import http.server
import os
import re
import threading
import unittest

from tavola_test import audit
from tavola_test.blobs import CHUNK, content, get, put
from tavola_test.case import ServerCase
from tavola_test.client import entity, types
from tavola_test.processes import run_program
from tavola_test.stack import BAD_SETTING, Stack
from tavola_test.waiting import wait_for

SECRET = "notForTheLog"
TOKEN = "temporary/NotForTheLog+="
ScanEntitiesRequest = types.message("tavola.v1.ScanEntitiesRequest")


def signature_of(method, path, headers, secret):
    """What AWS Signature Version 4 makes of a request, by the headers that it says are signed."""
    scope, names = re.search(r"Credential=[^/]+/([^,]+),SignedHeaders=([^,]+),", headers["Authorization"]).groups()
    given = {name.lower(): value for name, value in headers.items()}
    lines = [method, path, "", *(f"{name}:{given[name]}" for name in names.split(";")), "", names, given["x-amz-content-sha256"]]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    key = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, "\n".join(["AWS4-HMAC-SHA256", given["x-amz-date"], scope, digest]).encode(), "sha256").hex()


class Bucket(http.server.ThreadingHTTPServer):
    """Objects in memory. `faults` are what the next requests of a method meet, before it works again; `all` is what all meet."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Requests)
        self.objects, self.faults, self.all, self.seen = {}, {}, {}, []
        self.late = threading.Event()
        self.delayed = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/bucket"

    def fault_of(self, method):
        return self.faults[method].pop(0) if self.faults.get(method) else self.all.get(method)

    def end(self):
        self.late.set()
        self.shutdown()
        self.server_close()


class Requests(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def carry_out(self, body):
        objects, name = self.server.objects, self.path.removeprefix("/bucket/")
        if self.command == "PUT":
            objects[name] = body
            self.answer(200, ETag='"0123"')
        elif self.command == "DELETE":
            objects.pop(name, None)
            self.answer(204)
        elif name in objects:
            self.answer(200, objects[name], ETag='"0123"')
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")

    def misbehave(self, fault, body):
        if fault == "late":  # the client has gone when the request is carried out
            self.server.late.wait(60)
            self.close_connection = True
            self.carry_out(body)
        elif fault == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(CHUNK))
            self.end_headers()
            self.wfile.write(b"the beginning")
            self.close_connection = True
        elif fault == "wrong":
            self.answer(200, bytes(CHUNK), ETag='"0123"')
        elif fault == "large":
            self.answer(200, bytes(CHUNK + 1), ETag='"0123"')
        elif fault == "page":  # of a proxy
            self.answer(200, b"<html>please log in</html>")
        elif fault == "twice":
            self.server.delayed.append((self.command, self.path.removeprefix("/bucket/"), body))
            self.carry_out(body)
        elif fault == "elsewhere":
            self.answer(307, Location=self.server.url + "/elsewhere")
        elif fault == "no_bucket":
            self.answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        else:
            self.answer(fault, b"<Error><Code>SlowDown</Code></Error>")

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        fault = self.server.fault_of(self.command)
        try:
            if fault:
                self.misbehave(fault, body)
            else:
                self.carry_out(body)
        except OSError:  # the client has gone
            self.close_connection = True

    do_GET = do_PUT = do_DELETE = handle_any


class Misbehaving(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = Bucket()
        cls.addClassCleanup(cls.bucket.end)
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        credentials = os.path.join(cls.stack.folder, "credentials")
        with open(credentials, "w", encoding="ascii") as file:
            file.write(f"KEY\n{SECRET}\n")
        settings = {"TAVOLA_BLOB_STORE": "s3", "TAVOLA_BLOB_S3_URL": cls.bucket.url, "TAVOLA_BLOB_S3_CREDENTIALS_FILE": credentials,
                    "TAVOLA_BLOB_S3_TIMEOUT_SECONDS": "1", "TAVOLA_BLOB_RETENTION_SECONDS": "0", "TAVOLA_BLOB_THREADS": "2"}
        cls.settings = settings
        cls.stack.start_server(**settings)
        cls.stack.start_worker(TAVOLA_SWEEP_INTERVAL_SECONDS="1", **settings)
        cls.client = cls.stack.connect()
        cls.addClassCleanup(cls.client.channel.close)

    refused = ServerCase.refused

    def setUp(self):
        self.bucket.faults, self.bucket.all = {}, {}

    def unavailable(self, function, *arguments, **fields):
        error = self.refused("UNAVAILABLE", "BLOB_STORE_UNAVAILABLE", function, *arguments, **fields)
        self.assertNotIn("127.0.0.1", error.message)

    def test_failures_that_pass_are_not_seen(self):
        data = content(CHUNK + 5, 1)
        self.bucket.faults = {"PUT": [500, 503, 429, None, "cut"], "GET": [503, "cut", 500, "wrong", "large"]}
        put(self.client, "passing", data)
        self.assertEqual(get(self.client, "passing")[1], data)

    def test_a_put_that_is_not_surely_stored_puts_nothing(self):
        put(self.client, "old", b"old")
        for fault in ("page", "elsewhere", "no_bucket", 403, 400):
            with self.subTest(fault=fault):
                self.bucket.all = {"PUT": fault}
                self.unavailable(put, self.client, "old", content(10, 2))
        self.assertEqual(get(self.client, "old")[1], b"old")
        self.assertFalse([path for _, path, _ in self.bucket.seen if "elsewhere" in path])

    def test_bytes_that_stay_wrong_are_never_returned(self):
        put(self.client, "rotten", content(CHUNK, 3))
        for fault, code, reason in [("wrong", "INTERNAL", "BLOB_DAMAGED"), ("large", "INTERNAL", "BLOB_DAMAGED"),
                                    ("page", "INTERNAL", "BLOB_DAMAGED"), ("no_bucket", "UNAVAILABLE", "BLOB_STORE_UNAVAILABLE"),
                                    (403, "UNAVAILABLE", "BLOB_STORE_UNAVAILABLE")]:
            with self.subTest(fault=fault):
                self.bucket.all = {"GET": fault}
                self.refused(code, reason, get, self.client, "rotten")
        self.bucket.all = {}
        self.assertEqual(get(self.client, "rotten")[1], content(CHUNK, 3))

    def test_requests_that_arrive_twice_or_late_change_nothing(self):
        data = content(CHUNK, 4)
        self.bucket.all = {"PUT": "twice", "DELETE": "twice"}
        put(self.client, "twice", data)
        self.client.delete_blob(name="twice")
        count = len(self.bucket.objects)
        self.end_waits()
        wait_for("the removal", lambda: self.end_waits() or len(self.bucket.objects) < count, 30)
        put(self.client, "twice", data)
        for command, name, _ in list(self.bucket.delayed):
            if command == "DELETE":
                self.bucket.objects.pop(name, None)
        self.assertEqual(get(self.client, "twice")[1], data)

    def end_waits(self):
        self.stack.sql("update blob_contents set kept_until = now() where state <> 2")
        self.stack.sql("update blob_strays set due = now()")

    def test_nothing_is_left_in_the_end(self):
        for blob in self.client.list_blobs().blobs:
            self.client.delete_blob(name=blob.name)
        wait_for("the objects to go", lambda: self.end_waits() or not self.bucket.objects, 30)
        wait_for("the rows to go", lambda: not audit.counts(self.stack), 30)

    def test_requests_are_signed_and_the_secret_is_nowhere(self):
        put(self.client, "signed", b"signed")
        _, path, headers = [one for one in self.bucket.seen if one[0] == "PUT"][-1]
        self.assertIn("Credential=KEY/", headers["Authorization"])
        self.assertRegex(path, "^/bucket/default/[0-9a-f]{2}/[0-9a-f]{64}-[0-9a-f]{32}$")
        self.assertIn("Signature=" + signature_of("PUT", path, headers, SECRET), headers["Authorization"])
        self.assertNotIn("x-amz-security-token", headers)
        for child in (self.stack.server, self.stack.worker):
            self.assertNotIn(SECRET, child.output())

    def test_the_doctor_says_what_the_store_answers(self):
        settings = {**self.stack.settings({}), **self.settings}
        self.assertIn("TAVOLA_BLOB_S3_URL", run_program("tavola", "doctor", "--all", settings=settings).stdout)
        self.bucket.all = {"PUT": 403}
        said = " ".join(run_program("tavola", "doctor", settings=settings).stdout.split())
        self.assertIn("TAVOLA_BLOB_S3_URL answers 403 SlowDown", said)


class Standing(unittest.TestCase):
    def test_an_s3_that_does_not_answer_delays_no_other_call(self):
        """More puts wait for the store than any lane has threads; it answers when other calls have been answered."""
        bucket = Bucket()
        self.addCleanup(bucket.end)
        bucket.all = {"PUT": "late"}
        with Stack(redis=False) as stack:
            stack.start_server(TAVOLA_BLOB_STORE="s3", TAVOLA_BLOB_S3_URL=bucket.url, TAVOLA_BLOB_S3_ACCESS_KEY="KEY",
                               TAVOLA_BLOB_S3_SECRET_KEY=SECRET, TAVOLA_BLOB_S3_TIMEOUT_SECONDS="60", TAVOLA_BLOB_THREADS="4")
            with stack.connect(seconds=60) as caller:
                puts = [threading.Thread(target=put, args=(caller, f"late/{number}", content(CHUNK, number))) for number in range(8)]
                for one in puts:
                    one.start()
                wait_for("puts that wait", lambda: len(bucket.seen) == 4)
                caller.create_table(name="beside")
                caller.load("beside", [entity("p", f"{row}") for row in range(200)])
                scanned = caller.scan_entities([ScanEntitiesRequest(query={"table": "beside"})])
                self.assertEqual(sum(len(page.entities) for page in scanned), 200)
                self.assertEqual(len(bucket.seen), 4)
                bucket.all = {}
                bucket.late.set()
                for one in puts:
                    one.join()
                for number in range(8):
                    self.assertEqual(get(caller, f"late/{number}")[1], content(CHUNK, number))


class Temporary(unittest.TestCase):
    def test_a_session_token_is_sent_and_signed_and_the_bucket_may_be_in_the_host(self):
        bucket = Bucket()
        self.addCleanup(bucket.end)
        port = bucket.server_address[1]
        with Stack(redis=False) as stack:
            credentials = os.path.join(stack.folder, "credentials")
            with open(credentials, "w", encoding="ascii") as file:
                file.write(f"KEY\n{SECRET}\n{TOKEN}\n")
            in_the_host = {"TAVOLA_BLOB_S3_URL": f"http://localhost:{port}/things/below", "TAVOLA_BLOB_S3_ADDRESSING": "host"}
            ways = [({"TAVOLA_BLOB_S3_CREDENTIALS_FILE": credentials, "TAVOLA_BLOB_S3_URL": bucket.url}, f"127.0.0.1:{port}", "/bucket/"),
                    ({"TAVOLA_BLOB_S3_ACCESS_KEY": "KEY", "TAVOLA_BLOB_S3_SECRET_KEY": SECRET, "TAVOLA_BLOB_S3_SESSION_TOKEN": TOKEN,
                      **in_the_host}, f"things.localhost:{port}", "/below/")]
            for number, (settings, host, folder) in enumerate(ways):
                stack.new_target()
                stack.start_server(TAVOLA_BLOB_STORE="s3", **settings)
                with stack.connect() as caller:
                    put(caller, f"{number}", content(CHUNK, number))
                    self.assertEqual(get(caller, f"{number}")[1], content(CHUNK, number))
                for method, path, headers in bucket.seen[-2:]:
                    self.assertEqual((headers["Host"], headers["x-amz-security-token"]), (host, TOKEN))
                    self.assertTrue(path.startswith(folder + "default/"), path)
                    self.assertIn("Signature=" + signature_of(method, path, headers, SECRET), headers["Authorization"])
                stack.server.kill()
                self.assertNotIn(TOKEN, stack.server.output())


class Settings(unittest.TestCase):
    def test_settings_that_do_not_go_together_stop_the_start(self):
        url = {"TAVOLA_BLOB_S3_URL": "http://127.0.0.1:1/b"}
        keys = {"TAVOLA_BLOB_S3_ACCESS_KEY": "k", "TAVOLA_BLOB_S3_SECRET_KEY": SECRET}
        for wrong in ({"TAVOLA_BLOB_STORE": "s3"}, url, {**url, **keys, "TAVOLA_BLOB_S3_CREDENTIALS_FILE": "f"},
                      {**url, "TAVOLA_BLOB_S3_ACCESS_KEY": "k"},
                      {**url, "TAVOLA_BLOB_S3_CREDENTIALS_FILE": "f", "TAVOLA_BLOB_S3_SESSION_TOKEN": TOKEN}, {**keys, "TAVOLA_BLOB_S3_URL": "http://host"},
                      {**keys, "TAVOLA_BLOB_S3_URL": "ftp://host/b"}, {**keys, "TAVOLA_BLOB_S3_URL": "http://k:s@host/b?x"}):
            with self.subTest(wrong=wrong):
                said = run_program("tavolad", settings={"TAVOLA_POSTGRES": "host=/nowhere", "TAVOLA_REDIS": "unix:/nowhere", **wrong})
                self.assertEqual(said.returncode, BAD_SETTING)
                self.assertIn("TAVOLA_BLOB_S3_URL", said.stderr)
                self.assertNotIn(SECRET, said.stderr)


if __name__ == "__main__":
    unittest.main()
