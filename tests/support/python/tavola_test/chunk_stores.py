# SPDX-License-Identifier: Apache-2.0
"""Where the servers and workers of a Stack keep chunks of blobs.

TEST_BLOB_STORE     directory: as files; s3: in the emulator of which TEST_S3 has the folder (tests/s3); otherwise the database.
"""

import os
import subprocess


def change_byte(path):
    with open(path, "r+b") as file:
        file.seek(7)
        byte = file.read(1)[0]
        file.seek(7)
        file.write(bytes([byte ^ 1]))


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
        change_byte(os.path.join(self.folder, name))

    def remove(self, name):
        os.unlink(os.path.join(self.folder, name))

    def close(self):
        pass


class S3:
    """Chunks are objects of an emulator, which keeps each in files of its own."""

    OBJECT = "._S3rver_object"

    def __init__(self, folder):
        home = os.environ["TEST_S3"]
        self.folder = os.path.join(folder, "s3")
        self.server = subprocess.Popen(["node", os.path.join(home, "server.mjs"), self.folder], stdout=subprocess.PIPE, text=True)
        self.settings = {"TAVOLA_BLOB_STORE": "s3", "TAVOLA_BLOB_S3_URL": f"http://127.0.0.1:{int(self.server.stdout.readline())}/tavola/x",
                         "TAVOLA_BLOB_S3_ACCESS_KEY": "S3RVER", "TAVOLA_BLOB_S3_SECRET_KEY": "S3RVER",
                         "TAVOLA_BLOB_RETENTION_SECONDS": "0"}
        self.bucket = os.path.join(self.folder, "tavola", "x")

    def names(self):
        found = set()
        for folder, _, files in os.walk(self.bucket):
            found |= {os.path.relpath(os.path.join(folder, file), self.bucket).removesuffix(self.OBJECT)
                      for file in files if file.endswith(self.OBJECT)}
        return found

    def change(self, name):
        change_byte(os.path.join(self.bucket, name + self.OBJECT))

    def remove(self, name):
        os.unlink(os.path.join(self.bucket, name + self.OBJECT))

    def close(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()


def of_tests(folder):
    kind = os.environ.get("TEST_BLOB_STORE", "")
    if kind == "s3":
        return S3(folder)
    if kind == "directory":
        return Directory(folder)
    return Database()


PART = ".part"  # chunks/chunk_directory.c
NAME = """replace(account, '#', '-') || '/' || left(encode(digest, 'hex'), 2) || '/' || encode(digest, 'hex') || '-' ||
    replace(object_id::text, '-', '')"""


def named(stack, table):
    """The objects that the rows of blob_chunks or blob_strays name."""
    return set(stack.sql(f"select {NAME} from {table} where object_id is not null").split())


def differences(stack):
    """How many objects the store has that no row names, and the other way round, without zeros. What is being put may count.

    The part of a file that a killed process has left goes with its stray, 15 minutes later.
    """
    if isinstance(stack.chunk_store, Database):
        return {}
    found, chunks, strays = stack.chunk_store.names(), named(stack, "blob_chunks"), named(stack, "blob_strays")
    strays |= {name + PART for name in strays}
    out = {"objects that no row names": len(found - chunks - strays), "objects that are missing": len(chunks - found)}
    return {what: count for what, count in out.items() if count}
