# SPDX-License-Identifier: Apache-2.0
"""The caller contract: what callers expect of any good gRPC server: drains, hints, compression, retries, deadlines."""

import contextlib
import json
import os
import signal
import socket
import threading
import unittest

import grpc

from tavola_test import metrics
from tavola_test.client import ApiError, Client, entity, key, types
from tavola_test.settings import SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

STOPS = 6
REFUSALS = {("UNAVAILABLE", "SERVER_DRAINING")}
QUERY = "/tavola.v1.EntityService/QueryEntities"


class ContractCase(unittest.TestCase):
    def setUp(self):
        self.stack = Stack(redis=False)
        self.addCleanup(self.stack.close)
        self.metrics = os.path.join(self.stack.folder, "ms")
        self.stack.start_server(TAVOLA_METRICS_LISTEN="unix:" + self.metrics)
        self.caller = self.stack.connect()
        self.addCleanup(self.caller.channel.close)
        self.caller.create_table(name="contract")


class Draining(ContractCase):
    def test_an_idle_client_does_not_hold_up_the_end(self):
        self.assertEqual(self.stack.server.stop(), 0)
        self.stack.start_server(TAVOLA_DRAIN_TIMEOUT_SECONDS="600")  # longer than the wait for the end, below
        idle = [self.stack.connect() for _ in range(3)]
        for each in idle:
            self.addCleanup(each.channel.close)
            each.health()
        self.assertEqual(self.stack.server.stop(), 0)

    def test_no_call_is_cancelled(self):
        """Whatever a stopping server refuses, or has not begun, ends as UNAVAILABLE, so that clients repeat it."""
        self.caller.channel.close()
        for _ in range(STOPS):
            callers = [Persistent(self.stack.connect(), number) for number in range(8)]
            wait_for("calls under way", lambda: all(caller.done > 5 for caller in callers))
            self.stack.server.send(signal.SIGTERM)
            self.assertEqual(self.stack.server.wait(), 0)
            for caller in callers:
                caller.join(60)
            self.assertEqual({caller.end for caller in callers}, {("UNAVAILABLE", None)})
            self.assertLessEqual(set().union(*(caller.refusals for caller in callers)), REFUSALS)
            self.stack.start_server()


class Persistent(threading.Thread):
    """Writes until no server answers."""

    def __init__(self, caller, number):
        super().__init__(daemon=True)
        self.caller = caller
        self.number = number
        self.done = 0
        self.refusals = set()
        self.end = None
        self.start()

    def run(self):
        with self.caller as caller:
            while not self.end:
                try:
                    caller.insert_or_replace_entity(table="contract", entity=entity(f"{self.number}", f"{self.done}"))
                    self.done += 1
                except ApiError as error:
                    how = (error.code, error.reason)
                    if error.reason:
                        self.refusals.add(how)
                    else:
                        self.end = how


