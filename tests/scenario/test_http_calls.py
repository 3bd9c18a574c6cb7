# SPDX-License-Identifier: Apache-2.0
"""Steps of transactions that call a service over HTTP: at least once, each time with the same Idempotency-Key."""

import hashlib
import json
import os
import tempfile
import unittest
import uuid

from tavola_test import metrics
from tavola_test.case import ServerCase
from tavola_test.certificates import Authority
from tavola_test.client import entity, key
from tavola_test.credentials import token
from tavola_test.processes import run_program
from tavola_test.loopback_server import HANG_UP
from tavola_test.receiver import KEY, Receiver
from tavola_test.security_case import SecurityCase
from tavola_test.stack import wait_ready
from tavola_test.waiting import wait_for

DONE, FAILED, DEAD = 3, 4, 6
KEPT = 64 * 1024  # bytes of an answer that are read
NO_PROXY_HERE = "http://127.0.0.1:1"  # nothing listens there


class CallCase(ServerCase):
    """A server, a worker, and a receiver that they may call."""

    certificate = None
    worker_only = {"TAVOLA_HTTP_CALL_TIMEOUT_SECONDS": "20"}

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver(cls.certificate)
        cls.addClassCleanup(cls.receiver.close)
        cls.settings = cls.server_settings = {"TAVOLA_HTTP_CALL_HOSTS": f"hooks.example.com,{cls.receiver.host}"}
        super().setUpClass()
        cls.start_worker()

    @classmethod
    def start_worker(cls, **settings):
        proxies = {"http_proxy": NO_PROXY_HERE, "https_proxy": NO_PROXY_HERE, "ALL_PROXY": NO_PROXY_HERE, "no_proxy": ""}
        return cls.stack.start_worker(**{**proxies, **cls.settings, **cls.worker_only, **settings})

    def setUp(self):
        self.path = f"/{uuid.uuid4()}"

    def call(self, **fields):
        return {"http_call": {"url": self.receiver.url + self.path, "data": b"hello", **fields}}

    def submit(self, *steps):
        name = str(uuid.uuid4())
        self.client.submit_transaction(transaction_id=name, steps=steps)
        return name

    def ended(self, name):
        return self.client.wait_transaction(transaction_id=name, timeout=60).transaction

    def now(self, name):
        return self.client.get_transaction(transaction_id=name).transaction

    def wait_for_failure(self, name):
        """The reason of the first attempt that has failed."""
        wait_for("an attempt", lambda: len(self.now(name).timeline) > 0)
        return self.now(name).timeline[0].error

    def dead(self, name):
        wait_for("a dead letter", lambda: self.now(name).state == DEAD)
        return self.now(name).timeline[-1].error

    def arrived(self):
        return self.receiver.of(self.path)

    def each_once(self):
        return self.receiver.each_once(self.path)


