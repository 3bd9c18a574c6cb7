# SPDX-License-Identifier: Apache-2.0
"""ListHotPartitions: each anti-pattern is named by the load that makes it, over servers, and for administrators alone."""

import csv
import os
import random
import unittest

from tavola_test import metrics
from tavola_test.case import ServerCase
from tavola_test.client import BatchOperation, ImportEntitiesRequest, entity, key, value
from tavola_test.credentials import token
from tavola_test.processes import run_program
from tavola_test.security_case import SecurityCase
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

NONE, APPEND, PREPEND, TIME_BUCKET, SINGLE_KEY, LOW_CARDINALITY, LOG_DATA = range(7)
MINUTE, HOUR = 1, 2
WRITES = 120


def hot(client, table, **fields):
    return client.list_hot_partitions(account="default", table=table, **fields).partitions


def wait_sampled(client, table, partition="warm"):
    """A server samples a table from the moment on in which it has read the catalogue with the table in it."""
    def seen():
        client.count_entities(query={"table": table, "filter": f"PartitionKey eq '{partition}'"})
        return partition in [found.partition_key for found in hot(client, table)]

    wait_for(f"samples of {table}", seen, 10)


class HotPartitions(ServerCase):
    with_worker = True

    def setUp(self):
        self.random = random.Random(11)
        self.table = self.new_table()
        wait_sampled(self.client, self.table)

    def write(self, keys):
        for partition, row in keys:
            self.client.insert_or_replace_entity(table=self.table, entity=entity(partition, row, State="open"))

    def hottest(self, table=None, **fields):
        return hot(self.client, table or self.table, limit=1, **fields)[0]

    def some_row(self):
        return f"{self.random.randrange(10**6):06}"

    def check(self, pattern, partition, example):
        found = self.hottest()
        self.assertEqual((found.pattern, found.partition_key, found.example), (pattern, partition, example), found)
        self.assertEqual((found.account, found.table, found.is_index), ("default", self.table, False))
        self.assertTrue(found.remedy.endswith("."))
        self.assertGreater(found.share, 0.5)
        return found

    def test_appends(self):
        self.write(("orders", f"{n:06}") for n in range(WRITES))
        found = self.check(APPEND, "orders", "orders_07")
        self.assertGreater(found.writes_per_second, 0)
        self.assertEqual(found.reads_per_second, 0)

    def test_prepends(self):
        self.write(("orders", f"{WRITES - n:06}") for n in range(WRITES))
        self.check(PREPEND, "orders", "orders_07")

    def test_a_time_bucket(self):
        self.write(("2026-11-22T14", self.some_row()) for _ in range(30))
        self.write(("2026-11-22T15", self.some_row()) for _ in range(WRITES))
        self.check(TIME_BUCKET, "2026-11-22T15", "07_2026-11-22T15")

    def test_a_single_key(self):
        self.write((f"p{n}", "other") for n in range(10))
        self.write(("p0", "counter") for _ in range(WRITES))
        for _ in range(30):
            self.get(self.table, "p0", "counter")
        found = self.check(SINGLE_KEY, "p0", "p0_07")
        self.assertEqual(found.row_key, "counter")
        self.assertGreater(found.reads_per_second, 0)

    def test_log_data(self):
        self.write(("web-3", f"2026-11-22T15:{n // 60:02}:{n % 60:02}") for n in range(WRITES))
        self.check(LOG_DATA, "web-3", "web-3_07")

    def test_few_values(self):
        self.write((self.random.choice(("open", "open", "open", "closed")), self.some_row()) for _ in range(WRITES))
        self.check(LOW_CARDINALITY, "open", "open_07")

    def test_partitions_in_the_order_of_time(self):
        self.write((f"2026-11-22T15:{n // 60:02}:{n % 60:02}", "a") for n in range(WRITES))
        found = self.hottest()
        self.assertEqual((found.pattern, found.of_order, found.partition_key), (TIME_BUCKET, True, "2026-11-22T15:01:59"))

    def test_a_spread_load_looks_like_nothing(self):
        self.write((f"p{self.random.randrange(1000)}", self.some_row()) for _ in range(WRITES))
        self.assertLessEqual({found.pattern for found in hot(self.client, self.table)}, {NONE})

    def test_an_index_on_a_value_that_few_have(self):
        index = self.new_name("i")
        self.client.create_index(index={
            "name": index, "table": self.table, "shape": 1, "partition_key": [{"property": "State"}]})
        self.wait_ready(index)
        wait_for("a look-up that is sampled", lambda: self.client.lookup_index(index=index, equals=[value("warm")])
                 and hot(self.client, index), 10)
        self.write((f"p{self.random.randrange(1000)}", self.some_row()) for _ in range(WRITES))
        for _ in range(5):
            self.client.lookup_index(index=index, equals=[value("open")])
        found = self.hottest(index)
        self.assertEqual((found.pattern, found.partition_key, found.is_index), (LOW_CARDINALITY, "open", True))
        self.assertGreater(found.reads_per_second, 0)
        self.assertIn("partition_key", found.remedy)

    def test_batches_imports_and_queries_count(self):
        operations = [BatchOperation(insert_or_replace=entity("b", f"{n:04}")) for n in range(100)]
        self.client.execute_batch(table=self.table, operations=operations)
        list(self.client.import_entities([ImportEntitiesRequest(
            table=self.table, entities=[entity("i", f"{n:04}") for n in range(300)])]))
        for _ in range(10):
            self.client.query_entities(query={"table": self.table, "filter": "PartitionKey eq 'q' and RowKey gt 'a'"})
        self.client.batch_get_entities(table=self.table, keys=[key(("b", f"{n:04}")) for n in range(40)])
        covered = self.client.list_hot_partitions(account="default", table=self.table)
        seconds = covered.covered.seconds + covered.covered.nanos / 1e9
        counts = {found.partition_key: (round(found.reads_per_second * seconds), round(found.writes_per_second * seconds))
                  for found in covered.partitions}
        self.assertAlmostEqual(counts["b"][1], 100, delta=7)
        self.assertAlmostEqual(counts["b"][0], 40, delta=7)
        self.assertAlmostEqual(counts["i"][1], 300, delta=20)
        self.assertEqual(counts["q"], (10, 0))

    def test_the_hour_has_it_too_and_a_dropped_table_is_gone(self):
        self.write(("orders", f"{n:06}") for n in range(WRITES))
        self.assertEqual(self.hottest(span=HOUR).pattern, APPEND)
        self.client.delete_table(name=self.table)
        error = self.refused("NOT_FOUND", "TABLE_NOT_FOUND", hot, self.client, self.table)
        self.assertEqual(error.metadata["table"], self.table)
        self.assertNotIn(self.table, [found.table for found in self.client.list_hot_partitions(limit=1000).partitions])

    def test_a_refused_write_does_not_count(self):
        self.write(("p", "a") for _ in range(3))
        for _ in range(50):
            self.refused("ALREADY_EXISTS", "ENTITY_ALREADY_EXISTS", self.client.insert_entity, table=self.table,
                         entity=entity("p", "a"))
        self.assertLess(self.hottest().writes_per_second, 3)

    def test_the_command_line_prints_it(self):
        def tavola(*words):
            done = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        self.write(("orders", f"{n:06}") for n in range(WRITES * 3))
        shown = tavola("hot")
        self.assertRegex(shown, r"^account +table or index +looks like +reads/s +writes/s +share +partition\n")
        self.assertRegex(shown, rf"(?m)^default +{self.table} +APPEND +0\.0 +\d+\.\d +\d+%  orders\n    remedy   .*\n    example  orders_07$")
        self.assertRegex(tavola("hot", "--hour"), rf"(?m)^default +{self.table} +APPEND ")
        self.assertRegex(tavola("top", "--once"), r"(?m)^account +table or index +looks like ")
        self.assertEqual(run_program("tavola", "hot", "--day", settings={"TAVOLA_TARGET": self.stack.target}).returncode, 2)

    def test_bad_input(self):
        for field, fields in (
            ("span", {"span": 3}),
            ("limit", {"limit": -1}),
            ("account", {"table": self.table}),
            ("table", {"account": "default", "table": "no name"}),
        ):
            with self.subTest(field=field):
                error = self.refused("INVALID_ARGUMENT", "INVALID_INPUT" if field != "table" else "INVALID_RESOURCE_NAME",
                                     self.client.list_hot_partitions, **fields)
                self.assertIn(field, error.message)


