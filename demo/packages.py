# SPDX-License-Identifier: Apache-2.0
"""Debian's package index as entities: `apt-cache dumpavail`, a paragraph per package.

An entity's PartitionKey is the package's section, its RowKey the package's name. Properties are pairs
(kind, value), the kind being the field of tavola.v1.Value that holds the value.
"""

import subprocess

_FIELDS = {
    "Version": ("Version", "string_value", str),
    "Architecture": ("Architecture", "string_value", str),
    "Maintainer": ("Maintainer", "string_value", str),
    "Priority": ("Priority", "string_value", str),
    "Source": ("Source", "string_value", str),
    "Homepage": ("Homepage", "string_value", str),
    "Description": ("Description", "string_value", str),
    "Tag": ("Tags", "string_value", str),
    "Filename": ("Filename", "string_value", str),
    "Installed-Size": ("InstalledSize", "int64_value", int),
    "Size": ("Size", "int64_value", int),
    "Essential": ("Essential", "boolean_value", lambda text: text == "yes"),
    "SHA256": ("Sha256", "binary_value", bytes.fromhex),
    "Depends": ("Dependencies", "int32_value", lambda text: text.count(",") + 1),
}

# longer than a string property may be: Debian has none, but the index may be another distribution's
_LONGEST = 32000

_FORBIDDEN_IN_KEYS = str.maketrans({c: ":" for c in '/\\#?'})


def paragraphs(lines):
    """The fields of one package after the other; lines that go on are joined by a newline."""
    fields, last = {}, None
    for line in lines:
        line = line.rstrip("\n")
        if not line:
            if fields:
                yield fields
            fields, last = {}, None
        elif line[0] in " \t":
            if last:
                fields[last] += "\n" + line.strip()
        else:
            last, _, value = line.partition(":")
            fields[last] = value.strip()
    if fields:
        yield fields


def entity_of(fields):
    """((section, package), properties) of a paragraph."""
    key = (fields["Section"].translate(_FORBIDDEN_IN_KEYS), fields["Package"])
    properties = {}
    for field, (name, kind, convert) in _FIELDS.items():
        if field in fields:
            properties[name] = (kind, convert(fields[field][:_LONGEST]))
    return key, properties


def from_lines(lines, most=None):
    """{key: properties}. Of several versions of a package the first one counts; what has no file is installed
    here and in no archive."""
    entities, names = {}, set()
    for fields in paragraphs(lines):
        if fields.get("Package") in names or not all(
            fields.get(name) for name in ("Package", "Version", "Section", "Maintainer", "Architecture", "Filename")
        ):
            continue
        names.add(fields["Package"])
        key, properties = entity_of(fields)
        entities[key] = properties
        if len(entities) == most:
            break
    return entities


def read(most=None):
    """The packages in the index of this machine."""
    with subprocess.Popen(
        ["apt-cache", "dumpavail"], stdout=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as process:
        entities = from_lines(process.stdout, most)
        process.stdout.close()
    return entities
