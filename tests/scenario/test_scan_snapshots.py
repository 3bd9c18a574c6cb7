# SPDX-License-Identifier: Apache-2.0
"""Scans of one moment: what they show beside writes, that each ends in time, and that an account has one at once."""

import contextlib
import datetime
import json
import os
import signal
import subprocess
import tempfile
import threading
import unittest

from tavola_test import client, log_lines
from tavola_test.case import ServerCase
from tavola_test.client import entity
from tavola_test.credentials import sas, token
from tavola_test.processes import program, program_environment
from tavola_test.security_case import SecurityCase
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

ROWS = 400
BIG = b"x" * 60000  # the table has more data than the transport buffers between server and reader
SMALL_WINDOW = (("grpc.http2.bdp_probe", 0),)  # of a reader: otherwise the library lets the server send up to 16 MB ahead
LONGEST = 2  # seconds that a server of these tests holds a snapshot, where the end of that time is tested

ScanRequest = client.types.message("tavola.v1.ScanEntitiesRequest")
ScanResponse = client.types.message("tavola.v1.ScanEntitiesResponse")


def begin_scan(caller, table, snapshot=True, resume_token=""):
    request = ScanRequest(query={"table": table}, snapshot=snapshot, resume_token=resume_token)
    method = "/tavola.v1.EntityService/ScanEntities"
    rpc = caller.channel.unary_stream(method, ScanRequest.SerializeToString, ScanResponse.FromString)
    return rpc(request, timeout=120)


def rest_of(call):
    """The further messages, and the reason of the error that the scan ended with, if any."""
    found = []
    try:
        for message in call:
            found.append(message)
    except client.grpc.RpcError as error:
        return found, client.ApiError(error).reason
    return found, None


def numbers(messages):
    """row key -> N of the entities of messages."""
    return {one.row_key: one.properties["N"].int64_value for message in messages for one in message.entities}


def reason_of(caller, table, **more):
    return rest_of(begin_scan(caller, table, **more))[1]


def fill(caller, table, count=ROWS):
    caller.create_table(name=table)
    for first in range(0, count, 50):
        caller.load(table, [entity("p", f"{n:04}", N=1, Data=BIG) for n in range(first, min(count, first + 50))])


def sessions(stack):
    """The number of sessions of PostgreSQL that hold a snapshot of a scan."""
    asked = "select count(*) from pg_stat_activity where application_name = 'tavolad snapshot' and datname = "
    return int(stack.sql(f"{asked}'{stack.database}'", database=stack.postgres_home))


def wait_until_released(stack, seconds=20):
    wait_for("the end of the snapshot", lambda: sessions(stack) == 0, seconds)


