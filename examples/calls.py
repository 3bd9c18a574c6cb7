# SPDX-License-Identifier: Apache-2.0
"""Calls from Python without generated stubs: call("EntityService/GetEntity", {...}) for the other examples of this folder.

Needs what Debian has: python3-grpcio, python3-protobuf and protobuf-compiler. The address is the program's first argument,
else TAVOLA_TARGET, else 127.0.0.1:50051; with TAVOLA_TOKEN set, its token goes with every call.
"""

import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2
from google.protobuf.json_format import ParseDict

# ---- stubs: messages from protoc; a method is its path and its two messages ----

API = pathlib.Path(__file__).resolve().parent.parent / "api"
FILES = [str(path.relative_to(API)) for path in sorted(API.rglob("*.proto"))]
STUBS = tempfile.TemporaryDirectory()
subprocess.run(["protoc", f"-I{API}", f"--python_out={STUBS.name}", *FILES], check=True)
pathlib.Path(STUBS.name, "tavola/__init__.py").touch()  # goes before an installed package of the name
sys.path.insert(0, STUBS.name)


def load(file):
    return importlib.import_module(file.removesuffix(".proto").replace("/", ".") + "_pb2")


entities, tables, indexes = (load(f"tavola/v1/{name}_service.proto") for name in ("entity", "table", "index"))
operations, transactions = (load(f"tavola/v1/{name}_service.proto") for name in ("operation", "transaction"))
status_pb, details_pb = load("google/rpc/status.proto"), load("google/rpc/error_details.proto")

METHODS = {
    f"/{service.full_name}/{method.name}": method
    for module in (entities, tables, indexes, operations, transactions)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}

# ---- a channel: retries as the service recommends them for writes that have a request_id ----

TARGET = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TAVOLA_TARGET", "127.0.0.1:50051")
CONFIG = (API / "service_config_request_ids.json").read_text()
CHANNEL = grpc.insecure_channel(TARGET, options=[("grpc.service_config", CONFIG)])
METADATA = [("authorization", f"Bearer {os.environ['TAVOLA_TOKEN']}")] if "TAVOLA_TOKEN" in os.environ else []


def kind_of(method):
    """"unary_unary", "unary_stream" or "stream_stream", as the channel names them."""
    declared = descriptor_pb2.MethodDescriptorProto()
    method.CopyToProto(declared)
    return f"{'stream' if declared.client_streaming else 'unary'}_{'stream' if declared.server_streaming else 'unary'}"


def call(path, fields, timeout=30):
    """call("EntityService/GetEntity", {...}): the reply; of streams an iterator. Every call has a deadline.

    Requests stand here as protobuf's JSON, a list of them for a stream; a program with generated stubs writes messages.
    """
    method = METHODS.get(f"/tavola.v1.{path}")
    if method is None:
        raise LookupError(f"there is no method {path}; such as EntityService/GetEntity, see api/tavola/v1")
    kind = kind_of(method)
    stub = getattr(CHANNEL, kind)(
        f"/tavola.v1.{path}",
        request_serializer=method.input_type._concrete_class.SerializeToString,
        response_deserializer=method.output_type._concrete_class.FromString,
    )
    make = method.input_type._concrete_class
    if kind == "stream_stream":
        return stub((ParseDict(one, make()) for one in fields), timeout=timeout, metadata=METADATA)
    return stub(ParseDict(fields, make()), timeout=timeout, metadata=METADATA)


def reason_of(error):
    """(reason, metadata) of a failed call: what programs decide by."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb.Status.FromString(value).details:
                info = details_pb.ErrorInfo()
                if detail.type_url.endswith("google.rpc.ErrorInfo") and info.MergeFromString(detail.value):
                    return info.reason, dict(info.metadata)
    return error.code().name, {}


def person(partition, row, **properties):
    """An entity; every value carries its type."""
    return {
        "partition_key": partition,
        "row_key": row,
        "properties": {
            name: {"int32_value": value} if isinstance(value, int) else {"string_value": value}
            for name, value in properties.items()
        },
    }
