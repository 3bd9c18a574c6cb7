# SPDX-License-Identifier: Apache-2.0
"""What it takes to pass each failpoint, and what must be so afterwards.

Points of work that goes on all the time need nothing; each other one has a Provocation, found by the start of its
name. prepare() is called before the process that is to pass it starts; provoke() again and again until it has been
passed often enough, with answers that get lost; settle() with all programs back, perhaps more than once: it brings
what was begun to its end and says what is wrong with that.
"""

import json
import os

from tavola_test import blobs
from tavola_test.callers import OWNERS, promise
from tavola_test.client import ApiError, entity, key, plain
from tavola_test.copy_callers import rule_of, wrong_copies
from tavola_test.driver import SERVER, WORKER, files_of
from tavola_test.poison import DEAD
from tavola_test.stack import READY, wait_ready
from tavola_test.waiting import wait_for

DONE, DISCARDED, CANCELLED = 3, 3, 5
RANGE_ROWS = 550
STRONG, EVENTUAL = 1, 2


def unless(reasons, call, **fields):
    """The reply, or None if the call is refused for one of the reasons, because an earlier call has done it."""
    try:
        return call(**fields)
    except ApiError as error:
        if error.reason not in reasons:
            raise
        return None


class Provocation:
    role = WORKER

    def __init__(self, stack, poison, number):
        self.stack, self.poison, self.number = stack, poison, number
        self.made = []

    def prepare(self, caller):
        pass

    def provoke(self, caller):
        pass

    def settle(self, caller):
        pass

    def new_name(self, prefix):
        self.made.append(f"{prefix}{self.number}x{len(self.made)}")
        return self.made[-1]


class ServersWork(Provocation):
    role = SERVER


class WorkersWork(Provocation):
    role = WORKER


class Archives(Provocation):
    """Entities are written to files, sent to a receiver, and deleted: each is in its table, or in one whole file."""

    def prepare(self, caller):
        self.table = f"archived{self.number}"
        caller.create_table(name=self.table)

    def provoke(self, caller):
        row = self.new_name("archive")
        caller.insert_or_replace_entity(table=self.table, entity=entity("p", row, N=self.number))
        entity_of = {"entity": {"table": self.table, "key": key(("p", row))}}
        log = {"append_file": {"path": f"{self.table}/log", **entity_of}}
        file = {"write_file": {"path": f"{self.table}/{row}", "delete_entity": True, **entity_of}}
        blob = {"put_blob": {"name": f"{self.table}/{row}", **entity_of}}
        call = {"http_call": {"url": f"{self.stack.receiver.url}/{self.table}/{row}", **entity_of}}
        caller.submit_transaction(transaction_id=row, steps=[log, blob, call, file])

    def settle(self, caller):
        """All transactions end before the log is read: until then the range of an append may hold zeros."""
        replies = {row: unless({"TRANSACTION_NOT_FOUND"}, caller.wait_transaction, transaction_id=row, timeout=60) for row in self.made}
        for row, reply in replies.items():
            if reply:
                promise(reply.transaction.state == DONE, "an archive did not end", reply)
                promise(not self.is_there(caller, row), "an archived entity was not deleted", row)
                promise(len(self.lines(row)) == 1, "a file is not one whole line", row)
                _, content = blobs.get(caller, f"{self.table}/{row}")
                promise(json.loads(content)["RowKey"] == row, "a blob is not the entity", row)
                appended = [line["RowKey"] for line in self.lines("log")]
                promise(appended.count(row) == 1, "an append is not there once", row)
                keys = set(self.stack.receiver.keys(f"/{self.table}/{row}"))
                promise(len(keys) == 1, "a call did not arrive, or came with several keys", row, keys)

    def is_there(self, caller, row):
        return unless({"RESOURCE_NOT_FOUND"}, caller.get_entity, table=self.table, key=key(("p", row))) is not None

    def lines(self, row):
        account, = os.listdir(files_of(self.stack))
        with open(os.path.join(files_of(self.stack), account, self.table, row), encoding="utf-8") as file:
            return [json.loads(line) for line in file]


