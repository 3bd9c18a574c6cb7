#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The reference of the API as one page in Markdown, made from the comments of the protos: the build target api_reference.

usage: api_reference.py API_FOLDER OUT_FILE
"""

import pathlib
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

PACKAGE = "tavola.v1"
File, Message = descriptor_pb2.FileDescriptorProto, descriptor_pb2.DescriptorProto
Enum, Service = descriptor_pb2.EnumDescriptorProto, descriptor_pb2.ServiceDescriptorProto
KINDS = {number: name.removeprefix("TYPE_").lower() for name, number in descriptor_pb2.FieldDescriptorProto.Type.items()}


def files_of(api):
    """The descriptors of the API's own protos, with comments."""
    names = sorted(str(path.relative_to(api)) for path in (api / "tavola").rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", f"-I{api}", "--include_source_info", f"--descriptor_set_out={out.name}", *names], check=True)
        return descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(out.name).read_bytes()).file


class Elements:
    """What a file declares, each with its comment: (kind, full name, descriptor, comment), in the order of the file."""

    def __init__(self, file):
        self.comments = {tuple(one.path): one.leading_comments.strip() for one in file.source_code_info.location}
        self.found = []
        for at, service in enumerate(file.service):
            self.add("service", service.name, service, (File.SERVICE_FIELD_NUMBER, at))
            for number, method in enumerate(service.method):
                path = (File.SERVICE_FIELD_NUMBER, at, Service.METHOD_FIELD_NUMBER, number)
                self.add("method", f"{service.name}.{method.name}", method, path)
        for at, message in enumerate(file.message_type):
            self.add_message("", message, (File.MESSAGE_TYPE_FIELD_NUMBER, at))
        for at, enum in enumerate(file.enum_type):
            self.add_enum("", enum, (File.ENUM_TYPE_FIELD_NUMBER, at))

    def add(self, kind, name, descriptor, path):
        self.found.append((kind, name, descriptor, self.comments.get(path, "")))

    def add_message(self, outer, message, path):
        if message.options.map_entry:
            return
        name = outer + message.name
        self.add("message", name, message, path)
        for at, field in enumerate(message.field):
            self.add("field", f"{name}.{field.name}", field, (*path, Message.FIELD_FIELD_NUMBER, at))
        for at, nested in enumerate(message.nested_type):
            self.add_message(name + ".", nested, (*path, Message.NESTED_TYPE_FIELD_NUMBER, at))
        for at, enum in enumerate(message.enum_type):
            self.add_enum(name + ".", enum, (*path, Message.ENUM_TYPE_FIELD_NUMBER, at))

    def add_enum(self, outer, enum, path):
        self.add("enum", outer + enum.name, enum, path)
        for at, value in enumerate(enum.value):
            self.add("value", f"{outer}{enum.name}.{value.name}", value, (*path, Enum.VALUE_FIELD_NUMBER, at))


def type_of(field):
    kind = field.type_name.removeprefix(f".{PACKAGE}.").lstrip(".") or KINDS[field.type]
    repeated = field.label == field.LABEL_REPEATED
    if repeated and kind.endswith("Entry"):
        return "map"
    return f"repeated {kind}" if repeated else kind


def one_line(comment):
    return " ".join(comment.split()).replace("|", "\\|")


def lines_of(elements):
    """The page's lines of a file's elements."""
    table = False
    for kind, name, found, comment in elements:
        if kind in ("field", "value"):
            if not table:
                yield from ("", "| name | number | type | meaning |", "|---|---|---|---|")
            what = type_of(found) if kind == "field" else ""
            yield f"| `{found.name}` | {found.number} | {what} | {one_line(comment)} |"
            table = True
            continue
        table = False
        if kind == "method":
            sides = ("stream " if found.client_streaming else "", "stream " if found.server_streaming else "")
            types = (found.input_type.rsplit(".", 1)[1], found.output_type.rsplit(".", 1)[1])
            yield from ("", f"### {name}", "", f"`{sides[0]}{types[0]}` -> `{sides[1]}{types[1]}`", "", comment)
        else:
            yield from ("", f"## {kind} {name}", "", comment)


def page(api):
    lines = ["# The API", "", "Made from the protos of this version."]
    for file in files_of(api):
        lines += lines_of(Elements(file).found)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(page(pathlib.Path(sys.argv[1])), encoding="utf-8")
