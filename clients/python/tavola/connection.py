# SPDX-License-Identifier: Apache-2.0
"""The connection: TLS, credentials, deadlines, and the one place where calls are repeated (docs/callers.md)."""

import os
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional, Union

import grpc

from tavola import errors
from tavola.credentials import Renewing, Token
from tavola.descriptors import METHODS, Method

DEFAULT_TARGET = "127.0.0.1:50051"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 2.0
STREAM_SECONDS = 300  # of one stream, which is then resumed: a dead server is noticed by keepalive long before
OPTIONS = [
    ("grpc.enable_retries", 0),  # calls are repeated here, and only here
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 2_000),
    ("grpc.max_reconnect_backoff_ms", 500),
]


@dataclass(frozen=True)
class Tls:
    """Files in PEM: the authorities of the server's certificate (empty: those of the system), and, for a server that asks
    for one, the client's certificate and its key.
    """

    ca: str = ""
    certificate: str = ""
    key: str = ""


def _read(path: str) -> Optional[bytes]:
    if not path:
        return None
    with open(path, "rb") as file:
        return file.read()


def _tls_of(tls: Union[None, bool, str, Tls]) -> Optional[Tls]:
    """None: what TAVOLA_CA says; True: the system's authorities; a text: a file of authorities."""
    if tls is None:
        ca = os.environ.get("TAVOLA_CA", "")
        return Tls(ca, os.environ.get("TAVOLA_CLIENT_CERT", ""), os.environ.get("TAVOLA_CLIENT_KEY", "")) if ca else None
    if isinstance(tls, bool):
        return Tls() if tls else None
    return Tls(tls) if isinstance(tls, str) else tls


def _token_of(token: Optional[Token]) -> Optional[Token]:
    if token is not None:
        return token
    path = os.environ.get("TAVOLA_TOKEN_FILE")
    if not path:
        return os.environ.get("TAVOLA_TOKEN")

    def read_again() -> str:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()

    return read_again


def _stays_on_machine(target: str) -> bool:
    host = target.removeprefix("dns:///")
    return host.startswith(("unix:", "127.", "localhost:", "[::1]"))


def _channel(target: str, tls: Optional[Tls]) -> grpc.Channel:
    if tls is None:
        return grpc.insecure_channel(target, options=OPTIONS)
    credentials = grpc.ssl_channel_credentials(_read(tls.ca), _read(tls.key), _read(tls.certificate))
    return grpc.secure_channel(target, credentials, options=OPTIONS)


class Pauses:
    """The pauses between attempts: they double up to two seconds, a part of them is random, and none is shorter than the
    server asks for.
    """

    def __init__(self, channel: grpc.Channel, deadline: float):
        self.channel = channel
        self.deadline = deadline
        self.pause = FIRST_PAUSE_S
        self.stopped = threading.Event()

    def wait(self, error: errors.Error) -> bool:
        """Pause; False at once if the deadline would pass meanwhile."""
        pause = max(error.retry_after or 0, self.pause) * random.uniform(1, 1.5)
        self.pause = min(self.pause * 2, LONGEST_PAUSE_S)
        if time.monotonic() + pause >= self.deadline:
            return False
        return self._pause(pause, isinstance(error, errors.Unavailable))

    def _pause(self, seconds: float, is_down: bool) -> bool:
        """gRPC goes on with a connection only while somebody waits for the channel: otherwise an attempt to connect would
        expire during the pause, and the next call would get its error although the service is back.
        """
        ready = grpc.channel_ready_future(self.channel) if is_down else None
        try:
            return not self.stopped.wait(seconds)
        finally:
            if ready:
                ready.cancel()


def passes(error: errors.Error) -> bool:
    """Whether the same call may succeed later. A stopping server can end a call as CANCELLED without a reason."""
    return (isinstance(error, errors.Unavailable)
            or isinstance(error, errors.ResourceExhausted) and error.retry_after is not None
            or isinstance(error, errors.Cancelled) and not error.reason)


def is_repeatable(method: Method, request: Any) -> bool:
    """Whether an attempt whose outcome is not known does no harm when it is repeated."""
    has_id = "request_id" in method.request.DESCRIPTOR.fields_by_name
    return method.repeatable and (not has_id or bool(request.request_id))


