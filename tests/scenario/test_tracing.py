# SPDX-License-Identifier: Apache-2.0
"""Traces from a call to its index entries, as a collector gets them, and the log of slow calls."""

import os
import time
import unittest

from tavola_test import client, http_client, log_lines, metrics
from tavola_test.certificates import Authority
from tavola_test.client import ImportEntitiesRequest, entity
from tavola_test.collector import Collector
from tavola_test.processes import run_program
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
SECRETS = ("Sup3rPartition", "Sup3rRow", "Sup3rValue")


def traceparent(trace=TRACE, flags="01"):
    return f"00-{trace}-{SPAN}-{flags}"


def upsert(caller, table, metadata, city="Sup3rValue", row="Sup3rRow", **fields):
    """The call with metadata of its own."""
    path = "/tavola.v1.EntityService/InsertOrReplaceEntity"
    request = client.types.message("tavola.v1.InsertOrReplaceEntityRequest")(
        table=table, entity=entity("Sup3rPartition", row, City=city), **fields)
    return caller.channel.unary_unary(path)(request.SerializeToString(), metadata=metadata, timeout=20)


class TracingCase(unittest.TestCase):
    """A stack per class, with a table."""

    @classmethod
    def setUpClass(cls):
        cls.made = Stack()
        cls.addClassCleanup(cls.made.close)
        cls.metrics = os.path.join(cls.made.folder, "metrics")

    def setUp(self):
        self.collector = Collector()
        self.addCleanup(self.collector.close)

    def start(self, **settings):
        settings = {"TAVOLA_OTLP_ENDPOINT": self.collector.url, **settings}
        self.made.start_server(TAVOLA_METRICS_LISTEN="unix:" + self.metrics, **settings)
        self.addCleanup(self.made.server.kill)
        self.caller = self.made.connect()
        self.addCleanup(self.caller.channel.close)
        if not [table for table in self.caller.list_tables().tables if table.name == "people"]:
            self.caller.create_table(name="people")

    def wait_for_spans(self, trace, names):
        wait_for(f"spans {names}", lambda: set(names) <= {span.name for span in self.collector.spans(trace)})
        return {span.name: span for span in self.collector.spans(trace)}

    def count(self, label, family="tavola_spans_total", name="outcome"):
        text = metrics.get(self.metrics)[2]
        line = next(line for line in text.splitlines() if line.startswith(f'{family}{{{name}="{label}"}}'))
        return float(line.split()[-1])


