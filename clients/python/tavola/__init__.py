# SPDX-License-Identifier: Apache-2.0
"""Client of the table service Tavola.

    import tavola

    with tavola.Client() as client:
        people = client.create_table("people")
        people.insert({"PartitionKey": "sales", "RowKey": "0001", "Name": "Ada", "Age": 36})
        for person in people.query("PartitionKey eq 'sales' and Age ge 30"):
            print(person["Name"], person.etag)

docs/python.md is the guide; docs/errors.md lists every reason.
"""

from tavola import keys
from tavola.blob import Blob, BlobReader
from tavola.client import Client
from tavola.connection import Tls
from tavola.credentials import Account, Signature
from tavola.entity import Entity, WriteResult
from tavola.errors import (
    Aborted, AlreadyExists, BlobAlreadyExists, BlobNotFound, Cancelled, ConditionNotMet, DeadlineExceeded, EntityAlreadyExists, EntityNotFound, Error,
    FailedPrecondition, IndexAlreadyExists, IndexNotFound, IndexNotReady, Internal, InvalidArgument, NotFound, NotFreshEnough,
    OperationFailed, OutcomeUnknown, OutOfRange, PermissionDenied, PlanTooExpensive, ResourceExhausted, ResyncRequired,
    ServerBusy, SnapshotEnded, SnapshotRunning, TableAlreadyExists, TableNotFound, TransactionFailed, Unauthenticated,
    Unavailable, Unimplemented, UniqueViolation,
)
from tavola.index import Index, copies_of, literal_part, part
from tavola.load import ImportResult, Rejection
from tavola.table import Batch, Change, Page, Pages, Stats, Table, Watch
from tavola.transaction import Operation, Transaction
from tavola.values import DateTime, Int32, Int64, odata

__all__ = [name for name in dir() if name[0].isupper()] + ["copies_of", "keys", "literal_part", "odata", "part"]
