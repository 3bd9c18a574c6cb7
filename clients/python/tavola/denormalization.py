# SPDX-License-Identifier: Apache-2.0
"""Denormalization kept by a rule: copies of an entity's properties in all entities that name it.

    from tavola.denormalization import CopyRule

    rule = CopyRule.create(client, "managerOfDepartment", source="managers", dependents="departments",
                           named_by=("PartitionKey", "Manager"), copies={"ManagerName": "Name"})
    rule.run()                                # or, from a timer, rule.catch_up()

Any number of programs may carry a rule out, and each may be killed at any moment. Both tables keep a change feed, whose
changes commit with their writes; the positions behind the changes that are done, and the sources whose dependents are not all done,
are entities of the table `copyRules`. What makes the copies right in the end:

- A position is stored after the work of its changes, or in one batch with the note of that work.
- A change of a source leads to all its dependents, which are looked up with `latest`, so that none is missed because its index entry is
  not there yet. A change during that visit asks for another one.
- Every write of a dependent is followed by a comparison with its source as it is then, and a copy is a write of the dependent too.

Beside that, a dependent is read before its source and written only if it has not changed since, so a program that has slept with an
old source writes nothing: a copy never goes back to an older state.

docs/patterns/denormalization.md says what else can go wrong.
"""

import argparse
import datetime as dt
import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Optional, Union

from tavola import errors
from tavola.client import Client
from tavola.connection import FIRST_PAUSE_S, LONGEST_PAUSE_S, passes
from tavola.copy_plan import KEYS, Declaration, Key, Literal, NamePart, check_with, stored_form
from tavola.entity import Entity
from tavola.index import Index, part
from tavola.keys import starts_with
from tavola.table import Batch, Table

RULES_TABLE = "copyRules"
_RULES, _HEAD = "rules", ""  # the partition of the declarations, and the entity by which their changes wait for each other
_STATE, _WORK, _REFUSED = "state", "work_", "refused_"  # the rows of a rule's own partition
_CHUNK = 100  # dependents that are read, compared and written together
_BATCH, _BATCH_BYTES = 90, 1 << 20
_ATTEMPTS = 10  # to write a dependent that others write at the same time
_SETTLE_S = 35.0  # a write transaction lasts at most 30 s, and may hold back the changes of later ones for as long
_MAX_DIFFERENCES = 10_000
_MAX_OPEN = 100_000  # changes that a verification reads to learn what is under way

# The dependent is to blame, and trying again does not help.
_REFUSALS = (errors.InvalidArgument, errors.OutOfRange, errors.FailedPrecondition, errors.AlreadyExists)
_CHANGED = (errors.Aborted, errors.EntityNotFound)
_LOST_PLACE = {"RESYNC_REQUIRED", "CHANGE_FEED_OFF", "PAGE_TOKEN_INVALID"}
_LOST_INDEX = {"INDEX_NOT_FOUND", "TABLE_NOT_FOUND", "INDEX_NOT_READY"}

_Known = Mapping[Key, Optional[Entity]]


class RuleNotFound(Exception):
    """There is no rule of this name, or it was dropped, or made anew, while this program carried it out."""


class RuleExists(Exception):
    """There is a rule of this name already."""


@dataclass(frozen=True)
class Status:
    """How far a rule is.

    state      BUILDING: all dependents are being compared, as a new rule needs it; KEPT: only those are that changes affect;
               DROPPING: a drop has begun, and has to be called again if it did not end
    waiting    sources that have changed and whose dependents are not all done
    visited    dependents of these sources that are done
    refused    dependents that cannot have their copies
    compared   dependents that were compared by the build or for a change of their own
    caught_up  when there was nothing to do last, by the clock of the program that found this; None: never yet
    """

    state: str
    waiting: int
    visited: int
    refused: int
    compared: int
    caught_up: Optional[dt.datetime]


@dataclass
class Difference:
    """A dependent with copies that are not those of its source. properties: those to be set, and (None) to be removed.

    state  FOUND; after a repair MENDED, or REMAINS with the cause
    """

    key: Key
    source: Optional[Key]
    properties: dict[str, Any]
    state: str = "FOUND"
    cause: str = ""