class FromACallToItsIndexEntry(TracingCase):
    """One server, one worker and one collector for all tests: each has a trace of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.collector = Collector()
        cls.addClassCleanup(cls.collector.close)
        cls.made.start_server(TAVOLA_OTLP_ENDPOINT=cls.collector.url, TAVOLA_HTTP_LISTEN="127.0.0.1:0")
        cls.made.start_worker(TAVOLA_OTLP_ENDPOINT="", OTEL_EXPORTER_OTLP_ENDPOINT=cls.collector.url + "/")
        cls.caller = cls.made.connect()
        cls.addClassCleanup(cls.caller.channel.close)
        cls.caller.create_table(name="people")
        cls.caller.create_index(index={
            "name": "byCity", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "City"}]
        })
        wait_ready(cls.caller, "byCity")

    def setUp(self):
        """Nothing is started."""

    CALL = "tavola.v1.EntityService/InsertOrReplaceEntity"

    def check_chain(self, spans):
        call, queue, reconcile, entry = (spans[name] for name in (self.CALL, "queue", "reconcile", "index entry"))
        self.assertEqual([span.parent for span in (call, queue, reconcile, entry)], [SPAN, call.id, queue.id, reconcile.id])
        self.assertEqual(len({span.id for span in (call, queue, reconcile, entry)}), 4)
        self.assertEqual([span.kind for span in (call, queue, reconcile, entry)], [2, 5, 1, 1])
        self.assertEqual([span.program for span in (call, queue, entry)], ["tavolad", "tavola-worker", "tavola-worker"])
        self.assertEqual(call.attributes["tavola.table"], "people")
        self.assertLess(call.attributes["tavola.queue_us"] + call.attributes["tavola.database_us"], 60e6)
        self.assertEqual(entry.attributes, {"tavola.index": "byCity", "tavola.written": 1, "tavola.deleted": 0})
        now = time.time_ns()
        for span in (call, queue, reconcile, entry):
            self.assertTrue(now - 120e9 < span.begun <= span.ended < now + 60e9, (span, now))
            self.assertIsNone(span.failure)
        self.assertLessEqual(call.begun, queue.ended)
        self.assertLessEqual(queue.ended, reconcile.ended)

    def test_each_span_is_the_child_of_the_one_before(self):
        upsert(self.caller, "people", [("traceparent", traceparent())], row="Sup3rRowOfChain")
        self.check_chain(self.wait_for_spans(TRACE, [self.CALL, "queue", "reconcile", "index entry"]))
        for body in self.collector.bodies:
            for secret in SECRETS:
                self.assertNotIn(secret.encode(), body)

    def test_over_http(self):

        caller = http_client.Caller(http_client.address_of(self.made))
        self.addCleanup(caller.close)
        message = {"table": "people", "entity": {
            "partitionKey": "Sup3rPartition", "rowKey": "http", "properties": {"City": {"stringValue": "Http"}}}}
        reply = caller.call("EntityService/InsertOrReplaceEntity", message, {"traceparent": traceparent("d" * 32)})
        self.assertEqual(reply.status, 200, reply.body)
        self.check_chain(self.wait_for_spans("d" * 32, [self.CALL, "queue", "reconcile", "index entry"]))

    def test_a_caller_that_does_not_sample_and_one_without_a_trace_leave_none(self):
        before = {span.id for span in self.collector.spans()}
        upsert(self.caller, "people", [("traceparent", traceparent("1" * 32, flags="00"))])
        upsert(self.caller, "people", [], row="plain")
        for bad in ("", "00-zz", traceparent("0" * 32), traceparent() + "-more", "ff" + traceparent()[2:]):
            upsert(self.caller, "people", [("traceparent", bad)], row="bad")
        upsert(self.caller, "people", [("traceparent", traceparent("e" * 32))], row="last")
        self.wait_for_spans("e" * 32, [self.CALL, "index entry"])
        self.assertEqual({span.trace for span in self.collector.spans() if span.id not in before}, {"e" * 32})

    def test_an_import_and_a_failing_call(self):
        path = "/tavola.v1.EntityService/ImportEntities"
        sent = ImportEntitiesRequest(table="people", entities=[entity("p", f"{i}", City="x") for i in range(3)])
        rpc = self.caller.channel.stream_stream(path)
        list(rpc(iter([sent.SerializeToString()]), metadata=[("traceparent", traceparent("a" * 32))], timeout=20))
        spans = self.wait_for_spans("a" * 32, [path[1:], "index entry"])
        self.assertEqual(spans["queue"].parent, spans[path[1:]].id)
        with self.assertRaises(Exception):
            upsert(self.caller, "nowhere", [("traceparent", traceparent("b" * 32))])
        spans = self.wait_for_spans("b" * 32, [self.CALL])
        self.assertEqual(spans[self.CALL].failure, "TABLE_NOT_FOUND")


    def submit(self, transaction, trace, steps):
        path = "/tavola.v1.TransactionService/SubmitTransaction"
        request = client.types.message("tavola.v1.SubmitTransactionRequest")(transaction_id=transaction, steps=steps)
        self.caller.channel.unary_unary(path)(
            request.SerializeToString(), metadata=[("traceparent", traceparent(trace))], timeout=20)
        self.caller.wait_transaction(transaction_id=transaction)
        return path[1:]

    def check_step(self, spans, step, number, submit, entries):
        """The step is a child of the submission, and the index entry that it causes is below it."""
        self.assertEqual((step.parent, step.program, step.failure), (submit.id, "tavola-worker", None))
        self.assertEqual(step.attributes, {"tavola.table": "people", "tavola.step": number, "tavola.steps": 2})
        below = [span for span in spans if span.name == "queue" and span.parent == step.id]
        self.assertEqual(len(below), entries)
        for queue in below:
            [reconcile] = [span for span in spans if span.parent == queue.id]
            self.assertEqual([span.name for span in spans if span.parent == reconcile.id], ["index entry"])
        self.assertLessEqual(submit.begun, step.begun)
        self.assertLessEqual(step.begun, step.ended)

    def has_arrived(self, trace, call, entries):
        """Whether the call, so many entries and every span between them are there: server and worker send each at its own time."""
        spans = self.collector.spans(trace)
        ids = {span.id for span in spans}
        return (len([span for span in spans if span.name == "index entry"]) == entries and any(span.name == call for span in spans)
                and all(span.parent in ids for span in spans if span.name != call))

    def test_the_steps_of_a_transaction_are_children_of_its_submission(self):
        trace = "5" * 32
        put = [{"insert_or_replace": {"table": "people", "entity": entity("Sup3rPartition", f"Sup3rRow{i}", City="Step")}}
               for i in range(2)]
        name = self.submit("traced", trace, put)
        wait_for("the spans", lambda: self.has_arrived(trace, name, 2))
        spans = self.collector.spans(trace)
        [submit] = [span for span in spans if span.name == name]
        steps = [span for span in spans if span.name == "transaction step"]
        self.assertEqual([span.attributes["tavola.step"] for span in steps], [1, 2])
        for number, step in enumerate(steps, 1):
            self.check_step(spans, step, number, submit, 1)
        [queue] = [span for span in spans if span.name == "queue" and span.parent == submit.id]
        self.assertLessEqual(queue.ended, steps[0].begun + 1000)
        for body in self.collector.bodies:
            for secret in SECRETS:
                self.assertNotIn(secret.encode(), body)

    def test_a_step_that_fails_says_why(self):
        trace = "6" * 32
        steps = [{"insert_or_replace": {"table": "people", "entity": entity("p", "absent", City="x")}, "precondition": {"if_match": "*"}}]
        self.submit("failing", trace, steps)
        [step] = [span for span in self.wait_for_step(trace) if span.name == "transaction step"]
        self.assertEqual((step.failure, step.attributes["tavola.step"]), ("RESOURCE_NOT_FOUND", 1))

    def wait_for_step(self, trace):
        self.wait_for_spans(trace, ["transaction step"])
        return self.collector.spans(trace)

    def test_a_transaction_without_a_trace_has_no_spans(self):
        before = {span.id for span in self.collector.spans()}
        put = {"insert_or_replace": {"table": "people", "entity": entity("p", "untold", City="x")}}
        self.caller.submit_transaction(transaction_id="untold", steps=[put])
        self.caller.wait_transaction(transaction_id="untold")
        upsert(self.caller, "people", [("traceparent", traceparent("7" * 32))], row="behind")
        self.wait_for_spans("7" * 32, [self.CALL, "index entry"])
        self.assertEqual({span.trace for span in self.collector.spans() if span.id not in before}, {"7" * 32})

    def test_a_call_that_writes_much_leaves_room_for_the_traces_of_others(self):
        """One piece of a worker's work tells eight keys of a trace at most, so a piece of 64 of them has room for eight calls."""
        path = "/tavola.v1.EntityService/ImportEntities"
        sent = ImportEntitiesRequest(table="people", entities=[entity("p", f"many{i:03}", City="x") for i in range(400)])
        rpc = self.caller.channel.stream_stream(path)
        list(rpc(iter([sent.SerializeToString()]), metadata=[("traceparent", traceparent("8" * 32))], timeout=20))
        wait_for("the entries", lambda: len(self.caller.lookup("byCity", ["x"])) >= 100)
        self.wait_for_spans("8" * 32, ["index entry"])
        batches = {}
        for span in self.collector.spans("8" * 32):
            if span.name == "reconcile":
                batches.setdefault((span.begun, span.attributes["tavola.keys"]), []).append(span)
        self.assertTrue(batches)
        self.assertLessEqual(max(len(found) for found in batches.values()), 8)


