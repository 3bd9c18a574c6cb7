/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_plan.c - writes the bound parts as index_plan.c does, and bounds the rest of the key by
 * prefixes.
 *
 * The possible beginnings of a key are kept in ascending order. Each part combines them with the
 * encoded forms of its value, which are ascending too. No form is a prefix of another one, since
 * types differ in the second byte, and all forms of one type have the same length. So the
 * combinations are in ascending order, and none is a prefix of another one.
 */
#include "domain/indexes/lookup_plan.h"

#include <assert.h>

#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum { MAX_FORMS = 4 }; /* of one value: an Int32, an Int64, two Doubles */

/* The possible beginnings of a key, ascending. */
struct texts {
    struct str *items;
    size_t count;
};

/* The values of the look-up that are not bound yet. */
struct binding {
    const struct value *next;
    size_t left;
    size_t count; /* number of values at the start */
    const struct value_range *range;
    struct arena *arena;
};

/* ---- refusals ---- */

static enum status refuse_part(const struct key_part *part, const char *what, struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT, "look-up: %s for the key part '%.*s'", what, STR_ARG(part->text));
    error_add_meta(err, "property", part->text);
    return STATUS_INVALID;
}

static enum status refuse_surplus(const struct binding *binding, struct error *err)
{
    size_t max = binding->count - binding->left;

    reason_set(err, REASON_INVALID_INPUT,
        "look-up: the index has %zu key parts to bind, but %zu values%s were given", max, binding->count,
        binding->range ? " and a range" : "");
    error_add_meta_int(err, "limit", (int64_t)max);
    error_add_meta_int(err, "actual", (int64_t)binding->count);
    return STATUS_INVALID;
}

static enum status refuse_breadth(size_t count, struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT,
        "look-up: the numbers may be stored in %zu combinations of types, at most %d are read: bind fewer, "
        "or "
        "give Doubles",
        count, LIMIT_LOOKUP_RANGES);
    error_add_meta_int(err, "limit", LIMIT_LOOKUP_RANGES);
    error_add_meta_int(err, "actual", (int64_t)count);
    return STATUS_INVALID;
}

/* ---- intervals ---- */

static struct interval interval_of_point(struct str text)
{
    return (struct interval){ .has_low = true, .has_high = true, .low = text, .high = text };
}

/* From low (included) to high (excluded); an empty high means no bound. */
static struct interval half_open(struct str low, struct str high)
{
    return (struct interval){
        .has_low = low.len > 0, .low = low, .has_high = high.len > 0, .high_open = high.len > 0, .high = high
    };
}

static struct interval prefix_interval(struct str prefix, struct arena *arena)
{
    return half_open(prefix, key_part_prefix_end(prefix, arena));
}

/* ---- values that are equal ---- */

/*
 * Convert the value to the stored type. As in filters, a literal widens to the stored type, never
 * the reverse.
 */
static bool widens_to(enum property_type type, enum property_type stored)
{
    if (type == PROPERTY_INT32)
        return stored == PROPERTY_INT32 || stored == PROPERTY_INT64 || stored == PROPERTY_DOUBLE;
    if (type == PROPERTY_INT64)
        return stored == PROPERTY_INT64 || stored == PROPERTY_DOUBLE;
    return type == stored;
}

static struct value widen_value(const struct value *value, enum property_type type)
{
    struct value out = *value;

    if (type == PROPERTY_DOUBLE && value->type != PROPERTY_DOUBLE)
        out.number = (double)value->integer;
    out.type = type;
    return out;
}

/*
 * The number types that a value may have to equal another number. Their key forms are in this
 * order: !d, !i, !l.
 */
static const enum property_type number_types[] = { PROPERTY_DOUBLE, PROPERTY_INT32, PROPERTY_INT64 };

static bool is_number(enum property_type type)
{
    return type == PROPERTY_DOUBLE || type == PROPERTY_INT32 || type == PROPERTY_INT64;
}

static size_t equal_values(const struct value *value, struct value out[static MAX_FORMS])
{
    size_t count = 0;

    if (!is_number(value->type)) {
        out[0] = *value;
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(number_types); i++) {
        if (!widens_to(value->type, number_types[i]))
            continue;
        out[count++] = widen_value(value, number_types[i]);
        if (number_types[i] != PROPERTY_DOUBLE || out[count - 1].number != 0)
            continue;
        out[count - 1].number = -0.0;
        out[count] = out[count - 1];
        out[count++].number = 0.0;
    }
    return count;
}

