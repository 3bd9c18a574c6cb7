/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aead.h - bytes encrypted and authenticated with AES-256-GCM: the nonce, the ciphertext, the tag.
 *
 * `bound` is authenticated and not stored: aead_open must be given the same bytes. A nonce must not be used twice
 * with one key: draw it at random, for at most 2^32 uses of a key. Memory that the cipher needs is always there.
 */
#ifndef DOMAIN_AEAD_H
#define DOMAIN_AEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    AEAD_KEY_BYTES = 32,
    AEAD_NONCE_BYTES = 12,
    AEAD_TAG_BYTES = 16,
    AEAD_EXTRA_BYTES = AEAD_NONCE_BYTES + AEAD_TAG_BYTES,
};

/* Encrypt. out has plain.len + AEAD_EXTRA_BYTES bytes. */
void aead_seal(const uint8_t key[static AEAD_KEY_BYTES], const uint8_t nonce[static AEAD_NONCE_BYTES],
    struct str bound, struct str plain, uint8_t *out);

/*
 * Decrypt. out has sealed.len - AEAD_EXTRA_BYTES bytes. false: sealed is too short, was changed, was encrypted with
 * another key, or is bound to other bytes; the content of out is then undefined.
 */
bool aead_open(const uint8_t key[static AEAD_KEY_BYTES], struct str bound, struct str sealed, uint8_t *out);

#endif
