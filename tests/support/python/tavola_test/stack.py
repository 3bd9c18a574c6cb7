# SPDX-License-Identifier: Apache-2.0
"""The programs of the product as children of a test.

Runs under `tavola dev exec`, which gives a PostgreSQL of its own. Every Stack has a database in it, a Redis
and a folder for sockets and logs; server and worker are started, stopped and killed by the test. The programs
reach PostgreSQL through a link to its socket's folder: without the link it is down for them. A Stack that is to
kill PostgreSQL has one of its own, and does not need the other.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile

from tavola_test import chunk_stores, client, log_lines, servers
from tavola_test.disk import Disk, NoDisk
from tavola_test.postgres import BINARIES, Postgres
from tavola_test.processes import Child, program, run_program
from tavola_test.waiting import wait_for

READY = 3  # an index
BAD_SETTING = 2  # an exit code


def wait_ready(caller, index, seconds=60):
    """Wait until the index has been built."""
    wait_for(f"{index} READY", lambda: caller.get_index(name=index).status.state == READY, seconds)


class Stack:
    """A database, a Redis, and server and worker that use them. Usable as a context."""

    counter = 0

    def __init__(self, migrate=True, redis=True, postgres=True, own_postgres=False, postgres_environment=None, power=False,
                 operated=False):
        """operated: the PostgreSQL of the stack's own has no settings on its command line that a test may change with
        `alter system`, and the programs are not told to bear with them.
        """
        Stack.counter += 1
        self.operated = operated
        self.folder = tempfile.mkdtemp(prefix="ts-")
        self.children = []
        self.chunk_store = chunk_stores.of_tests(self.folder)
        self.server_defaults = {}  # settings of each server that is started
        self.server = self.worker = self.redis = None
        self.own_postgres = own_postgres
        self.cluster = None
        self.disk, self.no_disk = None, "not asked for"
        if power:
            self.make_disk()
        if own_postgres:
            self.start_own_postgres(postgres_environment or {})
        else:
            address = dict(part.split("=", 1) for part in os.environ["TAVOLA_POSTGRES"].split())
            self.postgres_folder = address["host"]
            self.postgres_user = address["user"]
            self.postgres_home = address["dbname"]
        self.database = f"scenario_{os.getpid()}_{Stack.counter}"
        self.postgres_link = os.path.join(self.folder, "pg")
        self.postgres = f"host={self.postgres_link} user={self.postgres_user} dbname={self.database}"
        self.redis_socket = os.path.join(self.folder, "redis")
        self.target = "unix:" + os.path.join(self.folder, "server")
        template = os.environ.get("TEST_MIGRATED_TEMPLATE") if migrate else None
        self.make_database(template)
        if postgres:
            self.postgres_up()
        if redis:
            self.start_redis()
        if migrate and not template:
            self.migrate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stop the programs. The database stays: it ends with its PostgreSQL, and dropping it would cost a
        checkpoint. Every line that a server or worker has logged must be well-formed.
        """
        for child in reversed(self.children):
            if not (self.cluster and child is self.cluster.server):
                child.kill()
        if self.cluster:
            self.cluster.end()
        try:
            self.check_logs()
        finally:
            self.chunk_store.close()
            if self.disk:
                self.disk.close()
            shutil.rmtree(self.folder)

    def check_logs(self):
        for child in self.children:
            # If a setting stops the start, there is no log yet.
            if child.is_product and child.exit_code() != BAD_SETTING:
                log_lines.events(child.output())

    def start(self, name, argv, settings=None):
        child = Child(argv, settings or {}, os.path.join(self.folder, name + ".log"))
        self.children.append(child)
        return child

    def logs(self):
        """The last lines of all logs, for the message of a failure."""
        texts = []
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as log:
                    texts.append(f"---- {name}\n{log.read()[-3000:]}")
        return "\n".join(texts)

    # PostgreSQL

    def conninfo(self, database):
        return f"host={self.postgres_folder} user={self.postgres_user} dbname={database}"

    def sql(self, text, database=None):
        """Rows as lines, with | between columns."""
        return servers.sql(self.conninfo(database or self.database), text)

    def make_database(self, template):
        """Copying a template's files takes half of the time of copying its pages through the log."""
        copied = f" template {template} strategy file_copy" if template else ""
        self.sql(f"create database {self.database}{copied}", database=self.postgres_home)

    def locked(self, table):
        """Lock this table of the database until the end of the `with`."""
        return self.holding(f"lock table {table} in access exclusive mode; select 1")

    @contextlib.contextmanager
    def holding(self, statements):
        """Keep the locks that the statements take in another session until the end of the `with`; one statement
        returns a row.
        """
        with servers.session(self.conninfo(self.database)) as ask:
            ask(f"begin; {statements}")
            try:
                yield
            finally:
                with contextlib.suppress(BrokenPipeError):  # PostgreSQL was killed meanwhile
                    ask("rollback; select 1")

    def wait_for_lock_waiter(self):
        """Whether a session of the server waits for a lock."""
        waiting = f"select count(*) from pg_stat_activity where datname = '{self.database}' and wait_event_type = 'Lock'"
        wait_for("a session that waits", lambda: self.sql(waiting, database=self.postgres_home) != "0")

    # A cluster on a slow disk would only make the test slow: what a killed process has written, the kernel has.
    # A PostgreSQL that was killed leaves what it has in /dev/shm, but not what it has in its own folder.
    OWN_SETTINGS = {
        "listen_addresses": "",
        "unix_socket_directories": ".",
        "fsync": "off",
        "jit": "off",
        "dynamic_shared_memory_type": "mmap",
    }

    def make_disk(self):
        """For a PostgreSQL of the stack's own: one whose power can be cut, if the machine allows it."""
        try:
            self.disk = Disk(self.folder)
        except NoDisk as why:
            self.no_disk = str(why)

    def cut_power(self):
        """Cut the power: PostgreSQL goes on with a disk that fails; power_returns ends it and starts it again."""
        self.disk.cut()

    def power_returns(self):
        if self.cluster.server.is_running():
            self.cluster.kill()

        def unmounted():
            try:
                self.disk.unmount()
                return True
            except NoDisk:  # a process of PostgreSQL is still ending
                return False

        wait_for("the end of the old mount", unmounted, 30)
        self.disk.mount()
        self.restart_own_postgres()

    def start_own_postgres(self, environment):
        if self.disk:
            os.chmod(self.folder, 0o755)
            self.cluster = Postgres(self.disk.folder, {**self.OWN_SETTINGS, "fsync": "on", "max_wal_size": "256MB"})
            self.disk.sync()
        else:
            settings = dict(self.OWN_SETTINGS)
            if self.operated:
                del settings["fsync"]
            self.cluster = Postgres(self.folder, settings)
        self.cluster.environment = environment
        self.postgres_folder = self.cluster.folder
        self.postgres_user = self.postgres_home = "postgres"
        self.restart_own_postgres()

    def restart_own_postgres(self):
        """A new server refuses to start until all processes of the previous one have ended."""

        def answers():
            if not (self.cluster.server and self.cluster.server.is_running()):
                self.cluster.start(lambda argv: self.start("postgres", argv))
            asked = subprocess.run([BINARIES + "/pg_isready", "-q", "-h", self.postgres_folder], check=False)
            return asked.returncode == 0

        wait_for("PostgreSQL", answers, 60)

    def postgres_up(self):
        os.symlink(self.postgres_folder, self.postgres_link)

    def postgres_down(self):
        """Refuse new connections of the programs, and end the existing ones."""
        if os.path.islink(self.postgres_link):
            os.unlink(self.postgres_link)
        self.sql(
            f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{self.database}'",
            database=self.postgres_home,
        )
        wait_for(
            "the end of all connections",
            lambda: self.sql(
                f"select count(*) from pg_stat_activity where datname = '{self.database}'",
                database=self.postgres_home,
            )
            == "0",
        )

    def migrate(self):
        result = run_program("tavola", "migrate", settings={"TAVOLA_POSTGRES": self.postgres})
        if result.returncode != 0:
            raise AssertionError(result.stderr)

    # Redis

    def redis_program(self):
        """redis-tools is enough: its program is the server too, if it is started under that name."""
        program = os.path.join(self.folder, "redis-server")
        if not os.path.lexists(program):
            os.symlink("/usr/bin/redis-check-rdb", program)
        return program

    def start_redis(self):
        argv = [self.redis_program(), "--port", "0", "--unixsocket", self.redis_socket]
        self.redis = self.start("redis", argv + ["--save", "", "--appendonly", "no", "--dir", self.folder])
        wait_for("Redis", self.redis_answers)

    def redis_answers(self):
        try:
            return self.redis_command("PING") == b"+PONG\r\n"
        except OSError:
            return False

    def redis_command(self, *words):
        """The raw answer to one short command."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(self.redis_socket)
            connection.sendall(" ".join(words).encode() + b"\r\n")
            return connection.recv(65536)

    # server and worker

    def messages(self, shard):
        """The number of messages in a queue: those in its stream, and those that wait for their turn."""
        keys = f"tavola:{{q{shard}}}:"
        return int(self.redis_command("XLEN", keys + "intents")[1:]) + int(self.redis_command("ZCARD", keys + "waiting")[1:])

    def settings(self, more):
        given = {"TAVOLA_POSTGRES": self.postgres, "TAVOLA_REDIS": "unix:" + self.redis_socket}
        if self.own_postgres and not self.disk and not self.operated:
            given["TAVOLA_ALLOW_DATA_LOSS"] = "on"  # see OWN_SETTINGS
        return {**given, **self.chunk_store.settings, **more}

    def server_settings(self, **more):
        """Tables may be made as fast as a test can: the tests of their rate set it."""
        plain = {"TAVOLA_LISTEN": self.target, "TAVOLA_AUTHENTICATION": "none", "TAVOLA_CATALOGUE_RATE_LIMIT": "0"}
        return self.settings({**plain, **self.server_defaults, **more})

    def start_server(self, wait=True, **settings):
        self.server = self.start("tavolad", [program("tavolad")], self.server_settings(**settings))
        if wait:
            self.wait_until_serving()
        return self.server

    def new_target(self):
        """The next server listens on another address, and every new connection goes there."""
        Stack.counter += 1
        self.target = "unix:" + os.path.join(self.folder, f"server{Stack.counter}")

    def accepts(self, target=None):
        """Wait until a server listens: a channel that tries earlier waits for seconds before it tries again. A proxy
        always listens.
        """
        target = target or self.target
        if not target.startswith("unix:"):
            return True
        with socket.socket(socket.AF_UNIX) as connection:
            return connection.connect_ex(target.removeprefix("unix:")) == 0

    def listens_on(self):
        """The address that the server reports, if the system chooses its port; None before that."""
        said = log_lines.of(self.server.output(), "listening")
        return said[-1]["address"] if said else None

    def wait_until_serving(self):
        wait_for("the server's socket", lambda: not self.server.is_running() or self.accepts())
        with self.connect() as probe:
            wait_for("health SERVING", lambda: self.health(probe) == "SERVING")

    def health(self, probe):
        """SERVING, NOT_SERVING, or None if no server answers."""
        if not self.server.is_running():
            raise AssertionError("the server has ended:\n" + self.server.output())
        try:
            return probe.health()
        except client.ApiError as error:
            if error.code != "UNAVAILABLE":
                raise
            return None

    def start_worker(self, **settings):
        """Without a scrub and a count of usage, unless the settings say otherwise: the first has operations and reports, the
        second makes versions of the catalogue.
        """
        argv = [program("tavola-worker")]
        self.worker = self.start("tavola-worker", argv, self.settings({"TAVOLA_SCRUB_SHARE": "0", "TAVOLA_USAGE_SHARE": "0", **settings}))
        return self.worker

    def connect(self, **options):
        return client.Client(self.target, **options)