/*
 * The encoded forms of all values that equal the given one, ascending. Forms that the part cannot
 * hold are left out.
 */
static size_t forms_of(const struct key_part *part, const struct value *value, bool last, struct arena *arena,
    struct str out[static MAX_FORMS])
{
    struct value values[MAX_FORMS] = { { .type = PROPERTY_NULL } };
    size_t count = part->is_literal ? 1 : equal_values(value, values), kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct buf form;

        buf_init(&form, arena);
        if (key_part_encode(part, &values[i], last, &form))
            out[kept++] = buf_str(&form);
    }
    if (kept > 1 && str_compare(out[0], out[1]) > 0) { /* inverted: 0.0 comes before -0.0 */
        struct str first = out[0];

        out[0] = out[1];
        out[1] = first;
    }
    return kept;
}

/* ---- keys ---- */

static struct str with_prefix(struct str prefix, struct str text, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    buf_append(&out, prefix);
    buf_append(&out, text);
    return buf_str(&out);
}

static struct texts no_texts(struct arena *arena)
{
    struct texts texts = { ARENA_NEW(arena, struct str), 1 };

    texts.items[0] = STR_EMPTY;
    return texts;
}

/* Append each of the forms to each of the texts. */
static void append_forms(struct texts *texts, const struct str *forms, size_t count, struct arena *arena)
{
    struct str *items = ARENA_ARRAY(arena, struct str, texts->count * count);

    for (size_t i = 0; i < texts->count * count; i++)
        items[i] = with_prefix(texts->items[i / count], forms[i % count], arena);
    *texts = (struct texts){ items, texts->count * count };
}

static enum status bind_part(
    struct binding *binding, const struct key_part *part, bool last, struct texts *texts, struct error *err)
{
    struct str forms[MAX_FORMS];
    size_t count = forms_of(part, binding->next, last, binding->arena, forms);

    if (count == 0)
        return refuse_part(part, "no entry can hold this value", err);
    if (texts->count * count > LIMIT_LOOKUP_RANGES)
        return refuse_breadth(texts->count * count, err);
    append_forms(texts, forms, count, binding->arena);
    if (!part->is_literal) {
        binding->next++;
        binding->left--;
    }
    return STATUS_OK;
}

/* Bind the source's partition key, which is not encoded. */
static enum status bind_plain(
    struct binding *binding, const struct key_part *part, struct texts *texts, struct error *err)
{
    if (binding->next->type != PROPERTY_STRING)
        return refuse_part(part, "a partition key is a string, another type was given", err);
    append_forms(texts, &binding->next->bytes, 1, binding->arena);
    binding->next++;
    binding->left--;
    return STATUS_OK;
}

static enum status bind_partition(
    const struct index *index, struct binding *binding, struct texts *out, struct error *err)
{
    const struct key_parts *parts = &index->partition_key;

    *out = no_texts(binding->arena);
    for (size_t i = 0; i < parts->count; i++) {
        const struct key_part *part = &parts->parts[i];

        if (!part->is_literal && binding->left == 0)
            return refuse_part(part, "every part of the partition key needs a value, and none is given", err);
        if (index->place == PLACE_SAME_PARTITION && !part->is_literal)
            TRY(bind_plain(binding, part, out, err));
        else
            TRY(bind_part(binding, part, i + 1 == parts->count, out, err));
    }
    return STATUS_OK;
}

/* ---- ranges ---- */

/* The row keys of an answer in one partition. */
struct spans {
    struct interval *rows;
    struct interval *others; /* as in lookup_range */
    size_t count;
};

/*
 * One end of the range, converted to the stored type. -0.0 equals 0.0, so an end at zero becomes
 * the one that includes both.
 */
static struct value end_of_type(const struct value *end, enum property_type type)
{
    struct value out = widen_value(end, type);

    if (type == PROPERTY_DOUBLE && out.number == 0)
        out.number = -0.0;
    return out;
}

