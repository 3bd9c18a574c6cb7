/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unique_owners.c - see the header.
 */
#include "domain/writes/unique_owners.h"

#include <stdlib.h>
#include <string.h>

#include "domain/keys/key_range.h"
#include "domain/reason.h"

bool unique_owners_concern(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++)
        if (table->indexes[i]->is_unique)
            return true;
    return false;
}

/* ---- slots ---- */

static int compare_slots(const void *a, const void *b)
{
    const struct unique_slot *x = a, *y = b;

    if (x->index->index_id != y->index->index_id)
        return x->index->index_id < y->index->index_id ? -1 : 1;
    return unique_value_compare(&x->value, &y->value);
}

static struct unique_slot *find_slot(
    const struct unique_owners *owners, const struct index *index, const struct unique_value *value)
{
    const struct unique_slot key = { .index = index, .value = *value };

    if (owners->count == 0)
        return NULL;
    return bsearch(&key, owners->slots, owners->count, sizeof(key), compare_slots);
}

void unique_owners_note(struct unique_owners *owners, const struct index *index,
    const struct unique_value *value, const struct entity_key *key)
{
    if (owners->count == owners->room) {
        size_t room = owners->room > 0 ? 2 * owners->room : 16;
        struct unique_slot *slots = ARENA_ARRAY(owners->arena, struct unique_slot, room);

        if (owners->count > 0)
            memcpy(slots, owners->slots, owners->count * sizeof(*slots));
        owners->slots = slots;
        owners->room = room;
    }
    owners->slots[owners->count++] = (struct unique_slot){ .index = index, .value = *value, .offered = *key };
}

/*
 * Of two offers with equal values, the one with the smaller key is kept, so that the result does
 * not depend on the sort.
 */
static int compare_offers(const void *a, const void *b)
{
    const struct unique_slot *x = a, *y = b;
    int order = compare_slots(a, b);

    return order != 0 ? order : entity_key_compare(&x->offered, &y->offered);
}

void unique_owners_sort(struct unique_owners *owners)
{
    size_t kept = 0;

    if (owners->count > 1)
        qsort(owners->slots, owners->count, sizeof(owners->slots[0]), compare_offers);
    for (size_t i = 0; i < owners->count; i++)
        if (kept == 0 || compare_slots(&owners->slots[kept - 1], &owners->slots[i]) != 0)
            owners->slots[kept++] = owners->slots[i];
    owners->count = kept;
    owners->is_collecting = false;
}

void unique_owners_start(struct unique_owners *owners)
{
    for (size_t i = 0; i < owners->count; i++) {
        struct unique_slot *slot = &owners->slots[i];

        slot->is_owned = slot->was_owned;
        slot->owner = slot->before;
    }
    owners->is_incomplete = false;
}

/* ---- taking ---- */

/* Owners that a step has changed: they are restored if the step is refused. */
struct undo {
    struct unique_slot *slot;
    bool is_owned;
    struct entity_key owner;
    struct undo *next;
};

static void change(struct unique_owners *owners, struct unique_slot *slot, const struct entity_key *owner)
{
    struct undo *undo = ARENA_NEW(owners->arena, struct undo);

    *undo = (struct undo){ slot, slot->is_owned, slot->owner, owners->undo };
    owners->undo = undo;
    slot->is_owned = owner != NULL;
    if (owner)
        slot->owner = *owner;
}

static void put_back(struct unique_owners *owners)
{
    for (const struct undo *undo = owners->undo; undo; undo = undo->next) {
        undo->slot->is_owned = undo->is_owned;
        undo->slot->owner = undo->owner;
    }
}

static bool owns_value(const struct unique_slot *slot, const struct entity_key *key)
{
    return slot->is_owned && entity_key_compare(&slot->owner, key) == 0;
}

/* For the plan an expired entity does not exist, but it owns its value until it is deleted. */
static const struct row_state *standing_state(const struct plan_row *row, const struct row_state *before)
{
    return before->due ? &row->stored : before;
}

struct step_values {
    bool had, has;
    struct unique_value old, new;
};

static struct step_values values_of(const struct index *index, const struct unique_step *step, size_t i)
{
    const struct plan_row *row = step->rows[i];
    struct arena *arena = row->owners->arena;
    struct step_values out;

    out.had = unique_value_of(index, &row->key, standing_state(row, &step->before[i]), arena, &out.old);
    out.has = unique_value_of(index, &row->key, &row->now, arena, &out.new);
    return out;
}

static bool is_same(const struct step_values *values)
{
    return values->had && values->has && unique_value_compare(&values->old, &values->new) == 0;
}

static void note_values(struct unique_owners *owners, const struct index *index, const struct plan_row *row,
    const struct step_values *values)
{
    if (values->had)
        unique_owners_note(owners, index, &values->old, &row->key);
    if (values->has)
        unique_owners_note(owners, index, &values->new, &row->key);
}

static void release_value(struct unique_owners *owners, const struct index *index, const struct plan_row *row,
    const struct step_values *values)
{
    struct unique_slot *slot;

    if (!values->had || is_same(values))
        return;
    slot = find_slot(owners, index, &values->old);
    if (slot && owns_value(slot, &row->key))
        change(owners, slot, NULL);
}