@dataclass
class Report:
    """What a verification has found.

    in_flight  dependents that differ while work on them or on their source is open: they are not judged
    complete   False: there are more than 10,000 differences, and the rest was not compared
    """

    compared: int = 0
    in_flight: int = 0
    differences: list[Difference] = field(default_factory=list)
    complete: bool = True


@dataclass(frozen=True)
class _Pair:
    """A dependent and the versions with which it was found to differ from its source."""

    source: Optional[Key]
    versions: tuple[str, str]
    properties: dict[str, Any]


def _row(kind: str, key: Key) -> str:
    """Keys may be twice as long as a row key: their digest names the row."""
    return kind + hashlib.sha256(json.dumps(key).encode()).hexdigest()


def _chunks(found: Iterable[Any], size: int = _CHUNK) -> Iterator[list[Any]]:
    part_of_it: list[Any] = []
    for one in found:
        part_of_it.append(one)
        if len(part_of_it) == size:
            yield part_of_it
            part_of_it = []
    if part_of_it:
        yield part_of_it


class CopyRule:
    """A rule by name; RuleNotFound. Not thread-safe: a thread or process that carries a rule out opens it by itself."""

    def __init__(self, client: Client, name: str, *, rules: str = RULES_TABLE):
        self.client, self.name, self._rules = client, name, client.table(rules)
        try:
            found = self._rules.find(_RULES, name)
        except errors.TableNotFound:
            found = None
        if found is None or not name:
            raise RuleNotFound(f"there is no rule {name}")
        self._id = found["Id"]
        self.declaration = Declaration.of_json(found["Declaration"])
        self._source, self._dependents = client.table(self.declaration.source), client.table(self.declaration.dependents)
        self._index = self._dependents.index(name)
        self._last_work = _WORK  # the row of the source whose dependents were visited last
        self.on_step: Callable[[str], None] = lambda step: None  # called with the name of each step, behind it

    # ---- life cycle ----

    @classmethod
    def create(cls, client: Client, name: str, *, source: str, dependents: str, named_by: tuple[NamePart, NamePart],
               copies: Mapping[str, str], version_to: str = "", keep: bool = False, rules: str = RULES_TABLE) -> "CopyRule":
        """Declare a rule: see copy_plan.Declaration. It needs an index over the properties that name the source, which gets the
        rule's name, and change feeds of both tables, which are switched on. ValueError: the rule cannot be kept, or
        contradicts another; RuleExists.
        """
        declaration = Declaration(source, dependents, tuple(named_by), dict(copies), version_to, keep)
        for table in (source, dependents):
            client.table(table).info()
        registry = client.create_table(rules, exist_ok=True)
        registry.upsert({"PartitionKey": _RULES, "RowKey": _HEAD}, merge=True)
        for _ in range(_ATTEMPTS):
            head = registry.get(_RULES, _HEAD)
            others = {found["RowKey"]: Declaration.of_json(found["Declaration"]) for found in _declared(registry)}
            if name in others or not name:
                raise RuleExists(f"there is a rule {name}")
            check_with(declaration, others)
            _make_index(client, name, declaration)
            try:
                with registry.batch() as batch:
                    batch.replace(head)  # so of two rules that are declared at once one has seen the other
                    batch.insert({"PartitionKey": _RULES, "RowKey": name, "Id": str(uuid.uuid4()), "Declaration": declaration.to_json()})
            except errors.ConditionNotMet:
                continue
            break
        return cls(client, name, rules=rules)

    @staticmethod
    def names(client: Client, rules: str = RULES_TABLE) -> list[str]:
        """The names of all rules."""
        try:
            return [found["RowKey"] for found in _declared(client.table(rules))]
        except errors.TableNotFound:
            return []

    def drop(self) -> None:
        """Forget the rule. Its index goes; the copies and the change feeds stay. A program that carries the rule out ends
        with RuleNotFound, at the latest after the dependents that it has in hand. A drop that was interrupted is called again.
        """
        try:
            self._rules.merge({"PartitionKey": _RULES, "RowKey": self.name, "Dropping": True}, condition=f"Id eq '{self._id}'")
            self.on_step("dropping")
            if _is_index_of(self._index.info().index, self.declaration):
                self._index.drop()
        except _CHANGED:
            raise RuleNotFound(f"there is no rule {self.name}") from None
        except errors.NotFound:
            pass
        self._rules.delete_range(f"PartitionKey eq '{self._id}'")
        self.on_step("dropped")
        self._rules.delete(_RULES, self.name, condition=f"Id eq '{self._id}'")

    # ---- carrying it out ----

    def run(self, stop: Optional[threading.Event] = None, pause: float = LONGEST_PAUSE_S) -> None:
        """Carry the rule out until `stop` is set: changes are followed as they come. Failures that pass are waited out; others
        are raised.
        """
        stop = stop or threading.Event()
        while not stop.is_set():
            try:
                self.catch_up(stop)
                self._wait_for_change(stop, pause)
            except errors.Error as error:
                if not passes(error) and not isinstance(error, (errors.DeadlineExceeded, errors.NotFreshEnough)):
                    raise
                stop.wait(max(error.retry_after or 0, FIRST_PAUSE_S))

    def catch_up(self, stop: Optional[threading.Event] = None) -> None:
        """Do what there is to do, chunk by chunk: a chunk of the build, a message of each feed, a chunk of the dependents of one source,
        and so on in turn, so that none of them waits for the others.
        """
        while not (stop and stop.is_set()):
            begun = dt.datetime.now(dt.timezone.utc)
            try:
                state = self._load_state()
                if state is None:
                    self._begin(None)
                    continue
                busy = [self._build(state), self._follow(state, "Source"), self._follow(state, "Dependents"), self._visit()]
                if not any(busy):
                    self._note(state, CaughtUp=begun)
                    return
            except (errors.ConditionNotMet, errors.EntityNotFound):
                continue  # another program has stored its progress: go on from there

    def _wait_for_change(self, stop: threading.Event, longest: float) -> None:
        """Until one of the tables changes, or for a moment."""
        state = self._load_state()
        if state is None:
            return
        changed = threading.Event()

        def follow(watch: Any) -> None:
            try:
                next(iter(watch), None)
            except errors.Error:
                pass  # catch_up() meets the same error, and decides
            changed.set()

        try:
            with self._source.watch(resume=state["SourceToken"]) as one, self._dependents.watch(resume=state["DependentsToken"]) as other:
                threads = [threading.Thread(target=follow, args=(watch,), daemon=True) for watch in (one, other)]
                for thread in threads:
                    thread.start()
                waited = 0.0
                while not changed.wait(FIRST_PAUSE_S) and not stop.is_set() and waited < longest:
                    waited += FIRST_PAUSE_S
                for watch in (one, other):
                    watch.cancel()
                for thread in threads:
                    thread.join()
        except (errors.FailedPrecondition, errors.InvalidArgument) as error:
            if error.reason not in _LOST_PLACE:
                raise

    # ---- state ----

    def _load_state(self) -> Optional[Entity]:
        """None: the rule has not begun. RuleNotFound: it has been dropped since."""
        rule, state = self._rules.get_many([(_RULES, self.name), (self._id, _STATE)])
        if rule is None or rule["Id"] != self._id or rule.get("Dropping"):
            raise RuleNotFound(f"the rule {self.name} has been dropped")
        return state

    def _note(self, state: Entity, **changes: Any) -> None:
        """ConditionNotMet: another program has stored its progress first."""
        state.update(changes)
        self._rules.merge(state)

    def _begin(self, state: Optional[Entity]) -> None:
        """Begin, or begin again because the history of a feed is gone: first the positions, then all dependents are compared. What
        changes meanwhile comes behind the positions.
        """
        for table in (self._source, self._dependents):
            if not table.info().change_feed:
                table.update(change_feed=True)
        _make_index(self.client, self.name, self.declaration).wait()
        begin = {"State": "BUILDING", "Place": "", "SourceToken": self._source.changes()[1], "DependentsToken": self._dependents.changes()[1]}
        if state is not None:
            self._note(state, **begin)
        else:
            try:
                self._rules.insert({"PartitionKey": self._id, "RowKey": _STATE, "Compared": 0, **begin})
            except errors.EntityAlreadyExists:
                pass
        self.on_step("begun")

    # ---- the three kinds of work; each returns whether it has found any ----

    def _build(self, state: Entity) -> bool:
        if state["State"] != "BUILDING":
            return False
        pages = self._dependents.query(select=self.declaration.read_of_dependent, page_size=_CHUNK, token=state["Place"]).pages()
        try:
            page = next(pages)
        except errors.InvalidArgument as error:
            if error.reason not in _LOST_PLACE:
                raise
            self._begin(state)  # another table has taken the name
            return True
        self._agree([one.key for one in page.entities], page.entities)
        self.on_step("built")
        done = {"State": "BUILDING" if page.token else "KEPT", "Place": page.token}
        self._note(state, **done, Compared=state["Compared"] + len(page.entities))
        return True

    def _follow(self, state: Entity, side: str) -> bool:
        """Take a message of changes. Those of dependents are worked through before the position is stored; those of sources are
        noted in one batch with the position.
        """
        table = self._source if side == "Source" else self._dependents
        try:
            changes, token = table.changes(state[side + "Token"])
        except (errors.FailedPrecondition, errors.InvalidArgument) as error:
            if error.reason not in _LOST_PLACE:
                raise
            self._begin(state)
            return True
        if not changes:
            return False
        keys = list(dict.fromkeys(change.entity.key for change in changes))
        if side == "Source":
            self._note_sources([key for key in keys if self.declaration.values_naming(key) is not None], state, token)
            self.on_step("noted")
            return True
        for some in _chunks(keys):
            self._agree(some, self._read(self._dependents, some, self.declaration.read_of_dependent).values())
            self.on_step("followed")
        self._note(state, DependentsToken=token, Compared=state["Compared"] + len(keys))
        return True

    def _note_sources(self, keys: Sequence[Key], state: Entity, token: str) -> None:
        """A source that is noted already is visited once more from its first dependent, after the visit that is under way."""
        rows = [{"PartitionKey": self._id, "RowKey": _row(_WORK, key), "Partition": key[0], "Row": key[1], "Again": True} for key in keys]
        parts = list(_chunks(rows, _BATCH)) or [[]]
        state["SourceToken"] = token
        for some in parts:
            with self._rules.batch() as batch:
                for row in some:
                    batch.upsert(row, merge=True)
                if some is parts[-1]:
                    batch.merge(state)

    def _visit(self) -> bool:
        """A chunk of the dependents of the source that is next in turn."""
        rows = f"PartitionKey eq '{self._id}' and {starts_with(_WORK)}"
        work = self._rules.query(f"{rows} and RowKey gt '{self._last_work}'").first() or self._rules.query(rows).first()
        if work is None:
            return False
        self._last_work = work["RowKey"]
        place = work.get("Place") or ""
        page = self._look_up((work["Partition"], work["Row"]), place)
        if page is None:  # the place is not known any more: from the first dependent
            self._rules.merge({"PartitionKey": self._id, "RowKey": work["RowKey"], "Place": ""}, if_match=work.etag)
            return True
        self._agree([one.key for one in page.entities], page.entities)
        self.on_step("visited")
        again = bool(place) and work["Again"]  # at the first chunk all changes so far are in what is read from here on
        if page.token or again:
            work.update(Place=page.token, Again=again, Visited=work.get("Visited", 0) + len(page.entities))
            self._rules.merge(work)
        else:
            self._rules.delete(*work.key, if_match=work.etag)
        self.on_step("moved on")
        return True

    def _look_up(self, source: Key, place: str) -> Any:
        values = self.declaration.values_naming(source)
        for _ in range(_ATTEMPTS):
            try:
                return next(self._index.lookup(*values, latest=True, page_size=_CHUNK, token=place).pages())
            except errors.Error as error:
                if error.reason == "PAGE_TOKEN_INVALID":
                    return None
                if error.reason not in _LOST_INDEX:
                    raise
                lost = error
            _make_index(self.client, self.name, self.declaration).wait()
        raise lost

    # ---- agreement ----

    def _read(self, table: Table, keys: Iterable[Key], select: Sequence[str] = ()) -> dict[Key, Entity]:
        """The entities of keys that exist. Keys that no entity can have are left out."""
        wanted = list(dict.fromkeys(keys))
        try:
            found = table.get_many(wanted, select=select) if wanted else []
        except (errors.InvalidArgument, errors.OutOfRange, errors.ResourceExhausted) as error:
            if passes(error):
                raise
            found = [self._find(table, key, select) for key in wanted]  # a key that is none, or more than a reply can hold
        return {key: entity for key, entity in zip(wanted, found) if entity is not None}

    @staticmethod
    def _find(table: Table, key: Key, select: Sequence[str]) -> Optional[Entity]:
        try:
            return table.find(*key, select=select)
        except (errors.InvalidArgument, errors.OutOfRange):
            return None

    def _sources_of(self, dependents: Iterable[Entity]) -> _Known:
        """The sources that these dependents name, as they are now. The dependents were read before."""
        named = (self.declaration.source_of(one) for one in dependents)
        return self._read(self._source, [key for key in named if key is not None], self.declaration.read_of_source)

    def _difference(self, dependent: Entity, sources: _Known) -> dict[str, Any]:
        key = self.declaration.source_of(dependent)
        return self.declaration.difference(dependent, sources.get(key) if key is not None else None)

    def _agree(self, keys: Sequence[Key], dependents: Iterable[Entity], whole: bool = False) -> None:
        """Write the copies that differ from their sources of dependents that were just read. keys: those of the dependents, also of
        some that do not exist any more. whole: the dependents have all their properties.
        """
        dependents = list(dependents)
        sources = self._sources_of(dependents)
        self.on_step("read whole" if whole else "read")
        writes, incomplete = [], []
        for one in dependents:
            changes = self._difference(one, sources)
            if None in changes.values() and not whole:
                incomplete.append(one.key)
            elif changes:
                writes.append((one, changes))
        self._write(writes)
        if incomplete:
            self._agree((), self._read(self._dependents, incomplete).values(), whole=True)
        noted = self._rules.get_many([(self._id, _row(_REFUSED, key)) for key in keys], select=["Cause"])
        for key, note in zip(keys, noted):
            if note is not None:
                self._agree_again(key)

    def _write(self, writes: Sequence[tuple[Entity, dict]]) -> None:
        together: dict[str, list[tuple[Entity, dict]]] = {}
        for one, changes in writes:
            together.setdefault(one["PartitionKey"], []).append((one, changes))
        for group in together.values():
            for some in _parts_of_batches(group):
                batch = self._dependents.batch()
                for one, changes in some:
                    _add_write(batch, one, changes)
                try:
                    batch.execute()
                except (*_CHANGED, *_REFUSALS):
                    for one, _ in some:  # one of them has changed, or cannot be written
                        self._agree_one(one.key)

    def _agree_one(self, key: Key) -> str:
        """Make one dependent agree with its source, whatever happens to both meanwhile. Returns why it cannot, or nothing."""
        cause = "others write the entity all the time"
        for _ in range(_ATTEMPTS):
            one = self._dependents.find(*key)
            changes = self._difference(one, self._sources_of([one])) if one is not None else {}
            self.on_step("read again")
            try:
                if changes:
                    _add_write(self._dependents, one, changes)
                return ""
            except _CHANGED:
                continue
            except _REFUSALS as error:
                cause = str(error)
                break
        refused = {"PartitionKey": self._id, "RowKey": _row(_REFUSED, key), "Partition": key[0], "Row": key[1], "Cause": cause[:1000]}
        self._rules.upsert(refused)
        return cause

    def _agree_again(self, key: Key) -> str:
        """The same; a success takes the note of an earlier refusal away."""
        cause = self._agree_one(key)
        if not cause:
            self._forget_refusal(key)
        return cause

    def _forget_refusal(self, key: Key) -> None:
        try:
            self._rules.delete(self._id, _row(_REFUSED, key))
        except errors.EntityNotFound:
            pass

    # ---- status, verification, repair ----

    def _rows(self, kind: str) -> Iterator[Entity]:
        return iter(self._rules.query(f"PartitionKey eq '{self._id}' and {starts_with(kind)}"))

    def status(self) -> Status:
        rule, state = self._rules.get_many([(_RULES, self.name), (self._id, _STATE)])
        if rule is None or rule["Id"] != self._id:
            raise RuleNotFound(f"there is no rule {self.name}")
        work, known = list(self._rows(_WORK)), state or {}
        return Status("DROPPING" if rule.get("Dropping") else known.get("State", "BUILDING"), len(work),
                      sum(one.get("Visited", 0) for one in work), sum(1 for _ in self._rows(_REFUSED)), known.get("Compared", 0),
                      known.get("CaughtUp"))

    def verify(self, settle: float = _SETTLE_S) -> Report:
        """Compare every dependent with its source; nothing is written, and the rule may be carried out meanwhile.

        What differs is looked at again after `settle` seconds. It is a difference if neither the dependent nor its source has changed since,
        and no change of them is open then: the feeds show every committed change once older writes have ended, which takes 30 s at most.
        """
        report, suspects = Report(), {}
        for some in _chunks(self._dependents.scan(select=self.declaration.read_of_dependent)):
            report.compared += len(some)
            suspects |= self._suspects(some)
            if len(suspects) > _MAX_DIFFERENCES:
                report.complete = False
                break
        if suspects:
            threading.Event().wait(settle)
            self._judge(suspects, report)
        return report

    def _suspects(self, dependents: Sequence[Entity]) -> dict[Key, _Pair]:
        sources = self._sources_of(dependents)
        found = {}
        for one in dependents:
            changes = self._difference(one, sources)
            if changes:
                key = self.declaration.source_of(one)
                source = sources.get(key) if key is not None else None
                found[one.key] = _Pair(key, (one.etag, source.etag if source is not None else ""), changes)
        return found

    def _judge(self, suspects: Mapping[Key, _Pair], report: Report) -> None:
        under_way = self._open_work()
        causes = {(one["Partition"], one["Row"]): one["Cause"] for one in self._rows(_REFUSED)}
        for some in _chunks(suspects):
            read = self._read(self._dependents, some, self.declaration.read_of_dependent)
            for key, pair in self._suspects(list(read.values())).items():
                is_open = under_way is None or key in under_way[0] or pair.source in under_way[1]
                if is_open or pair.versions != suspects[key].versions:
                    report.in_flight += 1
                else:
                    report.differences.append(Difference(key, pair.source, pair.properties, cause=causes.get(key, "")))

    def _open_work(self) -> Optional[tuple[set[Key], set[Key]]]:
        """The dependents and the sources that the rule still has to look at; None: all of them may be."""
        state = self._load_state()
        if state is None or state["State"] == "BUILDING":
            return None
        keys: list[set[Key]] = []
        for table, token in ((self._dependents, state["DependentsToken"]), (self._source, state["SourceToken"])):
            found: set[Key] = set()
            while True:
                try:
                    changes, token = table.changes(token)
                except (errors.FailedPrecondition, errors.InvalidArgument) as error:
                    if error.reason not in _LOST_PLACE:
                        raise
                    return None
                found |= {change.entity.key for change in changes}
                if not changes:
                    break
                if len(found) > _MAX_OPEN:
                    return None
            keys.append(found)
        return keys[0], keys[1] | {(one["Partition"], one["Row"]) for one in self._rows(_WORK)}

    def repair(self, report: Report) -> Report:
        """Mend the differences of a report, and nothing else: each dependent and its source are read again, so what was written since
        is kept.
        """
        for one in report.differences:
            one.cause = self._agree_again(one.key)
            one.state = "REMAINS" if one.cause else "MENDED"
        return report


