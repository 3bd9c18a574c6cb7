# SPDX-License-Identifier: Apache-2.0
"""Where the servers and workers of a Stack keep chunks of blobs.

TEST_BLOB_STORE     directory: as files; s3: in the emulator of which TEST_S3 has the folder (tests/s3); otherwise the database.
"""

import os


class Database:
    """Chunks are rows, and nothing is beside them."""

    settings = {}

    def close(self):
        pass


class Directory:
    """Chunks are files."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "chunks")
        os.mkdir(self.folder)
        self.settings = {"TAVOLA_BLOB_STORE": "directory", "TAVOLA_BLOB_DIRECTORY": self.folder,
                         "TAVOLA_BLOB_RETENTION_SECONDS": "0"}

    def names(self):
        found = set()
        for folder, _, files in os.walk(self.folder):
            found |= {os.path.relpath(os.path.join(folder, file), self.folder) for file in files}
        return found

    def change(self, name):
        with open(os.path.join(self.folder, name), "r+b") as file:
            file.seek(7)
            byte = file.read(1)[0]
            file.seek(7)
            file.write(bytes([byte ^ 1]))

    def remove(self, name):
        os.unlink(os.path.join(self.folder, name))

    def close(self):
        pass


def of_tests(folder):
    kind = os.environ.get("TEST_BLOB_STORE", "")
    if kind == "directory":
        return Directory(folder)
    return Database()


NAME = """replace(account, '#', '-') || '/' || left(encode(digest, 'hex'), 2) || '/' || encode(digest, 'hex') || '-' ||
    replace(object_id::text, '-', '')"""


def named(stack, table):
    """The objects that the rows of blob_chunks or blob_strays name."""
    return set(stack.sql(f"select {NAME} from {table} where object_id is not null").split())


def differences(stack):
    """How many objects the store has that no row names, and the other way round, without zeros. What is being put may count."""
    if isinstance(stack.chunk_store, Database):
        return {}
    found, chunks, strays = stack.chunk_store.names(), named(stack, "blob_chunks"), named(stack, "blob_strays")
    out = {"objects that no row names": len(found - chunks - strays), "objects that are missing": len(chunks - found)}
    return {what: count for what, count in out.items() if count}
