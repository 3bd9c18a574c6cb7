# SPDX-License-Identifier: Apache-2.0
"""Indexes on tables with wide entities: every kind, over properties of any part, after every kind of write."""

import unittest

from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, int32, key, match, plain, value
from tavola_test.waiting import wait_for

FULL, FAST = 0, 1
MIDDLE = "n4m"
# City is in the first part of an entity, n4m in the middle, zip in the last one.
BY_CITY = {"shape": 1, "place": 2, "partition_key": [{"property": "City"}], "row_key": [{"property": "zip"}]}
SOME = {"some": {"names": [MIDDLE, "zip"]}}
KINDS = {
    "eventual": {**BY_CITY, "projection": SOME, "filter": f"{MIDDLE} ge 0"},
    "strong": {**BY_CITY, "consistency": 1, "projection": {"keys_only": True}},
    "same": {"shape": 1, "place": 1, "partition_key": [{"property": "PartitionKey"}],
             "row_key": [{"property": "City"}, {"property": "zip"}], "projection": SOME},
    "unique": {"shape": 1, "place": 2, "unique": True, "partition_key": [{"property": "zip"}], "projection": SOME},
    "list": {"shape": 2, "place": 2, "partition_key": [{"property": "City"}]},
}


def wide(city, zip_code, middle=0, count=8):
    """The properties of an entity; with 8 large ones it is spread over several rows."""
    return {"City": city, "zip": zip_code, **{f"n{i}": bytes([i]) * 10_000 for i in range(count)}, MIDDLE: int32(middle)}


def indexed(properties):
    return {name: given for name, given in plain(entity("p", "r", properties)).items() if name in ("City", "zip", MIDDLE)}


class WideIndexCase(ServerCase):
    """Writes go to the table and to `rows`, which has what the indexes need of each entity by its row key."""

    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def setUp(self):
        self.names, self.rows = {}, {}
        self.table = self.new_wide()

    def new_wide(self):
        name = self.new_name("wide")
        self.client.create_table(name=name, wide_entities=True)
        return name

    def declare(self, **kinds):
        for kind, declaration in (kinds or KINDS).items():
            self.names[kind] = self.new_name(kind)
            self.client.create_index(index={"name": self.names[kind], "table": self.table, **declaration})
        for name in self.names.values():
            self.wait_ready(name)

    def put(self, row, properties):
        self.rows[row] = indexed(properties)
        return self.client.insert_or_replace_entity(table=self.table, entity=entity("p", row, properties)).result

    def merge(self, row, properties):
        self.rows[row].update(indexed(properties))
        return self.client.merge_entity(table=self.table, entity=entity("p", row, properties), precondition=match()).result

    def delete(self, row):
        del self.rows[row]
        self.client.delete_entity(table=self.table, key=key(("p", row)), precondition=match())

    def look_up(self, kind, *values, **fields):
        values = ("p", *values) if kind == "same" else values
        return self.client.lookup(self.names[kind], values, freshness={"latest": True}, timeout=20, **fields)

    def has_entry(self, kind, properties):
        needed = {"list": {"City"}, "unique": {"zip"}, "eventual": {"City", "zip", MIDDLE}}.get(kind, {"City", "zip"})
        return needed <= properties.keys() and (kind != "eventual" or properties[MIDDLE] >= 0)

    def check(self, *more):
        """Each index finds what has each of the values that the entities have, and nothing by these other ones."""
        for kind in self.names:
            by = "zip" if kind == "unique" else "City"
            for given in {properties[by] for properties in self.rows.values() if by in properties} | set(more):
                expected = {row: properties.get(MIDDLE) for row, properties in self.rows.items()
                            if properties.get(by) == given and self.has_entry(kind, properties)}
                found = {found.row_key: plain(found).get(MIDDLE) for found in self.look_up(kind, given, select=[MIDDLE])}
                self.assertEqual(found, expected, (kind, given))

    def differences(self, kind, call, **fields):
        operation = self.wait_done(call(name=self.names[kind], **fields).operation)
        return list(self.client.get_index_report(operation_id=operation.operation_id).differences)

    def verify(self):
        """Each index equals its table, by content and by versions, and copies what it names."""
        for kind, name in self.names.items():
            expected = sum(self.has_entry(kind, properties) for properties in self.rows.values())
            if kind != "list":
                wait_for("the entries", lambda: len(self.client.query(name)) == expected)
            for mode in (FULL, FAST):
                self.assertEqual(self.differences(kind, self.client.verify_index, mode=mode), [], kind)
            for entry in self.client.query(name) if kind in ("eventual", "same", "unique") else ():
                content = plain(entry)
                row = content.pop("$SourceRowKey")
                content.pop("$SourcePartitionKey")
                self.assertEqual(content, {name: given for name, given in self.rows[row].items() if name != "City"}, kind)


