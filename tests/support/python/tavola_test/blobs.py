# SPDX-License-Identifier: Apache-2.0
"""Puts and gets of blobs: the header, then the content in messages of any size."""

import hashlib

from tavola_test.client import types

CHUNK = 256 * 1024  # domain/limits.h
PutBlobRequest = types.message("tavola.v1.PutBlobRequest")
PutBlobHeader = types.message("tavola.v1.PutBlobHeader")
GetBlobRequest = types.message("tavola.v1.GetBlobRequest")


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


def content(size, seed=0):
    """That many bytes which no chunk repeats, the same each time."""
    return hashlib.shake_128(b"%d" % seed).digest(size)


def sha256(data):
    return hashlib.sha256(data).digest()