class ForgottenQueue(Provocation):
    def provoke(self, caller):
        self.stack.redis_command("FLUSHALL")


class Build(Provocation):
    def provoke(self, caller):
        name = self.new_name("built")
        parts = [{"property": "N"}]
        caller.create_index(index={"name": name, "table": "source", "shape": 1, "partition_key": parts})

    def settle(self, caller):
        """All existing indexes become complete, and are dropped."""
        for name in self.made:
            if not unless({"INDEX_NOT_FOUND"}, caller.get_index, name=name):
                continue
            wait_ready(caller, name)
            caller.drop_index(name=name)
        self.made = []


class StrongBuild(Build):
    """Indexes in the partition of their entities; every other one is unique, and its violations are looked through."""

    def provoke(self, caller):
        name = self.new_name("strong")
        caller.create_index(index={
            "name": name, "table": "source", "shape": 1, "place": 1, "unique": len(self.made) % 2 == 0,
            "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": "N"}, {"property": "RowKey"}]
        })


class LargeBuild(Build):
    """An index in the partition of its entities, the first of which is too large for a chunk: it is built by its key."""

    def prepare(self, caller):
        self.table = f"large{self.number}"
        caller.create_table(name=self.table)
        caller.load(self.table, [entity("p", f"{row}", N=row, Note="x" * (20_000 if row == 0 else 1)) for row in range(5)])

    def provoke(self, caller):
        caller.create_index(index={
            "name": self.new_name("bykey"), "table": self.table, "shape": 1, "place": 1, "unique": len(self.made) % 2 == 0,
            "partition_key": [{"property": "PartitionKey"}], "row_key": [{"property": "N"}]
        })


class Updates(Provocation):
    """An index with work that was given up, which no worker does before, becomes a strong one, and an eventual one again."""

    GIVEN_UP = """
insert into dead_letters (kind, table_id, partition_key, row_key, bucket, index_id, dead, failures, cause, history)
select 1, e.table_id, e.partition_key, e.row_key, e.bucket, 0, true, 1, 'was given up', ''
from entities e join tables t using (table_id) where t.live and t.name = '{}' on conflict do nothing"""

    def provoke(self, caller):
        if not self.made:
            table = self.new_name("becoming")
            caller.create_table(name=table)
            caller.load(table, [entity("p", f"{row}", N=row) for row in range(20)])
            caller.create_index(
                index={"name": table + "ByN", "table": table, "shape": 1, "partition_key": [{"property": "N"}]})
            return
        index = self.made[-1] + "ByN"
        view = unless({"INDEX_NOT_FOUND"}, caller.get_index, name=index)
        if not view:
            self.made = []
        elif view.status.state == READY and view.index.consistency == STRONG:
            caller.update_index(name=index, consistency=EVENTUAL)
        elif view.status.state == READY:
            if view.status.becoming != STRONG:
                self.stack.sql(self.GIVEN_UP.format(self.made[-1]))
            caller.update_index(name=index, consistency=STRONG)

    def settle(self, caller):
        """It becomes a strong one, and equals its source."""
        for name in self.made:
            index = name + "ByN"
            if unless({"INDEX_NOT_FOUND"}, caller.get_index, name=index):
                wait_ready(caller, index)
                reply = caller.update_index(name=index, consistency=STRONG)
                if reply.operation.operation_id:
                    caller.wait_operation(operation_id=reply.operation.operation_id, timeout=60)
                found = caller.get_index(name=index)
                promise(found.index.consistency == STRONG, "an index did not become a strong one", found)
                report = Repairs.done(caller, caller.verify_index(name=index))
                counts = (report.missing, report.dangling, report.mismatched, report.manifests, report.in_flight)
                promise(counts == (0, 0, 0, 0, 0), "a strong index differs", report)
            unless({"TABLE_NOT_FOUND", "RESOURCE_NOT_FOUND"}, caller.delete_table, name=name)
        self.made = []


