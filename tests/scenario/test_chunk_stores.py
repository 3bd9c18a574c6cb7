# SPDX-License-Identifier: Apache-2.0
"""Chunks of blobs in a directory: what is stored where, a directory that goes away, and what broken puts leave."""

import hashlib
import os
import threading
import unittest

from tavola_test import audit, blobs, chunk_stores, log_lines
from tavola_test.blobs import COLLECT_AT_ONCE, CHUNK, content, get, put
from tavola_test.case import ServerCase
from tavola_test.chunk_stores import Directory
from tavola_test.client import ApiError
from tavola_test.processes import run_program
from tavola_test.stack import BAD_SETTING, Stack
from tavola_test.waiting import wait_for


class InADirectory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        cls.stack.chunk_store = Directory(cls.stack.folder)
        cls.folder = cls.stack.chunk_store.folder
        cls.stack.start_server()
        cls.stack.start_worker(TAVOLA_SWEEP_INTERVAL_SECONDS="1")
        cls.client = cls.stack.connect()
        cls.addClassCleanup(cls.client.channel.close)

    refused = ServerCase.refused

    def end_waits(self):
        self.stack.sql(COLLECT_AT_ONCE)
        self.stack.sql("update blob_strays set due = now()")

    def test_files_have_the_bytes_under_their_digests_and_no_row_has(self):
        data = content(2 * CHUNK + 5, 1)
        put(self.client, "files", data[:1 << 20])
        self.assertEqual(self.stack.sql("select count(*) from blob_chunks where bytes is not null"), "0")
        for name in self.stack.chunk_store.names():
            with open(os.path.join(self.folder, name), "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), os.path.basename(name).split("-")[0])
        self.assertEqual(get(self.client, "files")[1], data[:1 << 20])
        self.assertEqual(os.stat(self.folder + "/default").st_mode & 0o777, 0o700)

    def test_a_server_that_starts_again_has_all(self):
        data = content(CHUNK + 5, 2)
        put(self.client, "kept", data)
        self.stack.server.kill()
        self.stack.start_server()
        with self.stack.connect() as caller:
            self.assertEqual(get(caller, "kept")[1], data)

    def test_without_its_directory_the_server_refuses_and_goes_on_afterwards(self):
        data = content(3 * CHUNK + 5, 3)
        put(self.client, "before", data)
        requests = list(blobs.messages("away", data[:2 * CHUNK], upload_id="away"))
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", list, self.client.put_blob(requests[:-1]))
        os.rename(self.folder, self.folder + ".away")
        rest = {"upload_id": "away", "offset": 2 * CHUNK}
        error = self.refused("UNAVAILABLE", "BLOB_STORE_UNAVAILABLE", put, self.client, "away", data[2 * CHUNK:], **rest)
        self.assertNotIn(self.folder, error.message)
        self.refused("UNAVAILABLE", "BLOB_STORE_UNAVAILABLE", get, self.client, "before")
        self.assertEqual(self.client.stat_blob(name="before").blob.size, len(data))
        self.assertFalse(os.path.exists(self.folder))
        os.rename(self.folder + ".away", self.folder)
        self.assertEqual(self.client.get_upload(upload_id="away").stored, 2 * CHUNK)
        put(self.client, "away", data[2 * CHUNK:], **rest)
        self.assertEqual(get(self.client, "away")[1], data)
        self.assertEqual(get(self.client, "before")[1], data)

    def test_what_is_replaced_deleted_or_broken_leaves_no_file(self):
        for number in range(3):
            put(self.client, "gone", content(CHUNK + 5, 10 + number))
        cut = list(blobs.messages("cut", content(CHUNK + 5, 20)))[:-1]
        with self.assertRaises(ApiError):
            list(self.client.put_blob(cut))
        self.client.delete_blob(name="gone")

        def is_clean():
            self.end_waits()
            return not audit.counts(self.stack)

        wait_for("the files to go", is_clean, 30)

    def unnamed(self):
        return chunk_stores.differences(self.stack).get("objects that no row names", 0)

    def test_the_part_of_a_file_that_a_killed_process_has_left_goes_with_its_stray(self):
        part = f"default/ab/{'ab' * 32}-{'09' * 16}{chunk_stores.PART}"
        path = os.path.join(self.folder, part)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"x")
        self.assertEqual(self.unnamed(), 1)

        self.stack.sql("insert into blob_strays (object_id, account, digest, store, due) values"
                       f" ('{'09' * 16}', 'default', '\\x{'ab' * 32}', 1, now() + interval '15 minutes')")
        self.assertEqual(self.unnamed(), 0)
        self.end_waits()
        wait_for("the part to go", lambda: part not in self.stack.chunk_store.names(), 30)

    def test_a_removal_that_fails_is_logged_and_tried_again(self):
        put(self.client, "stuck", content(CHUNK, 30))
        self.client.delete_blob(name="stuck")
        os.rename(self.folder, self.folder + ".away")

        def is_tried():
            self.stack.sql(COLLECT_AT_ONCE)
            return log_lines.of(self.stack.worker.output(), "remove_strays")

        wait_for("an attempt", is_tried, 30)
        os.rename(self.folder + ".away", self.folder)
        wait_for("the removal", lambda: self.end_waits() or self.stack.sql("select count(*) from blob_strays") == "0", 30)

    def test_the_doctor_tries_the_directory_out(self):
        said = run_program("tavola", "doctor", "--all", settings=self.stack.settings({})).stdout
        self.assertIn("TAVOLA_BLOB_DIRECTORY", said)
        self.assertNotIn("cannot", "".join(line for line in said.split("\n") if "BLOB" in line))
        wrong = self.stack.settings({"TAVOLA_BLOB_DIRECTORY": self.folder + ".none"})
        said = run_program("tavola", "doctor", settings=wrong).stdout
        self.assertIn("TAVOLA_BLOB_DIRECTORY", said)
        self.assertIn("cannot", said)