def _declared(registry: Table) -> list[Entity]:
    return [found for found in registry.query(f"PartitionKey eq '{_RULES}'") if found["RowKey"] != _HEAD]


def _is_index_of(index: Any, declaration: Declaration) -> bool:
    parts = [part(name) for name in declaration.naming]
    return index.table == declaration.dependents and list(index.partition_key) == parts and not index.row_key and not index.filter


def _make_index(client: Client, name: str, declaration: Declaration) -> Index:
    """ValueError: there is another index of that name."""
    index = client.create_index(name, declaration.dependents, *declaration.naming, select=[], exist_ok=True)
    if not _is_index_of(index.info().index, declaration):
        raise ValueError(f"the index {name} is not the one that the rule needs: drop it, or give the rule another name")
    return index


def _add_write(writer: Union[Table, Batch], one: Entity, changes: Mapping[str, Any]) -> None:
    """A merge; to remove a property the whole entity is replaced. Either only if it is still the entity that was read."""
    if None in changes.values():
        one.update(changes)
        writer.replace(one)
    else:
        writer.merge({**dict(zip(KEYS, one.key)), **changes}, if_match=one.etag)


def _parts_of_batches(group: Sequence[tuple[Entity, dict]]) -> Iterator[list[tuple[Entity, dict]]]:
    """As many as a batch takes, by their number and by their bytes."""
    some: list[tuple[Entity, dict]] = []
    size = 0
    for one in group:
        written = {**one[0], **one[1]} if None in one[1].values() else one[1]
        weight = sum(len(stored_form(value) or b"") for value in written.values())
        if some and (len(some) == _BATCH or size + weight > _BATCH_BYTES):
            yield some
            some, size = [], 0
        some.append(one)
        size += weight
    if some:
        yield some


