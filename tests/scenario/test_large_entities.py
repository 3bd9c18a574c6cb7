# SPDX-License-Identifier: Apache-2.0
"""Large entities: properties that hold contents of blobs, by every way in which entities come and go."""

import os
import shutil
import tempfile
import threading
import time
import unittest

from tavola_test import audit, blobs
from tavola_test.blobs import CHUNK, content, get, put
from tavola_test.case import ServerCase
from tavola_test.client import ApiError, ImportEntitiesRequest, match
from tavola_test.client import entity as build_entity
from tavola_test.feed import Watch
from tavola_test.processes import run_program
from tavola_test.waiting import wait_for

def entity(row, expires=None, **properties):
    out = build_entity("p", row, properties)
    if expires is not None:
        out.expires.seconds = expires
    return out


class LargeCase(ServerCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def setUp(self):
        self.table = self.new_name()
        self.client.create_table(name=self.table, blob_properties=True)

    def content(self, data, **header):
        """Put a content for entities; returns its reference."""
        return put(self.client, "", data, **header).reference

    def write(self, row, _table=None, **properties):
        return self.client.insert_or_replace_entity(table=_table or self.table, entity=entity(row, **properties))

    def held(self, row, name="Photo", table=None):
        """The bytes that a property holds."""
        found = self.get(table or self.table, "p", row).properties[name].string_value
        return get(self.client, reference=found)[1]

    def references(self, table=None):
        """How many contents the entities of a table hold."""
        return int(self.stack.sql("select count(*) from blob_references r join tables t using (table_id) "
                                  f"where t.name = '{table or self.table}'"))

    def wait_gone(self, reference):
        """Wait until a content that was given up is collected; reading it would keep it."""
        content_id = reference.split(":")[1]
        self.end_waits()
        wait_for("the content to go", lambda: self.stack.sql(
            f"select count(*) from blob_contents where content_id = '{content_id}'") == "0")
        self.refused("ABORTED", "BLOB_CHANGED", get, self.client, reference=reference)

    def end_waits(self):
        self.stack.sql(blobs.COLLECT_AT_ONCE)

    def assert_nothing_left(self):
        self.end_waits()
        audit.check(self.stack, 20)


class EntityAndContent(LargeCase):
    def put_with(self, data, row="r", property_name="Photo", action="insert", table=None, **header):
        write = {"table": table or self.table, "operation": {action: entity(row, Name="Ada")}, "property": property_name}
        if action in ("replace", "merge"):
            write["operation"]["precondition"] = {"if_match": "*"}
        return list(self.client.put_blob(blobs.messages("", data, write=write, **header)))[0]

    def test_one_call_puts_the_entity_and_its_content(self):
        for size in (0, 5, CHUNK, 3 * CHUNK + 5):
            data = content(size, size)
            reply = self.put_with(data, row=str(size), content_type="image/png", size=size)
            found = self.get(self.table, "p", str(size))
            self.assertEqual(found.etag, reply.result.etag)
            self.assertEqual(found.properties["Name"].string_value, "Ada")
            self.assertEqual(found.properties["Photo"].string_value, reply.blob.reference)
            blob, got = get(self.client, reference=reply.blob.reference)
            self.assertEqual((got, blob.content_type, blob.name), (data, "image/png", ""))

    def test_if_the_write_is_refused_nothing_is_put(self):
        self.put_with(b"first")
        self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.put_with, b"second")
        self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.put_with, b"x", row="none", action="merge")
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.put_with, b"x", table="nosuchtable")
        self.refused("INVALID_ARGUMENT", "PROPERTY_NAME_INVALID", self.put_with, b"x", property_name="a b")
        self.refused("INVALID_ARGUMENT", "BLOB_DIGEST_MISMATCH", self.put_with, b"x", row="other", size=5)
        self.assertEqual(self.held("r"), b"first")
        self.assertFalse(self.is_there(self.table, "p", "other"))
        self.assert_nothing_left()

    def test_a_put_that_is_repeated_after_a_lost_answer_writes_once(self):
        first = self.put_with(b"photo", row="twice", upload_id="twice")
        again = self.put_with(b"photo", row="twice", upload_id="twice")
        self.assertEqual(again.blob, first.blob)
        self.assertFalse(again.HasField("result"))
        self.assertEqual(self.get(self.table, "p", "twice").etag, first.result.etag)

    def test_an_upload_whose_write_was_refused_can_write_later(self):
        self.refused("NOT_FOUND", "RESOURCE_NOT_FOUND", self.put_with, b"late", row="late", action="merge", upload_id="late")
        self.write("late", Name="Ada")
        self.put_with(b"late", row="late", action="merge", upload_id="late")
        self.assertEqual(self.held("late"), b"late")

    def test_bad_requests_say_what_is_wrong(self):
        good = {"table": self.table, "operation": {"insert": entity("r")}, "property": "Photo"}
        wrong = [{"write": {**good, "operation": {"delete": {"partition_key": "p", "row_key": "r"},
                                                  "precondition": match()}}},
                 {"write": {**good, "operation": {}}}, {"write": {"table": self.table, "property": "Photo"}},
                 {"write": {**good, "operation": {"insert": entity("r", Long="x" * 32768, Other="x" * 32768)}}},
                 {"if_match": "*"}, {"if_absent": True}]
        for header in wrong:
            with self.subTest(header=str(header)[:80]):
                self.refused("INVALID_ARGUMENT", "INVALID_INPUT", put, self.client, "", b"x", **header)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", put, self.client, "named", b"x", write=good)
        for fields in ({"reference": "x"}, {"reference": "tavola-blob:00"}, {"name": "n", "reference": "tavola-blob:" + 32 * "0"}):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", get, self.client, **fields)


