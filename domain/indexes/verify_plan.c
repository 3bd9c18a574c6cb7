/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_plan.c - see the header.
 */
#include "domain/indexes/verify_plan.h"

static bool is_at(const struct entity_key *key, const struct index_entry *wanted)
{
    return wanted && entity_key_compare(key, &wanted->key) == 0;
}

static const struct verify_stored *find_stored(const struct verify_case *facts)
{
    for (size_t i = 0; i < facts->stored_count; i++)
        if (is_at(&facts->stored[i].key, facts->wanted))
            return &facts->stored[i];
    return NULL;
}

/* A dangling entry is a difference by itself, whether the manifest names it or not. */
static bool is_stored(const struct verify_case *facts, const struct entity_key *key)
{
    for (size_t i = 0; i < facts->stored_count; i++)
        if (entity_key_compare(&facts->stored[i].key, key) == 0)
            return true;
    return false;
}

/*
 * Find an item of the manifest that names no existing entry of the index; NULL if there is none.
 * *found: the number of items that name the wanted entry.
 */
static const struct manifest_item *find_stray(const struct verify_case *facts, size_t *found)
{
    const struct manifest_item *stray = NULL;

    *found = 0;
    for (size_t i = 0; i < facts->manifest.count; i++) {
        const struct manifest_item *item = &facts->manifest.items[i];

        if (item->index_id != facts->index_id)
            continue;
        if (is_at(&item->key, facts->wanted) && item->digest == facts->wanted->digest)
            ++*found;
        else if (!stray && (is_at(&item->key, facts->wanted) || !is_stored(facts, &item->key)))
            stray = item;
    }
    return stray;
}

/* false: the manifest names the wanted entry once, and no other entry of the index. */
static bool is_manifest_wrong(const struct verify_case *facts, struct difference *out)
{
    const struct manifest_item *stray;
    size_t found;

    if (!facts->has_manifest)
        return false;
    stray = find_stray(facts, &found);
    if (!facts->is_manifest_damaged && !stray && found == (facts->wanted ? 1 : 0))
        return false;
    *out = (struct difference){ .class = DIFFERENCE_MANIFEST, .wanted = facts->wanted };
    if (facts->wanted)
        out->entry = facts->wanted->key;
    else
        out->entry = stray ? stray->key : (struct entity_key){ STR_EMPTY, STR_EMPTY };
    return true;
}

static size_t judge_wanted(const struct verify_case *facts, struct difference *out)
{
    const struct verify_stored *found = find_stored(facts);

    if (facts->wanted && (!found || found->digest != facts->wanted->digest)) {
        *out = (struct difference){ .class = found ? DIFFERENCE_MISMATCHED : DIFFERENCE_MISSING,
            .entry = facts->wanted->key,
            .wanted = facts->wanted,
            .found = found };
        return 1;
    }
    if (!is_manifest_wrong(facts, out))
        return 0;
    out->found = found;
    return 1;
}

size_t verify_plan_max(const struct verify_case *facts)
{
    return facts->stored_count + 1;
}

size_t verify_plan(const struct verify_case *facts, struct difference *out)
{
    size_t count = 0;

    if (facts->in_flight)
        return 0;
    if (facts->is_complete)
        count = judge_wanted(facts, out);
    for (size_t i = 0; i < facts->stored_count; i++)
        if (!is_at(&facts->stored[i].key, facts->wanted))
            out[count++] = (struct difference){
                .class = DIFFERENCE_DANGLING, .entry = facts->stored[i].key, .found = &facts->stored[i]
            };
    return count;
}
