# SPDX-License-Identifier: Apache-2.0
"""Wide entities: spread over rows, written in one commit, read in one snapshot, and found like any other entity."""

import json
import random
import tempfile
import threading
import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ApiError, BatchOperation, entity, grpc, int32, key, match, plain, types, value
from tavola_test.feed import Watch
from tavola_test.processes import run_program
from tavola_test.settings import TIMEOUT_FACTOR
from tavola_test.waiting import wait_for

MAX_PROPERTIES = 100_000
MAX_BYTES = 16 * 1024 * 1024
TURNS = 59  # of a writer beside readers
ScanRequest = types.message("tavola.v1.ScanEntitiesRequest")
ScanResponse = types.message("tavola.v1.ScanEntitiesResponse")
ImportRequest = types.message("tavola.v1.ImportEntitiesRequest")
SCAN = "/tavola.v1.EntityService/ScanEntities"
TOO_MANY = "TOO_MANY_PROPERTIES"
TOO_LARGE = "ENTITY_TOO_LARGE"


def numbers(count, first=0, add=0):
    """Properties n000000 to n<count - 1>, each with its number."""
    return {f"n{i:06}": int32(i + add) for i in range(first, first + count)}


def binaries(count, first=0):
    """Properties b000 to b<count - 1> with nearly as many bytes as a property can have."""
    return {f"b{i:03}": b"x" * 60_000 for i in range(first, first + count)}


def address(table, partition_key, row_key):
    return {"table": table, "key": key((partition_key, row_key))}


