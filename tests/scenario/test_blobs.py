# SPDX-License-Identifier: Apache-2.0
"""Blobs: puts and gets as streams, ranges, conditions, lists, uploads that go on after a break."""

import base64
import os
import subprocess
import threading
import time
import unittest

from tavola_test import audit, blobs, http_client
from tavola_test.blobs import CHUNK, content, get, put, sha256
from tavola_test.case import ServerCase
from tavola_test.client import ApiError
from tavola_test.processes import program, program_environment
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 12345]


def pieces(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


class PutAndGet(ServerCase):
    def test_every_size_in_messages_of_every_size(self):
        for size in SIZES:
            for message in (1000, CHUNK, CHUNK + 7, 1024 * 1024):
                if size / message > 1000:
                    continue
                with self.subTest(size=size, message=message):
                    data = content(size, message)
                    stored = put(self.client, "sizes/all", pieces(data, message), content_type="a/b")
                    self.assertEqual((stored.size, stored.sha256, stored.content_type), (size, sha256(data), "a/b"))
                    blob, found = get(self.client, "sizes/all")
                    self.assertEqual(found, data)
                    self.assertEqual(blob, stored)
                    self.assertEqual(self.client.stat_blob(name="sizes/all").blob, stored)

    def test_a_range_has_exactly_its_bytes(self):
        data = content(3 * CHUNK + 100)
        put(self.client, "ranges", data[:1 << 20])
        data = data[:1 << 20]
        for offset, length in [(0, 1), (0, CHUNK), (1, CHUNK), (CHUNK - 1, 2), (CHUNK, 5), (2 * CHUNK + 3, 0),
                               (len(data) - 1, 1), (len(data), 0), (10, 2 * CHUNK), (5, 1 << 40)]:
            with self.subTest(offset=offset, length=length):
                _, found = get(self.client, "ranges", offset=offset, length=length)
                self.assertEqual(found, data[offset:offset + length] if length else data[offset:])
        self.refused("OUT_OF_RANGE", "OUT_OF_RANGE_INPUT", get, self.client, "ranges", offset=len(data) + 1)

    def test_a_range_reads_only_its_chunks(self):
        data = b"".join(content(CHUNK, number) for number in range(4))
        put(self.client, "damaged", pieces(data, CHUNK))
        blobs.change_chunk(self.stack, sha256(data[:CHUNK]))
        _, found = get(self.client, "damaged", offset=CHUNK)
        self.assertEqual(found, data[CHUNK:])

    def test_equal_chunks_of_an_account_are_stored_once(self):
        data = content(CHUNK, 77) * 8
        put(self.client, "repeated", data[:1 << 20])
        put(self.client, "repeated/again", data[:1 << 20])
        digest = sha256(data[:CHUNK]).hex()
        self.assertEqual(self.stack.sql(f"select count(*) from blob_chunks where digest = '\\x{digest}'"), "1")
        self.assertEqual(get(self.client, "repeated/again")[1], data[:1 << 20])

    def test_a_stream_that_breaks_puts_nothing(self):
        put(self.client, "whole", b"old")

        def parts():
            yield content(CHUNK)
            raise RuntimeError("the client breaks")

        with self.assertRaises(ApiError):
            put(self.client, "whole", parts())
        self.assertEqual(get(self.client, "whole")[1], b"old")

    def test_a_stream_that_ends_without_saying_so_puts_nothing(self):
        cut = list(blobs.messages("cut", [content(CHUNK), b"x"]))[:-1]
        for requests in (cut, cut[:2], cut[:1]):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", list, self.client.put_blob(requests))
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.stat_blob, name="cut")

    def test_what_does_not_have_the_digest_or_size_of_the_header_is_not_put(self):
        data = content(CHUNK + 5)
        for header in ({"sha256": sha256(b"other")}, {"size": len(data) + 1}, {"size": 1}):
            self.refused("INVALID_ARGUMENT", "BLOB_DIGEST_MISMATCH", put, self.client, "never", data, **header)
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.stat_blob, name="never")
        put(self.client, "ever", data, sha256=sha256(data), size=len(data))

    def test_stored_bytes_that_have_changed_are_never_returned(self):
        data = content(2 * CHUNK, 99)
        put(self.client, "rotten", data)
        blobs.change_chunk(self.stack, sha256(data[CHUNK:]))
        self.refused("INTERNAL", "BLOB_DAMAGED", get, self.client, "rotten")
        blobs.lose_chunk(self.stack, sha256(data[CHUNK:]))
        self.refused("INTERNAL", "BLOB_DAMAGED", get, self.client, "rotten")
        self.stack.sql(f"delete from blob_chunks where digest = '\\x{sha256(data[CHUNK:]).hex()}'")
        self.refused("INTERNAL", "BLOB_DAMAGED", get, self.client, "rotten")

    def test_bad_requests_say_what_is_wrong(self):
        for name in ("/a", "a/", "a//b", ".", "a/../b", "a\x01", "x" * 1025):
            with self.subTest(name=name):
                error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", put, self.client, name, b"")
                self.assertIn("name", error.fields)
        refused = [
            {"content_type": "x" * 256}, {"sha256": b"short"}, {"size": -1}, {"offset": 5}, {"offset": -5, "upload_id": "u"},
            {"upload_id": "x" * 129}, {"if_match": "W/1"}, {"if_match": "*", "if_absent": True}]
        for header in refused:
            with self.subTest(header=header):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", put, self.client, "bad", b"", **header)
        self.refused("INVALID_ARGUMENT", "BLOB_TOO_LARGE", put, self.client, "bad", b"", size=(64 << 30) + 1)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", put, self.client, "bad", bytes(1024 * 1024 + 1))
        for requests in ([], [blobs.PutBlobRequest(content=b"x")], [blobs.PutBlobRequest()],
                         2 * list(blobs.messages("bad", []))[:1]):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", list, self.client.put_blob(requests))
        for fields in ({"offset": -1}, {"length": -1}, {"if_match": "x"}):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", get, self.client, "bad", **fields)
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", get, self.client, "bad")

    def test_no_two_contents_have_the_same_etag(self):
        etags = {put(self.client, "tagged", b"the same").etag for _ in range(5)}
        self.client.delete_blob(name="tagged")
        etags.add(put(self.client, "tagged", b"the same").etag)
        self.assertEqual(len(etags), 6)


