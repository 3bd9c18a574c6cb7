# SPDX-License-Identifier: Apache-2.0
"""`tavola doctor`: nothing where all is well, and the one right finding for each thing that is not."""

import functools
import glob
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest

from tavola_test import servers
from tavola_test.postgres import BINARIES, Postgres
from tavola_test.processes import program, run_program
from tavola_test.stack import Stack
from tavola_test.waiting import wait_for

FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
PROBE = ["create a table", "create an index and wait until it is built", "write an entity",
         "find it by the index, as fresh as the write", "delete it by a transaction", "find it no more"]


@functools.cache
def has_failpoints():
    return "TAVOLA_FAILPOINT" in run_program("tavolad", "--print-settings").stdout


class DoctorCase(unittest.TestCase):
    # The cluster of the tests does not wait for its disk.
    expected = {"fsync is off", "full_page_writes is off"}

    def of_the_build(self):
        return {"it is a build with failpoints"} if has_failpoints() and "failpoints" not in self._testMethodName else set()

    def run_doctor(self, *arguments, **changed):
        settings = {"TAVOLA_POSTGRES": self.stack.postgres, "TAVOLA_TARGET": self.stack.target,
                    "TAVOLA_REDIS": "unix:" + self.stack.redis_socket, **changed}
        return run_program("tavola", "doctor", *arguments, settings={k: v for k, v in settings.items() if v})

    def findings(self, *arguments, **changed):
        done = self.run_doctor("--json", *arguments, **changed)
        self.assertEqual(done.stderr, "")
        told = json.loads(done.stdout)
        found = [one for one in told["findings"] if one["what"] not in self.expected | self.of_the_build()]
        for one in found:
            self.assertEqual(one["severity"] == "ok", (one["why"], one["remedy"]) == ("", ""), one)
        self.assertEqual(done.returncode, 1 if told["worst"] == "problem" else 0)
        return found

    def problems(self, *arguments, **changed):
        return [one for one in self.findings(*arguments, **changed) if one["severity"] == "problem"]

    def one_problem(self, part, *words, **changed):
        """The only problem there is, of this part, with these words in what is wrong or in the remedy."""
        problems = self.problems(**changed)
        self.assertEqual([one["part"] for one in problems], [part], problems)
        for word in words:
            self.assertIn(word, problems[0]["what"] + " | " + problems[0]["remedy"])
        return problems[0]