class WideCase(ServerCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def setUp(self):
        self.table = self.new_wide()

    def new_wide(self):
        name = self.new_name("wide")
        self.assertTrue(self.client.create_table(name=name, wide_entities=True).table.wide_entities)
        return name

    def merge(self, row, properties, **fields):
        return self.client.insert_or_merge_entity(table=self.table, entity=entity("p", row, properties), **fields).result

    def replace(self, row, properties, **fields):
        return self.client.insert_or_replace_entity(table=self.table, entity=entity("p", row, properties), **fields).result

    def read(self, row, *select):
        return plain(self.get(self.table, "p", row, options={"select": select} if select else None))

    def parts(self, row=None):
        """The rows below an entity, or below all entities of the table."""
        which = f"and p.row_key = '{row}'" if row else ""
        return int(self.stack.sql(
            f"select count(*) from entity_parts p join tables t using (table_id) where t.name = '{self.table}' {which}"))

    def delete(self, row, **fields):
        self.client.delete_entity(table=self.table, key=key(("p", row)), precondition=match(), **fields)


class WideWrites(WideCase):
    def test_an_entity_has_100000_properties_and_not_one_more(self):
        many = numbers(MAX_PROPERTIES)
        result = self.replace("many", many)
        self.assertGreater(self.parts("many"), 10)
        self.assertEqual(self.read("many"), {name: given.int32_value for name, given in many.items()})
        self.assertEqual(self.get(self.table, "p", "many", options={"select": ["n000000"]}).etag, result.etag)

        error = self.refused("INVALID_ARGUMENT", TOO_MANY, self.merge, "many", {"one_more": 1})
        self.assertEqual((error.metadata["limit"], error.metadata["actual"]), ("100000", "100001"))
        self.refused("INVALID_ARGUMENT", TOO_MANY, self.replace, "more", numbers(MAX_PROPERTIES + 1))
        self.assertEqual(self.read("many", "n099999", "one_more"), {"n099999": 99_999})

    def test_an_entity_grows_to_16_mib_by_merges_and_not_beyond(self):
        for first in range(0, 275, 25):
            self.merge("large", binaries(25, first))
        error = self.refused("INVALID_ARGUMENT", TOO_LARGE, self.merge, "large", binaries(25, 275))
        self.assertEqual(error.metadata["limit"], str(MAX_BYTES))
        self.assertGreater(int(error.metadata["actual"]), MAX_BYTES)
        self.assertEqual(self.read("large", "b000", "b274", "b275"), {"b000": b"x" * 60_000, "b274": b"x" * 60_000})

    def test_other_tables_keep_their_limits(self):
        narrow = self.new_table()
        for properties, reason in ((numbers(253), TOO_MANY), (numbers(20_000), TOO_MANY), (binaries(20), TOO_LARGE)):
            of = entity("p", "r", properties)
            for write in (self.client.insert_entity, self.client.insert_or_replace_entity, self.client.insert_or_merge_entity):
                self.refused("INVALID_ARGUMENT", reason, write, table=narrow, entity=of)
            error = self.refused("INVALID_ARGUMENT", reason, self.client.execute_batch, table=narrow,
                operations=[BatchOperation(insert=entity("p", "a")), BatchOperation(insert=of)])
            self.assertEqual(error.metadata["operation_index"], "1")
        self.assertEqual(self.client.query(narrow), [])

    def test_a_merge_writes_the_part_of_its_property_and_no_other(self):
        self.replace("row", numbers(20_000))
        query = ("select string_agg(md5(p.properties), ' ' order by p.first_name) from entity_parts p join tables t "
                 f"using (table_id) where t.name = '{self.table}'")
        before = self.stack.sql(query).split()
        etag = self.merge("row", {"n010000": int32(-1)}).etag
        after = self.stack.sql(query).split()

        self.assertEqual(sum(one != other for one, other in zip(before, after)), 1)
        self.assertEqual(len(before), len(after))
        stored = self.get(self.table, "p", "row")
        self.assertEqual(stored.etag, etag)
        self.assertEqual(plain(stored), {f"n{i:06}": -1 if i == 10_000 else i for i in range(20_000)})

    def test_an_entity_grows_shrinks_and_goes_back_into_one_row(self):
        expected = {}
        for properties in (numbers(100), numbers(20_000), binaries(20), {"n000001": "text"}):
            self.merge("row", properties)
            expected.update(plain(entity("p", "row", properties)))
            self.assertEqual(self.read("row"), expected)
        self.assertGreater(self.parts("row"), 20)
        for count in (5_000, 3_000, 100, 0, 4_000):
            self.replace("row", numbers(count))
            self.assertEqual(self.read("row"), plain(entity("p", "row", numbers(count))))
            self.assertEqual(self.parts("row") > 0, count >= 3_000, count)
        self.delete("row")
        self.assertFalse(self.is_there(self.table, "p", "row"))
        self.assertEqual(self.parts(), 0)
        self.client.insert_entity(table=self.table, entity=entity("p", "row", numbers(4_000, add=7)))
        self.assertEqual(self.read("row", "n000000", "n003999"), {"n000000": 7, "n003999": 4_006})

    def test_one_etag_stands_for_the_whole_entity(self):
        first = self.replace("row", numbers(20_000)).etag
        second = self.merge("row", {"n000000": int32(5)}).etag
        self.assertNotEqual(first, second)
        late = entity("p", "row", {"n019999": int32(5)})
        self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.merge_entity, table=self.table, entity=late,
            precondition=match(first))
        self.client.merge_entity(table=self.table, entity=late, precondition=match(second))
        self.assertEqual(self.read("row", "n000000", "n019999"), {"n000000": 5, "n019999": 5})

    def test_a_condition_tests_a_property_of_any_part(self):
        self.replace("row", numbers(20_000))
        one = entity("p", "row", {"n000000": int32(5)})
        self.refused("ABORTED", "UPDATE_CONDITION_NOT_SATISFIED", self.client.merge_entity, table=self.table, entity=one,
            precondition={"condition": "n019999 eq 1"})
        self.client.merge_entity(table=self.table, entity=one, precondition={"condition": "n019999 eq 19999"})
        self.assertEqual(self.read("row", "n000000", "n000001"), {"n000000": 5, "n000001": 1})

    def test_a_group_transaction_writes_wide_entities_together_or_not_at_all(self):
        self.replace("there", numbers(20_000))
        operations = [
            BatchOperation(insert_or_merge=entity("p", "there", {"n000000": int32(-1), "z": 1})),
            BatchOperation(insert=entity("p", "new", numbers(20_000))),
            BatchOperation(insert=entity("p", "narrow", numbers(3))),
        ]
        self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.execute_batch, table=self.table,
            operations=[*operations, BatchOperation(insert=entity("p", "there"))][1:])
        self.assertEqual(self.parts("new"), 0)
        self.client.execute_batch(table=self.table, operations=operations)
        self.assertEqual(self.read("there", "n000000", "n019999", "z"), {"n000000": -1, "n019999": 19_999, "z": 1})
        self.assertEqual(len(self.read("new")), 20_000)
        self.assertEqual(self.read("narrow"), {f"n{i:06}": i for i in range(3)})

    def test_merges_of_different_properties_at_the_same_time_are_all_there(self):
        self.replace("row", numbers(10_000))

        def write(number):
            with self.stack.connect() as client:
                for i in range(20):
                    client.insert_or_merge_entity(
                        table=self.table, entity=entity("p", "row", {f"n{(i * 8 + number) * 60:06}": int32(-1)}))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        read = self.read("row")
        self.assertEqual(len(read), 10_000)
        self.assertEqual({name for name, number in read.items() if number == -1}, {f"n{i * 60:06}" for i in range(160)})

    def test_random_writes_agree_with_a_copy(self):
        chance = random.Random(1)
        copy = None
        for step in range(60):
            some = {f"n{chance.randrange(3000):06}": "x" * chance.choice((0, 10, 300, 3000)) for _ in range(chance.choice((1, 5, 200)))}
            way = chance.randrange(10)
            if way == 0 and copy is not None:
                self.delete("row")
                copy = None
            elif way == 1:
                self.replace("row", some)
                copy = some
            else:
                self.merge("row", some)
                copy = {**(copy or {}), **some}
            if copy is not None and sum(map(len, copy.values())) < 2_000_000:
                self.assertEqual(self.read("row"), copy, step)
            if copy:
                names = chance.sample(sorted(copy), min(len(copy), 3))
                self.assertEqual(self.read("row", *names, "absent"), {name: copy[name] for name in names}, step)