class Calls(CallCase):
    def test_a_call_arrives_and_has_a_receipt(self):
        self.receiver.answers[self.path] = [(201, {}, b"made"), (204, {}, b"")]
        done = self.ended(self.submit(self.call(), self.call(method="PUT", content_type="text/plain", data=b"")))
        self.assertEqual(done.state, DONE, done)
        first, second = [attempt.receipt for attempt in done.timeline]
        self.assertEqual((first.http_status, first.size, first.sha256), (201, 4, hashlib.sha256(b"made").digest()))
        self.assertEqual((second.http_status, second.size, second.sha256), (204, 0, hashlib.sha256(b"").digest()))
        self.assertEqual([(each.method, each.body, each.headers["Content-Type"]) for each in self.each_once()],
                         [("POST", b"hello", "application/octet-stream"), ("PUT", b"", "text/plain")])

    def test_a_request_has_no_other_headers_than_it_needs(self):
        self.ended(self.submit(self.call()))
        [request] = self.each_once()
        self.assertEqual(set(request.headers), {"Host", "User-Agent", "Accept", "Content-Type", "Content-Length", "Idempotency-Key"})

    def test_calls_without_success_are_repeated_with_the_same_key(self):
        """Two calls wait side by side for their attempts."""
        names = {}
        for answers in ([503, HANG_UP], [429, 408]):
            path = f"{self.path}/{answers[0]}"
            self.receiver.answers[path] = answers.copy()
            names[path] = self.submit(self.call(url=self.receiver.url + path))
        for path, name in names.items():
            with self.subTest(path):
                done = self.ended(name)
                self.assertEqual(done.state, DONE, done)
                *failed, last = [attempt.error for attempt in done.timeline]
                self.assertEqual(({error.reason for error in failed}, last.reason), ({"HTTP_CALL_FAILED"}, ""))
                self.assertTrue(any(path[-3:] in error.message for error in failed), failed)
                arrived = self.receiver.of(path)
                self.assertGreaterEqual(len(arrived), 3)
                self.assertEqual({each.body for each in arrived}, {b"hello"})
                self.assertEqual(len(set(self.receiver.keys(path))), 1)

    def test_a_redirection_is_not_followed(self):
        elsewhere = f"{self.path}/elsewhere"
        self.receiver.answers[self.path] = 9 * [(307, {"Location": self.receiver.url + elsewhere}, b"")]
        name = self.submit(self.call())
        error = self.dead(name)
        self.assertEqual(error.reason, "HTTP_CALL_REFUSED")
        self.assertIn("307", error.message)
        self.assertEqual(self.receiver.of(elsewhere), [])

    def test_an_error_of_the_request_is_a_dead_letter_that_can_be_redriven(self):
        self.receiver.answers[self.path] = 9 * [404]
        name = self.submit(self.call())
        self.assertIn("404", self.dead(name).message)
        self.receiver.answers[self.path].clear()
        self.client.redrive_dead_letters(filter={"cause": "HTTP_CALL_REFUSED"})
        self.assertEqual(self.ended(name).state, DONE)
        self.assertEqual(len(set(self.receiver.keys(self.path))), 1)

    def test_hosts_that_are_not_allowed_are_refused_at_once(self):
        port = self.receiver.host.split(":")[1]
        for url in (f"http://localhost:{port}/", "http://127.0.0.1/", "http://127.0.0.1:1/", "http://hooks.example.com/",
                    "https://hooks.example.com:8443/", "https://example.com/"):
            with self.subTest(url):
                error = self.refused("FAILED_PRECONDITION", "STEP_NOT_CONFIGURED", self.submit, self.call(url=url))
                self.assertEqual(error.metadata["operation_index"], "0")
                self.assertIn("TAVOLA_HTTP_CALL_HOSTS", error.message)
                self.assertNotIn(self.receiver.host, error.message)

    def test_bad_steps_are_refused(self):
        for change in ({"url": ""}, {"url": "ftp://hooks.example.com/"}, {"url": "https://me@hooks.example.com/"},
                       {"url": "https://hooks.example.com/\r\nX: y"}, {"url": "https://hooks.example.com/#x"}, {"method": "GET"},
                       {"content_type": "a\r\nX: y"}, {"data": bytes(1024 * 1024 + 1)}, {"delete_entity": True}):
            with self.subTest(str(change)[:60]):
                error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.submit, self.call(**change))
                self.assertEqual(error.metadata["operation_index"], "0")
        self.assertEqual(self.arrived(), [])

    def test_of_a_long_answer_the_beginning_is_read(self):
        content = bytes(range(256)) * 4096
        self.receiver.answers[self.path] = [(200, {}, content)]
        done = self.ended(self.submit(self.call()))
        self.assertEqual((done.state, len(self.each_once())), (DONE, 1))
        receipt = done.timeline[-1].receipt
        self.assertEqual((receipt.size, receipt.sha256), (KEPT, hashlib.sha256(content[:KEPT]).digest()))

    def test_endless_headers_are_a_failure(self):
        self.receiver.answers[self.path] = 2 * [(500, {f"X-{number}": "x" * 1000 for number in range(90)}, b"")]
        done = self.ended(self.submit(self.call()))
        self.assertEqual((done.state, done.timeline[0].error.reason), (DONE, "HTTP_CALL_FAILED"))
        self.assertIn("headers", done.timeline[0].error.message)

    def test_an_entity_is_sent_and_deleted(self):
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("sales", "1", {"Name": "Ada"}))
        address = {"table": table, "key": key(("sales", "1"))}
        done = self.ended(self.submit({"http_call": {"url": self.receiver.url + self.path, "entity": address, "delete_entity": True}}))
        self.assertEqual(done.state, DONE, done)
        [request] = self.each_once()
        self.assertEqual((json.loads(request.body)["Name"], request.headers["Content-Type"]), ("Ada", "application/json"))
        self.assertFalse(self.is_there(table, "sales", "1"))

    def test_a_submission_that_is_repeated_calls_once(self):
        name = self.submit(self.call())
        self.ended(name)
        self.client.submit_transaction(transaction_id=name, steps=[self.call(method="POST")])
        self.assertEqual(self.ended(name).state, DONE)
        self.assertEqual(len(self.each_once()), 1)

    def submit_lines(self, *lines):
        return run_program("tavola", "tx", "submit", "--wait", settings={"TAVOLA_TARGET": self.stack.target},
                           text="".join(json.dumps(line) + "\n" for line in lines))

    def test_the_command_line_takes_calls_and_shows_their_receipts(self):
        table, address = self.new_table(), {"PartitionKey": "sales", "RowKey": "1"}
        self.client.insert_entity(table=table, entity=entity("sales", "1", {"Name": "Ada"}))
        url = self.receiver.url + self.path
        submitted = self.submit_lines({"httpCall": url, "content": "text", "method": "PUT", "contentType": "text/plain"},
                                      {"httpCall": url, "from": address, "table": table, "deleteEntity": True})
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.assertRegex(submitted.stdout, r"(?m)^  step 0 attempt \d+ by \S+: 4 bytes, answer 200$")
        put, post = self.each_once()
        self.assertEqual((put.method, put.body, put.headers["Content-Type"]), ("PUT", b"text", "text/plain"))
        self.assertEqual((post.method, json.loads(post.body)["Name"], post.headers["Content-Type"]), ("POST", "Ada", "application/json"))
        self.assertFalse(self.is_there(table, "sales", "1"))

    def test_the_command_line_refuses_lines_that_are_wrong(self):
        url, address = self.receiver.url + self.path, {"PartitionKey": "p", "RowKey": "r"}
        for bad, said in (({"httpCall": url}, '"content" or "from"'), ({"httpCall": url, "content": "x", "from": address}, '"content" or "from"'),
                          ({"httpCall": url, "from": address}, "names no \"table\""), ({"writeFile": "a", "content": "x", "method": "PUT"}, "method"),
                          ({"httpCall": url, "content": "x", "blobIfAbsent": True}, "blobIfAbsent"),
                          ({"httpCall": url, "content": "x", "putBlob": "a"}, "two actions")):
            with self.subTest(line=bad):
                refused = self.submit_lines(bad)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("line 1", refused.stderr)
                self.assertIn(said, refused.stderr)
        self.assertIn("neither POST nor PUT", self.submit_lines({"httpCall": url, "content": "x", "method": "GET"}).stderr)
        self.assertEqual(self.arrived(), [])