class Counter(threading.Thread):
    """Passes bytes between a client and the server, and counts the bytes of the answers."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target = target[len("unix:") :]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.received = 0

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.target)
            for source, sink, counts in ((near, far, False), (far, near, True)):
                threading.Thread(target=self.copy, args=(source, sink, counts), daemon=True).start()

    def copy(self, source, sink, counts):
        try:
            while part := source.recv(65536):
                self.received += len(part) if counts else 0
                sink.sendall(part)
        except OSError:
            pass


class Deadlines(ContractCase):
    """A query of the server waits for a lock: it must not wait longer than its caller does."""

    LOCK_SECONDS = 1  # after this time the database gives up, and the server would try again

    def setUp(self):
        super().setUp()
        self.caller.insert_entity(table="contract", entity=entity("p", "r", A=1))
        self.lock = contextlib.ExitStack()
        self.addCleanup(self.lock.close)
        self.lock.enter_context(self.stack.locked("entities"))

    def session(self, what, condition):
        query = f"select {what} from pg_stat_activity where datname = '{self.stack.database}' and {condition}"
        return self.stack.sql(query, database=self.stack.postgres_home)

    def waiting(self):
        """A session of the server that waits for the lock, and since when, by the database's clock."""
        what = "pid || ' ' || extract(epoch from query_start)"
        return self.session(what, "wait_event_type = 'Lock' and application_name = 'tavolad page'").split()

    def start(self, timeout=20):
        request = types.message("tavola.v1.QueryEntitiesRequest")(query={"table": "contract"})
        return self.caller.start(QUERY, request.SerializeToString(), timeout=timeout)

    def ends_early(self, begin, end):
        """A query ends before the database would have ended it; on a busy machine at least one of several does."""
        for _ in range(10):
            call = begin()
            found = wait_for("the query to wait", lambda: self.waiting() or (call.done() and ["", "0"]))
            end(call)
            wait_for("the end of the query", lambda: not self.waiting())
            ended = self.session("extract(epoch from state_change)", f"pid::text = '{found[0]}'")
            if ended and float(ended) - float(found[1]) < self.LOCK_SECONDS:
                break
        else:
            self.fail("no query ended before its lock's time was up")
        self.lock.close()
        self.assertEqual(len(self.caller.query("contract")), 1)

    def test_a_query_whose_caller_has_gone_is_cancelled(self):
        self.ends_early(self.start, lambda call: call.cancel())

    def test_a_query_past_its_deadline_is_cancelled(self):
        late = 0.6 / TIMEOUT_FACTOR
        self.ends_early(
            lambda: self.start(late), lambda call: self.assertEqual(call.exception().code().name, "DEADLINE_EXCEEDED")
        )

    def test_a_write_that_may_have_been_committed_is_not_given_up(self):
        """The caller goes away while its write waits. The statement was sent, so the write takes effect."""
        put = types.message("tavola.v1.InsertOrReplaceEntityRequest")
        message = put(table="contract", entity=entity("p", "late", A=1)).SerializeToString()
        call = self.caller.start("/tavola.v1.EntityService/InsertOrReplaceEntity", message)
        self.stack.wait_for_lock_waiter()
        call.cancel()
        self.lock.close()
        wait_for("the write", lambda: len(self.caller.query("contract")) == 2)


class Compression(ContractCase):
    def test_gzip_is_read_and_answered_where_asked(self):
        self.caller.load("contract", [entity("p", f"{n}", A="the same text again " * 20) for n in range(200)])
        counter = Counter(self.stack.target)
        counter.start()
        self.addCleanup(counter.listener.close)
        made = Client(f"127.0.0.1:{counter.port}")
        self.addCleanup(made.channel.close)
        request = types.message("tavola.v1.QueryEntitiesRequest")(query={"table": "contract"}).SerializeToString()
        call = made.channel.unary_unary(QUERY)

        def cost(**how):
            before = counter.received
            reply = call(request, timeout=20, **how)
            return counter.received - before, reply

        plain, reply = cost()
        packed, same = cost(metadata=[("accept-encoding", "gzip")])
        self.assertEqual(len(reply), len(same))
        self.assertGreater(plain, len(reply))
        self.assertLess(packed, len(reply) / 5)
        put = types.message("tavola.v1.InsertEntityRequest")
        message = put(table="contract", entity=entity("q", "r", A="b" * 20000)).SerializeToString()
        insert = made.channel.unary_unary("/tavola.v1.EntityService/InsertEntity")
        insert(message, timeout=20, compression=grpc.Compression.Gzip)
        stored = self.caller.get_entity(table="contract", key=key(("q", "r"))).entity
        self.assertEqual(stored.properties["A"].string_value, "b" * 20000)