/* The error may contain the owner's key if the caller may read the owner. */
static bool may_read(const struct operation *operation, const struct entity_key *key)
{
    return operation->in.write.may_read && (!operation->within || key_range_contains(operation->within, key));
}

static enum status refuse_violation(
    const struct unique_slot *slot, const struct unique_step *step, struct arena *arena, struct error *err)
{
    struct str properties = unique_value_properties(slot->index, arena);

    reason_set(err, REASON_UNIQUE_VIOLATION, "index %.*s is unique: another entity has the same %.*s",
        STR_ARG(slot->index->name), STR_ARG(properties));
    error_add_meta(err, "index", slot->index->name);
    error_add_meta(err, "properties", properties);
    if (may_read(step->operation, &slot->owner)) {
        error_add_meta(err, "owner_partition_key", slot->owner.partition);
        error_add_meta(err, "owner_row_key", slot->owner.row);
    }
    return err->status;
}

/* Whether the entity existed and keeps its value; it may do so without owning the value. */
static bool keeps_value(const struct unique_step *step, size_t i, const struct step_values *values)
{
    const struct row_state *before = &step->before[i];

    return is_same(values) && !before->due && (before->expires == 0 || before->expires > step->due);
}

static enum status take_value(struct unique_owners *owners, const struct index *index,
    const struct unique_step *step, size_t i, struct error *err)
{
    const struct plan_row *row = step->rows[i];
    struct step_values values = values_of(index, step, i);
    struct unique_slot *slot;

    if (!values.has)
        return STATUS_OK;
    slot = find_slot(owners, index, &values.new);
    if (!slot) {
        owners->is_incomplete = true;
        return reason_set(err, REASON_STORE_UNAVAILABLE,
            "other writes at the same moment need the same unique value: try again");
    }
    if (slot->is_owned && !owns_value(slot, &row->key))
        return keeps_value(step, i, &values) ? STATUS_OK : refuse_violation(slot, step, owners->arena, err);
    if (!slot->is_owned)
        change(owners, slot, &row->key);
    return STATUS_OK;
}

static bool is_written(const struct unique_step *step, size_t i)
{
    return step->rows[i]->now.version != step->before[i].version;
}

/* Release every value that the step takes away; while collecting, every value that it touches. */
static void release_all(struct unique_owners *owners, const struct unique_step *step)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct table *table = step->rows[i]->table;

        for (size_t k = 0; k < table->index_count && is_written(step, i); k++) {
            struct step_values values;

            if (!table->indexes[k]->is_unique)
                continue;
            values = values_of(table->indexes[k], step, i);
            if (owners->is_collecting)
                note_values(owners, table->indexes[k], step->rows[i], &values);
            else
                release_value(owners, table->indexes[k], step->rows[i], &values);
        }
    }
}

static enum status take_all(
    struct unique_owners *owners, const struct unique_step *step, size_t *failed, struct error *err)
{
    for (size_t i = 0; i < step->count; i++) {
        const struct table *table = step->rows[i]->table;

        *failed = i;
        for (size_t k = 0; k < table->index_count && is_written(step, i); k++)
            if (table->indexes[k]->is_unique)
                TRY(take_value(owners, table->indexes[k], step, i, err));
    }
    return STATUS_OK;
}

enum status unique_owners_take(const struct unique_step *step, size_t *failed, struct error *err)
{
    struct unique_owners *owners = step->count > 0 ? step->rows[0]->owners : NULL;
    enum status status;

    if (!owners)
        return STATUS_OK;
    owners->undo = NULL;
    release_all(owners, step);
    if (owners->is_collecting)
        return STATUS_OK;
    status = take_all(owners, step, failed, err);
    if (status != STATUS_OK)
        put_back(owners);
    return status;
}

bool unique_owners_claim(struct unique_owners *owners, const struct index *index,
    const struct unique_value *value, const struct entity_key *key)
{
    struct unique_slot *slot = find_slot(owners, index, value);

    if (!slot || (slot->is_owned && !owns_value(slot, key)))
        return false;
    slot->is_owned = true;
    slot->owner = *key;
    return true;
}

/* ---- before and after the plan ---- */

struct unique_standing unique_owners_standing(
    const struct index *index, const struct plan_row *row, struct arena *arena)
{
    const struct unique_owners *owners = row->owners;
    struct unique_standing out = { .was_owner = true, .is_owner = true };
    struct unique_value value;
    const struct unique_slot *slot;

    if (!index->is_unique || !owners || owners->is_collecting)
        return out;
    out.had_value = unique_value_of(index, &row->key, &row->stored, arena, &value);
    slot = out.had_value ? find_slot(owners, index, &value) : NULL;
    out.was_owner = slot && slot->was_owned && entity_key_compare(&slot->before, &row->key) == 0;
    out.has_value = unique_value_of(index, &row->key, &row->now, arena, &value);
    slot = out.has_value ? find_slot(owners, index, &value) : NULL;
    out.is_owner = slot && owns_value(slot, &row->key);
    return out;
}