def answered(name: str, reply: Any) -> Any:
    """The reply. gRPC has none for a call that was ended as if it was well, such as by a proxy."""
    if reply is None:
        raise errors.Internal(f"the service has ended {name}, and has not answered it")
    return reply


class Connection:
    """A channel to the service. Thread-safe."""

    def __init__(self, target: Optional[str], token: Optional[Token], tls: Union[None, bool, str, Tls], timeout: float):
        self.target = target or os.environ.get("TAVOLA_TARGET") or DEFAULT_TARGET
        self.timeout = timeout
        self.token = Renewing(_token_of(token))
        tls = _tls_of(tls)
        if self.token and tls is None and not _stays_on_machine(self.target):
            raise ValueError(f"a token would go to {self.target} in plain text: give tls=True, or a file of authorities")
        self.channel = _channel(self.target, tls)

    def close(self) -> None:
        self.channel.close()

    def pauses(self, seconds: Optional[float] = None) -> Pauses:
        """Between attempts that may take so long in all; None: as long as a call."""
        return Pauses(self.channel, time.monotonic() + (self.timeout if seconds is None else seconds))

    def metadata(self) -> list[tuple[str, str]]:
        return [("authorization", "Bearer " + (self.token.text() or ""))] if self.token else []

    def stub(self, method: Method) -> Any:
        kind = f"{'stream' if method.requests_are_stream else 'unary'}_{'stream' if method.replies_are_stream else 'unary'}"
        make = getattr(self.channel, kind)
        return make(method.path, method.request.SerializeToString, method.reply.FromString)

    def call(self, name: str, request: Any, timeout: Optional[float] = None) -> Any:
        """The reply to a unary call, which is repeated as docs/callers.md allows until `timeout` seconds have passed."""
        method = METHODS[name]
        pauses = self.pauses(timeout or self.timeout)
        repeatable = is_repeatable(method, request)
        while True:
            try:
                left = max(pauses.deadline - time.monotonic(), 0.001)
                return answered(name, self.stub(method)(request, timeout=left, metadata=self.metadata()))
            except grpc.RpcError as failed:
                error = errors.of_call(failed)
            may_repeat = passes(error) and (repeatable or error.reason in errors.NOTHING_DONE)
            if not may_repeat or not pauses.wait(error):
                raise error

    def open(self, name: str, request: Any, timeout: float = STREAM_SECONDS) -> Any:
        """Open a stream once; errors come as grpc.RpcError from the iterator."""
        return self.stub(METHODS[name])(request, timeout=timeout, metadata=self.metadata())


class ResumedStream:
    """The messages of ScanEntities or WatchEntities: after a break the stream goes on from the resume_token of the last one. A failure
    is raised when no message has come for as long as a call of the connection may take, or for what be_patient says. With is_whole a
    break after the first message is raised: the stream cannot be resumed.
    """

    def __init__(self, connection: Connection, name: str, request: Any, is_whole: bool = False):
        self.connection, self.name, self.request, self.is_whole = connection, name, request, is_whole
        self.has_begun = False
        self.patience: Optional[float] = connection.timeout
        self.call: Any = None
        self.ended = False
        self.pauses: Optional[Pauses] = None

    def cancel(self) -> None:
        """End the iteration, from any thread."""
        self.ended = True
        if self.pauses:
            self.pauses.stopped.set()
        if self.call:
            self.call.cancel()

    def be_patient(self, seconds: Optional[float]) -> None:
        """Wait this long for the next message, whatever fails; None: for ever."""
        self.patience = seconds
        self.pauses = self._new_pauses()

    def _new_pauses(self) -> Pauses:
        return self.connection.pauses(float("inf") if self.patience is None else self.patience)

    def __iter__(self) -> Iterator[Any]:
        self.pauses = self._new_pauses()
        while not self.ended:
            self.call = self.connection.open(self.name, self.request)
            try:
                for message in self.call:
                    self.has_begun = True
                    self.pauses = self._new_pauses()
                    yield message
                    self.request.resume_token = message.resume_token
                return
            except grpc.RpcError as failed:
                self._after(errors.of_call(failed))
            finally:
                self.call.cancel()

    def _after(self, error: errors.Error) -> None:
        if self.ended:
            return
        resumes = passes(error) or isinstance(error, errors.DeadlineExceeded) and not error.reason
        resumes = resumes and not (self.is_whole and self.has_begun)
        if not resumes or not self.pauses.wait(error) and not self.ended:
            raise error