class TheBeginningOfATrace(TracingCase):
    CALL = FromACallToItsIndexEntry.CALL

    def test_an_account_that_samples_everything_leaves_room_for_others(self):
        """Calls over the rate are served, without a trace, and counted."""
        self.start(TAVOLA_TRACED_RATE_LIMIT="5", TAVOLA_AUTHENTICATION="none")
        for number in range(100):
            upsert(self.caller, "people", [("traceparent", traceparent(f"{number + 1:032x}"))], row=f"{number}")
        self.assertEqual(len(self.caller.query_entities(query={"table": "people"}, page_size=1000).entities), 100)
        limited = self.count("traced", "tavola_rate_limited_total", "scope")
        self.assertGreater(limited, 0)
        wait_for("the rest", lambda: len({span.trace for span in self.collector.spans()}) + limited == 100)

    def test_calls_without_a_trace_begin_one_by_chance(self):
        self.start(TAVOLA_TRACES_PER_MILLION="1000000", TAVOLA_OTLP_ENDPOINT="", OTEL_EXPORTER_OTLP_ENDPOINT=self.collector.url)
        upsert(self.caller, "people", [])
        wait_for("the span", lambda: [span for span in self.collector.spans() if span.name == self.CALL])
        span = next(span for span in self.collector.spans() if span.name == self.CALL)
        self.assertEqual(span.parent, "")
        self.assertRegex(span.trace, "^[0-9a-f]{32}$")


