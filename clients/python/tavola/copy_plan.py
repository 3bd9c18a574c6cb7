# SPDX-License-Identifier: Apache-2.0
"""What a rule of denormalization asks of one entity: which entity it names, which copies it should have, what has to be written.

Everything here is pure. tavola.denormalization reads and writes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Optional, Union

from tavola.descriptors import type_of
from tavola.values import Native, set_value

KEYS = ("PartitionKey", "RowKey")
ETAG = "its ETag"  # stands for the version of an entity among names of properties
Key = tuple[str, str]


@dataclass(frozen=True)
class Literal:
    """A part of the name of a source that is the same for every dependent."""

    text: str


NamePart = Union[str, Literal]  # a str is a property of the dependent


@dataclass(frozen=True)
class Declaration:
    """A rule: entities of `dependents` get copies of properties of the entity of `source` that they name.

    named_by    where a dependent has the partition key and the row key of its source: properties, or a Literal
    copies      of the dependent's property to the property of the source that it is a copy of
    version_to  a property of the dependent for the ETag of the source that the copies were made of; empty: none
    keep        what becomes of the copies when there is no such source: they stay. Else they are removed.
    """

    source: str
    dependents: str
    named_by: tuple[NamePart, NamePart]
    copies: Mapping[str, str]
    version_to: str = ""
    keep: bool = False

    def __post_init__(self) -> None:
        """ValueError: the rule contradicts itself."""
        if len(self.named_by) != 2 or not self.naming:
            raise ValueError("named_by has to give the partition key and the row key of the source, at least one of them by a property")
        if not self.copies:
            raise ValueError("copies names no property")
        for target in self.targets:
            if target in (*KEYS, "Timestamp", ""):
                raise ValueError(f"the copy {target!r} would replace a key or the Timestamp of the dependent")
            if target in self.naming:
                raise ValueError(f"the copy {target!r} would replace the property that names the source")
        if self.version_to in self.copies:
            raise ValueError(f"{self.version_to!r} is a copy; the ETag of the source needs a property of its own")
        if any(name in (*KEYS, "Timestamp", "") for name in self.copies.values()):
            raise ValueError("only properties of the source can be copied; a dependent has the keys of its source already")

    @property
    def naming(self) -> list[str]:
        """The dependent's properties that name the source, each once."""
        return list(dict.fromkeys(part for part in self.named_by if isinstance(part, str)))

    @property
    def targets(self) -> list[str]:
        return [*self.copies, *([self.version_to] if self.version_to else [])]

    @property
    def read_of_dependent(self) -> list[str]:
        return [name for name in (*self.naming, *self.targets) if name not in KEYS]

    @property
    def read_of_source(self) -> list[str]:
        return sorted(set(self.copies.values()))

    def edges(self) -> set[tuple[tuple[str, str], tuple[str, str]]]:
        """(table, property) pairs, of which a change of the first changes the second. ETAG changes with every property."""
        naming = {((self.dependents, name), (self.dependents, target)) for name in self.naming for target in self.targets}
        copied = {((self.source, name), (self.dependents, target)) for target, name in self.copies.items()}
        versions = {((self.dependents, target), (self.dependents, ETAG)) for target in self.targets}
        if self.version_to:
            versions.add(((self.source, ETAG), (self.dependents, self.version_to)))
        return naming | copied | versions

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "named_by": [part if isinstance(part, str) else {"literal": part.text} for part in self.named_by]})

    @classmethod
    def of_json(cls, text: str) -> "Declaration":
        fields = json.loads(text)
        first, second = (part if isinstance(part, str) else Literal(part["literal"]) for part in fields.pop("named_by"))
        return cls(named_by=(first, second), **fields)

    def source_of(self, dependent: Mapping) -> Optional[Key]:
        """The keys of the source that a dependent names; None: it names none."""
        partition, row = (part.text if isinstance(part, Literal) else dependent.get(part) for part in self.named_by)
        return (partition, row) if isinstance(partition, str) and isinstance(row, str) else None

    def values_naming(self, source: Key) -> Optional[list[str]]:
        """What the naming properties of its dependents have; None: no dependent can name this source."""
        values: dict[str, str] = {}
        for part, text in zip(self.named_by, source):
            if (part.text if isinstance(part, Literal) else values.setdefault(part, text)) != text:
                return None
        return [values[name] for name in self.naming]

    def difference(self, dependent: Mapping, source: Optional[Mapping]) -> dict[str, Native]:
        """What has to be set in the dependent, None standing for a property to be removed; empty: its copies are right.

        source  what the dependent names, as it is; None: there is no such entity
        """
        if source is None and self.keep and self.source_of(dependent):
            return {}
        wanted = {target: source.get(name) if source is not None else None for target, name in self.copies.items()}
        if self.version_to:
            wanted[self.version_to] = source.etag if source is not None else None
        return {name: value for name, value in wanted.items() if stored_form(value) != stored_form(dependent.get(name))}


def stored_form(value: Native) -> Optional[bytes]:
    """Equal for values that are stored alike: unlike ==, which finds that 1 is True, and that NaN is not NaN."""
    if value is None:
        return None
    out = type_of("Value")()
    set_value(out, value)
    return out.SerializeToString()


def check_with(declaration: Declaration, others: Mapping[str, Declaration]) -> None:
    """Refuse a rule that writes what another one writes, or that makes a circle with others. ValueError."""
    for name, other in others.items():
        shared = set(declaration.targets) & set(other.targets) if other.dependents == declaration.dependents else None
        if shared:
            raise ValueError(f"the rule {name} keeps {', '.join(sorted(shared))} of {other.dependents} already")
    circle = find_circle({edge for one in (declaration, *others.values()) for edge in one.edges()})
    if circle:
        raise ValueError("the copies would go in a circle: " + " -> ".join(f"{table}.{name}" for table, name in circle))


def find_circle(edges: Iterable[tuple[Any, Any]]) -> list[Any]:
    """The nodes of a circle, the first one again at the end; empty: there is none."""
    following: dict[Any, list[Any]] = {}
    for one, other in sorted(edges):
        following.setdefault(one, []).append(other)
    done: set[Any] = set()
    for start in following:
        path, ahead = [start], [iter(following[start])]
        while ahead:
            node = next(ahead[-1], None)
            if node is None:
                done.add(path.pop())
                ahead.pop()
            elif node in path:
                return path[path.index(node):] + [node]
            elif node not in done:
                path.append(node)
                ahead.append(iter(following.get(node, ())))
    return []
