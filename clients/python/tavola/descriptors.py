# SPDX-License-Identifier: Apache-2.0
"""The messages and methods of the API, made from its descriptors when the package is imported.

An installed package carries the descriptors; in the source tree they are read from api/ by protoc.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

HERE = pathlib.Path(__file__).resolve().parent


def _api_folder() -> pathlib.Path:
    folder = HERE.parents[2] / "api"
    if not (folder / "service_config_request_ids.json").exists():
        raise ImportError("tavola was copied, not installed: run pip install on its folder, which adds the API's descriptors")
    return folder


def _compile() -> bytes:
    """The descriptors of the source tree."""
    api = _api_folder()
    protoc = [shutil.which("protoc")] if shutil.which("protoc") else [sys.executable, "-m", "grpc_tools.protoc"]
    names = sorted(str(path.relative_to(api)) for path in api.rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as out:
        try:
            subprocess.run([*protoc, f"-I{api}", "--include_imports", f"--descriptor_set_out={out.name}", *names], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise ImportError("protoc is needed: install Debian's protobuf-compiler, or grpcio-tools from PyPI") from error
        return pathlib.Path(out.name).read_bytes()


def _load() -> "descriptor_pb2.FileDescriptorSet":
    packed = HERE / "descriptors.pb"
    return descriptor_pb2.FileDescriptorSet.FromString(packed.read_bytes() if packed.exists() else _compile())


@dataclass(frozen=True)
class Method:
    """One method: its path on the wire, its messages, and which sides are streams."""

    path: str
    request: Any
    reply: Any
    requests_are_stream: bool
    replies_are_stream: bool
    repeatable: bool  # harmless to repeat, given a request_id where the request has one


_FILES = _load()
_POOL = descriptor_pool.DescriptorPool()
for _file in _FILES.file:
    _POOL.Add(_file)


def message(name: str) -> Any:
    """The class of a message, by its full name."""
    descriptor = _POOL.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):  # protobuf from 4.22 on
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(_POOL).GetPrototype(descriptor)


def type_of(name: str) -> Any:
    """The class of a message of tavola.v1."""
    return message("tavola.v1." + name)


def enum_name(name: str, number: int, prefix: str) -> str:
    """The name of an enum's value without its prefix; the number as text for a value that is newer than this package."""
    value = _POOL.FindEnumTypeByName("tavola.v1." + name).values_by_number.get(number)
    return value.name[len(prefix):] if value else str(number)


def enum_number(name: str, value: str, prefix: str) -> int:
    """The number of an enum's value, given by its name in any case and without its prefix."""
    values = _POOL.FindEnumTypeByName("tavola.v1." + name).values_by_name
    found = values.get(prefix + value.upper())
    if found is None:
        allowed = ", ".join(sorted(key[len(prefix):].lower() for key in values if not key.endswith("UNSPECIFIED")))
        raise ValueError(f"{value!r} is not a {name}: {allowed}")
    return found.number


def _methods() -> dict[str, Method]:
    packed = HERE / "repeatable.json"
    text = (packed if packed.exists() else _api_folder() / "service_config_request_ids.json").read_text(encoding="utf-8")
    repeatable = {f"{one['service']}/{one['method']}" for part in json.loads(text)["methodConfig"] for one in part["name"]}
    found = {}
    for file in _FILES.file:
        for service in file.service if file.package == "tavola.v1" else ():
            for method in service.method:
                name = f"{service.name}/{method.name}"
                found[name] = Method(
                    path=f"/tavola.v1.{name}",
                    request=message(method.input_type[1:]),
                    reply=message(method.output_type[1:]),
                    requests_are_stream=method.client_streaming,
                    replies_are_stream=method.server_streaming,
                    repeatable=f"tavola.v1.{name}" in repeatable,
                )
    return found


METHODS = _methods()