class WideIndexes(WideIndexCase):
    def test_every_write_is_found_by_properties_of_any_part(self):
        self.put("built", wide("Bonn", "z1", 1))
        self.put("alone", wide("Bonn", "z2", 2, count=1))
        self.declare()
        self.check("Cork")

        self.put("new", wide("Cork", "z3", 3))
        self.check()
        self.merge("new", {"City": "Bonn"})  # in the first part
        self.check("Cork")
        self.merge("new", {"zip": "z4"})  # in the last part
        self.check("z3")
        self.merge("new", {MIDDLE: int32(-1)})  # the filter
        self.check()
        self.merge("new", {"n6": int32(-5)})  # no index needs it
        self.check()
        self.put("new", wide("Cork", "z4", 5, count=1))  # into one row
        self.check()
        self.merge("new", wide("Bonn", "z5", 6))  # and out of it
        self.check("Cork", "z4")
        self.put("new", {"zip": "z5"})
        self.check("Cork")
        self.delete("built")
        self.check("z1")
        self.verify()

    def test_batches_imports_and_transactions_write_entries(self):
        self.declare()
        puts = [BatchOperation(insert_or_replace=entity("p", row, wide("Bonn", f"z{row}"))) for row in "abc"]
        self.client.execute_batch(table=self.table, operations=puts)
        self.rows = {row: {"City": "Bonn", "zip": f"z{row}", MIDDLE: 0} for row in "abc"}
        self.check()
        self.client.execute_batch(table=self.table, operations=[
            BatchOperation(insert_or_merge=entity("p", "a", {"zip": "zb"})),
            BatchOperation(insert_or_merge=entity("p", "b", {"zip": "za", MIDDLE: int32(7)}))])
        self.rows["a"]["zip"], self.rows["b"] = "zb", {"City": "Bonn", "zip": "za", MIDDLE: 7}
        self.check()
        self.refused("ALREADY_EXISTS", "UNIQUE_VIOLATION", self.merge, "c", {"zip": "za"})
        self.rows["c"]["zip"] = "zc"
        imported = [entity("p", row, wide("Cork", f"z{row}", 1)) for row in "de"]
        list(self.client.import_entities([ImportEntitiesRequest(table=self.table, entities=imported)]))
        self.rows |= {row: {"City": "Cork", "zip": f"z{row}", MIDDLE: 1} for row in "de"}
        self.check()

        self.client.submit_transaction(transaction_id=f"{self.table}-t", steps=[
            {"insert_or_merge": {"table": self.table, "entity": entity("p", "c", {"City": "Dover"})}},
            {"move": {"source": {"table": self.table, "key": key(("p", "d"))},
                      "destination": {"table": self.table, "key": key(("p", "moved"))}}},
            {"delete_if_exists": {"table": self.table, "key": key(("p", "e"))}}])
        ended = self.client.wait_transaction(transaction_id=f"{self.table}-t", timeout=30).transaction
        self.assertEqual(ended.state, 3, ended)
        self.rows["c"]["City"] = "Dover"
        self.rows["moved"] = self.rows.pop("d")
        del self.rows["e"]
        self.check("ze")
        self.verify()

    def test_what_expires_or_goes_with_a_range_leaves_no_entry(self):
        self.declare()
        for row in "abcd":
            self.put(row, wide("Bonn", f"z{row}", ord(row)))
        expired = entity("p", "gone", wide("Bonn", "zgone"))
        expired.expires.seconds = 1
        self.client.insert_or_replace_entity(table=self.table, entity=expired)
        entries = f"select count(*) from entities e join tables t using (table_id) where t.name = '{self.names['same']}'"
        wait_for("the sweep", lambda: self.stack.sql(entries) == "4")
        self.check("zgone")
        self.wait_done(self.client.delete_range(query={"table": self.table, "filter": f"{MIDDLE} ge {ord('c')}"}).operation)
        del self.rows["c"], self.rows["d"]
        self.check("zc", "zd")
        self.verify()

    def test_a_table_made_anew_has_no_entries_of_the_one_before(self):
        self.put("row", wide("Bonn", "z1"))
        self.declare()
        self.wait_done(self.client.delete_table(name=self.table).operation)
        self.client.create_table(name=self.table, wide_entities=True)
        self.rows, self.names = {}, {}
        self.declare()
        self.check("Bonn", "z1")
        self.put("other", wide("Bonn", "z1"))
        self.check()
        self.verify()

    def test_parts_that_no_index_needs_are_not_read(self):
        """Bytes that are no properties, in all parts but those of three properties, are in nobody's way."""
        self.put("built", wide("Bonn", "z1", 1))
        damage = ("update entity_parts p set properties = decode(repeat('ff', octet_length(p.properties)), 'hex') "
                  f"from tables t where t.table_id = p.table_id and t.name = '{self.table}' and p.first_name not in "
                  f"(select max(o.first_name) from entity_parts o, (values ('City'), ('{MIDDLE}'), ('zip')) v(name) "
                  "where o.table_id = p.table_id and o.row_key = p.row_key and o.first_name <= v.name collate \"C\" group by v.name)")
        self.assertIn("UPDATE", self.stack.sql(f"{damage} returning 'UPDATE'"))
        self.declare()
        self.check()
        self.put("new", wide("Cork", "z2", 2))
        self.assertIn("UPDATE", self.stack.sql(f"{damage} returning 'UPDATE'"))
        self.merge("new", {"City": "Bonn"})
        self.check("Cork")
        self.verify()
        self.delete("new")
        self.check("z2")

    def test_damaged_entries_are_found_and_mended(self):
        for row in "abc":
            self.put(row, wide("Bonn", f"z{row}", 1))
        self.declare()
        for kind, name in self.names.items():
            entries = f"table_id = (select table_id from tables where name = '{name}')"
            self.stack.sql(f"delete from entities where {entries} and position('a' in right(row_key, 1)) > 0")
            self.stack.sql(f"update entities set expires = 900000000000000000 where {entries} and right(row_key, 1) = 'b'")
            self.assertEqual(len(self.differences(kind, self.client.verify_index, mode=FULL)), 2, kind)
            mended = self.differences(kind, self.client.repair_index)
            self.assertEqual([found.state for found in mended], [2, 2], kind)
        self.check()
        self.verify()

    def test_a_consistency_changes_and_a_declaration_is_replaced(self):
        for number in range(5):
            self.put(f"r{number}", wide("Bonn", f"z{number}", number))
        self.declare(eventual=KINDS["eventual"])
        self.wait_done(self.client.update_index(name=self.names["eventual"], consistency=1).operation)
        self.merge("r1", {"City": "Cork"})
        self.check()
        self.client.update_index(name=self.names["eventual"], consistency=2)
        self.merge("r2", {"City": "Cork"})
        self.check()
        declaration = {**KINDS["eventual"], "row_key": [{"property": MIDDLE}], "name": self.names["eventual"], "table": self.table}
        self.wait_done(self.client.replace_index(index=declaration).operation)
        self.merge("r3", {MIDDLE: int32(-3)})
        self.check()
        self.verify()

    def test_an_index_copies_named_properties_only(self):
        declaration = {"name": self.new_name("i"), "table": self.table, **BY_CITY}
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.create_index, index=declaration)
        self.assertIn("index.projection", str(error.metadata) + error.message)
        self.declare(strong=KINDS["strong"])
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.replace_index,
            index={**declaration, "name": self.names["strong"]})

    def test_no_index_is_made_while_programs_may_run_that_do_not_read_parts(self):
        declaration = {"name": self.new_name("i"), "table": self.table, **KINDS["strong"]}
        self.stack.sql("update schema_migrations set oldest_program = 44")
        try:
            error = self.refused("UNIMPLEMENTED", "NOT_IMPLEMENTED", self.client.create_index, index=declaration)
            self.assertIn("tavola migrate --refuse-older", error.message)
        finally:
            self.stack.sql("update schema_migrations set oldest_program = version")
        self.client.create_index(index=declaration)

    def test_a_look_up_returns_the_whole_entity_or_what_is_selected(self):
        self.declare(strong=KINDS["strong"])
        self.put("row", wide("Bonn", "z1", 7))
        (whole,) = self.look_up("strong", "Bonn")
        self.assertEqual(plain(whole), plain(entity("p", "row", wide("Bonn", "z1", 7))))
        (selected,) = self.look_up("strong", "Bonn", select=[MIDDLE, "n7"])
        self.assertEqual(plain(selected), {MIDDLE: 7, "n7": bytes([7]) * 10_000})
        self.assertEqual(selected.etag, whole.etag)
        reply = self.client.lookup_index(index=self.names["strong"], equals=[value("Bonn")], keys_only=True)
        self.assertEqual([found.row_key for found in reply.keys], ["row"])
        error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.look_up, "strong", "Bonn", select=["a b"])
        self.assertIn("select[0]", error.message)

    def fill(self, row, mebibytes, **properties):
        """An entity of that size, by merges."""
        self.put(row, properties)
        for first in range(0, 17 * mebibytes, 17):
            self.merge(row, {f"b{i:03}": b"x" * 65_000 for i in range(first, first + 17)})

    def test_an_entity_that_is_too_large_for_a_reply_is_found_with_select(self):
        self.declare(strong=KINDS["strong"], list=KINDS["list"])
        self.fill("large", 4, City="Bonn", zip="z1")
        for kind in self.names:
            error = self.refused("INVALID_ARGUMENT", "ENTITY_TOO_LARGE", self.look_up, kind, "Bonn")
            self.assertEqual((error.metadata["row_key"], error.metadata["limit"]), ("large", str(3 << 20)))
            self.assertEqual([plain(found) for found in self.look_up(kind, "Bonn", select=["zip"])], [{"zip": "z1"}])
            reply = self.client.lookup_index(index=self.names[kind], equals=[value("Bonn")], keys_only=True, freshness={"latest": True})
            self.assertEqual([found.row_key for found in reply.keys], ["large"])

    def test_a_page_ends_when_it_is_full(self):
        self.declare(strong=KINDS["strong"])
        for number in range(6):
            self.fill(f"r{number}", 1, City="Bonn", zip=f"z{number}")
        for descending in (False, True):
            pages = list(self.client.pages(self.client.lookup_index, index=self.names["strong"], equals=[value("Bonn")], descending=descending))
            found = [found.row_key for page in pages for found in page.entities]
            self.assertEqual(found, sorted((f"r{number}" for number in range(6)), reverse=descending))
            self.assertGreater(len(pages), 1)

    def test_an_entry_that_would_be_too_large_is_a_violation(self):
        names = [f"b{i:03}" for i in range(68)]
        copy = {**BY_CITY, "projection": {"some": {"names": names}}}
        self.declare(copy=copy)
        self.fill("large", 4, City="Bonn", zip="z1")
        status = lambda: self.client.get_index(name=self.names["copy"]).status
        wait_for("the violation", lambda: status().violations == 1)
        (cause,) = status().violation_causes
        self.assertIn("the properties of the entry are too large", cause)
        self.assertEqual(self.look_up("copy", "Bonn", select=["zip"]), [])
        self.merge("large", {name: b"" for name in names[20:]})
        wait_for("no violation", lambda: status().violations == 0)
        self.assertEqual([found.row_key for found in self.look_up("copy", "Bonn", select=["zip"])], ["large"])
        self.assertEqual(self.differences("copy", self.client.verify_index), [])


if __name__ == "__main__":
    unittest.main()
