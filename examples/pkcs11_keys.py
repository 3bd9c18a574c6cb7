#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Wraps the content keys of client-side encryption in a device with a PKCS#11 library: a smart card, an HSM, or SoftHSM.

The AES key never leaves the device. It needs Debian's python3-pykcs11, and is called by the packages:

    KeyCommand("/usr/bin/python3", "examples/pkcs11_keys.py")

    pkcs11_keys.py make ID     make an AES key of 256 bits in the device, with this label
    pkcs11_keys.py wrap        read 32 bytes in base64, print ID BASE64: encrypted by AES-GCM with the key of PKCS11_KEY
    pkcs11_keys.py unwrap ID   read what wrap printed as BASE64, print the 32 bytes in base64

    PKCS11_LIBRARY  the library of the device, for example /usr/lib/softhsm/libsofthsm2.so
    PKCS11_TOKEN    the label of the token
    PKCS11_PIN      its PIN
    PKCS11_KEY      the label of the key that wraps new content keys, 1 to 64 characters of ASCII
"""

import base64
import os
import sys

import PyKCS11
from PyKCS11 import LowLevel

NONCE_BYTES, TAG_BITS = 12, 128


def open_session():
    library = PyKCS11.PyKCS11Lib()
    library.load(os.environ["PKCS11_LIBRARY"])
    for slot in library.getSlotList(tokenPresent=True):
        if library.getTokenInfo(slot).label.strip() == os.environ["PKCS11_TOKEN"]:
            session = library.openSession(slot, LowLevel.CKF_SERIAL_SESSION | LowLevel.CKF_RW_SESSION)
            session.login(os.environ["PKCS11_PIN"])
            return session
    sys.exit(f"pkcs11_keys: no token {os.environ['PKCS11_TOKEN']}")


def find_key(session, key_id):
    found = session.findObjects([(LowLevel.CKA_CLASS, LowLevel.CKO_SECRET_KEY), (LowLevel.CKA_LABEL, key_id)])
    if len(found) != 1:
        sys.exit(f"pkcs11_keys: {len(found)} keys with the label {key_id}, not one")
    return found[0]


def make(session, key_id):
    if session.findObjects([(LowLevel.CKA_LABEL, key_id)]):
        sys.exit(f"pkcs11_keys: a key with the label {key_id} is there")
    yes, no = LowLevel.CK_TRUE, LowLevel.CK_FALSE
    session.generateKey([
        (LowLevel.CKA_CLASS, LowLevel.CKO_SECRET_KEY), (LowLevel.CKA_KEY_TYPE, LowLevel.CKK_AES), (LowLevel.CKA_VALUE_LEN, 32),
        (LowLevel.CKA_LABEL, key_id), (LowLevel.CKA_TOKEN, yes), (LowLevel.CKA_PRIVATE, yes), (LowLevel.CKA_SENSITIVE, yes),
        (LowLevel.CKA_EXTRACTABLE, no), (LowLevel.CKA_ENCRYPT, yes), (LowLevel.CKA_DECRYPT, yes)])


def mechanism(nonce, key_id):
    """A wrapped key is bound to the label of the key that wraps it."""
    return PyKCS11.AES_GCM_Mechanism(nonce, key_id.encode("ascii"), TAG_BITS)


def wrap(session, content_key):
    key_id, nonce = os.environ["PKCS11_KEY"], os.urandom(NONCE_BYTES)
    sealed = session.encrypt(find_key(session, key_id), content_key, mechanism(nonce, key_id))
    return key_id, nonce + bytes(sealed)


def unwrap(session, key_id, wrapped):
    nonce, sealed = wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:]
    return bytes(session.decrypt(find_key(session, key_id), sealed, mechanism(nonce, key_id)))


def read_input():
    return base64.b64decode(sys.stdin.buffer.read().strip(), validate=True)


def main():
    words = sys.argv[1:]
    try:
        session = open_session()
        if words[:1] == ["make"] and len(words) == 2:
            make(session, words[1])
        elif words == ["wrap"]:
            key_id, wrapped = wrap(session, read_input())
            print(key_id, base64.b64encode(wrapped).decode("ascii"))
        elif words[:1] == ["unwrap"] and len(words) == 2:
            print(base64.b64encode(unwrap(session, words[1], read_input())).decode("ascii"))
        else:
            sys.exit("usage: pkcs11_keys.py make ID | wrap | unwrap ID")
    except KeyError as error:
        sys.exit(f"pkcs11_keys: {error.args[0]} is not set")
    except (PyKCS11.PyKCS11Error, ValueError) as error:
        sys.exit(f"pkcs11_keys: {error}")


if __name__ == "__main__":
    main()