class OneStack(DoctorCase):
    """A server and a worker for all tests, each of which leaves them as they were."""

    @classmethod
    def setUpClass(cls):
        cls.stack = Stack()
        cls.addClassCleanup(cls.stack.close)
        cls.stack.start_server()
        cls.stack.start_worker()

    def test_a_healthy_service(self):
        found = self.findings()
        self.assertEqual([one for one in found if one["severity"] == "problem"], [])
        self.assertEqual([one["what"].rsplit(":", 1)[0] for one in found if one["part"] == "probe"], PROBE)
        with self.stack.connect() as caller:
            self.assertEqual(list(caller.list_tables().tables), [])
        text = self.run_doctor("--all").stdout
        self.assertIn("ok       probe: write an entity: ", text)
        self.assertRegex(text, r"\n\d+ checks: \d+ problems, \d+ warnings, \d+ notes\n$")

    def test_what_is_not_set_is_not_checked(self):
        notes = [one for one in self.findings("--no-probe", TAVOLA_POSTGRES=None, TAVOLA_REDIS=None) if one["severity"] == "note"]
        self.assertEqual([one["what"] for one in notes],
                         ["not checked: TAVOLA_POSTGRES is not set", "not checked: TAVOLA_REDIS is not set"])

    def test_wrong_words(self):
        done = self.run_doctor("--everything")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("tavola doctor [--json] [--all] [--no-probe]", done.stderr)

    def test_settings_that_lose_writes(self):
        name = self.stack.database
        self.stack.sql(f"alter database {name} set synchronous_commit = off")
        [problem] = self.problems("--no-probe")  # new connections of server and worker are refused
        self.assertEqual((problem["part"], problem["what"]), ("PostgreSQL", "synchronous_commit is off"))
        self.assertIn("alter system set synchronous_commit = on", problem["remedy"])
        self.assertIn("loses writes", problem["why"])
        self.stack.sql(f"alter database {name} reset synchronous_commit")
        self.assertEqual(self.problems("--no-probe"), [])

    def test_open_transactions_are_looked_at(self):
        with self.stack.holding("select 1"):
            found = {one["what"].split(" is ")[0] for one in self.findings("--no-probe")}
        self.assertIn("oldest_transaction", found)

    def test_redis_that_evicts_and_the_cure(self):
        redis = lambda *words: subprocess.run(["redis-cli", "-s", self.stack.redis_socket, *words], check=True, stdout=subprocess.DEVNULL)
        redis("config", "set", "maxmemory-policy", "allkeys-lru")
        problem = next(one for one in self.problems("--no-probe"))
        self.assertEqual((problem["part"], problem["what"]), ("Redis", "maxmemory_policy is allkeys-lru"))
        remedy = problem["remedy"].split(";")[0].split()
        self.assertEqual(remedy[0], "redis-cli")
        redis(*remedy[1:])
        self.assertEqual(self.problems("--no-probe"), [])

    def test_a_build_with_failpoints(self):
        [found] = [one for one in self.findings("--no-probe") if "failpoints" in one["what"]]
        self.assertEqual((found["part"], found["severity"]), ("server", "problem" if has_failpoints() else "ok"))

    def test_more_threads_than_connections(self):
        left = lambda **settings: next(one for one in self.findings("--no-probe", **settings)
                                       if one["what"].startswith("connections_left_for_one_more"))
        self.assertEqual(left()["severity"], "ok")
        found = left(TAVOLA_READ_THREADS="64", TAVOLA_WRITE_THREADS="32", TAVOLA_WORKER_THREADS="64")
        self.assertEqual(found["severity"], "problem")
        self.assertIn("alter system set max_connections", found["remedy"])

    def test_the_connections_of_the_programs_are_as_many_as_doctor_expects(self):
        """doctor computes them from the threads: at most 19 of a server, and 9 of a worker."""
        opened = lambda name: int(self.stack.sql("select count(*) from pg_stat_activity where datname = "
                                                 f"'{self.stack.database}' and application_name like '{name}%'"))
        wait_for("connections", lambda: opened("tavolad") >= 14)
        self.assertLessEqual(opened("tavolad "), 19)
        self.assertLessEqual(opened("tavola-worker"), 9)

    def test_certificates(self):
        path = os.path.join(self.stack.folder, "ca.pem")
        look = lambda: [one for one in self.findings("--no-probe", TAVOLA_CA=path) if one["part"] == "certificates"]
        for days, wanted in (("365", "ok"), ("10", "warning")):
            subprocess.run(["openssl", "req", "-x509", *NEW_KEY, "-nodes", "-subj", "/CN=a", "-days", days,
                            "-keyout", "/dev/null", "-out", path], check=True, stderr=subprocess.DEVNULL)
            self.assertEqual([one["severity"] for one in look()], [wanted])
        key, request = (os.path.join(self.stack.folder, name) for name in ("expired.key", "expired.csr"))
        subprocess.run(["openssl", "req", *NEW_KEY, "-nodes", "-subj", "/CN=a", "-keyout", key, "-out", request], check=True,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["openssl", "x509", "-req", "-in", request, "-key", key, "-days", "-1", "-out", path], check=True,
                       stderr=subprocess.DEVNULL)
        [found] = look()
        self.assertEqual((found["severity"], found["what"]), ("problem", path + " has expired"))
        with open(path, "w", encoding="ascii") as file:
            file.write("no certificate")
        [found] = look()
        self.assertEqual((found["severity"], found["what"]), ("problem", path + " cannot be read"))


