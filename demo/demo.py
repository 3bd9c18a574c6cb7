# SPDX-License-Identifier: Apache-2.0
"""The main job on real input: Debian's package index, two indexes, and parts that are killed on the way.

Runs beside a private PostgreSQL and Redis: `tavola dev exec -- python3 demo/demo.py`, or `./dev demo`.

Loads all packages, builds a copy index by maintainer and a list index by architecture while the load goes on,
looks things up, then changes and archives packages from several threads. All that time worker and server are killed
with SIGKILL and Redis is flushed. In the end it computes from its own ledger of acknowledged writes what must
be stored, reads what is, and counts the differences. Exit code 0: there are none.
"""

import argparse
import collections
import os
import signal
import statistics
import sys
import time

import grpc

import check
import load
import packages
from client import Client
from kills import Disturber
from live import Counter, Live
from stack import SERVER, WORKER, Stack
from story import Story
from traffic import ARCHIVE, PACKAGES, Ledger, Traffic

BY_MAINTAINER, BY_ARCHITECTURE = "PackagesByMaintainer", "PackagesByArchitecture"
PROJECTED = ("Version", "Architecture", "InstalledSize", "Description")
WITH_SLASH = "Debian Qt/KDE Maintainers"
READS = 200
FEWEST = 300  # packages with which the demo still shows something
NO_PACKAGE_INDEX = 77  # exit code
LAG_TIMEOUT = 180  # seconds
BUILD_TIMEOUT = 300
BUILD_LOOK = 0.3



class NoPackageIndex(Exception):
    """There is no package to load."""


def at_least(least):
    def number(text):
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return int(text)

    return number


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--packages", type=at_least(FEWEST), metavar="N", help="take the first N packages only")
    parser.add_argument("--updates", type=at_least(100), default=4000, metavar="N", help="at least so many (default: 4000)")
    parser.add_argument("--seed", type=int, default=1, help="of what the updates do (default: 1)")
    options = parser.parse_args()
    for name in ("TAVOLA_POSTGRES", "TAVOLA_REDIS"):
        if name not in os.environ:
            parser.error(f"{name} is not set: run `./dev demo`")
    return options


def ms(begin):
    return f"{(time.monotonic() - begin) * 1000:.1f} ms"


# ---- loading and building ----


def declarations(pb):
    """The two indexes. Neither has row-key parts of its own: the source's keys make entries distinct."""
    return [
        pb.Index(
            name=BY_MAINTAINER,
            table=PACKAGES,
            shape=pb.INDEX_SHAPE_COPY,
            place=pb.INDEX_PLACE_OTHER_PARTITION,
            partition_key=[pb.KeyPart(property="Maintainer")],
            projection=pb.Projection(some=pb.PropertyNames(names=PROJECTED)),
        ),
        pb.Index(
            name=BY_ARCHITECTURE,
            table=PACKAGES,
            shape=pb.INDEX_SHAPE_LIST,
            place=pb.INDEX_PLACE_OTHER_PARTITION,
            partition_key=[pb.KeyPart(property="Architecture")],
        ),
    ]


