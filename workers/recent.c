/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.c - the hash of an intent selects its slot; a later intent overwrites an earlier one.
 */
#include "workers/recent.h"

#include <string.h>

#include "base/hash.h"

static const int64_t remember_us = 3 * 1000 * 1000;

/* Hash the bucket and the id. */
static uint64_t hash_of(const struct intent *intent)
{
    uint64_t hash = hash_number(HASH_EMPTY, (uint16_t)intent->bucket);

    return hash_number(hash_number(hash, intent->id.us), intent->id.low);
}

bool recent_has(const struct recent *recent, const struct intent *intent, int64_t now_us)
{
    uint64_t hash = hash_of(intent);
    const struct recent_slot *slot = &recent->slots[hash % RECENT_SLOTS];

    return slot->hash == hash && now_us < slot->until_us;
}

void recent_note(struct recent *recent, const struct intent *intent, int64_t now_us)
{
    uint64_t hash = hash_of(intent);

    recent->slots[hash % RECENT_SLOTS] =
        (struct recent_slot){ .hash = hash, .until_us = now_us + remember_us };
}

void recent_forget(struct recent *recent)
{
    memset(recent, 0, sizeof(*recent));
}
