# SPDX-License-Identifier: Apache-2.0
"""Certificate authorities of a test, and certificates that they sign, as files in PEM."""

import os
import subprocess


class Authority:
    """An authority that signs certificates; its own certificate is in `file`."""

    def __init__(self, folder, name):
        self.folder = folder
        self.file, self.key = self.paths(name)
        self.run("req", "-x509", *self.new_key(self.key), "-subj", f"/CN={name}", "-days", "2", "-out", self.file)

    def paths(self, name):
        return os.path.join(self.folder, name + ".crt"), os.path.join(self.folder, name + ".key")

    @staticmethod
    def new_key(path):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]

    @staticmethod
    def run(*arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def sign(self, name, hosts="DNS:localhost,IP:127.0.0.1"):
        """The paths of a new certificate and its key."""
        certificate, key = self.paths(name)
        request = certificate + ".csr"
        self.run("req", *self.new_key(key), "-subj", f"/CN={name}", "-addext", f"subjectAltName={hosts}", "-out", request)
        self.run(
            *("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key, "-CAcreateserial"),
            *("-copy_extensions", "copy", "-days", "2", "-out", certificate),
        )
        return certificate, key


def read(path):
    with open(path, "rb") as file:
        return file.read()
