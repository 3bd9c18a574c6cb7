# SPDX-License-Identifier: Apache-2.0
"""Start, stop, and outages of PostgreSQL and Redis."""

import functools
import glob
import os
import signal
import socket
import subprocess
import threading
import unittest

from tavola_test import client, log_lines, servers
from tavola_test.client import ImportEntitiesRequest, entity, key
from tavola_test.processes import program_environment, run_program
from tavola_test.settings import BIN, SOURCE, TIMEOUT_FACTOR
from tavola_test.stack import Stack, wait_ready
from tavola_test.waiting import wait_for


class LifecycleCase(unittest.TestCase):
    def stack(self, **options):
        made = Stack(**options)
        self.addCleanup(made.close)
        self.addCleanup(self.show_logs, made)
        return made

    def show_logs(self, made):
        outcome = self._outcome
        if not outcome.success:
            print(made.logs())

    def connect(self, made):
        connected = made.connect()
        self.addCleanup(connected.channel.close)
        return connected


class Options(unittest.TestCase):
    def test_help_version_and_settings(self):
        for name in ("tavolad", "tavola-worker", "tavola"):
            text = run_program(name, "--help")
            self.assertEqual((text.returncode, text.stderr), (0, ""))
            self.assertIn("TAVOLA_POSTGRES", text.stdout)
            version = run_program(name, "--version")
            self.assertRegex(version.stdout, rf"^{name} \d+\.\d+\.\d+\n$")
            listed = run_program(name, "--print-settings").stdout.split()
            self.assertTrue(all(setting in text.stdout for setting in listed))

    def test_print_config_hides_secrets(self):
        settings = {
            "TAVOLA_POSTGRES": "host=/x password=hunter2",
            "TAVOLA_REDIS": "redis://user:hunter2@localhost:6379",
            "TAVOLA_AUTHENTICATION": "none",
        }
        for name in ("tavolad", "tavola-worker"):
            result = run_program(name, "--print-config", settings=settings)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("hunter2", result.stdout + result.stderr)
            listed = run_program(name, "--print-settings").stdout.split()
            self.assertEqual([line.split("=")[0] for line in result.stdout.splitlines()], listed)
        self.assertIn("TAVOLA_LISTEN=127.0.0.1:50051\n", run_program("tavolad", "--print-config", settings=settings).stdout)

    def test_a_bad_setting_stops_the_start_and_says_what_is_allowed(self):
        good = {"TAVOLA_POSTGRES": "host=/x", "TAVOLA_REDIS": "unix:/x", "TAVOLA_AUTHENTICATION": "none"}
        for name, change, texts in (
            ("tavolad", {"TAVOLA_LISTENS": "x"}, ("TAVOLA_LISTENS", "did you mean TAVOLA_LISTEN?")),
            ("tavolad", {"TAVOLA_NONSENSE": "x"}, ("TAVOLA_NONSENSE", "--help")),
            ("tavolad", {"TAVOLA_PORT": "tcp://10.0.0.1:50051"}, ("TAVOLA_PORT", "enableServiceLinks")),
            ("tavolad", {"TAVOLA_LISTEN": "nowhere"}, ("TAVOLA_LISTEN", "nowhere", "allowed:")),
            ("tavolad", {"TAVOLA_LISTEN": "0.0.0.0:0"}, ("TAVOLA_LISTEN", "loopback")),
            ("tavolad", {"TAVOLA_RPC_THREADS": "0"}, ("TAVOLA_RPC_THREADS", "1..")),
            ("tavolad", {"TAVOLA_RPC_THREADS": "2x"}, ("TAVOLA_RPC_THREADS", "1..")),
            ("tavolad", {"TAVOLA_AUTHENTICATION": "off"}, ("TAVOLA_AUTHENTICATION", "required, none")),
            ("tavolad", {"TAVOLA_POSTGRES": ""}, ("TAVOLA_POSTGRES is not set",)),
            ("tavolad", {"TAVOLA_LOG_LEVEL": "loud"}, ("TAVOLA_LOG_LEVEL", "debug, info, warn, error")),
            ("tavola-worker", {"TAVOLA_LISTENS": "x"}, ("TAVOLA_LISTENS", "did you mean TAVOLA_LISTEN?")),
            ("tavola-worker", {"TAVOLA_VISIBILITY_TIMEOUT_SECONDS": "-1"}, ("1..3600 s",)),
        ):
            with self.subTest(program=name, change=change):
                settings = {k: v for k, v in {**good, **change}.items() if v is not None}
                result = run_program(name, settings=settings)
                self.assertEqual(result.returncode, 2, result.stderr)
                for text in texts:
                    self.assertIn(text, result.stderr)

    def test_one_file_of_settings_serves_all_programs(self):
        names = ("tavolad", "tavola-worker", "tavola")
        every = {}
        for name in names:
            text = run_program(name, "--help").stdout
            for setting in run_program(name, "--print-settings").stdout.split():
                own = text.split(f"  {setting}\n")[1].split("\n  TAVOLA_")[0].strip().splitlines()[-1]  # the values
                every[setting] = own.split("default: ")[1].strip() if "default: " in own else ""
        every.update(TAVOLA_POSTGRES="host=/x", TAVOLA_REDIS="unix:/x", TAVOLA_AUTHENTICATION="none")
        for name in names:
            result = run_program(name, "--print-config", settings=every)
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_half_a_command_lists_its_second_words(self):
        result = run_program("tavola", "dev")
        self.assertEqual(result.returncode, 2)
        for words in ("tavola dev run\n", "tavola dev exec ", "tavola dev status\n"):
            self.assertIn(words, result.stderr)

    def test_the_private_postgresql_takes_settings(self):
        ask = ("--", "sh", "-c", 'psql "$TAVOLA_POSTGRES" -Atc "show work_mem"')
        asked = run_program("tavola", "dev", "exec", "--postgres", "work_mem=1234kB", *ask)
        self.assertEqual(asked.stdout, "1234kB\n", asked.stderr)
        unknown = run_program("tavola", "dev", "exec", "--postgres", "nonsense=1", *ask)
        self.assertEqual(unknown.returncode, 1)
        self.assertIn('unrecognized configuration parameter "nonsense"', unknown.stderr)
        for words in (("--postgres",), ("--postgres", "work_mem"), ("--postgres", "work_mem", *ask)):
            self.assertEqual(run_program("tavola", "dev", "exec", *words).returncode, 2, words)

    def test_unknown_options(self):
        for name in ("tavolad", "tavola-worker", "tavola"):
            result = run_program(name, "--nonsense")
            self.assertEqual(result.returncode, 2)
            self.assertTrue(result.stderr)


