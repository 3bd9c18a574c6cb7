/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_parse.c - makes the canonical list from what a caller sent.
 *
 * The order of the checks decides which error a caller gets: records that cannot be read,
 * duplicates, names, the number of properties, the size of the entity, the size of each value.
 * Every pass is linear except for one sort, and the records are written once, into exactly the
 * bytes they need.
 */
#include "domain/properties/property.h"

#include <stdlib.h>

#include "base/wire.h"
#include "domain/limits.h"
#include "domain/properties/property_name.h"
#include "domain/properties/property_size.h"
#include "domain/properties/property_value.h"
#include "domain/reason.h"

/*
 * A bound on entries before any sorting: nulls and duplicates count here, so that a request cannot
 * cause the sorting of a million names.
 */
enum { MAX_RECORDS = 10000 };

enum { ENTRY_NAME = 1, ENTRY_VALUE = 2 };

struct draft {
    struct str name;
    struct value_draft value;
};

/* A map entry, by the rules of protobuf: the last name wins, values merge, both may be absent. */
static bool draft_read(struct str slice, struct draft *draft)
{
    struct wire_field field;
    enum wire_result result;

    *draft = (struct draft){ .name = STR_EMPTY };
    while ((result = wire_read_field(&slice, &field)) == WIRE_FIELD) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == ENTRY_NAME)
            draft->name = field.bytes;
        else if (field.number == ENTRY_VALUE && !property_value_merge(&draft->value, field.bytes))
            return false;
    }
    return result == WIRE_END;
}

static enum status drafts_read(
    const struct str *slices, size_t count, struct draft *drafts, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!draft_read(slices[i], &drafts[i])) {
            reason_set(
                err, REASON_INVALID_INPUT, "property %zu of the entity, counted from 0, is malformed", i);
            property_name_blame(err, drafts[i].name);
            error_add_meta_int(err, "position", (int64_t)i);
            return STATUS_INVALID;
        }
        TRY(property_value_finish(&drafts[i].value, drafts[i].name, arena, err));
    }
    return STATUS_OK;
}

static int compare_drafts(const void *a, const void *b)
{
    return str_compare(((const struct draft *)a)->name, ((const struct draft *)b)->name);
}

/* Sort by name, unless the names are sorted already. */
static void drafts_sort(struct draft *drafts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (str_compare(drafts[i - 1].name, drafts[i].name) > 0) {
            qsort(drafts, count, sizeof(*drafts), compare_drafts);
            return;
        }
    }
}

static enum status drafts_check_duplicates(const struct draft *drafts, size_t count, struct error *err)
{
    char subject[PROPERTY_SUBJECT_BYTES];

    for (size_t i = 1; i < count; i++) {
        if (!str_equal(drafts[i - 1].name, drafts[i].name))
            continue;
        reason_set(err, REASON_DUPLICATE_PROPERTIES_SPECIFIED, "%s is specified more than once",
            property_name_subject(drafts[i].name, subject));
        property_name_blame(err, drafts[i].name);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

static size_t drafts_drop_nulls(struct draft *drafts, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (drafts[i].value.value.type == PROPERTY_NULL)
            continue;
        if (kept != i)
            drafts[kept] = drafts[i];
        kept++;
    }
    return kept;
}

static enum status refuse_value(const struct draft *draft, size_t actual, int limit, struct error *err)
{
    char subject[PROPERTY_SUBJECT_BYTES];
    bool is_string = draft->value.value.type == PROPERTY_STRING;

