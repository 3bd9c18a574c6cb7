# SPDX-License-Identifier: Apache-2.0
"""What an operator can do with dead letters."""

import unittest

from tavola_test.case import ServerCase
from tavola_test.client import entity, key
from tavola_test.processes import run_program
from tavola_test.waiting import wait_for

DEAD, RETRYING, DISCARDED = 1, 2, 3


class DeadLetters(ServerCase):
    with_worker = True

    def setUp(self):
        self.table = self.new_table()
        self.index = self.new_index(self.table, by="City")

    def give_up(self, row, city, cause):
        """Make a dead letter as if reconciling the key had failed too often."""
        self.client.insert_entity(table=self.table, entity=entity("p", row, City=city))
        wait_for("the entry", lambda: len(self.client.lookup(self.index, [city])) == 1)
        self.stack.sql(
            f"""with gone as (delete from entities where table_id = (select index_id from indexes where name = '{self.index}')
                    and partition_key like '{city}%' returning 1)
            insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, cause, history)
            select bucket, 1, table_id, partition_key, row_key, 0, true, 10, '{cause}', ''
            from entities where row_key = '{row}' and table_id = (select table_id from tables where name = '{self.table}');
            update index_state set manifest = decode('', 'hex') where row_key = '{row}'"""
        )
        self.stack.sql(f"delete from index_state where row_key = '{row}'")

    def listed(self, **fields):
        pages = self.client.pages(self.client.list_dead_letters, page_size=1, **fields)
        return [dead_letter for page in pages for dead_letter in page.dead_letters]

    def test_a_dead_letter_is_listed_previewed_and_redriven(self):
        self.give_up("a", "Bonn", "INTERNAL: the disk is full")
        self.give_up("b", "Rome", "INTERNAL: the disk is full")
        mine = {"table": self.table}
        dead_letters = self.listed(filter=mine)
        self.assertEqual(self.client.get_index(name=self.index).status.keys_behind, 2)
        self.assertEqual([dead_letter.key.row_key for dead_letter in dead_letters], ["a", "b"])
        self.assertEqual(dead_letters[0].cause, "INTERNAL: the disk is full")
        self.assertRegex(dead_letters[0].queue, "^q[0-9]+$")
        self.assertEqual(len(self.listed(filter={**mine, "queue": dead_letters[0].queue})), 2)
        causes = self.client.list_dead_letters(filter=mine, group_by_cause=True).causes
        self.assertEqual([(each.cause, each.count) for each in causes], [("INTERNAL", 2)])

        preview = self.client.redrive_dead_letters(dead_letter_ids=[dead_letters[0].dead_letter_id], dry_run=True)
        self.assertEqual([each.missing for each in preview.differences], [1])
        self.assertEqual(self.client.lookup(self.index, ["Bonn"]), [])
        done = self.client.redrive_dead_letters(dead_letter_ids=[dead_letters[0].dead_letter_id])
        self.assertEqual(list(done.dead_letter_ids), [dead_letters[0].dead_letter_id])
        wait_for("the entry", lambda: len(self.client.lookup(self.index, ["Bonn"])) == 1)
        wait_for("no dead letter", lambda: len(self.listed(filter=mine)) == 1)

        self.client.redrive_dead_letters(filter=mine)
        wait_for("the entry", lambda: len(self.client.lookup(self.index, ["Rome"])) == 1)
        wait_for("no dead letter", lambda: not self.listed(filter={**mine, "state": RETRYING}))
        self.assertEqual(self.client.get_index(name=self.index).status.keys_behind, 0)

    def command(self, *words, code=0):
        result = run_program("tavola", *words, settings={"TAVOLA_TARGET": self.stack.target})
        self.assertEqual(result.returncode, code, result)
        return result.stdout if code == 0 else result.stderr

    def test_the_command_line_lists_redrives_and_discards(self):
        self.give_up("k1", "Kiel", "INTERNAL: the disk is full")
        self.give_up("k2", "Ulm", "INTERNAL: the disk is full")
        first, second = (str(dead_letter.dead_letter_id) for dead_letter in self.listed(filter={"table": self.table}))
        shown = self.command("dead-letters", "list", self.table)
        self.assertRegex(shown, rf"(?m)^ *{first}  default +q\d +{self.table} \(p, k1\) +10  INTERNAL: the disk is full$")
        self.assertIn(second, shown)
        self.assertIn("missing=1", self.command("dead-letter", "redrive", first, "--dry-run"))
        self.assertEqual(self.command("dead-letter", "redrive", first), "1 redriven\n")
        self.assertEqual(self.command("dead-letter", "discard", second, "a leftover"), "1 discarded\n")
        self.assertNotIn("k2", self.command("dead-letter", "list", self.table))
        self.command("dead-letter", "redrive", "x1", code=2)
        self.command("dead-letter", "discard", second, code=2)
        self.command("dead-letter", "redrive", "9" * 24, code=2)
        self.assertIn("no dead letter 999999", self.command("dead-letter", "redrive", "999999", code=1))
        self.assertIn("no dead letter 999999", self.command("dead-letter", "discard", "999999", "gone", code=1))
        self.assertEqual(self.command("dead-letter", "list", "nosuch"), "no dead letters\n")
        wait_for("the entry", lambda: len(self.client.lookup(self.index, ["Kiel"])) == 1)

    def test_the_command_line_shows_transactions(self):
        put = {"insert_or_replace": {"table": self.table, "entity": entity("p", "t", N=1)}}
        self.client.submit_transaction(transaction_id="by-hand", steps=[put])
        self.client.wait_transaction(transaction_id="by-hand")
        shown = self.command("transaction", "get", "by-hand")
        self.assertRegex(shown, "by-hand +DONE +steps done: 1\n  step 0 attempt 1 by ")
        self.assertIn("by-hand", self.command("transaction", "list"))
        self.command("transaction", "cancel", "by-hand", code=1)
        self.assertIn("tavola: NOT_FOUND / TRANSACTION_NOT_FOUND: ", self.command("transaction", "get", "none", code=1))

    def test_the_command_line_helps(self):
        self.assertIn("sas explain", self.command("sas", "--help"))
        self.assertIn("--start-partition", self.command("sas", "create", "--help"))
        self.assertIn("usage: tavola transaction get ID", self.command("transaction", "get", "--help"))
        self.assertIn('did you mean "--target"?', self.command("--tagret", "x", "health", code=2))
        self.assertIn("--target needs a value", self.command("--target", code=2))
        self.assertIn("NOT_FOUND", self.command(f"--target={self.stack.target}", "transaction", "get", "none", code=1))

    def test_a_discarded_dead_letter_keeps_its_reason(self):
        self.give_up("c", "Oslo", "INTERNAL: it broke")
        mine = {"table": self.table}
        self.refused("INVALID_ARGUMENT", "INVALID_INPUT", self.client.discard_dead_letters, filter=mine)
        self.client.discard_dead_letters(filter=mine, reason="the entity is a leftover")
        self.assertEqual(self.listed(filter=mine), [])
        kept = self.listed(filter={**mine, "state": DISCARDED})
        self.assertEqual([dead_letter.note for dead_letter in kept], ["the entity is a leftover"])
        self.client.delete_entity(table=self.table, key=key(("p", "c")), precondition={"if_match": "*"})
        wait_for("no dead letter", lambda: not self.listed(filter={**mine, "state": DISCARDED}))

    def test_what_is_not_meant_is_refused(self):
        for call, fields in (
            (self.client.redrive_dead_letters, {}),
            (self.client.discard_dead_letters, {"reason": "x"}),
            (self.client.discard_dead_letters, {"reason": "x", "filter": {"state": DISCARDED}}),
            (self.client.list_dead_letters, {"filter": {"queue": "q99"}}),
            (self.client.list_dead_letters, {"filter": {"queue": "0"}}),
            (self.client.list_dead_letters, {"filter": {"state": 9}}),
            (self.client.list_dead_letters, {"page_size": -1}),
        ):
            self.refused("INVALID_ARGUMENT", "INVALID_INPUT", lambda: call(**fields))
        self.refused("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID", self.client.list_dead_letters, page_token="x")


if __name__ == "__main__":
    unittest.main()