class Migrations(LifecycleCase):
    def migrate(self, made):
        return run_program("tavola", "migrate", settings={"TAVOLA_POSTGRES": made.postgres})

    def test_twice_is_once(self):
        made = self.stack(migrate=False, redis=False)
        first, second = self.migrate(made), self.migrate(made)
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr + second.stderr)
        self.assertIn("applied 0001", first.stdout)
        self.assertNotIn("applied", second.stdout)
        self.assertIn("schema is at version", second.stdout)

    def test_several_at_once(self):
        made = self.stack(migrate=False, redis=False)
        argv = [os.path.join(BIN, "tavola"), "migrate"]
        environment = program_environment({"TAVOLA_POSTGRES": made.postgres})
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
        runs = [subprocess.Popen(argv, **pipes) for _ in range(4)]
        outputs = [run.communicate(timeout=60 * TIMEOUT_FACTOR) for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 4, outputs)
        applied = sum(out.count("applied 0001") for out, _ in outputs)
        self.assertEqual(applied, 1)

    def test_without_a_database(self):
        result = run_program("tavola", "migrate", settings={"TAVOLA_POSTGRES": "host=/none dbname=none"})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/none", result.stderr)
        result = run_program("tavola", "migrate")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("TAVOLA_POSTGRES", result.stderr)

    def test_a_newer_schema_is_left_alone(self):
        made = self.stack(redis=False)
        made.sql("insert into schema_migrations (version, name) values (9999, 'later')")
        result = self.migrate(made)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("9999", result.stderr)

    def test_a_plan_says_what_a_migration_would_do_and_does_nothing(self):
        made = self.stack(migrate=False, redis=False)
        plan = run_program("tavola", "migrate", "--plan", settings={"TAVOLA_POSTGRES": made.postgres})
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertIn("would apply 0001", plan.stdout)
        self.assertEqual(made.sql("select count(*) from pg_class where relname in ('entities', 'schema_migrations')"), "0")
        made.migrate()
        plan = run_program("tavola", "migrate", "--plan", settings={"TAVOLA_POSTGRES": made.postgres})
        self.assertIn("nothing to do", plan.stdout)

    def at_version(self, version):
        """A stack whose schema is that of an older program."""
        made = self.stack(migrate=False, redis=False)
        made.sql("create table schema_migrations (version integer primary key, name text not null, applied timestamptz not null default now())")
        for path in sorted(glob.glob(os.path.join(SOURCE, "migrations", "*.sql")))[:version]:
            name = os.path.basename(path).removesuffix(".sql")
            with open(path, encoding="utf-8") as file:
                made.sql(f"{file.read()}; insert into schema_migrations (version, name) values ({int(name[:4])}, '{name}')")
        return made

    def test_a_migration_that_a_deadlock_has_ended_is_tried_again(self):
        """It has locked one table and waits for the other, as a transaction does that began with the other."""
        made = self.at_version(28)
        with servers.session(made.conninfo(made.database)) as ask:
            ask("begin; set deadlock_timeout = '60s'; lock table operations in access exclusive mode; select 1")
            run = made.start("migrate", [os.path.join(BIN, "tavola"), "migrate"], {"TAVOLA_POSTGRES": made.postgres})
            made.wait_for_lock_waiter()
            self.assertEqual(ask("lock table tables in access share mode; select 1"), "1")  # the migration has given way
            ask("rollback; select 1")
        self.assertEqual(run.wait(), 0, run.output())
        self.assertIn("0029_signatures_from waits", run.output())
        self.assertIn("applied 0029_signatures_from", run.output())

    def test_a_migration_gives_up_its_place_while_a_table_is_in_use(self):
        """While a transaction of another program keeps a table, the migration waits, and statements behind it go on."""
        made = self.at_version(34)
        plan = run_program("tavola", "migrate", "--plan", settings={"TAVOLA_POSTGRES": made.postgres}).stdout
        self.assertIn("would apply 0035_intent_traces", plan)
        self.assertIn("programs of schema version 34 and later go on working", plan)
        self.assertRegex(plan, r"locks intents \(0 MB\) for 0\.\d s at most")
        with made.holding("lock table intents in access share mode; select 1"):
            run = made.start("migrate", [os.path.join(BIN, "tavola"), "migrate"], {"TAVOLA_POSTGRES": made.postgres})
            wait_for("the wait", lambda: "0035_intent_traces waits" in run.output(), 30)
            self.assertEqual(made.sql("select count(*) from intents"), "0", "not behind the migration for good")
            self.assertTrue(run.is_running())
        self.assertEqual(run.wait(), 0, run.output())
        self.assertIn("applied 0035_intent_traces", run.output())
        self.assertEqual(made.sql("select oldest_program from schema_migrations where version = 35"), "34")

    def oldest_program(self, made):
        return made.sql("select max(coalesce(oldest_program, version)) from schema_migrations")

    def test_an_upgrade_ends_with_the_command_that_refuses_older_programs(self):
        made = self.at_version(36)
        refuse = functools.partial(run_program, "tavola", "migrate", "--refuse-older", settings={"TAVOLA_POSTGRES": made.postgres})
        early = refuse()
        self.assertEqual(early.returncode, 1)
        self.assertIn("is at version 36", early.stderr)
        self.assertEqual(self.migrate(made).returncode, 0)
        self.assertEqual(self.oldest_program(made), "36")
        ended = refuse()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        newest = made.sql("select max(version) from schema_migrations")
        self.assertIn(f"before {newest} are refused", ended.stdout)
        self.assertEqual(self.oldest_program(made), newest)

    def test_a_new_database_refuses_older_programs(self):
        made = self.stack(redis=False)
        self.assertEqual(self.oldest_program(made), made.sql("select max(version) from schema_migrations"))

    def test_programs_work_with_a_later_schema_that_accepts_them(self):
        """The next release's migration has run, and this release's programs start, as they do after a roll-back."""
        made = self.stack()
        known = int(made.sql("select max(version) from schema_migrations"))
        made.sql(f"alter table intents add column later integer; alter table entities add column later integer;"
                 f"insert into schema_migrations (version, name, oldest_program) values ({known + 1}, 'later', {known})")
        made.start_server()
        made.start_worker()
        with made.connect() as caller:
            caller.create_table(name="people")
            caller.create_index(index={
                "name": "byCity", "table": "people", "shape": 1, "place": 2, "partition_key": [{"property": "City"}]
            })
            wait_ready(caller, "byCity")
            caller.insert_or_replace_entity(table="people", entity=entity("p", "r", City="Rome"))
            found = caller.lookup("byCity", ["Rome"], freshness={"latest": True})
            self.assertEqual([entry.row_key for entry in found], ["r"])
        self.assertIn("works with it", self.migrate(made).stdout)
        made.sql("update schema_migrations set oldest_program = version where name = 'later'")
        result = self.migrate(made)
        self.assertEqual(result.returncode, 1)
        self.assertIn("update this program", result.stderr)

    def test_a_server_on_the_wrong_schema_names_the_command(self):
        made = self.stack(migrate=False, redis=False)
        made.start_server(wait=False)
        made.start_worker()
        wait_for("the server to say so", lambda: "tavola migrate" in made.server.output())
        wait_for("the worker to say so", lambda: "tavola migrate" in made.worker.output())
        wait_for("the server's socket", made.accepts)
        with made.connect() as probe:
            self.assertEqual(made.health(probe), "NOT_SERVING")
            made.migrate()
            wait_for("SERVING", lambda: made.health(probe) == "SERVING")
        self.assertEqual(made.server.output().count("tavola migrate"), 1, "said once")