class Doctor(DoctorCase):
    """Each test begins without a server."""

    def setUp(self):
        self.stack = Stack()
        self.addCleanup(self.stack.close)

    def test_a_server_that_takes_tokens_only_is_no_problem(self):
        self.stack.start_server(TAVOLA_AUTHENTICATION="required")
        [note] = [one for one in self.findings() if one["part"] == "probe"]
        self.assertEqual(note["severity"], "note")
        self.assertIn("TAVOLA_TOKEN_FILE", note["remedy"])

    def test_parts_that_are_away(self):
        self.one_problem("server", "failed to connect")
        self.stack.start_server()
        self.one_problem("probe", "create an index", "TavolaWorkLag")  # no worker
        self.stack.start_worker()
        self.stack.redis.kill()
        self.one_problem("Redis", "TavolaRedisUnavailable")
        self.stack.start_redis()
        self.stack.postgres_down()
        with self.stack.connect() as probe:
            wait_for("a server that does not serve", lambda: probe.health() == "NOT_SERVING")
        self.assertEqual([one["part"] for one in self.problems()], ["PostgreSQL", "server"])

    def test_another_schema(self):
        self.stack.start_server()
        self.stack.sql("delete from schema_migrations where version = (select max(version) from schema_migrations)")
        [problem] = self.problems("--no-probe")
        self.assertEqual(problem["part"], "PostgreSQL")
        self.assertIn("tavola migrate", problem["what"])

    def test_the_cure_of_a_setting_of_postgresql(self):
        """The command that doctor prints, as it stands there."""
        self.stack = Stack(own_postgres=True)
        self.addCleanup(self.stack.close)
        self.stack.start_server()
        self.stack.sql("alter system set max_wal_size = '64MB'")
        self.stack.sql("select pg_reload_conf()")
        warned = lambda: next((one for one in self.findings("--no-probe") if one["what"].startswith("max_wal_size")
                               and one["severity"] == "warning"), None)
        wait_for("the finding", warned)
        environment = {**os.environ, "PATH": BINARIES + ":" + os.environ["PATH"], "PGHOST": self.stack.postgres_folder,
                       "PGUSER": self.stack.postgres_user, "PGDATABASE": self.stack.database}
        subprocess.run(["sh", "-c", warned()["remedy"]], check=True, env=environment, stdout=subprocess.DEVNULL)
        wait_for("the remedy", lambda: not warned())

    def test_room_on_the_disk_of_the_database(self):
        self.stack = Stack(own_postgres=True)
        self.addCleanup(self.stack.close)
        self.stack.start_server()
        told = lambda: {one["what"].split(" is ")[0]: one for one in self.findings("--no-probe") if one["part"] == "PostgreSQL"}
        self.assertEqual(told()["disk_free_percent_of_max_wal_size"]["severity"], "ok")
        self.stack.sql("alter system set max_wal_size = '900TB'")
        self.stack.sql("select pg_reload_conf()")
        found = wait_for("the finding", lambda: next(
            (one for name, one in told().items() if name == "disk_free_percent_of_max_wal_size" and one["severity"] == "problem"), None))
        self.assertIn("alter system set max_wal_size", found["remedy"])
        # A role that may not read where the data are.
        self.stack.sql("alter system reset max_wal_size")
        self.stack.sql("select pg_reload_conf()")
        away = self.stack.sql("create role limited login; grant pg_read_all_data to limited; select 1") and \
            self.stack.postgres.replace(f"user={self.stack.postgres_user}", "user=limited")
        notes = [one for one in self.findings("--no-probe", TAVOLA_POSTGRES=away) if "is unknown" in one["what"]]
        self.assertEqual([one["severity"] for one in notes], ["note"])
        self.assertIn("df -h", notes[0]["remedy"])

    @unittest.skipUnless(FAKETIME, "needs Debian's package faketime")
    def test_clocks_that_differ(self):
        if has_failpoints():
            self.skipTest("AddressSanitizer takes no library before its own")
        self.stack.start_worker()
        self.stack.start_server()
        clocks = lambda **settings: {one["part"]: one["severity"] for one in self.findings(**settings) if "its clock is" in one["what"]}
        self.assertEqual(clocks(), {"PostgreSQL": "ok", "Redis": "ok", "server": "ok"})
        # Before the allocator of tavolad, which asks for the time while the faked clock needs memory to begin.
        fake = {"LD_PRELOAD": FAKETIME + ":libc.so.6:libstdc++.so.6", "FAKETIME": "+30s", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        self.assertEqual(clocks(**fake), {"PostgreSQL": "warning", "Redis": "warning", "server": "warning"}, "this machine's is wrong")
        self.stack.server.stop()
        self.stack.start_server(**fake)
        self.assertEqual(clocks(), {"PostgreSQL": "ok", "Redis": "ok", "server": "warning"})

    def test_another_isolation_of_the_database(self):
        self.stack.start_server()
        name = self.stack.database
        look = lambda: next(one for one in self.findings("--no-probe") if one["what"].startswith("default_transaction_isolation"))
        self.assertEqual(look()["severity"], "ok")
        self.stack.sql(f"alter database {name} set default_transaction_isolation = 'serializable'")
        self.assertEqual(look()["severity"], "note")
        self.stack.start_worker()
        self.assertEqual(self.problems(), [], "the programs work")

    def test_a_server_that_may_open_few_files(self):
        look = lambda: next(one for one in self.findings("--no-probe") if "files" in one["what"])
        self.stack.start_server()
        self.assertEqual(look()["severity"], "ok")
        self.stack.server.stop()
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        command = ["sh", "-c", 'ulimit -n 900 && exec "$0"', program("tavolad")]
        self.assertGreater(limits[1], 1400)
        self.stack.server = self.stack.start("tavolad", command, self.stack.server_settings())
        self.stack.wait_until_serving()
        found = look()
        self.assertEqual((found["part"], found["severity"]), ("server", "warning"))
        self.assertIn("LimitNOFILE=65536", found["remedy"])


# What an operator may have set, and the severity of the finding. Its remedy is one command.
WRONG_SETTINGS = [
    ("fsync", "off", "problem"),
    ("full_page_writes", "off", "problem"),
    ("synchronous_commit", "off", "problem"),
    ("autovacuum", "off", "problem"),
    ("track_counts", "off", "problem"),
    ("max_wal_size", "64MB", "warning"),
    ("default_transaction_isolation", "serializable", "note"),
]
COMMAND = re.compile(r"""psql(?: -c (?:"[^"]*"|'[^']*'))+|redis-cli(?: (?:''|[a-z0-9-]+))+""")


class Standby(Postgres):
    """A copy of a PostgreSQL that follows it."""

    def __init__(self, folder, primary):
        self.primary = primary
        super().__init__(folder, primary.settings)
        os.chmod(self.folder, 0o700)
        os.remove(os.path.join(self.folder, ".s.PGSQL.5432.lock"))  # copied from the primary

    def maker(self):
        return [BINARIES + "/pg_basebackup", "-h", self.primary.folder, "-U", "postgres", "-D", self.folder, "--checkpoint=fast",
                "--wal-method=stream", "--write-recovery-conf", "--no-sync"]


class Cures(unittest.TestCase):
    """A PostgreSQL and a Redis that an operator has spoiled: doctor says what is wrong, and nothing else, and the command that
    it prints mends it. All tests use one stack, and each leaves it as it was.
    """

    @classmethod
    def setUpClass(cls):
        cls.clocks = tempfile.TemporaryDirectory(prefix="tc-")
        cls.addClassCleanup(cls.clocks.cleanup)
        os.chmod(cls.clocks.name, 0o755)
        cls.set_clock(0)
        faked = {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": cls.clocks.name + "/clock", "FAKETIME_NO_CACHE": "1",
                 "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        cls.stack = stack = Stack(own_postgres=True, operated=True, postgres_environment=faked if FAKETIME else {})
        cls.addClassCleanup(stack.close)
        stack.cluster.settings["max_prepared_transactions"] = "2"
        cls.restart_postgres()
        stack.start_server(TAVOLA_ALLOW_DATA_LOSS="on")

    @classmethod
    def set_clock(cls, seconds):
        """Of PostgreSQL. The file is replaced, because a process may read it at any time."""
        path = cls.clocks.name + "/clock"
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(f"{seconds:+}s\n")
        os.chmod(path + ".new", 0o644)
        os.replace(path + ".new", path)

    @classmethod
    def restart_postgres(cls, between=lambda: None):
        cls.stack.cluster.server.send(signal.SIGINT)
        cls.stack.cluster.server.wait(30)
        between()
        cls.stack.restart_own_postgres()

    def setUp(self):
        """A server that has not noticed yet that PostgreSQL was restarted says that it serves, and then for a moment that it does not."""
        self.stack.wait_until_serving()
        self.before = wait_for("a server that goes on serving", self.while_serving)

    def tearDown(self):
        wait_for(f"the state of before: {self.before} instead of {self.wrong().keys()}", lambda: self.wrong().keys() == self.before)

    def while_serving(self):
        """What is wrong; None: the server is among it."""
        wrong = self.wrong().keys()
        return None if any("NOT_SERVING" in fact for fact in wrong) else wrong

    def told(self):
        done = run_program("tavola", "doctor", "--json", "--no-probe", settings={
            "TAVOLA_POSTGRES": self.stack.postgres, "TAVOLA_TARGET": self.stack.target, "TAVOLA_REDIS": "unix:" + self.stack.redis_socket})
        return [(one["what"].split(" is ")[0], one) for one in json.loads(done.stdout)["findings"]]

    def wrong(self):
        return {fact: one for fact, one in self.told() if one["severity"] != "ok"}

    def is_wrong(self, fact):
        return fact in self.wrong()

    def finding(self, fact, severity):
        """Wait for the finding; it is the only one beside those of before. Returns its remedy."""
        found = wait_for(fact, lambda: (wrong := self.wrong()).keys() - self.before == {fact} and wrong[fact])
        self.assertEqual(found["severity"], severity)
        self.assertTrue(found["why"])
        return found["remedy"]

    def type(self, command):
        """Returns what it prints."""
        environment = {**os.environ, "PATH": BINARIES + ":" + os.environ["PATH"], "PGHOST": self.stack.postgres_folder,
                       "PGUSER": self.stack.postgres_user, "PGDATABASE": self.stack.database}
        command = command.replace("redis-cli", "redis-cli -s " + self.stack.redis_socket)
        return subprocess.run(["sh", "-c", command], check=True, env=environment, capture_output=True, text=True).stdout

    def type_remedy(self, remedy):
        """Every command of it, as it stands there; returns what they print."""
        commands = COMMAND.findall(remedy)
        self.assertTrue(commands, remedy)
        return "".join(self.type(command) for command in commands)

    def test_settings_of_postgresql(self):
        for setting, value, severity in WRONG_SETTINGS:
            with self.subTest(setting):
                self.stack.sql(f"alter system set {setting} = '{value}'")
                self.stack.sql("select pg_reload_conf()")
                self.type_remedy(self.finding(setting, severity))
                wait_for("the cure", lambda: not self.is_wrong(setting))
                self.stack.sql(f"alter system reset {setting}")
                self.stack.sql("select pg_reload_conf()")
                wait_for("the default", lambda: self.wrong().keys() == self.before)

    def test_few_files_of_the_log_are_kept(self):
        """As PostgreSQL is installed, so the note is there before."""
        self.assertEqual(self.wrong()["min_wal_size"]["severity"], "note")
        self.type_remedy(self.wrong()["min_wal_size"]["remedy"])
        wait_for("the cure", lambda: not self.is_wrong("min_wal_size"))
        self.stack.sql("alter system reset min_wal_size")
        self.stack.sql("select pg_reload_conf()")

    def test_dead_rows_that_no_vacuum_removes(self):
        self.stack.sql("create table scratch (n int) with (autovacuum_enabled = off)")
        self.stack.sql("insert into scratch select generate_series(1, 120000)")
        self.stack.sql("delete from scratch where n % 2 = 0")
        self.type_remedy(self.finding("dead_rows_percent", "warning"))
        wait_for("the cure", lambda: not self.is_wrong("dead_rows_percent"))
        self.stack.sql("drop table scratch")

    def test_a_slot_that_keeps_the_write_ahead_log(self):
        self.stack.sql("select pg_create_physical_replication_slot('forgotten', true)")
        cluster = self.stack.cluster
        reset = ["setpriv", *cluster.become, BINARIES + "/pg_resetwal", "-l", "000000010000000300000000", "-D", cluster.folder]
        self.restart_postgres(lambda: subprocess.run(reset, check=True, capture_output=True))
        remedy = self.finding("slot_behind", "warning")
        self.assertIn("forgotten", self.type_remedy(remedy))
        self.type_statement(remedy, "pg_drop_replication_slot", "NAME", "forgotten")

    def type_statement(self, remedy, words, name, value):
        """The statement of the remedy, with what stands there for a name."""
        [statement] = re.findall(rf"(?:select )?{words}[ (]'?{name}'?\)?", remedy)
        self.type(f'psql -c "{statement.replace(name, value)}"')

    def test_a_system_with_other_collations(self):
        # A database of ICU has a version, and this one is said to have been made with an older one.
        name = self.stack.database
        self.stack.sql(f"update pg_database set datlocprovider = 'i', daticulocale = 'und', datcollversion = '1' where datname = '{name}'")
        remedy = self.finding("collation_version", "note").replace("NAME", name)
        self.type_remedy(remedy)
        wait_for("the cure", lambda: not self.is_wrong("collation_version"))

    def test_a_standby_that_is_behind(self):
        folder = tempfile.mkdtemp(dir=self.stack.folder)
        standby = Standby(folder, self.stack.cluster)
        standby.start(lambda argv: self.stack.start("standby", argv))
        self.addCleanup(standby.end)
        pause = f"host={standby.folder} user=postgres dbname=postgres"
        wait_for("a standby that pauses", lambda: self.is_paused(pause))
        self.stack.sql("select pg_logical_emit_message(false, 'a', 'b'); select pg_switch_wal();" * 17)
        self.assertIn("streaming", self.type_remedy(self.finding("standby_behind", "warning")))
        standby.end()
        self.stack.sql("select pg_terminate_backend(pid) from pg_stat_replication")  # if it has not noticed yet

    @staticmethod
    def is_paused(conninfo):
        try:
            servers.sql(conninfo, "select pg_wal_replay_pause()")
            return servers.sql(conninfo, "select pg_get_wal_replay_pause_state()") == "paused"
        except servers.DatabaseAway:
            return False

    @unittest.skipUnless(FAKETIME, "needs Debian's package faketime")
    def test_transactions_that_are_forgotten(self):
        """PostgreSQL's clock is set ahead by ten minutes meanwhile, which is a finding of its own."""
        self.addCleanup(self.set_clock, 0)
        with servers.session(self.stack.conninfo(self.stack.database)) as ask:
            ask("begin; create table never (n int); prepare transaction 'forgotten'; select 1")
            pid = ask("begin; select pg_backend_pid()")
            self.set_clock(600)
            late = {"oldest_transaction", "oldest_prepared_transaction"}
            found = wait_for("the findings", lambda: late <= (wrong := self.wrong()).keys() and wrong)
            open_one, prepared = (found[fact] for fact in ("oldest_transaction", "oldest_prepared_transaction"))
            self.assertEqual((open_one["severity"], prepared["severity"]), ("warning", "warning"))
            self.assertIn(str(pid).strip(), self.type_remedy(open_one["remedy"]))
            self.type_statement(open_one["remedy"], "pg_terminate_backend", "PID", str(pid).strip())
            self.assertIn("forgotten", self.type_remedy(prepared["remedy"]))
            self.type_statement(prepared["remedy"], "rollback prepared", "GID", "forgotten")
            wait_for("the cures", lambda: not late & self.wrong().keys())
        self.set_clock(0)

    # Redis

    def redis(self, command):
        return self.type("redis-cli " + command)

    def test_a_redis_that_throws_messages_away(self):
        self.redis("config set maxmemory-policy allkeys-lru")
        remedy = self.finding("maxmemory_policy", "problem").split("; redis-cli config rewrite")[0]  # this one has no file
        self.redis("set thrown away")
        self.redis("config set maxmemory 1")
        wait_for("an eviction", lambda: self.is_wrong("evicted_keys"))
        self.redis("config set maxmemory 0")
        self.type_remedy(remedy)
        self.type_remedy(self.finding("evicted_keys", "warning"))

    def test_a_redis_that_is_full(self):
        used = int(re.search(r"used_memory:(\d+)", self.redis("info memory"))[1])
        self.redis(f"config set maxmemory {used}")
        self.type(COMMAND.findall(self.finding("used_memory_percent", "warning"))[0])

    def test_a_redis_that_is_a_replica(self):
        self.redis("replicaof 127.0.0.1 1")
        self.assertIn("sentinel://", self.finding("role", "problem"))
        self.redis("replicaof no one")

    def test_a_redis_that_cannot_store_its_snapshot(self):
        obstacle = os.path.join(self.stack.folder, "dump.rdb")
        os.mkdir(obstacle)
        self.redis("config set save '900 1'")
        self.redis("bgsave")
        remedy = self.finding("rdb_last_bgsave_status", "warning")
        wait_for("a refused write", lambda: "MISCONF" in self.redis("set a b"))
        without_snapshots, with_them = COMMAND.findall(remedy)
        self.type(without_snapshots)
        self.assertEqual(self.redis("set a b").strip(), "OK")
        os.rmdir(obstacle)
        self.type(with_them)


if __name__ == "__main__":
    unittest.main()