class Conditions(ServerCase):
    def stale(self, function, *arguments, **fields):
        return self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", function, *arguments, **fields)

    def test_a_put_replaces_only_what_its_condition_names(self):
        first = put(self.client, "c/put", b"1", if_absent=True)
        self.refused("ALREADY_EXISTS", "BLOB_ALREADY_EXISTS", put, self.client, "c/put", b"2", if_absent=True)
        second = put(self.client, "c/put", b"2", if_match=first.etag)
        self.stale(put, self.client, "c/put", b"3", if_match=first.etag)
        self.stale(put, self.client, "c/none", b"3", if_match=first.etag)
        self.stale(put, self.client, "c/none", b"3", if_match="*")
        put(self.client, "c/put", b"4", if_match="*")
        self.stale(get, self.client, "c/put", if_match=second.etag)
        self.assertEqual(get(self.client, "c/put")[1], b"4")

    def test_a_large_put_is_refused_with_its_first_chunk(self):
        put(self.client, "c/large", b"1")
        sent = []

        def parts():
            for number in range(1000):
                sent.append(number)
                yield content(CHUNK, number)

        self.refused("ALREADY_EXISTS", "BLOB_ALREADY_EXISTS", put, self.client, "c/large", parts(), if_absent=True)
        self.assertLess(len(sent), 500)

    def test_a_delete_removes_only_what_its_condition_names(self):
        first = put(self.client, "c/delete", b"1")
        second = put(self.client, "c/delete", b"2")
        self.stale(self.client.delete_blob, name="c/delete", if_match=first.etag)
        self.client.delete_blob(name="c/delete", if_match=second.etag)
        for if_match in ("", "*", second.etag):
            self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.delete_blob, name="c/delete", if_match=if_match)

    def test_of_puts_at_once_that_want_the_name_for_themselves_one_succeeds(self):
        outcomes = []

        def race(number):
            try:
                put(self.client, "c/race", [content(CHUNK, number), b"end"], if_absent=True)
                outcomes.append(number)
            except ApiError as error:
                self.assertEqual(error.reason, "BLOB_ALREADY_EXISTS")

        threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(outcomes), 1)
        self.assertEqual(get(self.client, "c/race")[1], content(CHUNK, outcomes[0]) + b"end")


