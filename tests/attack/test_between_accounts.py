# SPDX-License-Identifier: Apache-2.0
"""What one account with a valid token can do to the others: they are served, and memory stays under the bound."""

from attack_case import AttackCase
from tavola_test import client
from tavola_test.waiting import wait_for

# A thousand copies of the table "wide" with twenty of its index each: more than a caller may make.
MANY_INDEXES = """
begin;
with source as (
    insert into tables (table_id, account, name, folded, created, live)
    select nextval('table_ids'), t.account, 'many' || n, 'many' || n, t.created, true
    from tables t, generate_series(1, 1000) n where t.name = 'wide'
    returning table_id, account, created),
made as (
    select nextval('table_ids') as index_id, s.table_id, s.account, s.created, 'i' || s.table_id || 'x' || n as name
    from source s, generate_series(1, 20) n),
entries as (
    insert into tables (table_id, account, name, folded, created, live, index_id)
    select index_id, account, name, name, created, true, index_id from made)
insert into indexes (index_id, source_table_id, account, name, folded, state, definition, operation_id)
select m.index_id, m.table_id, m.account, m.name, m.name, 3, i.definition, ''
from made m, indexes i;
update catalogue set version = version + 1;
commit
"""


class BetweenAccounts(AttackCase):
    def test_h2_many_small_elements(self):
        self.start()
        self.attacked("many_elements", self.prepare_noisy())

    def test_h3_long_filters(self):
        self.start()
        self.attacked("long_filters", self.prepare_noisy())

    def test_h5_many_indexes(self):
        """A thousand tables with twenty indexes each, and more tables all the time."""
        self.start()
        noisy = self.prepare_noisy()
        self.prepare_indexes(noisy)
        wait_for("the indexes", lambda: self.is_served("ListTables"), 30)
        self.attacked("make_tables", noisy)

    def prepare_indexes(self, noisy):
        """Copies of one table with one index, as rows of the database: callers could not pass their quota."""
        with client.Client(self.address, token=noisy, seconds=20) as caller:
            caller.create_index(index={"name": "byText", "table": "wide", "shape": 1, "partition_key": [{"property": "T0"}]})
        self.stack.sql(MANY_INDEXES)

    def test_h6_unread_pages(self):
        self.start()
        self.attacked("unread_pages", self.prepare_noisy())

    def test_c6_compressed_requests_of_a_known_caller(self):
        self.start()
        self.attacked("known_compressed", self.prepare_noisy())
