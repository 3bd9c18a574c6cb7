/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ring.h - the keys of a file that wrap content keys: the first one wraps, all of them unwrap.
 *
 * The file has a line `ID BASE64` for each key of 32 bytes; empty lines and lines that begin with # are left out.
 * An id has 1 to TAVOLA_MAX_KEY_ID characters of ASCII, none of them a space. docs/client-encryption.md has the
 * format of wrapped keys.
 */
#ifndef CLIENT_LIB_KEY_RING_H
#define CLIENT_LIB_KEY_RING_H

#include "base/buf.h"
#include "client/lib/tavola.h"
#include "domain/aead.h"

enum { MAX_RING_KEYS = 64 };

struct ring_key {
    char id[TAVOLA_MAX_KEY_ID + 1];
    uint8_t bytes[AEAD_KEY_BYTES];
};

struct key_ring {
    struct ring_key keys[MAX_RING_KEYS];
    size_t count;
};

/* Read a file. TAVOLA_INVALID_ARGUMENT: it cannot be read, or is malformed; the message names the line. */
enum tavola_code key_ring_read(const char *path, struct key_ring *out, struct tavola_error *error);

/* Wrap a content key with the first key: a tavola_wrap_fn. context: the ring. false: no random bytes. */
bool key_ring_wrap(void *context, const unsigned char *content_key, struct tavola_wrapped_key *out);

/* Unwrap a content key: a tavola_unwrap_fn. context: the ring. NOT_FOUND: the ring does not have the key; DATA_LOSS. */
enum tavola_code key_ring_unwrap(
    void *context, const struct tavola_wrapped_key *wrapped, unsigned char *content_key);

/* Append a text behind its length, 4 bytes: what values and keys are bound to is made of such texts. */
void key_ring_bind(struct buf *out, struct str text);

#endif
