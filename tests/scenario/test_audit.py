# SPDX-License-Identifier: Apache-2.0
"""The audit of rows without an owner: it finds such a row in every table, and the product leaves none."""

import re
import unittest

from tavola_test import audit
from tavola_test.case import ServerCase
from tavola_test.client import entity, key
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

# Insert a row without an owner into each table that can have one, or add and remove single rows.
ORPHANS = """
insert into tables values (9001, 'local', 'gone', 'gone', 0, false);
insert into tables values (9002, 'local', 'entries', 'entries', 0, true, 9002);
insert into entities values (1, 9003, 'p', 'r', 1, 1, false, null, '');
insert into entity_parts values (1, 9003, 'p', 'q', '', 1, 'x');
insert into entity_parts values (0, 9077, 'p', 'r', '', 1, 'x', uuid_send(gen_random_uuid()));
update entities set spread = 5 where row_key = 'r';
insert into indexes values (9004, 9005, 'local', 'a', 'a', 3, '', 0, '');
insert into indexes values (9006, 9005, 'local', 'b', 'b', 4, '', 0, '');
insert into operations (operation_id, account, kind, target, state, started, table_id) values ('o', 'local', 'delete_range', '', 1, 0, 9007);
insert into index_reports (operation_id, index_id, repairs, dry_run, is_whole, scans, has_from, from_partition, from_row,
    has_below, below_partition, below_row) values ('o', 9013, false, false, true, true, false, '', '', false, '', '');
insert into index_differences (operation_id, number, class, state, has_source, source_partition, source_row, entry_partition,
    entry_row) values ('p', 1, 1, 1, false, '', '', '', '');
insert into index_scrubs (index_id) values (9013);
insert into intents values (1, gen_random_uuid(), 9, 0, '', '', 1), (1, gen_random_uuid(), 1, 9008, 'p', 'r', 1),
    (1, gen_random_uuid(), 2, 0, 'local', 't', 1);
insert into index_state values (1, 9009, 'p', 'r', 1, '\\x01aa4600000000000000000000');
insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, cause, history) values
    (1, 9, 0, '', '', 0, true, 1, '', ''), (1, 1, 9010, 'p', 'r', 9010, true, 1, '', ''),
    (1, 2, 0, 'local', 'u', 0, true, 1, '', ''), (1, 2, 0, 'local', 'v', 0, false, 1, '', '');
insert into transactions (bucket, account, txn_id, state, steps, steps_done, timeline, submitted)
    values (1, 'local', 'w', 1, '', 0, '', 0);
insert into appended_files values (1, 'local', 'log', 1, 2);
update transactions set effect = '' where txn_id = 'w';
insert into transaction_keys values (1, 'local', 1, 'x');
insert into requests values (1, 'local', 'y', '', '', now() - interval '3 days');
insert into commit_markers values (1, 1, 1, now() - interval '3 hours');
insert into unique_owners values (9013, 'x', 'p', 'r'), (9004, 'x', 'p', 'r');
insert into feeds values (9011, 9011);
insert into changes values (9012, 1, now(), 1, 'p', 'r', 1, 1, 0, '');
insert into claims values ('h', 'l', now() - interval '1 minute', '{}', '{}');
insert into apply_rates values (1, 1, 1, 1, now() - interval '3 hours');
insert into queue_controls (queue, kind) values (63, 1);
insert into leases values (99, '', now());
insert into watermarks values (99, 0, 0);
insert into samples values (9014, 1, 1, 1, now() - interval '3 hours', 1, '');
insert into write_fence values (0);
insert into audit_records (call_id, number, account, credential, key, method, target, outcome, left_out) values (1, 1, '', 9, 0, '', '', '', 0);
insert into secrets values ('other', '');
insert into service_properties values ('gone', '');
insert into account_usage values ('local', -1, 0, 0);
insert into workers values ('gone', now(), now() - interval '2 days', 1, 0, 0, 0, 0, 0, 0);
delete from usage_counts;
insert into accounts (name, administrator, first_key, second_key, id) values ('local', false, '', '', 'local');
delete from queue_map;
insert into catalogue_changes values (9015, 1);
insert into blobs (account, name, content_id) values ('local', 'b', gen_random_uuid());
insert into blobs (account, name, content_id) values ('local', 'held', '00000000-0000-0000-0000-000000000007');
insert into blob_references values ('local', '00000000-0000-0000-0000-000000000007', 1, 'p', 'r');
insert into tables (table_id, account, name, folded, created, live, blob_properties)
    values (9077, 'local', 'large', 'large', 0, true, true);
insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties)
    values (0, 9077, 'p', 'r', 1, 1, 'tavola-blob:');
insert into blob_contents values ('local', gen_random_uuid(), 2, 1, 0, null, now()),
    ('local', gen_random_uuid(), 3, 0, 0, null, now() - interval '1 hour');
insert into blob_parts values ('local', gen_random_uuid(), 0, 'a');
insert into blob_chunks values ('local', 'b', 1, '', null), ('local', 'c', 1, '', now() - interval '1 hour');
insert into blob_chunks values ('local', 'd', 1, '', null, 1, '00000000-0000-0000-0000-000000000008');
insert into blob_strays values ('00000000-0000-0000-0000-000000000008', 'local', 'd', 1, now() - interval '1 hour');
insert into copy_visits (index_id, partition_key, row_key, bucket, covers) values (9088, 'p', 'r', 0, '{}');
insert into intents (bucket, id, kind, table_id, partition_key, row_key, version)
    values (0, gen_random_uuid(), 3, 9088, 'p', 'r', 1);
insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
    values (4, 9088, 'p', 'x', 0, 0, true, 1, '', '');
delete from catalogue
"""


