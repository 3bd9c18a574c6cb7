# SPDX-License-Identifier: Apache-2.0
"""A tiny collector of traces: it takes OTLP over HTTP and reads the spans by the field numbers of OTLP's documentation, without
the product's own definition of them.
"""

import struct
import types

from tavola_test.loopback_server import LoopbackServer


def fields(message):
    """(number, value) of each field of a protobuf message: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        elif kind == 1:
            yield tag >> 3, struct.unpack_from("<Q", message, at)[0]
            at += 8
        elif kind == 2:
            length = varint()
            if at + length > len(message):
                raise ValueError("a field ends behind its message")
            yield tag >> 3, message[at:at + length]
            at += length
        else:
            raise ValueError(f"wire type {kind}")


def all_of(message, number):
    return [value for found, value in fields(message) if found == number]


def one_of(message, number, default=b""):
    return next(iter(all_of(message, number)), default)


def attributes_of(message, number):
    out = {}
    for pair in all_of(message, number):
        value = one_of(pair, 2)
        text = all_of(value, 1)
        out[one_of(pair, 1).decode()] = text[0].decode() if text else one_of(value, 3, 0)
    return out


def spans_of(body):
    """The spans of an ExportTraceServiceRequest."""
    for resource_spans in all_of(body, 1):
        program = attributes_of(one_of(resource_spans, 1), 1)
        for scope_spans in all_of(resource_spans, 2):
            assert one_of(one_of(scope_spans, 1), 1) == b"tavola"
            for span in all_of(scope_spans, 2):
                status = one_of(span, 15)
                yield types.SimpleNamespace(
                    program=program["service.name"],
                    instance=program.get("service.instance.id"),
                    trace=one_of(span, 1).hex(),
                    id=one_of(span, 2).hex(),
                    parent=one_of(span, 4).hex(),
                    name=one_of(span, 5).decode(),
                    kind=one_of(span, 6, 0),
                    begun=one_of(span, 7, 0),
                    ended=one_of(span, 8, 0),
                    attributes=attributes_of(span, 9),
                    failure=one_of(status, 2).decode() if one_of(status, 3, 0) == 2 else None,
                )


class Collector(LoopbackServer):
    """answer: the status of each reply; wanted: headers without which a request is answered 401."""

    def __init__(self, certificate=None, wanted=None):
        self.answer, self.bodies, self.wanted = 200, [], wanted or {}
        super().__init__(certificate)

    def respond(self, request):
        if any(request.headers[name] != value for name, value in self.wanted.items()):
            return 401, {}, b""
        if self.answer == 200:
            assert (request.path, request.headers["Content-Type"]) == ("/v1/traces", "application/x-protobuf")
            self.bodies.append(request.body)
        return self.answer, {}, b""

    def spans(self, trace=None):
        found = [span for body in list(self.bodies) for span in spans_of(body)]
        return [span for span in found if trace in (None, span.trace)]
