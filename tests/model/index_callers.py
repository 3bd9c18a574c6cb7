# SPDX-License-Identifier: Apache-2.0
"""The callers of a round of indexes (index_round.py): some write entities and find them through the indexes at once, one per
index declares, replaces, switches, verifies and drops it, and one compares snapshots of the database.
"""

import threading
import time

import filters
import snapshot
from calls import Member, content_of, key_of, message_of
from declarations import EVENTUAL, OTHER_PARTITION, STRONG, random_declaration
from history import EXPIRES, NEVER, due, expiring
from tavola_test import client

PARTITIONS = ("p", "q")
ROWS_OF_EACH = 5
CANCEL = 3
RUNNING, DONE, FAILED = 1, 3, 4
FULL, FAST = 0, 1
LONG = "long " * 250  # longer than a key may be
TEXTS = ["AB", "Ab", "\u00c9", "a/b", "x  y", "!", LONG]
REFUSALS = ("UNIQUE_VIOLATION", "INDEX_KEY_VIOLATION")
GONE = ("INDEX_NOT_FOUND", "INDEX_NOT_READY")
SLACK = 0.01


class Span:
    """A declaration, or None for no index that can be read, that may have been in force between two moments."""

    def __init__(self, declaration, begin):
        self.declaration, self.begin, self.end = declaration, begin, NEVER
        self.seen = NEVER  # in force, at this moment and later


class Slot:
    """A name of an index, and what may have been in force under it."""

    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()
        self.spans = [Span(None, 0)]
        self.strong = None  # a new object each time that the index is found to be strong; None: perhaps it is not

    def may_become(self, declaration):
        with self.lock:
            self.spans.append(Span(declaration, time.monotonic()))

    def is_only(self, declaration, answered):
        """The others are in force no more."""
        with self.lock:
            for span in self.spans:
                if span.declaration is declaration:
                    span.seen = min(span.seen, answered)
                else:
                    span.end = min(span.end, answered)

    def never_was(self, declaration):
        with self.lock:
            self.spans = [span for span in self.spans if span.declaration is not declaration]

    def possible(self, called, answered):
        with self.lock:
            return [span for span in self.spans if span.begin <= answered and span.end >= called]


class IndexCaller(Member):
    """A caller of a round of indexes, which counts what it does."""

    def __init__(self, world, name):
        super().__init__(world, name)
        self.requests = 0

    def count(self, what):
        with self.world.lock:
            self.world.done[what] += 1

    def once(self, method, **fields):
        """Done once, however often it is sent, and answered."""
        self.requests += 1
        request_id = f"{self.world.table}-{self.name}-{self.requests}"
        return self.caller.call_until_answered(method, table=self.world.table, request_id=request_id, **fields)


