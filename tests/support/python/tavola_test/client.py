# SPDX-License-Identifier: Apache-2.0
"""A thin client, made from the API's descriptors: one function per method, errors with code and reason."""

import re
import struct
import threading
import types as types_module

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tavola_test.settings import DESCRIPTORS, TIMEOUT_FACTOR


class Types:
    """Message classes by full name, from a FileDescriptorSet."""

    def __init__(self, files):
        self.pool = descriptor_pool.DescriptorPool()
        self.factory = message_factory.MessageFactory(self.pool)
        self.files = files
        self.services = []
        for file in files:
            self.pool.Add(file)
        for file in files:
            prefix = file.package + "." if file.package else ""
            self.services += [prefix + service.name for service in file.service]

    def message(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))

    def methods(self):
        """(path, method descriptor) of every method."""
        for name in self.services:
            for method in self.pool.FindServiceByName(name).methods:
                yield f"/{name}/{method.name}", method

    def package(self, name):
        """The messages, enums' constants and methods ({"Service/Method": descriptor}) of a package as attributes."""
        out = types_module.SimpleNamespace(methods={})
        for file in self.files:
            if file.package != name:
                continue
            for message in file.message_type:
                setattr(out, message.name, self.message(f"{name}.{message.name}"))
            for enum in file.enum_type:
                for constant in enum.value:
                    setattr(out, constant.name, constant.number)
        for path, method in self.methods():
            if path.startswith(f"/{name}."):
                out.methods[path.removeprefix(f"/{name}.")] = method
        return out

    def is_streamed(self, method):
        """Which sides of the method are streams: (requests, responses)."""
        file = descriptor_pb2.FileDescriptorProto()
        method.containing_service.file.CopyToProto(file)
        for service in file.service:
            if service.name == method.containing_service.name:
                found = next(m for m in service.method if m.name == method.name)
                return found.client_streaming, found.server_streaming
        raise LookupError(method.full_name)


def read_types(path):
    with open(path, "rb") as file:
        return Types(descriptor_pb2.FileDescriptorSet.FromString(file.read()).file)


def calls_of(all_types):
    """(name of the function, path, request, response, whether a side is a stream) of every method of the product."""
    return [
        (re.sub(r"(?<!^)(?=[A-Z])", "_", method.name).lower(), path, all_types.message(method.input_type.full_name),
         all_types.message(method.output_type.full_name), any(all_types.is_streamed(method)))
        for path, method in all_types.methods()
        if path.startswith("/tavola.")
    ]


types = read_types(DESCRIPTORS)
CALLS = calls_of(types)
Value = types.message("tavola.v1.Value")
Entity = types.message("tavola.v1.Entity")
EntityKey = types.message("tavola.v1.EntityKey")
BatchOperation = types.message("tavola.v1.BatchOperation")
ErrorInfo = types.message("google.rpc.ErrorInfo")
RetryInfo = types.message("google.rpc.RetryInfo")
BadRequest = types.message("google.rpc.BadRequest")
Status = types.message("google.rpc.Status")
ImportEntitiesRequest = types.message("tavola.v1.ImportEntitiesRequest")
ReflectionRequest = types.message("grpc.reflection.v1.ServerReflectionRequest")


# Reason and text of a call whose deadline passes while the client reads the answer: the reason is the server's, the text the library's.
LATE_TEXT = ("OPERATION_TIMED_OUT", "Deadline Exceeded")