    reason_set(err, REASON_PROPERTY_VALUE_TOO_LARGE, "%s: the %s has %zu %s, at most %d are allowed",
        property_name_subject(draft->name, subject), is_string ? "string" : "binary", actual,
        is_string ? "UTF-16 code units" : "bytes", limit);
    property_name_blame(err, draft->name);
    error_add_meta_int(err, "limit", limit);
    error_add_meta_int(err, "actual", (int64_t)actual);
    return STATUS_INVALID;
}

/* What a table without wide entities refuses: the entity, before its values. */
static enum status drafts_check_entity(
    const struct draft *drafts, size_t count, const struct entity_key *key, struct error *err)
{
    size_t size = property_size_of_entity(key);

    if (count > LIMIT_PROPERTIES)
        return property_size_refuse_count(count, LIMIT_PROPERTIES, err);
    for (size_t i = 0; i < count; i++)
        size += property_size_of_name(drafts[i].name) +
                property_size_of_value(&drafts[i].value.value, drafts[i].value.units);
    return size > LIMIT_ENTITY_BYTES ? property_size_refuse(size, err) : STATUS_OK;
}

/* What every table refuses: a value that is too large by itself. */
static enum status drafts_check_values(const struct draft *drafts, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *value = &drafts[i].value.value;

        if (value->type == PROPERTY_STRING && drafts[i].value.units > LIMIT_STRING_UNITS)
            return refuse_value(&drafts[i], drafts[i].value.units, LIMIT_STRING_UNITS, err);
        if (value->type == PROPERTY_BINARY && value->bytes.len > LIMIT_BINARY_BYTES)
            return refuse_value(&drafts[i], value->bytes.len, LIMIT_BINARY_BYTES, err);
    }
    return STATUS_OK;
}

static struct property_list drafts_write(const struct draft *drafts, size_t count, struct arena *arena)
{
    size_t bytes = 0;
    char *begin, *at;

    for (size_t i = 0; i < count; i++)
        bytes += property_value_record_bytes(drafts[i].name, &drafts[i].value.value);
    at = begin = arena_alloc(arena, bytes);
    for (size_t i = 0; i < count; i++)
        at = property_value_record_put(at, drafts[i].name, &drafts[i].value.value);
    return (struct property_list){ .bytes = str_of_bytes(begin, bytes) };
}

/* Read, sort and check the names; *count becomes the number of properties that are not null. */
static enum status drafts_make(
    const struct str *slices, size_t *count, struct draft *drafts, struct arena *arena, struct error *err)
{
    TRY(drafts_read(slices, *count, drafts, arena, err));
    drafts_sort(drafts, *count);
    TRY(drafts_check_duplicates(drafts, *count, err));
    for (size_t i = 0; i < *count; i++)
        TRY(property_name_check(drafts[i].name, err));
    *count = drafts_drop_nulls(drafts, *count);
    return STATUS_OK;
}

enum status property_list_parse(const struct str *slices, size_t count, const struct entity_key *key,
    struct arena *arena, struct property_list *out, struct error *err)
{
    struct draft *drafts;

    if (count > MAX_RECORDS)
        return property_size_refuse_count(count, LIMIT_PROPERTIES, err);
    drafts = arena_alloc(arena, count * sizeof(*drafts));
    TRY(drafts_make(slices, &count, drafts, arena, err));
    TRY(drafts_check_entity(drafts, count, key, err));
    TRY(drafts_check_values(drafts, count, err));
    *out = drafts_write(drafts, count, arena);
    return STATUS_OK;
}

static struct error *kept_error(const struct error *err, struct arena *arena)
{
    struct error *kept = ARENA_NEW(arena, struct error);

    *kept = *err;
    return kept;
}

enum status property_list_parse_wide(const struct property_slices *slices, struct arena *arena,
    struct property_list *out, struct property_excess **excess, struct error *err)
{
    size_t count = slices->count;
    struct draft *drafts;

    *excess = NULL;
    if (count > LIMIT_WIDE_PROPERTIES)
        return property_size_refuse_count(count, LIMIT_WIDE_PROPERTIES, err);
    drafts = arena_alloc(arena, count * sizeof(*drafts));
    TRY(drafts_make(slices->items, &count, drafts, arena, err));
    if (drafts_check_entity(drafts, count, slices->key, err) == STATUS_OK) {
        TRY(drafts_check_values(drafts, count, err));
    } else {
        *excess = ARENA_NEW(arena, struct property_excess);
        (*excess)->in_table = kept_error(err, arena);
        if (drafts_check_values(drafts, count, err) != STATUS_OK)
            (*excess)->in_wide_table = kept_error(err, arena);
    }
    *out = drafts_write(drafts, count, arena);
    return STATUS_OK;
}
