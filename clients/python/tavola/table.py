# SPDX-License-Identifier: Apache-2.0
"""A table: reads, writes, batches, queries, imports and watches of its entities."""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from tavola import blob, errors
from tavola.connection import ResumedStream
from tavola.descriptors import enum_name, enum_number, type_of
from tavola.entity import Entity, Hook, WriteResult, decode, decode_result, encode
from tavola.load import ImportResult, run_import

PATH = "ACCESS_PATH_"
HOLDING = ("insert", "replace", "merge", "insert_or_replace", "insert_or_merge")  # writes that may give an entity a content


@dataclass(frozen=True)
class Stats:
    """What a read has cost: access_path is one of POINT, ROW_RANGE, INDEX_LOOKUP, PARTITION_SCAN and TABLE_SCAN."""

    access_path: str
    index: str
    rows_examined: int
    rows_returned: int
    bytes_examined: int

    @classmethod
    def of(cls, found: Any) -> "Stats":
        path = enum_name("AccessPath", found.access_path, PATH)
        return cls(path, found.index, found.rows_examined, found.rows_returned, found.bytes_examined)


@dataclass
class Page:
    """One page: its entities, the token behind it (empty: the last page), and what it has cost."""

    entities: list[Entity]
    token: str
    stats: Stats


class Pages:
    """The answer to a query: iterate over its entities, which follows all pages, or over pages(). Each iteration asks anew."""

    def __init__(self, fetch: Any, page_size: int, token: str):
        self._fetch, self._page_size, self._token = fetch, page_size, token

    def pages(self) -> Iterator[Page]:
        """Each page as it comes. A page may be empty and still not be the last one."""
        token = self._token
        while True:
            page = self._fetch(self._page_size, token)
            yield page
            token = page.token
            if not token:
                return

    def __iter__(self) -> Iterator[Entity]:
        for page in self.pages():
            yield from page.entities

    def first(self) -> Optional[Entity]:
        """The first entity, or None."""
        return next(iter(Pages(self._fetch, 1, self._token)), None)


@dataclass(frozen=True)
class Change:
    """A change of an entity. kind: `inserted`, `changed` or `deleted`; a deleted entity has its keys alone.

    left_out  the entity is a wide one with more properties than the feed keeps, and has its keys alone: read it
    """

    kind: str
    entity: Entity
    left_out: bool = False


class Watch:
    """The changes of a table, for ever: after a break it goes on by itself. Each change is told at least once.

    token  the position behind the changes whose message has been worked through: store it, and give it as `resume` later
    """

    def __init__(self, stream: ResumedStream, token: str, decrypt: Optional[Hook],
                 patience: Optional[float]):
        self._stream, self.token, self._decrypt = stream, token, decrypt
        self._messages = iter(stream)
        self._first = next(self._messages, None)  # by then the watch is under way
        stream.be_patient(patience)

    def cancel(self) -> None:
        """End the iteration, from any thread."""
        self._stream.cancel()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.cancel()
        self._messages.close()

    def _decode(self, change: Any) -> Change:
        kind = "deleted" if change.deleted else "inserted" if change.inserted else "changed"
        without = change.deleted or change.left_out
        return Change(kind, decode(change.entity, None if without else self._decrypt), change.left_out)

    def take_first(self) -> tuple[list[Change], str]:
        """The changes of the first message, and the token behind them."""
        message = self._first
        return [self._decode(change) for change in message.changes], message.resume_token

    def __iter__(self) -> Iterator[Change]:
        while True:
            message = self._first or next(self._messages, None)
            self._first = None
            if message is None:
                return
            for change in message.changes:
                yield self._decode(change)
            self.token = message.resume_token


def precondition(entity: Any, if_match: Optional[str], condition: str) -> Any:
    """The given ETag; else, without a condition, that of an entity that was read or written before; else `*`."""
    known = getattr(entity, "etag", "") if not condition else ""
    return type_of("Precondition")(if_match=if_match or known or "*", condition=condition)


