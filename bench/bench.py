"""What the machine can do and what the service does with it, measured in the same run.

Runs beside a private PostgreSQL and Redis: `./dev bench`. Every measurement is made once per round, ceilings and
product in turn; ratios are made within a round and the median of the rounds counts, so that what else the machine
does at the time hits both sides. Prints a table, writes an array of
{name, value, unit, against, against_value, ratio, sense, must, aim}; exit code 1 if a must is missed.

CPU is that of the whole process - for PostgreSQL of all its processes - from /proc, per operation.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

import wire
from rows import ROWS, judge, print_table
from stack import Stack

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SERVICE = "/tavola.v1.EntityService/"
INDEXED_KEYS = 15_000  # written per round to the table with an index, then carried over by the worker
INSERT_KEYS = 120_000  # per round: enough for every machine we know
WORKER_PATIENCE = 120  # seconds

PROPERTIES = "'\\x" + "78" * 250 + "'::bytea"
PGBENCH_GET = f"""\\set k random({wire.FIRST}, {wire.FIRST + wire.COUNT - 1})
\\set p :k / {wire.KEYS_PER_PARTITION}
select version, ts, properties from bench_rows
where table_id = 1 and partition_key = 'p' || :p and row_key = 'r' || :k and bucket = 0;
"""
PGBENCH_UPSERT = f"""\\set k random({wire.FIRST}, {wire.FIRST + wire.COUNT - 1})
\\set p :k / {wire.KEYS_PER_PARTITION}
insert into bench_rows as e (table_id, partition_key, row_key, bucket, version, ts, properties)
values (1, 'p' || :p, 'r' || :k, 0, 1, 1, {PROPERTIES})
on conflict (table_id, partition_key, row_key, bucket) do update
set version = e.version + 1, ts = e.ts + 1, properties = excluded.properties returning version, ts;
"""


class Bench:
    def __init__(self, stack, options):
        self.stack = stack
        self.seconds = options.seconds
        self.threads = int(os.environ.get("TAVOLA_RPC_THREADS", "1"))
        self.files = stack.folder
        self.next_insert = wire.FIRST + wire.COUNT
        self.next_value = 0  # of the property that is indexed: one that stays causes no work
        self.reply_bytes = 0

    # ---- setting up ----

    def file(self, name, requests):
        return wire.save(f"{self.files}/{name}", requests)

    def text(self, name, content):
        path = f"{self.files}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return path

    def once(self, method, name, requests):
        return self.run_load(self.stack.target, method, self.file(name, requests), 1, 60, "once")

    def prepare(self):
        self.stack.migrate()
        self.stack.start_server()
        self.wait_until_serving()
        self.once("/tavola.v1.TableService/CreateTable", "table", wire.create_table("Bench"))
        self.once("/tavola.v1.TableService/CreateTable", "table", wire.create_table("Indexed"))
        self.once("/tavola.v1.IndexService/CreateIndex", "index", wire.create_index("ByColor", "Indexed"))
        self.stack.start_worker()
        self.wait_for("select count(*) from indexes where state <> 3")
        self.stack.stop("worker")
        self.make_requests()
        self.run_load(self.stack.target, SERVICE + "ImportEntities", self.import_all, 2, 300, "once", "stream")
        self.stack.sql(
            "create table bench_rows (like entities including all) with (fillfactor = 85);"
            "insert into bench_rows select 0, 1, partition_key, row_key, version, ts, dead, expires, properties"
            " from entities where table_id = (select table_id from tables where name = 'Bench')"
        )
        self.stack.sql("vacuum analyze")
        self.stack.sql("checkpoint")
        reply = self.run_load(self.stack.target, SERVICE + "GetEntity", self.get_hot, 1, 1, "once")
        self.reply_bytes = round(reply["reply_bytes"])
        self.stack.start_echo(self.threads, self.reply_bytes)

    def wait_until_serving(self):
        target = self.stack.target
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TAVOLA_")} | {"TAVOLA_TARGET": target}
        end = time.monotonic() + 30
        while subprocess.run([self.stack.program("tavola"), "health"], env=environment, capture_output=True).returncode:
            if time.monotonic() > end:
                raise RuntimeError("the server does not become ready")
            time.sleep(0.05)

    def wait_for(self, count_query):
        """Until the query counts nothing any more: [(time, count)]."""
        samples = []
        end = time.monotonic() + WORKER_PATIENCE
        while time.monotonic() < end:
            samples.append((time.monotonic(), int(self.stack.sql(count_query))))
            if samples[-1][1] == 0:
                return samples
            time.sleep(0.1)
        raise RuntimeError(f"after {WORKER_PATIENCE} s there are still {samples[-1][1]}: {count_query}")

    def make_requests(self):
        some = 20_000
        self.import_all = self.file("import", wire.import_("Bench", list(range(wire.FIRST, wire.FIRST + wire.COUNT))))
        self.get_hot = self.file("get-hot", wire.get("Bench", wire.hot(1)))
        self.get_uniform = self.file("get-uniform", wire.get("Bench", wire.uniform(some)))
        self.get_zipf = self.file("get-zipf", wire.get("Bench", wire.zipf(some)))
        self.upsert_uniform = self.file("upsert-uniform", wire.write("Bench", wire.uniform(some)))
        self.upsert_zipf = self.file("upsert-zipf", wire.write("Bench", wire.zipf(some)))
        self.upsert_hot = self.file("upsert-hot", wire.write("Bench", wire.hot(some)))
        self.replace = self.file("replace", wire.write("Bench", wire.each(wire.FIRST, some)))
        self.batches = self.file("batches", wire.batch("Bench", 300))
        self.queries = self.file("queries", wire.query("Bench", wire.uniform(500)))
        self.pgbench_get = self.text("get.sql", PGBENCH_GET)
        self.pgbench_upsert = self.text("upsert.sql", PGBENCH_UPSERT)

    # ---- the loads ----

    def measured(self, run, operations, server="tavolad"):
        """run() gives what it saw; rate and CPU per operation are added. operations: its name in there."""
        names = (server, "postgres")
        before = {name: self.stack.cpu(name) for name in names}
        seen = run()
        time.sleep(0.1)  # connections that were just closed have backends that are just ending
        for name, label in zip(names, ("server", "postgres")):
            seen[f"{label}_us"] = (self.stack.cpu(name) - before[name]) * 1e6 / seen[operations]
        seen["rate"] = seen[operations] / seen["seconds"]
        return seen

    def run_load(self, target, method, path, in_flight, seconds, *flags):
        command = [self.stack.program("../bench/bench_load"), target, method, path, str(in_flight), str(seconds), *flags]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{method}: {done.stdout}{done.stderr}")
        words = done.stdout.split()
        return {name: float(value) for name, value in zip(words[::2], words[1::2])}

    def load(self, method, path, in_flight, *flags, seconds=None):
        run = lambda: self.run_load(self.stack.target, SERVICE + method, path, in_flight, seconds or self.seconds, *flags)
        return self.measured(run, "calls")

    def load_echo(self, in_flight):
        run = lambda: self.run_load(
            self.stack.echo_target, "/bench.Echo/Echo", self.get_uniform, in_flight, self.seconds
        )
        return self.measured(run, "calls", "echo")

    def run_h2load(self, target, method):
        command = ["h2load", "-t1", "-c8", "-m8", "-D", str(round(self.seconds)), "-d", self.get_hot]
        command += ["-H", "content-type: application/grpc", "-H", "te: trailers", f"http://{target}{method}"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        done = int(re.search(r"requests: (\d+) total", text)[1])
        succeeded = int(re.search(r"(\d+) succeeded", text)[1])
        data = int(re.search(r"\((\d+)\) data", text)[1])
        # gRPC says OK or not in the trailers, which h2load does not look at: an error would have no data.
        if succeeded < done or data < done * self.reply_bytes:
            raise RuntimeError(f"h2load saw failures:\n{text}")
        return {"calls": done, "seconds": float(re.search(r"finished in ([\d.]+)s", text)[1])}

    def h2load(self, target, method, server):
        return self.measured(lambda: self.run_h2load(target, method), "calls", server)

    def run_pgbench(self, script):
        command = ["pgbench", "-n", "-M", "prepared", "-c8", "-j1", "-T", str(round(self.seconds)), "-f", script]
        text = subprocess.run(
            [*command, self.stack.postgres], capture_output=True, text=True, check=True
        ).stdout
        done = int(re.search(r"actually processed: (\d+)", text)[1])
        return {"calls": done, "seconds": done / float(re.search(r"tps = ([\d.]+)", text)[1])}

    def pgbench(self, script):
        return self.measured(lambda: self.run_pgbench(script), "calls")

    def run_pg_load(self, mode, connections):
        command = [self.stack.program("../bench/bench_pg_load"), mode, str(connections), str(self.seconds)]
        command += [str(wire.FIRST), str(wire.COUNT - 1000)]
        words = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return {name: float(value) for name, value in zip(words[::2], words[1::2])}

    def pg_load(self, mode, connections):
        return self.measured(lambda: self.run_pg_load(mode, connections), "rows")

    # ---- loads that need some care ----

    def insert(self):
        path = self.file("insert", wire.write("Bench", wire.each(self.next_insert, INSERT_KEYS)))
        self.next_insert += INSERT_KEYS
        seen = self.load("InsertEntity", path, 256, "once")
        self.stack.sql(
            f"delete from entities where row_key >= 'r{wire.FIRST + wire.COUNT}'"
            " and table_id = (select table_id from tables where name = 'Bench')"
        )
        self.stack.sql("vacuum entities")
        return seen

    def indexed(self):
        """Every key once, with a new value: as many entries to write, and to remove from the second round on."""
        path = self.file("indexed", wire.write("Indexed", wire.each(wire.FIRST, INDEXED_KEYS), self.next_value))
        self.next_value += INDEXED_KEYS
        return self.load("InsertOrReplaceEntity", path, 256, "once", seconds=60)

    def worker(self):
        """What `indexed` has left to do, from the worker's first commit on."""
        count = "select count(*) from intents"
        keys = int(self.stack.sql(count))
        if keys != INDEXED_KEYS:
            raise RuntimeError(f"{keys} intents are open before the worker starts, not {INDEXED_KEYS}")
        cpu = self.stack.cpu("postgres")
        self.stack.start_worker()
        samples = [(time.monotonic(), keys), *self.wait_for(count)]
        idle = [sample for sample in samples if sample[1] == keys]
        seconds = samples[-1][0] - idle[-1][0]
        used = {"server_us": self.stack.cpu("worker"), "postgres_us": self.stack.cpu("postgres") - cpu}
        self.stack.stop("worker")
        return {"rate": keys / seconds} | {name: value * 1e6 / keys for name, value in used.items()}

    def batch(self):
        seen = self.load("ExecuteBatch", self.batches, 8)
        return self.per_entity(seen, 100)

    def import_entities(self):
        seen = self.load("ImportEntities", self.import_all, 2, "stream")
        return self.per_entity(seen, 1000)

    def pages(self):
        return self.per_entity(self.load("QueryEntities", self.queries, 2), 1000)

    @staticmethod
    def per_entity(seen, entities):
        per_call = {name: value / entities for name, value in seen.items() if name.endswith("_us")}
        return seen | per_call | {"rate": seen["rate"] * entities}

    def measurements(self):
        """In the order of a round: a ceiling stands beside what is compared with it."""
        target, echo = self.stack.target, self.stack.echo_target
        upsert = "InsertOrReplaceEntity"
        return {
            "echo h2load": lambda: self.h2load(echo, "/bench.Echo/Echo", "echo"),
            "get h2load": lambda: self.h2load(target, SERVICE + "GetEntity", "tavolad"),
            "echo 64": lambda: self.load_echo(64),
            "get 64": lambda: self.load("GetEntity", self.get_uniform, 64),
            "get 64 zipf": lambda: self.load("GetEntity", self.get_zipf, 64),
            "get 64 hot": lambda: self.load("GetEntity", self.get_hot, 64),
            "pgbench get": lambda: self.pgbench(self.pgbench_get),
            "echo 1": lambda: self.load_echo(1),
            "get 1": lambda: self.load("GetEntity", self.get_uniform, 1),
            "libpq get 1": lambda: self.pg_load("get", 1),
            "pgbench upsert": lambda: self.pgbench(self.pgbench_upsert),
            "upsert 64": lambda: self.load(upsert, self.upsert_uniform, 64),
            "upsert 256": lambda: self.load(upsert, self.upsert_uniform, 256),
            "upsert 64 zipf": lambda: self.load(upsert, self.upsert_zipf, 64),
            "upsert 64 hot": lambda: self.load(upsert, self.upsert_hot, 64),
            "replace 64": lambda: self.load("ReplaceEntity", self.replace, 64, "if-match"),
            "replace 256": lambda: self.load("ReplaceEntity", self.replace, 256, "if-match"),
            "insert 256": self.insert,
            "upsert indexed": self.indexed,
            "worker": self.worker,
            "libpq upsert": lambda: self.pg_load("upsert", 2),
            "batch": self.batch,
            "import": self.import_entities,
            "libpq range": lambda: self.pg_load("range", 2),
            "pages": self.pages,
        }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", default=f"{ROOT}/build/bin", help="the folder of tavola and tavolad")
    parser.add_argument("--out", default=f"{ROOT}/build/bench.json")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement (default: 2)")
    parser.add_argument("--only", default="", metavar="REGEX", help="only measurements whose name matches")
    options = parser.parse_args()
    for name in ("TAVOLA_POSTGRES", "TAVOLA_REDIS"):
        if name not in os.environ:
            parser.error(f"{name} is not set: run `./dev bench`")
    return options


def run(bench, options):
    """{measurement: [what each round saw]}"""
    measurements = {n: m for n, m in bench.measurements().items() if re.search(options.only, n)}
    results = {name: [] for name in measurements}
    for number in range(options.rounds):
        for name, measure in measurements.items():
            print(f"\r\033[Kround {number + 1} of {options.rounds}: {name}", end="", file=sys.stderr, flush=True)
            results[name].append(measure())
        print("\r\033[K", end="", file=sys.stderr)
    return results


def main():
    options = arguments()
    stack = Stack(options.programs)
    try:
        bench = Bench(stack, options)
        bench.prepare()
        results = run(bench, options)
    finally:
        stack.close()
    judged = [judge(row, results) for row in ROWS if row.value[0] in results and row.against[0] in results]
    print_table(judged, results)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump([row.as_json() for row in judged], file, indent=1)
    return 1 if any(row.missed for row in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
