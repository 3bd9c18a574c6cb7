# SPDX-License-Identifier: Apache-2.0
"""What the machine can do and what the service does with it, measured in the same run.

Runs beside a private PostgreSQL and Redis: `./dev bench`. Every measurement is made once per round, ceilings and
product in turn; ratios are made within a round and the median of the rounds counts, so that what else the machine
does at the time hits both sides, and rounds in which it did not are left out (see rows.py). Prints tables, writes an array of
{name, value, unit, against, against_value, ratio, sense, must, aim, rounds}; exit code 1 if a must is missed or a
measurement failed. Such a row has an `error`, and the worst ratio there is.
"""

import argparse
import os
import re
import resource
import sys

import backlog
import blobs
import builds
import features
import files
import latency
import lookups
import memory
import patterns
import peers
import profiling
import scale
import table
import verifications
from loads import Loads
from product import Product
from rows import Results, excuse, judge, print_judged, print_measured, write_json
from speed import Speed
from stack import Stack
from tavola_test.settings import BUILD


class Run:
    """Measurements of a command, by name, and the rows that are made of them."""

    def __init__(self, stack, options, speed):
        self.stack = stack
        self.options = options
        self.results = Results(speed)
        self.rows = []  # set by the command before anything can fail

    def say(self, text):
        """The present measurement: one line that is overwritten, on a terminal."""
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        elif text:
            print(text.rstrip(), file=sys.stderr, flush=True)

    def measure(self, measurements, rounds):
        """{name: function}, in the order of a round."""
        wanted = {name: one for name, one in measurements.items() if re.search(self.options.only, name)}
        for number in range(rounds):
            for name, one in wanted.items():
                self.say(f"round {number + 1} of {rounds}: {name}")
                if not self.results.take(name, one):
                    self.stack.revive()
        self.say("")

    def finish(self):
        judged = [one for one in (judge(row, self.results) for row in self.rows) if one]
        excuse(judged)
        print_measured(self.results)
        print_judged(judged, self.results)
        if self.stack.is_in_memory:
            print("\nPostgreSQL's files are in memory here (tmpfs): a flush takes no time, so latencies, and their ratios to one"
                  "\ncall at a time, are not those of a disk. TMPDIR names the folder for them.")
        write_json(self.options.out, judged, keep=self.options.command != "all")
        return 1 if self.results.broken or self.results.errors or any(one.missed or one.error for one in judged) else 0


def bench_all(run, stack, options):
    run.rows = table.ROWS + lookups.ROWS + verifications.ROWS + features.ROWS + memory.ROWS + profiling.ROWS + latency.ROWS
    product = Product(stack, Loads(stack, options.seconds))
    product.prepare()
    found = lookups.Lookups(product)
    found.prepare()
    proofs = verifications.Verifications(product)
    extras = features.Features(product)
    run.measure(product.measurements() | found.measurements() | proofs.measurements() | extras.measurements(), options.rounds)
    extras.close()
    run.measure(memory.Memory(product).measurements(), 1)
    stack.stop(memory.NAME)
    profiled = profiling.Profiling(product)
    run.measure(profiled.measurements(), 1)
    stack.stop(profiling.NAME)
    slow = latency.Latency(product)
    slow.prepare()
    run.measure(slow.measurements(), options.rounds)
    profiled.print_shares()


def bench_peers(run, stack, options):
    run.rows = peers.ROWS
    product = Product(stack, Loads(stack, options.seconds))
    product.prepare()
    others = peers.Peers(product, f"{BUILD}/peers")
    others.prepare()
    run.measure(others.measurements(), options.rounds)


def bench_scale(run, stack, options):
    grown = scale.Scale(stack, Loads(stack, options.seconds), options.sizes)
    run.rows = grown.rows()
    grown.prepare(run.say)
    run.measure(grown.measurements(), options.rounds)


def bench_backlog(run, stack, options):
    run.rows = backlog.ROWS
    left = backlog.Backlog(Product(stack, Loads(stack, options.seconds)), options.backlog)
    left.prepare()
    run.measure(left.measurements(), options.rounds)


def bench_builds(run, stack, options):
    run.rows = builds.ROWS
    built = builds.Builds(Product(stack, Loads(stack, options.seconds)), options.entities)
    built.prepare()
    run.measure(built.measurements(), options.rounds)


def bench_patterns(run, stack, options):
    run.rows = patterns.ROWS
    product = Product(stack, Loads(stack, options.seconds))
    product.prepare()
    made = patterns.Patterns(product)
    made.prepare()
    run.measure(made.measurements(), options.rounds)


def bench_files(run, stack, options):
    run.rows = files.ROWS
    moved = files.Files(Product(stack, Loads(stack, options.seconds)), options.entities)
    moved.prepare()
    run.measure(moved.measurements(), 1)


def bench_blobs(run, stack, options):
    run.rows = blobs.ROWS
    stored = blobs.Blobs(Product(stack, Loads(stack, options.seconds)), options.quick)
    stored.prepare()
    try:
        run.measure(stored.measurements(), options.rounds)
    finally:
        stored.close()
    run.measure(stored.memory_measurements(), 1)


COMMANDS = {"all": bench_all, "peers": bench_peers, "scale": bench_scale, "backlog": bench_backlog,
            "builds": bench_builds, "patterns": bench_patterns, "files": bench_files, "blobs": bench_blobs}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="all")
    parser.add_argument("--out", default=f"{BUILD}/bench.json")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.2, help="of each measurement (default: 1.2)")
    parser.add_argument("--quick", action="store_true", help="one round of half seconds: does it work at all?")
    parser.add_argument("--only", default="", metavar="REGEX", help="only measurements whose name matches")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], metavar="N,N",
                        default=[10_000, 1_000_000, 10_000_000], help="of scale: entities")
    parser.add_argument("--backlog", type=int, metavar="N", help="of backlog: entities (default: 200000, quick 10000)")
    parser.add_argument("--entities", type=int, metavar="N", help="of builds and files: entities (default: 1000000, quick 20000)")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 1, 0.5
    options.backlog = options.backlog or (10_000 if options.quick else 200_000)
    options.entities = options.entities or (20_000 if options.quick else 1_000_000)
    for name in ("TAVOLA_POSTGRES", "TAVOLA_REDIS"):
        if name not in os.environ:
            parser.error(f"{name} is not set: run `./dev bench`")
    return options


def main():
    options = arguments()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a thousand connections, each with gRPC's own client
    stack = Stack()
    speed = Speed()
    run = Run(stack, options, speed)
    try:
        COMMANDS[options.command](run, stack, options)
    except Exception as error:  # pylint: disable=broad-except # the measurements made so far are printed
        run.results.broken = f"{type(error).__name__}: {error}"
    finally:
        speed.close()
        stack.close()
    return run.finish()


if __name__ == "__main__":
    sys.exit(main())