class Exports(LargeCase):
    def tavola(self, *arguments, code=0):
        ran = run_program("tavola", *arguments, settings={"TAVOLA_TARGET": self.stack.target})
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran.stderr

    def test_an_export_has_the_contents_and_an_import_puts_them_again(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        data = {row: content(2 * CHUNK + 5, row) for row in range(3)}
        for row, part in data.items():
            self.write(f"{row}", Photo=self.content([part[:CHUNK], part[CHUNK:]]), Text="tavola-blob as a text")
        shared = self.get(self.table, "p", "0").properties["Photo"].string_value
        self.write("shared", Photo=shared)
        file = os.path.join(folder, "people.jsonl")
        self.tavola("export", self.table, "--output", file, "--blobs", folder)
        self.assertEqual(len(os.listdir(folder)), 3 + 1)
        before, after = self.table, self.new_name()
        self.client.create_table(name=after, blob_properties=True)
        self.client.delete_table(name=before)
        self.tavola("import", after, file, "--blobs", folder)
        self.assertEqual({row: self.held(f"{row}", table=after) for row in data}, data)
        self.assertEqual(self.held("shared", table=after), data[0])
        self.client.delete_table(name=after)
        self.assert_nothing_left()

    def test_what_is_missing_or_does_not_go_together_is_said(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.write("r", Photo=self.content(b"x"))
        file = os.path.join(folder, "r.jsonl")
        self.tavola("export", self.table, "--output", file)
        missing = self.get(self.table, "p", "r").properties["Photo"].string_value.split(":")[1]
        self.assertIn(missing, self.tavola("import", self.table, file, "--blobs", folder, code=1))
        self.tavola("export", self.table, "--csv", "--blobs", folder, code=2)
        self.tavola("import", self.table, file, "--csv", "--blobs", folder, code=2)


class Holding(LargeCase):
    def test_every_way_of_writing_holds_the_content(self):
        data = b"the content"
        ways = {
            "insert": lambda e: self.client.insert_entity(table=self.table, entity=e),
            "upsert": lambda e: self.client.insert_or_replace_entity(table=self.table, entity=e),
            "merge": lambda e: self.client.insert_or_merge_entity(table=self.table, entity=e),
            "batch": lambda e: self.client.execute_batch(table=self.table, operations=[{"insert": e}]),
            "import": lambda e: list(self.client.import_entities([ImportEntitiesRequest(table=self.table, entities=[e])])),
            "step": lambda e: self.transaction([{"insert_or_replace": {"table": self.table, "entity": e}}]),
        }
        for way, write in ways.items():
            with self.subTest(way=way):
                write(entity(way, Photo=self.content(data), Name="Ada"))
                self.assertEqual(self.held(way), data)
        self.assertEqual(self.references(), len(ways))
        self.end_waits()
        for way in ways:
            self.assertEqual(self.held(way), data)
        self.client.delete_range(query={"table": self.table, "filter": "PartitionKey eq 'p'"})
        wait_for("the range to go", lambda: self.references() == 0)
        self.assert_nothing_left()

    def transaction(self, steps):
        name = self.new_name("tx")
        self.client.submit_transaction(transaction_id=name, steps=steps)
        done = self.client.wait_transaction(transaction_id=name, timeout=20).transaction
        return done.state, done.timeline[-1].error.reason

    def test_a_batch_with_large_entities_is_written_whole_or_not_at_all(self):
        one, two = self.content(b"1"), self.content(b"2")
        gone = "tavola-blob:" + 32 * "0"
        error = self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.client.execute_batch, table=self.table, operations=[
            {"insert": entity("a", Photo=one)}, {"insert": entity("b", Photo=gone)}])
        self.assertEqual((error.metadata["property"], error.metadata["operation_index"]), ("Photo", "1"))
        self.assertEqual(self.references(), 0)
        self.client.execute_batch(table=self.table, operations=[
            {"insert": entity("a", Photo=one)}, {"insert": entity("b", Photo=two, Second=one)}])
        self.assertEqual((self.held("a"), self.held("b"), self.held("b", "Second")), (b"1", b"2", b"1"))
        self.assertEqual(self.references(), 3)
        # In one commit the content goes from one entity to another.
        self.client.execute_batch(table=self.table, operations=[
            {"delete": {"partition_key": "p", "row_key": "b"}, "precondition": match()},
            {"insert": entity("c", Photo=two)}])
        self.end_waits()
        self.assertEqual(self.held("c"), b"2")
        self.client.delete_range(query={"table": self.table, "filter": "PartitionKey eq 'p'"})
        wait_for("the range to go", lambda: self.references() == 0)
        self.assert_nothing_left()

    def test_a_write_gives_up_what_it_replaces_and_keeps_the_rest(self):
        photo, letter = self.content(b"photo"), self.content(b"letter")
        self.write("r", Photo=photo, Letter=letter)
        new = self.content(b"new")
        self.client.merge_entity(table=self.table, entity=entity("r", Photo=new), precondition=match())
        self.assertEqual((self.held("r"), self.held("r", "Letter")), (b"new", b"letter"))
        self.assertEqual(get(self.client, reference=photo)[1], b"photo")  # for those who still read it
        self.wait_gone(photo)
        self.client.replace_entity(table=self.table, entity=entity("r", Photo=new), precondition=match())
        self.wait_gone(letter)
        self.assertEqual(self.held("r"), b"new")
        # What was given up cannot be taken again.
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.write, "again", Photo=photo)
        self.client.delete_entity(table=self.table, key={"partition_key": "p", "row_key": "r"}, precondition=match())
        self.assert_nothing_left()

    def test_a_copy_of_an_entity_holds_the_content_too(self):
        self.write("original", Photo=self.content(b"shared"))
        copy = self.get(self.table, "p", "original").properties["Photo"].string_value
        self.write("copy", Photo=copy)
        self.client.delete_entity(
            table=self.table, key={"partition_key": "p", "row_key": "original"}, precondition=match())
        self.end_waits()
        wait_for("one holder", lambda: self.references() == 1)
        self.assertEqual(self.held("copy"), b"shared")
        self.client.delete_table(name=self.table)
        wait_for("no holder", lambda: self.references() == 0)
        self.assert_nothing_left()

    def test_a_moved_entity_takes_its_content_along(self):
        other, plain = self.new_name(), self.new_table()
        self.client.create_table(name=other, blob_properties=True)
        self.write("r", Photo=self.content(b"moved"))
        address = {"table": self.table, "key": {"partition_key": "p", "row_key": "r"}}
        into = {"table": other, "key": {"partition_key": "p", "row_key": "r"}}
        self.assertEqual(self.transaction([{"move": {"source": address, "destination": into}}]), (3, ""))
        self.assertEqual(self.held("r", table=other), b"moved")
        self.assertEqual(self.transaction([{"move": {"source": into, "destination": {**address, "table": plain}}}]),
                         (4, "BLOB_PROPERTIES_REFUSED"))
        self.assertEqual(self.held("r", table=other), b"moved")
        self.assertEqual((self.references(), self.references(other)), (0, 1))
        self.client.delete_table(name=other)
        wait_for("no holder", lambda: self.references(other) == 0)
        self.assert_nothing_left()

    def test_an_entity_that_expires_gives_up_its_content(self):
        now = int(time.time())
        self.client.insert_entity(table=self.table, entity=entity("r", now - 5, Photo=self.content(b"x")))
        wait_for("the sweep", lambda: self.references() == 0)
        self.assert_nothing_left()

    def test_a_content_that_no_entity_takes_is_abandoned(self):
        lost = self.content([content(CHUNK, 1), b"x"])
        self.assert_nothing_left()
        self.wait_gone(lost)
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.write, "r", Photo=lost)

    def test_only_tables_with_blob_properties_read_references(self):
        plain = self.new_table()
        lost, kept = "tavola-blob:" + 32 * "0", self.content(b"kept")
        self.write("r", _table=plain, Photo="tavola-blob:anything", Other=lost, Third=kept)
        self.assertEqual(self.references(), 0)
        for wrong in ("tavola-blob:", "tavola-blob:" + 32 * "g", lost + "0", lost[:-1]):
            error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.write, "r", Photo=wrong)
            self.assertEqual(error.metadata["property"], "Photo")
        self.write("r", Photo="tavola-blobs are fine", Text="no tavola-blob:x", Bytes=b"tavola-blob:")
        many = {f"P{n}": self.content(b"%d" % n) for n in range(17)}
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.write, "many", **many)
        named = put(self.client, "named", b"x").etag.strip('"')
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.write, "r", Photo="tavola-blob:" + named)
        rejected = list(self.client.import_entities([ImportEntitiesRequest(
            table=self.table, entities=[entity("bad", Photo=lost), entity("good", Photo=kept)])]))
        self.assertEqual([(r.position, r.error.reason) for reply in rejected for r in reply.rejected], [(0, "BLOB_NOT_FOUND")])
        self.assertEqual(self.held("good"), b"kept")
        self.client.delete_table(name=self.table)

    def test_a_string_from_before_the_setting_takes_no_blob_away(self):
        table = self.new_table()
        blob = put(self.client, "kept", b"kept")
        string = "tavola-blob:" + blob.etag.strip('"')
        self.write("before", _table=table, Photo=string)
        self.client.update_table(table={"name": table, "blob_properties": True}, update_mask={"paths": ["blob_properties"]})
        self.write("before", _table=table, Photo=string, Name="Ada")
        self.client.delete_entity(table=table, key={"partition_key": "p", "row_key": "before"}, precondition=match())
        self.assert_nothing_left()
        self.assertEqual(get(self.client, "kept")[1], b"kept")
        self.assertEqual(self.stack.sql("select state from blob_contents c join blobs b using (content_id) where b.name = 'kept'"), "2")

    def test_blob_properties_stay_while_entities_hold_blobs(self):
        table = self.new_table()

        def switch(on):
            return self.client.update_table(
                table={"name": table, "blob_properties": on}, update_mask={"paths": ["blob_properties"]}).table.blob_properties

        self.assertTrue(switch(True))
        self.write("r", _table=table, Photo=self.content(b"x"))
        self.refused("FAILED_PRECONDITION", "BLOB_PROPERTIES_REFUSED", switch, False)
        self.client.delete_entity(table=table, key={"partition_key": "p", "row_key": "r"}, precondition=match())
        self.assertFalse(switch(False))
        self.stack.sql("update schema_migrations set oldest_program = 36")
        self.refused("FAILED_PRECONDITION", "BLOB_PROPERTIES_REFUSED", switch, True)
        self.refused("FAILED_PRECONDITION", "BLOB_PROPERTIES_REFUSED", self.client.create_table, name="older", blob_properties=True)
        self.stack.sql("update schema_migrations set oldest_program = version")
        self.assertTrue(switch(True))

    def test_a_repeated_request_is_answered_from_its_record(self):
        photo = self.content(b"x")
        fields = {"table": self.table, "entity": entity("r", Photo=photo), "request_id": self.new_name("id")}
        first = self.client.insert_or_replace_entity(**fields).result
        self.write("r", Name="Ada")  # gives the content up
        self.assert_nothing_left()
        again = self.client.insert_or_replace_entity(**fields).result
        self.assertEqual((again.etag, again.replayed), (first.etag, True))

    def test_many_that_copy_and_delete_neither_lose_a_content_nor_leave_one(self):
        """Guards G60 and G61: all take and give up the same contents, while the worker collects."""
        failures = []

        def run(number):
            try:
                caller = self.stack.connect()
                for turn in range(25):
                    mine = put(caller, "", content(2000, turn % 3)).reference
                    rows = [f"{number}", f"{(number + 1) % 4}"]
                    try:
                        caller.execute_batch(table=self.table, operations=[
                            {"insert_or_replace": entity(row, Photo=mine)} for row in rows])
                        seen = caller.get_entity(table=self.table, key={"partition_key": "p", "row_key": rows[0]}).entity
                        copied = seen.properties["Photo"].string_value
                        caller.insert_or_replace_entity(table=self.table, entity=entity(f"copy{number}", Photo=copied))
                        caller.delete_entity(table=self.table, key={"partition_key": "p", "row_key": f"copy{(number + 1) % 4}"},
                                             precondition=match())
                    except ApiError as error:
                        # Another one has replaced or deleted it meanwhile: nothing else may happen.
                        if error.reason not in ("RESOURCE_NOT_FOUND", "BLOB_NOT_FOUND"):
                            raise
                caller.channel.close()
            except Exception as error:  # pylint: disable=broad-except
                failures.append(error)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            self.end_waits()
            time.sleep(0.02)
        self.assertEqual(failures, [])
        self.end_waits()
        audit.check(self.stack, 20)
        for found in self.client.query_entities(query={"table": self.table}).entities:
            self.assertEqual(len(get(self.client, reference=found.properties["Photo"].string_value)[1]), 2000)