class Repairs(Provocation):
    """An index in which the test replaces an entry by one that names no source; then the index is repaired."""

    DAMAGE = """
update entities set row_key = row_key || 'x', properties = ''
where (table_id, partition_key, row_key) = (
    select e.table_id, e.partition_key, e.row_key from entities e join indexes i on i.index_id = e.table_id
    where i.name = '{}' and e.properties <> '' limit 1)"""

    def provoke(self, caller):
        view = self.made and unless({"INDEX_NOT_FOUND"}, caller.get_index, name=self.made[-1] + "ByN")
        if not view:
            self.repair = None
            self.make(caller, self.new_name("mended"))
            return
        if view.status.state != READY:
            return
        index = self.made[-1] + "ByN"
        if self.repair and caller.get_operation(operation_id=self.repair).operation.state < DONE:
            return
        self.stack.sql(self.DAMAGE.format(index))
        self.repair = caller.repair_index(name=index).operation.operation_id

    @staticmethod
    def make(caller, name):
        caller.create_table(name=name)
        caller.load(name, [entity("p", f"{row}", N=row) for row in range(20)])
        parts = [{"property": "N"}]
        caller.create_index(index={"name": name + "ByN", "table": name, "shape": 1, "partition_key": parts})

    def settle(self, caller):
        """A repair mends all of it, and a verification after it finds no difference."""
        for name in self.made:
            index = name + "ByN"
            if unless({"INDEX_NOT_FOUND"}, caller.get_index, name=index):
                wait_ready(caller, index)
                self.done(caller, caller.repair_index(name=index))
                report = self.done(caller, caller.verify_index(name=index))
                found = (report.missing, report.dangling, report.mismatched, report.manifests)
                promise(found == (0, 0, 0, 0), "a repaired index differs", report)
            unless({"TABLE_NOT_FOUND", "RESOURCE_NOT_FOUND"}, caller.delete_table, name=name)
        self.made = []

    @staticmethod
    def done(caller, reply):
        """The report of an operation, once the operation has ended."""
        ended = caller.wait_operation(operation_id=reply.operation.operation_id, timeout=60).operation
        promise(ended.state == DONE, "an operation ended", ended)
        return caller.get_index_report(operation_id=ended.operation_id).report


class RangeBuild(Provocation):
    """Indexes in other partitions, which are walked in ranges; all are there before the next table is made."""

    def provoke(self, caller):
        view = self.made and unless({"INDEX_NOT_FOUND"}, caller.get_index, name=self.made[-1] + "ByN")
        if not view or view.status.state == READY:
            Repairs.make(caller, self.new_name("ranged"))

    def settle(self, caller):
        """Each becomes READY, without a difference."""
        for name in self.made:
            if unless({"INDEX_NOT_FOUND"}, caller.get_index, name=name + "ByN"):
                wait_ready(caller, name + "ByN")
                build = caller.get_index(name=name + "ByN").status.build
                report = caller.get_index_report(operation_id=build.operation_id).report
                counts = (report.missing, report.dangling, report.mismatched, report.manifests)
                promise(counts == (0, 0, 0, 0), "a build left differences", report)
            unless({"TABLE_NOT_FOUND", "RESOURCE_NOT_FOUND"}, caller.delete_table, name=name)
        self.made = []


