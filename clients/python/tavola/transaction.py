# SPDX-License-Identifier: Apache-2.0
"""Transactions across partitions and tables, and operations: work that goes on after its call was answered."""

import time
import uuid
from collections.abc import Mapping
from typing import Any, Optional, Union

from tavola import errors
from tavola.descriptors import enum_name, type_of
from tavola.table import Table

WAIT_SECONDS = 20  # of one call that waits


def _remaining(deadline: Optional[float], what: str) -> float:
    left = WAIT_SECONDS if deadline is None else deadline - time.monotonic()
    if left <= 0:
        raise errors.DeadlineExceeded(f"{what} has not ended in time; it goes on")
    return min(left, WAIT_SECONDS)


def _deadline(timeout: Optional[float]) -> Optional[float]:
    return None if timeout is None else time.monotonic() + timeout


def new_id() -> str:
    """A UUIDv7, by which the service can tell an id that is older than what it remembers."""
    number = int(time.time() * 1000) << 80 | 0x7 << 76 | uuid.uuid4().int & ((1 << 76) - 1)
    return str(uuid.UUID(int=number & ~(0x3 << 62) | 0x2 << 62))


class Transaction:
    """Steps that the service carries out one after the other, each exactly once, to their end.

    As a context it is submitted at the end of the block. A table is a Table or a name; entities go through the hooks of
    their Table. if_match and condition are of the entity before the step: if they do not hold, the transaction ends as FAILED.
    """

    def __init__(self, client: Any, transaction_id: str):
        self.client, self.id = client, transaction_id
        self.steps: list[Any] = []
        self.consistency_token = ""
        self.message: Any = None

    def _address(self, table: Union[Table, str], partition_key: str, row_key: str) -> Any:
        name = table.name if isinstance(table, Table) else table
        return type_of("EntityAddress")(table=name, key={"partition_key": partition_key, "row_key": row_key})

    def _put(self, table: Union[Table, str], entity: Mapping) -> Any:
        table = self.client.table(table) if isinstance(table, str) else table
        return type_of("PutStep")(table=table.name, entity=table.encode(entity))

    def _add(self, if_match: str, condition: str, **action: Any) -> "Transaction":
        step = type_of("Step")(**action)
        if if_match or condition:
            step.precondition.CopyFrom(type_of("Precondition")(if_match=if_match, condition=condition))
        self.steps.append(step)
        return self

    def upsert(self, table: Union[Table, str], entity: Mapping, *, merge: bool = False, if_match: str = "",
               condition: str = "") -> "Transaction":
        """Insert, or replace (merge=True: merge into) what is there."""
        kind = "insert_or_merge" if merge else "insert_or_replace"
        return self._add(if_match, condition, **{kind: self._put(table, entity)})

    def delete(self, table: Union[Table, str], partition_key: str, row_key: str, *, if_match: str = "",
               condition: str = "") -> "Transaction":
        """Delete, if it is there."""
        return self._add(if_match, condition, delete_if_exists=self._address(table, partition_key, row_key))

    def move(self, table: Union[Table, str], key: tuple[str, str], to_table: Union[Table, str, None] = None,
             to_key: Optional[tuple[str, str]] = None, *, if_match: str = "", condition: str = "") -> "Transaction":
        """Move an entity, as it is stored, to another table, to another key, or both."""
        source = self._address(table, *key)
        destination = self._address(to_table or table, *(to_key or key))
        return self._add(if_match, condition, move={"source": source, "destination": destination})

    def _content(self, data: Union[bytes, str, None], table: Union[Table, str, None], key: Optional[tuple[str, str]],
                 delete_entity: bool) -> dict[str, Any]:
        if table is None or key is None:
            return {"data": data.encode() if isinstance(data, str) else data or b"", "delete_entity": delete_entity}
        return {"entity": self._address(table, *key), "delete_entity": delete_entity}

    def write_file(self, path: str, data: Union[bytes, str, None] = None, *, table: Union[Table, str, None] = None,
                   key: Optional[tuple[str, str]] = None, delete_entity: bool = False, if_match: str = "",
                   condition: str = "") -> "Transaction":
        """Make a file in the account's folder of the service, of data or of an entity (table and key), which it may delete."""
        return self._add(if_match, condition, write_file={"path": path, **self._content(data, table, key, delete_entity)})

    def append_file(self, path: str, data: Union[bytes, str, None] = None, *, table: Union[Table, str, None] = None,
                    key: Optional[tuple[str, str]] = None, delete_entity: bool = False, if_match: str = "",
                    condition: str = "") -> "Transaction":
        """Append to a file in the account's folder: data, or an entity as a line of JSON."""
        return self._add(if_match, condition, append_file={"path": path, **self._content(data, table, key, delete_entity)})

    def put_blob(self, name: str, data: Union[bytes, str, None] = None, *, table: Union[Table, str, None] = None,
                 key: Optional[tuple[str, str]] = None, delete_entity: bool = False, content_type: str = "",
                 blob_if_match: str = "", blob_if_absent: bool = False, if_match: str = "", condition: str = "") -> "Transaction":
        """Put a blob of data or of an entity (table and key), which it may delete. if_match and condition are about the entity,
        blob_if_match and blob_if_absent about the blob."""
        content = self._content(data, table, key, delete_entity)
        return self._add(if_match, condition, put_blob={"name": name, "content_type": content_type, "if_match": blob_if_match,
                                                        "if_absent": blob_if_absent, **content})

    def delete_blob(self, name: str, *, blob_if_match: str = "") -> "Transaction":
        """Delete a blob, if there is one."""
        return self._add("", "", delete_blob={"name": name, "if_match": blob_if_match})

    def http_call(self, url: str, data: Union[bytes, str, None] = None, *, method: str = "POST", table: Union[Table, str, None] = None,
                  key: Optional[tuple[str, str]] = None, delete_entity: bool = False, content_type: str = "", if_match: str = "",
                  condition: str = "") -> "Transaction":
        """Send data or an entity to a host that the operator allows, at least once; each time with the same Idempotency-Key."""
        content = self._content(data, table, key, delete_entity)
        return self._add(if_match, condition, http_call={"url": url, "method": method, "content_type": content_type, **content})

    def submit(self) -> "Transaction":
        """Submit; durable when this returns. A repeat under the same id is the same transaction."""
        return self._take(self.client.send("TransactionService/SubmitTransaction", transaction_id=self.id,
                                           steps=self.steps).transaction)

    def _take(self, message: Any) -> "Transaction":
        """Note the state. A shared access signature gets an id with a mark of its own."""
        self.message, self.id = message, message.transaction_id
        self.consistency_token = message.consistency_token or self.consistency_token
        return self

    @property
    def state(self) -> str:
        """PENDING, RUNNING, DONE, FAILED, CANCELLED or DEAD, as last seen; empty before it was submitted."""
        return enum_name("TransactionState", self.message.state, "TRANSACTION_STATE_") if self.message else ""

    def refresh(self) -> "Transaction":
        """Ask for the state."""
        return self._take(self.client.send("TransactionService/GetTransaction", transaction_id=self.id).transaction)

    def cancel(self) -> "Transaction":
        """Cancel a transaction of which no step has run. FailedPrecondition: one has."""
        return self._take(self.client.send("TransactionService/CancelTransaction", transaction_id=self.id).transaction)

    def wait(self, timeout: Optional[float] = None) -> "Transaction":
        """Wait for the end. TransactionFailed unless it is DONE; DeadlineExceeded after `timeout` seconds; None: for ever."""
        deadline = _deadline(timeout)
        request = type_of("WaitTransactionRequest")(transaction_id=self.id)
        while True:
            left = _remaining(deadline, f"transaction {self.id}")
            self._take(self.client.connection.call("TransactionService/WaitTransaction", request, left).transaction)
            if self.state in ("DONE", "FAILED", "CANCELLED", "DEAD"):
                break
        if self.state != "DONE":
            self._fail()
        return self

    def _fail(self) -> None:
        causes = [errors.of_message(one.error) for one in self.message.timeline if one.HasField("error") and one.error.code]
        cause = causes[-1] if causes else None
        failed = errors.TransactionFailed(f"transaction {self.id} is {self.state}: {cause or 'no step has run'}",
                                          reason=cause.reason if cause else "", metadata=cause.metadata if cause else {})
        failed.transaction = self
        raise failed

    def __enter__(self) -> "Transaction":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.submit()