class WideReads(WideCase):
    def test_a_read_over_3_mib_asks_for_select(self):
        for first in range(0, 60, 20):
            self.merge("large", binaries(20, first))
        self.replace("small", {"b001": "small"})
        error = self.refused("INVALID_ARGUMENT", TOO_LARGE, self.get, self.table, "p", "large")
        self.assertIn("select", error.message)
        self.assertEqual(error.metadata["row_key"], "large")
        self.refused("INVALID_ARGUMENT", TOO_LARGE, self.client.query, self.table)
        self.refused("INVALID_ARGUMENT", TOO_LARGE, self.client.batch_get_entities, table=self.table,
            keys=[key(("p", "small")), key(("p", "large"))])
        self.refused("INVALID_ARGUMENT", TOO_LARGE, self.get, self.table, "p", "large", options={"select": binaries(60)})

        select = {"select": ["b001", "b059", "absent"]}
        wanted = {"b001": b"x" * 60_000, "b059": b"x" * 60_000}
        self.assertEqual(self.read("large", *select["select"]), wanted)
        self.assertEqual([plain(found) for found in self.client.query(self.table, options=select)], [wanted, {"b001": "small"}])
        found = self.client.batch_get_entities(table=self.table, keys=[key(("p", "large"))], options=select)
        self.assertEqual(plain(found.results[0].entity), wanted)

    def test_a_page_does_not_return_more_of_an_entity_either(self):
        """A client could not receive it, and would ask for the same page for ever."""
        for first in range(0, 60, 20):
            self.merge("large", binaries(20, first))
        select = {"select": binaries(60)}
        for text in ("", "b000 ne 'other'"):
            error = self.refused("INVALID_ARGUMENT", TOO_LARGE, self.client.query, self.table, text, options=select)
            self.assertEqual((error.metadata["row_key"], error.metadata["limit"]), ("large", str(3 * 1024 * 1024)))
            self.assertIn("select fewer", error.message)
        self.assertEqual(self.client.query(self.table, "absent eq 1", options=select), [])
        self.assertEqual(len(plain(self.client.query(self.table, options={"select": binaries(50)})[0])), 50)

    def test_keys_whose_select_needs_many_rows_are_read_one_after_the_other(self):
        """The 200 properties have few bytes, the rows in which they are have 4 MB."""
        pairs = {f"k{i:03}{which}": b"x" * (20_000 if which == "b" else 1) for i in range(200) for which in "ab"}
        for row in ("large", "larger"):
            for part in (dict(list(pairs.items())[:200]), dict(list(pairs.items())[200:])):
                self.merge(row, part)
        self.replace("small", {"k001a": "small"})
        select = [name for name in pairs if name.endswith("a")]
        found = self.client.batch_get_entities(table=self.table, options={"select": select},
            keys=[key(("p", row)) for row in ("small", "large", "none", "larger", "small")])
        self.assertEqual([len(plain(one.entity)) if one.HasField("entity") else None for one in found.results], [1, 200, None, 200, 1])

    def test_filters_find_a_property_of_any_part(self):
        for number in range(6):
            self.replace(f"row{number}", {**numbers(10_000), "n005000": int32(number), "zz": number % 2 == 0})
        self.replace("narrow", {"n005000": int32(3), "zz": False})

        def rows(text, **fields):
            return [found.row_key for found in self.client.query(self.table, text, **fields)]

        self.assertEqual(rows("n005000 eq 3"), ["narrow", "row3"])
        self.assertEqual(rows("n005000 ge 3 and zz eq true"), ["row4"])
        self.assertEqual(rows("PartitionKey eq 'p' and RowKey ge 'row2' and n009999 eq 9999"), ["row2", "row3", "row4", "row5"])
        self.assertEqual(rows("zz eq true", options={"select": ["n000001"]}), ["row0", "row2", "row4"])
        self.assertEqual(rows("PartitionKey eq 'p' and RowKey eq 'row1'"), ["row1"])
        found = self.client.query(self.table, "zz eq true", options={"select": ["n000001", "zz"]})
        self.assertEqual([plain(one) for one in found], [{"n000001": 1, "zz": True}] * 3)
        self.assertEqual(self.client.count_entities(query={"table": self.table, "filter": "n005000 lt 4"}).count, 5)
        self.assertEqual(self.client.count_entities(query={"table": self.table}).count, 7)
        down = [found.row_key for page in self.client.pages(
            self.client.query_entities, query={"table": self.table, "descending": True}, page_size=2) for found in page.entities]
        self.assertEqual(down, [f"row{number}" for number in reversed(range(6))] + ["narrow"])

    def test_readers_see_every_write_whole_or_not_at_all(self):
        """A writer replaces the whole entity again and again, wide, wider and narrow."""
        names = numbers(3_000)
        self.replace("row", {name: int32(0) for name in names})
        is_over = threading.Event()

        def write():
            try:
                with self.stack.connect() as client:
                    for turn in range(1, TURNS + 1):
                        count = (3_000, 9_000, 50)[turn % 3]
                        client.insert_or_replace_entity(
                            table=self.table, entity=entity("p", "row", {name: int32(turn) for name in numbers(count)}))
            finally:
                is_over.set()

        thread = threading.Thread(target=write)
        thread.start()
        torn, reads = [], 0
        while not is_over.is_set():
            reads += 1
            whole = [self.read("row"), plain(self.client.query(self.table)[0]),
                self.read("row", "n000000", "n000049", "n000025", "n002999", "n008999")]
            torn += [sorted(set(read.values())) for read in whole if len(set(read.values())) != 1]
            torn += [len(read) for read in whole[:2] if len(read) not in (50, 3_000, 9_000)]
        thread.join()
        self.assertEqual(torn, [])
        self.assertGreater(reads, 3)
        self.assertEqual(set(self.read("row").values()), {TURNS})