/*
 * The range for stored values of one type. An end beyond what the part can hold on its own side is
 * dropped. false: no stored value of the type is in the range.
 */
static bool ends_of_type(const struct key_part *part, const struct value_range *range,
    enum property_type type, struct value_range *out)
{
    *out = (struct value_range){ .has_at_least = range->has_at_least, .has_below = range->has_below };
    if (range->has_at_least) {
        enum key_part_fit fit;

        out->at_least = end_of_type(&range->at_least, type);
        fit = key_part_fit(part, &out->at_least);
        out->has_at_least = fit == KEY_PART_FITS;
        if (fit == KEY_PART_ABOVE || fit == KEY_PART_NEVER)
            return false;
    }
    if (range->has_below) {
        enum key_part_fit fit;

        out->below = end_of_type(&range->below, type);
        fit = key_part_fit(part, &out->below);
        out->has_below = fit == KEY_PART_FITS;
        if (fit == KEY_PART_BELOW || fit == KEY_PART_NEVER)
            return false;
    }
    return true;
}

/*
 * Encode one end of a range behind the prefix. If the end is absent, the result is the end of all
 * values of the type.
 */
static struct str encode_end(
    const struct key_part *part, const struct value *value, struct str prefix, struct arena *arena)
{
    struct buf key;
    bool fits;

    buf_init(&key, arena);
    buf_append(&key, prefix);
    fits = key_part_encode(part, value, true, &key);
    assert(fits && "key_part_fit said so");
    (void)fits;
    return buf_str(&key);
}

/*
 * The interval of keys with at_least <= value < below. Encoded texts keep the order whatever
 * follows them, so `at_least` is a lower bound and `below` an upper one. Inverted numbers have a fixed
 * length and the opposite order: the interval lies between the end of the keys that begin with
 * `below` and the end of those that begin with `at_least`. false: the interval is empty.
 */
static bool interval_of(const struct key_part *part, const struct value_range *ends, enum property_type type,
    struct str prefix, struct arena *arena, struct interval *out)
{
    struct str region = with_prefix(prefix, key_part_prefix(type), arena);
    struct str low = region, high = key_part_prefix_end(region, arena);
    struct str at_least = ends->has_at_least ? encode_end(part, &ends->at_least, prefix, arena) : STR_EMPTY;
    struct str below = ends->has_below ? encode_end(part, &ends->below, prefix, arena) : STR_EMPTY;

    if (ends->has_at_least && !part->inverted)
        low = at_least;
    else if (ends->has_at_least)
        high = key_part_prefix_end(at_least, arena);
    if (ends->has_below && !part->inverted)
        high = below;
    else if (ends->has_below)
        low = key_part_prefix_end(below, arena);
    *out = half_open(low, high);
    /* No text is below the empty one. */
    return !(ends->has_below && high.len == 0);
}

static bool is_ordered(const struct interval *interval)
{
    return !interval->has_low || !interval->has_high || str_compare(interval->low, interval->high) < 0 ||
           interval_is_point(interval);
}

static void add_span(struct spans *spans, const struct interval *row, struct str prefix, struct arena *arena)
{
    if (!is_ordered(row))
        return;
    if (spans->others)
        spans->others[spans->count] = half_open(
            with_prefix(prefix, STR_LITERAL("!A"), arena), with_prefix(prefix, STR_LITERAL("\""), arena));
    spans->rows[spans->count++] = *row;
}

static enum status check_ends(const struct key_part *part, const struct value_range *range, struct error *err)
{
    if (range->has_at_least && range->has_below && range->below.type != range->at_least.type)
        return refuse_part(part, "the ends of the range have different types", err);
    if ((range->has_at_least && key_part_fit(part, &range->at_least) == KEY_PART_NEVER) ||
        (range->has_below && key_part_fit(part, &range->below) == KEY_PART_NEVER))
        return refuse_part(part, "no entry can hold an end of the range", err);
    return STATUS_OK;
}