# ---- the command ----


_COMMANDS = {
    "create": "declare a rule",
    "run": "carry the rule out until SIGINT",
    "catch-up": "do what there is to do, and end",
    "status": "how far it is",
    "verify": "compare all copies; 1: there are differences",
    "repair": "verify, and mend what differs",
    "drop": "forget the rule; the copies stay",
}


def _part_of(text: str) -> NamePart:
    return Literal(text[1:]) if text.startswith("=") else text


def _arguments(given: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m tavola.denormalization", description="Rules of denormalization.")
    parser.add_argument("--target", help="HOST:PORT or unix:PATH; else TAVOLA_TARGET")
    parser.add_argument("--rules", default=RULES_TABLE, help=f"the table that has the rules ({RULES_TABLE})")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the names of all rules")
    for name, text in _COMMANDS.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("name")
        if name in ("verify", "repair"):
            command.add_argument("--settle", type=float, default=_SETTLE_S, help=f"seconds before what differs is judged ({_SETTLE_S:g})")
        if name == "create":
            _add_declaration(command)
    return parser.parse_args(given)


def _add_declaration(command: argparse.ArgumentParser) -> None:
    command.add_argument("--source", required=True, help="the table whose properties are copied")
    command.add_argument("--dependents", required=True, help="the table that gets the copies")
    command.add_argument("--named-by", required=True, nargs=2, metavar=("PARTITION", "ROW"), type=_part_of,
                         help="where a dependent has the keys of its source: a property, or =TEXT")
    command.add_argument("--copy", required=True, action="append", metavar="COPY=PROPERTY", help="may be repeated")
    command.add_argument("--version-to", default="", metavar="COPY", help="a property for the source's ETag")
    command.add_argument("--keep", action="store_true", help="when a source is deleted its copies stay")


def _shown(report: Report) -> str:
    return json.dumps(asdict(report), indent=1, default=str, ensure_ascii=False)


def _carry_out(client: Client, asked: argparse.Namespace) -> Union[int, str]:
    if asked.command == "list":
        return "\n".join(CopyRule.names(client, asked.rules))
    if asked.command == "create":
        copies = dict(one.partition("=")[::2] for one in asked.copy)
        CopyRule.create(client, asked.name, source=asked.source, dependents=asked.dependents, named_by=tuple(asked.named_by), copies=copies,
                        version_to=asked.version_to, keep=asked.keep, rules=asked.rules)
        return ""
    rule = CopyRule(client, asked.name, rules=asked.rules)
    if asked.command in ("verify", "repair"):
        report = rule.verify(asked.settle)
        if asked.command == "repair":
            rule.repair(report)
        print(_shown(report))
        return int(any(one.state != "MENDED" for one in report.differences) or not report.complete)
    if asked.command == "status":
        return json.dumps(asdict(rule.status()), default=str)
    {"run": rule.run, "catch-up": rule.catch_up, "drop": rule.drop}[asked.command]()
    return ""


def main(given: Optional[Sequence[str]] = None) -> int:
    """The exit code: 0; 1: differences; 2: it did not work."""
    asked = _arguments(given)
    try:
        with Client(asked.target) as client:
            done = _carry_out(client, asked)
    except KeyboardInterrupt:
        return 0
    except (errors.Error, RuleNotFound, RuleExists, ValueError) as error:
        print(f"tavola.denormalization: {error}", flush=True)
        return 2
    if isinstance(done, str):
        print(done, end="\n" if done else "", flush=True)
        return 0
    return done


if __name__ == "__main__":
    raise SystemExit(main())
