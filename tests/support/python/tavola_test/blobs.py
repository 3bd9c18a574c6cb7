# SPDX-License-Identifier: Apache-2.0
"""Puts and gets of blobs: the header, then the content in messages of any size."""

import hashlib

from tavola_test import chunk_stores
from tavola_test.client import types

CHUNK = 256 * 1024  # domain/limits.h
PutBlobRequest = types.message("tavola.v1.PutBlobRequest")
PutBlobHeader = types.message("tavola.v1.PutBlobHeader")
GetBlobRequest = types.message("tavola.v1.GetBlobRequest")
# What the collector of blobs would keep for readers and for uploads that go on, it may remove now. The rows are locked in
# the order in which the product locks them.
COLLECT_AT_ONCE = """with due as (
    select account, content_id from blob_contents where state <> 2 order by account, content_id for update)
update blob_contents c set kept_until = now() from due where (c.account, c.content_id) = (due.account, due.content_id)"""


def messages(name, parts, **header):
    """The requests of a put; parts: byte strings, or one byte string."""
    yield PutBlobRequest(header=PutBlobHeader(name=name, **header))
    for part in [parts] if isinstance(parts, bytes) else parts:
        yield PutBlobRequest(content=part)
    yield PutBlobRequest(end=True)


def put(caller, name, parts, **header):
    """Put a blob; returns its description."""
    replies = list(caller.put_blob(messages(name, parts, **header)))
    assert len(replies) == 1, replies
    return replies[0].blob


def get(caller, name="", **fields):
    """(description, content) of a blob, or of a range of it."""
    blob, *rest = caller.get_blob([GetBlobRequest(name=name, **fields)])
    return blob.blob, b"".join(reply.content for reply in rest)


def _object_of(stack, digest):
    """The name of a chunk's object in the chunk store; empty: the row has the bytes."""
    return stack.sql(f"select {chunk_stores.NAME} from blob_chunks where digest = '\\x{digest.hex()}' and object_id is not null")


def change_chunk(stack, digest):
    """Change a byte of the chunk where it is stored."""
    name = _object_of(stack, digest)
    if name:
        stack.chunk_store.change(name)
    else:
        stack.sql(f"update blob_chunks set bytes = set_byte(bytes, 7, get_byte(bytes, 7) # 1) where digest = '\\x{digest.hex()}'")


def lose_chunk(stack, digest):
    """The chunk has no bytes any more."""
    name = _object_of(stack, digest)
    if name:
        stack.chunk_store.remove(name)
    else:
        stack.sql(f"delete from blob_chunks where digest = '\\x{digest.hex()}'")


def content(size, seed=0):
    """That many bytes which no chunk repeats, the same each time."""
    return hashlib.shake_128(b"%d" % seed).digest(size)


def sha256(data):
    return hashlib.sha256(data).digest()
