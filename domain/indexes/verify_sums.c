/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_sums.c - see the header.
 */
#include "domain/indexes/verify_sums.h"

#include <endian.h>
#include <string.h>

#include "domain/digest.h"

static uint64_t key_digest(const struct entity_key *key)
{
    return digest_of(digest_of(0, key->partition), key->row);
}

static uint64_t *class_of(struct verify_sums *sums, uint64_t source)
{
    return &sums->classes[source % VERIFY_CLASSES];
}

static uint64_t term(uint64_t source, const struct entity_key *entry, uint64_t content)
{
    uint64_t words[] = { htole64(source), htole64(key_digest(entry)), htole64(content) };

    return digest_of(0, (struct str){ (const char *)words, sizeof(words) });
}

void verify_sums_add(struct verify_sums *sums, const struct entity_key *source,
    const struct entity_key *entry, uint64_t content)
{
    uint64_t digest = key_digest(source);

    *class_of(sums, digest) += term(digest, entry, content);
}

void verify_sums_subtract(struct verify_sums *sums, const struct entity_key *source,
    const struct entity_key *entry, uint64_t content)
{
    uint64_t digest = key_digest(source);

    *class_of(sums, digest) -= term(digest, entry, content);
}

/* No entry has such a term, since it has no content. */
void verify_sums_mark(struct verify_sums *sums, const struct entity_key *key)
{
    uint64_t digest = key_digest(key), word = htole64(digest);

    *class_of(sums, digest) += digest_of(1, (struct str){ (const char *)&word, sizeof(word) });
}

bool verify_sums_is_suspect(const struct verify_sums *sums, const struct entity_key *key)
{
    return sums->classes[key_digest(key) % VERIFY_CLASSES] != 0;
}

bool verify_sums_agree(const struct verify_sums *sums)
{
    for (size_t i = 0; i < VERIFY_CLASSES; i++)
        if (sums->classes[i] != 0)
            return false;
    return true;
}

struct str verify_sums_encode(const struct verify_sums *sums, struct arena *arena)
{
    uint64_t *words;

    if (verify_sums_agree(sums))
        return STR_EMPTY;
    words = ARENA_ARRAY(arena, uint64_t, VERIFY_CLASSES);
    for (size_t i = 0; i < VERIFY_CLASSES; i++)
        words[i] = htole64(sums->classes[i]);
    return (struct str){ (const char *)words, sizeof(sums->classes) };
}

bool verify_sums_decode(struct str bytes, struct verify_sums *out)
{
    *out = (struct verify_sums){ 0 };
    if (bytes.len == 0)
        return true;
    if (bytes.len != sizeof(out->classes))
        return false;
    memcpy(out->classes, bytes.data, bytes.len);
    for (size_t i = 0; i < VERIFY_CLASSES; i++)
        out->classes[i] = le64toh(out->classes[i]);
    return true;
}
