# SPDX-License-Identifier: Apache-2.0
"""AdviseIndexes: which index would help, told by the queries that came; the declaration works as it stands."""

import unittest

from tavola_test.case import ServerCase
from tavola_test.client import ImportEntitiesRequest, entity, value
from tavola_test.processes import run_program
from tavola_test.waiting import wait_for

SECRET = "topSecretValue"
SAME_PARTITION, OTHER_PARTITION = 1, 2


class AdviseIndexes(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.client.update_table(table={"name": self.table, "sample_queries": True})
        list(self.client.import_entities([ImportEntitiesRequest(table=self.table, entities=[
            entity("p", f"{n:04}", State=SECRET if n == 7 else f"s{n}", Age=n % 50) for n in range(200)])]))
        wait_for("samples of queries", lambda: self.query("Name eq 'warm'") and self.advise().queries > 0, 10)
        self.base = self.advise().queries

    def query(self, text, table=None):
        return self.client.query_entities(query={"table": table or self.table, "filter": text})

    def advise(self):
        return self.client.advise_indexes(table=self.table)

    def advice(self, shape):
        return next((found for found in self.advise().advice if shape in found.shapes), None)

    def test_an_index_across_partitions_and_it_works_as_it_stands(self):
        for n in range(3):
            self.client.insert_entity(table=self.table, entity=entity("q", str(n), State="x"))
        for _ in range(5):
            self.assertEqual(len(self.query(f"State eq '{SECRET}'").entities), 1)
        found = self.advice("=State")
        self.assertEqual((found.queries, found.rows_examined, found.rows_returned, found.rows_saved), (5, 1015, 5, 1010))
        self.assertEqual(found.entries_written, 3)
        self.assertEqual((found.index.place, found.index.partition_key[0].property), (OTHER_PARTITION, "State"))
        self.client.create_index(index=found.index)
        self.wait_ready(found.index.name)
        hit = self.client.lookup_index(index=found.index.name, equals=[value(SECRET)])
        self.assertEqual([one.row_key for one in hit.entities], ["0007"])
        self.query(f"State eq '{SECRET}'")
        again = self.advice("=State")
        self.assertEqual(again.existing_index, found.index.name)
        self.assertFalse(again.HasField("index"))

    def test_an_index_in_the_partition_with_a_range(self):
        self.query(f"PartitionKey eq 'p' and State eq '{SECRET}' and Age gt 3 and Note ne 'x'")
        found = self.advice("<Age =PartitionKey =State ?Note")
        self.assertEqual(found.index.place, SAME_PARTITION)
        self.assertEqual([part.property for part in found.index.row_key], ["State", "Age"])
        self.client.create_index(index=found.index)

    def test_shapes_that_one_index_answers_are_added_up(self):
        self.query("State eq 'a'")
        self.query("State eq 'b' and Note eq 'c' or State eq 'd'")
        self.query("State eq 'e' and Note ne 'c'")
        found = self.advice("=State")
        self.assertEqual((sorted(found.shapes), found.queries), (["=State", "=State ?Note"], 2))

    def test_what_no_index_helps_is_left_alone(self):
        self.query("Age ge 0")  # nothing is equal
        self.query("PartitionKey eq 'p' and RowKey gt '0198'")  # cheap already
        self.query("State eq 'a' or Age eq 1")
        self.query("PartitionKey eq 'p' and Age lt 50")  # returns what it reads
        self.assertEqual([found.shapes for found in self.advise().advice if "=Name" not in found.shapes], [])
        self.assertGreaterEqual(self.advise().queries, self.base + 4)

    def test_indexes_without_reads_are_named(self):
        names = [self.new_name("i") for _ in range(3)]
        for name, unique in zip(names, (False, False, True)):
            self.client.create_index(index={"name": name, "table": self.table, "shape": 1, "unique": unique,
                                            "partition_key": [{"property": "State"}]})
            self.wait_ready(name)

        def unread():
            self.client.lookup_index(index=names[0], equals=[value("s1")])
            return [found.index for found in self.advise().unread] == [names[1]]

        wait_for("only one of them is unread", unread, 10)
        self.query("PartitionKey eq 's1'", table=names[1])
        self.assertEqual(list(self.advise().unread), [])

    def test_no_value_is_kept(self):
        self.query(f"State eq '{SECRET}' and startswith(Note, '{SECRET}')")
        self.assertNotIn(SECRET.encode(), self.advise().SerializeToString())
        self.assertEqual(self.stack.sql(f"select count(*) from samples where span = 3 and position('{SECRET}'::bytea in content) > 0"), "0")
        self.assertNotEqual(self.stack.sql("select count(*) from samples where span = 3 and position('=State'::bytea in content) > 0"), "0")

    def test_the_command_line_prints_it(self):
        self.query(f"PartitionKey eq 'p' and State eq '{SECRET}'")
        name = self.new_name("i")
        self.client.create_index(index={"name": name, "table": self.table, "shape": 1,
                                        "partition_key": [{"property": "Age"}]})
        self.wait_ready(name)
        done = run_program("tavola", "advise", self.table, settings={"TAVOLA_TARGET": self.stack.target})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rf"create {self.table}ByState\n"
                         r"  saves +199 rows of 200, in 1 queries\n  of +=PartitionKey =State\n  costs +\d+ entries at most\n"
                         r"  place +SAME_PARTITION\n  partition key +PartitionKey\n  row key +State\n")
        self.assertRegex(done.stdout, rf"not read: {name}\n  cost +\d+ entries at most\n\d+ queries and \d+ writes in ")
        self.assertEqual(run_program("tavola", "advise", settings={"TAVOLA_TARGET": self.stack.target}).returncode, 2)

    def test_it_is_asked_for_per_table(self):
        other = self.new_table()
        error = self.refused("FAILED_PRECONDITION", "QUERY_SAMPLING_OFF", self.client.advise_indexes, table=other)
        self.assertEqual(error.metadata["table"], other)
        self.assertTrue(self.client.get_table(name=self.table).table.sample_queries)
        self.client.update_table(table={"name": self.table}, update_mask={"paths": ["sample_queries"]})
        self.assertFalse(self.client.get_table(name=self.table).table.sample_queries)
        self.refused("FAILED_PRECONDITION", "QUERY_SAMPLING_OFF", self.client.advise_indexes, table=self.table)
        self.refused("NOT_FOUND", "TABLE_NOT_FOUND", self.client.advise_indexes, table="NoSuch")
        self.refused("INVALID_ARGUMENT", "INVALID_RESOURCE_NAME", self.client.advise_indexes, table="no name")

    def test_a_table_without_queries_has_no_advice(self):
        table = self.new_table()
        self.client.update_table(table={"name": table, "sample_queries": True})
        reply = self.client.advise_indexes(table=table)
        self.assertEqual(reply.ByteSize(), 0)


if __name__ == "__main__":
    unittest.main()