class Parts(LifecycleCase):
    def test_postgres_down_at_the_start_and_later(self):
        made = self.stack()
        made.postgres_down()
        made.start_server(wait=False)
        made.start_worker()
        wait_for("the server's socket", made.accepts)
        caller = self.connect(made)
        for _ in range(2):
            wait_for("NOT_SERVING", lambda: made.health(caller) == "NOT_SERVING")
            with self.assertRaises(client.ApiError) as caught:
                caller.create_table(name="none", timeout=5)
            self.assertIn(
                (caught.exception.code, caught.exception.reason),
                (("UNAVAILABLE", "STORE_UNAVAILABLE"), ("DEADLINE_EXCEEDED", None), ("DEADLINE_EXCEEDED", "OPERATION_TIMED_OUT")),
            )
            made.postgres_up()
            wait_for("SERVING", lambda: made.health(caller) == "SERVING")
            caller.create_table(name="works")
            caller.insert_entity(table="works", entity=entity("p", "r", A=1))
            caller.delete_table(name="works")
            made.postgres_down()
        wait_for("NOT_SERVING", lambda: made.health(caller) == "NOT_SERVING")
        made.postgres_up()
        wait_for("SERVING", lambda: made.health(caller) == "SERVING")
        said = [line["database"] for line in log_lines.of(made.server.output(), "database")]
        self.assertEqual(said, ["unavailable", "available"] * 3, "one line per change")
        caller.channel.close()
        self.assertEqual(made.server.stop(), 0)
        self.assertEqual(made.worker.stop(), 0)

    def check_index(self, caller, name, count):
        def is_complete():
            return len(caller.lookup(name, ["x"])) == count

        wait_for(f"{count} entries", is_complete, 30)

    def test_redis_comes_and_goes(self):
        """Writes need no Redis; the worker polls PostgreSQL while Redis is away."""
        made = self.stack(redis=False)
        made.start_server()
        made.start_worker()
        caller = self.connect(made)
        caller.create_table(name="source")
        caller.load("source", [entity("p", f"{n}", A="x") for n in range(10)])
        index = {"name": "byA", "table": "source", "shape": 1, "partition_key": [{"property": "A"}]}
        caller.create_index(index=index)
        wait_ready(caller, "byA")
        caller.load("source", [entity("p", f"{n}", A="x") for n in range(20)])
        self.check_index(caller, "byA", 20)
        self.assertEqual(made.health(caller), "SERVING")
        made.start_redis()
        wait_for("the worker to use Redis", lambda: "queue_mode=streaming" in made.worker.output())
        caller.load("source", [entity("p", f"{n}", A="x") for n in range(30)])
        self.check_index(caller, "byA", 30)
        made.redis.kill()
        caller.load("source", [entity("p", f"{n}", A="x") for n in range(40)])
        self.check_index(caller, "byA", 40)
        self.assertEqual(made.health(caller), "SERVING")
        steps = [{"delete_if_exists": {"table": "source", "key": key(("p", "0"))}}]
        caller.submit_transaction(transaction_id="t", steps=steps)
        self.assertEqual(caller.wait_transaction(transaction_id="t", timeout=30).transaction.state, 3)
        self.check_index(caller, "byA", 39)
        self.assertEqual(made.worker.stop(), 0)
        caller.channel.close()
        self.assertEqual(made.server.stop(), 0)

    def test_a_busy_port_names_the_setting(self):
        made = self.stack(redis=False)
        with socket.create_server(("127.0.0.1", 0)) as busy:
            address = f"127.0.0.1:{busy.getsockname()[1]}"
            result = run_program("tavolad", settings=made.server_settings(TAVOLA_LISTEN=address))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("TAVOLA_LISTEN", result.stderr)
        self.assertIn(address, result.stderr)

    def test_a_port_of_the_systems_choice(self):
        made = self.stack(redis=False)
        made.start_server(wait=False, TAVOLA_LISTEN="127.0.0.1:0")

        with client.Client(wait_for("the address", made.listens_on)) as caller:
            wait_for("SERVING", lambda: caller.health() == "SERVING")
        self.assertTrue(log_lines.of(made.server.output(), "limits")[0]["max_connections"].isdigit())
        self.assertEqual(made.server.stop(), 0)


