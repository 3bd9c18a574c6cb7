/*
 * lookup_plan.c - writes the bound parts as project() would and bounds what follows by prefixes.
 */
#include "domain/lookup_plan.h"

#include "domain/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"

/* The values that are still to be bound. */
struct binding {
    const struct value *next;
    size_t left;
    size_t count; /* at the start */
    const struct value_range *range;
    struct arena *arena;
};

/* ---- refusals ---- */

static enum status refuse_part(const struct key_part *part, const char *what, struct error *err)
{
    error_reason(err, REASON_INVALID_INPUT, "look-up: %s for the key part '%.*s'", what, STR_ARG(part->text));
    error_add_meta(err, "property", part->text);
    return STATUS_INVALID;
}

static enum status refuse_surplus(const struct binding *binding, struct error *err)
{
    size_t most = binding->count - binding->left;

    error_reason(err, REASON_INVALID_INPUT,
        "look-up: the index has %zu key parts to bind, but %zu values%s were given", most, binding->count,
        binding->range ? " and a range" : "");
    error_add_meta_int(err, "limit", (int64_t)most);
    error_add_meta_int(err, "actual", (int64_t)binding->count);
    return STATUS_INVALID;
}

/* ---- intervals ---- */

static struct interval point(struct str text)
{
    return (struct interval){ .has_low = true, .has_high = true, .low = text, .high = text };
}

/* From low on, to below high; an empty high is none. */
static struct interval half_open(struct str low, struct str high)
{
    return (struct interval){
        .has_low = low.len > 0, .low = low, .has_high = high.len > 0, .high_open = high.len > 0, .high = high
    };
}

static struct interval prefix_interval(struct str prefix, struct arena *arena)
{
    return half_open(prefix, key_prefix_end(prefix, arena));
}

/* ---- keys ---- */

static enum status bind(
    struct binding *binding, const struct key_part *part, bool last, struct buf *key, struct error *err)
{
    const struct value *value = binding->next;

    if (!key_part_encode(part, value, last, key))
        return refuse_part(part, "no entry can hold this value", err);
    if (!part->is_literal) {
        binding->next++;
        binding->left--;
    }
    return STATUS_OK;
}

static enum status plan_partition(
    const struct index *index, struct binding *binding, struct interval *out, struct error *err)
{
    const struct key_parts *parts = &index->partition_key;
    struct buf key;

    buf_init(&key, binding->arena);
    for (size_t i = 0; i < parts->count; i++) {
        const struct key_part *part = &parts->parts[i];

        if (!part->is_literal && binding->left == 0)
            return refuse_part(part, "every part of the partition key needs a value, and none is given", err);
        if (index->place == PLACE_SAME_PARTITION && !part->is_literal) {
            if (binding->next->type != PROPERTY_STRING)
                return refuse_part(part, "a partition key is a string, another type was given", err);
            buf_append(&key, binding->next->bytes);
            binding->next++;
            binding->left--;
            continue;
        }
        TRY(bind(binding, part, i + 1 == parts->count, &key, err));
    }
    *out = point(buf_str(&key));
    return STATUS_OK;
}

static struct str with_prefix(struct str prefix, struct str text, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    buf_append(&out, prefix);
    buf_append(&out, text);
    return buf_str(&out);
}

/* One end of the range behind prefix; absent: the edge of the type's own region. */
static enum status encode_end(const struct key_part *part, bool has, const struct value *value,
    struct str prefix, struct arena *arena, struct str *out, struct error *err)
{
    struct buf key;

    *out = STR_EMPTY;
    if (!has)
        return STATUS_OK;
    buf_init(&key, arena);
    buf_append(&key, prefix);
    if (!key_part_encode(part, value, true, &key))
        return refuse_part(part, "no entry can hold an end of the range", err);
    *out = buf_str(&key);
    return STATUS_OK;
}

