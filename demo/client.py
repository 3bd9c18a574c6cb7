# SPDX-License-Identifier: Apache-2.0
"""A client of the service that repeats calls until they have succeeded.

Entities are keys (partition, row) and properties {name: (kind, value)}, the kind being a field of Value.
"""

import threading
import time

import grpc

from tavola_test.client import types

_PACKAGE = "tavola.v1"
_TIMEOUT = 30  # seconds for one attempt
_ATTEMPTS = 100
_WAITS = 4  # for a transaction's end, _TIMEOUT each
_PAUSE = 0.05  # seconds before the next attempt
# the end of the server is noticed at once, its return within a tenth of a second
_OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 100),
]
# The call had no effect, or its effect is not known.
_WORTH_ANOTHER_TRY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)


class Conflict(Exception):
    """The entity is not in the state the write asked for. maybe_ours: an earlier attempt of the same write got
    no answer, so it may be the one that changed it."""

    def __init__(self, message, maybe_ours):
        super().__init__(message)
        self.maybe_ours = maybe_ours


class Client:
    def __init__(self, target):
        self.pb = types.package(_PACKAGE)
        self.channel = grpc.insecure_channel(target, options=_OPTIONS)
        self.calls = {}
        self.retries = 0
        self.closed = False
        self.pause = threading.Event()  # never set: a wait that an interrupt ends

    def close(self):
        """Let calls in other threads that are in flight fail."""
        self.closed = True
        self.channel.close()

    def is_worth_another_try(self, error):
        return not self.closed and error.code() in _WORTH_ANOTHER_TRY

    # ---- calls ----

    def method(self, name):
        if name not in self.calls:
            method = self.pb.methods[name]
            kind = self.channel.stream_stream if name.endswith("/ImportEntities") else self.channel.unary_unary
            self.calls[name] = kind(
                f"/{_PACKAGE}.{name}",
                request_serializer=types.message(method.input_type.full_name).SerializeToString,
                response_deserializer=types.message(method.output_type.full_name).FromString,
            )
        return self.calls[name]

    def call(self, name, request, timeout=_TIMEOUT):
        """The reply, after as many attempts as are needed; for requests that may be repeated."""
        for attempt in range(_ATTEMPTS):
            try:
                return self.method(name)(request, timeout=timeout, wait_for_ready=True)
            except grpc.RpcError as error:
                if error.code() == grpc.StatusCode.ABORTED:
                    raise Conflict(error.details(), attempt > 0) from error
                if not self.is_worth_another_try(error) or attempt + 1 == _ATTEMPTS:
                    raise
            self.retries += 1
            self.pause.wait(_PAUSE)

    def wait_until_serving(self, check):
        """By grpc.health.v1; its two messages are short enough to be written by hand. check() may raise."""
        health = self.channel.unary_unary("/grpc.health.v1.Health/Check")
        deadline = time.monotonic() + _TIMEOUT
        while time.monotonic() < deadline:
            try:
                if health(b"", timeout=1, wait_for_ready=True) == b"\x08\x01":
                    return
            except grpc.RpcError as error:
                if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                    raise
            check()
            self.pause.wait(_PAUSE)
        raise TimeoutError("the server does not become ready")

    # ---- entities ----

    def entity(self, key, properties):
        entity = self.pb.Entity(partition_key=key[0], row_key=key[1])
        for name, (kind, value) in properties.items():
            setattr(entity.properties[name], kind, value)
        return entity

    @staticmethod
    def properties(entity):
        out = {}
        for name, value in entity.properties.items():
            kind = value.WhichOneof("kind")
            out[name] = (kind, getattr(value, kind))
        return out

    def create_table(self, name):
        self.call("TableService/CreateTable", self.pb.CreateTableRequest(name=name))

    def get(self, table, key):
        """(properties, etag)"""
        request = self.pb.GetEntityRequest(table=table, key=self.pb.EntityKey(partition_key=key[0], row_key=key[1]))
        entity = self.call("EntityService/GetEntity", request).entity
        return self.properties(entity), entity.etag

    def merge(self, table, key, properties, if_match):
        """The new ETag."""
        request = self.pb.MergeEntityRequest(
            table=table, entity=self.entity(key, properties), precondition=self.pb.Precondition(if_match=if_match)
        )
        return self.call("EntityService/MergeEntity", request).result.etag

    def replace(self, table, key, properties, if_match):
        """The new ETag."""
        request = self.pb.ReplaceEntityRequest(
            table=table, entity=self.entity(key, properties), precondition=self.pb.Precondition(if_match=if_match)
        )
        return self.call("EntityService/ReplaceEntity", request).result.etag

    def query(self, table, filter_text=""):
        """All entities, page after page."""
        request = self.pb.QueryEntitiesRequest(query=self.pb.Query(table=table, filter=filter_text))
        while True:
            reply = self.call("EntityService/QueryEntities", request)
            yield from reply.entities
            if not reply.next_page_token:
                return
            request.page_token = reply.next_page_token

    def import_entities(self, requests):
        """The replies to a stream of ImportEntitiesRequest, one each."""
        return self.method("EntityService/ImportEntities")(requests, wait_for_ready=True)

    # ---- indexes ----

    def create_index(self, index):
        self.call("IndexService/CreateIndex", self.pb.CreateIndexRequest(index=index))

    def index_status(self, name):
        return self.call("IndexService/GetIndex", self.pb.GetIndexRequest(name=name)).status

    def lookup(self, index, value, keys_only=False):
        """One page of a look-up after the other."""
        request = self.pb.LookupIndexRequest(
            index=index, equals=[self.pb.Value(string_value=value)], keys_only=keys_only
        )
        while True:
            reply = self.call("IndexService/LookupIndex", request)
            yield reply
            if not reply.next_page_token:
                return
            request.page_token = reply.next_page_token

    def wait_operation(self, operation_id, timeout):
        """The operation once it has ended or the time is over."""
        request = self.pb.WaitOperationRequest(operation_id=operation_id)
        return self.call("OperationService/WaitOperation", request, timeout).operation

    # ---- transactions ----

    def submit_move(self, transaction_id, source, destination):
        """source, destination: (table, key). Harmless when repeated: the id is the same."""
        place = lambda table, key: self.pb.EntityAddress(
            table=table, key=self.pb.EntityKey(partition_key=key[0], row_key=key[1])
        )
        step = self.pb.Step(move=self.pb.MoveStep(source=place(*source), destination=place(*destination)))
        request = self.pb.SubmitTransactionRequest(transaction_id=transaction_id, steps=[step])
        self.call("TransactionService/SubmitTransaction", request)

    def wait_transaction(self, transaction_id):
        """The transaction once it has ended."""
        under_way = (self.pb.TRANSACTION_STATE_PENDING, self.pb.TRANSACTION_STATE_RUNNING)
        request = self.pb.WaitTransactionRequest(transaction_id=transaction_id)
        for _ in range(_WAITS):
            transaction = self.call("TransactionService/WaitTransaction", request).transaction
            if transaction.state not in under_way:
                return transaction
        raise TimeoutError(f"transaction {transaction_id} does not end")
