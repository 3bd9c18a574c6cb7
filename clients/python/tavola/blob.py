# SPDX-License-Identifier: Apache-2.0
"""Blobs: contents that are put and read as streams. After a break an upload goes on behind what is stored, and a read behind
what was received.
"""

import hashlib
import io
import threading
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Optional, Union

import grpc

from tavola import errors
from tavola.connection import STREAM_SECONDS, Connection, answered, passes
from tavola.descriptors import METHODS, type_of
from tavola.values import timestamp_of

MESSAGE_BYTES = 256 * 1024
Source = Union[bytes, bytearray, memoryview, BinaryIO, Iterable[bytes]]


@dataclass(frozen=True)
class Blob:
    """What a blob is; `etag` is the version of its content, `sha256` the 32 bytes of its digest, `reference` what a property of an
    entity has to hold a content that was put without a name."""

    name: str
    size: int
    content_type: str
    sha256: bytes
    etag: str
    created: Any
    reference: str = ""


def decode(found: Any) -> Blob:
    """The description of a message tavola.v1.Blob."""
    return Blob(found.name, found.size, found.content_type, found.sha256, found.etag, timestamp_of(found.created), found.reference)


def resumes(error: errors.Error) -> bool:
    """Whether a stream that ended like this may be continued by another one."""
    return passes(error) or isinstance(error, errors.DeadlineExceeded) and not error.reason


# ---- put ----


def _file_of(source: Source) -> Optional[BinaryIO]:
    """The source as a file that can be read again from any position; None: it can be read once only."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return io.BytesIO(source)
    return source if hasattr(source, "seekable") and source.seekable() else None


def _parts_of(source: Any) -> Iterator[bytes]:
    """What a file or an iterable still has, in parts of at most MESSAGE_BYTES."""
    if hasattr(source, "read"):
        while part := source.read(MESSAGE_BYTES):
            yield part
        return
    for part in source:
        view = memoryview(part).cast("B")
        for at in range(0, len(view), MESSAGE_BYTES):
            yield bytes(view[at:at + MESSAGE_BYTES])


class Upload:
    """A put, with all its streams. header: the fields of PutBlobHeader."""

    def __init__(self, connection: Connection, source: Source, header: dict[str, Any]):
        self.connection, self.source, self.header = connection, source, header
        self.file = _file_of(source)
        self.start = self.file.tell() if self.file else 0
        self.reading = threading.Lock()
        self.failure: Optional[Exception] = None  # of the source
        self.may_be_complete = False  # a stream has sent everything, and its answer did not come

    def run(self) -> Any:
        """The reply to the put; the errors of the call."""
        if self.file is None:
            return self.send(_parts_of(self.source), 0, None)
        offset = 0
        if self.header.get("upload_id"):
            offset = self.stored()
        else:
            self.header["upload_id"] = uuid.uuid4().hex
        pauses = self.connection.pauses()
        while True:
            try:
                return self.send(self.parts_from(offset), offset, STREAM_SECONDS)
            except errors.Error as error:
                if not (resumes(error) or error.reason == "UPLOAD_OFFSET_MISMATCH") or not pauses.wait(error):
                    raise
            before, offset = offset, self.stored()
            if offset > before:
                pauses = self.connection.pauses()

    def parts_from(self, offset: int) -> Iterator[bytes]:
        """Each read says where: gRPC's thread of a stream that has broken may still be reading for it."""
        position = self.start + offset
        while True:
            with self.reading:
                self.file.seek(position)
                part = self.file.read(MESSAGE_BYTES)
            if not part:
                return
            yield part
            position += len(part)

    def stored(self) -> int:
        """The bytes that the service has; a complete upload is answered at once, without bytes."""
        try:
            found = self.connection.call("BlobService/GetUpload", METHODS["BlobService/GetUpload"].request(
                upload_id=self.header["upload_id"]))
        except errors.NotFound as error:
            if self.may_be_complete:
                raise errors.OutcomeUnknown(
                    "the blob was put, and was replaced or deleted since; or its upload was abandoned",
                    reason="OUTCOME_UNKNOWN") from error
            return 0
        return 0 if found.complete else found.stored

    def messages(self, parts: Iterator[bytes], offset: int) -> Iterator[Any]:
        make = type_of("PutBlobRequest")
        yield make(header=type_of("PutBlobHeader")(**self.header, offset=offset))
        try:
            for part in parts:
                yield make(content=part)
        except Exception as failure:
            self.failure = failure
            raise
        self.may_be_complete = True
        yield make(end=True)

    def send(self, parts: Iterator[bytes], offset: int, seconds: Optional[float]) -> Any:
        try:
            reply = self.connection.open("BlobService/PutBlob", self.messages(parts, offset), seconds)
        except grpc.RpcError as failed:
            raise self.failure or errors.of_call(failed) from None
        return answered("BlobService/PutBlob", reply)


def put(connection: Connection, source: Source, **header: Any) -> Any:
    """The reply to a put. header: the fields of PutBlobHeader; an empty upload_id is none."""
    return Upload(connection, source, {name: value for name, value in header.items() if value or name != "upload_id"}).run()


# ---- get ----


class BlobReader:
    """The bytes of a blob, or of a range of it: an iterator of parts that can be run through once.

    blob  the description of the whole blob; it is read when it is first asked for

    The last part comes before the service, and this reader, have compared the whole with its SHA-256: use the parts when the
    iteration has ended.
    """

    def __init__(self, connection: Connection, request: Any):
        self.connection, self.request = connection, request
        self.offset, self.length = request.offset, request.length
        self.received = 0
        self.whole = hashlib.sha256()
        self.call: Any = None
        self._blob: Optional[Blob] = None
        self._parts = self._run()

    @property
    def blob(self) -> Blob:
        if self._blob is None:
            self._parts = self._with_first(next(self._parts, b""), self._parts)
        return self._blob

    @staticmethod
    def _with_first(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
        if first:
            yield first
        yield from rest

    def read(self) -> bytes:
        """All bytes, compared."""
        return b"".join(self)

    def close(self) -> None:
        """End the read early."""
        if self.call:
            self.call.cancel()

    def __enter__(self) -> "BlobReader":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._parts)

    def _run(self) -> Iterator[bytes]:
        pauses = self.connection.pauses()
        while True:
            received = self.received
            try:
                yield from self._stream()
                return self._compare()
            except grpc.RpcError as failed:
                error = errors.of_call(failed)
            finally:
                self.close()
            if self.received > received:
                pauses = self.connection.pauses()
            if not resumes(error) or not pauses.wait(error):
                raise error

    def _stream(self) -> Iterator[bytes]:
        """The bytes behind those that were received, of the same content."""
        self.request.offset = self.offset + self.received
        if self.length and self._blob:
            self.request.length = self.length - self.received
            if self.request.length == 0:
                return
        self.call = self.connection.open("BlobService/GetBlob", self.request)
        for reply in self.call:
            if reply.HasField("blob"):
                self._blob = decode(reply.blob)
                if not self.request.reference:  # that is of one content for ever
                    self.request.if_match = self._blob.etag
            if reply.content:
                self.received += len(reply.content)
                self.whole.update(reply.content)
                yield reply.content

    def _compare(self) -> None:
        if self.received == self._blob.size and self.whole.digest() != self._blob.sha256:
            raise errors.Internal("the bytes that arrived do not have the SHA-256 of the blob", reason="BLOB_DAMAGED")