class Draining(LifecycleCase):
    def setUp(self):
        self.made = self.stack()
        self.made.start_server()
        self.caller = self.connect(self.made)
        self.caller.create_table(name="drain")

    def test_open_calls_finish(self):
        """SIGTERM while a write waits for a lock: health says NOT_SERVING at once, and the write succeeds."""
        self.caller.insert_entity(table="drain", entity=entity("p", "r", A=1))
        watch = self.caller.health_watch()
        self.assertEqual(self.caller.health_name(next(watch)), "SERVING")
        with self.made.holding("select count(*) from (select 1 from entities for update) locked"):
            request = client.types.message("tavola.v1.InsertOrReplaceEntityRequest")
            message = request(table="drain", entity=entity("p", "r", A=2)).SerializeToString()
            call = self.caller.start("/tavola.v1.EntityService/InsertOrReplaceEntity", message)
            self.made.wait_for_lock_waiter()
            self.made.server.send(signal.SIGTERM)
            self.assertEqual(self.caller.health_name(next(watch)), "NOT_SERVING")
            self.assertTrue(self.made.server.is_running())
        call.result()
        self.caller.channel.close()
        self.assertEqual(self.made.server.wait(), 0)
        self.made.start_server()
        with self.made.connect() as again:
            stored = again.get_entity(table="drain", key=key(("p", "r"))).entity
            self.assertEqual(client.plain(stored), {"A": 2})

    def test_an_import_is_told_between_messages(self):
        replies = []
        stopped = threading.Event()

        def messages():
            yield ImportEntitiesRequest(table="drain", entities=[entity("p", "0")])
            stopped.wait(30)
            yield ImportEntitiesRequest(entities=[entity("p", "1")])

        with self.assertRaises(client.ApiError) as caught:
            for reply in self.caller.import_entities(messages()):
                replies.append(reply.committed)
                self.made.server.send(signal.SIGTERM)
                wait_for("the drain to begin", lambda: "stopping" in self.made.server.output())
                stopped.set()
        self.assertEqual(replies, [1])
        self.assertEqual((caught.exception.code, caught.exception.reason), ("UNAVAILABLE", "SERVER_DRAINING"))
        self.caller.channel.close()
        self.assertEqual(self.made.server.wait(), 0)

    def test_without_work_it_ends_at_once(self):
        self.caller.channel.close()
        self.assertEqual(self.made.server.stop(), 0)
        self.made.start_worker()
        wait_for("the worker", lambda: "ready" in self.made.worker.output())
        self.assertEqual(self.made.worker.stop(), 0)

    def test_a_wait_is_answered_when_the_drain_begins(self):
        steps = [{"delete_if_exists": {"table": "drain", "key": key(("p", "r"))}}]
        self.caller.submit_transaction(transaction_id="t", steps=steps)
        request = client.types.message("tavola.v1.WaitTransactionRequest")(transaction_id="t")
        call = self.caller.start(
            "/tavola.v1.TransactionService/WaitTransaction", request.SerializeToString(), timeout=60
        )
        self.caller.get_transaction(transaction_id="t")
        self.made.server.send(signal.SIGTERM)
        reply = client.types.message("tavola.v1.WaitTransactionResponse").FromString(call.result())
        self.assertEqual(reply.transaction.state, 1, "the state as it is")
        self.caller.channel.close()
        self.assertEqual(self.made.server.wait(5), 0)

    def test_a_worker_hands_back_what_it_claimed(self):
        """SIGTERM while work is claimed: the next worker does it at once, not after the visibility timeout."""
        caller = self.caller
        index = {"name": "byA", "table": "drain", "shape": 1, "partition_key": [{"property": "A"}]}
        self.made.start_worker()
        caller.create_index(index=index)
        wait_ready(caller, "byA")
        caller.load("drain", [entity("p", f"{n:03}", A="x") for n in range(300)])
        first = self.made.worker
        first.send(signal.SIGTERM)
        self.assertEqual(first.wait(), 0)
        self.made.start_worker()
        wait_for("all entries", lambda: len(caller.lookup("byA", ["x"])) == 300, 10)
        wait_for("no intents", lambda: self.made.sql("select count(*) from intents") == "0")


if __name__ == "__main__":
    unittest.main()
