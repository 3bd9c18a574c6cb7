# SPDX-License-Identifier: Apache-2.0
"""The form of a log's lines: strict logfmt, or JSON, as base/log.h defines both."""

import json
import re

_BARE = r"[A-Za-z0-9._:/@+-]+"
_QUOTED = r'"(?:[^"\\\x00-\x1f\x7f]|\\["\\nrt]|\\u00[01][0-9a-f]|\\u007f)*"'
_FIELD = re.compile(rf"([a-z][a-z0-9_]*)=({_BARE}|{_QUOTED})(?: |$)")
_HEAD = ["time", "level", "program", "event"]
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}


def _plain(value):
    if not value.startswith('"'):
        return value
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _LETTERS.get(m[2], m[2]), value[1:-1])


def _fields_of_json(line):
    names = []
    fields = json.loads(line, object_pairs_hook=lambda pairs: names.extend(name for name, _ in pairs) or dict(pairs))
    if len(names) != len(fields):
        raise ValueError(f"has a field twice: {line}")
    return {name: str(value) for name, value in fields.items()}


def _fields_of_logfmt(line):
    fields, at = {}, 0
    while at < len(line):
        found = _FIELD.match(line, at)
        if not found or found[1] in fields:
            raise ValueError(f"not logfmt from column {at + 1} on: {line}")
        fields[found[1]] = _plain(found[2])
        at = found.end()
    return fields


def parse(line):
    """The fields of one line, in their order, as texts. ValueError: the line is not well-formed."""
    fields = _fields_of_json(line) if line.startswith("{") else _fields_of_logfmt(line)
    if list(fields)[:4] != _HEAD or line.endswith(" "):
        raise ValueError(f"does not begin with {' '.join(_HEAD)}: {line}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", fields["time"]):
        raise ValueError(f"has no time: {line}")
    if fields["level"] not in ("debug", "info", "warn", "error"):
        raise ValueError(f"has no level: {line}")
    return fields


# Printed by libpq for what PostgreSQL says while a connection is being made, because it crashes or ends in that moment, or of
# a database with other collations: no program can take the message before libpq returns the connection.
_SAID_WHILE_CONNECTING = re.compile(
    "FATAL:  terminating connection due to unexpected postmaster exit|"
    "WARNING:  terminating connection because of crash of another server process|"
    "DETAIL:  The postmaster has commanded this server process to roll back.*|"
    "HINT:  In a moment you should be able to reconnect to the database.*|"
    'WARNING:  database "[^"]*" has a collation version mismatch|'
    "DETAIL:  The database was created using collation version .*|"
    "HINT:  Rebuild all objects in this database that use the default collation and run .*")


def events(text):
    """All lines of a log, parsed. The last line may be incomplete, because its program was killed or is writing it."""
    return [parse(line) for line in text.split("\n")[:-1] if not _SAID_WHILE_CONNECTING.fullmatch(line)]


def of(text, event, **wanted):
    """The events with this name and these fields."""
    return [found for found in events(text) if found["event"] == event and wanted.items() <= found.items()]