class ACollectorThatIsProtected(TracingCase):
    """Its certificate is of an authority of its own, and it wants a credential."""

    WANTED = {"Authorization": "Bearer s3cr3t,token", "X-Tenant": "t1"}
    HEADERS = "authorization=Bearer%20s3cr3t%2Ctoken, x-tenant = t1"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.authority = Authority(cls.made.folder, "authority")
        cls.certificate = cls.authority.sign("collector")
        cls.headers_file = os.path.join(cls.made.folder, "headers")

    def setUp(self):
        self.collector = Collector(self.certificate, self.WANTED)
        self.addCleanup(self.collector.close)

    def write_headers(self, text):
        with open(self.headers_file + ".new", "w") as file:
            file.write(text)
        os.rename(self.headers_file + ".new", self.headers_file)

    def check_sent(self):
        upsert(self.caller, "people", [("traceparent", traceparent())])
        wait_for("a span", lambda: self.collector.spans(TRACE))
        self.assertNotIn("s3cr3t", self.made.server.output())

    def await_failure(self, words):
        """Until a failed export says these words. On a busy machine others may come first: an export is given little time."""
        def is_said():
            upsert(self.caller, "people", [("traceparent", traceparent())])
            return any(words in line["why"].lower() for line in log_lines.of(self.made.server.output(), "export", status="failed"))

        wait_for(words, is_said)
        self.assertGreater(self.count("dropped"), 0)

    def test_the_settings_name_its_authority_and_the_credential(self):
        self.start(TAVOLA_OTLP_HEADERS=self.HEADERS, TAVOLA_OTLP_CA=self.authority.file)
        self.check_sent()

    def test_the_standard_names_count_too(self):
        self.start(OTEL_EXPORTER_OTLP_HEADERS=self.HEADERS, OTEL_EXPORTER_OTLP_CERTIFICATE=self.authority.file)
        self.check_sent()

    def test_a_credential_in_a_file_is_read_again_when_it_is_renewed(self):
        self.write_headers("authorization=Bearer%20old\nx-tenant=t1\n")
        self.start(TAVOLA_OTLP_HEADERS_FILE=self.headers_file, TAVOLA_OTLP_CA=self.authority.file)
        self.await_failure("the collector answers 401")
        self.write_headers(self.HEADERS.replace(",", "\n"))
        self.check_sent()
        os.unlink(self.headers_file)
        dropped = self.count("dropped")
        upsert(self.caller, "people", [("traceparent", traceparent())])
        wait_for("a drop", lambda: self.count("dropped") > dropped)

    def test_a_certificate_of_an_unknown_authority_gets_nothing(self):
        self.start(TAVOLA_OTLP_HEADERS=self.HEADERS)
        self.await_failure("certificate")
        self.assertEqual(self.collector.bodies, [])

    def test_what_cannot_be_used_stops_the_start_and_is_not_shown(self):
        self.write_headers("no header: s3cr3t")
        for settings, wanted in (
            ({"TAVOLA_OTLP_HEADERS": "s3cr3t"}, "TAVOLA_OTLP_HEADERS"),
            ({"TAVOLA_OTLP_HEADERS": "a=s3cr3t%0d%0ax"}, "TAVOLA_OTLP_HEADERS"),
            ({"TAVOLA_OTLP_HEADERS": "a b=s3cr3t"}, "TAVOLA_OTLP_HEADERS"),
            ({"TAVOLA_OTLP_HEADERS_FILE": self.headers_file}, self.headers_file),
            ({"TAVOLA_OTLP_HEADERS_FILE": "/nowhere"}, "/nowhere"),
            ({"TAVOLA_OTLP_HEADERS_FILE": self.headers_file, "TAVOLA_OTLP_HEADERS": "a=s3cr3t"}, "unset one"),
            ({"TAVOLA_OTLP_CA": "/nowhere.pem"}, "/nowhere.pem"),
        ):
            given = self.made.server_settings(TAVOLA_OTLP_ENDPOINT=self.collector.url, **settings)
            for name in ("tavolad", "tavola-worker"):
                with self.subTest(settings, program=name):
                    ended = run_program(name, settings=given)
                    self.assertNotEqual(ended.returncode, 0)
                    self.assertIn(wanted, ended.stderr)
                    self.assertNotIn("s3cr3t", ended.stderr)