class SeveralAccounts(SecurityCase):
    def test_the_command_line_names_the_account_of_each_partition(self):
        operator = token(self.new_account("operator", "--administrator")[0], account="operator")
        other = self.connect(token(self.other_keys[0], account="globex"))
        other.create_table(name="People")

        def read_both():
            for connection in (self.client, other):
                connection.count_entities(query={"table": "People", "filter": "PartitionKey eq 'same'"})
            done = run_program("tavola", "hot", "-o", "csv", settings={"TAVOLA_TARGET": self.stack.target, "TAVOLA_TOKEN": operator})
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = list(csv.DictReader(done.stdout.splitlines()))
            return {row["account"] for row in rows if (row["table"], row["partition_key"]) == ("People", "same")} == {"acme", "globex"}

        wait_for("samples of both tables", read_both, 30)


class SeveralServers(unittest.TestCase):
    def test_any_server_answers_for_all(self):
        with Stack() as stack:
            stack.start_server()
            one = stack.connect()
            stack.new_target()
            stack.start_server()
            with one, stack.connect() as other:
                one.create_table(name="shared")
                wait_sampled(one, "shared", "one")
                wait_sampled(other, "shared", "other")
                for n in range(WRITES):
                    one.insert_or_replace_entity(table="shared", entity=entity("of one", f"{n:04}"))
                    other.insert_or_replace_entity(table="shared", entity=entity("of other", f"{n:04}"))
                other.list_hot_partitions()  # stores what it has counted, as it does every ten seconds
                self.assertLessEqual({"of one", "of other"}, {found.partition_key for found in hot(one, "shared")})

    def test_metrics_have_counts_and_no_keys(self):
        with Stack() as stack:
            path = os.path.join(stack.folder, "metrics")
            stack.start_server(TAVOLA_METRICS_LISTEN="unix:" + path)
            with stack.connect() as client:
                client.create_table(name="shared")
                wait_sampled(client, "shared")
                for n in range(WRITES):
                    client.insert_or_replace_entity(table="shared", entity=entity("secretOrders", f"{n:04}"))
            self.assertEqual(metrics.read(path).value("tavola_hot_partitions", pattern="APPEND"), 1)
            self.assertNotIn("secret", metrics.get(path)[2])


if __name__ == "__main__":
    unittest.main()
