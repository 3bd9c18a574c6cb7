/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_blobs.c - see the header.
 */
#include "domain/writes/held_blobs.h"

#include <stdlib.h>

#include "domain/reason.h"

static int compare_held(const void *a, const void *b)
{
    const struct held_blob *x = a, *y = b;
    int order = str_compare(x->account, y->account);

    return order != 0 ? order : str_compare(blob_id_str(&x->content), blob_id_str(&y->content));
}

static void add_item(struct held_blobs *blobs, struct held_blob item)
{
    if (blobs->count == blobs->room) {
        size_t room = blobs->room > 0 ? 2 * blobs->room : 16;
        struct held_blob *items = ARENA_ARRAY(blobs->arena, struct held_blob, room);

        for (size_t i = 0; i < blobs->count; i++)
            items[i] = blobs->items[i];
        blobs->items = items;
        blobs->room = room;
    }
    blobs->items[blobs->count++] = item;
}

void held_blobs_note(struct held_blobs *blobs, const struct plan_row *row, struct property_list properties,
    struct property_rest rest)
{
    struct blob_id_list contents = blob_reference_list(properties, rest, blobs->arena);

    for (size_t i = 0; i < contents.count; i++)
        add_item(blobs, (struct held_blob){ .account = row->table->account, .content = contents.items[i] });
}

void held_blobs_sort(struct held_blobs *blobs)
{
    size_t different = 0;

    if (blobs->count == 0)
        return;
    qsort(blobs->items, blobs->count, sizeof(blobs->items[0]), compare_held);
    for (size_t i = 0; i < blobs->count; i++)
        if (i == 0 || compare_held(&blobs->items[i], &blobs->items[i - 1]) != 0)
            blobs->items[different++] = blobs->items[i];
    blobs->count = different;
}

static bool can_be_held(const struct plan_row *row, const struct blob_id *content)
{
    const struct held_blobs *blobs = row->blobs;
    const struct held_blob wanted = { .account = row->table->account, .content = *content };
    const struct held_blob *found = NULL;

    if (blobs->count > 0)
        found = bsearch(&wanted, blobs->items, blobs->count, sizeof(blobs->items[0]), compare_held);
    return found && found->can_be_held;
}

/* A merge leaves parts of a wide entity unread: they hold on to their contents (guard G74). */
static struct blob_id_list held_by(const struct row_state *state, struct arena *arena)
{
    return state->live ? blob_reference_list(state->properties, state->rest, arena)
                       : (struct blob_id_list){ 0 };
}

enum status held_blobs_check(const struct plan_row *row, const struct row_state *next, struct error *err)
{
    struct str rest = next->properties.bytes;
    struct blob_id_list before;
    struct property property;
    struct blob_id content;

    if (!row->blobs || !next->live)
        return STATUS_OK;
    TRY(blob_reference_check(next->properties, next->rest, err));
    before = held_by(&row->stored, row->blobs->arena);
    while (property_next(&rest, &property)) {
        if (property.value.type != PROPERTY_STRING || !blob_reference_parse(property.value.bytes, &content) ||
            blob_id_list_has(&before, &content) || can_be_held(row, &content))
            continue;
        (void)reason_set(err, REASON_BLOB_NOT_FOUND,
            "the account has no content of this reference that an entity could hold: put it first, without a "
            "name");
        error_add_meta(err, "property", property.name);
        return err->status;
    }
    return STATUS_OK;
}

enum status held_blobs_check_move(
    const struct plan_row *source, const struct plan_row *destination, struct arena *arena, struct error *err)
{
    if (!source->blobs || destination->blobs || held_by(&source->stored, arena).count == 0)
        return STATUS_OK;
    (void)reason_set(err, REASON_BLOB_PROPERTIES_REFUSED,
        "the entity holds blobs, and the table that it is moved to has no blob_properties");
    error_add_meta(err, "table", destination->table->name);
    return err->status;
}

/* The contents of the first list that the second one does not have. */
static struct blob_id_list ids_without(
    const struct blob_id_list *list, const struct blob_id_list *other, struct arena *arena)
{
    struct blob_id_list out = { .items = ARENA_ARRAY(arena, struct blob_id, list->count) };

    for (size_t i = 0; i < list->count; i++)
        if (!blob_id_list_has(other, &list->items[i]))
            out.items[out.count++] = list->items[i];
    return out;
}

struct held_change held_blobs_change(const struct plan_row *row, struct arena *arena)
{
    struct blob_id_list before = held_by(&row->stored, arena), after = held_by(&row->now, arena);

    return (struct held_change){ .taken = ids_without(&after, &before, arena),
        .given_up = ids_without(&before, &after, arena) };
}