class Lists(ServerCase):
    def names(self, prefix, size=0):
        pages = self.client.pages(self.client.list_blobs, prefix=prefix, page_size=size)
        return [blob.name for page in pages for blob in page.blobs]

    def test_a_list_has_the_names_with_the_prefix_in_order_of_bytes(self):
        names = ["l/a", "l/a/1", "l/a/2", "l/a0", "l/b", "l/\u00e9", "l/\uffff", "l/\U0010ffff", "m"]
        for name in names:
            put(self.client, name, name.encode())
        for size in (1, 2, 1000):
            self.assertEqual(self.names("l/", size), names[:-1])
        self.assertEqual(self.names("l/a/"), ["l/a/1", "l/a/2"])
        self.assertEqual(self.names("l/a"), names[:4])
        self.assertEqual(self.names("l/\U0010ffff"), ["l/\U0010ffff"])
        self.assertEqual(self.names("nothing"), [])
        self.assertEqual(self.client.list_blobs(prefix="m").blobs[0], self.client.stat_blob(name="m").blob)

    def test_a_token_belongs_to_its_prefix(self):
        for number in range(3):
            put(self.client, f"t/{number}", b"")
        token = self.client.list_blobs(prefix="t/", page_size=1).next_page_token
        self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", self.client.list_blobs, prefix="t", page_token=token)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.list_blobs, prefix="/")