class ACollectorInTrouble(TracingCase):
    def write(self, count):
        for number in range(count):
            upsert(self.caller, "people", [("traceparent", traceparent())], row=f"{number}")

    def test_one_that_refuses_costs_spans_alone(self):
        self.start()
        self.collector.answer = 503
        self.write(3)
        wait_for("drops", lambda: self.count("dropped") >= 3)
        self.collector.answer = 200
        self.write(1)
        wait_for("a span behind those that were refused", lambda: self.count("sent") >= 1)
        before = self.count("dropped")
        self.write(2)
        wait_for("spans", lambda: self.count("sent") >= 3)
        self.assertEqual(self.count("dropped"), before)
        self.assertIn(
            "the collector answers 503",
            [line["why"] for line in log_lines.of(self.made.server.output(), "export", status="failed")])

    def test_one_that_hangs_delays_neither_calls_nor_the_end(self):
        self.start()
        self.collector.hang()
        self.write(150)
        self.assertEqual(self.made.server.stop(), 0)

    def test_one_that_is_away(self):
        self.start()
        self.collector.close()
        self.write(3)
        wait_for("drops", lambda: self.count("dropped") >= 3)


class SlowCalls(TracingCase):
    def test_a_line_says_where_the_time_went_and_shows_no_key(self):
        self.start(TAVOLA_SLOW_CALL_MS="200", TAVOLA_OTLP_ENDPOINT="")
        upsert(self.caller, "people", [])
        with self.made.locked("entities"):
            rpc = self.caller.channel.unary_unary("/tavola.v1.EntityService/QueryEntities")
            request = client.types.message("tavola.v1.QueryEntitiesRequest")(query={
                "table": "people", "filter": "PartitionKey eq 'Sup3rPartition' and City eq 'Sup3rValue'"})
            headers = [("traceparent", traceparent()), ("x-request-id", "order-17"), ("x-other", "Sup3rRow")]
            call = rpc.future(request.SerializeToString(), metadata=headers, timeout=30)
            begun = time.monotonic()
            self.made.wait_for_lock_waiter()
            wait_for("the threshold", lambda: time.monotonic() - begun > 0.3)
        call.result()
        [line] = wait_for("the line", lambda: log_lines.of(self.made.server.output(), "slow_call", request_id="order-17"))
        for found in log_lines.of(self.made.server.output(), "slow_call"):
            self.assertGreaterEqual(int(found["duration_us"]), 200000)
        self.assertEqual(
            {name: line[name] for name in ("level", "method", "status", "table", "access_path", "trace_id", "request_id")},
            {"level": "warn", "method": "/tavola.v1.EntityService/QueryEntities", "status": "OK", "table": "people",
             "access_path": "PARTITION_SCAN", "trace_id": TRACE, "request_id": "order-17"})
        self.assertGreaterEqual(int(line["database_us"]), 200000)
        self.assertLess(int(line["queue_us"]) + int(line["database_us"]), int(line["duration_us"]) + 1)
        self.assertEqual(line["rows_examined"], "1")
        for secret in SECRETS:
            self.assertNotIn(secret, self.made.server.output())

    def test_an_operation_of_a_stream_has_a_line_and_the_stream_has_not(self):
        self.start(TAVOLA_SLOW_CALL_MS="200", TAVOLA_OTLP_ENDPOINT="")
        upsert(self.caller, "people", [])
        path = "/tavola.v1.EntityService/ScanEntities"
        request = client.types.message("tavola.v1.ScanEntitiesRequest")(query={"table": "people"})
        headers = [("traceparent", traceparent()), ("x-request-id", "scan-17")]
        scan = self.caller.channel.unary_stream(path)
        with self.made.locked("entities"):
            messages = scan(request.SerializeToString(), metadata=headers, timeout=30)
            begun = time.monotonic()
            self.made.wait_for_lock_waiter()
            wait_for("the threshold", lambda: time.monotonic() - begun > 0.3)
        list(messages)
        [line] = wait_for("the line", lambda: log_lines.of(self.made.server.output(), "slow_call", request_id="scan-17"))
        self.assertEqual(
            (line["method"], line["status"], line["table"], line["trace_id"]), (path, "OK", "people", TRACE))
        self.assertGreaterEqual(int(line["database_us"]), 200000)
        for secret in SECRETS:
            self.assertNotIn(secret, self.made.server.output())

    def test_a_stream_that_waits_for_changes_is_not_slow(self):
        self.start(TAVOLA_SLOW_CALL_MS="200", TAVOLA_OTLP_ENDPOINT="")
        self.caller.update_table(table={"name": "people", "change_feed": True}, update_mask={"paths": ["change_feed"]})
        path = "/tavola.v1.EntityService/WatchEntities"
        request = client.types.message("tavola.v1.WatchEntitiesRequest")(table="people")
        watch = self.caller.channel.unary_stream(path)(request.SerializeToString(), timeout=30)
        begun = time.monotonic()
        wait_for("the threshold", lambda: time.monotonic() - begun > 0.4)
        upsert(self.caller, "people", [], row="watched")
        next(iter(watch))
        watch.cancel()
        wait_for("the end", lambda: metrics.get(self.metrics)[2])
        self.assertEqual(log_lines.of(self.made.server.output(), "slow_call", method=path), [])

    def test_a_call_that_waits_for_a_transaction_is_not_slow(self):
        self.start(TAVOLA_SLOW_CALL_MS="200", TAVOLA_OTLP_ENDPOINT="")
        put = {"insert_or_replace": {"table": "people", "entity": entity("p", "waited", City="x")}}
        self.caller.submit_transaction(transaction_id="waited", steps=[put])
        path = "/tavola.v1.TransactionService/WaitTransaction"
        request = client.types.message("tavola.v1.WaitTransactionRequest")(transaction_id="waited")
        wait = self.caller.channel.unary_unary(path).future(request.SerializeToString(), timeout=60)
        begun = time.monotonic()
        wait_for("the threshold", lambda: time.monotonic() - begun > 0.4)
        self.made.start_worker()
        self.addCleanup(self.made.worker.kill)
        wait.result()
        self.assertEqual(log_lines.of(self.made.server.output(), "slow_call", method=path), [])

    def test_debug_shows_every_call_so(self):
        self.start(TAVOLA_SLOW_CALL_MS="0", TAVOLA_LOG_LEVEL="debug", TAVOLA_OTLP_ENDPOINT="")
        upsert(self.caller, "people", [("traceparent", traceparent()), ("x-request-id", "a b")])
        lines = wait_for("the line", lambda: log_lines.of(self.made.server.output(), "call", trace_id=TRACE))
        self.assertEqual((lines[0]["status"], lines[0]["table"], lines[0]["request_id"]), ("OK", "people", ""))
        with self.assertRaises(Exception):
            upsert(self.caller, "nowhere", [("traceparent", traceparent("c" * 32))])
        wait_for("the failure", lambda: log_lines.of(self.made.server.output(), "call", trace_id="c" * 32, reason="TABLE_NOT_FOUND"))


if __name__ == "__main__":
    unittest.main()
