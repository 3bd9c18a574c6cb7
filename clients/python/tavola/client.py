# SPDX-License-Identifier: Apache-2.0
"""The client: where everything begins."""

from collections.abc import Iterator
from typing import Any, Optional, Union

from google.protobuf.json_format import ParseDict

from tavola import blob, errors
from tavola.connection import Connection, Tls
from tavola.credentials import Token
from tavola.descriptors import METHODS, enum_number, type_of
from tavola.entity import Hook
from tavola.index import Index, declaration
from tavola.table import Table
from tavola.transaction import Operation, Transaction, new_id


class Client:
    """A connection to the service. Thread-safe; usable as a context, which closes it.

    target   HOST:PORT, unix:PATH or dns:///NAME:PORT; else TAVOLA_TARGET, else 127.0.0.1:50051
    token    a text, an Account, or a function that makes a text; else TAVOLA_TOKEN, or the file TAVOLA_TOKEN_FILE. What is
             made is made anew when a third of its life is left.
    tls      True: the system's authorities; a file of authorities; a Tls; False: plain text. Else TAVOLA_CA. A token is
             sent in plain text to this machine only: ValueError.
    timeout  seconds that a call may take with all its repeats
    """

    def __init__(self, target: Optional[str] = None, *, token: Optional[Token] = None,
                 tls: Union[None, bool, str, Tls] = None, timeout: float = 30.0):
        self.connection = Connection(target, token, tls, timeout)

    def close(self) -> None:
        """End the connection and every call on it."""
        self.connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    # ---- any method ----

    def send(self, name: str, /, timeout: Optional[float] = None, **fields: Any) -> Any:
        """The reply of a unary method: send("TableService/GetTable", name="people"). Fields are those of its request."""
        return self.connection.call(name, METHODS[name].request(**fields), timeout)

    def send_json(self, name: str, fields: dict, timeout: Optional[float] = None) -> Any:
        """The same with a request in protobuf's JSON."""
        return self.connection.call(name, ParseDict(fields, METHODS[name].request()), timeout)

    # ---- tables ----

    def table(self, name: str, *, encrypt: Optional[Hook] = None, decrypt: Optional[Hook] = None) -> Table:
        """A table by name; nothing is asked of the service.

        encrypt, decrypt  called with (partition key, row key, properties) of each entity that is written or read; return
                          the properties to be stored or shown. Filters and indexes see what is stored.
        """
        return Table(self, name, encrypt, decrypt)

    def create_table(
        self, name: str, *, change_feed: bool = False, wide_entities: bool = False, blob_properties: bool = False, exist_ok: bool = False
    ) -> Table:
        """Create a table. TableAlreadyExists, unless exist_ok.

        wide_entities    an entity may have 100,000 properties
        blob_properties  properties may hold contents that are too large for an entity (docs/large-entities.md)
        """
        try:
            self.send("TableService/CreateTable", name=name, change_feed=change_feed, wide_entities=wide_entities,
                      blob_properties=blob_properties)
        except errors.TableAlreadyExists:
            if not exist_ok:
                raise
        return self.table(name)

    def tables(self, filter: str = "") -> Iterator[Any]:
        """The messages tavola.v1.Table of all tables, those of indexes included; filter: over TableName."""
        return self._all("TableService/ListTables", "tables", filter=filter)

    def _all(self, name: str, member: str, /, **fields: Any) -> Iterator[Any]:
        token = ""
        while True:
            reply = self.send(name, page_token=token, **fields)
            yield from getattr(reply, member)
            token = reply.next_page_token
            if not token:
                return

    # ---- indexes ----

    def index(self, name: str, *, decrypt: Optional[Hook] = None) -> Index:
        """An index by name; nothing is asked of the service."""
        return Index(self, name, decrypt)

    def create_index(self, name: str, table: Union[Table, str], *partition_key: Any, exist_ok: bool = False, **options: Any) -> Index:
        """Declare an index and begin to build it; Index.wait() waits for it. TableNotFound; IndexAlreadyExists, unless
        exist_ok: then the index of that name is taken as it is.

        partition_key  properties, or parts made by part() and literal_part()
        row_key        the same; none: the keys of the entity
        shape          copy or list                place         other_partition or same_partition
        consistency    eventual or strong          on_violation  skip or reject
        unique         one entity per value        filter        only entities that it matches
        select         the properties that entries have; None: all; []: none
        copies         a copy rule, made by copies_of(): workers keep copies of the properties of the entity that an entity
                       names; the partition_key is then left out
        """
        table_name = table.name if isinstance(table, Table) else table
        decrypt = table.decrypt if isinstance(table, Table) else None
        try:
            reply = self.send("IndexService/CreateIndex", index=declaration(name, table_name, partition_key, **options))
        except errors.IndexAlreadyExists:
            if not exist_ok:
                raise
            return Index(self, name, decrypt)
        return Index(self, name, decrypt, self.operation_of(reply.status.build))

    def indexes(self) -> Iterator[Any]:
        """All indexes, with status."""
        return self._all("IndexService/ListIndexes", "indexes")

    # ---- blobs ----

    def put_blob(self, name: str, source: blob.Source, *, content_type: str = "", if_match: str = "", if_absent: bool = False,
                 sha256: bytes = b"", upload_id: str = "") -> blob.Blob:
        """Put a blob, which replaces one of that name. ConditionNotMet; BlobAlreadyExists.

        source     bytes, a binary file, or an iterable of bytes. Bytes, and a file that can be read again, are sent to the end
                   whatever breaks, and put once; of anything else a break is raised.
        if_match   the ETag of the content to replace, or "*": any; if_absent: only a new name
        sha256     of the content, if it is known: anything else is refused
        upload_id  of your choice: another process continues the upload by it, for a day (docs/blobs.md)
        """
        return blob.decode(blob.put(self.connection, source, name=name, content_type=content_type, if_match=if_match,
                                    if_absent=if_absent, sha256=sha256, upload_id=upload_id).blob)

    def get_blob(self, name: str, *, offset: int = 0, length: int = 0, if_match: str = "") -> blob.BlobReader:
        """The content of a blob, or `length` bytes (0: all) from `offset` on: .read(), or an iterator of parts. The errors
        come with the first part: BlobNotFound; OutOfRange; ConditionNotMet: it has not the ETag if_match.
        """
        request = type_of("GetBlobRequest")(name=name, offset=offset, length=length, if_match=if_match)
        return blob.BlobReader(self.connection, request)

    def put_content(self, source: blob.Source, *, content_type: str = "", sha256: bytes = b"", upload_id: str = "") -> blob.Blob:
        """Put a content that entities will hold by its `reference`; nobody sees it before. It is abandoned unless an entity holds it
        within 15 minutes, or, with an upload_id, within a day. Table.put_with_content writes entity and content in one call.
        """
        return blob.decode(blob.put(self.connection, source, content_type=content_type, sha256=sha256, upload_id=upload_id).blob)

    def get_content(self, reference: str, *, offset: int = 0, length: int = 0) -> blob.BlobReader:
        """The content that a property of an entity holds; else as get_blob. Aborted, with the reason BLOB_CHANGED: no entity
        holds it any more, read the entity again.
        """
        return blob.BlobReader(self.connection, type_of("GetBlobRequest")(reference=reference, offset=offset, length=length))

    def stat_blob(self, name: str) -> blob.Blob:
        """What a blob is. BlobNotFound."""
        return blob.decode(self.send("BlobService/StatBlob", name=name).blob)

    def delete_blob(self, name: str, *, if_match: str = "") -> None:
        """Delete a blob. BlobNotFound; ConditionNotMet. A call whose answer is lost is not repeated: Unavailable."""
        self.send("BlobService/DeleteBlob", name=name, if_match=if_match)

    def blobs(self, prefix: str = "") -> Iterator[blob.Blob]:
        """The blobs whose names begin with the prefix, in the order of the bytes of their names."""
        return map(blob.decode, self._all("BlobService/ListBlobs", "blobs", prefix=prefix))

    # ---- transactions and operations ----

    def transaction(self, transaction_id: Optional[str] = None) -> Transaction:
        """A new transaction, or, with the id of one that was submitted, what wait() and cancel() are called on."""
        return Transaction(self, transaction_id or new_id())

    def operation(self, operation_id: str) -> Operation:
        """An operation by id. NotFound."""
        return self.operation_of(self.send("OperationService/GetOperation", operation_id=operation_id).operation)

    def operation_of(self, message: Any) -> Operation:
        """The operation of a message tavola.v1.Operation."""
        return Operation(self, message)

    def operations(self) -> Iterator[Operation]:
        """All operations that are remembered."""
        return map(self.operation_of, self._all("OperationService/ListOperations", "operations"))

    def control(self, operation_id: str, change: str, rows_per_second: int = 0) -> Any:
        """Change an operation; see Operation.control."""
        number = enum_number("OperationControl", change, "OPERATION_CONTROL_")
        return self.send("OperationService/ControlOperation", operation_id=operation_id, control=number,
                         rows_per_second=rows_per_second).operation

    @staticmethod
    def message(name: str, /, **fields: Any) -> Any:
        """A message of tavola.v1, for send() and the policies of Table.update()."""
        return type_of(name)(**fields)