class Uploads(ServerCase):
    def break_off(self, name, upload, data, stored):
        """Begin an upload of which the data is sent, and whose stream breaks when `stored` bytes are stored."""
        release = threading.Event()

        def parts():
            yield from pieces(data, CHUNK)
            release.wait(30)

        call = self.client.channel.stream_stream(
            "/tavola.v1.BlobService/PutBlob", blobs.PutBlobRequest.SerializeToString, bytes)(
                blobs.messages(name, parts(), upload_id=upload))
        wait_for("the stored bytes", lambda: self.stored(upload) == stored)
        call.cancel()
        release.set()

    def stored(self, upload):
        try:
            return self.client.get_upload(upload_id=upload).stored
        except ApiError as error:
            self.assertEqual(error.reason, "UPLOAD_NOT_FOUND")
            return None

    def test_an_upload_goes_on_where_it_broke(self):
        data = content(3 * CHUNK + 99)
        self.break_off("u/resumed", "one", data[:2 * CHUNK], 2 * CHUNK)
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.stat_blob, name="u/resumed")
        for wrong in (0, CHUNK, 3 * CHUNK):
            error = self.refused("FAILED_PRECONDITION", "UPLOAD_OFFSET_MISMATCH", put, self.client, "u/resumed",
                                 data[wrong:], upload_id="one", offset=wrong)
            self.assertEqual(error.metadata["stored"], str(2 * CHUNK))
        blob = put(self.client, "u/resumed", data[2 * CHUNK:], upload_id="one", offset=2 * CHUNK, sha256=sha256(data))
        self.assertEqual(blob.sha256, sha256(data))
        self.assertEqual(get(self.client, "u/resumed")[1], data)
        self.assertTrue(self.client.get_upload(upload_id="one").complete)

    def test_an_upload_that_is_cut_at_any_point_goes_on(self):
        """Cut before and behind each border of a chunk, and with everything sent but the end."""
        data = content(3 * CHUNK + 99, 8)
        for cut in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 3 * CHUNK, 3 * CHUNK + 1, len(data)):
            with self.subTest(cut=cut):
                name = upload = f"u/cut/{cut}"
                stored = cut // CHUNK * CHUNK
                self.break_off(name, upload, data[:cut], stored)
                self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.stat_blob, name=name)
                self.assertEqual(self.stored(upload), stored)
                put(self.client, name, data[stored:], upload_id=upload, offset=stored, sha256=sha256(data))
                self.assertEqual(get(self.client, name)[1], data)

    def test_an_upload_that_is_cut_again_and_again_goes_on(self):
        data, stored = content(5 * CHUNK + 7, 9), 0
        for cut in (CHUNK, 2 * CHUNK, 3 * CHUNK, 4 * CHUNK):
            requests = list(blobs.messages("u/again", pieces(data[stored:cut + 1000], 100_000), upload_id="again", offset=stored))
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", list, self.client.put_blob(requests[:-1]))
            self.assertEqual(self.stored("again"), cut)
            stored = cut
        put(self.client, "u/again", data[stored:], upload_id="again", offset=stored)
        self.assertEqual(get(self.client, "u/again")[1], data)

    def test_a_put_that_is_repeated_after_a_lost_answer_changes_nothing(self):
        first = put(self.client, "u/twice", b"content", upload_id="two")
        again = put(self.client, "u/twice", b"content", upload_id="two")
        self.assertEqual(first, again)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", put, self.client, "u/other", b"content", upload_id="two")
        put(self.client, "u/twice", b"later")
        self.refused("NOT_FOUND", "UPLOAD_NOT_FOUND", put, self.client, "u/twice", b"content", upload_id="two")
        self.assertEqual(get(self.client, "u/twice")[1], b"later")

    def test_a_stream_that_was_continued_by_another_one_can_store_nothing_more(self):
        """Guard G54: the earlier stream is still there, and would append after the later one."""
        data = content(4 * CHUNK)
        more = threading.Event()

        def slow():
            yield data[:CHUNK]
            more.wait(30)
            yield content(CHUNK, 5)

        outcome = []

        def first():
            try:
                outcome.append(put(self.client, "u/fenced", slow(), upload_id="three"))
            except ApiError as error:
                outcome.append(error.reason)

        thread = threading.Thread(target=first)
        thread.start()
        wait_for("the first chunk", lambda: self.stored("three") == CHUNK)

        def second():
            yield data[CHUNK:2 * CHUNK]
            wait_for("the second chunk", lambda: self.stored("three") == 2 * CHUNK)
            more.set()
            thread.join()
            yield data[2 * CHUNK:]

        put(self.client, "u/fenced", second(), upload_id="three", offset=CHUNK)
        self.assertEqual(outcome, ["UPLOAD_OFFSET_MISMATCH"])
        self.assertEqual(get(self.client, "u/fenced")[1], data)

    def test_an_upload_that_was_never_begun_is_not_found(self):
        self.refused("NOT_FOUND", "UPLOAD_NOT_FOUND", self.client.get_upload, upload_id="never")
        self.refused("NOT_FOUND", "UPLOAD_NOT_FOUND", put, self.client, "u/x", b"x", upload_id="never", offset=CHUNK)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.get_upload, upload_id="")