class LargeEntities(WideCase):
    """Entities of more than 3 MiB, which come and go in parts."""

    with_worker = False
    others = {"a": {"b000": "small"}, "c": {"b001": "small"}}

    def fill(self, row="b", count=100):
        for first in range(0, count, 50):
            self.merge(row, binaries(min(50, count - first), first))

    def scan(self, text="", **fields):
        """The messages of a scan that is in parts."""
        request = {"query": {"table": self.table, "filter": text, "descending": fields.pop("descending", False)}, "in_parts": True}
        return self.client.scan_entities([ScanRequest(**{**request, **fields})])

    @staticmethod
    def joined(messages):
        """[(row key, properties)] of the entities; the parts of each have one version."""
        found, large = [], None
        for message in messages:
            entities = [type(one).FromString(one.SerializeToString()) for one in message.entities]
            if message.continued:
                (part,) = entities
                assert part.etag == large.etag and part.timestamp == large.timestamp, "a torn entity"
                assert not set(part.properties) & set(large.properties)
                large.MergeFrom(part)
                entities = [large]
            large = entities.pop() if message.continues else None
            found += [(one.row_key, plain(one)) for one in entities]
        assert large is None
        return found

    def test_a_scan_in_parts_returns_every_entity_whole(self):
        self.fill()
        expected = {**self.others, "b": {name: given for name, given in binaries(100).items()}}
        for row, properties in self.others.items():
            self.replace(row, properties)

        messages = list(self.scan())
        self.assertEqual(self.joined(messages), sorted(expected.items()))
        self.assertGreater(sum(message.continues for message in messages), 1)
        self.assertLess(max(message.ByteSize() for message in messages), 3 * 1024 * 1024)
        self.assertEqual(self.joined(self.scan(descending=True)), sorted(expected.items(), reverse=True))
        self.assertEqual(self.joined(self.scan(snapshot=True)), sorted(expected.items()))
        self.assertEqual(self.joined(self.scan("RowKey ge 'b' and b099 ne 'other'")), [("b", expected["b"])])
        self.assertEqual(self.joined(self.scan("b099 eq 'other'")), [])
        self.assertEqual(self.joined(self.scan("RowKey eq 'b'", options={"select": binaries(80)})), [("b", binaries(80))])
        self.assertEqual([entity.row_key for message in self.scan(options={"select": ["b001"]}) for entity in message.entities], ["a", "b", "c"])
        (error,) = [self.refused("INVALID_ARGUMENT", TOO_LARGE, list, self.scan(in_parts=False))]
        self.assertIn("in_parts", error.message)

    def test_a_scan_that_resumes_within_an_entity_begins_with_its_first_part(self):
        self.fill()
        for row, properties in self.others.items():
            self.replace(row, properties)
        messages = list(self.scan())
        whole = self.joined(messages)
        for position, message in enumerate(messages[:-1]):
            rest = self.joined(self.scan(resume_token=message.resume_token))
            done = self.joined(messages[: position + 1]) if not message.continues else whole[:1]
            self.assertEqual([row for row, _ in rest], [row for row, _ in whole[len(done):]])
        self.assertEqual(rest, whole[len(done):])

    def test_the_parts_are_those_of_one_version(self):
        """While the entity is read, a writer changes its first and its last property together, again and again."""
        self.fill()
        stopped = threading.Event()

        def write():
            with self.stack.connect() as client:
                number = 0
                while not stopped.is_set():
                    number += 1
                    client.insert_or_merge_entity(table=self.table, entity=entity("p", "b", {"a": int32(number), "z": int32(number)}))

        self.merge("b", {"a": int32(0), "z": int32(0)})
        writer = threading.Thread(target=write)
        writer.start()
        try:
            seen = set()
            while len(seen) < 3:
                ((_, read),) = self.joined(self.scan())
                self.assertEqual(read["a"], read["z"])
                self.assertEqual(len(read), 102)
                seen.add(read["a"])
        finally:
            stopped.set()
            writer.join()

    def import_parts(self, *parts, table=None):
        """The replies to an import of messages, each a pair of entities and whether the last one continues."""
        return list(self.client.import_entities(
            ImportRequest(table=table or self.table, entities=entities, continues=continues) for entities, continues in parts))

    def test_an_import_writes_an_entity_when_its_last_part_has_arrived(self):
        def part(first, count=50):
            return entity("p", "b", binaries(count, first))

        self.replace("b", {"before": 1})
        replies = []

        def parts():
            yield ImportRequest(table=self.table, entities=[entity("p", "a", {"b000": "small"}), part(0)], continues=True)
            for first in (50, 100, 150, 200):
                yield ImportRequest(entities=[part(first)], continues=True)
            wait_for("the answers to the parts", lambda: len(replies) == 5)
            self.assertEqual(self.read("b"), {"before": 1})
            yield ImportRequest(entities=[part(250, 20)])
            yield ImportRequest(entities=[entity("p", "c", {"b001": "small"}), entity("p/", "refused")])

        for reply in self.client.import_entities(parts()):
            replies.append(reply)
        self.assertEqual([reply.committed for reply in replies], [1, 1, 1, 1, 1, 2, 3])
        self.assertEqual([one.position for reply in replies for one in reply.rejected], [3])
        self.assertEqual(self.joined(self.scan("RowKey eq 'b'")), [("b", binaries(270))])

    def test_what_is_wrong_with_parts_is_said_and_nothing_is_written(self):
        def rejection(*parts, table=None):
            (rejected,) = [one for reply in self.import_parts(*parts, table=table) for one in reply.rejected]
            self.assertEqual(rejected.position, 0)
            return rejected.error.reason, rejected.error.message

        def part(first, count=50):
            return [entity("p", "b", binaries(count, first))]

        large = [(part(first), first < 250) for first in range(0, 300, 50)]
        self.assertEqual(rejection(*large)[0], TOO_LARGE)
        self.assertEqual(rejection((part(0), True), (part(50), False), table=self.new_table())[0], TOO_LARGE)
        many = [([entity("p", "b", numbers(60_000, first))], first == 0) for first in (0, 60_000)]
        self.assertEqual(rejection(*many)[0], TOO_MANY)
        reason, message = rejection((part(50), True), (part(0), False))
        self.assertEqual(reason, "INVALID_INPUT")
        self.assertIn("not behind", message)
        for parts in ([(part(0), True)], [([], True)], [(part(0), True), ([entity("p", "other")], False)],
                      [(part(0), True), (part(50) + [entity("p", "other")], False)]):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.import_parts, *parts)
        self.assertEqual(self.client.query(self.table), [])

    def test_what_is_exported_can_be_imported(self):
        self.fill()
        self.replace("a", numbers(20_000))
        self.replace("c", {"b000": "small"})
        other = self.new_wide()
        settings = {"TAVOLA_TARGET": self.stack.target}
        with tempfile.TemporaryDirectory() as folder:
            for options in ([], ["--snapshot"]):
                path = f"{folder}/out{len(options)}.jsonl"
                done = run_program("tavola", "export", self.table, "--output", path, *options, settings=settings, seconds=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual([json.loads(line)["RowKey"] for line in file], ["a", "b", "c"])
            done = run_program("tavola", "import", other, path, settings=settings, seconds=60)
            self.assertEqual((done.returncode, done.stderr.split(",")[0]), (0, "tavola import: 3 imported"), done.stderr)
        expected = self.joined(self.scan())
        self.table = other
        self.assertEqual(self.joined(self.scan()), expected)

    @unittest.skipIf(TIMEOUT_FACTOR > 1, "programs with sanitizers need more memory")
    def test_scans_that_are_not_read_do_not_fill_the_memory(self):
        """The account's share is a quarter of the limit, so the server refuses what would be the fifth large entity. The client
        buffers little, so a scan that is not read stays at its first parts.
        """
        self.fill(count=270)
        usual = self.stack.target
        self.addCleanup(setattr, self.stack, "target", usual)
        self.stack.new_target()
        self.stack.start_server(TAVOLA_MEMORY_LIMIT="256MB")
        request = ScanRequest(query={"table": self.table}, in_parts=True)
        with self.stack.connect(options={"grpc.http2.bdp_probe": 0, "grpc.http2.lookahead_bytes": 65535}) as client:
            scan = client.channel.unary_stream(SCAN, ScanRequest.SerializeToString, ScanResponse.FromString)
            calls, outcomes = [], []
            while "SERVER_BUSY" not in outcomes and len(calls) < 32:
                calls.append(scan(request, timeout=60))
                try:
                    outcomes.append(next(calls[-1]).continues)
                except grpc.RpcError as error:
                    outcomes.append(ApiError(error).reason)
            self.assertEqual(set(outcomes), {True, "SERVER_BUSY"})
            for call in calls:
                call.cancel()

            def is_there_room():
                try:
                    return self.joined(scan(request, timeout=60))
                except grpc.RpcError:
                    return None

            ((_, read),) = wait_for("the memory of the cancelled scans", is_there_room)
            self.assertEqual(len(read), 270)


class WideFeeds(WideCase):
    """Changes of entities that the feed has room for are whole; others have to be read."""

    def new_wide(self):
        name = self.new_name("wide")
        self.assertTrue(self.client.create_table(name=name, wide_entities=True, change_feed=True).table.change_feed)
        return name

    def watch(self):
        out = Watch(self.client, self.table).begin()
        self.addCleanup(out.close)
        return out

    def test_every_write_is_told_with_the_properties_of_small_entities_alone(self):
        watch = self.watch()
        results = [self.merge("row", {"n": 1}), self.merge("row", numbers(10_000)), self.merge("row", {"n000001": int32(-1)}),
                   self.replace("row", numbers(5_000)), self.replace("row", {"n": 2}), self.merge("row", binaries(20))]
        self.delete("row")
        self.client.execute_batch(table=self.table, operations=[
            BatchOperation(insert=entity("p", "a", numbers(10_000))), BatchOperation(insert=entity("p", "b", {"n": 3}))])

        changes = watch.until(9)
        self.assertEqual([change.entity.etag for change in changes[:6]], [result.etag for result in results])
        self.assertEqual([change.left_out for change in changes], [False, True, True, True, False, True, False, True, False])
        self.assertEqual([plain(change.entity) for change in changes], [{"n": 1}, {}, {}, {}, {"n": 2}, {}, {}, {}, {"n": 3}])
        self.assertEqual([change.deleted for change in changes], [False] * 6 + [True] + [False] * 2)
        self.assertEqual([change.inserted for change in changes], [True] + [False] * 6 + [True] * 2)

    def test_a_copy_that_reads_what_is_left_out_becomes_equal(self):
        watch, chance, copy, written = self.watch(), random.Random(18), {}, 0
        for _ in range(30):
            row = f"r{chance.randrange(3)}"
            kind = chance.randrange(4)
            if kind == 0 and self.is_there(self.table, "p", row):
                self.delete(row)
                written += 1
            elif kind:
                (self.merge, self.replace)[kind % 2](row, numbers(chance.choice((3, 2_000, 5_000)), add=chance.randrange(9)))
                written += 1
            if chance.randrange(3) == 0:
                self.follow(watch, copy, chance.randrange(len(watch.changes), written + 1))
        self.follow(watch, copy, written)
        self.assertEqual(copy, {found.row_key: plain(found) for found in self.client.query(self.table)})

    def follow(self, watch, copy, count):
        """Apply the changes up to this number, which may be older than what is read for them."""
        done = len(watch.changes)
        for change in watch.until(count)[done:]:
            row = change.entity.row_key
            is_read = change.left_out and self.is_there(self.table, "p", row)
            if change.deleted or (change.left_out and not is_read):
                copy.pop(row, None)
            else:
                copy[row] = self.read(row) if is_read else plain(change.entity)

    def test_a_feed_is_switched_on_when_no_program_may_run_that_would_write_half_changes(self):
        table = super().new_wide()
        on = {"table": {"name": table, "change_feed": True}, "update_mask": {"paths": ["change_feed"]}}
        self.stack.sql("update schema_migrations set oldest_program = 44")
        try:
            error = self.refused("UNIMPLEMENTED", "NOT_IMPLEMENTED", self.client.update_table, **on)
            self.assertIn("tavola migrate --refuse-older", error.message)
            self.refused("UNIMPLEMENTED", "NOT_IMPLEMENTED", self.client.create_table, name="early", wide_entities=True, change_feed=True)
        finally:
            self.stack.sql("update schema_migrations set oldest_program = version")
        self.assertTrue(self.client.update_table(**on).table.change_feed)


class WideTables(WideCase):
    def test_the_option_is_set_when_the_table_is_made(self):
        self.assertTrue(self.client.get_table(name=self.table).table.wide_entities)
        self.assertFalse(self.client.get_table(name=self.new_table()).table.wide_entities)
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.update_table,
            table={"name": self.table}, update_mask={"paths": ["wide_entities"]})

    def test_the_command_line_makes_a_table_with_wide_entities(self):
        def tavola(*arguments, code=0):
            done = run_program("tavola", *arguments, settings={"TAVOLA_TARGET": self.stack.target}, seconds=60)
            self.assertEqual(done.returncode, code, done.stderr)

        def projection(index):
            return self.client.get_index(name=index).index.projection

        for name, options in (("Plain", ()), ("Shelves", ("--wide-entities",)), ("Holding", ("--wide-entities", "--blob-properties"))):
            tavola("table", "create", name, *options)
            made = self.client.get_table(name=name).table
            self.assertEqual((made.wide_entities, made.blob_properties), (len(options) > 0, len(options) > 1))
        tavola("index", "create", "all", "Shelves", "City", code=1)
        tavola("index", "create", "some", "Shelves", "City", "--select", "Name,Age")
        self.assertEqual(list(projection("some").some.names), ["Age", "Name"])
        tavola("index", "create", "keys", "Shelves", "City", "--keys-only", "--same-partition")
        self.assertTrue(projection("keys").keys_only)
        tavola("index", "create", "both", "Shelves", "City", "--keys-only", "--select", "Name", code=2)
        tavola("index", "create", "none", "Shelves", "City", "--select", "", code=2)

    def test_expired_entities_go_with_their_parts(self):
        expired = entity("p", "gone", numbers(10_000))
        expired.expires.seconds = 1
        self.client.insert_or_replace_entity(table=self.table, entity=expired)
        wait_for("the sweep", lambda: self.parts() == 0)
        self.assertFalse(self.is_there(self.table, "p", "gone"))

    def test_a_deleted_range_goes_with_its_parts(self):
        for number in range(4):
            self.replace(f"row{number}", {**numbers(10_000), "number": number})
        self.wait_done(self.client.delete_range(query={"table": self.table, "filter": "number ge 1 and n009999 eq 9999"}).operation)
        self.assertEqual([found.row_key for found in self.client.query(self.table)], ["row0"])
        self.assertEqual(self.parts(), self.parts("row0"))

    def test_a_deleted_range_may_have_more_than_fits_into_the_memory_of_a_transaction(self):
        for row in range(5):
            for first in range(0, 260, 65):
                self.merge(f"row{row}", {**binaries(65, first), "number": row})
        self.wait_done(self.client.delete_range(query={"table": self.table, "filter": "number ge 0"}).operation)
        self.assertEqual(self.parts(), 0)

    def test_a_deleted_table_goes_with_its_parts(self):
        self.replace("row", numbers(10_000))
        table_id = self.stack.sql(f"select table_id from tables where name = '{self.table}' and live")
        self.wait_done(self.client.delete_table(name=self.table).operation)
        self.assertEqual(self.stack.sql(f"select count(*) from entity_parts where table_id = {table_id}"), "0")
        self.client.create_table(name=self.table)
        self.assertEqual(self.client.query(self.table), [])

    def test_a_transaction_merges_moves_and_deletes_wide_entities(self):
        self.replace("source", numbers(10_000))
        self.replace("old", numbers(10_000))
        narrow, other = self.new_table(), self.new_wide()

        def run(name, *steps):
            self.client.submit_transaction(transaction_id=name, steps=steps)
            return self.client.wait_transaction(transaction_id=name, timeout=30).transaction

        moved = run(f"{self.table}-move",
            {"insert_or_merge": {"table": self.table, "entity": entity("p", "source", {"n000001": int32(-1)})}},
            {"move": {"source": address(self.table, "p", "source"), "destination": address(other, "q", "target")}},
            {"delete_if_exists": address(self.table, "p", "old")})
        self.assertEqual(moved.state, types.package("tavola.v1").TRANSACTION_STATE_DONE, moved)
        self.assertEqual(self.parts(), 0)
        target = plain(self.get(other, "q", "target"))
        self.assertEqual((len(target), target["n000001"], target["n009999"]), (10_000, -1, 9_999))

        for properties, reason in ((numbers(253), TOO_MANY), (binaries(20), TOO_LARGE)):
            for kind in ("insert_or_merge", "insert_or_replace"):
                error = self.refused("INVALID_ARGUMENT", reason, run, f"{self.table}-large", {"delete_if_exists": address(self.table, "p", "old")},
                    {kind: {"table": narrow, "entity": entity("p", "source", properties)}})
                self.assertEqual(error.metadata["operation_index"], "1")
        self.refused("INVALID_ARGUMENT", TOO_MANY, run, f"{self.table}-large",
            {"insert_or_replace": {"table": self.table, "entity": entity("p", "source", numbers(MAX_PROPERTIES + 1))}})
        done = run(f"{self.table}-wide", {"insert_or_replace": {"table": self.table, "entity": entity("p", "source", numbers(20_000))}},
            {"insert_or_merge": {"table": self.table, "entity": entity("p", "source", {**binaries(20), "n019999": int32(-1)})}})
        self.assertEqual(done.state, types.package("tavola.v1").TRANSACTION_STATE_DONE, done)
        written = self.read("source")
        self.assertEqual((len(written), written["n000000"], written["n019999"], written["b019"]), (20_020, 0, -1, b"x" * 60_000))

        failed = run(f"{self.table}-narrow",
            {"move": {"source": address(other, "q", "target"), "destination": address(narrow, "q", "target")}})
        self.assertEqual(failed.state, types.package("tavola.v1").TRANSACTION_STATE_FAILED, failed)
        self.assertEqual(len(plain(self.get(other, "q", "target"))), 10_000)
        self.assertEqual(self.client.query(narrow), [])


if __name__ == "__main__":
    unittest.main()
