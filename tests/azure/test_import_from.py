# SPDX-License-Identifier: Apache-2.0
"""`tavola import --from`: a table comes from the public emulator, or from another Tavola, also when it is interrupted."""

import base64
import json
import os
import signal
import subprocess
import tempfile
import unittest

from tavola_test.azure import BATCH_TYPE, DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Door, change_set, request
from tavola_test.client import entity
from tavola_test.ports import free_port
from tavola_test.processes import program, program_environment, run_program
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

MANY = 12000
INTERRUPTED = 130
STRANGE = ("O'Neil ä%", "a b+c&d=e")
TYPES = {
    "Text": "O'Neil \" [ { } ] \\ ä", "Yes": True, "Small": -5, "Large@odata.type": "Edm.Int64", "Large": "9007199254740993", "Half": 0.5,
    "Day@odata.type": "Edm.DateTime", "Day": "1901-01-01T00:00:00.1234567Z",
    "Id@odata.type": "Edm.Guid", "Id": "00112233-4455-6677-8899-aabbccddeeff", "Bytes@odata.type": "Edm.Binary", "Bytes": "AAEC",
}


def connection_string(port, key=DEVELOPMENT_KEY):
    text = base64.b64encode(key).decode()
    return f"AccountName={DEVELOPMENT_ACCOUNT};AccountKey={text};TableEndpoint=http://127.0.0.1:{port}/{DEVELOPMENT_ACCOUNT}/;"


def is_behind_a_page(state):
    """Whether the checkpoint is there and names the next key; the copy removes it when it ends."""
    try:
        with open(state, encoding="utf-8") as file:
            return "NextPartitionKey" in file.read()
    except FileNotFoundError:
        return False


class ImportCase(unittest.TestCase):
    def setUp(self):
        self.target = Stack(redis=False)
        self.addCleanup(self.target.close)
        self.target.start_server()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.settings = {"TAVOLA_TARGET": self.target.target}

    def words(self, table, *more, **changed):
        return ["import", table, "--from", changed.get("connection", self.connection), "--source-table", "Moved", *more]

    def begin(self, table, *more):
        running = subprocess.Popen([program("tavola"), *self.words(table, *more)], cwd=self.folder.name, stderr=subprocess.PIPE,
                                   text=True, env=program_environment(self.settings))
        self.addCleanup(running.wait)
        return running

    def run_import(self, table, *more, code=0, **changed):
        done = subprocess.run([program("tavola"), *self.words(table, *more, **changed)], cwd=self.folder.name, timeout=120,
                              capture_output=True, text=True, env=program_environment(self.settings), check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def got(self, table, *key):
        done = run_program("tavola", "entity", "get", table, *key, settings=self.settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: value for name, value in json.loads(done.stdout).items() if name not in ("Timestamp", "odata.etag")}

    def count(self, table):
        with self.target.connect() as caller:
            return caller.count_entities(query={"table": table}).count

    def start_tavola(self):
        source, port = Stack(redis=False), free_port()
        self.addCleanup(source.close)
        source.start_server(TAVOLA_HTTP_LISTEN=f"127.0.0.1:{port}")
        wait_for("the door", lambda: source.accepts(f"127.0.0.1:{port}"))
        self.connection, self.source = connection_string(port), source
        return Door(port, DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT)

    def put_strange(self, door):
        json_only = {"Accept": "application/json;odata=nometadata"}
        self.assertIn(door.send("POST", "/Tables", {"TableName": "Moved"}, **json_only).status, (201, 204))
        strange = {"PartitionKey": STRANGE[0], "RowKey": STRANGE[1], **TYPES}
        self.assertIn(door.send("POST", "/Moved", strange, **json_only).status, (201, 204))

    def check_strange(self, table):
        self.assertEqual(self.got(table, *STRANGE), {"PartitionKey": STRANGE[0], "RowKey": STRANGE[1], **TYPES})


class FromTavola(ImportCase):
    def setUp(self):
        super().setUp()
        self.put_strange(self.start_tavola())

    def fill(self):
        with self.source.connect() as caller:
            for first in range(0, MANY, 1000):
                caller.load("Moved", [entity(f"p/{n // 700}".replace("/", " "), f"{n:06}", N=n) for n in range(first, first + 1000)])

    def test_a_table_is_copied_with_its_types(self):
        self.fill()
        said = self.run_import("Here")
        self.assertIn(f"{MANY + 1} imported, 0 rejected", said)
        self.check_strange("Here")
        self.assertEqual(self.count("Here"), MANY + 1)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_the_time_at_which_an_entity_expires_comes_along(self):
        given = entity("p", "r", A=1)
        given.expires.FromJsonString("2999-12-31T00:00:00.5Z")
        with self.source.connect() as caller:
            caller.insert_entity(table="Moved", entity=given)
        self.run_import("Here")
        self.assertEqual(self.got("Here", "p", "r")["tavola.expires"], "2999-12-31T00:00:00.5Z")
        self.assertNotIn("tavola.expires", self.got("Here", *STRANGE))

    def test_an_interrupted_copy_goes_on_without_loss_or_doubles(self):
        self.fill()
        for number, sent in enumerate((signal.SIGKILL, signal.SIGINT)):
            with self.subTest(sent):
                table = f"Here{number}"
                state = os.path.join(self.folder.name, table + ".tavola-import")
                running = self.begin(table)
                wait_for("a checkpoint behind a page", lambda state=state: is_behind_a_page(state))
                running.send_signal(sent)
                said = running.communicate()[1]
                self.assertEqual(running.returncode, -9 if sent == signal.SIGKILL else INTERRUPTED, said)
                again = self.run_import(table)
                self.assertRegex(again, r"going on behind [1-9]\d*000 entities")
                self.assertIn(f"{MANY + 1} imported, 0 rejected", again)
                self.assertEqual(self.count(table), MANY + 1)
                self.assertFalse(os.path.exists(state))

    def test_the_string_may_be_in_a_file(self):
        path = os.path.join(self.folder.name, "connection")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.connection + "\n")
        self.assertIn("1 imported", self.run_import("Here", connection="@" + path))
        self.assertIn("/none: No such file", self.run_import("Here", connection="@/none", code=1))

    def test_what_is_wrong_is_said_without_the_key(self):
        key = base64.b64encode(b"another key that is wrong").decode()
        for connection, words in (
            (connection_string(self.connection.split(":")[2].split("/")[0], b"another key that is wrong"), "the source: it answers 403"),
            ("AccountName=x", "has neither AccountKey nor SharedAccessSignature"),
            ("AccountKey=" + key, "has neither AccountName nor TableEndpoint"),
            (f"AccountName=x;AccountKey={key[:-1]}!", "has an AccountKey that is not base64"),
            (f"AccountName=x;AccountKey={key};TableEndpoint=ftp://x", "an endpoint that is not of http or https"),
        ):
            with self.subTest(words):
                said = self.run_import("Here", connection=connection, code=1)
                self.assertIn(words, said)
                self.assertNotIn(key[:20], said)
        done = run_program("tavola", "import", "Here", "--from", self.connection, "--source-table", "Never", settings=self.settings)
        self.assertIn("it answers 404", done.stderr)
        done = run_program("tavola", "import", "Here", "file", "--from", self.connection, settings=self.settings)
        self.assertEqual(done.returncode, 2)
        done = run_program("tavola", "import", "Here", "file", "--source-table", "x", settings=self.settings)
        self.assertEqual(done.returncode, 2)

    def test_a_source_that_goes_away_for_a_moment(self):
        """The source ends in the middle and comes back; the copy waits for it."""
        self.fill()
        running = self.begin("Here")
        wait_for("the first entities", lambda: os.path.exists(os.path.join(self.folder.name, "Here.tavola-import")))
        listen = f"127.0.0.1:{self.connection.split(':')[2].split('/')[0]}"
        self.source.server.kill()
        self.source.start_server(TAVOLA_HTTP_LISTEN=listen)
        said = running.communicate()[1]
        self.assertEqual(running.returncode, 0, said)
        self.assertEqual(self.count("Here"), MANY + 1)