static enum status plan_range(const struct key_part *part, const struct binding *binding,
    const struct texts *prefixes, struct spans *out, struct error *err)
{
    const struct value_range *range = binding->range;
    enum property_type type = range->has_at_least ? range->at_least.type : range->below.type;
    const enum property_type *types = is_number(type) ? number_types : &type;
    size_t type_count = is_number(type) ? ARRAY_LEN(number_types) : 1;

    TRY(check_ends(part, range, err));
    out->rows = ARENA_ARRAY(binding->arena, struct interval, prefixes->count * type_count);
    if (type == PROPERTY_STRING)
        out->others = ARENA_ARRAY(binding->arena, struct interval, prefixes->count);
    for (size_t i = 0; i < prefixes->count * type_count; i++) {
        struct str prefix = prefixes->items[i / type_count];
        enum property_type stored = types[i % type_count];
        struct value_range ends;
        struct interval row;

        if (widens_to(type, stored) && ends_of_type(part, range, stored, &ends) &&
            interval_of(part, &ends, stored, prefix, binding->arena, &row))
            add_span(out, &row, prefix, binding->arena);
    }
    return STATUS_OK;
}

static enum status plan_row(
    const struct index *index, struct binding *binding, struct spans *out, struct error *err)
{
    struct index_row_parts row = index_row_parts(index);
    struct texts texts = no_texts(binding->arena);
    size_t i;

    for (i = 0; i < row.count && (row.parts[i]->is_literal || binding->left > 0); i++)
        TRY(bind_part(binding, row.parts[i], i + 1 == row.count, &texts, err));
    if (i < row.count && binding->range)
        return plan_range(row.parts[i], binding, &texts, out, err);
    if (binding->left > 0 || binding->range)
        return refuse_surplus(binding, err);
    out->rows = ARENA_ARRAY(binding->arena, struct interval, texts.count);
    for (size_t k = 0; k < texts.count; k++)
        out->rows[out->count++] = i == row.count ? interval_of_point(texts.items[k])
                                                 : prefix_interval(texts.items[k], binding->arena);
    return STATUS_OK;
}

/* ---- the result ---- */

static bool has_properties(const struct key_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (!parts->parts[i].is_literal)
            return true;
    }
    return false;
}

static struct lookup_range range_of_everything(struct arena *arena)
{
    struct lookup_range out = { .keys = ARENA_NEW(arena, struct key_filter), .count = 1 };

    out.keys[0] = (struct key_filter){ 0 };
    return out;
}

/* Combine each partition with each span. */
static enum status combine_ranges(const struct texts *partitions, const struct spans *spans,
    struct arena *arena, struct lookup_range *out, struct error *err)
{
    size_t count = partitions->count * spans->count;
    struct lookup_range found = { 0 };

    if (count > LIMIT_LOOKUP_RANGES)
        return refuse_breadth(count, err);
    found.keys = ARENA_ARRAY(arena, struct key_filter, count);
    if (spans->others)
        found.others = ARENA_ARRAY(arena, struct interval, count);
    for (size_t i = 0; i < count; i++) {
        struct str partition = partitions->items[i / spans->count];

        if (partition.len > LIMIT_KEY_BYTES) /* no entry has such a key */
            continue;
        if (spans->others)
            found.others[found.count] = spans->others[i % spans->count];
        found.keys[found.count++] = (struct key_filter){ .partition = interval_of_point(partition),
            .row = spans->rows[i % spans->count] };
    }
    *out = found;
    return STATUS_OK;
}

enum status lookup_plan(const struct index *index, const struct operation_lookup *in, struct arena *arena,
    struct lookup_range *out, struct error *err)
{
    bool ranged = in->range.has_at_least || in->range.has_below;
    struct binding binding = { .next = in->equals,
        .left = in->equal_count,
        .count = in->equal_count,
        .range = ranged ? &in->range : NULL,
        .arena = arena };
    struct texts partitions;
    struct spans spans = { 0 };

    if (in->equal_count == 0 && !ranged && has_properties(&index->partition_key)) {
        *out = range_of_everything(arena);
        return STATUS_OK;
    }
    TRY(bind_partition(index, &binding, &partitions, err));
    TRY(plan_row(index, &binding, &spans, err));
    return combine_ranges(&partitions, &spans, arena, out, err);
}

bool lookup_range_holds(const struct lookup_range *range, const struct entity_key *entry)
{
    for (size_t i = 0; i < range->count; i++)
        if (key_filter_matches(&range->keys[i], entry))
            return !range->others || !interval_contains(&range->others[i], entry->row);
    return false;
}