class Writer(IndexCaller):
    """Has entities of its own, so it knows what they are, and whether an index shows them."""

    def __init__(self, world, number):
        super().__init__(world, f"writer {number}")
        self.rows = [f"w{number} {row}." for row in range(ROWS_OF_EACH)]
        self.known = {(partition, row): None for partition in PARTITIONS for row in self.rows}  # content; None: no entity
        self.before = {}  # the content before the last write, and when that was called
        self.tokens = {}  # of the last writes
        self.etags = {}  # likewise; None: not known
        self.untold = set()  # the keys whose last write has told no token

    def turn(self):
        turns = [self.put] * 6 + [self.batch] * 3 + [self.swap] * 2 + [self.delete] * 2 + [self.move, self.load]
        turns += [self.revive] * (3 if self.expired() else 0)
        turn = self.random.choice(turns)
        self.count(turn.__name__)
        turn()
        for slot in self.random.sample(self.world.slots, 2):
            self.look_up(slot)

    # writes

    def content(self):
        properties = {name: self.value() for name in filters.NAMES if self.random.random() < 0.75}
        content = tuple(sorted((name, *value) for name, value in properties.items()))
        if self.random.random() < 0.1:
            end = time.monotonic() + self.random.choice([-1, 0.05, 0.5, 2])
            self.world.last_due = max(self.world.last_due, end)
            return expiring(content, end)
        return content

    def value(self):
        turn = self.random.random()
        if turn < 0.6:
            return self.random.choice(self.world.favourites)
        return ("string", self.random.choice(TEXTS)) if turn < 0.75 else self.random.choice(filters.VALUES)

    def key(self):
        return self.random.choice(sorted(self.known))

    def note(self, key, content, answer, result):
        self.before[key] = (self.known[key], answer.called)
        self.known[key] = content
        self.tokens[key] = result.consistency_token
        self.etags[key] = result.etag or None
        self.untold.discard(key)

    def refused(self, answer):
        assert answer.reason in REFUSALS, (answer.error, answer.reply)
        named = answer.error.metadata["index"]
        assert named in [slot.name for slot in self.world.slots], answer.error
        self.count("refused")

    def put(self):
        key, content = self.key(), self.content()
        answer = self.once("InsertOrReplaceEntity", entity=message_of(key, content))
        if answer.reply:
            self.note(key, content, answer, answer.reply.result)
        else:
            self.refused(answer)

    def expired(self):
        """The keys of entities that have expired; they may not be swept yet."""
        return [key for key, content in sorted(self.known.items()) if content is not None and due(content) < time.monotonic() - SLACK]

    def revive(self):
        """An expired entity is written with its properties again: in a unique index it has a value only if it is the owner."""
        key = self.random.choice(self.expired())
        content = tuple(value for value in self.known[key] if value[:2] != EXPIRES)
        answer = self.once("InsertOrReplaceEntity", entity=message_of(key, content))
        if answer.reply:
            self.note(key, content, answer, answer.reply.result)
        else:
            self.refused(answer)

    def delete(self):
        key = self.key()
        answer = self.once("DeleteEntity", key=client.key(key), precondition={"if_match": "*"})
        if answer.reply:
            self.note(key, None, answer, answer.reply.result)
        else:
            assert answer.reason == "RESOURCE_NOT_FOUND", answer.error
            assert not self.is_there(self.known[key], answer.answered), (key, self.known[key])

    @staticmethod
    def is_there(content, answered):
        """True, False, or None: it has expired, or does so just now."""
        if content is None:
            return False
        return True if due(content) > answered + SLACK else None

    def batch(self):
        partition = self.random.choice(PARTITIONS)
        keys = [(partition, row) for row in self.random.sample(self.rows, self.random.randint(2, 4))]
        contents = {key: self.content() for key in keys}
        for key in keys:
            if self.known[key] is not None and not has_end(self.known[key]) and self.random.random() < 0.2:
                contents[key] = None
        self.write_all(contents)

    def swap(self):
        """Two entities of a partition have each other's properties afterwards."""
        partition = self.random.choice(PARTITIONS)
        one, other = ((partition, row) for row in self.random.sample(self.rows, 2))
        if None not in (self.known[one], self.known[other]):
            self.write_all({one: self.known[other], other: self.known[one]})

    def write_all(self, contents):
        operations = [
            client.BatchOperation(delete=client.key(key), precondition={"if_match": "*"})
            if content is None else client.BatchOperation(insert_or_replace=message_of(key, content))
            for key, content in contents.items()
        ]
        answer = self.once("ExecuteBatch", operations=operations)
        if not answer.reply:
            self.refused(answer)
            return
        for (key, content), result in zip(contents.items(), answer.reply.results):
            self.note(key, content, answer, result)

    def move(self):
        """By a transaction; what became of it is read afterwards."""
        source, destination = self.random.sample(sorted(self.known), 2)
        self.requests += 1
        name = f"{self.world.table}-{self.name}-t{self.requests}"
        ends = {"source": source, "destination": destination}
        ends = {end: {"table": self.world.table, "key": client.key(key)} for end, key in ends.items()}
        answer = self.caller.call_until_answered("SubmitTransaction", transaction_id=name, steps=[{"move": ends}])
        assert answer.reply, answer.error
        state = RUNNING
        while state not in (DONE, FAILED):
            answer = self.caller.call_until_answered("WaitTransaction", transaction_id=name, timeout=5)
            assert answer.reply, answer.error
            state = answer.reply.transaction.state
        for key in (source, destination):
            self.read(key)

    def read(self, key):
        answer = self.caller.call_until_answered("GetEntity", table=self.world.table, key=client.key(key))
        self.untold.add(key)
        self.before.pop(key, None)
        self.etags[key] = answer.reply.entity.etag if answer.reply else None
        if answer.reply:
            self.known[key] = content_of(answer.reply.entity)
        else:
            assert answer.reason == "RESOURCE_NOT_FOUND", answer.error
            self.known[key] = None

    def load(self):
        """Entities that belong to no writer; some are rejected."""
        entities = [message_of(("p", f"loaded {row}"), self.content()) for row in range(3)]
        try:
            list(self.caller.client.import_entities([client.ImportEntitiesRequest(table=self.world.table, entities=entities)]))
        except client.ApiError as error:
            assert error.code == "UNAVAILABLE", error
            self.caller.reconnect()

    # reads

    def freshness(self, slot):
        """(what is asked for, the strong index for which that suffices)"""
        strong = slot.strong
        if strong and self.random.random() < 0.6:
            return {}, strong
        tokens = [token for token in self.tokens.values() if token]
        if self.random.random() < 0.3 and not self.untold:
            return {"at_least": tokens}, None
        return {"latest": True}, None

    def look_up(self, slot):
        """All entries of an index, as of now: mine are exactly those that one declaration asks for."""
        freshness, strong = self.freshness(slot)
        how = self.random.choice([{"keys_only": True}, {"keys_only": True, "trust_index": True}, {}, {"read_sources": True}])
        fields = {"index": slot.name, "freshness": freshness, **how}
        answer = self.caller.call_until_answered("LookupIndex", **fields)
        if strong is not slot.strong and strong:
            return
        possible = slot.possible(answer.called, answer.answered)
        if answer.error:
            is_gone = answer.reason in GONE and None in [span.declaration for span in possible]
            assert is_gone or answer.reason == "NOT_FRESH_ENOUGH", f"{fields}: {answer.error}"
            return
        found = [key_of(one) for one in [*answer.reply.keys, *answer.reply.entities]]
        assert len(found) == len(set(found)) and not answer.reply.next_page_token, f"{fields}: {found}"
        mine = {key for key in found if key in self.known}
        wrong = [self.wrong(span, mine, answer) for span in possible if span.declaration]
        assert wrong and not all(wrong), f"{fields}, found {sorted(mine)}: {wrong}"
        for entity in answer.reply.entities:
            self.is_mine_as_it_is(entity, fields)
        self.count("look-ups")

    def is_mine_as_it_is(self, entity, fields):
        """An entity that is found is what I have written last, with its ETag, wherever it was read."""
        key = key_of(entity)
        if key not in self.known:
            return
        assert content_of(entity) == tuple(sorted(self.known[key])), f"{fields}: {key} is {entity}, not {self.known[key]}"
        etag = self.etags.get(key)
        assert etag in (None, entity.etag), f"{fields}: {key} has the ETag {entity.etag}, not {etag}"

    def wrong(self, span, mine, answer):
        """None: the declaration explains what was found."""
        declaration = span.declaration
        for key, content in self.known.items():
            there = self.is_there(content, answer.answered)
            entry = content is not None and declaration.entry_or_none((key, content, 0))
            if key in mine and (not entry or there is False):
                return f"{declaration}: {key} is not to be found: {content}"
            if key not in mine and entry and there and not (declaration.is_unique and self.may_own_nothing(span, key)):
                return f"{declaration}: {key} is missing: {content}"
        return None

    def may_own_nothing(self, span, key):
        """In a unique index: unless the entity took its value while the index was there, when that would have been refused."""
        old, called = self.before.get(key, (None, 0))
        if called <= span.seen or (old is not None and called - SLACK < due(old) < NEVER):
            return True
        if old is not None and due(old) < NEVER:
            return False  # it had expired, and so had nothing to keep
        declaration, new = span.declaration, self.known[key]
        had = old is not None and declaration.entry_or_none((key, old, 0))
        return bool(had) and declaration.owned((key, old, 0)) == declaration.owned((key, new, 0))