class Moves(unittest.TestCase):
    STORES = "select store, count(*) from blob_chunks group by 1 order by 1"

    def move(self, store, *more):
        return run_program("tavola", "blob", "move-chunks", store, *more, settings={"TAVOLA_TARGET": self.stack.target})

    def test_chunks_move_out_of_the_database_and_back_beside_puts_and_gets(self):
        with Stack(redis=False) as self.stack:
            data = {f"{number}": content(2 * CHUNK + 5, number) for number in range(5)}
            directory = Directory(self.stack.folder)
            self.stack.start_server()
            with self.stack.connect() as caller:
                for name, bytes_of in data.items():
                    put(caller, name, bytes_of)
                self.assertIn("CHUNK_MOVE_REFUSED", self.move("directory").stderr)
            self.stack.server.kill()
            self.stack.chunk_store = directory
            self.stack.new_target()
            self.stack.start_server()
            self.stack.start_worker(TAVOLA_SWEEP_INTERVAL_SECONDS="1")
            with self.stack.connect() as caller:
                self.beside(caller, data, lambda: self.move("directory", "--wait"))
                self.assertEqual(self.stack.sql(self.STORES), "1|16")
                said = run_program("tavola", "blob", "stores", settings={"TAVOLA_TARGET": self.stack.target}).stdout
                self.assertRegex(said, r"postgresql +no +0 +0 +0 +0\n")
                self.assertRegex(said, rf"directory +yes +16 +{10 * CHUNK + 25 + CHUNK} ")
                self.assertRegex(said, "s3 +not configured +0 ")
            self.stack.server.kill()
            self.stack.new_target()
            self.stack.start_server(TAVOLA_BLOB_STORE="postgresql")
            with self.stack.connect() as caller:
                self.beside(caller, data, lambda: self.move("postgresql", "--wait"))
                self.assertEqual(self.stack.sql(self.STORES), "0|17")
                wait_for("the files to go", lambda: self.end_waits() or not directory.names(), 30)
                for name, bytes_of in data.items():
                    self.assertEqual(get(caller, name)[1], bytes_of)

    def end_waits(self):
        self.stack.sql("update blob_strays set due = now()")

    def beside(self, caller, data, move):
        """Carry out a move beside a put and gets, and look at its outcome."""
        done = []
        mover = threading.Thread(target=lambda: done.append(move()))
        mover.start()
        name = f"beside {len(data)}"
        data[name] = content(CHUNK, 100 + len(data))
        put(caller, name, data[name])
        while mover.is_alive():
            for other, bytes_of in data.items():
                self.assertEqual(get(caller, other)[1], bytes_of)
        mover.join()
        self.assertEqual(done[0].returncode, 0, done[0].stderr)
        self.assertRegex(done[0].stdout, "^move-[0-9a-f]+ DONE, 1[5-7] of 1[5-7] chunks\n$")

    def test_a_move_that_meets_damage_fails_and_says_so(self):
        with Stack(redis=False) as self.stack:
            self.stack.chunk_store = Directory(self.stack.folder)
            self.stack.start_server()
            self.stack.start_worker()
            with self.stack.connect() as caller:
                put(caller, "damaged", content(CHUNK, 1))
                self.stack.chunk_store.change(min(self.stack.chunk_store.names()))
                moved = self.move("postgresql", "--wait")
                self.assertEqual(moved.returncode, 1)
                self.assertIn("FAILED, 0 of 1 chunks", moved.stdout)
                self.assertIn("1 chunks are missing or damaged", moved.stderr)
                self.assertEqual(self.stack.sql(self.STORES), "1|1")
            for wrong in ([], ["disk"], ["s3", "--wait", "more"]):
                self.assertEqual(self.move(*wrong or [""]).returncode, 2)


class Settings(unittest.TestCase):
    def test_a_directory_that_is_not_named_stops_the_start(self):
        with Stack(redis=False) as stack:
            server = stack.start_server(wait=False, TAVOLA_BLOB_STORE="directory")
            wait_for("the end", lambda: not server.is_running())
            self.assertEqual(server.exit_code(), BAD_SETTING)
            self.assertIn("TAVOLA_BLOB_DIRECTORY", server.output())
            server = stack.start_server(wait=False, TAVOLA_BLOB_STORE="directory", TAVOLA_BLOB_DIRECTORY="relative")
            wait_for("the end", lambda: not server.is_running())
            self.assertEqual(server.exit_code(), BAD_SETTING)

    def test_chunks_stay_readable_when_the_setting_changes(self):
        with Stack(redis=False) as stack:
            directory = Directory(stack.folder)
            data = [content(CHUNK + 5, number) for number in range(3)]
            for number, more in enumerate([{}, directory.settings, {"TAVOLA_BLOB_DIRECTORY": directory.folder}]):
                stack.new_target()
                stack.start_server(**more)
                with stack.connect() as caller:
                    put(caller, f"{number}", data[number])
                    for earlier in range(number + 1):
                        self.assertEqual(get(caller, f"{earlier}")[1], data[earlier])
                stack.server.kill()
            self.assertEqual(stack.sql("select store, count(*) from blob_chunks group by 1 order by 1"), "0|4\n1|2")


if __name__ == "__main__":
    unittest.main()