class Collected(ServerCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1", "TAVOLA_USAGE_INTERVAL_SECONDS": "1",
                       "TAVOLA_USAGE_SHARE": "50"}

    def end_waits(self):
        self.stack.sql(blobs.COLLECT_AT_ONCE)

    def test_what_no_blob_points_to_goes(self):
        for number in range(5):
            put(self.client, "g/replaced", [content(CHUNK, number), b"x"])
            put(self.client, "g/deleted", [content(CHUNK, number), b"y"], upload_id=f"g{number}")
        self.client.delete_blob(name="g/deleted")
        self.end_waits()
        left = "select count(*) from blob_chunks k where not exists (select from blob_parts p where p.digest = k.digest)"
        wait_for("the contents to go", lambda: self.stack.sql("select count(*) from blob_contents where state <> 2") == "0")
        wait_for("the chunks to go", lambda: self.stack.sql(left) == "0")
        audit.check(self.stack, 5)
        self.assertEqual(get(self.client, "g/replaced")[1], content(CHUNK, 4) + b"x")

    def test_a_reader_gets_the_content_with_which_it_began(self):
        data = [content(CHUNK, number) for number in range(60)]
        put(self.client, "g/read", data)
        reader = self.client.get_blob([blobs.GetBlobRequest(name="g/read")], timeout=60)
        first = next(reader).blob
        put(self.client, "g/read", b"new")
        seen = []
        for reply in reader:
            seen.append(reply.content)
            if len(seen) == 20:
                # The worker comes by while the transport is full and the reader pauses.
                discarded = "select count(*) from blob_contents where state = 3 and kept_until > now()"
                self.assertEqual(self.stack.sql(discarded), "1")
        self.assertEqual(b"".join(seen), b"".join(data))
        self.assertNotEqual(self.client.stat_blob(name="g/read").blob.etag, first.etag)

    def test_a_reader_whose_content_is_gone_is_told_so(self):
        data = [content(CHUNK, number) for number in range(200, 280)]
        put(self.client, "g/gone", data)
        reader = self.client.get_blob([blobs.GetBlobRequest(name="g/gone")], timeout=60)
        next(reader)
        self.client.delete_blob(name="g/gone")
        self.end_waits()
        wait_for("the content to go", lambda: self.stack.sql("select count(*) from blobs where name = 'g/gone'") == "0"
                 and self.stack.sql("select count(*) from blob_contents where state = 3 and size > 20000000") == "0")
        with self.assertRaises(ApiError) as caught:
            list(reader)
        self.assertEqual((caught.exception.code, caught.exception.reason), ("ABORTED", "BLOB_CHANGED"))

    def test_bytes_of_blobs_count_for_the_account(self):
        put(self.client, "g/counted", [content(CHUNK, number) for number in range(500, 504)])
        stored = "select sum(size) from blob_chunks"
        self.assertGreaterEqual(int(self.stack.sql(stored)), 4 * CHUNK)
        wait_for("the count", lambda: self.client.get_account_usage().bytes.used == int(self.stack.sql(stored)))


