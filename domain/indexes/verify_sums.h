/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_sums.h - compares what sources ask for with what is stored, without matching the two key
 * by key.
 *
 * Sources and entries are read in different orders. So each source key belongs to a class, by a
 * hash, and each class has a sum: the entries that sources ask for are added, the stored entries
 * are subtracted, in any order. A class whose sum is zero has exactly the entries that its sources
 * ask for. The keys of the other classes are suspects, which are judged one by one.
 *
 * Pure. The digests are not cryptographic: the sums detect damage, but not forgery by an attacker
 * who can write to the database.
 */
#ifndef DOMAIN_INDEXES_VERIFY_SUMS_H
#define DOMAIN_INDEXES_VERIFY_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/keys/entity_key.h"

enum { VERIFY_CLASSES = 8192 };

struct verify_sums {
    uint64_t classes[VERIFY_CLASSES];
};

/*
 * An entry that `source` asks for, or that is stored; content distinguishes entries with one key: a
 * digest or a version.
 */
void verify_sums_add(struct verify_sums *sums, const struct entity_key *source,
    const struct entity_key *entry, uint64_t content);
void verify_sums_subtract(struct verify_sums *sums, const struct entity_key *source,
    const struct entity_key *entry, uint64_t content);

/* Make the key a suspect, whatever the sum of its class. */
void verify_sums_mark(struct verify_sums *sums, const struct entity_key *key);

bool verify_sums_is_suspect(const struct verify_sums *sums, const struct entity_key *key);
bool verify_sums_agree(const struct verify_sums *sums); /* no class has suspects */

/*
 * The stored form: empty if there are no suspects. Decoding returns false for bytes that are not
 * sums.
 */
struct str verify_sums_encode(const struct verify_sums *sums, struct arena *arena);
bool verify_sums_decode(struct str bytes, struct verify_sums *out);

#endif