@unittest.skipUnless(os.environ.get("AZURITE"), "Azurite is not there")
class FromEmulator(ImportCase):
    def setUp(self):
        super().setUp()
        port = free_port()
        self.connection = connection_string(port)
        command = [os.path.join(os.environ["AZURITE"], "node_modules/.bin/azurite-table"), "--silent", "--disableTelemetry", "--skipApiVersionCheck",
                   "--location", self.folder.name + "/azurite", "--tableHost", "127.0.0.1", "--tablePort", str(port)]
        os.mkdir(self.folder.name + "/azurite")
        self.target.start("azurite", command)
        wait_for("Azurite", lambda: self.target.accepts(f"127.0.0.1:{port}") and self.answers(port), 60)
        self.door = Door(port, DEVELOPMENT_KEY, account=DEVELOPMENT_ACCOUNT)
        self.put_strange(self.door)

    @staticmethod
    def answers(port):
        try:
            Door(port).send("GET", "/Tables")
            return True
        except OSError:
            return False

    def fill(self, count):
        for first in range(0, count, 100):
            url = f"http://127.0.0.1:{self.door.port}/{DEVELOPMENT_ACCOUNT}/Moved"
            content = change_set(*(
                request("POST", url, {"PartitionKey": f"p{n // 700}", "RowKey": f"{n:06}", "N": n}, Prefer="return-no-content",
                        Accept="application/json;odata=nometadata") for n in range(first, min(first + 100, count))))
            reply = self.door.send("POST", "/$batch", content, Content_Type=BATCH_TYPE)
            self.assertEqual((reply.status, reply.text.count("HTTP/1.1 204")), (202, content.count("POST")), reply.text)

    def test_a_table_comes_from_the_emulator_and_goes_on_after_an_interruption(self):
        self.fill(2300)
        state = os.path.join(self.folder.name, "Here.tavola-import")
        running = self.begin("Here")
        wait_for("a checkpoint behind a page", lambda: running.poll() is not None or is_behind_a_page(state))
        running.send_signal(signal.SIGINT)
        said = running.communicate()[1]
        self.assertIn(running.returncode, (0, INTERRUPTED), said)
        if running.returncode == INTERRUPTED:
            self.assertIn("going on behind", self.run_import("Here"))
        self.assertEqual(self.count("Here"), 2301)
        self.check_strange("Here")


if __name__ == "__main__":
    unittest.main()
