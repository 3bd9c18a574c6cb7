# SPDX-License-Identifier: Apache-2.0
"""The audit log: every administrative call has a record of who called, what was named and what came of it, and nothing else."""

import time
import unittest

from tavola_test import client, log_lines
from tavola_test.client import ApiError
from tavola_test.credentials import sas, token
from tavola_test.security_case import OK, SecurityCase, result
from tavola_test.waiting import wait_for

TOKEN, SIGNATURE, DATABASE = 1, 2, 3
SECRET = "buried treasure"
INDEX = {"shape": 1, "place": 2, "partition_key": [{"property": "N"}]}
LIMIT_RATE = 4
CANCEL = 3
ONCE = 20  # records of calls without a change that an account may have at once


class AuditLog(SecurityCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin_keys = cls.new_account("operators", "--administrator")
        cls.admin = cls.connect(token(cls.admin_keys[0], account="operators"))
        wait_for("the new account", lambda: result(cls.admin.list_queues) == OK)

    def records(self, **fields):
        """The oldest first."""
        pages = self.client_pages(page_size=50, **fields)
        return [record for page in pages for record in page.records][::-1]

    def client_pages(self, **fields):
        return self.admin.pages(self.admin.list_audit_records, **fields)

    def last(self, method, **fields):
        found = [record for record in self.records(**fields) if record.method == method]
        return found[-1] if found else None

    def wait_for_record(self, method, outcome):
        """A call without a change is recorded after its answer."""
        def there():
            record = self.last(method)
            return record if record and record.outcome == outcome else None
        return wait_for(f"a record of {method}, {outcome}", there)

    # ---- calls that change something ----

    def test_changes_are_recorded_with_their_caller(self):
        mine = self.connect(token(self.keys[1]))
        for name, change, target in (
            ("TableService/CreateTable", lambda: mine.create_table(name="Log"), "Log"),
            ("TableService/UpdateTable", lambda: mine.update_table(
                table={"name": "Log", "sample_queries": True}, update_mask={"paths": ["sample_queries"]}), "Log"),
            ("IndexService/CreateIndex", lambda: mine.create_index(index={"name": "LogByN", "table": "Log", **INDEX}), "LogByN"),
            ("IndexService/DropIndex", lambda: mine.drop_index(name="LogByN"), "LogByN"),
            ("EntityService/DeleteRange", lambda: mine.delete_range(query={"table": "Log", "filter": f"N eq '{SECRET}'"}), "Log"),
            ("TableService/DeleteTable", lambda: mine.delete_table(name="Log"), "Log"),
        ):
            with self.subTest(name):
                change()
                record = self.last(name, account="acme")
                self.assertEqual((record.account, record.credential, record.key, record.target, record.outcome, record.left_out),
                                 ("acme", TOKEN, 2, target, "OK", 0))
                self.assertLess(abs(record.recorded.seconds - time.time()), 60)

    def test_operations_and_queues(self):
        started = self.client.delete_range(query={"table": "Other", "filter": "N eq 77"}).operation.operation_id
        self.client.control_operation(operation_id=started, control=CANCEL)
        self.assertEqual(self.last("OperationService/ControlOperation").target, f"{started} cancel")
        self.admin.control_queue(queue="q1", control=LIMIT_RATE, rate=1000)
        record = self.last("AdminService/ControlQueue")
        self.assertEqual((record.account, record.target, record.outcome), ("operators", "q1 limit-rate", "OK"))
        self.admin.control_queue(queue="q1", control=LIMIT_RATE, rate=0)

    def test_steps_in_another_account(self):
        step = {"insert_or_replace": {"table": "People", "entity": client.entity("x", "1"), "account": "acme"}}
        self.admin.submit_transaction(transaction_id="abroad", steps=[step])
        self.assertEqual(self.last("TransactionService/SubmitTransaction").target, "abroad")
        self.admin.create_table(name="Home")
        step["insert_or_replace"] = {"table": "Home", "entity": client.entity("x", "1")}
        self.admin.submit_transaction(transaction_id="at-home", steps=[step])
        self.assertEqual(self.last("TransactionService/SubmitTransaction").target, "abroad")

    def test_dead_letters_one_by_one(self):
        self.stack.sql("""insert into dead_letters (bucket, kind, table_id, partition_key, row_key, index_id, dead, failures, cause, history)
            select 1, 1, table_id, 'dead', g::text, 0, true, 10, 'INTERNAL', '' from tables, generate_series(1, 3) g
            where name = 'People'""")
        ids = [letter.dead_letter_id for letter in self.admin.list_dead_letters(filter={"account": "acme"}).dead_letters]
        self.admin.discard_dead_letters(dead_letter_ids=ids, reason=SECRET)
        found = [record for record in self.records() if record.method == "AdminService/DiscardDeadLetters"]
        self.assertEqual({record.target for record in found}, {f"dead letter {number}" for number in ids})
        self.assertEqual({record.outcome for record in found}, {"OK"})

    def test_commands_on_the_database(self):
        self.new_account("visitors")
        self.operate("account", "rotate-key", "visitors")
        self.operate("account", "delete", "visitors")
        found = [record for record in self.records() if record.target == "visitors"]
        self.assertEqual([record.method for record in found], ["account create", "account rotate-key", "account delete"])
        self.assertEqual({(record.account, record.credential, record.outcome) for record in found}, {("", DATABASE, "OK")})
        self.assertEqual(self.last("account create --administrator").target, "operators")

    # ---- calls that change nothing ----

    def test_refused_calls_are_recorded(self):
        signed = self.connect(sas(self.keys[0], "people", permissions="raudit"))
        self.assertNotEqual(result(signed.delete_table, name="People"), OK)
        record = self.wait_for_record("TableService/DeleteTable", "AUTHORIZATION_FAILURE")
        self.assertEqual((record.account, record.credential, record.key, record.target), ("acme", SIGNATURE, 1, "People"))

        forged = self.connect(token(b"x" * 32, account="acme"))
        self.assertNotEqual(result(forged.drop_index, name="Any"), OK)
        record = self.wait_for_record("IndexService/DropIndex", "AUTHENTICATION_FAILED")
        self.assertEqual((record.account, record.credential, record.key, record.target), ("", TOKEN, 0, ""))

        self.assertNotEqual(result(self.client.create_table, name="People"), OK)
        self.assertEqual(self.wait_for_record("TableService/CreateTable", "TABLE_ALREADY_EXISTS").target, "People")
        _, reason = result(self.client.create_table, name="1")
        self.wait_for_record("TableService/CreateTable", reason)

    def test_what_is_no_administration_is_not_recorded(self):
        self.client.get_entity(table="People", key={"partition_key": "a", "row_key": "1"})
        self.client.insert_or_replace_entity(table="People", entity=client.entity("a", "1"))
        self.admin.list_queues()
        methods = {record.method for record in self.records()}
        self.assertFalse(methods & {"EntityService/GetEntity", "EntityService/InsertOrReplaceEntity", "AdminService/ListQueues"})

    def test_refused_calls_do_not_flood_it(self):
        self.new_account("noisy")
        signed = self.connect(sas(self.other_keys[0], "people", account="globex", permissions="r"))
        began = time.monotonic()
        for _ in range(300):
            self.assertNotEqual(result(signed.create_table, name="Flood"), OK)

        def enough():  # accounts may share a bucket, so one may have fewer at once
            result(signed.create_table, name="Flood")
            return len(self.records(account="globex")) >= ONCE
        wait_for("the records", enough)
        found = self.records(account="globex")
        self.assertLessEqual(len(found), ONCE + 1 + time.monotonic() - began)
        _, reason = result(self.client.drop_index, name="NoSuch")
        self.wait_for_record("IndexService/DropIndex", reason)  # acme's are not among those left out

        def counted():
            result(signed.create_table, name="Flood")
            return any(record.left_out > 0 for record in self.records(account="globex"))
        wait_for("a record with the number of calls left out", counted)

    def test_records_that_could_not_be_stored_are_counted_by_the_next(self):
        """While no record can be stored, calls are answered as ever; the first record afterwards has their number."""
        keys = self.new_account("unrecorded")
        signed = self.connect(sas(keys[0], "people", account="unrecorded", permissions="r"))
        lost = lambda: [line for line in log_lines.of(self.stack.server.output(), "audit_record_lost") if line["account"] == "unrecorded"]
        self.stack.sql("create function refuse_record() returns trigger language plpgsql as $$ begin raise exception 'the disk is full'; end $$;"
                       "create trigger refuse_record before insert on audit_records for each row when (new.account = 'unrecorded')"
                       " execute function refuse_record()")
        self.addCleanup(self.stack.sql, "drop function if exists refuse_record cascade")
        wait_for("the new account", lambda: result(signed.create_table, name="Lost")[1] == "AUTHORIZATION_FAILURE")
        for _ in range(2):
            self.assertNotEqual(result(signed.create_table, name="Lost"), OK)
        wait_for("the failures", lambda: len(lost()) >= 3)
        count = len(lost())
        self.assertEqual(self.records(account="unrecorded"), [])
        self.stack.sql("drop function refuse_record cascade")
        self.assertNotEqual(result(signed.create_table, name="Kept"), OK)
        wait_for("the record", lambda: self.records(account="unrecorded"))
        self.assertEqual([record.left_out for record in self.records(account="unrecorded")], [count])

    # ---- reading ----

    def test_pages_accounts_and_times(self):
        for number in range(5):
            self.client.create_table(name=f"Page{number}")
        whole = self.records(account="acme")
        small = [record for page in self.client_pages(page_size=2, account="acme") for record in page.records][::-1]
        self.assertEqual([record.audit_id for record in small], [record.audit_id for record in whole])
        self.assertEqual({record.account for record in whole}, {"acme"})
        pages = list(self.client_pages(page_size=2, account="acme"))
        with self.assertRaises(ApiError) as caught:
            self.admin.list_audit_records(account="globex", page_token=pages[0].next_page_token)
        self.assertEqual(caught.exception.reason, "PAGE_TOKEN_INVALID")
        middle = whole[len(whole) // 2].recorded
        self.assertEqual([record.audit_id for record in self.records(account="acme", since=middle)],
                         [record.audit_id for record in whole if (record.recorded.seconds, record.recorded.nanos)
                          >= (middle.seconds, middle.nanos)])
        self.assertEqual(len(self.records(account="acme", until=middle)) + len(self.records(account="acme", since=middle)), len(whole))

    def test_the_command(self):
        self.client.create_table(name="Shown")
        path = f"{self.stack.folder}/token"
        with open(path, "w", encoding="utf-8") as file:
            file.write(token(self.admin_keys[0], account="operators"))
        printed = self.operate("--target", self.stack.target, "--token-file", path, "audit", "--account", "acme", "--since", "2026-01-01")
        line = next(line for line in printed.splitlines() if line.endswith(" Shown"))
        self.assertRegex(line, r"^20..-..-..T..:..:..Z +acme +token +first +TableService/CreateTable +OK +Shown$")

    def test_no_values_and_no_secrets(self):
        self.client.delete_range(query={"table": "People", "filter": f"N eq '{SECRET}'"})
        dump = self.stack.sql("select coalesce(string_agg(r::text, ' '), '') from audit_records r")
        for word in (SECRET, "treasure", "tvt1", "tvs1", "tvk1"):
            self.assertNotIn(word, dump)


class Durability(SecurityCase):
    def test_a_change_and_its_record_stand_or_fall_together(self):
        """The server is killed while it creates tables; afterwards every table has its record, and every record its table."""
        made = 0
        for turn in range(4):
            futures = [self.client.start("/tavola.v1.TableService/CreateTable",
                                         client.types.message("tavola.v1.CreateTableRequest")(name=f"Kill{turn}x{number}").SerializeToString())
                       for number in range(30)]
            wait_for("some tables", lambda: int(self.stack.sql(self.COUNT.format(turn=turn))) > 3 + turn)
            self.stack.server.kill()
            made += int(self.stack.sql(self.COUNT.format(turn=turn)))
            for future in futures:
                future.cancel()
            self.stack.start_server(TAVOLA_AUTHENTICATION="required")
        self.assertGreater(made, 10)
        tables = self.stack.sql("select name from tables where name like 'Kill%' and live order by 1")
        records = self.stack.sql("select target from audit_records where target like 'Kill%' and outcome = 'OK' order by 1")
        self.assertEqual(records, tables)

    COUNT = "select count(*) from tables where name like 'Kill{turn}x%'"

    def test_records_are_kept_for_a_bounded_time(self):
        self.assertNotEqual(self.stack.sql("select count(*) from audit_records"), "0")
        self.stack.sql("update audit_records set recorded = now() - interval '2 hours' where audit_id % 2 = 0")
        old = int(self.stack.sql("select count(*) from audit_records where audit_id % 2 = 0"))
        young = int(self.stack.sql("select count(*) from audit_records where audit_id % 2 = 1"))
        self.assertGreater(old, 0)
        worker = self.stack.start_worker(TAVOLA_AUDIT_RETENTION_SECONDS="3600", TAVOLA_SWEEP_INTERVAL_SECONDS="1")
        wait_for("the old ones to go", lambda: int(self.stack.sql(
            "select count(*) from audit_records where recorded < now() - interval '1 hour'")) == 0)
        self.assertGreaterEqual(int(self.stack.sql("select count(*) from audit_records")), young)
        worker.stop()


if __name__ == "__main__":
    unittest.main()
