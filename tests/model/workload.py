# SPDX-License-Identifier: Apache-2.0
"""Random operations of several callers, and the events that they add to each key's history."""

import collections
import random
import threading
import time

import filters
from calls import NOTHING_DONE, Caller, content_of, key_of, message_of, ticks_of, version_of
from history import (
    CONDITION,
    DELETES,
    EXISTS,
    MERGES,
    NEVER,
    NOT_FOUND,
    UPSERTS,
    Change,
    Matches,
    Read,
    Write,
    expiring,
)
from tavola_test import client

METHODS = {
    "insert": "InsertEntity",
    "replace": "ReplaceEntity",
    "merge": "MergeEntity",
    "insert_or_replace": "InsertOrReplaceEntity",
    "insert_or_merge": "InsertOrMergeEntity",
    "delete": "DeleteEntity",
}
CODES = {EXISTS: "ALREADY_EXISTS", NOT_FOUND: "NOT_FOUND", CONDITION: "ABORTED"}
ROWS = ["", "a", "a'b", "z%", "\u00e9", "\ue000", "\U0001f600"]
MOVING = "moving"  # the row from which a caller moves entities to other rows
DONE, FAILED = 3, 4
WIDE_NAMES = [f"{first}{number}" for first in "ABZ" for number in range(3)]
WIDE_UNITS = 9000
WRONG_ETAG = 'W/"wrong"'


def wire_order(key):
    return key[0].encode(), key[1].encode()


class World:
    """What all callers of a round share: the keys, the histories, and the first contradiction."""

    def __init__(self, made, table, seed, callers, caller_type=Caller):
        self.made = made
        self.table = table
        self.caller_type = caller_type
        self.groups = table + "groups"
        self.seed = seed
        self.partitions = ["shared"] + [f"own{number}" for number in range(callers)]
        rows = ROWS + [MOVING]
        self.keys = sorted(((part, row) for part in self.partitions for row in rows), key=wire_order)
        self.events = {key: [] for key in self.keys}
        self.etags = collections.defaultdict(list)  # by key, as reads returned them
        self.is_wide = False  # the table may have wide entities
        self.states = {}  # (key, etag) -> (content or None, ticks)
        self.counts = []  # (keys, filter, called, answered, counted)
        self.done = collections.Counter()
        self.last_due = 0  # when everything that expires in this round has expired
        self.markers = iter(range(1, 10**9))
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.failure = None

    def add(self, event):
        with self.lock:
            self.events[event.key].append(event)

    def saw(self, key, etag, ticks, content=None):
        """An ETag names one state of one entity, for ever."""
        with self.lock:
            known_content, known_ticks = self.states.get((key, etag), (None, ticks))
            if known_ticks != ticks or (content is not None and known_content not in (None, content)):
                raise AssertionError(f"{key} {etag} was {known_content} at {known_ticks}, is {content} at {ticks}")
            self.states[key, etag] = (content if content is not None else known_content, ticks)
            if not self.etags[key] or self.etags[key][-1] != etag:
                self.etags[key].append(etag)

    def check_timestamps(self):
        """They grow with the versions of a key."""
        by_key = collections.defaultdict(list)
        for (key, etag), (_, ticks) in self.states.items():
            by_key[key].append((version_of(etag), ticks))
        for key, states in by_key.items():
            states.sort()
            for (_, before), (version, after) in zip(states, states[1:]):
                if before >= after:
                    raise AssertionError(f"{key}: the timestamp of version {version} is not later than the one before")

    def versions(self, key):
        with self.lock:
            return list(self.etags[key])