class OverHttp(unittest.TestCase):
    """Every method as JSON, by the Connect protocol; bytes are base64."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack(redis=False)
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server(TAVOLA_HTTP_LISTEN="127.0.0.1:0")
        cls.caller = http_client.Caller(http_client.address_of(cls.stack))
        cls.addClassCleanup(cls.caller.close)

    def put(self, name, data, end=True, **header):
        messages = [{"header": {"name": name, **header}}]
        messages += [{"content": base64.b64encode(part).decode()} for part in pieces(data, 100_000)]
        _, found, ends = self.caller.stream("BlobService/PutBlob", [*messages, *([{"end": True}] if end else [])])
        return found, ends[-1].get("error", {})

    def get(self, name, **fields):
        _, found, ends = self.caller.stream("BlobService/GetBlob", [{"name": name, **fields}])
        return found, b"".join(base64.b64decode(one.get("content", "")) for one in found), ends[-1].get("error", {})

    def test_put_and_get(self):
        data = content(2 * CHUNK + 77)
        replies, error = self.put("h/one", data, contentType="a/b", sha256=base64.b64encode(sha256(data)).decode())
        self.assertEqual((len(replies), error), (1, {}))
        blob = replies[0]["blob"]
        self.assertEqual((blob["name"], blob["size"], blob["contentType"]), ("h/one", str(len(data)), "a/b"))
        found, got, error = self.get("h/one")
        self.assertEqual((found[0]["blob"], got, error), (blob, data, {}))
        self.assertEqual(self.get("h/one", offset=str(CHUNK - 1), length="3")[1], data[CHUNK - 1:CHUNK + 2])

    def test_a_put_that_is_cut_or_wrong_stores_nothing(self):
        for end, header, reason in [(False, {}, "INVALID_INPUT"), (True, {"size": "5"}, "BLOB_DIGEST_MISMATCH")]:
            replies, error = self.put("h/never", b"four", end, **header)
            self.assertEqual((replies, error["code"], error["details"][0]["debug"]["reason"]), ([], "invalid_argument", reason))
        found, _, error = self.get("h/never")
        self.assertEqual((found, error["details"][0]["debug"]["reason"]), ([], "BLOB_NOT_FOUND"))

    def test_stat_list_and_delete(self):
        for name in ("h/list/a", "h/list/b"):
            self.put(name, name.encode())
        stat = self.caller.call("BlobService/StatBlob", {"name": "h/list/a"}).json()["blob"]
        page = self.caller.call("BlobService/ListBlobs", {"prefix": "h/list/", "pageSize": 1}).json()
        self.assertEqual(page["blobs"], [stat])
        rest = self.caller.call("BlobService/ListBlobs", {"prefix": "h/list/", "pageToken": page["nextPageToken"]}).json()
        self.assertEqual([blob["name"] for blob in rest["blobs"]], ["h/list/b"])
        refused = self.caller.call("BlobService/DeleteBlob", {"name": "h/list/b", "ifMatch": stat["etag"]})
        self.assertEqual((refused.status, refused.json()["details"][0]["debug"]["reason"]), (409, "UPDATE_CONDITION_NOT_SATISFIED"))
        deleted = self.caller.call("BlobService/DeleteBlob", {"name": "h/list/a", "ifMatch": stat["etag"]})
        self.assertEqual((deleted.status, deleted.json()), (200, {}))
        self.assertEqual(self.caller.call("BlobService/StatBlob", {"name": "h/list/a"}).status, 404)

    def test_an_upload_is_looked_up_and_continued(self):
        data = content(CHUNK + 10, 3)
        _, error = self.put("h/resumed", data[:CHUNK], end=False, uploadId="http")
        self.assertEqual(error["code"], "invalid_argument")
        upload = self.caller.call("BlobService/GetUpload", {"uploadId": "http"}).json()
        self.assertEqual((upload["stored"], upload.get("complete", False)), (str(CHUNK), False))
        replies, _ = self.put("h/resumed", data[CHUNK:], uploadId="http", offset=str(CHUNK))
        self.assertEqual(base64.b64decode(replies[0]["blob"]["sha256"]), sha256(data))
        self.assertTrue(self.caller.call("BlobService/GetUpload", {"uploadId": "http"}).json()["complete"])


@unittest.skipIf(TIMEOUT_FACTOR > 1, "programs with sanitizers need more memory")
class Memory(unittest.TestCase):
    """A server that may use 128 MB. Without the limit it would use 160 MB for the puts at once."""

    LIMIT_MB = 128
    BLOB_MB = 160
    PUTS, PUT_BYTES = 160, 3 * CHUNK

    def setUp(self):
        self.stack = Stack(redis=False)
        self.addCleanup(self.stack.close)
        self.stack.start_server(TAVOLA_MEMORY_LIMIT=f"{self.LIMIT_MB}MB")
        self.client = self.stack.connect()
        self.addCleanup(self.client.channel.close)

    def peak_mb(self):
        with open(f"/proc/{self.stack.server.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))

    def tavola(self, *words, **settings):
        return subprocess.run([program("tavola"), "blob", *words], env=program_environment({"TAVOLA_TARGET": self.stack.target}),
                              check=True, **settings)

    def test_a_blob_larger_than_the_memory(self):
        """The file is a hole: its chunks are equal, so the database stores one. The server reads and hashes each of them."""
        path = os.path.join(self.stack.folder, "hole")
        with open(path, "wb") as file:
            file.truncate(self.BLOB_MB << 20)
        self.tavola("put", "large", path, stdout=subprocess.DEVNULL)
        self.tavola("get", "large", stdout=subprocess.DEVNULL)
        self.assertEqual(self.client.stat_blob(name="large").blob.size, self.BLOB_MB << 20)
        self.assertLess(self.peak_mb(), self.LIMIT_MB)

    def test_puts_at_once_that_would_need_more(self):
        """Those that find no room are refused before they send their content, and try again until they are done."""
        data, refused, gate = content(self.PUT_BYTES), [], threading.Barrier(self.PUTS)

        def run(number):
            gate.wait()
            while True:
                try:
                    return put(self.client, f"many/{number}", pieces(data, CHUNK // 2))
                except ApiError as error:
                    refused.append(error.reason)
                    time.sleep(error.retry_seconds)  # as the answer says

        threads = [threading.Thread(target=run, args=(number,)) for number in range(self.PUTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.client.list_blobs(prefix="many/").blobs), self.PUTS)
        print(f"memory: {self.peak_mb():.0f} MB at most, {len(refused)} refusals")
        self.assertLessEqual(set(refused), {"SERVER_BUSY"})
        self.assertLess(self.peak_mb(), self.LIMIT_MB)


if __name__ == "__main__":
    unittest.main()
