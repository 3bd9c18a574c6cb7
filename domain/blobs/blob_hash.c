/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_hash.c - see the header.
 */
#include "domain/blobs/blob_hash.h"

#include <assert.h>
#include <openssl/evp.h>

/* OpenSSL's context, behind a type of our own. */
static EVP_MD_CTX *context_of(struct blob_hash *hash)
{
    return (EVP_MD_CTX *)(void *)hash;
}

struct blob_hash *blob_hash_new(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool begun = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;

    assert(begun && "SHA-256 is always there");
    (void)begun;
    return (struct blob_hash *)(void *)context;
}

void blob_hash_free(struct blob_hash *hash)
{
    EVP_MD_CTX_free(context_of(hash));
}

void blob_hash_add(struct blob_hash *hash, struct str bytes)
{
    bool added = EVP_DigestUpdate(context_of(hash), bytes.data, bytes.len) == 1;

    assert(added && "bytes in memory have a digest");
    (void)added;
}

struct blob_digest blob_hash_end(struct blob_hash *hash)
{
    struct blob_digest out;
    bool ended = EVP_DigestFinal_ex(context_of(hash), out.bytes, NULL) == 1;

    assert(ended && "a hash ends once");
    (void)ended;
    return out;
}

struct blob_digest blob_hash_of(struct str bytes)
{
    struct blob_hash *hash = blob_hash_new();
    struct blob_digest out;

    blob_hash_add(hash, bytes);
    out = blob_hash_end(hash);
    blob_hash_free(hash);
    return out;
}