class Deaths(CallCase):
    """The receiver holds back its answer until the test says so."""

    worker_only = {**CallCase.worker_only, "TAVOLA_MAX_CLAIM_MESSAGES": "1"}  # so that a consumer holds one call, not all

    def setUp(self):
        super().setUp()
        self.receiver.hang()
        self.addCleanup(self.receiver.go_on)

    def test_a_worker_that_dies_in_a_call_leaves_it_to_another_with_the_same_key(self):
        name = self.submit(self.call())
        wait_for("the call", self.arrived)
        self.stack.worker.kill()
        self.receiver.go_on()
        self.start_worker(TAVOLA_VISIBILITY_TIMEOUT_SECONDS="1")
        self.assertEqual(self.ended(name).state, DONE)
        self.assertGreaterEqual(len(self.arrived()), 2)
        self.assertEqual(len(set(self.receiver.keys(self.path))), 1)

    def test_a_worker_that_is_told_to_stop_gives_its_call_up(self):
        name = self.submit(self.call())
        wait_for("the call", self.arrived)
        self.assertEqual(self.stack.worker.stop(), 0)
        self.assertEqual(len(self.now(name).timeline), 0)
        self.receiver.go_on()
        self.start_worker()
        self.assertEqual(self.ended(name).state, DONE)
        self.assertEqual(len(set(self.receiver.keys(self.path))), 1)

    def released(self):
        """How often a consumer has given a message back, here because the other one calls."""
        return metrics.read(self.metrics).value("tavola_worker_released_total")

    def test_calls_that_hang_do_not_stop_the_indexes(self):
        self.metrics = os.path.join(self.stack.folder, "metrics")
        self.stack.worker.stop()
        self.start_worker(TAVOLA_WORKER_METRICS_LISTEN="unix:" + self.metrics)
        wait_for("its metrics", lambda: self.stack.accepts("unix:" + self.metrics))
        table, index = self.new_table(), self.new_name("i")
        self.client.create_index(index={"name": index, "table": table, "shape": 1, "partition_key": [{"property": "N"}]})
        wait_ready(self.client, index)
        names = [self.submit(self.call()) for _ in range(5)]
        wait_for("a call", self.arrived)
        wait_for("the other consumer to meet the calls", lambda: len(self.arrived()) > 1 or self.released() > 0)
        calls = len(self.arrived())
        if not any(self.now(name).timeline for name in names):  # no call has come to the end of its time, so no other may begin
            self.assertEqual(calls, 1)  # of the two consumers one calls
        self.client.insert_entity(table=table, entity=entity("p", "r", {"N": 1}))
        wait_for("no lag", lambda: self.stack.sql(f"select count(*) from intents where table_id = {self.table_id(table)}") == "0")
        self.receiver.go_on()
        self.assertEqual({self.ended(name).state for name in names}, {DONE})

    def table_id(self, table):
        return self.stack.sql(f"select table_id from tables where name = '{table}'")