class Client(threading.Thread):
    """One caller's random operations, until the round ends."""

    def __init__(self, world, number):
        super().__init__(daemon=True)
        self.world = world
        self.random = random.Random(f"{world.seed} {world.table} {number}")
        self.own = world.partitions[1 + number]
        self.number = number
        self.requests = 0
        self.caller = world.caller_type(world.made)

    def run(self):
        turns = [self.single] * 45 + [self.batch] * 12 + [self.get] * 18 + [self.batch_get] * 8 + [self.query] * 10
        turns += [self.count, self.load, self.transaction] * 2 + [self.misuse] * 3
        try:
            while not self.world.ending.is_set() and not self.world.failure:
                turn = self.random.choice(turns)
                self.world.done[turn.__name__] += 1
                turn()
        except Exception as failure:  # an exception is given to the round, which fails with it
            self.world.failure = self.world.failure or failure
        self.caller.close()

    # what to write

    def key(self, partition=None):
        return (partition or self.random.choice(["shared", "shared", self.own]), self.random.choice(ROWS))

    def content(self):
        properties = {}
        for name in ("A", "B", "C"):
            if self.random.random() < 0.5:
                properties[name] = self.random.choice(filters.VALUES)
        if self.random.random() < 0.9:
            properties["N"] = ("int64", next(self.world.markers))
        if self.world.is_wide and self.random.random() < 0.3:
            properties.update(self.wide_properties())
        content = tuple(sorted((name, *value) for name, value in properties.items()))
        if self.world.caller_type is not Caller:  # REST shows no expiry
            return content
        if self.random.random() < 0.15:
            end = time.monotonic() + self.random.choice([-1, 0.02, 0.1, 0.3, 0.6, 1])
            self.world.last_due = max(self.world.last_due, end)
            return expiring(content, end)
        return expiring(content, time.monotonic() + 3600) if self.random.random() < 0.05 else content

    def wide_properties(self):
        """Some that lie before, between and behind the others; most of them together are more than one row."""
        names = self.random.sample(WIDE_NAMES, self.random.randrange(1, len(WIDE_NAMES) + 1))
        return {name: ("string", self.random.choice("xyz") * WIDE_UNITS) for name in names}

    def change(self, key):
        """(the condition, its ETag as text or None)"""
        kind = self.random.choice(list(METHODS))
        content = () if kind == "delete" else self.content()
        if kind == "insert" or kind in UPSERTS:
            return Change(kind, key, content), None
        return self.guarded(kind, key, content)

    def guarded(self, kind, key, content):
        etag, condition = "*", None
        if self.random.random() < 0.4:
            known = self.world.versions(key)
            etag = self.random.choice(known[-3:] + known[-1:] * 6 + [WRONG_ETAG])
        if self.random.random() < 0.3:
            condition = filters.random_filter(self.random, self.world.keys)
            etag = etag if self.random.random() < 0.5 else None
        if_match = version_of(etag) if etag not in (None, "*") else etag
        return Change(kind, key, content, if_match, condition), etag

    @staticmethod
    def precondition(change, etag):
        out = {}
        if etag:
            out["if_match"] = etag
        if change.condition:
            out["condition"] = change.condition.text
        return {"precondition": out} if out else {}

    # delivery: with or without request_id, and whether it is sent in time

    def deliver(self, method, fields):
        turn = self.random.random()
        if turn < 0.3:
            return self.deliver_once(method, fields)
        if turn < 0.31:
            return self.caller.call(method, timeout=self.random.random() / 200, **fields)
        if turn < 0.32:
            begun = self.caller.begin(method, **fields)
            time.sleep(self.random.random() / 200)
            begun[0].cancel()
            return self.caller.end(begun)
        return self.caller.call(method, **fields)

    def deliver_once(self, method, fields):
        """With a request_id, until it is answered; sometimes twice at once, sometimes again later."""
        self.requests += 1
        fields = {**fields, "request_id": f"{self.world.table}-{self.number}-{self.requests}"}
        twin = self.caller.begin(method, **fields) if self.random.random() < 0.2 else None
        answer = self.caller.call_until_answered(method, **fields)
        if twin:
            other = self.caller.end(twin)
            if other.is_known and other.reason not in NOTHING_DONE:
                self.same_answer(answer, other)
            answer.called = min(answer.called, other.called)
            answer.answered = time.monotonic()
        if self.random.random() < 0.3:
            again = self.caller.call_until_answered(method, **fields)
            self.same_answer(answer, again)
            marks = [again.error.metadata.get("replayed") == "true"] if again.error else [
                result.replayed for result in results_of(again.reply)
            ]
            assert all(marks), (method, again.reply, again.error)
        if self.random.random() < 0.1:
            self.reuse(fields["request_id"])
        return answer

    def same_answer(self, one, other):
        self.world.done["replays"] += 1
        if one.error or other.error:
            assert one.error and other.error, (one.reply, one.error, other.reply, other.error)
            told = [
                (error.code, error.reason, {name: text for name, text in error.metadata.items() if name != "replayed"})
                for error in (one.error, other.error)
            ]
        else:
            told = [[(r.etag, r.timestamp) for r in results_of(a.reply)] for a in (one, other)]
        assert told[0] == told[1], told

    def reuse(self, request_id):
        entity = message_of(self.key(), (("Other", "string", "request"),))
        fields = {"table": self.world.table, "entity": entity, "request_id": request_id}
        answer = self.caller.call_until_answered("InsertOrReplaceEntity", **fields)
        assert answer.reason == "REQUEST_ID_REUSED", (answer.reply, answer.error)

    # writes

    def single(self):
        key = self.key()
        change, etag = self.change(key)
        fields = {"table": self.world.table, **self.precondition(change, etag)}
        if change.kind == "delete":
            fields["key"] = client.key(key)
        else:
            fields["entity"] = message_of(key, change.content)
        answer = self.deliver(METHODS[change.kind], fields)
        if answer.reply is not None:
            self.written(change, answer, answer.reply.result)
        else:
            self.refused([change], answer, 0)

    def batch(self):
        partition = self.random.choice(["shared", self.own])
        rows = self.random.sample(ROWS, self.random.randint(1, 4))
        changes, operations = [], []
        for row in rows:
            change, etag = self.change((partition, row))
            if self.random.random() < 0.5:  # otherwise a batch would hardly ever succeed
                change, etag = Change("insert_or_replace", change.key, change.content or self.content()), None
            target = client.key(change.key) if change.kind == "delete" else message_of(change.key, change.content)
            changes.append(change)
            operations.append(client.BatchOperation(**{change.kind: target}, **self.precondition(change, etag)))
        answer = self.deliver("ExecuteBatch", {"table": self.world.table, "operations": operations})
        if answer.reply is None:
            index = int(answer.error.metadata.get("operation_index", -1)) if answer.error else 0
            self.refused(changes, answer, index)
            return
        assert len(answer.reply.results) == len(changes), answer.reply
        for change, result in zip(changes, answer.reply.results):
            self.written(change, answer, result)

    def load(self):
        """Import: every entity succeeds or fails alone, and no versions are returned."""
        keys = list({self.key() for _ in range(self.random.randint(1, 5))})
        changes = [Change("insert_or_replace", key, self.content()) for key in keys]
        entities = [message_of(change.key, change.content) for change in changes]
        called = time.monotonic()
        try:
            assert self.caller.client.load(self.world.table, entities) == len(entities)
            answered = time.monotonic()
        except client.ApiError as error:
            assert error.code == "UNAVAILABLE", error
            answered = NEVER
            self.world.done["unknown"] += 1
            self.caller.reconnect()
        for change in changes:
            self.world.add(Write(change, called, answered))

    def written(self, change, answer, result):
        version = None
        if change.kind in DELETES:
            assert result.etag == "" and not result.HasField("timestamp"), result
        else:
            version = version_of(result.etag)
            known = change.content if change.kind not in MERGES else None
            if result.HasField("timestamp"):
                self.world.saw(change.key, result.etag, ticks_of(result.timestamp), known)
            else:  # REST's answer to an update is its ETag alone
                assert self.world.caller_type is not Caller, result
        self.world.add(Write(change, answer.called, answer.answered, version=version))

    def refused(self, changes, answer, index):
        """changes[index] was refused, and those before it were not; or the outcome is unknown."""
        if not answer.is_known:
            self.world.done["unknown"] += 1
            for change in changes:
                self.world.add(Write(change, answer.called, NEVER))
            return
        error = answer.error
        if error.reason in NOTHING_DONE:
            return
        assert CODES.get(error.reason) == error.code and 0 <= index < len(changes), (error, changes)
        for change in changes[:index]:
            self.world.add(Write(change, answer.called, answer.answered, is_applied=False))
        current = None
        if error.reason == CONDITION and "actual" in error.metadata:
            current = (content_of(error.entity) if error.entity else None, version_of(error.metadata["actual"]))
        self.world.add(Write(changes[index], answer.called, answer.answered, error.reason, current=current))

    # transactions

    def steps(self, key):
        """Steps that change a key: (message, what it changes)"""
        kind = self.random.choice(["insert_or_replace", "insert_or_merge", "delete_if_exists", "move"])
        table = self.world.table
        if kind == "move":
            content = tuple(value for value in self.content() if value[0])
            source = (self.own, MOVING)
            put = {"insert_or_replace": {"table": table, "entity": message_of(source, content)}}
            ends = {"source": source, "destination": key}
            move = {"move": {end: {"table": table, "key": client.key(at)} for end, at in ends.items()}}
            yield put, [Change("insert_or_replace", source, content)]
            yield move, [Change("insert_or_replace", key, content), Change("delete", source, if_match="*")]
            return
        change, etag = Change(kind, key, () if kind == "delete_if_exists" else self.content()), None
        if self.random.random() < 0.3:
            change, etag = self.guarded(kind, key, change.content)
        if kind == "delete_if_exists":
            action = {"table": table, "key": client.key(key)}
        else:
            action = {"table": table, "entity": message_of(key, change.content)}
        yield {kind: action, **self.precondition(change, etag)}, [change]

    def transaction(self):
        keys = {self.key() for _ in range(self.random.randint(1, 3))}
        steps = [step for key in sorted(keys, key=wire_order) for step in self.steps(key)]
        self.requests += 1
        name = f"{self.world.table}-{self.number}-t{self.requests}"
        submitted = self.caller.call_until_answered(
            "SubmitTransaction", transaction_id=name, steps=[message for message, _ in steps]
        )
        assert submitted.reply, submitted.error
        deadline = time.monotonic() + 60
        while True:
            answer = self.caller.call_until_answered("WaitTransaction", transaction_id=name, timeout=5)
            assert answer.reply, answer.error
            ended = answer.reply.transaction
            if ended.state in (DONE, FAILED):
                break
            assert time.monotonic() < deadline, ended
        assert ended.steps_done == len(steps) or ended.state == FAILED, ended
        times = (submitted.called, answer.answered)
        done = [attempt for attempt in ended.timeline if not attempt.error.reason]
        assert [attempt.step for attempt in done] == list(range(ended.steps_done)), ended
        for attempt in done:
            self.stepped(steps[attempt.step][1], attempt, times)
        if ended.state == FAILED:
            refusal = ended.timeline[-1]
            assert refusal.step == ended.steps_done and refusal.error.reason in (NOT_FOUND, CONDITION), ended
            current = told_before(refusal)
            self.world.add(Write(steps[refusal.step][1][0], *times, refusal.error.reason, current=current))

    def stepped(self, changes, attempt, times):
        current = told_before(attempt) if len(changes) == 1 else None
        for change in changes:
            version = None if change.kind in DELETES else version_of(attempt.etag_after)
            self.world.add(Write(change, *times, version=version, current=current))

    # reads

    def found(self, entity, called, answered, select=()):
        key, content = key_of(entity), content_of(entity)
        of = project(select) if select else None
        self.world.saw(key, entity.etag, ticks_of(entity.timestamp), None if select else content)
        self.world.add(Read(key, called, answered, content, version_of(entity.etag), of))

    def select(self):
        return self.random.sample(filters.NAMES, 2) if self.random.random() < 0.2 else []

    def get(self):
        key, select = self.key(), self.select()
        fields = {"table": self.world.table, "key": client.key(key), "options": {"select": select}}
        answer = self.caller.call("GetEntity", **fields)
        if answer.reply:
            assert key_of(answer.reply.entity) == key, answer.reply
            self.found(answer.reply.entity, answer.called, answer.answered, select)
        elif answer.reason == NOT_FOUND:
            self.world.add(Read(key, answer.called, answer.answered, None))
        elif answer.error:
            raise answer.error

    def batch_get(self):
        keys, select = [self.key() for _ in range(self.random.randint(1, 8))], self.select()
        answer = self.caller.call(
            "BatchGetEntities", table=self.world.table, keys=[client.key(key) for key in keys], options={"select": select}
        )
        if answer.error:
            raise answer.error
        if not answer.reply:
            return
        assert len(answer.reply.results) == len(keys), answer.reply
        for key, result in zip(keys, answer.reply.results):
            if result.WhichOneof("outcome") == "entity":
                assert key_of(result.entity) == key, (key, result)
                self.found(result.entity, answer.called, answer.answered, select)
            else:
                assert result.error.reason == NOT_FOUND, result
                self.world.add(Read(key, answer.called, answer.answered, None))

    def narrowed(self):
        """A filter, or None, and the keys that it can match."""
        some = filters.random_filter(self.random, self.world.keys) if self.random.random() < 0.7 else None
        if self.random.random() < 0.3:
            return some, self.world.keys
        partition = self.random.choice(["shared", self.own])
        narrow = filters.in_partition(partition)
        return filters.both(narrow, some) if some else narrow, [key for key in self.world.keys if key[0] == partition]

    def query(self):
        filter, keys = self.narrowed()
        descending, select = self.random.random() < 0.3, self.select()
        query = {"table": self.world.table, "filter": filter.text if filter else "", "descending": descending}
        fields = {"query": query, "page_size": self.random.choice([0, 1, 2, 3, 7]), "options": {"select": select}}
        pages, token = [], ""
        while token or not pages:
            answer = self.caller.call_until_answered("QueryEntities", page_token=token, **fields)
            if answer.error:
                raise answer.error
            assert len(answer.reply.entities) <= (fields["page_size"] or 1000)
            pages.append((answer.called, answer.answered, [key_of(found) for found in answer.reply.entities]))
            for found in answer.reply.entities:
                assert key_of(found) in keys, (key_of(found), filter)
                self.found(found, answer.called, answer.answered, select)
                self.world.add(Matches(key_of(found), answer.called, answer.answered, filter, found=True))
            token = answer.reply.next_page_token
        self.missed(pages, sorted(keys, key=wire_order, reverse=descending), filter)

    def missed(self, pages, keys, filter):
        """An entity that was not returned did not match at some time between the pages around its position."""
        places = {key: place for place, key in enumerate(keys)}
        returned = [(places[key], page) for page, (_, _, found) in enumerate(pages) for key in found]
        assert [place for place, _ in returned] == sorted({place for place, _ in returned}), (filter, pages)
        first, behind = 0, iter(returned + [(len(keys), len(pages) - 1)])
        next_place, last = next(behind)
        for place, key in enumerate(keys):
            if place == next_place:
                first = last
                next_place, last = next(behind)
            else:
                self.world.add(Matches(key, pages[first][0], pages[last][1], filter, found=False))

    def count(self):
        filter, keys = self.narrowed()
        query = {"table": self.world.table, "filter": filter.text if filter else ""}
        answer = self.caller.call_until_answered("CountEntities", query=query)
        assert answer.reply is not None and not answer.reply.next_page_token, (answer.error, answer.reply)
        self.world.counts.append((keys, filter, answer.called, answer.answered, answer.reply.count))

    # requests that must be refused and change nothing

    def misuse(self):
        key = self.key()
        entity, table = message_of(key, self.content()), self.world.table
        put, other = client.BatchOperation(insert_or_replace=entity), message_of(("elsewhere", "x"), ())
        match = {"if_match": "*"}
        twice = [put, put]
        apart = [put, client.BatchOperation(insert_or_replace=other)]
        guarded = [client.BatchOperation(insert=entity, precondition=match)]
        method, fields, reason = self.random.choice(
            [
                ("ReplaceEntity", {"entity": entity}, "INVALID_INPUT"),
                ("DeleteEntity", {"key": client.key(key)}, "INVALID_INPUT"),
                ("MergeEntity", {"entity": entity, "precondition": {"if_match": '"strong"'}}, "INVALID_INPUT"),
                ("ReplaceEntity", {"entity": entity, "precondition": {"condition": "N eq"}}, "INVALID_INPUT"),
                ("ExecuteBatch", {"operations": twice}, "INVALID_DUPLICATE_ROW"),
                ("ExecuteBatch", {"operations": apart}, "COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS"),
                ("ExecuteBatch", {"operations": guarded}, "INVALID_INPUT"),
                ("ExecuteBatch", {"operations": []}, "INVALID_INPUT"),
                ("InsertEntity", {"entity": message_of((key[0], "a/b"), ())}, "OUT_OF_RANGE_INPUT"),
                ("InsertEntity", {"entity": entity, "table": "nosuchtable"}, "TABLE_NOT_FOUND"),
            ]
        )
        answer = self.caller.call_until_answered(method, **{"table": table, **fields})
        assert answer.reason == reason, (method, reason, answer.reply, answer.error)


def told_before(attempt):
    return (None, version_of(attempt.etag_before)) if attempt.etag_before else None


def results_of(reply):
    return reply.results if hasattr(reply, "results") else [reply.result]


def project(names):
    """What a select keeps: these properties, and the expiry."""
    return lambda content: content and tuple(value for value in content if value[0] in names or not value[0])


