# SPDX-License-Identifier: Apache-2.0
"""Imports: a stream of messages, each answered once it is committed. After a break, what was not answered is sent again."""

import queue
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Optional

import grpc

from tavola import errors
from tavola.connection import STREAM_SECONDS, Pauses, passes
from tavola.descriptors import type_of
from tavola.entity import encode

MESSAGE_ENTITIES = 300  # a message with more refused entities than that would be answered in parts
MESSAGE_BYTES = 1 << 20
PART_BYTES = 2 << 20  # of properties: an entity with more is sent in parts
WINDOW = 8  # messages under way


@dataclass(frozen=True)
class Rejection:
    """An entity that was not imported: how many came before it, its keys, and why."""

    position: int
    key: tuple[str, str]
    error: errors.Error


@dataclass
class ImportResult:
    """How many entities are committed, those that were refused, and the tokens for look-ups (at_least)."""

    committed: int = 0
    rejected: list[Rejection] = field(default_factory=list)
    consistency_tokens: list[str] = field(default_factory=list)


def _parts(table: Any, entity: Any) -> Iterator[Any]:
    """A message for each part of a large entity: its properties in the order of their names (bytes)."""
    make, part, size = type_of("ImportEntitiesRequest"), None, 0
    for name in sorted(entity.properties, key=str.encode):
        value = entity.properties[name]
        more = len(name) * 3 + value.ByteSize()
        if part is None or size + more > PART_BYTES:
            if part is not None:
                yield part
            part, size = make(table=table.name, continues=True), 0
            part.entities.add(partition_key=entity.partition_key, row_key=entity.row_key)
            if entity.HasField("expires"):
                part.entities[0].expires.CopyFrom(entity.expires)
        part.entities[0].properties[name].CopyFrom(value)
        size += more
    part.continues = False
    yield part


def _count(message: Any) -> int:
    """The entities of a message: one that continues counts with its last part."""
    return len(message.entities) - message.continues


def _messages(table: Any, entities: Iterable[Mapping]) -> Iterator[tuple[int, Any]]:
    """(position of its first entity, message), each within the bounds above; a larger entity has a message of its own."""
    make, source, position = type_of("ImportEntitiesRequest"), iter(entities), 0
    message, size = make(table=table.name), 0
    for entity in source:
        one = table.encode(entity)
        if message.entities and (size + one.ByteSize() > MESSAGE_BYTES or len(message.entities) == MESSAGE_ENTITIES):
            yield position, message
            position += len(message.entities)
            message, size = make(table=table.name), 0
        if one.ByteSize() > PART_BYTES:
            for part in _parts(table, one):
                yield position, part
            position += 1
            continue
        message.entities.append(one)
        size += one.ByteSize()
    if message.entities:
        yield position, message


class _Stream:
    """One stream of an import: sends what `waiting` has, then what the source has, with at most WINDOW under way."""

    def __init__(self, table: Any, source: Iterator[tuple[int, Any]], waiting: deque):
        self.source, self.waiting = source, waiting
        self.answered = 0  # first ones of those waiting: parts of an entity, which is sent again as a whole
        self.outgoing: queue.SimpleQueue = queue.SimpleQueue()
        self.call = table.client.connection.open("EntityService/ImportEntities", iter(self.outgoing.get, None), STREAM_SECONDS)
        for _, message in waiting:
            self.outgoing.put(message)
        self.fill()

    def fill(self) -> None:
        for position, message in islice(self.source, max(WINDOW - len(self.waiting) + self.answered, 0)):
            self.waiting.append((position, message))
            self.outgoing.put(message)
        if not self.waiting:
            self.end()

    def end(self) -> None:
        self.outgoing.put(None)

    def replies(self) -> Iterator[tuple[int, Any, Any]]:
        """(position, message, reply) of each message."""
        for reply in self.call:
            position, message = self.waiting[self.answered]
            self.answered += 1
            if not message.continues:
                for _ in range(self.answered):
                    self.waiting.popleft()
                self.answered = 0
            yield position, message, reply
            self.fill()


def _note(result: ImportResult, position: int, message: Any, reply: Any, sent_before: int) -> None:
    result.committed += _count(message) - len(reply.rejected)
    for one in reply.rejected:
        at = position + one.position - sent_before
        result.rejected.append(Rejection(at, (one.key.partition_key, one.key.row_key), errors.of_message(one.error)))
    if reply.consistency_token:
        result.consistency_tokens.append(reply.consistency_token)


def _run_once(stream: _Stream, result: ImportResult) -> None:
    """Work through one stream."""
    sent = 0
    for position, message, reply in stream.replies():
        _note(result, position, message, reply, sent)
        sent += _count(message)
    if stream.waiting:
        raise errors.Internal(f"the service has ended the import, and has not answered {len(stream.waiting)} of its messages")


def run_import(table: Any, entities: Iterable[Mapping]) -> ImportResult:
    """Import the entities; the errors of a call, and of encode()."""
    result, waiting = ImportResult(), deque()
    source = _messages(table, entities)
    patience = table.client.connection.timeout
    pauses: Optional[Pauses] = None
    while True:
        answered = result.committed + len(result.rejected)
        stream = _Stream(table, source, waiting)
        try:
            _run_once(stream, result)
            return result
        except grpc.RpcError as failed:
            error = errors.of_call(failed)
        finally:
            stream.end()
            stream.call.cancel()
        if pauses is None or result.committed + len(result.rejected) > answered:
            pauses = table.client.connection.pauses(patience)
        resumes = passes(error) or isinstance(error, errors.DeadlineExceeded) and not error.reason
        if not resumes or not pauses.wait(error):
            raise error