class Moments(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = cls.stack.connect(options=SMALL_WINDOW)
        cls.addClassCleanup(cls.client.channel.close)
        cls.big = "Big"
        fill(cls.client, cls.big)

    def setUp(self):
        wait_until_released(self.stack)

    def change_everything(self):
        """Another number in each entity, a new entity, and one that is gone."""
        for first in range(0, ROWS, 50):
            self.client.load(self.big, [entity("p", f"{n:04}", N=2, Data=BIG) for n in range(first, first + 50)])
        self.client.insert_or_replace_entity(table=self.big, entity=entity("p", "9999", N=2))
        self.client.delete_entity(table=self.big, key={"partition_key": "p", "row_key": f"{ROWS - 1:04}"}, precondition={"if_match": "*"})

    def change_back(self):
        for first in range(0, ROWS, 50):
            self.client.load(self.big, [entity("p", f"{n:04}", N=1, Data=BIG) for n in range(first, first + 50)])
        self.client.delete_entity(table=self.big, key={"partition_key": "p", "row_key": "9999"}, precondition={"if_match": "*"})

    def test_what_is_written_after_the_first_message_is_not_seen(self):
        expected = {f"{n:04}": 1 for n in range(ROWS)}
        for snapshot in (True, False):
            with self.subTest(snapshot=snapshot):
                call = begin_scan(self.client, self.big, snapshot)
                first = next(call)
                self.change_everything()
                rest, reason = rest_of(call)
                self.assertIsNone(reason)
                got = numbers([first, *rest])
                if snapshot:
                    self.assertEqual(got, expected)
                else:
                    self.assertNotEqual(got, expected, "the test can fail")
                self.assertEqual(any(message.resume_token for message in [first, *rest]), not snapshot)
                self.assertEqual([message.HasField("snapshot") for message in rest], [False] * len(rest))
                self.change_back()

    def test_a_table_that_is_deleted_is_read_to_its_end(self):
        table = self.new_name()
        fill(self.client, table, 200)
        call = begin_scan(self.client, table)
        first = next(call)
        self.client.delete_table(name=table)
        self.client.create_table(name=table)
        rest, reason = rest_of(call)
        self.assertEqual((reason, len(numbers([first, *rest]))), (None, 200))

    def test_the_first_message_has_the_times(self):
        table = self.new_table()
        message = next(begin_scan(self.client, table))
        taken = message.snapshot.taken_at.ToDatetime(datetime.timezone.utc)
        self.assertLess(abs(taken - datetime.datetime.now(datetime.timezone.utc)), datetime.timedelta(minutes=1))
        self.assertEqual((message.snapshot.held_until.ToDatetime() - message.snapshot.taken_at.ToDatetime()).total_seconds(), 300)

    def test_it_cannot_be_resumed(self):
        with_token = next(begin_scan(self.client, self.big, snapshot=False)).resume_token
        self.assertEqual(reason_of(self.client, self.big, resume_token=with_token), "INVALID_INPUT")

    def test_what_is_wrong_holds_no_snapshot(self):
        self.assertEqual(reason_of(self.client, "NoSuch"), "TABLE_NOT_FOUND")
        wait_until_released(self.stack)
        self.assertEqual(len(numbers(rest_of(begin_scan(self.client, self.big))[0])), ROWS)

    def test_one_follows_the_other_at_once(self):
        table = self.new_table()
        self.client.load(table, [entity("p", f"{n:05}", N=1) for n in range(1500)])
        for _ in range(20):
            found, reason = rest_of(begin_scan(self.client, table))
            self.assertEqual((reason, len(numbers(found))), (None, 1500))

    def test_an_account_has_one_at_once(self):
        call = begin_scan(self.client, self.big)
        next(call)
        self.assertEqual(reason_of(self.client, self.big), "SNAPSHOT_RUNNING")
        before = self.stack.server
        self.stack.new_target()
        other = self.stack.start_server()
        self.addCleanup(other.kill)
        with self.stack.connect() as caller:
            self.assertEqual(reason_of(caller, self.big), "SNAPSHOT_RUNNING", "another server keeps the rule")
            self.client.cancel(call)
            wait_until_released(self.stack)
            self.assertIsNone(reason_of(caller, self.big))
        self.stack.server = before

    def test_a_reader_that_cancels_ends_it(self):
        for _ in range(10):
            call = begin_scan(self.client, self.big)
            next(call)
            self.client.cancel(call)
            wait_until_released(self.stack)


class Writers(ServerCase):
    def test_groups_are_whole_and_nothing_is_seen_before_its_cause(self):
        """Two entities of a partition change in one batch. Then the same number goes to the last partition, which a scan
        reads last: no scan of one moment may show it ahead of the first."""
        table = self.new_table()
        for first in range(0, 3000, 1000):
            self.client.load(table, [entity(f"m{n % 7}", f"{n:04}", Data=BIG[:3000]) for n in range(first, first + 1000)])
        ending = threading.Event()
        wrote = []

        def write():
            with self.stack.connect() as caller:
                for n in range(1, 1000000):
                    puts = [{"insert_or_replace": entity("a", row, N=n)} for row in ("1", "2")]
                    caller.execute_batch(table=table, operations=puts)
                    caller.insert_or_replace_entity(table=table, entity=entity("z", "1", N=n))
                    wrote[:] = [n]
                    if ending.is_set():
                        return

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(writer.join)
        self.addCleanup(ending.set)
        wait_for("the writer's first", lambda: wrote)
        seen = set()
        scans = 0
        while scans < 8 or len(seen) <= 3:  # the writer writes beside the scans
            scans += 1
            messages, reason = rest_of(begin_scan(self.client, table))
            self.assertIsNone(reason)
            found = {(one.partition_key, one.row_key): one.properties["N"].int64_value
                     for message in messages for one in message.entities if one.partition_key in "az"}
            self.assertEqual(found["a", "1"], found["a", "2"], "half of a batch")
            self.assertIn(found["a", "1"] - found["z", "1"], (0, 1), "a later write without the one before it")
            seen.add(found["z", "1"])


class Ends(unittest.TestCase):
    """Each way in which a reader, the server or the time may end a snapshot."""

    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)

    def start(self, count=ROWS, **settings):
        self.stack.start_server(**settings)
        with self.stack.connect() as caller:
            fill(caller, "Big", count)

    @contextlib.contextmanager
    def paused_scan(self):
        """A scan whose reader has stopped after the first message."""
        with self.stack.connect(options=SMALL_WINDOW) as caller:
            call = begin_scan(caller, "Big")
            next(call)
            yield call

    def test_a_reader_that_stops_reading_has_the_longest_time(self):
        self.start(count=4 * ROWS, TAVOLA_SNAPSHOT_SECONDS=str(LONGEST))
        with self.paused_scan() as call:
            self.assertEqual(sessions(self.stack), 1)
            wait_until_released(self.stack)
            with self.stack.connect() as caller:
                caller.create_table(name="Small")
                self.assertIsNone(reason_of(caller, "Small"), "the next one may begin although the reader is still there")
            self.assertEqual(rest_of(call)[1], "SNAPSHOT_ENDED")

    def test_it_is_vacuum_that_waits(self):
        self.start(count=4 * ROWS, TAVOLA_SNAPSHOT_SECONDS=str(LONGEST))
        held = "select count(*) from pg_stat_activity where application_name = 'tavolad snapshot' and backend_xmin is not null"
        with self.paused_scan():
            self.assertEqual(self.stack.sql(held), "1")
            wait_until_released(self.stack)

    def test_a_killed_client(self):
        self.start()
        running = subprocess.Popen([program("tavola"), "export", "Big", "--snapshot"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=program_environment({"TAVOLA_TARGET": self.stack.target}))
        self.addCleanup(running.stdout.close)
        self.assertTrue(running.stdout.readline())
        wait_for("the snapshot", lambda: sessions(self.stack) == 1)
        running.kill()
        running.wait()
        wait_until_released(self.stack)

    def test_a_killed_server(self):
        self.start()
        with self.paused_scan() as call:
            self.stack.server.kill()
            wait_until_released(self.stack)
            with self.assertRaises(client.grpc.RpcError):
                list(call)
        self.stack.start_server()
        with self.stack.connect() as caller:
            self.assertIsNone(reason_of(caller, "Big"))

    def test_a_server_that_stands_still(self):
        self.start(TAVOLA_SNAPSHOT_SECONDS="15")
        # Between two pages it is idle for a moment; one that waits for its reader stays so.
        idle = ("select count(*) from pg_stat_activity where application_name = 'tavolad snapshot' and state = 'idle in transaction'"
                " and state_change < clock_timestamp() - interval '500 ms'")
        with self.paused_scan():
            wait_for("a pause between two pages", lambda: self.stack.sql(idle) == "1")
            self.stack.server.send(signal.SIGSTOP)
            wait_until_released(self.stack)
            self.stack.server.send(signal.SIGCONT)

    def test_a_server_that_stops(self):
        self.start()
        with self.paused_scan() as call:
            self.stack.server.send(signal.SIGTERM)
            wait_for("the beginning of the end", lambda: log_lines.of(self.stack.server.output(), "stopping"))
            with self.assertRaises(client.grpc.RpcError) as caught:
                list(call)
        error = client.ApiError(caught.exception)
        # Without a reason: the server was gone before its reader had read the end of the scan.
        self.assertEqual(error.code, "UNAVAILABLE")
        self.assertIn(error.reason, ("SERVER_DRAINING", "STORE_UNAVAILABLE", None))
        self.assertEqual(self.stack.server.wait(), 0)
        wait_until_released(self.stack)

    def test_a_database_that_is_lost(self):
        self.start()
        with self.paused_scan() as call:
            self.stack.postgres_down()
            self.assertEqual(rest_of(call)[1], "STORE_UNAVAILABLE")

    def test_a_server_that_takes_none(self):
        self.start(TAVOLA_MAX_SNAPSHOTS="0")
        with self.stack.connect() as caller:
            self.assertEqual(reason_of(caller, "Big"), "NOT_IMPLEMENTED")


class Accounts(SecurityCase):
    settings = {"TAVOLA_MAX_SNAPSHOTS": "1"}

    def test_a_server_has_a_few_over_all_accounts(self):
        other = self.connect(token(self.other_keys[0], account="globex"))
        other.create_table(name="Theirs")
        fill(self.client, "Big")
        call = begin_scan(self.client, "Big")
        next(call)
        self.assertEqual(reason_of(other, "Theirs"), "SNAPSHOT_RUNNING")
        self.client.cancel(call)
        wait_for("the other account's turn", lambda: reason_of(other, "Theirs") is None)

    def test_a_signature_gives_none(self):
        signed = self.connect(sas(self.keys[0], "people", permissions="r"))
        self.assertIsNone(reason_of(signed, "People", snapshot=False))
        self.assertEqual(reason_of(signed, "People"), "AUTHORIZATION_FAILURE")


class Command(ServerCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        wait_until_released(self.stack)

    def begin(self, *words):
        running = subprocess.Popen([program("tavola"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=program_environment({"TAVOLA_TARGET": self.stack.target}))
        self.addCleanup(running.wait)
        return running

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def test_the_file_appears_when_it_is_complete(self):
        table, path = self.new_name(), os.path.join(self.folder.name, "out.jsonl")
        fill(self.client, table, 100)
        running = self.begin("export", table, "--snapshot", "--output", path)
        _, said = running.communicate()
        self.assertEqual(running.returncode, 0, said)
        self.assertRegex(said, r"one snapshot, of 20\d\d-\d\d-\d\dT[\d:]{8}Z\. Until the export ends, at 20\S+Z at the latest, "
                               r"vacuum cannot remove deleted rows")
        self.assertIn("100 exported", said)
        with open(path, encoding="utf-8") as file:
            self.assertEqual([json.loads(line)["RowKey"] for line in file], [f"{n:04}" for n in range(100)])
        self.assertEqual(self.files(), ["out.jsonl"])

    def test_an_interrupted_one_leaves_no_file(self):
        table, path = self.new_name(), os.path.join(self.folder.name, "out.jsonl")
        fill(self.client, table)
        with open(path, "w", encoding="utf-8") as file:
            file.write("of yesterday\n")
        running = self.begin("export", table, "--snapshot", "--output", path)
        wait_for("the first entities", lambda: os.path.exists(path + ".tavola-part") and os.path.getsize(path + ".tavola-part") > 0)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
        self.assertEqual(running.returncode, 130, said)
        self.assertIn("out.jsonl is not written", said)
        self.assertEqual(self.files(), ["out.jsonl"])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "of yesterday\n")

    def test_a_second_one_is_refused(self):
        table = self.new_name()
        fill(self.client, table)
        call = begin_scan(self.client, table)
        next(call)
        running = self.begin("export", table, "--snapshot")
        said = running.communicate()[1]
        self.assertEqual(running.returncode, 1)
        self.assertIn("FAILED_PRECONDITION / SNAPSHOT_RUNNING: a scan of this account holds a snapshot already", said)
        call.cancel()


if __name__ == "__main__":
    unittest.main()
