#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How a program learns why a call failed: examples/reason.py TABLE [TARGET]

Asks for a table and prints "found", or the code, the reason and the metadata of the refusal. Needs Debian's
python3-grpcio, python3-protobuf and protobuf-compiler. TARGET is TAVOLA_TARGET, or
127.0.0.1:50051, unless given; with TAVOLA_TOKEN set, its token goes with the call.
"""

import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

import grpc

API = pathlib.Path(__file__).resolve().parent.parent / "api"
STUBS = tempfile.TemporaryDirectory()
FILES = [str(path.relative_to(API)) for path in sorted(API.rglob("*.proto"))]
subprocess.run(["protoc", f"-I{API}", f"--python_out={STUBS.name}", *FILES], check=True)
pathlib.Path(STUBS.name, "tavola/__init__.py").touch()  # goes before an installed package of the name
sys.path.insert(0, STUBS.name)
tables = importlib.import_module("tavola.v1.table_service_pb2")
status_pb, details_pb = (importlib.import_module(f"google.rpc.{name}_pb2") for name in ("status", "error_details"))


def reason_of(error):
    """The google.rpc.ErrorInfo of a call that failed, or None: the transport's own failures have none."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb.Status.FromString(value).details:
                if detail.Is(details_pb.ErrorInfo.DESCRIPTOR):
                    return details_pb.ErrorInfo.FromString(detail.value)
    return None


target = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("TAVOLA_TARGET", "127.0.0.1:50051")
channel = grpc.insecure_channel(target)
get_table = channel.unary_unary(
    "/tavola.v1.TableService/GetTable",
    request_serializer=tables.GetTableRequest.SerializeToString,
    response_deserializer=tables.GetTableResponse.FromString,
)
token = [("authorization", f"Bearer {os.environ['TAVOLA_TOKEN']}")] if "TAVOLA_TOKEN" in os.environ else []
try:
    get_table(tables.GetTableRequest(name=sys.argv[1]), timeout=30, metadata=token)
    print("found")
except grpc.RpcError as error:
    info = reason_of(error)
    if info is None:
        raise
    print(error.code().name, info.reason, dict(info.metadata))