/*
 * at_least <= value < below. Encoded, a smaller text is never above a larger one, whatever follows either:
 * so at_least is a lower bound as it stands, and below an upper one. Inverted numbers have a fixed length and
 * run the other way: from behind all that begins with `below` to behind all that begins with `at_least`.
 */
static enum status plan_range(const struct key_part *part, const struct value_range *range, struct str prefix,
    struct arena *arena, struct lookup_range *out, struct error *err)
{
    enum property_type type = range->has_at_least ? range->at_least.type : range->below.type;
    struct str region = with_prefix(prefix, key_part_prefix(type), arena);
    struct str at_least, below, low, high;

    if (range->has_at_least && range->has_below && range->below.type != type)
        return refuse_part(part, "the ends of the range have different types", err);
    TRY(encode_end(part, range->has_at_least, &range->at_least, prefix, arena, &at_least, err));
    TRY(encode_end(part, range->has_below, &range->below, prefix, arena, &below, err));
    low = part->inverted ? key_prefix_end(below, arena) : at_least;
    high = part->inverted ? key_prefix_end(at_least, arena) : below;
    if (!(part->inverted ? range->has_below : range->has_at_least))
        low = region;
    if (!(part->inverted ? range->has_at_least : range->has_below))
        high = key_prefix_end(region, arena);
    out->keys.row = half_open(low, high);
    /* Nothing is below the empty text. */
    if (range->has_below && high.len == 0)
        out->keys.nothing = true;
    if (type == PROPERTY_STRING) {
        out->has_others = true;
        out->others = half_open(
            with_prefix(prefix, STR_LITERAL("!A"), arena), with_prefix(prefix, STR_LITERAL("\""), arena));
    }
    return STATUS_OK;
}

static enum status plan_row(
    const struct index *index, struct binding *binding, struct lookup_range *out, struct error *err)
{
    struct index_row_parts row = index_row_parts(index);
    struct buf key;
    size_t i;

    buf_init(&key, binding->arena);
    for (i = 0; i < row.count && (row.parts[i]->is_literal || binding->left > 0); i++)
        TRY(bind(binding, row.parts[i], i + 1 == row.count, &key, err));
    if (i < row.count && binding->range)
        return plan_range(row.parts[i], binding->range, buf_str(&key), binding->arena, out, err);
    if (binding->left > 0 || binding->range)
        return refuse_surplus(binding, err);
    out->keys.row = i == row.count ? point(buf_str(&key)) : prefix_interval(buf_str(&key), binding->arena);
    return STATUS_OK;
}

static bool is_ordered(const struct interval *interval)
{
    return !interval->has_low || !interval->has_high || str_compare(interval->low, interval->high) < 0 ||
           interval_is_point(interval);
}

static bool is_possible(const struct lookup_range *range)
{
    return range->keys.partition.low.len <= LIMIT_KEY_BYTES && is_ordered(&range->keys.row);
}

static bool has_properties(const struct key_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (!parts->parts[i].is_literal)
            return true;
    }
    return false;
}

enum status lookup_plan(const struct index *index, const struct value *equals, size_t equal_count,
    const struct value_range *range, struct arena *arena, struct lookup_range *out, struct error *err)
{
    bool ranged = range && (range->has_at_least || range->has_below);
    struct binding binding = { .next = equals,
        .left = equal_count,
        .count = equal_count,
        .range = ranged ? range : NULL,
        .arena = arena };
    struct lookup_range found = { 0 };

    if (equal_count > 0 || ranged || !has_properties(&index->partition_key)) {
        TRY(plan_partition(index, &binding, &found.keys.partition, err));
        TRY(plan_row(index, &binding, &found, err));
    }
    if (!is_possible(&found))
        found.keys.nothing = true;
    *out = found;
    return STATUS_OK;
}

bool lookup_range_holds(const struct lookup_range *range, const struct entity_key *entry)
{
    return key_filter_matches(&range->keys, entry) &&
           !(range->has_others && interval_contains(&range->others, entry->row));
}
