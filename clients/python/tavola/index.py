# SPDX-License-Identifier: Apache-2.0
"""Indexes: their declaration, their state, and look-ups."""

from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

from tavola.connection import Connection
from tavola.descriptors import enum_name, enum_number, type_of
from tavola.entity import Hook, WriteResult, decode
from tavola.table import Page, Pages, Stats
from tavola.values import Native, set_value

Part = Any  # the name of a property, or what part() or literal_part() returns


def part(property: str, *, width: int = 0, inverted: bool = False, fold_case: bool = False) -> Part:
    """A part of an index's key: a property, with the decimal digits of a number, the largest first, or text without case."""
    return type_of("KeyPart")(property=property, width=width, inverted=inverted, fold_case=fold_case)


def literal_part(text: str) -> Part:
    """A part of an index's key that is the same text for every entry."""
    return type_of("KeyPart")(literal=text)


def _copy_key(part: Any) -> Any:
    if part.width or part.inverted or part.fold_case:
        raise ValueError("named_by takes properties as they are: no width, inverted or fold_case")
    kind = part.WhichOneof("source")
    return type_of("CopyKey")(**{kind: getattr(part, kind)})


def copies_of(source: Any, named_by: Iterable[Part], properties: Mapping[str, str], *,
              keep: bool = False, version_to: str = "") -> Any:
    """A copy rule for create_index, kept by the workers: docs/patterns/denormalization.md.

    source      the table whose properties are copied
    named_by    where an entity has the partition key and the row key of its source: a property, part() or literal_part()
    properties  of the entity's property to the property of the source that it is a copy of
    keep        the copies of a source that does not exist stay; else they are removed
    version_to  a property for the ETag of the source
    """
    keys = [_copy_key(one) for one in _parts(named_by)]
    if len(keys) != 2:
        raise ValueError("named_by has to give the partition key and the row key of the source")
    return type_of("CopyRule")(source_table=getattr(source, "name", source), source_partition_key=keys[0], source_row_key=keys[1],
                               properties=dict(properties), keep=keep, version_property=version_to)


def _parts(given: Union[Part, Iterable[Part]]) -> list[Any]:
    found = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    return [part(one) if isinstance(one, str) else one for one in found]


def _projection(select: Optional[Iterable[str]]) -> Any:
    if select is None:
        return None
    names = list(select)
    return type_of("Projection")(some={"names": names}) if names else type_of("Projection")(keys_only=True)


def declaration(name: str, table: str, partition_key: Iterable[Part], *, row_key: Iterable[Part] = (), shape: str = "copy",
                place: str = "unspecified", consistency: str = "unspecified", unique: bool = False, filter: str = "",
                select: Optional[Iterable[str]] = None, on_violation: str = "unspecified", copies: Any = None) -> Any:
    """The message tavola.v1.Index of these words; docs/indexes.md says which belong together. ValueError: an unknown word."""
    return type_of("Index")(
        name=name,
        table=table,
        shape=enum_number("IndexShape", shape, "INDEX_SHAPE_"),
        place=enum_number("IndexPlace", place, "INDEX_PLACE_"),
        consistency=enum_number("IndexConsistency", consistency, "INDEX_CONSISTENCY_"),
        partition_key=_parts(partition_key),
        row_key=_parts(row_key),
        projection=_projection(select),
        on_violation=enum_number("OnViolation", on_violation, "ON_VIOLATION_"),
        unique=unique,
        filter=filter,
        copies=copies,
    )


def _value(value: Native) -> Any:
    out = type_of("Value")()
    set_value(out, value)
    return out


def _freshness(at_least: Iterable[Union[str, WriteResult]], max_staleness: Optional[float], latest: bool) -> Any:
    tokens = [getattr(one, "consistency_token", one) for one in at_least]
    out = type_of("Freshness")(at_least=[one for one in tokens if one], latest=latest)
    if max_staleness is not None:
        out.max_staleness.seconds, out.max_staleness.nanos = int(max_staleness), int(max_staleness % 1 * 1e9)
    return out


class Index:
    """An index by name; nothing is asked of the service until a method is called."""

    def __init__(self, client: Any, name: str, decrypt: Optional[Hook] = None, build: Any = None):
        self.client, self.name, self.decrypt = client, name, decrypt
        self.build = build  # the Operation that builds it, of an index that was just created

    def __repr__(self) -> str:
        return f"Index({self.name!r})"

    def wait(self, timeout: Optional[float] = None) -> "Index":
        """Wait until the index has been built. OperationFailed; DeadlineExceeded after `timeout` seconds; None: for ever."""
        build = self.build or self.client.operation(self.info().status.build.operation_id)
        build.wait(timeout)
        return self

    def info(self) -> Any:
        """Declaration and status, a message tavola.v1.GetIndexResponse."""
        return self.client.send("IndexService/GetIndex", name=self.name)

    def state(self) -> str:
        """BUILDING, VALIDATING, READY or DROPPING."""
        return enum_name("IndexState", self.info().status.state, "INDEX_STATE_")

    def drop(self) -> Any:
        """Drop the index; returns the Operation that purges its entries."""
        return self.client.operation_of(self.client.send("IndexService/DropIndex", name=self.name).operation)

    def lookup(self, *equals: Native, from_: Native = None, below: Native = None,
               at_least: Iterable[Union[str, WriteResult]] = (), max_staleness: Optional[float] = None, latest: bool = False,
               trust_index: bool = False, read_sources: bool = False, select: Iterable[str] = (), descending: bool = False,
               page_size: int = 0, token: str = "", timeout: Optional[float] = None) -> Pages:
        """The entities that have the given values of the index's properties, the partition key's first.

        from_, below   a range of the next property: from_ included, below not
        at_least       results or tokens of writes that must be seen; they are waited for, until `timeout`: NotFreshEnough
        max_staleness  seconds that the index may lag behind
        latest         the answer is right as of now
        trust_index    return entries as they are, also while work on their entities is open
        read_sources   read every entity, also where its entry is known to be the same
        select         the properties wanted; none: all
        """
        request = type_of("LookupIndexRequest")(
            index=self.name, equals=[_value(value) for value in equals], trust_index=trust_index, read_sources=read_sources,
            select=list(select), descending=descending, freshness=_freshness(at_least, max_staleness, latest))
        for end, value in (("at_least", from_), ("below", below)):
            if value is not None:
                set_value(getattr(request.range, end), value)

        def fetch(size: int, token: str) -> Page:
            request.page_size, request.page_token = size, token
            connection: Connection = self.client.connection
            reply = connection.call("IndexService/LookupIndex", request, timeout)
            return Page([decode(one, self.decrypt) for one in reply.entities], reply.next_page_token, Stats.of(reply.stats))

        return Pages(fetch, page_size, token)