class UniqueBuild(RangeBuild):
    """The same, and a unique one beside each: every entity owns its value, which is its own."""

    OWNERS = """
select count(*) from entities e join tables t using (table_id) left join (indexes i join unique_owners o using (index_id))
    on i.name = '{0}Once' and (o.partition_key, o.row_key) = (e.partition_key, e.row_key)
where t.live and t.name = '{0}' and o.row_key is null"""

    def provoke(self, caller):
        before = len(self.made)
        super().provoke(caller)
        if len(self.made) > before:
            name = self.made[-1]
            caller.create_index(index={"name": name + "Once", "table": name, "shape": 1, "unique": True,
                                       "partition_key": [{"property": "N"}]})

    def settle(self, caller):
        for name in self.made:
            if unless({"INDEX_NOT_FOUND"}, caller.get_index, name=name + "Once"):
                wait_ready(caller, name + "Once")
                promise(int(self.stack.sql(self.OWNERS.format(name))) == 0, "entities without their values", name)
        super().settle(caller)


class Replacements(Repairs):
    """An index that is replaced again and again: every other time by one that cannot hold its entities, and so fails."""

    begun = 0

    def provoke(self, caller):
        view = self.made and unless({"INDEX_NOT_FOUND"}, caller.get_index, name=self.made[-1] + "ByN")
        if not view:
            self.make(caller, self.new_name("renewed"))
            return
        if view.status.state != READY:
            return
        if view.status.HasField("replacement"):
            self.go_on_with(caller, view.status.replacement)
            return
        self.begun += 1
        declaration = {"name": self.made[-1] + "ByN", "table": self.made[-1], "shape": 1 + self.begun % 2}
        if self.begun % 2:
            declaration.update(on_violation=2, partition_key=[{"property": "N", "width": 1}])
        else:
            declaration.update(partition_key=[{"property": "N"}])
        unless({"INDEX_NOT_READY"}, caller.replace_index, index=declaration)

    def go_on_with(self, caller, operation):
        pass

    @staticmethod
    def begin(caller, index):
        """None while the index is being replaced: a call whose deadline is over may begin a replacement as well."""
        if caller.get_index(name=index["name"]).status.HasField("replacement"):
            return None
        return unless({"INDEX_NOT_READY"}, caller.replace_index, index=index)

    def settle(self, caller):
        """A replacement ends; the index that is there then has all entities; one more replacement succeeds."""
        for name in self.made:
            index = name + "ByN"
            if unless({"INDEX_NOT_FOUND"}, caller.get_index, name=index):
                wait_ready(caller, index)
                parts = [{"property": "N"}]
                declaration = {"name": index, "table": name, "shape": 1, "partition_key": parts}
                reply = wait_for("a last replacement", lambda index=declaration: self.begin(caller, index), 60)
                ended = caller.wait_operation(operation_id=reply.operation.operation_id, timeout=60).operation
                promise(ended.state == DONE, "a replacement ended", ended)
                report = self.done(caller, caller.verify_index(name=index))
                found = (report.sources, report.missing, report.dangling, report.mismatched, report.manifests)
                promise(found == (20, 0, 0, 0, 0), "a replaced index differs", report)
            unless({"TABLE_NOT_FOUND", "RESOURCE_NOT_FOUND"}, caller.delete_table, name=name)
        self.made = []


class ReplacementRequests(Replacements):
    role = SERVER

    def go_on_with(self, caller, operation):
        """Cancelled, unless it has ended."""
        unless({"OPERATION_NOT_CONTROLLABLE"}, caller.control_operation, operation_id=operation.operation_id, control=3)


class Tables(Provocation):
    """Tables are created, get some rows, and are deleted."""

    role = SERVER

    def provoke(self, caller):
        name = self.new_name("scratch")
        caller.create_table(name=name)
        parts = [{"property": "N"}]
        caller.create_index(index={"name": name + "ByN", "table": name, "shape": 1, "partition_key": parts})
        caller.load(name, [entity("p", f"{row}", N=row) for row in range(20)])
        caller.delete_table(name=name)

    def settle(self, caller):
        for name in self.made:
            unless({"TABLE_ALREADY_EXISTS"}, caller.create_table, name=name)
            table = caller.get_table(name=name).table
            promise(table.name == name, name, table)
            caller.delete_table(name=name)
            promise(not unless({"TABLE_NOT_FOUND"}, caller.get_table, name=name), name, "is still there")
        self.made = []


