# SPDX-License-Identifier: Apache-2.0
"""Errors: a class for each status code and, below it, for each reason that programs often decide by.

Every error has the code, the reason of docs/errors.md (empty for a failure of the transport), the metadata that names the
offender, and retry_after: the seconds after which the call may be sent again, or None.
"""

from typing import Optional

import grpc

from tavola.descriptors import message


class Error(Exception):
    """A call that failed."""

    code = "UNKNOWN"

    def __init__(self, text: str, *, reason: str = "", metadata: Optional[dict[str, str]] = None,
                 retry_after: Optional[float] = None, code: str = ""):
        super().__init__(text)
        self.reason = reason
        self.metadata = metadata or {}
        self.retry_after = retry_after
        self.code = code or type(self).code


class InvalidArgument(Error):
    """The request is malformed; the message says where and what is allowed."""

    code = "INVALID_ARGUMENT"


class OutOfRange(Error):
    """A value lies outside its range."""

    code = "OUT_OF_RANGE"


class NotFound(Error):
    """The entity, table, index, transaction or operation is not there."""

    code = "NOT_FOUND"


class AlreadyExists(Error):
    """What was to be created is there already."""

    code = "ALREADY_EXISTS"


class Aborted(Error):
    """A precondition of a write does not hold."""

    code = "ABORTED"


class FailedPrecondition(Error):
    """The state of an index, table, transaction or operation does not allow the call."""

    code = "FAILED_PRECONDITION"


class Unauthenticated(Error):
    """The token is missing, or not valid."""

    code = "UNAUTHENTICATED"


class PermissionDenied(Error):
    """The token is valid, but not for this request."""

    code = "PERMISSION_DENIED"


class ResourceExhausted(Error):
    """A quota, a rate limit, or a server that sheds load."""

    code = "RESOURCE_EXHAUSTED"


class Unavailable(Error):
    """No server answers, or the database cannot be reached."""

    code = "UNAVAILABLE"


class DeadlineExceeded(Error):
    """The call did not end in time; a write may have happened."""

    code = "DEADLINE_EXCEEDED"


class Cancelled(Error):
    """The caller gave the call up."""

    code = "CANCELLED"


class Unimplemented(Error):
    """This server does not have the method, or a part of it."""

    code = "UNIMPLEMENTED"


class Internal(Error):
    """The server met a condition that it should never meet."""

    code = "INTERNAL"


class TableNotFound(NotFound):
    """TABLE_NOT_FOUND."""


class EntityNotFound(NotFound):
    """RESOURCE_NOT_FOUND."""


class IndexNotFound(NotFound):
    """INDEX_NOT_FOUND."""


class TableAlreadyExists(AlreadyExists):
    """TABLE_ALREADY_EXISTS."""


class EntityAlreadyExists(AlreadyExists):
    """ENTITY_ALREADY_EXISTS."""


class IndexAlreadyExists(AlreadyExists):
    """INDEX_EXISTS."""


class BlobNotFound(NotFound):
    """BLOB_NOT_FOUND."""


class BlobAlreadyExists(AlreadyExists):
    """BLOB_ALREADY_EXISTS."""


class UniqueViolation(AlreadyExists):
    """UNIQUE_VIOLATION: another entity has the value; metadata names the index and its properties."""


class ConditionNotMet(Aborted):
    """UPDATE_CONDITION_NOT_SATISFIED: the entity has changed, or does not match; metadata has `clause` and `actual`."""


class IndexNotReady(FailedPrecondition):
    """INDEX_NOT_READY."""


class NotFreshEnough(FailedPrecondition):
    """NOT_FRESH_ENOUGH."""


class PlanTooExpensive(FailedPrecondition):
    """PLAN_TOO_EXPENSIVE."""


class ResyncRequired(FailedPrecondition):
    """RESYNC_REQUIRED: the changes behind the token are gone; watch without a token, then read the table."""


class SnapshotRunning(FailedPrecondition):
    """SNAPSHOT_RUNNING: another scan of the account holds a snapshot."""


class SnapshotEnded(DeadlineExceeded):
    """SNAPSHOT_ENDED: the scan held its snapshot for the longest time."""


class ServerBusy(ResourceExhausted):
    """SERVER_BUSY."""


class OutcomeUnknown(Unavailable):
    """OUTCOME_UNKNOWN: the write may or may not have happened."""


class TransactionFailed(Error):
    """A transaction that ended otherwise than as DONE; `transaction` has its timeline."""

    transaction = None


class OperationFailed(Error):
    """An operation that ended otherwise than as DONE; `operation` is its last state."""

    operation = None


BY_CODE = {one.code: one for one in Error.__subclasses__() if "code" in vars(one)}
BY_REASON = {
    "TABLE_NOT_FOUND": TableNotFound,
    "RESOURCE_NOT_FOUND": EntityNotFound,
    "INDEX_NOT_FOUND": IndexNotFound,
    "TABLE_ALREADY_EXISTS": TableAlreadyExists,
    "ENTITY_ALREADY_EXISTS": EntityAlreadyExists,
    "INDEX_EXISTS": IndexAlreadyExists,
    "BLOB_NOT_FOUND": BlobNotFound,
    "BLOB_ALREADY_EXISTS": BlobAlreadyExists,
    "UNIQUE_VIOLATION": UniqueViolation,
    "UPDATE_CONDITION_NOT_SATISFIED": ConditionNotMet,
    "INDEX_NOT_READY": IndexNotReady,
    "NOT_FRESH_ENOUGH": NotFreshEnough,
    "PLAN_TOO_EXPENSIVE": PlanTooExpensive,
    "RESYNC_REQUIRED": ResyncRequired,
    "SNAPSHOT_RUNNING": SnapshotRunning,
    "SNAPSHOT_ENDED": SnapshotEnded,
    "SERVER_BUSY": ServerBusy,
    "OUTCOME_UNKNOWN": OutcomeUnknown,
}
# With these reasons nothing was done: even a call that is not harmless to repeat may be sent again.
NOTHING_DONE = {"SERVER_BUSY", "SERVER_DRAINING", "STORE_UNAVAILABLE", "CATALOGUE_CHANGE_BLOCKED"}

_STATUS = message("google.rpc.Status")
_ERROR_INFO = message("google.rpc.ErrorInfo")
_RETRY_INFO = message("google.rpc.RetryInfo")


def _make(code: str, text: str, reason: str, metadata: dict[str, str], retry_after: Optional[float] = None) -> Error:
    kind = BY_REASON.get(reason) or BY_CODE.get(code, Error)
    return kind(text, reason=reason, metadata=metadata, retry_after=retry_after, code=code)


def of_call(failed: grpc.RpcError) -> Error:
    """The error of a call that gRPC ended."""
    reason, metadata, retry_after = "", {}, None
    for key, value in failed.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        for detail in _STATUS.FromString(value).details:
            if detail.type_url.endswith("/google.rpc.ErrorInfo"):
                info = _ERROR_INFO.FromString(detail.value)
                reason, metadata = info.reason, dict(info.metadata)
            elif detail.type_url.endswith("/google.rpc.RetryInfo"):
                delay = _RETRY_INFO.FromString(detail.value).retry_delay
                retry_after = delay.seconds + delay.nanos / 1e9
    return _make(failed.code().name, failed.details() or failed.code().name, reason, metadata, retry_after)


def of_message(error) -> Error:
    """The error of a message tavola.v1.Error: of an import, a step, an operation."""
    names = {code.value[0]: code.name for code in grpc.StatusCode}
    code = names.get(error.code, "UNKNOWN")
    return _make(code, f"{error.reason}: {error.message}", error.reason, dict(error.metadata))