def load_and_index(story, live, client, disturber, entities):
    client.create_table(PACKAGES)
    client.create_table(ARCHIVE)
    counter = Counter(len(entities))
    live.now("packages loaded:", counter)
    with load.loading(client, PACKAGES, list(entities.items()), counter) as wait_for:
        disturber.during_load(counter, wait_for, 0, 0.5)
        wait_for(len(entities) // 2)
        for declaration in declarations(client.pb):
            client.create_index(declaration)
        story.say(f"both indexes declared with {counter.done:,} packages in the table; the load goes on")
        disturber.hit(WORKER, "both builds just begun")
        live.watch(client, (BY_MAINTAINER, BY_ARCHITECTURE))
        disturber.during_load(counter, wait_for, 0.5, 1)
    sections = len({key[0] for key in entities})
    story.say(f"{counter.done:,} packages in {sections} sections ({counter.per_second():,.0f}/s, kills included)")


def await_ready(story, live, client, disturber):
    deadline = time.monotonic() + BUILD_TIMEOUT
    for name in (BY_MAINTAINER, BY_ARCHITECTURE):
        status = client.index_status(name)
        counter, came_to = Counter(status.build.total), disturber.new_build()
        while status.state != client.pb.INDEX_STATE_READY:
            if time.monotonic() > deadline or status.build.state != client.pb.OPERATION_STATE_RUNNING:
                raise RuntimeError(f"{name} does not become ready: {status}")
            validating = status.state == client.pb.INDEX_STATE_VALIDATING
            counter.set(status.build.done, status.build.total)
            what = f"{name}, {'validating' if validating else 'building'}, keys read:"
            if live.what != what:
                live.now(what, counter)
            if not validating:
                came_to(status.build.done, status.build.total)
            client.wait_operation(status.build.operation_id, timeout=BUILD_LOOK)
            status = client.index_status(name)
        story.say(f"{name} is READY: {status.entries:,} entries")


# ---- looking up ----


def largest_maintainer(entities, like=""):
    maintainers = (properties["Maintainer"][1] for properties in entities.values())
    counts = collections.Counter(maintainer for maintainer in maintainers if like in maintainer)
    if not counts:
        raise RuntimeError(f"no maintainer is called {like!r}: take more packages")
    return counts.most_common(1)[0][0]


def look_up_maintainer(story, client, ledger, maintainer):
    expected = {key for key, value in ledger.packages.items() if value["Maintainer"][1] == maintainer}
    begin = time.monotonic()
    pages, found = 0, []
    for reply in client.lookup(BY_MAINTAINER, maintainer):
        if pages == 0:
            first = ms(begin)
        pages += 1
        found += [(entity.partition_key, entity.row_key) for entity in reply.entities]
    name = maintainer.split(" <", maxsplit=1)[0]
    story.say(f"look-up of {name!r}: {len(found):,} packages in {pages} pages, the first after {first}, all {ms(begin)}")
    if len(found) != len(expected) or set(found) != expected:
        raise RuntimeError(f"the look-up should have found {len(expected)} packages")


def look_up_keys(story, client, ledger):
    seconds = []
    for key in list(ledger.packages)[:: len(ledger.packages) // READS]:
        begin = time.monotonic()
        properties, _ = client.get(PACKAGES, key)
        seconds.append(time.monotonic() - begin)
        if properties != ledger.packages[key]:
            raise RuntimeError(f"{key} is not as it was loaded")
    median = statistics.median(seconds) * 1000
    story.say(f"GetEntity({PACKAGES}) for {len(seconds)} keys, one after the other: {median:.2f} ms each (median)")


def look_up(story, client, ledger):
    look_up_maintainer(story, client, ledger, largest_maintainer(ledger.packages))
    look_up_maintainer(story, client, ledger, largest_maintainer(ledger.packages, WITH_SLASH))
    begin = time.monotonic()
    page, _ = client.get(BY_ARCHITECTURE, ("amd64", ""))
    members = page["Members"][1]
    story.say(
        f"GetEntity({BY_ARCHITECTURE}, 'amd64', ''): a page of {members.count('],[') + 1:,} members in {ms(begin)}, "
        f"{'more behind it' if 'NextRowKey' in page else 'the only one'}"
    )
    look_up_keys(story, client, ledger)


# ---- changes and kills ----


def change_and_kill(story, live, client, disturber, ledger, options):
    traffic = Traffic(client, ledger, options.updates, options.seed)
    live.now("updates acknowledged:", traffic.counter)
    traffic.start()
    try:
        disturber.during_updates(BY_MAINTAINER, traffic)
    except BaseException:
        traffic.abandon()
        raise
    traffic.finish()
    story.say(
        f"{traffic.updates:,} updates and {traffic.moves} moves acknowledged; {disturber.count} kills and flushes so far, "
        f"{client.retries} calls sent again, {traffic.resolved} lost answers resolved by reading"
    )
    return traffic.moves


def lag(client):
    """The open intents of the source table; their age and number must both become zero."""
    worst = 0
    for name in (BY_MAINTAINER, BY_ARCHITECTURE):
        found = client.index_status(name).lag
        age_ms = found.age.seconds * 1000 + found.age.nanos // 1000000
        worst = max(worst, found.open_intents, age_ms)
    return worst


def await_no_lag(story, client):
    begin = time.monotonic()
    while lag(client) != 0:
        if time.monotonic() - begin > LAG_TIMEOUT:
            story.say(f"there is still lag after {LAG_TIMEOUT} s")
            return
        client.pause.wait(0.1)
    story.say(f"lag 0 after {ms(begin)}")


# ---- the check ----


def verify(story, live, client, ledger):
    """(differences, entities, index entries)"""
    differences = check.Differences()
    counter = Counter()
    live.now("reading everything back:", counter)
    stored = check.read_table(client, PACKAGES, differences, counter)
    archived = check.read_table(client, ARCHIVE, differences, counter)
    entries = check.read_table(client, BY_MAINTAINER, differences, counter)
    architectures = {value["Architecture"][1] for value in ledger.packages.values()}
    members = check.read_members(client, BY_ARCHITECTURE, architectures, differences)
    story.say(
        f"read {len(stored):,} packages, {len(archived):,} in the archive, {len(entries):,} copies, "
        f"{len(members):,} list members"
    )
    live.now("comparing it with the ledger of acknowledged writes")
    differences.compare(PACKAGES, ledger.packages, stored)
    differences.compare(ARCHIVE, ledger.archive, archived)
    differences.compare(BY_MAINTAINER, check.expected_entries(ledger.packages, "Maintainer", PROJECTED), entries)
    differences.compare(BY_ARCHITECTURE, check.expected_members(ledger.packages, "Architecture"), members)
    for sample in differences.samples:
        print(f"  {sample}", file=sys.stderr)
    return differences, len(stored) + len(archived), len(entries) + len(members)


# ---- the run ----


def start(stack):
    """A client of a running server and worker."""
    stack.migrate()
    stack.start(SERVER)
    stack.start(WORKER)
    client = Client(stack.target)
    client.wait_until_serving(stack.check)
    return client


def conclude(story, stack, client, differences, counts, moved):
    """True when nothing is wrong."""
    left = lag(client)
    with story.phase("stopping"):
        stack.check()
        client.close()
        complaints = stack.stop()
    story.summary()
    for complaint in complaints:
        print(f"demo: {complaint}", file=sys.stderr)
    print(
        f"demo: {counts[0]} entities, {counts[1]} index entries, {moved} moved, {differences.missing} missing, "
        f"{differences.dangling} dangling, {differences.mismatched} mismatched, lag {left}",
        flush=True,
    )
    return not differences.any() and left == 0 and not complaints


def tell(story, stack, options):
    """True when nothing is wrong."""
    with Live(story) as live:
        with live.phase("reading the package index", "reading the machine's package index"):
            entities = packages.read(options.packages)
        if len(entities) < FEWEST:
            raise NoPackageIndex
        with live.phase("starting server and worker", "starting server and worker"):
            client = start(stack)
        story.say(f"server and worker are up; {len(entities):,} packages to load")
        ledger, disturber = Ledger(entities), Disturber(story, live, stack, client)
        with live.phase("loading while parts were killed", "loading"):
            load_and_index(story, live, client, disturber, entities)
        with live.phase("until both indexes were ready", "building"):
            await_ready(story, live, client, disturber)
        with live.phase("look-ups", "looking up"):
            look_up(story, client, ledger)
        with live.phase("updates and moves while parts were killed", "updating"):
            moved = change_and_kill(story, live, client, disturber, ledger, options)
        with live.phase("until the lag was zero", "waiting for the indexes"):
            await_no_lag(story, client)
        with live.phase("the check", "checking"):
            differences, *counts = verify(story, live, client, ledger)
    return conclude(story, stack, client, differences, counts, moved)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    story, stack = Story(), Stack()
    try:
        return 0 if tell(story, stack, options) else 1
    except NoPackageIndex:
        print(f"demo: fewer than {FEWEST} packages in `apt-cache dumpavail`: run `apt-get update`", file=sys.stderr)
        return NO_PACKAGE_INDEX
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception as error:  # pylint: disable=broad-except # print the last lines after any failure
        text = f"{error.code().name}: {error.details()}" if isinstance(error, grpc.RpcError) else str(error)
        print(f"\ndemo: failed: {text or repr(error)}", file=sys.stderr)
        for name in (SERVER, WORKER):
            print(f"\nthe last lines of {name}:", *stack.last_lines(name), sep="\n  ", file=sys.stderr)
        return 1
    finally:
        stack.stop()
        stack.remove()


if __name__ == "__main__":
    sys.exit(main())