class Purges(Tables):
    role = WORKER


class Periods(Provocation):
    """A table that keeps tables of years; the test makes some of them that are past."""

    def provoke(self, caller):
        name = self.new_name("kept") + "y"
        self.made[-1] = name
        caller.create_table(name=name)
        for year in (1999, 2000):
            caller.create_table(name=f"{name}{year}")
        caller.update_table(table={"name": name, "periods": {"unit": 4, "ahead": 2, "kept": 1}})

    def settle(self, caller):
        """The tables of each rule are made and dropped."""
        for name in self.made:
            if not unless({"TABLE_NOT_FOUND"}, caller.get_table, name=name):
                continue
            caller.update_table(table={"name": name, "periods": {"unit": 4, "ahead": 2, "kept": 1}})
            wait_for(f"the periods of {name}", lambda name=name: self.periods(caller, name) == 3)
            caller.delete_table(name=name)
        self.made = []

    @staticmethod
    def periods(caller, name):
        """How many tables there are of this year and later; 0 while one of the past is there."""
        names = [table.name for page in caller.pages(caller.list_tables, page_size=1000) for table in page.tables]
        years = [int(found[len(name):]) for found in names if found.startswith(name) and found != name]
        return 0 if min(years, default=0) < 2001 else len(years)


class States(Provocation):
    """Indexes of tables that stay are dropped; the state rows of their entries are deleted with them."""

    def provoke(self, caller):
        if self.made:
            unless({"INDEX_NOT_FOUND"}, caller.drop_index, name=self.made[-1] + "ByN")
        name = self.new_name("bereft")
        caller.create_table(name=name)
        parts = [{"property": "N"}]
        caller.create_index(index={"name": name + "ByN", "table": name, "shape": 1, "partition_key": parts})
        caller.load(name, [entity("p", f"{row}", N=row) for row in range(20)])

    def settle(self, caller):
        for name in self.made:
            unless({"INDEX_NOT_FOUND"}, caller.drop_index, name=name + "ByN")
            unless({"TABLE_NOT_FOUND", "RESOURCE_NOT_FOUND"}, caller.delete_table, name=name)
        self.made = []


class Feeds(Provocation):
    """Change feeds end and are purged, in more than one chunk."""

    ROWS = 1100
    KEPT = "select feed_id from tables where live and feed_id is not null"
    LEFT = f"""
select (select count(*) from feeds where feed_id not in ({KEPT}))
    + (select count(*) from changes where feed_id not in ({KEPT}))"""

    def provoke(self, caller):
        name = self.new_name("fed")
        caller.create_table(name=name, change_feed=True)
        caller.load(name, [entity("p", f"{row}") for row in range(self.ROWS)])
        caller.delete_table(name=name)

    def settle(self, caller):
        for name in self.made:
            unless({"RESOURCE_NOT_FOUND"}, caller.delete_table, name=name)
        wait_for("the end of the feeds", lambda: self.stack.sql(self.LEFT) == "0", 60)
        self.made = []


class Ranges(Provocation):
    """Deletions by range: the entities of one partition are deleted, those of another one stay."""

    def provoke(self, caller):
        partition = self.new_name("gone")
        for name in (partition, "kept"):
            caller.load("ranges", [entity(name, f"{row:04}", N=row) for row in range(RANGE_ROWS)])
        self.delete(caller, partition)

    @staticmethod
    def delete(caller, partition):
        query = {"table": "ranges", "filter": f"PartitionKey eq '{partition}'"}
        return caller.delete_range(query=query).operation.operation_id

    def settle(self, caller):
        for partition in self.made:
            ended = caller.wait_operation(operation_id=self.delete(caller, partition), timeout=60).operation
            promise(ended.state == DONE, "a deletion ended", ended)
        left = [(found.partition_key, found.row_key) for found in caller.query("ranges")]
        kept = [("kept", f"{row:04}") for row in range(RANGE_ROWS)]
        promise(left in (kept, []), "deleted too much or too little", len(left))
        self.made = []


