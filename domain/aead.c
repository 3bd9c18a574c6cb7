/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aead.c - see the header.
 */
#include "domain/aead.h"

#include <assert.h>
#include <openssl/evp.h>
#include <string.h>

static EVP_CIPHER_CTX *new_cipher(const uint8_t *key, const uint8_t *nonce, struct str bound, bool encrypts)
{
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int len, done;

    done = cipher && EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, nonce, encrypts) == 1 &&
           EVP_CipherUpdate(cipher, NULL, &len, (const uint8_t *)bound.data, (int)bound.len) == 1;
    assert(done && "AES-256-GCM is always there");
    (void)done;
    return cipher;
}

void aead_seal(const uint8_t key[static AEAD_KEY_BYTES], const uint8_t nonce[static AEAD_NONCE_BYTES],
    struct str bound, struct str plain, uint8_t *out)
{
    EVP_CIPHER_CTX *cipher = new_cipher(key, nonce, bound, true);
    uint8_t *ciphertext = out + AEAD_NONCE_BYTES, *tag = ciphertext + plain.len;
    int len, done;

    memcpy(out, nonce, AEAD_NONCE_BYTES);
    done = EVP_CipherUpdate(cipher, ciphertext, &len, (const uint8_t *)plain.data, (int)plain.len) == 1 &&
           EVP_CipherFinal_ex(cipher, tag, &len) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, AEAD_TAG_BYTES, tag) == 1;
    assert(done && "bytes in memory can be encrypted");
    (void)done;
    EVP_CIPHER_CTX_free(cipher);
}

bool aead_open(const uint8_t key[static AEAD_KEY_BYTES], struct str bound, struct str sealed, uint8_t *out)
{
    uint8_t tag[AEAD_TAG_BYTES], rest[AEAD_TAG_BYTES];
    EVP_CIPHER_CTX *cipher;
    struct str ciphertext;
    int len;
    bool done;

    if (sealed.len < AEAD_EXTRA_BYTES)
        return false;
    ciphertext = str_of_bytes(sealed.data + AEAD_NONCE_BYTES, sealed.len - AEAD_EXTRA_BYTES);
    memcpy(tag, ciphertext.data + ciphertext.len, AEAD_TAG_BYTES);
    cipher = new_cipher(key, (const uint8_t *)sealed.data, bound, false);
    done = EVP_CipherUpdate(cipher, out, &len, (const uint8_t *)ciphertext.data, (int)ciphertext.len) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, AEAD_TAG_BYTES, tag) == 1 &&
           EVP_CipherFinal_ex(cipher, rest, &len) == 1;
    EVP_CIPHER_CTX_free(cipher);
    return done;
}