class WrongFields(ContractCase):
    def test_the_field_that_is_wrong_is_named(self):
        bad_name, bad_key = entity("p", "r"), entity("a/b", "r")
        bad_name.properties["1st"].int64_value = 1
        caller = self.caller
        good = entity("p", "r")
        one = {"table": "contract", "entity": good}
        address = {"table": "contract", "key": key(("p", "r"))}
        move = {"move": {"source": address, "destination": {**address, "table": "1st"}}}

        def two_steps(action, bad):
            steps = [{action: {"table": "contract", "entity": each}} for each in (good, bad)]
            return {"transaction_id": "t", "steps": steps}

        for field, function, fields in (
            ("query.table", caller.query_entities, {"query": {"table": "x"}}),
            ("query.max_plan", caller.query_entities, {"query": {"table": "contract", "max_plan": 99}}),
            ("page_size", caller.query_entities, {"query": {"table": "contract"}, "page_size": -1}),
            ("name", caller.create_table, {"name": "1st"}),
            ("table", caller.insert_entity, {"table": "1st", "entity": entity("p", "r")}),
            ("request_id", caller.insert_entity, {"table": "contract", "entity": good, "request_id": "\n"}),
            ("precondition.if_match", caller.replace_entity, {**one, "precondition": {"if_match": "old"}}),
            ("precondition.condition", caller.replace_entity, {**one, "precondition": {"condition": " "}}),
            ("keys[1].row_key", caller.batch_get_entities, {"table": "contract", "keys": [key(("p", "r")), key(("p", "#"))]}),
            ("steps[1].insert_or_replace.entity.properties[1st]", caller.submit_transaction, two_steps("insert_or_replace", bad_name)),
            ("steps[1].insert_or_merge.entity.partition_key", caller.submit_transaction, two_steps("insert_or_merge", bad_key)),
            ("steps[0].move.destination.table", caller.submit_transaction, {"transaction_id": "t", "steps": [move]}),
            ("entity", caller.insert_entity, {"table": "contract"}),
            ("entity.partition_key", caller.insert_entity, {"table": "contract", "entity": bad_key}),
            ("entity.properties[1st]", caller.insert_entity, {"table": "contract", "entity": bad_name}),
            ("key.row_key", caller.get_entity, {"table": "contract", "key": key(("p", "a#b"))}),
            ("query.filter", caller.query_entities, {"query": {"table": "contract", "filter": "A eq"}}),
            (
                "operations[1].insert.properties[1st]",
                caller.execute_batch,
                {"table": "contract", "operations": [{"insert": entity("p", "q")}, {"insert": bad_name}]},
            ),
        ):
            with self.subTest(field):
                with self.assertRaises(ApiError) as caught:
                    function(**fields)
                self.assertEqual(list(caught.exception.fields), [field])
                self.assertTrue(caught.exception.fields[field])


class Retries(ContractCase):
    """The service configs of api/: which calls a client may send again by itself."""

    def config(self, name):
        with open(os.path.join(SOURCE, "api", name), encoding="ascii") as file:
            return file.read()

    def methods(self, name):
        entries = json.loads(self.config(name))["methodConfig"]
        return {f"/{row['service']}/{row['method']}" for entry in entries for row in entry["name"]}

    def attempts(self, config, call):
        """How often the server was called before the client gave up, while the database is away."""
        made = Client(self.stack.target, options=[("grpc.enable_retries", 1), ("grpc.service_config", config)])
        self.addCleanup(made.channel.close)
        before = self.failed()
        with self.assertRaises(ApiError) as caught:
            call(made)
        self.assertEqual((caught.exception.code, caught.exception.retry_seconds), ("UNAVAILABLE", 1))
        return self.failed() - before

    def failed(self):
        """A call is counted when it has ended for the server too, a little after the client has its answer."""
        wait_for("the end of all calls", lambda: self.read("tavola_open_calls") == 0)
        return self.read("tavola_calls_total", service="tavola.v1.EntityService", code="UNAVAILABLE")

    def read(self, name, **labels):
        return metrics.read(self.metrics).value(name, **labels)

    def test_the_methods_are_ours_and_no_write_is_repeated_by_default(self):
        ours = {path for path, _ in types.methods()}
        plain, with_ids = self.methods("service_config.json"), self.methods("service_config_request_ids.json")
        self.assertLessEqual(with_ids, ours)
        self.assertLess(plain, with_ids)
        for path in with_ids - plain:
            method = next(method for name, method in types.methods() if name == path)
            self.assertIn("request_id", method.input_type.fields_by_name, path)

    def test_reads_are_repeated_and_writes_where_they_have_an_id(self):
        self.stack.postgres_down()
        plain, with_ids = self.config("service_config.json"), self.config("service_config_request_ids.json")

        def get(made):
            made.get_entity(table="contract", key=key(("p", "r")))

        def insert(made):
            made.insert_entity(table="contract", entity=entity("p", "r"), request_id="6f2b6e6c-0a3c-4a52-9a57-0c2a6d4e8f11")

        self.assertEqual(self.attempts(plain, insert), 1)
        self.assertEqual(self.attempts(plain, get), 5)
        self.assertEqual(self.attempts(with_ids, insert), 5)


if __name__ == "__main__":
    unittest.main()
