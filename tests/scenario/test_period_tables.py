# SPDX-License-Identifier: Apache-2.0
"""Tables of periods: workers make them ahead and drop them when they are past, whole, and within what the rule says."""

import datetime as dt
import threading
import unittest

from tavola_test.client import ApiError, entity
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

HOUR, DAY, MONTH, YEAR = 1, 2, 3, 4
ROWS = 300


def rule(unit, ahead=1, kept=2):
    return {"unit": unit, "ahead": ahead, "kept": kept}


def day(offset):
    """The digits of a day, so many days from now."""
    return (dt.datetime.now(dt.timezone.utc) + dt.timedelta(days=offset)).strftime("%Y%m%d")


class PeriodTables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server()
        cls.stack.start_worker(TAVOLA_SWEEP_INTERVAL_SECONDS="1")
        cls.client = cls.stack.connect()
        cls.addClassCleanup(cls.client.channel.close)

    def tables(self, prefix):
        pages = self.client.pages(self.client.list_tables, page_size=1000)
        return {table.name for page in pages for table in page.tables if table.name.startswith(prefix)}

    def refused(self, reason, **table):
        with self.assertRaises(ApiError) as caught:
            self.client.update_table(table=table)
        self.assertEqual(caught.exception.reason, reason)
        return str(caught.exception)

    def test_tables_are_made_ahead_and_dropped_when_they_are_past(self):
        self.client.create_table(name="logins")
        for name in (day(-9), day(-1), "2026", "ByUser"):
            self.client.create_table(name=f"logins{name}")

        self.client.update_table(table={"name": "logins", "periods": rule(DAY)})

        self.assertEqual(self.client.get_table(name="logins").table.periods.kept, 2)
        wanted = {"logins", "logins2026", "loginsByUser", *(f"logins{day(offset)}" for offset in (-1, 0, 1))}
        wait_for("the tables of the rule", lambda: self.tables("logins") >= wanted and f"logins{day(-9)}" not in self.tables("logins"))
        self.assertLessEqual(self.tables("logins") - wanted, {f"logins{day(2)}"})  # it may be midnight

    def test_a_reader_sees_a_table_whole_or_not_at_all(self):
        old = f"visits{day(-9)}"
        for name in ("visits", old):
            self.client.create_table(name=name)
        self.client.load(old, [entity("p", f"{row:04}") for row in range(ROWS)])
        seen, is_gone = set(), threading.Event()

        def read():
            with self.stack.connect() as reader:
                while not is_gone.is_set():
                    try:
                        seen.add(reader.count_entities(query={"table": old}).count)
                    except ApiError as error:
                        seen.add(error.reason)
                        is_gone.set()

        thread = threading.Thread(target=read)
        thread.start()
        self.client.update_table(table={"name": "visits", "periods": rule(DAY)})
        thread.join(60)

        self.assertTrue(is_gone.is_set())
        self.assertEqual(seen, {ROWS, "TABLE_NOT_FOUND"})

    def test_a_rule_ends_and_its_tables_stay(self):
        self.client.create_table(name="claims")
        self.client.update_table(table={"name": "claims", "periods": rule(YEAR)})
        wait_for("the tables", lambda: len(self.tables("claims")) == 3)

        ended = self.client.update_table(table={"name": "claims"}, update_mask={"paths": ["periods"]}).table

        self.assertFalse(ended.HasField("periods"))
        self.client.create_table(name="claims1999")
        self.client.create_table(name="beats")
        self.client.update_table(table={"name": "beats", "periods": rule(YEAR)})
        wait_for("a later round", lambda: len(self.tables("beats")) == 3)
        self.assertEqual(len(self.tables("claims")), 4)

    def test_a_deleted_table_takes_its_rule_along_and_not_its_periods(self):
        self.client.create_table(name="moves")
        self.client.update_table(table={"name": "moves", "periods": rule(YEAR)})
        wait_for("the tables", lambda: len(self.tables("moves")) == 3)
        self.client.delete_table(name="moves")
        self.client.create_table(name="moves")
        self.assertFalse(self.client.get_table(name="moves").table.HasField("periods"))
        self.assertEqual(len(self.tables("moves")), 3)

    def test_what_cannot_be_a_rule(self):
        self.client.create_table(name="plain")
        self.client.create_table(name="plain2")
        self.assertIn("unit", self.refused("INVALID_INPUT", name="plain", periods=rule(0)))
        self.assertIn("unit", self.refused("INVALID_INPUT", name="plain", periods=rule(5)))
        self.assertIn("ahead", self.refused("INVALID_INPUT", name="plain", periods=rule(DAY, ahead=32)))
        self.assertIn("kept", self.refused("INVALID_INPUT", name="plain", periods=rule(DAY, kept=0)))
        self.assertIn("kept", self.refused("INVALID_INPUT", name="plain", periods=rule(DAY, kept=65537)))
        self.assertIn("digit", self.refused("INVALID_INPUT", name="plain2", periods=rule(DAY)))
        self.refused("TABLE_NOT_FOUND", name="nosuch", periods=rule(DAY))
        self.assertFalse(self.client.get_table(name="plain").table.HasField("periods"))

    def test_an_account_has_a_bounded_number_of_rules(self):
        for number in range(101):
            self.client.create_table(name=f"bound{number}x")
        try:
            for number in range(101):
                self.client.update_table(table={"name": f"bound{number}x", "periods": rule(YEAR)})
        except ApiError as error:
            self.assertEqual(error.reason, "QUOTA_EXCEEDED")
        else:
            self.fail("no bound")
        for number in range(101):
            wait_for("the end of a table", lambda number=number: self.is_deleted(f"bound{number}x"))

    def is_deleted(self, name):
        """The workers change the catalogue as well, table by table: a call that meets them each time is refused and has done nothing."""
        try:
            return self.client.delete_table(name=name) is not None
        except ApiError as error:
            self.assertEqual(error.reason, "STORE_UNAVAILABLE")
            return False


if __name__ == "__main__":
    unittest.main()
