/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_wrap.h - account keys in their stored form: in clear, or encrypted ("wrapped") with a
 * wrapping key that is not in the database.
 *
 * Pure. A wrapped key is bound to the name of its account, so it cannot be used in another
 * account's row. It names its wrapping key. A program has up to MAX_WRAPPING_KEYS: the first one
 * wraps, and all of them unwrap, so a wrapping key can be replaced while the service runs.
 *
 *   clear    the 32 bytes of the key
 *   wrapped  version 1, id of the wrapping key (8 bytes), nonce (12), the key encrypted with
 *            AES-256-GCM (32), tag (16)
 */
#ifndef DOMAIN_ACCESS_KEY_WRAP_H
#define DOMAIN_ACCESS_KEY_WRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "domain/access/account.h"
#include "domain/aead.h"

enum {
    WRAPPING_KEY_BYTES = AEAD_KEY_BYTES,
    WRAPPING_ID_BYTES = 8,
    MAX_WRAPPING_KEYS = 4,
    WRAP_NONCE_BYTES = AEAD_NONCE_BYTES,
    WRAPPED_KEY_BYTES = 1 + WRAPPING_ID_BYTES + ACCOUNT_KEY_BYTES + AEAD_EXTRA_BYTES,
};

struct wrapping_key {
    uint8_t bytes[WRAPPING_KEY_BYTES];
    /* computed from a hash of the key; the key cannot be found from it */
    uint8_t id[WRAPPING_ID_BYTES];
};

/* count 0: account keys are stored in clear. */
struct wrapping_keys {
    struct wrapping_key keys[MAX_WRAPPING_KEYS];
    size_t count;
};

/*
 * Parse wrapping keys: 64 hexadecimal digits each, with white space between them; the first one
 * wraps.
 *
 * STATUS_INVALID: the text has another form or no key; the message never contains any of the text.
 */
MUST_USE enum status key_wrap_parse(struct str text, struct wrapping_keys *out, struct error *err);

/*
 * Make the stored form, in the arena. keys: the first one wraps; if there is none, the key is
 * stored in clear. nonce: random, never used again.
 */
struct str key_wrap_seal(const struct wrapping_keys *keys, struct str account, const struct account_key *key,
    const uint8_t nonce[WRAP_NONCE_BYTES], struct arena *arena);

/* Whether this stored form was made with the key that key_wrap_seal would use now. */
bool key_wrap_is_current(const struct wrapping_keys *keys, struct str stored);

/*
 * Get the account key from its stored form. account: the name of its account.
 *
 * STATUS_INVALID: it was wrapped with a wrapping key that is not among `keys`, or for another
 * account, or is damaged.
 */
MUST_USE enum status key_wrap_open(const struct wrapping_keys *keys, struct str account, struct str stored,
    struct account_key *out, struct error *err);

#endif
