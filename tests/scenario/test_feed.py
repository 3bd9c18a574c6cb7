# SPDX-License-Identifier: Apache-2.0
"""The change feed: order, resumption, bookmarks, the change that every kind of write makes, and feeds without
history.
"""

import os
import random
import threading
import time
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ApiError, BatchOperation, EntityKey, entity, key, match, plain
from tavola_test.credentials import sas
from tavola_test.feed import Watch, WatchRequest, apply, everything
from tavola_test.processes import run_program
from tavola_test.security_case import FORGED, MISMATCH, REFUSED, SecurityCase, result
from tavola_test.settings import BIN
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

BIG = b"x" * 60000  # one message holds 50 of them


def word(change):
    return "deleted" if change.deleted else "inserted" if change.inserted else "updated"


def told(changes):
    return [(change.entity.row_key, word(change)) for change in changes]


class FeedCase(ServerCase):
    def new_feed(self):
        name = self.new_name()
        self.assertTrue(self.client.create_table(name=name, change_feed=True).table.change_feed)
        return name

    def watch(self, table, *arguments, **fields):
        out = Watch(self.client, table, *arguments, **fields)
        self.addCleanup(out.close)
        return out

    def put(self, table, row, partition="p", **properties):
        self.client.insert_or_replace_entity(table=table, entity=entity(partition, row, properties))

    def delete(self, table, row, partition="p"):
        self.client.delete_entity(table=table, key=key((partition, row)), precondition=match())

    def switch(self, table, on):
        reply = self.client.update_table(
            table={"name": table, "change_feed": on}, update_mask={"paths": ["change_feed"]}
        )
        self.assertEqual(reply.table.change_feed, on)

    def fails(self, reason, table, *arguments, **fields):
        with self.assertRaises(ApiError) as caught:
            watch = self.watch(table, *arguments, **fields)
            while True:
                watch.read()
        self.assertEqual(caught.exception.reason, reason, caught.exception)
        return caught.exception