class Accounts(SecurityCase):
    """Two accounts, of which one calls a host that hangs; one consumer calls at a time."""

    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.settings = {"TAVOLA_HTTP_CALL_HOSTS": cls.receiver.host}
        super().setUpClass()
        cls.other = cls.connect(token(cls.other_keys[0], account="globex"))
        cls.stack.start_worker(TAVOLA_HTTP_CALL_TIMEOUT_SECONDS="1", **cls.settings)

    def submit(self, client, path):
        name = str(uuid.uuid4())
        client.submit_transaction(transaction_id=name, steps=[{"http_call": {"url": self.receiver.url + path, "data": b"x"}}])
        return name

    def test_calls_of_one_account_that_hang_let_those_of_another_pass(self):
        self.receiver.hang("/hangs")
        for _ in range(40):
            self.submit(self.client, "/hangs")
        wait_for("a call that hangs", lambda: self.receiver.of("/hangs"))
        names = [self.submit(self.other, "/answers") for _ in range(5)]
        wait_for("the other account's calls", lambda: len(self.receiver.each_once("/answers")) == len(names))
        requests = list(self.receiver.requests)
        paths, keys = [each.path for each in requests], [each.headers[KEY] for each in requests]
        last = max(keys.index(one) for one in self.receiver.keys("/answers"))  # at first: on a slow machine a call may be repeated
        self.assertLess(paths[:last].count("/hangs"), 20, paths)
        self.receiver.go_on()
        for name in names:
            self.assertEqual(self.other.wait_transaction(transaction_id=name, timeout=60).transaction.state, DONE)


class Encrypted(CallCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        authority, cls.stranger = Authority(folder.name, "receivers"), Authority(folder.name, "strangers")
        cls.certificate = authority.sign("receiver")
        cls.worker_only = {**cls.worker_only, "TAVOLA_HTTP_CALL_CA": authority.file}
        super().setUpClass()

    def test_a_receiver_with_a_certificate_is_called(self):
        self.assertEqual(self.ended(self.submit(self.call())).state, DONE)

    def test_a_certificate_of_an_unknown_authority_is_refused(self):
        self.stack.worker.stop()
        self.start_worker(TAVOLA_HTTP_CALL_CA=self.stranger.file)
        name = self.submit(self.call())
        self.assertEqual(self.wait_for_failure(name).reason, "HTTP_CALL_FAILED")
        self.assertEqual(self.arrived(), [])
        self.stack.worker.stop()
        self.start_worker()
        self.assertEqual(self.ended(name).state, DONE)


class OtherSettings(CallCase):
    """Each test that needs a worker starts it with settings of its own."""

    def restart_server(self, **settings):
        self.stack.server.stop()
        self.stack.start_server(**settings)

    def restart_worker(self, **settings):
        self.stack.worker.stop()
        self.start_worker(**settings)

    def test_an_answer_that_does_not_come_in_time_is_a_failure(self):
        self.restart_worker(TAVOLA_HTTP_CALL_TIMEOUT_SECONDS="1")
        self.receiver.hang()
        self.addCleanup(self.receiver.go_on)
        name = self.submit(self.call())
        error = self.wait_for_failure(name)
        self.assertEqual(error.reason, "HTTP_CALL_FAILED")
        self.receiver.go_on()
        self.assertEqual(self.ended(name).state, DONE)
        self.assertEqual(len(set(self.receiver.keys(self.path))), 1)

    def test_a_server_without_hosts_refuses(self):
        self.addCleanup(self.restart_server, **self.settings)
        self.restart_server()
        error = self.refused("FAILED_PRECONDITION", "STEP_NOT_CONFIGURED", self.submit, self.call())
        self.assertIn("TAVOLA_HTTP_CALL_HOSTS", error.message)

    def test_a_worker_without_the_host_does_not_call(self):
        self.restart_worker(TAVOLA_HTTP_CALL_HOSTS="hooks.example.com")
        name = self.submit(self.call())
        self.assertEqual(self.wait_for_failure(name).reason, "STEP_NOT_CONFIGURED")
        self.assertEqual(self.arrived(), [])
        self.restart_worker()
        self.assertEqual(self.ended(name).state, DONE)


if __name__ == "__main__":
    unittest.main()