class Keeper(IndexCaller):
    """Declares, replaces, switches, verifies and drops the index of one name."""

    def __init__(self, world, slot):
        super().__init__(world, f"keeper {slot.name}")
        self.slot = slot
        self.pending = None  # the declaration of a replacement that may be going on

    def turn(self):
        answer = self.caller.call_until_answered("GetIndex", name=self.slot.name)
        if answer.error:
            assert answer.reason == "INDEX_NOT_FOUND", answer.error
            self.create()
            return
        status = answer.reply.status
        if status.state != snapshot.READY:
            if status.build.state == FAILED or self.random.random() < 0.02:
                self.drop()
            self.world.ending.wait(0.02)
            return
        current = self.world.declaration_of(answer.reply.index)
        self.settle(current, status, answer)
        if status.HasField("replacement"):
            if self.random.random() < 0.02:
                self.control(status.replacement, CANCEL)
            self.world.ending.wait(0.02)
            return
        self.change(current, answer.reply)

    def settle(self, current, status, answer):
        """What GetIndex has said is in force, and what may be in its place soon."""
        if status.HasField("replacement"):
            return
        if self.pending and self.pending is not current:
            self.slot.never_was(self.pending)
        self.pending = None
        self.slot.is_only(current, answer.answered)
        is_strong = answer.reply.index.consistency == STRONG
        self.slot.strong = (self.slot.strong or object()) if is_strong else None

    def change(self, current, view):
        turns = [self.replace] * 4 + [self.verify] * 2 + [self.drop] + [self.rest] * 2
        if current.fields["place"] == OTHER_PARTITION:
            turns += [lambda: self.switch(view)] * 5
        self.random.choice(turns)()

    def rest(self):
        self.world.ending.wait(0.2)

    def call(self, method, allowed, **fields):
        answer = self.caller.call_until_answered(method, **fields)
        assert answer.reply or answer.reason in allowed, (method, fields, answer.error)
        if answer.reply:
            self.count(method)
        return answer

    def declare(self):
        keys = [key for partition in PARTITIONS for key in ((partition, "w0 1."), (partition, "w1 2."), ("q", "loaded 1"))]
        marker = self.world.new_marker()
        declaration = random_declaration(self.random, self.slot.name, self.world.table, marker, keys)
        self.world.declarations.append(declaration)
        return declaration

    def create(self):
        declaration = self.declare()
        self.slot.may_become(declaration)
        self.call("CreateIndex", ("INDEX_EXISTS", "CATALOGUE_CHANGE_BLOCKED"), index=declaration.fields)

    def replace(self):
        declaration = self.declare()
        self.pending, self.slot.strong = declaration, None
        self.slot.may_become(declaration)
        self.call("ReplaceIndex", ("INDEX_NOT_READY", "CATALOGUE_CHANGE_BLOCKED"), index=declaration.fields)

    def switch(self, view):
        wanted = EVENTUAL if STRONG in (view.index.consistency, view.status.becoming) else STRONG
        self.slot.strong = None
        answer = self.call("UpdateIndex", ("CATALOGUE_CHANGE_BLOCKED",), name=self.slot.name, consistency=wanted)
        if answer.reply and self.random.random() < 0.7 and answer.reply.operation.operation_id:
            self.ended(answer.reply.operation)

    def ended(self, operation):
        while not self.world.ending.is_set():
            answer = self.caller.call_until_answered("WaitOperation", operation_id=operation.operation_id, timeout=3)
            if answer.error or answer.reply.operation.state > 2:
                return answer
        return None

    def verify(self):
        """A verification finds nothing in an index that was not damaged."""
        answer = self.call("VerifyIndex", ("INDEX_NOT_READY",), name=self.slot.name, mode=self.random.choice([FULL, FAST]))
        if not answer.reply or not self.ended(answer.reply.operation):
            return
        operation_id = answer.reply.operation.operation_id
        report = self.caller.call_until_answered("GetIndexReport", operation_id=operation_id)
        assert report.reply, report.error
        assert not report.reply.differences, report.reply

    def control(self, operation, control):
        fields = {"operation_id": operation.operation_id, "control": control}
        self.call("ControlOperation", ("OPERATION_NOT_CONTROLLABLE", "CATALOGUE_CHANGE_BLOCKED"), **fields)

    def drop(self):
        self.slot.strong = None
        self.slot.may_become(None)
        answer = self.call("DropIndex", ("INDEX_NOT_FOUND", "CATALOGUE_CHANGE_BLOCKED"), name=self.slot.name)
        if answer.reason != "CATALOGUE_CHANGE_BLOCKED":
            self.pending = None
            self.slot.is_only(None, answer.answered)


class Inspector(IndexCaller):
    """Compares all indexes with their source in one snapshot after the other."""

    def turn(self):
        try:
            text = snapshot.read(self.world.made, self.world.table)
        except AssertionError:  # PostgreSQL is away
            return
        compared = snapshot.Snapshot(text, list(self.world.declarations)).check()
        with self.world.lock:
            self.world.done["snapshots"] += 1
            self.world.done["compared"] += compared
        self.world.ending.wait(self.random.uniform(0.02, 0.2))


def has_end(content):
    return any(value[:2] == EXPIRES for value in content)
