# SPDX-License-Identifier: Apache-2.0
"""JSON Web Tokens and the keys that sign them, implemented a second time with the command openssl."""

import hashlib
import hmac
import json
import os
import re
import subprocess
import time

from tavola_test.credentials import encode

ISSUER, AUDIENCE = "https://login.example", "https://tables.example"


def openssl(*words, data=b""):
    return subprocess.run(("openssl", *words), input=data, capture_output=True, check=True).stdout


def join(header, claims, sign):
    signed = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{signed}.{encode(sign(signed.encode()))}"


class SecretKey:
    algorithm = "HS256"

    def __init__(self, key_id, secret=None):
        self.key_id = key_id
        self.secret = secret or os.urandom(32)

    def sign(self, data):
        return hmac.new(self.secret, data, hashlib.sha256).digest()

    def public(self):
        return {"kty": "oct", "kid": self.key_id, "k": encode(self.secret)}


class FileKey:
    """A private key in a file of the folder."""

    def __init__(self, folder, key_id):
        self.key_id = key_id
        self.path = os.path.join(folder, key_id + ".pem")
        with open(self.path, "wb") as file:
            file.write(openssl("genpkey", *self.generate))

    def pem(self):
        return openssl("pkey", "-in", self.path, "-pubout")


class RsaKey(FileKey):
    algorithm = "RS256"
    generate = ("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")

    def sign(self, data):
        return openssl("dgst", "-sha256", "-sign", self.path, data=data)

    def public(self):
        modulus = openssl("rsa", "-in", self.path, "-noout", "-modulus").decode().strip().split("=")[1]
        return {"kty": "RSA", "kid": self.key_id, "use": "sig", "alg": "RS256", "n": encode(bytes.fromhex(modulus)),
                "e": encode(b"\x01\x00\x01")}


class EcKey(FileKey):
    algorithm = "ES256"
    generate = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")

    def sign(self, data):
        """The two numbers of the DER form, 32 bytes each."""
        der = openssl("dgst", "-sha256", "-sign", self.path, data=data)
        numbers, at = b"", 2
        for _ in range(2):
            length = der[at + 1]
            numbers += der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + length
        return numbers

    def public(self):
        text = openssl("pkey", "-in", self.path, "-noout", "-text").decode()
        point = bytes.fromhex(re.sub(r"[\s:]", "", re.search(r"pub:([\s0-9a-f:]+)", text)[1]))
        return {"kty": "EC", "kid": self.key_id, "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:])}


def claims_of(**more):
    """Of a token that opens everything of acme; None leaves a claim out."""
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "somebody", "iat": int(time.time()), "exp": int(time.time()) + 600,
              "tavola_account": "acme", "tavola_permissions": "*", **more}
    return {name: value for name, value in claims.items() if value is not None}


def web_token(key, header=None, **claims):
    """header: what differs in it; None as a value leaves a member out."""
    full = {"typ": "JWT", "alg": key.algorithm, "kid": key.key_id, **(header or {})}
    return join({name: value for name, value in full.items() if value is not None}, claims_of(**claims), key.sign)


def write_keys(path, *keys):
    """As an operator replaces the file: at once."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump({"keys": [key.public() if hasattr(key, "public") else key for key in keys]}, file)
    os.rename(path + ".new", path)
