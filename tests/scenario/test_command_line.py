# SPDX-License-Identifier: Apache-2.0
"""The command line in people's hands: files in and out of tables, and use that goes wrong. Help and completion: test_command_words."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import unittest

from tavola_test import blobs
from tavola_test.case import ServerCase
from tavola_test.client import ApiError, entity
from tavola_test.credentials import token
from tavola_test.processes import command_names, program, program_environment, run_program
from tavola_test.security_case import SecurityCase
from tavola_test.waiting import wait_for

MANY = 30000
PARTLY, INTERRUPTED = 3, 130


def people(count):
    return "".join(json.dumps({"PartitionKey": f"p{n % 10}", "RowKey": f"{n:06}", "Name": f"Person {n}", "Age": n % 100}) + "\n"
                   for n in range(count))


class FilesCase(ServerCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.settings = {"TAVOLA_TARGET": self.stack.target}

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_command(self, *words, code=0, text=""):
        done = run_program("tavola", *words, settings=self.settings, text=text, seconds=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def begin(self, *words):
        return subprocess.Popen([program("tavola"), *words], env=program_environment(self.settings), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def count(self, table):
        return self.client.count_entities(query={"table": table}).count

    def rows(self, name):
        """The entities of a file of JSON lines, by key, without what the service adds."""
        read = [json.loads(line) for line in self.text(name).splitlines()]
        rows = {(one["PartitionKey"], one["RowKey"]): {name: value for name, value in one.items() if name not in ("Timestamp", "odata.etag")}
                for one in read}
        self.assertEqual(len(rows), len(read))
        return rows

    def imported(self, name):
        """The number of entities that the checkpoint of an import has."""
        try:
            return int(self.text(name + ".tavola-import").split()[4])
        except FileNotFoundError:
            return 0


class Files(FilesCase):
    @classmethod
    def setUpClass(cls):
        """A table that tests export and do not change."""
        super().setUpClass()
        cls.many = "Many"
        cls.client.create_table(name=cls.many)
        done = run_program("tavola", "import", cls.many, "-", settings={"TAVOLA_TARGET": cls.stack.target}, text=people(MANY))
        assert done.returncode == 0, done.stderr

    def test_what_is_imported_is_what_is_exported(self):
        first, second = self.new_table(), self.new_table()
        given = '{"PartitionKey": "p", "RowKey": "é, \\"1\\"", "Big@odata.type": "Edm.Int64", "Big": "9007199254740993", "Empty": ""}\n' \
                '{"PartitionKey": "p", "RowKey": "2", "Share": 0.5, "Born@odata.type": "Edm.DateTime", "Born": "1815-12-10T00:00:00Z", ' \
                '"Note": "two\\nlines"}\n'
        self.run_command("import", first, self.path("in.jsonl", given))
        self.run_command("export", first, "--output", self.path("out.csv"))
        self.assertEqual(self.text("out.csv").splitlines()[0].split(",")[:2], ["PartitionKey", "RowKey"])
        self.run_command("import", second, self.path("out.csv"))
        self.run_command("export", second, "--output", self.path("out.jsonl"))
        self.assertEqual(self.rows("out.jsonl"), self.rows("in.jsonl"))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["in.jsonl", "out.csv", "out.jsonl"])

    def test_the_time_at_which_an_entity_expires_is_in_every_file(self):
        when = "2999-12-31T00:00:00.5Z"
        for name in ("out.csv", "out.jsonl"):
            with self.subTest(name):
                first, second = self.new_table(), self.new_table()
                self.run_command("entity", "put", first, "p", "1", "A=x", f"tavola.expires={when}")
                self.run_command("entity", "put", first, "p", "2", "A=y")
                self.run_command("export", first, "--output", self.path(name))
                self.run_command("import", second, self.path(name))
                found = {one.row_key: one.HasField("expires") and one.expires.ToJsonString() for one in self.client.query(second)}
                self.assertEqual(found, {"1": "2999-12-31T00:00:00.500Z", "2": False})
        self.assertEqual(json.loads(self.run_command("entity", "get", second, "p", "1").stdout)["tavola.expires"], when)
        self.assertIn("tavola.expires", self.run_command("query", second, "-o", "table").stdout)

    def test_a_wrong_time_at_which_an_entity_expires_is_rejected(self):
        table = self.new_table()
        given = "PartitionKey,RowKey,tavola.expires\np,1,soon\np,2,\n"
        said = self.run_command("import", table, self.path("in.csv", given), code=PARTLY).stderr
        self.assertIn("line 2: INVALID_INPUT: tavola.expires: the value is not a time such as 2026-01-31T12:00:00Z", said)
        self.assertEqual(self.count(table), 1)
        said = self.run_command("entity", "put", table, "p", "3", "tavola.expires:int32=5", code=2).stderr
        self.assertIn('tavola.expires: its type is DateTime, not "int32"', said)

    def test_rejected_lines_go_to_a_file(self):
        table = self.new_table()
        given = "PartitionKey,RowKey,Age:int32\na,1,5\na,2,x\na/b,3,1\nb,4\na,5,\na,6,\"7\n"
        done = self.run_command("import", table, self.path("in.csv", given), code=PARTLY)
        self.assertEqual(self.text("in.csv.rejected"), "PartitionKey,RowKey,Age:int32\na,2,x\na/b,3,1\nb,4\na,6,\"7\n")
        self.assertIn("line 3: INVALID_INPUT: Age: the value is not a valid Edm.Int32", done.stderr)
        self.assertIn("line 5: the line has 2 cells, the first line 3", done.stderr)
        self.assertIn("line 7: the line has a quote that is not closed", done.stderr)
        self.assertIn("2 imported, 4 rejected", done.stderr)
        self.assertEqual(self.count(table), 2)
        self.run_command("import", table, "-", text='{"PartitionKey": "p"\n{"PartitionKey": "p", "RowKey": "1"}\n', code=PARTLY)
        self.assertEqual(self.count(table), 3)

    def interrupt_import(self, path, sent):
        """(table, exit code, what it said) of an import that gets the signal behind a checkpoint. One that has come to its
        end first is begun anew, into another table.
        """
        def cut():
            table = self.new_table()
            running = self.begin("import", table, path)
            wait_for("a checkpoint, or the end", lambda: self.imported(path) > 0 or running.poll() is not None)
            running.send_signal(sent)
            _, said = running.communicate()
            return self.imported(path) > 0 and self.count(table) < MANY and (table, running.returncode, said)

        return wait_for("an import that is cut", cut)

    def kill_export(self, table):
        """Kill an export behind a checkpoint. One that has come to its end first is begun anew."""
        checkpoint = self.path("out.jsonl.tavola-export")

        def is_cut():
            running = self.begin("export", table, "--output", self.path("out.jsonl"))
            wait_for("a checkpoint, or the end", lambda: os.path.exists(checkpoint) or running.poll() is not None)
            running.kill()
            running.communicate()
            return os.path.exists(checkpoint)

        wait_for("an export that is cut", is_cut)

    def test_an_interrupted_import_goes_on_without_loss(self):
        """Killed at once, and stopped by Ctrl-C: the rejected line is told once."""
        wrong = "no entity\n"
        for number, sent in enumerate((signal.SIGKILL, signal.SIGINT)):
            with self.subTest(sent):
                name = f"in{number}.jsonl"
                path = self.path(name, wrong + people(MANY))
                table, code, said = self.interrupt_import(path, sent)
                self.assertEqual(code, -9 if sent == signal.SIGKILL else INTERRUPTED, said)
                if sent == signal.SIGINT:
                    self.assertIn("the same command goes on behind line", said)
                again = self.run_command("import", table, path, code=PARTLY)
                self.assertIn("going on behind line", again.stderr)
                self.assertIn(f"{MANY} imported, 1 rejected", again.stderr)
                self.assertEqual(self.count(table), MANY)
                self.assertEqual(self.text(name + ".rejected"), wrong)
                self.assertFalse(os.path.exists(path + ".tavola-import"))

    def test_an_interrupted_export_goes_on_without_loss_or_doubles(self):
        self.path("in.jsonl", people(MANY))
        self.kill_export(self.many)
        with open(self.path("out.jsonl"), "a", encoding="utf-8") as file:
            file.write("half a li")
        self.run_command("export", self.many, "--output", self.path("out.jsonl"))
        self.assertEqual(self.rows("out.jsonl"), self.rows("in.jsonl"))

    def test_an_export_with_another_filter_does_not_go_on(self):
        self.kill_export(self.many)
        words = ("export", self.many, "--output", self.path("out.jsonl"), "--filter", "PartitionKey eq 'p1'")
        said = self.run_command(*words, code=1).stderr
        self.assertIn("the interrupted run had another filter", said)
        self.assertNotIn("the same command", said)
        self.run_command(*words, "--restart")
        self.assertEqual(len(self.rows("out.jsonl")), MANY // 10)

    def test_a_full_disk_is_said(self):
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("p", "r"))
        feed = self.new_name()
        self.client.create_table(name=feed, change_feed=True)
        with open("/dev/full", "w", encoding="utf-8") as full:
            for words in (["export", table], ["entity", "query", table], ["--help"], ["query", "--help"], ["watch", feed, "--tokens"]):
                done = subprocess.run([program("tavola"), *words], env=program_environment(self.settings), stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr.count("No space left on device")), (1, 1), done.stderr)
        done = self.run_command("export", table, "--output", "/dev/full", code=1)
        self.assertIn("/dev/full: No space left on device", done.stderr)

    def test_a_closed_pipe_ends_the_command(self):
        table = self.new_table()
        self.run_command("import", table, self.path("in.jsonl", people(5000)))
        running = self.begin("export", table)
        self.assertTrue(running.stdout.readline())
        running.stdout.close()
        self.assertEqual(running.wait(timeout=60), -signal.SIGPIPE)
        self.assertEqual(running.stderr.read(), "")
        running.stderr.close()

    def test_a_watch_ends_when_its_reader_does(self):
        """No change comes, and a bookmark is not printed: nothing is written, and the command ends all the same."""
        table = self.new_name()
        self.client.create_table(name=table, change_feed=True)
        for words in (["watch", table], ["api", "WatchEntities", json.dumps({"table": table})]):
            with self.subTest(words):
                running = self.begin(*words)
                self.read_all_changes(running, table)
                running.stdout.close()
                self.assertEqual(running.wait(timeout=60), -signal.SIGPIPE)
                self.assertEqual(running.stderr.read(), "")
                running.stderr.close()

    def read_all_changes(self, running, table):
        """Write until the watch prints the last change: then it has begun, and has nothing left to print."""
        rows, text = [], b""

        def prints_the_last():
            nonlocal text
            rows.append(f"row {len(rows)} of {table}")
            self.client.insert_or_replace_entity(table=table, entity=entity("p", rows[-1]))
            while select.select([running.stdout], [], [], 0.2)[0]:
                text += os.read(running.stdout.fileno(), 65536)
                self.assertIsNone(running.poll())
            return rows[-1].encode() in text

        wait_for("the last change", prints_the_last)

    def test_wrong_words(self):
        self.assertIn('there is no option "--csw"; did you mean "--csv"?', self.run_command("import", "t", "f", "--csw", code=2).stderr)
        self.assertIn("--output needs a value", self.run_command("export", "t", "--output", code=2).stderr)
        self.assertIn("usage: tavola import TABLE [FILE]", self.run_command("import", "t", code=2).stderr)
        self.assertIn("/none: No such file", self.run_command("import", "t", "/none", code=1).stderr)
        wrong = self.run_command("import", "nosuch", self.path("in.jsonl", people(1)), code=1).stderr
        self.assertIn("NOT_FOUND / TABLE_NOT_FOUND", wrong)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["in.jsonl"])

    def test_progress_is_shown_on_a_terminal_of_40_columns(self):
        table = self.new_table()
        leader, follower = pty.openpty()
        done = subprocess.run([program("tavola"), "import", table, self.path("in.jsonl", people(MANY))],
                              env=program_environment(self.settings), stderr=follower, check=False)
        os.close(follower)
        shown = os.read(leader, 100000).decode()
        os.close(leader)
        self.assertEqual(done.returncode, 0, shown)
        self.assertRegex(shown, r"\r\d+, \d+/s, \d+ %, \d+ s left")
        for line in shown.split("imported")[0].split("\r"):
            self.assertLess(len(line.rstrip("\n")), 40)


class Blobs(FilesCase):
    def put_begun(self, name, upload, data):
        """Begin an upload whose stream breaks after `data` has been stored."""
        def is_stored():
            try:
                return self.client.get_upload(upload_id=upload).stored == len(data)
            except ApiError: # the server has not read the header yet
                return False

        def parts():
            yield data
            wait_for("the stored bytes", is_stored)
            raise RuntimeError("the client breaks")

        with self.assertRaises(ApiError):
            blobs.put(self.client, name, parts(), upload_id=upload)

    def test_a_file_comes_back_as_it_was(self):
        text = "line\n" * 200000
        self.path("in", text)
        printed = self.run_command("blob", "put", "c/file", self.path("in"), "--type", "text/plain").stdout.split()
        self.assertEqual(printed[:2], [blobs.sha256(text.encode()).hex(), str(len(text))])
        self.run_command("blob", "get", "c/file", self.path("out"))
        self.assertEqual(self.text("out"), text)
        self.assertEqual(self.run_command("blob", "get", "c/file", "--offset", "5", "--length", "4").stdout, "line")
        self.assertEqual(json.loads(self.run_command("blob", "stat", "c/file").stdout)["contentType"], "text/plain")
        self.assertIn("c/file", self.run_command("blobs", "list", "c/").stdout)
        self.run_command("blob", "put", "c/file", "-", "--if-match", printed[2], text="from a pipe")
        self.assertEqual(self.run_command("blob", "get", "c/file").stdout, "from a pipe")
        self.assertIn("UPDATE_CONDITION_NOT_SATISFIED",
                      self.run_command("blob", "delete", "c/file", "--if-match", printed[2], code=1).stderr)
        self.run_command("blob", "delete", "c/file")
        self.assertIn("BLOB_NOT_FOUND", self.run_command("blob", "get", "c/file", self.path("none"), code=1).stderr)
        self.assertFalse(os.path.exists(self.path("none")) or os.path.exists(self.path("none.tavola-part")))

    def test_a_put_that_was_broken_off_goes_on(self):
        data = blobs.content(3 * blobs.CHUNK + 5)
        with open(self.path("in"), "wb") as file:
            file.write(data)
        self.put_begun("c/resumed", "cli", data[:2 * blobs.CHUNK])
        done = self.run_command("blob", "put", "c/resumed", self.path("in"), "--upload", "cli")
        self.assertIn(f"going on behind {2 * blobs.CHUNK} bytes", done.stderr)
        self.assertEqual(blobs.get(self.client, "c/resumed")[1], data)
        again = self.run_command("blob", "put", "c/resumed", self.path("in"), "--upload", "cli")
        self.assertEqual(again.stdout, done.stdout)

    def test_what_cannot_be_read_or_written_is_said(self):
        self.assertIn("No such file", self.run_command("blob", "put", "c/x", self.path("missing"), code=1).stderr)
        self.assertIn("standard input", self.run_command("blob", "put", "c/x", "-", "--upload", "u", code=2).stderr)
        self.run_command("blob", "put", "c/full", "-", text="x" * 100000)
        self.assertIn("No such file", self.run_command("blob", "get", "c/full", self.path("no/folder"), code=1).stderr)
        self.path("large", "y" * 10000000)
        self.assertIn("BLOB_ALREADY_EXISTS", self.run_command("blob", "put", "c/full", self.path("large"), "--if-absent", code=1).stderr)
        self.run_command("blob", "put", "only-a-name", code=2)
        self.run_command("blob", "get", "c/full", "--offset", "-1", code=2)


class NoServer(unittest.TestCase):
    def test_each_command_says_that_there_is_none(self):
        for words in (["export", "t"], ["entity", "get", "t", "p", "r"], ["watch", "t"], ["queue", "list"]):
            with self.subTest(words):
                done = run_program("tavola", *words, settings={"TAVOLA_TARGET": "unix:/nowhere"})
                self.assertEqual(done.returncode, 1)
                self.assertIn("does a server listen there? --target or TAVOLA_TARGET sets the address.", done.stderr)


class Words(unittest.TestCase):
    """What every command does with words that it does not know; no server is there."""

    def run_command(self, *words, code=0):
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": "unix:/nowhere"})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_an_unknown_option_is_named(self):
        for command in command_names():
            with self.subTest(command):
                self.assertIn('there is no option "--nosuch"', self.run_command(*command.split(), "x", "--nosuch", code=2).stderr)

    def test_options_may_stand_anywhere(self):
        for words in (("index", "verify", "--fast", "x"), ("index", "repair", "--dry-run", "x"), ("transaction", "get", "--", "-x")):
            with self.subTest(words):
                self.assertIn("does a server listen there?", self.run_command(*words, code=1).stderr)
        self.assertIn("TAVOLA_POSTGRES is not set", self.run_command("account", "create", "--administrator", "x", code=2).stderr)


class Reading(ServerCase):
    with_worker = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = "Readers"
        cls.client.create_table(name=cls.table)
        for n in range(3):
            cls.client.insert_entity(table=cls.table, entity=entity("sales", str(n), {"Age": 30 + n, "Name": f"Ada, {n}"}))

    def run_command(self, *words, code=0, settings=None):
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target} if settings is None else settings, seconds=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_each_form_has_every_entity(self):
        lines = self.run_command("query", self.table).stdout.splitlines()
        self.assertEqual([json.loads(line)["RowKey"] for line in lines], ["0", "1", "2"])
        listed = json.loads(self.run_command("query", self.table, "-o", "json").stdout)
        self.assertEqual([one["Age"] for one in listed], ["30", "31", "32"])
        self.assertEqual(json.loads(self.run_command("query", self.table, "Age lt 0", "-o", "json").stdout), [])
        csv = self.run_command("query", self.table, "Age le 30", "-o", "csv").stdout
        self.assertEqual(csv, 'PartitionKey,RowKey,Age:int64,Name\nsales,0,30,"Ada, 0"\n')
        table = self.run_command("query", self.table, "--limit", "1", "-o", "table").stdout
        self.assertEqual(table, "PartitionKey  RowKey  Age  Name\nsales         0       30   Ada, 0\n")
        self.assertIn("-o takes jsonl, json, csv or table", self.run_command("query", self.table, "-o", "xml", code=2).stderr)

    def test_a_query_is_explained(self):
        said = self.run_command("query", self.table, "PartitionKey eq 'sales' and Age ge 31", "--explain").stdout
        self.assertRegex(said, r"^access path  PARTITION_SCAN\n.+ within the partition")
        self.assertRegex(self.run_command("query", self.table, "PartitionKey eq 'p' and RowKey eq 'r'", "--explain").stdout,
                         r"^access path  POINT\nexamines     1 rows at most\n")

    def test_an_explanation_names_commands_and_doubtful_literals(self):
        said = self.run_command("query", self.table, "Name eq 'Ada' and Age ge '40'", "--explain").stdout
        self.assertIn(f"(tavola index create NAME {self.table} Name)", said)
        self.assertIn("(tavola lookup NAME VALUE)", said)
        self.assertRegex(said, "(?m)^Age ge '40': the literal is text; a number is written without quotes. .* counts as less than it$")
        self.assertNotRegex(said, "CreateIndex|LookupIndex")
        self.assertIn("tavola export streams it", self.run_command("query", self.table, "--explain").stdout)

    def test_what_finds_nothing_says_so(self):
        done = self.run_command("query", self.table, "Age lt 0")
        self.assertEqual((done.stdout, done.stderr), ("", "tavola: nothing was found\n"))

    def test_what_finds_nothing_says_which_literal_is_doubtful(self):
        said = self.run_command("query", self.table, "Age eq '31'").stderr
        self.assertRegex(said, r"^tavola: nothing was found\ntavola: Age eq '31': the literal is text; a number is written without quotes\. .*\n$")
        said = self.run_command("query", self.table, "PartitionKey gt 'b' and PartitionKey lt 'a'").stderr
        self.assertIn("tavola: the filter contradicts itself", said)
        self.assertNotIn("literal", self.run_command("query", self.table, "Age ge '31' or Age ge 30").stderr)

    def test_a_look_up_of_another_type_says_which_type_is_there(self):
        self.run_command("index", "create", "ReadersByBoth", self.table, "Name", "Age")
        for words, said in ((("Ada, 1", "31"), "31 finds nothing, but int32=31 does"),
                            (("Ada, 1", "double=31.5"), ""), (("none", "31"), ""),
                            (("Ada, 1", "boolean=true"), "")):
            with self.subTest(words):
                done = self.run_command("lookup", "ReadersByBoth", *words)
                expected = f"tavola: {said}: a value is text unless its type stands in front\n" if said else ""
                self.assertEqual((done.stdout, done.stderr), ("", f"tavola: nothing was found\n{expected}"))
        self.run_command("index", "drop", "ReadersByBoth")

    def test_a_look_up_of_a_number_says_that_text_is_there(self):
        table = self.new_table()
        self.client.insert_entity(table=table, entity=entity("p", "r", {"Code": "7"}))
        self.run_command("index", "create", "CodesByText", table, "Code")
        self.assertIn("int64=7 finds nothing, but string=7 does", self.run_command("lookup", "CodesByText", "int64=7").stderr)
        self.run_command("index", "drop", "CodesByText")

    def test_a_look_up_without_a_value_prints_the_index_in_its_order(self):
        self.run_command("index", "create", "ReadersInOrder", self.table, "Age")
        found = [json.loads(line)["RowKey"] for line in self.run_command("lookup", "ReadersInOrder").stdout.splitlines()]
        last = self.run_command("lookup", "ReadersInOrder", "--descending", "--limit", "1").stdout
        self.assertEqual((found, json.loads(last)["RowKey"]), (["0", "1", "2"], "2"))
        self.run_command("index", "drop", "ReadersInOrder")

    def test_counts_and_look_ups(self):
        self.assertEqual(self.run_command("count", self.table, "Age ge 31").stdout, "2\n")
        self.run_command("index", "create", "ReadersByAge", self.table, "Age")
        found = self.run_command("lookup", "ReadersByAge", "int32=31", "--latest").stdout.splitlines()
        self.assertEqual([json.loads(line)["RowKey"] for line in found], ["1"])
        self.assertIn("the value is not a valid Edm.Int32", self.run_command("lookup", "ReadersByAge", "int32=x", code=2).stderr)
        self.assertIn("tavola query reads a table", self.run_command("lookup", self.table, "x", code=1).stderr)
        self.run_command("index", "drop", "ReadersByAge")

    def test_a_profile_names_a_server(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "tavola"))
            with open(os.path.join(folder, "tavola", "config"), "w", encoding="utf-8") as file:
                file.write(f"# mine\n[default]\ntarget = unix:/nowhere\n\n[here]\n target = {self.stack.target}\n[wrong]\nport = 1\n")
            settings = {"XDG_CONFIG_HOME": folder}
            self.run_command("count", self.table, settings=settings, code=1)
            self.assertEqual(self.run_command("--profile", "here", "count", self.table, settings=settings).stdout, "3\n")
            self.assertEqual(self.run_command("count", self.table, settings={**settings, "TAVOLA_TARGET": self.stack.target}).stdout, "3\n")
            self.assertIn("has no profile [none]", self.run_command("--profile", "none", "count", "t", settings=settings, code=2).stderr)
            self.assertIn("line 8: allowed are target", self.run_command("--profile", "wrong", "count", "t", settings=settings, code=2).stderr)


class Together(ServerCase):
    """Batches, transactions, and lists in each form."""
    with_worker = True

    def run_command(self, *words, code=0, text=""):
        done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target}, text=text, seconds=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def keys(self, table):
        return [row.row_key for row in self.client.query_entities(query={"table": table}).entities]

    def lines(self, *operations):
        return "".join(json.dumps(one) + "\n" for one in operations)

    def test_a_batch_is_written_as_a_whole_or_not_at_all(self):
        table = self.new_table()
        key = lambda row, **more: {"PartitionKey": "p", "RowKey": row, **more}
        etags = self.run_command("batch", table, "-", text=self.lines({"insert": key("1", A="{[\"\\")}, {"put": key("2")})).splitlines()
        self.assertEqual((len(etags), self.keys(table)), (2, ["1", "2"]))
        self.assertEqual(json.loads(self.run_command("entity", "get", table, "p", "1"))["A"], "{[\"\\")
        wrong = self.lines({"delete": key("1")}, {}, {"insert": key("2")}).replace("{}", "")
        said = self.run_command("batch", table, text=wrong, code=1)
        self.assertIn("ENTITY_ALREADY_EXISTS", said)
        self.assertIn("line 3 was refused; nothing was written", said)
        self.assertEqual(self.keys(table), ["1", "2"])
        self.run_command("batch", table, text=self.lines({"delete": key("1"), "ifMatch": etags[0]}, {"merge": key("2", B=1)}))
        self.assertEqual(self.keys(table), ["2"])
        self.assertIn("ABORTED", self.run_command("batch", table, text=self.lines({"replace": key("2"), "ifMatch": etags[0]}), code=1))

    def test_wrong_lines_are_told_before_anything_is_sent(self):
        for line, said in (("x", "line 1: the line is not a JSON object"), ('{"insert": {"PartitionKey": "p"', "not a JSON object"),
                           ('{"upsert": {}}', 'no member "upsert"'), ('{"ifMatch": "x"}', "the line has no action"),
                           ('{"insert": {"PartitionKey": "p"}}', "insert: "), ('{"insert": 1}', "insert: "), ("", "there is no line"),
                           ('{"delete": {"PartitionKey": "p", "RowKey": "r"}, "put": {"PartitionKey": "p", "RowKey": "r"}}', "two actions"),
                           ('{"delete": {"PartitionKey": "p", "RowKey": "r"}, "to": {"PartitionKey": "p", "RowKey": "r"}}', 'a move has a member "to"'),
                           ('{"delete": {"PartitionKey": "p", "RowKey": "r"}, "table": "other"}', "a batch writes to one table")):
            with self.subTest(line):
                self.assertIn(said, self.run_command("batch", "t", text=line + "\n" if line else "", code=2))
        self.assertIn("/none: No such file", self.run_command("batch", "t", "/none", code=2))

    def test_a_transaction_is_submitted_and_waited_for(self):
        here, there = self.new_table(), self.new_table()
        key = {"PartitionKey": "p", "RowKey": "1"}
        shown = self.run_command("tx", "submit", "--table", here, "--id", "by-words", "--wait", text=self.lines(
            {"put": {**key, "A": 1}}, {"move": key, "to": {"PartitionKey": "q", "RowKey": "1"}, "toTable": there}))
        self.assertRegex(shown, r"^by-words +DONE +steps done: 2\n")
        self.assertEqual((self.keys(here), self.keys(there)), ([], ["1"]))
        self.assertNotRegex(shown, r"(?m) $")
        self.assertRegex(shown, r'(?m)^  step 0 attempt 1 by \S+: none -> W/"\S+"$')
        self.assertRegex(self.run_command("tx", "wait", "by-words"), "DONE")
        listed = json.loads(self.run_command("transactions", "list", "--state", "DONE", "-o", "json"))
        self.assertIn("by-words", [one["transactionId"] for one in listed])
        self.assertNotIn("by-words", self.run_command("tx", "list", "--state", "DEAD"))
        late = self.lines({"put": key, "ifMatch": 'W/"none"'})
        self.assertNotEqual(self.run_command("tx", "submit", "--table", there, "--wait", text=late, code=1), "DONE")
        self.assertIn('names no "table"', self.run_command("tx", "submit", text=self.lines({"put": key}), code=2))
        self.assertIn("steps are", self.run_command("tx", "submit", "--table", here, text=self.lines({"insert": key}), code=2))

    def test_a_unique_index_of_a_table_with_duplicates_says_so(self):
        table, unique, later = self.new_table(), self.new_name("i"), self.new_name("i")
        for row, mail in enumerate(("ada@", "ada@", "bob@", "ada@")):
            self.run_command("entity", "put", table, "p", str(row), f"Mail={mail}")
        said = self.run_command("index", "create", unique, table, "Mail", "--unique", code=3)
        self.assertEqual(said.splitlines()[:2], [f"tavola index create: {unique} is built, but 2 of the entities of {table} have no entry:",
                                                 "  another entity has the same value in the unique index: Mail"])
        self.assertIn(f"tavola dead-letter list {table} names them", said)
        listed = self.run_command("dead-letter", "list", table)
        self.assertEqual(re.findall(r"\((p, \d)\)", listed), ["p, 1", "p, 3"])
        self.assertRegex(self.run_command("index", "show", unique), r"(?m)^violations +2$")
        self.run_command("entity", "put", table, "p", "3", "Mail=own@")
        self.assertEqual(json.loads(self.run_command("lookup", unique, "own@", "--latest"))["RowKey"], "3")
        self.run_command("index", "create", later, table, "Mail", "--unique", "--no-wait")

    def test_a_copy_rule_is_declared_and_shown(self):
        managers, departments, rule = self.new_table(), self.new_table(), self.new_name("byManager")
        declared = ["index", "create", rule, departments, "--copy-from", managers, "--named-by", "=sales,Manager"]
        self.run_command(*declared, "--copy", "ManagerName=Name,Phone", "--version-to", "ManagerVersion", "--keep")
        self.assertRegex(self.run_command("index", "list", departments), f"\n{rule} .* READY .*\n +copies of {managers}\n")
        shown = self.run_command("index", "show", rule)
        for line in (f"consistency +STRONG", f"copies from +{managers}", "named by +'sales', Manager", "copies +ManagerName=Name", " +Phone=Phone",
                     "keep +true", "version to +ManagerVersion", "partition key +Manager"):
            self.assertRegex(shown, f"(?m)^{line}$")
        self.assertIn("RULE", self.run_command("table", "delete", managers, code=1))
        self.assertIn("--copy NAME=PROPERTY,...", self.run_command(*declared, code=2))
        self.assertIn("leave PROPERTY out", self.run_command(*declared, "Manager", "--copy", "Phone", code=2))
        self.assertIn("with --copy-from", self.run_command("index", "create", rule, departments, code=2))
        self.assertIn("--copy-from TABLE", self.run_command("index", "create", rule, departments, "Manager", "--keep", code=2))
        self.run_command("index", "drop", rule)

    def test_lists_in_each_form(self):
        table, index = self.new_table(), self.new_name("byAge")
        self.run_command("index", "create", index, table, "Age")
        self.assertRegex(self.run_command("index", "list", table), rf"^index +table +state +open +lag .*\n{index} +{table} +READY ")
        self.assertEqual([one["index"]["name"] for one in json.loads(self.run_command("index", "list", table, "-o", "json"))], [index])
        header, row = self.run_command("indexes", "list", table, "-o", "csv").splitlines()
        self.assertEqual(dict(zip(header.split(","), row.split(",")))["open_intents"], "0")
        shown = self.run_command("index", "show", index)
        self.assertRegex(shown, r"(?m)^partition key +Age$")
        self.assertRegex(shown, r"(?m)^state +READY$")
        self.assertIn("INDEX_NOT_FOUND", self.run_command("index", "show", "none", code=1))
        queues = [json.loads(line) for line in self.run_command("queue", "list", "-o", "jsonl").splitlines()]
        self.assertEqual([one["name"] for one in queues], ["q0", "q1", "q2", "q3"])
        self.assertEqual(self.run_command("dead-letter", "list", "none", "-o", "json"), "[]\n")
        self.assertEqual(self.run_command("dead-letters", "list", "none", "-o", "csv"), "dead_letter_id,account,queue,work,failures,cause\n")
        self.assertIn(table, [json.loads(line)["name"] for line in self.run_command("table", "list", "-o", "jsonl").splitlines()])
        self.assertIn("-o takes", self.run_command("queue", "list", "-o", "xml", code=2))


class ExpiredToken(SecurityCase):
    def test_it_is_said_with_an_exit_code(self):
        keys = self.new_account("expired")
        old = token(keys[0], account="expired", issued=-120, expiry=-60)
        done = run_program("tavola", "count", "people", settings={"TAVOLA_TARGET": self.stack.target, "TAVOLA_TOKEN": old})
        self.assertEqual(done.returncode, 1)
        self.assertIn("tavola: UNAUTHENTICATED / AUTHENTICATION_FAILED: ", done.stderr)
        self.assertRegex(done.stderr, r"the token has expired at 20\d\d-.*Z; tavola token create makes one")