class ApiError(Exception):
    """A call that failed: the code and, if the product sent one, the ErrorInfo. Its message begins with the reason."""

    def __init__(self, error):
        self.code = error.code().name
        self.message = error.details()
        self.reason = None
        self.domain = None
        self.metadata = {}
        self.retry_seconds = None
        self.fields = {}
        self.entity = None
        for name, value in error.trailing_metadata() or ():
            if name == "grpc-status-details-bin":
                self.read_details(value)
        if self.reason and (self.reason, self.message) != LATE_TEXT:
            begin, _, self.message = self.message.partition(": ")
            assert begin == self.reason, f"the message begins with {begin}, not with {self.reason}"
        super().__init__(f"{self.code} / {self.reason}: {self.message} {self.metadata}")

    def read_details(self, encoded):
        status = Status.FromString(encoded)
        infos = [detail for detail in status.details if detail.type_url.endswith("/google.rpc.ErrorInfo")]
        assert len(infos) == 1, "exactly one ErrorInfo"
        info = ErrorInfo.FromString(infos[0].value)
        self.reason, self.domain, self.metadata = info.reason, info.domain, dict(info.metadata)
        for detail in status.details:
            if detail.type_url.endswith("/google.rpc.RetryInfo"):
                self.retry_seconds = RetryInfo.FromString(detail.value).retry_delay.seconds
            elif detail.type_url.endswith("/google.rpc.BadRequest"):
                violations = BadRequest.FromString(detail.value).field_violations
                self.fields = {violation.field: violation.description for violation in violations}
        for detail in status.details:
            if detail.type_url.endswith("/tavola.v1.Entity"):
                self.entity = Entity.FromString(detail.value)


# values


def int32(number):
    return Value(int32_value=number)


def guid(text):
    return Value(guid_value=text)


def when(seconds, nanos=0):
    value = Value()
    value.datetime_value.seconds = seconds
    value.datetime_value.nanos = nanos
    return value


def value(given):
    """str, bool, int (64 bits), float and bytes become values; None becomes null; a Value stays unchanged."""
    if given is None:
        return Value()
    if isinstance(given, Value):
        return given
    kind = {str: "string", bool: "boolean", int: "int64", float: "double", bytes: "binary"}[type(given)]
    return Value(**{kind + "_value": given})


def entity(partition_key, row_key, properties=None, **more):
    out = Entity(partition_key=partition_key, row_key=row_key)
    for name, given in {**(properties or {}), **more}.items():
        out.properties[name].CopyFrom(value(given))
    return out


def contents(of):
    """The properties of an entity in a form that compares exactly: NaN and -0.0 too."""
    return {name: given.SerializeToString(deterministic=True) for name, given in of.properties.items()}


def plain(of):
    """The properties of an entity as Python values."""
    return {name: getattr(given, given.WhichOneof("kind")) for name, given in of.properties.items()}


def key(of):
    return EntityKey(partition_key=of[0], row_key=of[1])


def match(etag="*"):
    return {"if_match": etag}


def raw_field(number, payload):
    """A length-delimited field as it stands on the wire, with any content."""
    if isinstance(payload, str):
        payload = payload.encode()
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(number):
    out = b""
    while number > 0x7F:
        out += struct.pack("B", number & 0x7F | 0x80)
        number >>= 7
    return out + struct.pack("B", number)


class Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Adds a token to every call."""

    def __init__(self, token):
        self.token = token

    def intercept_unary_unary(self, continuation, details, request):
        return continuation(self.with_token(details), request)

    def intercept_unary_stream(self, continuation, details, request):
        return continuation(self.with_token(details), request)

    def intercept_stream_stream(self, continuation, details, requests):
        return continuation(self.with_token(details), requests)

    def with_token(self, details):
        metadata = [*(details.metadata or ()), ("authorization", "Bearer " + self.token)]
        return details._replace(metadata=metadata)


class Client:
    """client.insert_entity(table=..., entity=...) and so on; fields of the request are keyword arguments."""

    def __init__(self, target, credentials=None, options=(), token=None, seconds=20):
        self.seconds, self.stream_seconds = seconds, 30
        usual = {
            "grpc.use_local_subchannel_pool": 1,
            "grpc.enable_retries": 0,
            "grpc.initial_reconnect_backoff_ms": 50,
            "grpc.min_reconnect_backoff_ms": 1000,
            "grpc.max_reconnect_backoff_ms": 200,
        }
        options = list({**usual, **dict(options)}.items())
        if credentials:
            self.channel = grpc.secure_channel(target, credentials, options=options)
        else:
            self.channel = grpc.insecure_channel(target, options=options)
        if token is not None:
            self.channel = grpc.intercept_channel(self.channel, Bearer(token))
        for name, path, request_type, response_type, is_streamed in CALLS:
            make = self.stream_function if is_streamed else self.function
            setattr(self, name, make(path, request_type, response_type))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def hang_up(self):
        """Close the channel, and do not wait: the library waits until what it has begun to write is written, and a server that
        stands still reads nothing.
        """
        threading.Thread(target=self.channel.close, daemon=True).start()

    def function(self, path, request_type, response_type):
        def call(timeout=None, **fields):
            bytes_out = request_type(**fields).SerializeToString()
            return response_type.FromString(self.raw(path, bytes_out, timeout or self.seconds))

        return call

    def stream_function(self, path, request_type, response_type):
        rpc = self.channel.stream_stream(path, request_type.SerializeToString, response_type.FromString)

        def call(requests, timeout=None):
            try:
                yield from rpc(iter(requests), timeout=(timeout or self.stream_seconds) * TIMEOUT_FACTOR)
            except grpc.RpcError as error:
                raise ApiError(error) from None

        return call

    def raw(self, path, message, timeout=20):
        """Sends and receives bytes without decoding them."""
        try:
            return self.channel.unary_unary(path)(message, timeout=timeout * TIMEOUT_FACTOR)
        except grpc.RpcError as error:
            raise ApiError(error) from None

    def start(self, path, message, timeout=20):
        """Begin a unary call; returns a future of bytes."""
        return self.channel.unary_unary(path).future(message, timeout=timeout * TIMEOUT_FACTOR)

    def cancel(self, call):
        """Cancel a call, and have the server told: while no call is under way, the library sends what is left only every
        five seconds, and a part of it each time.
        """
        call.cancel()
        self.health()

    # health

    def health(self, service="", timeout=20):
        request = types.message("grpc.health.v1.HealthCheckRequest")(service=service)
        response = types.message("grpc.health.v1.HealthCheckResponse")
        reply = self.raw("/grpc.health.v1.Health/Check", request.SerializeToString(), timeout)
        return self.health_name(response.FromString(reply))

    @staticmethod
    def health_name(response):
        field = response.DESCRIPTOR.fields_by_name["status"]
        return field.enum_type.values_by_number[response.status].name

    def health_watch(self, service="", timeout=30):
        """The stream of statuses; cancel() ends it."""
        request = types.message("grpc.health.v1.HealthCheckRequest")
        response = types.message("grpc.health.v1.HealthCheckResponse")
        rpc = self.channel.unary_stream(
            "/grpc.health.v1.Health/Watch", request.SerializeToString, response.FromString
        )
        return rpc(request(service=service), timeout=timeout * TIMEOUT_FACTOR)

    # reflection

    def reflect(self, version, requests):
        response = types.message(f"grpc.reflection.{version}.ServerReflectionResponse")
        request = types.message(f"grpc.reflection.{version}.ServerReflectionRequest")
        rpc = self.channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request.SerializeToString,
            response.FromString,
        )
        return list(rpc(iter([request(**fields) for fields in requests]), timeout=20 * TIMEOUT_FACTOR))

    # paging

    @staticmethod
    def pages(call, **fields):
        """The replies of all pages, up to the last one."""
        token = ""
        while True:
            reply = call(page_token=token, **fields)
            yield reply
            if not reply.next_page_token:
                return
            token = reply.next_page_token

    def query(self, table, text="", **fields):
        """All entities of a query."""
        pages = self.pages(self.query_entities, query={"table": table, "filter": text}, **fields)
        return [found for page in pages for found in page.entities]

    def lookup(self, index, values, **fields):
        """All entities of a look-up."""
        equals = [value(given) for given in values]
        pages = self.pages(self.lookup_index, index=index, equals=equals, **fields)
        return [found for page in pages for found in page.entities]

    def load(self, table, entities):
        """Import the entities; returns how many were committed."""
        replies = list(self.import_entities([ImportEntitiesRequest(table=table, entities=entities)]))
        assert not any(reply.rejected for reply in replies), replies
        return replies[-1].committed