class Operation:
    """A build, a purge, a range deletion, a verification: see tavola.v1.Operation, which `message` is."""

    def __init__(self, client: Any, message: Any):
        self.client, self.message = client, message

    @property
    def id(self) -> str:
        return self.message.operation_id

    @property
    def state(self) -> str:
        """RUNNING, PAUSED, DONE, FAILED or CANCELLED, as last seen."""
        return enum_name("OperationState", self.message.state, "OPERATION_STATE_")

    @property
    def done(self) -> int:
        """The rows that are done, as last seen."""
        return self.message.done

    def wait(self, timeout: Optional[float] = None) -> "Operation":
        """Wait for the end. OperationFailed unless it is DONE; DeadlineExceeded after `timeout` seconds; None: for ever."""
        deadline = _deadline(timeout)
        request = type_of("WaitOperationRequest")(operation_id=self.id)
        while True:
            left = _remaining(deadline, f"operation {self.id}")
            self.message = self.client.connection.call("OperationService/WaitOperation", request, left).operation
            if self.state in ("DONE", "FAILED", "CANCELLED"):
                break
        if self.state != "DONE":
            cause = errors.of_message(self.message.error) if self.message.HasField("error") else None
            failed = errors.OperationFailed(f"{self.id} is {self.state}: {cause}", reason=cause.reason if cause else "")
            failed.operation = self
            raise failed
        return self

    def control(self, change: str, rows_per_second: int = 0) -> "Operation":
        """pause, resume, cancel or throttle."""
        self.message = self.client.control(self.id, change, rows_per_second)
        return self