class WideEntities(LargeCase):
    """Entities whose rows under them hold contents: what a write leaves unread keeps its content."""

    COUNT = 2000  # properties, so that the entity is spread over several rows

    def setUp(self):
        self.table = self.new_wide()

    def new_wide(self, **options):
        name = self.new_name("wide")
        made = self.client.create_table(name=name, wide_entities=True, blob_properties=True, **options).table
        self.assertTrue(made.wide_entities and made.blob_properties)
        return name

    def spread(self, row, **properties):
        filling = {f"n{n:05}": f"a value of the property {n}" for n in range(self.COUNT)}
        self.write(row, **filling, **properties)
        self.assertGreater(int(self.stack.sql(
            f"select count(*) from entity_parts p join tables t using (table_id) where t.name = '{self.table}' and row_key = '{row}'")), 2)

    def merge(self, row, **properties):
        self.client.merge_entity(table=self.table, entity=entity(row, **properties), precondition=match())

    def address(self, row, table=None):
        return {"table": table or self.table, "key": {"partition_key": "p", "row_key": row}}

    def run_steps(self, *steps):
        name = self.new_name("tx")
        self.client.submit_transaction(transaction_id=name, steps=steps)
        done = self.client.wait_transaction(transaction_id=name, timeout=20).transaction
        return done.state, done.timeline[-1].error.reason

    def test_a_merge_gives_up_the_content_that_it_replaces_and_no_other(self):
        first, last = self.content(b"first"), self.content(b"last")
        self.spread("r", A=first, z=last, z2=first)
        self.assertEqual(self.references(), 2)
        self.merge("r", n01000="changed")
        write = {"table": self.table, "operation": {"merge": entity("r"), "precondition": match()}, "property": "A"}
        list(self.client.put_blob(blobs.messages("", b"new", write=write)))
        self.end_waits()
        # z2 holds the first content, in a row that the merge of A has not read.
        self.assertEqual([self.held("r", name) for name in ("A", "z", "z2")], [b"new", b"last", b"first"])
        found = self.get(self.table, "p", "r", options={"select": ["z"]})
        self.assertEqual({name: value.string_value for name, value in found.properties.items()}, {"z": last})
        self.assertEqual([row.row_key for row in self.client.query(self.table, f"z eq '{last}'")], ["r"])
        self.merge("r", z2="text")
        self.wait_gone(first)
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.merge, "r", A=first)
        self.write("r", Photo=last)  # back into one row
        self.assertEqual((self.held("r"), self.references()), (b"last", 1))
        self.client.delete_entity(table=self.table, key=self.address("r")["key"], precondition=match())
        self.assert_nothing_left()

    def test_an_entity_holds_sixteen_contents_in_all_its_rows(self):
        self.spread("r", **{f"z{n}": self.content(b"%d" % n) for n in range(15)})
        self.merge("r", A=self.content(b"16"))
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.merge, "r", B=self.content(b"17"))
        self.assertIn("at most 16", error.message)
        self.merge("r", A="text")
        self.merge("r", B=self.content(b"16 again"))
        self.assertEqual(self.references(), 16)

    def test_copies_and_moves_take_the_contents_along(self):
        other, without = self.new_wide(), self.new_name("wide")
        self.client.create_table(name=without, wide_entities=True)
        self.spread("r", A=self.content(b"first"), z=self.content(b"last"))
        self.write("copy", Photo=self.get(self.table, "p", "r").properties["z"].string_value)
        self.assertEqual(self.run_steps({"move": {"source": self.address("r"), "destination": self.address("r", without)}}),
                         (4, "BLOB_PROPERTIES_REFUSED"))
        self.assertEqual(self.run_steps({"move": {"source": self.address("r"), "destination": self.address("r", other)}}), (3, ""))
        self.assertEqual((self.references(), self.references(other)), (1, 2))
        self.end_waits()
        self.assertEqual([self.held("r", name, other) for name in ("A", "z")], [b"first", b"last"])
        self.client.delete_table(name=other)
        wait_for("one holder", lambda: self.references(other) == 0)
        self.end_waits()
        self.assertEqual(self.held("copy"), b"last")
        self.assert_nothing_left()

    def test_what_expires_or_is_deleted_with_a_range_gives_up_its_contents(self):
        for row in ("range", "late"):
            self.spread(row, A=self.content(b"first"), z=self.content(row.encode()))
        self.client.merge_entity(table=self.table, entity=entity("late", 1), precondition=match())
        wait_for("the sweep", lambda: self.references() == 2)
        self.wait_done(self.client.delete_range(query={"table": self.table, "filter": "n01999 ge ''"}).operation)
        self.assertEqual(self.references(), 0)
        self.assert_nothing_left()

    def test_a_feed_leaves_out_the_properties_and_the_reader_gets_entity_and_content(self):
        self.table = self.new_wide(change_feed=True)
        watch = Watch(self.client, self.table).begin()
        self.addCleanup(watch.close)
        self.spread("r", A=self.content(b"first"))
        self.write("small", Photo=self.content(b"small"))
        changes = watch.until(2)
        self.assertEqual([change.left_out for change in changes], [True, False])
        self.assertEqual(self.held("r", "A"), b"first")
        self.assertEqual(get(self.client, reference=changes[1].entity.properties["Photo"].string_value)[1], b"small")

    def test_what_was_exported_is_imported_with_its_contents(self):
        settings = {"TAVOLA_TARGET": self.stack.target}
        self.write("r", A=self.content(b"first"))
        # More than a reply holds, so the entity is scanned and imported in parts.
        self.merge("r", **{f"b{part:02}": b"x" * 60_000 for part in range(55)})
        self.merge("r", z=self.content(b"last"))
        after, strings = self.new_wide(), self.new_name("wide")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "out.jsonl")
            for arguments in (["export", self.table, "--output", file], ["import", after, file]):
                done = run_program("tavola", *arguments, "--blobs", folder, settings=settings, seconds=60)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.references(after), 2)
            read = self.get(after, "p", "r", options={"select": ["A", "z"]}).properties
            self.assertEqual([get(self.client, reference=read[name].string_value)[1] for name in ("A", "z")], [b"first", b"last"])
            # Without blob_properties the same strings hold nothing, so there is nothing to export.
            self.client.create_table(name=strings, wide_entities=True)
            self.client.insert_entity(table=strings, entity=entity("o'r", Photo="tavola-blob:" + 32 * "0"))
            done = run_program("tavola", "export", strings, "--output", file, "--blobs", folder, settings=settings, seconds=60)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("BLOB_CHANGED", done.stderr)

    def test_the_setting_needs_a_database_that_accepts_no_older_program(self):
        wide = self.new_name("wide")
        self.client.create_table(name=wide, wide_entities=True)
        on = {"table": {"name": wide, "blob_properties": True}, "update_mask": {"paths": ["blob_properties"]}}
        self.stack.sql("update schema_migrations set oldest_program = 49")
        try:
            self.refused("FAILED_PRECONDITION", "BLOB_PROPERTIES_REFUSED", self.client.update_table, **on)
            self.refused("FAILED_PRECONDITION", "BLOB_PROPERTIES_REFUSED", self.client.create_table, name="older", wide_entities=True,
                         blob_properties=True)
        finally:
            self.stack.sql("update schema_migrations set oldest_program = version")
        self.table = wide
        before = "tavola-blob:" + 32 * "0"
        self.spread("r", A=before)  # a string, as long as it is not written again
        self.assertTrue(self.client.update_table(**on).table.blob_properties)
        self.merge("r", z=self.content(b"last"))
        self.merge("r", A="text")
        self.assertEqual((self.held("r", "z"), self.references()), (b"last", 1))
        self.refused("NOT_FOUND", "BLOB_NOT_FOUND", self.merge, "r", A=before)


if __name__ == "__main__":
    unittest.main()