class Feed(FeedCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def test_every_kind_of_write_is_told(self):
        table = self.new_feed()
        watch = self.watch(table).begin()
        first = self.client.insert_entity(table=table, entity=entity("p", "a", N=1)).result
        self.client.replace_entity(table=table, entity=entity("p", "a", N=2), precondition=match())
        self.client.merge_entity(table=table, entity=entity("p", "a", M=3), precondition=match())
        self.put(table, "a", N=4)
        self.put(table, "b", N=5)
        self.client.insert_or_merge_entity(table=table, entity=entity("p", "b", M=6))
        self.delete(table, "a")
        self.put(table, "a", N=7)
        self.client.execute_batch(
            table=table,
            operations=[
                BatchOperation(delete=key(("p", "a")), precondition=match()),
                BatchOperation(insert=entity("p", "c", N=8)),
            ],
        )
        self.assertEqual(self.client.load(table, [entity("q", "d", N=9), entity("q", "d", N=10)]), 2)

        changes = watch.until(11)
        expected = [("a", "inserted"), ("a", "updated"), ("a", "updated"), ("a", "updated"), ("b", "inserted")]
        expected += [("b", "updated"), ("a", "deleted"), ("a", "inserted"), ("a", "deleted"), ("c", "inserted")]
        self.assertEqual(told(changes), expected + [("d", "inserted")])
        self.assertEqual(changes[0].entity.etag, first.etag)
        self.assertEqual(changes[0].entity.timestamp, first.timestamp)
        contents = [plain(change.entity) for change in changes]
        self.assertEqual(contents[:3], [{"N": 1}, {"N": 2}, {"N": 2, "M": 3}])
        self.assertEqual(contents[5:7], [{"N": 5, "M": 6}, {}])
        self.assertEqual(contents[10], {"N": 10})
        etags = [change.entity.etag for change in changes if change.entity.row_key == "a"]
        self.assertEqual(len(set(etags)), len(etags))
        self.assertTrue(all(etags))

    def test_moves_expiry_and_range_deletes_are_told(self):
        table, other = self.new_feed(), self.new_feed()
        here, there = self.watch(table).begin(), self.watch(other).begin()
        for row in "abc":
            self.put(table, row, N=1)
        address = {"table": table, "key": key(("p", "a"))}
        move = {"source": address, "destination": {"table": other, "key": key(("q", "z"))}}
        self.client.submit_transaction(transaction_id="feed-move-1", steps=[{"move": move}])
        self.assertEqual(told(there.until(1)), [("z", "inserted")])
        self.assertEqual(plain(there.changes[0].entity), {"N": 1})
        soon = entity("p", "e")
        soon.expires.seconds = int(time.time()) + 2
        self.client.insert_entity(table=table, entity=soon)
        self.wait_done(self.client.delete_range(query={"table": table, "filter": "RowKey eq 'b'"}).operation)

        changes = here.until(7)
        self.assertEqual(told(changes[:4]), [(row, "inserted") for row in "abc"] + [("a", "deleted")])
        self.assertEqual(sorted(told(changes[4:])), [("b", "deleted"), ("e", "deleted"), ("e", "inserted")])
        self.assertEqual([change.entity.expires.seconds for change in changes if word(change) == "inserted"][3], soon.expires.seconds)

    def test_a_purge_of_old_changes_asks_for_a_resync(self):
        table = self.new_feed()
        watch = self.watch(table).begin()
        early = watch.token
        self.put(table, "a")
        self.put(table, "b")
        watch.until(2)
        self.stack.sql("update changes set at = at - interval '2 days'")
        self.put(table, "c")
        wait_for("the purge", lambda: self.stack.sql("select count(*) from changes c join feeds using (feed_id) join tables t using (feed_id) where t.name = '%s'" % table) == "1")

        self.assertEqual(told(watch.until(3))[2], ("c", "inserted"))
        self.assertEqual(told(self.watch(table, token=watch.token).begin().changes), [])
        error = self.fails("RESYNC_REQUIRED", table, token=early)
        self.assertEqual(error.code, "FAILED_PRECONDITION")

    def test_what_is_over_is_removed(self):
        table = self.new_feed()
        self.put(table, "a")
        feed = self.stack.sql(f"select feed_id from tables where name = '{table}'")
        self.switch(table, False)
        count = f"select (select count(*) from feeds where feed_id = {feed}) + (select count(*) from changes where feed_id = {feed})"
        wait_for("the end of the feed", lambda: self.stack.sql(count) == "0")


class Watching(FeedCase):
    def test_it_resumes_behind_any_message(self):
        table = self.new_feed()
        watch = self.watch(table).begin()
        tokens = [watch.token]
        for n in range(5):
            self.put(table, str(n))
            watch.until(n + 1)
            tokens.append(watch.token)
        for n, token in enumerate(tokens):
            again = self.watch(table, token=token)
            again.until(5 - n)
            self.assertEqual(again.changes, watch.changes[n:])

    def test_from_now_tells_nothing_old(self):
        table = self.new_feed()
        self.put(table, "old")
        watch = self.watch(table).begin()
        self.put(table, "new")
        self.assertEqual(told(watch.until(1)), [("new", "inserted")])

    def test_bookmarks_come_without_changes_and_resume(self):
        table = self.new_feed()
        watch = self.watch(table).begin()
        wait_for("a bookmark", lambda: watch.read() and watch.bookmarks > 1)
        self.put(table, "a")
        self.assertEqual(told(self.watch(table, token=watch.token).until(1)), [("a", "inserted")])

    def test_a_partition_and_a_range_of_keys(self):
        table = self.new_feed()
        partition = self.watch(table, "PartitionKey eq 'q'").begin()
        rows = self.watch(table, "PartitionKey eq 'q' and RowKey ge 'b'", select=["N"]).begin()
        for place in ("pa", "qa", "pb", "qb", "rc"):
            self.put(table, place[1], place[0], N=1, M=2)
        self.delete(table, "b", "p")
        self.delete(table, "b", "q")

        self.assertEqual(told(partition.until(3)), [("a", "inserted"), ("b", "inserted"), ("b", "deleted")])
        self.assertEqual(plain(partition.changes[0].entity), {"N": 1, "M": 2})
        self.assertEqual(told(rows.until(2)), [("b", "inserted"), ("b", "deleted")])
        self.assertEqual(plain(rows.changes[0].entity), {"N": 1})

    def test_bookmarks_of_a_partition_move_past_the_others(self):
        table = self.new_feed()
        watch = self.watch(table, "PartitionKey eq 'q'").begin()
        first = watch.token
        self.client.load(table, [entity("p", str(n)) for n in range(3000)])
        wait_for("a bookmark", lambda: watch.read().resume_token != first)
        self.stack.sql("delete from changes")
        self.stack.sql("update feeds set floor = (select last_value from change_numbers)")
        self.put(table, "a", "q")
        self.assertEqual(told(self.watch(table, "PartitionKey eq 'q'", token=watch.token).until(1)), [("a", "inserted")])

    def test_what_a_filter_may_not_ask(self):
        table = self.new_feed()
        for text in ("N eq 1", "Timestamp gt datetime'2020-01-01T00:00:00Z'", "PartitionKey eq 'p' and N eq 1"):
            self.assertEqual(self.fails("NOT_IMPLEMENTED", table, text).code, "UNIMPLEMENTED")
        self.assertEqual(self.fails("INVALID_INPUT", table, "PartitionKey eq").fields.keys(), {"filter"})

    def test_a_token_goes_with_its_watch(self):
        table, other = self.new_feed(), self.new_feed()
        token = self.watch(table).begin().token
        self.fails("PAGE_TOKEN_INVALID", other, token=token)
        self.fails("PAGE_TOKEN_INVALID", table, "PartitionKey eq 'p'", token=token)
        self.fails("PAGE_TOKEN_INVALID", table, token=token[:-4] + "AAAA")
        self.watch(table.upper(), token=token).begin()

    def test_a_table_without_a_feed(self):
        table = self.new_table()
        self.assertEqual(self.fails("CHANGE_FEED_OFF", table).code, "FAILED_PRECONDITION")
        self.assertEqual(self.fails("TABLE_NOT_FOUND", "NoSuch").code, "NOT_FOUND")
        self.assertFalse(self.client.get_table(name=table).table.change_feed)

    def test_switching_it_on_and_off(self):
        table = self.new_table()
        self.put(table, "before")
        self.switch(table, True)
        self.switch(table, True)
        watch = self.watch(table).begin()
        self.put(table, "a")
        self.assertEqual(told(watch.until(1)), [("a", "inserted")])
        self.put(table, "before")
        self.assertEqual(told(watch.until(2))[1:], [("before", "updated")])

        self.switch(table, False)
        with self.assertRaises(ApiError) as caught:
            watch.until(3)
        self.assertEqual(caught.exception.reason, "CHANGE_FEED_OFF")
        self.put(table, "missed")
        self.switch(table, True)
        self.fails("RESYNC_REQUIRED", table, token=watch.token)
        self.watch(table).begin()

    def test_the_entries_of_an_index_have_no_feed(self):
        table, index = self.new_feed(), self.new_name("i")
        self.client.create_index(
            index={"name": index, "table": table, "shape": 1, "place": 2, "partition_key": [{"property": "N"}]}
        )
        self.refused("FAILED_PRECONDITION", "INDEX_OWNED", self.client.update_table, table={"name": index, "change_feed": True})

    def test_a_table_that_is_deleted_and_created_again(self):
        table = self.new_feed()
        watch = self.watch(table).begin()
        self.client.delete_table(name=table)
        with self.assertRaises(ApiError) as caught:
            while True:
                watch.read()
        self.assertEqual((caught.exception.code, caught.exception.reason), ("NOT_FOUND", "TABLE_NOT_FOUND"))
        self.client.create_table(name=table, change_feed=True)
        self.fails("RESYNC_REQUIRED", table, token=watch.token)

    def test_a_slow_reader_loses_nothing_and_costs_no_memory(self):
        table = self.new_feed()
        watch = self.watch(table).begin()
        quick = self.watch(table).begin()
        status = f"/proc/{self.stack.server.pid}/status"

        def resident_mb():
            with open(status, encoding="ascii") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

        for part in range(10):
            self.client.load(table, [entity("p", f"{part}{n:02}", Data=BIG) for n in range(50)])
        before = resident_mb()
        for part in range(10, 30):  # 60 MB
            self.client.load(table, [entity("p", f"{part}{n:02}", Data=BIG) for n in range(50)])
            quick.until((part + 1) * 50)
        self.assertLess(resident_mb() - before, 40)
        self.assertEqual([c.entity.row_key for c in watch.until(1500)], [c.entity.row_key for c in quick.changes])

    def test_a_deadline_ends_it_and_not_earlier(self):
        table = self.new_feed()
        began = time.monotonic()
        watch = self.watch(table, timeout=1).begin()
        with self.assertRaises(ApiError) as ended:
            while True:
                watch.read()
        self.assertEqual(ended.exception.code, "DEADLINE_EXCEEDED")
        self.assertGreaterEqual(time.monotonic() - began, 1)

    def test_filters_over_keys_alone(self):
        table = self.new_feed()
        tests = {
            "PartitionKey eq 'p' or PartitionKey eq 'q'": lambda p, r: p in "pq",
            "PartitionKey ne 'p'": lambda p, r: p != "p",
            "not (PartitionKey eq 'p' and RowKey gt 'a')": lambda p, r: not (p == "p" and r > "a"),
            "(PartitionKey eq 'p' and RowKey eq 'b') or RowKey eq 'c'": lambda p, r: (p == "p" and r == "b") or r == "c",
            "contains(RowKey, 'b') and startswith(PartitionKey, 'p')": lambda p, r: "b" in r and p.startswith("p"),
            "PartitionKey gt 'p' and RowKey le 'b'": lambda p, r: p > "p" and r <= "b",
        }
        watches = {text: self.watch(table, text).begin() for text in tests}
        places = [(p, r) for p in "pqz" for r in "abc"]
        for partition, row in places:
            self.put(table, row, partition)
            self.delete(table, row, partition)
        for text, wanted in tests.items():
            with self.subTest(text):
                seen = [place for place in places if wanted(*place)]
                changes = watches[text].until(2 * len(seen))
                self.assertEqual([(c.entity.partition_key, c.entity.row_key, c.deleted) for c in changes],
                                 [(*place, gone) for place in seen for gone in (False, True)])

    def test_the_command_line_follows_and_resumes(self):
        table = self.new_feed()
        settings = {"TAVOLA_TARGET": self.stack.target}
        argv = [os.path.join(BIN, "tavola"), "watch", table, "--tokens"]
        follower = self.stack.start(f"watch-{table}", argv, settings)
        token = wait_for("a token", follower.output).split()[1]
        self.put(table, "a")
        self.delete(table, "a")
        for row in "ab":
            self.put(table, row)
        wait_for("the changes", lambda: follower.output().count("serted") == 3)
        words = [line.split("\t")[:3] for line in follower.output().splitlines() if not line.startswith("token")]
        self.assertEqual([[one.strip() for one in line] for line in words], [["inserted", "p", "a"], ["deleted", "p", "a"], ["inserted", "p", "a"], ["inserted", "p", "b"]])
        follower.kill()

        again = self.stack.start(f"again-{table}", argv[:3] + ["--token", token, "--filter", ""], settings)
        wait_for("the same", lambda: again.output().count("\n") == 4)
        wrong = run_program("tavola", "watch", "NoSuch", settings=settings)
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertRegex(wrong.stderr, "^tavola: NOT_FOUND / TABLE_NOT_FOUND: .*NoSuch does not exist")
        self.assertEqual(run_program("tavola", "watch", settings=settings).returncode, 2)


class WatchesBySignature(SecurityCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client.update_table(table={"name": "People", "change_feed": True})

    def watch(self, table="People", text="", **signature):
        """The messages that a watch with a signature for People returns."""
        connection = self.connect(sas(self.keys[0], "people", **signature))
        return connection.watch_entities([WatchRequest(table=table, filter=text)], timeout=60)

    def test_a_range_hides_the_rest(self):
        watch = self.watch(permissions="r", low=("b", ""), high=("c", "2"))
        next(watch)
        for place in (("a", "9"), ("b", "9"), ("c", "2"), ("c", "3"), ("d", "1")):
            self.client.insert_or_replace_entity(table="People", entity=entity(*place))
            self.client.delete_entity(table="People", key=key(place), precondition=match())
        changes = []
        while len(changes) < 4:
            changes += next(watch).changes
        seen = [(change.entity.partition_key, change.entity.row_key, word(change)) for change in changes]
        self.assertEqual(seen, [("b", "9", "inserted"), ("b", "9", "deleted"), ("c", "2", "updated"), ("c", "2", "deleted")])
        self.assertEqual(len(next(watch).changes), 0)

    def test_what_does_not_open_one(self):
        self.assertEqual(result(next, self.watch(permissions="audit")), MISMATCH)
        self.assertEqual(result(next, self.watch(table="Other", permissions="r")), REFUSED)

    def test_it_ends_when_the_signature_does(self):
        watch = self.watch(permissions="r", expiry=3)
        self.assertEqual(result(lambda: [message for message in watch]), FORGED)


class FeedUnderLoad(unittest.TestCase):
    WRITERS, TURNS, PARTITIONS, ROWS = 4, 150, 3, 5

    def write(self, number):
        """Upserts, deletes and batches on keys that all writers share; a writer waits while its server is away."""
        chance = random.Random(number)
        caller = self.stack.connect()
        for turn in range(self.TURNS):
            partition = f"p{chance.randrange(self.PARTITIONS)}"
            rows = chance.sample(range(self.ROWS), 2)
            put = [entity(partition, str(row), By=f"{number}/{turn}") for row in rows]
            try:
                if turn % 5 == 0:
                    caller.delete_entity(table="Fed", key=EntityKey(partition_key=partition, row_key=str(rows[0])), precondition=match())
                elif turn % 5 == 1:
                    operations = [BatchOperation(insert_or_replace=one) for one in put]
                    caller.execute_batch(table="Fed", operations=operations)
                else:
                    caller.insert_or_replace_entity(table="Fed", entity=put[0])
            except ApiError as error:
                if error.code == "UNAVAILABLE":
                    wait_for("a server", self.stack.accepts)
                    caller.channel.close()
                    caller = self.stack.connect()
                elif error.code != "NOT_FOUND":
                    raise
        caller.channel.close()

    def follow(self, copy, seen, done):
        """Apply the feed to a copy, across every restart of the server, until `done` is set and no change is left."""
        token = ""
        while True:
            caller = self.stack.connect()
            try:
                watch = Watch(caller, "Fed", token=token)
                while True:
                    message = watch.read()
                    apply(copy, message.changes)
                    seen += message.changes
                    token = watch.token
                    self.ready.set()
                    if done.is_set() and not message.changes:
                        return
            except ApiError as error:
                assert error.code == "UNAVAILABLE", error
                wait_for("a server", self.stack.accepts)
            finally:
                caller.channel.close()

    def test_nothing_is_lost_while_servers_die(self):
        with Stack() as stack:
            self.stack = stack
            stack.start_server()
            with stack.connect() as caller:
                caller.create_table(name="Fed", change_feed=True)
            copy, seen, done, failures = {}, [], threading.Event(), []
            self.ready = threading.Event()

            def run(function, *arguments):
                try:
                    function(*arguments)
                except BaseException as failure:  # an exception is given to the test
                    failures.append(failure)

            follower = threading.Thread(target=run, args=(self.follow, copy, seen, done))
            follower.start()
            self.assertTrue(self.ready.wait(30))
            writers = [threading.Thread(target=run, args=(self.write, n)) for n in range(self.WRITERS)]
            for writer in writers:
                writer.start()
            for _ in range(2):
                count = len(seen)
                wait_for("more changes", lambda: len(seen) > count + 50 or failures, 60)
                stack.server.kill()
                stack.start_server()
            for writer in writers:
                writer.join()
            done.set()
            follower.join()
            self.assertEqual(failures, [], stack.logs())
            with stack.connect() as caller:
                self.assertEqual(copy, everything(caller, "Fed"))
            self.check_order(seen)

    def check_order(self, seen):
        """Each change appears once and in order, except those sent again; inserts and deletes of a key alternate."""
        first, state = {}, {}
        for change in seen:
            place = change.entity.partition_key, change.entity.row_key
            if (place, change.entity.etag) in first:
                continue
            first[place, change.entity.etag] = True
            self.assertEqual(change.inserted, not state.get(place, False), change)
            state[place] = not change.deleted
        self.assertGreater(len(first), self.TURNS)


if __name__ == "__main__":
    unittest.main()
