/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_hits.c - see the header.
 */
#include "store/queries/lookup_hits.h"

#include <string.h>

#include "domain/entities/row_state.h"
#include "domain/indexes/index_names.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/session/resolve.h"

/* ---- the index ---- */

/*
 * Refuse a consistency token of another epoch, or of a table other than the index's source, and other than
 * that of its copies: it does not tell anything about this index.
 */
static enum status check_tokens(const struct session *session, const struct index *index,
    const struct freshness *freshness, struct error *err)
{
    for (size_t i = 0; i < freshness->at_least_count; i++) {
        const struct consistency *token = &freshness->at_least[i];

        if (token->block_count > 0 && token->epoch != session->catalogue->epoch)
            return reason_set(err, REASON_TOKEN_EXPIRED,
                "freshness.at_least[%zu] is from before a fail-over or restore of the database", i);
        if (token->table_id != 0 && token->table_id != index->source_table_id &&
            !(index->copies && token->table_id == index->copies->source_table_id))
            return reason_set(err, REASON_TOKEN_EXPIRED,
                "freshness.at_least[%zu] is of a write to another table than %.*s, or to one of that name "
                "that "
                "is gone",
                i, STR_ARG(index->source_name));
    }
    return STATUS_OK;
}

enum status lookup_hits_resolve(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err)
{
    TRY(resolve_index(session, operation, out, err));
    if ((*out)->state == INDEX_READY)
        return check_tokens(session, *out, &operation->in.lookup.freshness, err);
    reason_set(err, REASON_INDEX_NOT_READY, "index %.*s is still being built", STR_ARG((*out)->name));
    error_add_meta(err, "table", (*out)->name);
    return STATUS_PRECONDITION;
}

/* ---- from entries to sources ---- */

/* Make a hit of an entry: the keys and the ETag of the source, and the projected properties. */
static bool entry_as_source(const struct index *index, struct entity *entry)
{
    entry->etag.table_id = index->source_table_id;
    return index_entry_take_source(&entry->properties, &entry->key);
}

bool lookup_hits_name(const struct index *index, struct operation *operation)
{
    struct outcome_lookup *out = &operation->out.lookup;

    out->entries = ARENA_ARRAY(operation->arena, struct entity_key, out->count);
    for (size_t i = 0; i < out->count; i++) {
        out->entries[i] = out->entities[i].key;
        if (!entry_as_source(index, &out->entities[i]))
            return false;
    }
    return true;
}

/* Whether the caller wants less of each entity than all of it. */
static bool returns_parts(const struct operation_lookup *in)
{
    return in->select_count > 0 || in->keys_only;
}

/* Ask for the properties that the caller wants, and those that tell whether the entity still has its entry. */
static void ask_wide(const struct index *index, const struct operation *operation, struct operation_get *out)
{
    const struct operation_lookup *in = &operation->in.lookup;
    const struct str *needed;
    struct str *names;
    size_t count;

    if (!returns_parts(in))
        return;
    out->enough_bytes = LIMIT_REPLY_BYTES; /* only the properties that are asked for are read */
    count = index_names_of_key(index, operation->arena, &needed);
    names = ARENA_ARRAY(operation->arena, struct str, count + in->select_count);
    memcpy(names, needed, count * sizeof(*names));
    if (in->select_count > 0)
        memcpy(names + count, in->select, in->select_count * sizeof(*names));
    out->select = names;
    out->select_count = count + in->select_count;
}

void lookup_hits_ask(
    const struct index *index, bool is_wide, const struct operation *operation, struct operation *sources)
{
    const struct outcome_lookup *out = &operation->out.lookup;
    struct entity_key *keys = ARENA_ARRAY(operation->arena, struct entity_key, out->count);

    for (size_t i = 0; i < out->count; i++)
        keys[i] = out->entities[i].key;
    *sources = (struct operation){ .kind = OPERATION_GET,
        .account = operation->account,
        /* copied, since the read may reload the catalogue */
        .table = arena_copy(operation->arena, index->source_name),
        .arena = operation->arena,
        .times = operation->times,
        .in.get = { .keys = keys,
            .count = out->count,
            .enough_bytes =
                returns_parts(&operation->in.lookup) ? LIMIT_PAGE_EXAMINED_BYTES : LIMIT_REPLY_BYTES } };
    if (is_wide)
        ask_wide(index, operation, &sources->in.get);
}

bool lookup_hits_holds(const struct index *index, const struct entity *source, const struct entity_key *entry,
    struct arena *scratch)
{
    const struct row_state state = {
        .live = true, .ts = source->timestamp, .properties = source->properties
    };
    struct arena before = *scratch;
    struct entity_key wanted;
    bool holds = index_plan_key(index, &source->key, &state, scratch, &wanted) == PROJECTED &&
                 entity_key_compare(&wanted, entry) == 0;

    arena_rewind(scratch, &before);
    return holds;
}

/* The sources of the other entries were not read: the page ends before them. */
static void end_page(size_t count, struct outcome_lookup *out)
{
    if (count == out->count)
        return;
    out->count = count;
    out->more = true;
    out->position = out->entries[count - 1];
}

void lookup_hits_replace(
    const struct index *index, const struct operation *sources, struct operation *operation)
{
    struct outcome_lookup *out = &operation->out.lookup;
    size_t kept = 0;

    end_page(sources->out.get.count, out);
    for (size_t i = 0; i < out->count; i++) {
        const struct entity *source = &sources->out.get.entities[i];

        if (!sources->out.get.found[i] ||
            !lookup_hits_holds(index, source, &out->entries[i], operation->arena))
            continue;
        out->entries[kept] = out->entries[i];
        out->entities[kept++] = *source;
    }
    out->count = kept;
}