class RangeRequests(Ranges):
    role = SERVER


class Failing(Provocation):
    """A key whose work fails until it is given up."""

    def prepare(self, caller):
        self.poison.put()

    def provoke(self, caller):
        if len(self.made) < 2:
            self.insert(caller, self.new_name("poison"), 1)
        self.poison.give_up()

    def insert(self, caller, name, number):
        some = entity("poisoned", name, N=number, Owner=OWNERS[0])
        caller.insert_or_replace_entity(table="source", entity=some)

    def settle(self, caller):
        wait_for("the end of the dead letters", lambda: self.poison.heal(caller), 40)
        for name in self.made:
            unless(
                {"RESOURCE_NOT_FOUND"}, caller.delete_entity, table="source", key=key(("poisoned", name)),
                precondition={"if_match": "*"},
            )
        self.made = []


class DeadLetters(Failing):
    """Two dead letters that exist before the server that is to die starts."""

    role = SERVER

    def prepare(self, caller):
        self.poison.put()
        for _ in range(2):
            self.insert(caller, self.new_name("poison"), 1)
        wait_for("dead letters", lambda: self.poison.give_up() and self.poison.dead_letters()[1] == 2)


class Redrives(DeadLetters):
    def prepare(self, caller):
        super().prepare(caller)
        self.poison.cure()

    def provoke(self, caller):
        caller.redrive_dead_letters(filter={"state": DEAD})


class Discards(DeadLetters):
    """A dead letter is discarded once, with one note; a change of its key removes it."""

    def provoke(self, caller):
        caller.discard_dead_letters(filter={"state": DEAD}, reason="it is poisoned")

    def settle(self, caller):
        if self.made:
            self.provoke(caller)
            dead_letters = caller.list_dead_letters(filter={"state": DISCARDED}).dead_letters
            names = sorted(dead_letter.key.row_key for dead_letter in dead_letters)
            promise(names == sorted(self.made), "dead letters", names)
            for dead_letter in dead_letters:
                promise(dead_letter.note == "it is poisoned", dead_letter)
                promise(dead_letter.history.count("discarded") == 1, "discarded twice", dead_letter)
            self.poison.cure()
            for name in self.made:
                self.insert(caller, name, 2)
            wait_for("the end of the dead letters", lambda: self.poison.dead_letters() == (0, 0, 0), 40)
        super().settle(caller)


class Cancels(Provocation):
    """Transactions whose first step fails until they are cancelled: they have changed nothing."""

    role = SERVER

    def prepare(self, caller):
        self.poison.put()
        for _ in range(4):
            name = self.new_name("poison")
            put = {"table": "archive", "entity": entity("cancelled", name, N=1)}
            caller.submit_transaction(transaction_id=name, steps=[{"insert_or_replace": put}])

    def provoke(self, caller):
        for name in self.made:
            caller.cancel_transaction(transaction_id=name)

    def settle(self, caller):
        self.provoke(caller)
        for name in self.made:
            state = caller.get_transaction(transaction_id=name).transaction.state
            promise(state == CANCELLED, name, "was cancelled and is in state", state)
        self.poison.cure()
        self.made = []


class Sweeps(Provocation):
    """Dead rows that are old enough to be purged. Later entities with their keys have higher versions, which
    invariants.py checks.
    """

    AGE = """
with old as (select * from entities where dead for update skip locked)
update entities e set ts = e.ts - 72000000000 from old o
where (e.table_id, e.partition_key, e.row_key) = (o.table_id, o.partition_key, o.row_key)
"""

    def provoke(self, caller):
        name = self.new_name("swept")
        caller.load("ranges", [entity(name, f"{row}", N=row) for row in range(3)])
        for row in range(3):
            caller.delete_entity(table="ranges", key=key((name, f"{row}")), precondition={"if_match": "*"})
        self.stack.sql(self.AGE)