@dataclass
class Batch:
    """Writes of one partition that take effect together, or not at all: 1 to 100, each of another entity.

    As a context it is sent at the end of the block; `results` then has a WriteResult for each write.
    """

    table: "Table"
    request_id: Optional[str] = None
    results: list[WriteResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._operations: list[Any] = []
        self._entities: list[Any] = []

    def _add(self, kind: str, entity: Any, message: Any, condition: Any = None) -> "Batch":
        self._operations.append(type_of("BatchOperation")(**{kind: message}, precondition=condition))
        self._entities.append(entity)
        return self

    def insert(self, entity: Mapping) -> "Batch":
        return self._add("insert", entity, self.table.encode(entity))

    def replace(self, entity: Mapping, *, if_match: Optional[str] = None, condition: str = "") -> "Batch":
        return self._add("replace", entity, self.table.encode(entity), precondition(entity, if_match, condition))

    def merge(self, entity: Mapping, *, if_match: Optional[str] = None, condition: str = "") -> "Batch":
        return self._add("merge", entity, self.table.encode(entity), precondition(entity, if_match, condition))

    def upsert(self, entity: Mapping, *, merge: bool = False) -> "Batch":
        return self._add("insert_or_merge" if merge else "insert_or_replace", entity, self.table.encode(entity))

    def delete(self, partition_key: str, row_key: str, *, if_match: str = "*", condition: str = "") -> "Batch":
        key = type_of("EntityKey")(partition_key=partition_key, row_key=row_key)
        return self._add("delete", None, key, precondition(None, if_match, condition))

    def execute(self) -> list[WriteResult]:
        """Send the batch. The error of a write that failed has its number in metadata["operation_index"]."""
        reply = self.table.write("ExecuteBatch", self.request_id, operations=self._operations)
        self.results = [decode_result(one) for one in reply.results]
        for entity, result in zip(self._entities, self.results):
            self.table.note(entity, result)
        return self.results

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._operations:
            self.execute()


class Table:
    """A table by name; nothing is asked of the service until a method is called.

    Every write gets a new request_id unless one is given, so that repeating it is harmless; "" sends none. An Entity gets
    the etag of what was written. Errors are those of docs/errors.md, as classes of tavola.errors.
    """

    def __init__(self, client: Any, name: str, encrypt: Optional[Hook] = None, decrypt: Optional[Hook] = None):
        self.client, self.name = client, name
        self.encrypt, self.decrypt = encrypt, decrypt

    def __repr__(self) -> str:
        return f"Table({self.name!r})"

    # ---- single entities ----

    def encode(self, entity: Mapping) -> Any:
        """The message of an entity, encrypted by the table's hook."""
        return encode(entity, self.encrypt)

    def write(self, method: str, request_id: Optional[str], **fields: Any) -> Any:
        """The reply to a write."""
        request_id = str(uuid.uuid4()) if request_id is None else request_id
        return self.client.send(f"EntityService/{method}", table=self.name, request_id=request_id, **fields)

    @staticmethod
    def note(entity: Any, result: WriteResult) -> None:
        """Give an Entity the version that was written."""
        if isinstance(entity, Entity):
            entity.etag, entity.timestamp = result.etag, result.timestamp

    def _put(self, method: str, entity: Mapping, request_id: Optional[str], **fields: Any) -> WriteResult:
        result = decode_result(self.write(method, request_id, entity=self.encode(entity), **fields).result)
        self.note(entity, result)
        return result

    def insert(self, entity: Mapping, *, request_id: Optional[str] = None) -> WriteResult:
        """Insert. EntityAlreadyExists: its keys are taken."""
        return self._put("InsertEntity", entity, request_id)

    def replace(self, entity: Mapping, *, if_match: Optional[str] = None, condition: str = "",
                request_id: Optional[str] = None) -> WriteResult:
        """Replace all properties. EntityNotFound; ConditionNotMet.

        if_match   the version to replace; without it, and without a condition, that of an Entity that was read or written
                   before. "*" replaces any.
        condition  filter text over what is stored
        """
        return self._put("ReplaceEntity", entity, request_id, precondition=precondition(entity, if_match, condition))

    def merge(self, entity: Mapping, *, if_match: Optional[str] = None, condition: str = "",
              request_id: Optional[str] = None) -> WriteResult:
        """Set the given properties and keep the others; the conditions of replace."""
        return self._put("MergeEntity", entity, request_id, precondition=precondition(entity, if_match, condition))

    def upsert(self, entity: Mapping, *, merge: bool = False, request_id: Optional[str] = None) -> WriteResult:
        """Insert, or replace (merge=True: merge into) what is there."""
        return self._put("InsertOrMergeEntity" if merge else "InsertOrReplaceEntity", entity, request_id)

    def put_with_content(self, entity: Mapping, property_name: str, source: blob.Source, *, action: str = "insert",
                         if_match: Optional[str] = None, condition: str = "", content_type: str = "", sha256: bytes = b"",
                         upload_id: str = "") -> blob.Blob:
        """Write an entity and the content that this property of it holds, in one call: readers see both or none of them. What the
        property has in `entity` is left out; it has the `reference` of the blob that is returned. The errors of the write: then
        nothing was put. The table has blob_properties.

        action               insert, replace, merge, insert_or_replace or insert_or_merge
        if_match, condition  of replace and merge, as there
        source, content_type, sha256, upload_id  as for Client.put_blob. The content is not encrypted by the table's hook.
        """
        if action not in HOLDING:
            raise ValueError(f"{action!r} is not one of {', '.join(HOLDING)}")
        checked = {"precondition": precondition(entity, if_match, condition)} if action in ("replace", "merge") else {}
        kept = Entity({name: value for name, value in entity.items() if name != property_name}, expires=getattr(entity, "expires", None))
        operation = type_of("BatchOperation")(**{action: self.encode(kept)}, **checked)
        write = type_of("BlobWrite")(table=self.name, operation=operation, property=property_name)
        reply = blob.put(self.client.connection, source, content_type=content_type, sha256=sha256, upload_id=upload_id, write=write)
        if reply.HasField("result"):
            self.note(entity, decode_result(reply.result))
        return blob.decode(reply.blob)

    def delete(self, partition_key: str, row_key: str, *, if_match: str = "*", condition: str = "",
               request_id: Optional[str] = None) -> WriteResult:
        """Delete. EntityNotFound; ConditionNotMet."""
        key = type_of("EntityKey")(partition_key=partition_key, row_key=row_key)
        condition_of = precondition(None, if_match, condition)
        return decode_result(self.write("DeleteEntity", request_id, key=key, precondition=condition_of).result)

    def batch(self, *, request_id: Optional[str] = None) -> Batch:
        """An entity group transaction: with people.batch() as batch: batch.insert(...); batch.delete(...)."""
        return Batch(self, request_id)

    def get(self, partition_key: str, row_key: str, *, select: Iterable[str] = (), after_transaction: str = "") -> Entity:
        """One entity. EntityNotFound.

        select             the properties wanted; none: all
        after_transaction  the id of a transaction: read when it has ended
        """
        key = {"partition_key": partition_key, "row_key": row_key}
        options = {"select": list(select), "wait_for_transaction": after_transaction}
        reply = self.client.send("EntityService/GetEntity", table=self.name, key=key, options=options)
        return decode(reply.entity, self.decrypt)

    def find(self, partition_key: str, row_key: str, *, select: Iterable[str] = ()) -> Optional[Entity]:
        """One entity, or None."""
        try:
            return self.get(partition_key, row_key, select=select)
        except errors.EntityNotFound:
            return None

    def get_many(self, keys: Iterable[tuple[str, str]], *, select: Iterable[str] = ()) -> list[Optional[Entity]]:
        """The entities of (partition key, row key) pairs in their order, None for each that is not there."""
        wanted = [{"partition_key": partition, "row_key": row} for partition, row in keys]
        found: list[Optional[Entity]] = []
        while len(found) < len(wanted):
            part = wanted[len(found):len(found) + 1000]
            reply = self.client.send("EntityService/BatchGetEntities", table=self.name, keys=part,
                                     options={"select": list(select)})
            found += [decode(one.entity, self.decrypt) if one.HasField("entity") else None for one in reply.results]
        return found

    # ---- many entities ----

    def _query_of(self, text: str, descending: bool = False, max_plan: str = "unspecified") -> Any:
        plan = enum_number("AccessPath", max_plan, PATH)
        return type_of("Query")(table=self.name, filter=text, descending=descending, max_plan=plan)

    def query(self, filter: str = "", *, select: Iterable[str] = (), descending: bool = False,
              max_plan: str = "unspecified", page_size: int = 0, token: str = "") -> Pages:
        """The entities that match filter text, in the order of their keys; odata() puts values into it.

        max_plan   refuse to run anything costlier (PlanTooExpensive): point, row_range, index_lookup, partition_scan, table_scan
        page_size  entities of a page, 1000 at most; 0: 1000
        token      a Page.token of the same query: go on behind that page
        """
        query, options = self._query_of(filter, descending, max_plan), {"select": list(select)}

        def fetch(size: int, token: str) -> Page:
            reply = self.client.send("EntityService/QueryEntities", query=query, page_size=size, page_token=token,
                                     options=options)
            return Page([decode(one, self.decrypt) for one in reply.entities], reply.next_page_token, Stats.of(reply.stats))

        return Pages(fetch, page_size, token)

    def scan(self, filter: str = "", *, select: Iterable[str] = (), descending: bool = False,
             max_plan: str = "unspecified", snapshot: bool = False) -> Iterator[Entity]:
        """All entities that match as one stream, which goes on by itself after a break.

        snapshot   as they were at one moment; a break ends such a scan. SnapshotRunning: an account has one at once.
                   SnapshotEnded: the server holds it for some minutes at most, because vacuum waits for it
        """
        request = type_of("ScanEntitiesRequest")(query=self._query_of(filter, descending, max_plan),
                                                 options={"select": list(select)}, snapshot=snapshot, in_parts=True)
        large = None
        for message in ResumedStream(self.client.connection, "EntityService/ScanEntities", request, is_whole=snapshot):
            entities = list(message.entities)
            if message.continued:
                large.MergeFrom(entities.pop())
                entities.append(large)
            # A stream that goes on after a break begins the entity anew, so what is kept here may be dropped.
            large = entities.pop() if message.continues else None
            for one in entities:
                yield decode(one, self.decrypt)

    def count(self, filter: str = "") -> int:
        """How many entities match; counted by the service, page by page."""
        query, total, token = self._query_of(filter), 0, ""
        while True:
            reply = self.client.send("EntityService/CountEntities", query=query, page_token=token)
            total, token = total + reply.count, reply.next_page_token
            if not token:
                return total

    def explain(self, filter: str = "") -> tuple[Stats, list[str]]:
        """The access path that a query would take, and advice; nothing is read."""
        reply = self.client.send("EntityService/ExplainQuery", query=self._query_of(filter))
        return Stats.of(reply.expected), list(reply.suggestions)

    def delete_range(self, filter: str = "") -> Any:
        """Delete what matches, as an Operation that goes on by itself."""
        reply = self.client.send("EntityService/DeleteRange", query=self._query_of(filter))
        return self.client.operation_of(reply.operation)

    def load(self, entities: Iterable[Mapping]) -> ImportResult:
        """Upsert any number of entities as one stream, which goes on by itself after a break; repeating it is harmless."""
        return run_import(self, entities)

    def watch(self, filter: str = "", *, resume: str = "", select: Iterable[str] = (),
              patience: Optional[float] = None) -> Watch:
        """The changes from now on, or behind the token of an earlier watch; the table keeps a change feed.

        It is under way when this returns: later writes are told. filter: over PartitionKey and RowKey only. patience:
        seconds without an answer after which a failure is raised; None: never. ResyncRequired: the history is gone.
        """
        request = type_of("WatchEntitiesRequest")(table=self.name, filter=filter, resume_token=resume,
                                                  options={"select": list(select)})
        return Watch(ResumedStream(self.client.connection, "EntityService/WatchEntities", request), resume, self.decrypt, patience)

    def changes(self, resume: str = "") -> tuple[list[Change], str]:
        """The changes behind a token that can be read at once, a message of them, and the token behind it; without a token
        none, and the token of this moment. ResyncRequired, as in watch().

        Changes that are committed may be missing as long as older writes are under way: they come later, behind the token.
        """
        with self.watch(resume=resume, patience=self.client.connection.timeout) as watch:
            return watch.take_first()

    # ---- the table itself ----

    def info(self) -> Any:
        """The table's settings, a message tavola.v1.Table."""
        return self.client.send("TableService/GetTable", name=self.name).table

    def update(self, **settings: Any) -> Any:
        """Change settings: change_feed, sample_queries, default_max_plan (a name as in query), policies (messages), periods.

        periods: {"unit": "month", "ahead": 1, "kept": 12} keeps tables of months (keys.period_table); None ends that.
        """
        if isinstance(settings.get("default_max_plan"), str):
            settings["default_max_plan"] = enum_number("AccessPath", settings["default_max_plan"], PATH)
        if isinstance(settings.get("periods"), Mapping):
            unit = settings["periods"].get("unit", "unspecified")
            settings["periods"] = {**settings["periods"], "unit": enum_number("PeriodUnit", unit, "PERIOD_UNIT_")}
        return self.client.send("TableService/UpdateTable", table={"name": self.name, **settings},
                                update_mask={"paths": sorted(settings)}).table

    def drop(self) -> Any:
        """Delete the table with its entities and indexes; the name is free at once. Returns the Operation that purges it."""
        return self.client.operation_of(self.client.send("TableService/DeleteTable", name=self.name).operation)

    def create_index(self, name: str, *partition_key: Any, **options: Any) -> Any:
        """Client.create_index for this table."""
        return self.client.create_index(name, self, *partition_key, **options)

    def index(self, name: str) -> Any:
        """An index of this table by name; entities it finds go through the table's hooks."""
        return self.client.index(name, decrypt=self.decrypt)