class Orphans(unittest.TestCase):
    def test_an_empty_database_has_none(self):
        with Stack(redis=False) as stack:
            self.assertEqual(audit.counts(stack), {})

    def test_each_is_seen(self):
        with Stack(redis=False) as stack:
            stack.sql(ORPHANS)
            left = audit.counts(stack)
            tables = {what.split(":")[0] for what in left}
            self.assertEqual(set(stack.sql(audit.TABLES).split("\n")) - tables, {"schema_migrations"})
            with open(audit.FILE, encoding="utf-8") as file:
                self.assertEqual(len(left), len(re.findall("^select '", file.read(), re.MULTILINE)), left)

    def test_a_table_that_it_does_not_know_is_an_error(self):
        with Stack(redis=False) as stack:
            stack.sql("create table news (id int)")
            with self.assertRaisesRegex(AssertionError, "news"):
                audit.counts(stack)


class Drops(ServerCase):
    with_worker = True
    worker_settings = {"TAVOLA_SWEEP_INTERVAL_SECONDS": "1"}

    def test_an_index_that_was_dropped_leaves_nothing_beside_entities_that_were_deleted(self):
        table = self.new_table()
        rows = [f"{row:04}" for row in range(600)]
        self.client.load(table, [entity("p", row, A="x") for row in rows])
        index = self.new_index(table, "A")
        self.assertEqual(self.stack.sql("select count(*) from index_state"), "600")
        self.wait_done(self.client.drop_index(name=index).operation)
        for row in rows[:300]:
            self.client.delete_entity(table=table, key=key(("p", row)), precondition={"if_match": "*"})
        audit.check(self.stack, 5)
        self.assertEqual(self.stack.sql("select count(*) from index_state"), "0")

    def test_one_index_goes_and_another_stays(self):
        table = self.new_table()
        self.client.load(table, [entity("p", f"{row}", A="x", **({"B": "y"} if row < 20 else {})) for row in range(50)])
        first, second = self.new_index(table, "A"), self.new_index(table, "B")
        self.wait_done(self.client.drop_index(name=first).operation)
        audit.check(self.stack, 5)
        self.assertEqual(len(self.client.lookup(second, ["y"])), 20)
        self.client.delete_range(query={"table": table, "filter": "B eq 'y'"})
        wait_for("the end of the entries", lambda: not self.client.query(second))
        audit.check(self.stack, 5)


if __name__ == "__main__":
    unittest.main()