class Puts(Provocation):
    """Blobs that are put, replaced and deleted. A blob has the content of a put whose answer was lost or came, and nothing is left."""

    role = SERVER

    def __init__(self, stack, poison, number):
        super().__init__(stack, poison, number)
        self.name, self.puts = f"provoked/{number}", 0

    def provoke(self, caller):
        self.puts += 1
        if self.puts % 3 == 0:
            unless({"BLOB_NOT_FOUND"}, caller.delete_blob, name=self.name)
        else:
            blobs.put(caller, self.name, blobs.content(blobs.CHUNK + 1, self.puts))
        self.stack.sql("update blob_contents set kept_until = now() where state = 3")

    def settle(self, caller):
        found = unless({"BLOB_NOT_FOUND"}, caller.stat_blob, name=self.name)
        if found:
            _, content = blobs.get(caller, self.name)
            possible = [blobs.content(blobs.CHUNK + 1, number) for number in range(self.puts + 1)]
            promise(content in possible, "a blob has a content that no put had")
            caller.delete_blob(name=self.name)
        self.stack.sql(blobs.COLLECT_AT_ONCE)
        self.stack.sql("update blob_strays set due = now()")


class Collections(Puts):
    role = WORKER


class Strays(Collections):
    """What puts have left in the chunk store, and the collector, is due at once."""

    def provoke(self, caller):
        super().provoke(caller)
        self.stack.sql("update blob_strays set due = now()")


class ChunkMoveRequests(Puts):
    """Chunks that are moved out of the database and into it, by turns, beside puts."""

    POSTGRESQL, DIRECTORY = 1, 2
    OPEN = "select count(*) from operations where kind = 'move_chunks' and state in (1, 2)"

    def provoke(self, caller):
        super().provoke(caller)
        unless({"CHUNK_MOVE_REFUSED"}, caller.move_chunks, store=self.POSTGRESQL if self.puts % 2 else self.DIRECTORY)

    def settle(self, caller):
        wait_for("the end of the moves", lambda: self.stack.sql(self.OPEN) == "0")
        super().settle(caller)


class ChunkMoves(ChunkMoveRequests):
    role = WORKER


class LargeEntities(Provocation):
    """Entities that take contents and give them up, and tables of them that are dropped."""

    role = SERVER
    TABLES = "select count(*) from tables where live and name like 'large%'"

    def provoke(self, caller):
        table = self.new_name("large")
        caller.create_table(name=table, blob_properties=True)
        for row in range(3):
            reference = blobs.put(caller, "", b"%d" % row).reference
            caller.insert_or_replace_entity(table=table, entity=entity("p", f"{row % 2}", Photo=reference))
        for found in caller.query_entities(query={"table": table}).entities:
            content = blobs.get(caller, reference=found.properties["Photo"].string_value)[1]
            promise(content in (b"1", b"2"), "an entity holds a content that was not put for it")
        caller.delete_table(name=table)

    def settle(self, caller):
        for table in caller.list_tables(page_size=1000).tables:
            if table.name.startswith("large"):
                caller.delete_table(name=table.name)
        self.stack.sql(blobs.COLLECT_AT_ONCE)


class LargePurges(LargeEntities):
    role = WORKER


class Copies(Provocation):
    """Copies that a rule keeps: a manager whose departments are more than one step visits, and departments that change by themselves."""

    DEPARTMENTS = 250

    def prepare(self, caller):
        self.managers, self.departments, self.rule = (f"{kind}{self.number}" for kind in ("managers", "departments", "managerof"))
        for table in (self.managers, self.departments):
            caller.create_table(name=table)
        self.write_manager(caller, "first")
        caller.load(self.departments, [entity("sales", f"{row:04}", Manager="1") for row in range(self.DEPARTMENTS)])
        self.declare(caller, self.rule)
        wait_ready(caller, self.rule)

    def declare(self, caller, name, **more):
        caller.create_index(index=rule_of(name, self.managers, self.departments, **more))

    def write_manager(self, caller, name):
        caller.insert_or_replace_entity(table=self.managers, entity=entity("sales", "1", Name=name))

    def provoke(self, caller):
        self.write_manager(caller, self.new_name("name"))
        caller.insert_or_replace_entity(table=self.departments, entity=entity("sales", f"{len(self.made):04}", Manager="1"))

    def settle(self, caller):
        wait_for("the copies", lambda: not wrong_copies(caller, self.managers, self.departments), 60)


class CopyBuilds(Copies):
    """Rules of their own are built, and dropped."""

    def provoke(self, caller):
        self.declare(caller, self.new_name("built"), properties={f"Copy{len(self.made)}": "Name"})

    def settle(self, caller):
        super().settle(caller)
        for name in self.made:
            found = unless({"INDEX_NOT_FOUND"}, caller.get_index, name=name)
            if not found:
                continue
            wait_ready(caller, name)
            copy = next(iter(found.index.copies.properties))
            left = {plain(one).get(copy) for one in caller.query(self.departments)}
            promise(left == {"first"}, "copies that the build has not made", left)
            caller.drop_index(name=name)
        self.made = []


class Scrubs(Provocation):
    """Every index is due. The passes that begin come to their end, and find nothing."""

    DUE = "update index_scrubs set begun = '-infinity'"
    ENDED = "select count(*) from operations where kind = 'scrub_index' and state = 3"

    def provoke(self, caller):
        self.stack.sql(self.DUE)

    def settle(self, caller):
        self.stack.sql(self.DUE)
        wait_for("a pass of the scrub", lambda: int(self.stack.sql(self.ENDED)) > 0)


BY_PREFIX = {
    "blob_collect.": Collections,
    "blob_": Puts,
    "chunk.": Puts,
    "chunk_move.before_begin": ChunkMoveRequests,
    "chunk_move.after_begin": ChunkMoveRequests,
    "chunk_move.": ChunkMoves,
    "chunk_file.": Puts,
    "stray.": Strays,
    "build.settled": StrongBuild,
    "held_blobs.": LargeEntities,
    "purge.after_references": LargePurges,
    "build.": Build,
    "build_walk.after_owners": UniqueBuild,
    "build_walk.": RangeBuild,
    "build_range_locked.": StrongBuild,
    "operation.": Build,
    "cancel.": Cancels,
    "copy.": Copies,
    "copy_build.": CopyBuilds,
    "catalogue.": Tables,
    "discard.": Discards,
    "effect.": Archives,
    "file.": Archives,
    "put_blob.": Archives,
    "feed.": Feeds,
    "dead_letter.": Failing,
    "publisher.": ServersWork,
    "purge.before_states": States,
    "periods.": Periods,
    "purge.": Purges,
    "range_delete.before_begin": RangeRequests,
    "range_delete.after_begin": RangeRequests,
    "range_delete.": Ranges,
    "reconcile.": WorkersWork,
    "redrive.": Redrives,
    "relay.": ForgottenQueue,
    "repair.": Repairs,
    "scrub.": Scrubs,
    "replace.begin": ReplacementRequests,
    "replace.cancel": ReplacementRequests,
    "replace.": Replacements,
    "server.": ServersWork,
    "step.": WorkersWork,
    "strong_build.": LargeBuild,
    "submit.": ServersWork,
    "sweep.": Sweeps,
    "table.": Tables,
    "update.": Updates,
    "verify.": Repairs,
    "visit.": Copies,
    "worker.before_copy": Copies,
    "worker.before_visit": Copies,
    "worker.": WorkersWork,
    "write.": ServersWork,
}


def provocation_of(point):
    """The class for a failpoint; None: there is no provocation for it."""
    return next((found for prefix, found in BY_PREFIX.items() if point.startswith(prefix)), None)
