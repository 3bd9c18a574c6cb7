/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_plan.c - from a dependent and its source to the copies that differ.
 *
 * Lists are canonical, so two values are stored alike if and only if their records under one name
 * have equal bytes.
 */
#include "domain/copies/copy_plan.h"

#include "base/buf.h"
#include "domain/entities/entity_value.h"
#include "domain/entities/etag.h"
#include "domain/limits.h"

/* Of a property, as it is stored. */
enum { MIN_RECORD_BYTES = 8 };

/* ---- names ---- */

/* false: the property is missing, or is not a String. */
static bool find_text(const struct copy_name *name, const struct entity_key *key,
    const struct row_state *state, struct str *out)
{
    struct value value;

    if (name->is_literal) {
        *out = name->text;
        return true;
    }
    if (!entity_value_find(key, state->ts, state->properties, name->text, &value) ||
        value.type != PROPERTY_STRING)
        return false;
    *out = value.bytes;
    return true;
}

enum copy_naming copy_plan_source(const struct copy_rule *rule, const struct entity_key *key,
    const struct row_state *state, struct entity_key *out)
{
    struct str partition, row;
    struct error ignored;

    if (!find_text(&rule->partition_key, key, state, &partition) ||
        !find_text(&rule->row_key, key, state, &row))
        return COPY_NAMES_NOTHING;
    return entity_key_parse(partition, row, out, &ignored) == STATUS_OK ? COPY_NAMES_KEY
                                                                        : COPY_NAMES_NO_ENTITY;
}

static bool name_one_property(const struct copy_rule *rule)
{
    return !rule->partition_key.is_literal && !rule->row_key.is_literal &&
           str_equal(rule->partition_key.text, rule->row_key.text);
}

struct copy_naming_properties copy_plan_naming(const struct copy_rule *rule)
{
    struct copy_naming_properties out = { .count = 0 };

    if (!rule->partition_key.is_literal)
        out.names[out.count++] = rule->partition_key.text;
    if (!rule->row_key.is_literal && !name_one_property(rule))
        out.names[out.count++] = rule->row_key.text;
    return out;
}

bool copy_plan_texts(
    const struct copy_rule *rule, const struct entity_key *source, struct str texts[static 2])
{
    size_t count = 0;

    if (rule->partition_key.is_literal && !str_equal(rule->partition_key.text, source->partition))
        return false;
    if (rule->row_key.is_literal && !str_equal(rule->row_key.text, source->row))
        return false;
    if (name_one_property(rule) && !str_equal(source->partition, source->row))
        return false;
    if (!rule->partition_key.is_literal)
        texts[count++] = source->partition;
    if (!rule->row_key.is_literal && !name_one_property(rule))
        texts[count++] = source->row;
    return true;
}

/* ---- copies ---- */

enum { MAX_TARGETS = LIMIT_COPY_PROPERTIES + 1 };

size_t copy_plan_target_count(const struct copy_rule *rule)
{
    return rule->pair_count + (rule->version_property.len > 0);
}

struct str copy_plan_target(const struct copy_rule *rule, size_t target)
{
    return target < rule->pair_count ? rule->pairs[target].to : rule->version_property;
}

bool copy_plan_writes(const struct copy_rule *rule, struct str name)
{
    for (size_t i = 0; i < copy_plan_target_count(rule); i++)
        if (str_equal(copy_plan_target(rule, i), name))
            return true;
    return false;
}

/* A property that the rule writes, and what it is a copy of; pair NULL: the ETag of the source. */
struct target {
    struct str name;
    const struct copy_pair *pair;
};

struct targets {
    struct target items[MAX_TARGETS]; /* sorted by name, as the pairs are */
    size_t count;
};

static void list_targets(const struct copy_rule *rule, struct targets *out)
{
    size_t place = rule->pair_count;

    out->count = copy_plan_target_count(rule);
    for (size_t i = 0; i < rule->pair_count; i++)
        out->items[i] = (struct target){ rule->pairs[i].to, &rule->pairs[i] };
    if (rule->version_property.len == 0)
        return;
    for (; place > 0 && str_compare(out->items[place - 1].name, rule->version_property) > 0; place--)
        out->items[place] = out->items[place - 1];
    out->items[place] = (struct target){ .name = rule->version_property };
}

static void add_etag(struct property_builder *builder, const struct copy_rule *rule,
    const struct copy_case *facts, struct arena *arena)
{
    char *text = arena_alloc(arena, ETAG_BYTES);
    size_t len = etag_format(
        (struct etag){ rule->source_table_id, facts->state->version, etag_key(facts->source) }, text);
    struct value value = { .type = PROPERTY_STRING, .bytes = str_of_bytes(text, len) };

    property_build(builder, rule->version_property, &value);
}

/* The copies that the dependent should have, as a list. */
static struct property_list list_wanted(const struct copy_rule *rule, const struct targets *targets,
    const struct copy_case *facts, struct arena *arena)
{
    struct property_builder builder;
    struct buf out;

    buf_init(&out, arena);
    builder = (struct property_builder){ .out = &out };
    for (size_t i = 0; facts->state && i < targets->count; i++) {
        const struct target *target = &targets->items[i];
        struct property found;

        if (!target->pair)
            add_etag(&builder, rule, facts, arena);
        else if (property_find(facts->state->properties, target->pair->from, &found))
            property_build(&builder, target->name, &found.value);
    }
    return (struct property_list){ buf_str(&out) };
}

/* The dependent's properties that are no copies of the rule. */
static struct property_list list_own(
    const struct copy_rule *rule, struct property_list all, struct arena *arena)
{
    struct property property;
    struct buf out;

    buf_init(&out, arena);
    while (property_next(&all.bytes, &property))
        if (!copy_plan_writes(rule, property.name))
            buf_append(&out, property.record);
    return (struct property_list){ buf_str(&out) };
}

static void compare(
    struct property_list stored, struct property_list wanted, struct str name, struct copy_plan *out)
{
    struct property is, should_be;
    bool has = property_find(stored, name, &is), needs = property_find(wanted, name, &should_be);
    enum copy_fault fault = !has ? COPY_MISSING : !needs ? COPY_SUPERFLUOUS : COPY_WRONG;

    if (has == needs && (!has || str_equal(is.record, should_be.record)))
        return;
    out->differences[out->count++] = (struct copy_difference){ name, fault };
}

static bool keeps_copies(const struct copy_rule *rule, const struct copy_case *facts)
{
    return rule->keep && !facts->state && facts->naming != COPY_NAMES_NOTHING;
}

void copy_plan(
    const struct copy_rule *rule, const struct copy_case *facts, struct arena *arena, struct copy_plan *out)
{
    struct property_list stored = facts->dependent->properties, wanted;
    struct targets targets;

    *out = (struct copy_plan){ .properties = stored };
    if (keeps_copies(rule, facts))
        return;
    list_targets(rule, &targets);
    wanted = list_wanted(rule, &targets, facts, arena);
    out->differences = ARENA_ARRAY(arena, struct copy_difference, targets.count);
    for (size_t i = 0; i < targets.count; i++)
        compare(stored, wanted, targets.items[i].name, out);
    if (out->count > 0)
        out->properties = property_list_merge(list_own(rule, stored, arena), wanted, arena);
}

/* ---- writes ---- */

/* Whether a property is stored alike in both lists, or is in neither. */
static bool is_alike(struct property_list before, struct property_list after, struct str name)
{
    struct property was, is;
    bool had = property_find(before, name, &was), has = property_find(after, name, &is);

    return had == has && (!had || str_equal(was.record, is.record));
}

static bool has_copies(const struct copy_rule *rule, const struct row_state *state)
{
    struct property found;

    for (size_t i = 0; i < copy_plan_target_count(rule); i++)
        if (property_find(state->properties, copy_plan_target(rule, i), &found))
            return true;
    return false;
}

/* Whether the rule has something to look at in an entity that is new, or that was deleted. */
static bool concerns(
    const struct copy_rule *rule, const struct entity_key *key, const struct row_state *state)
{
    struct entity_key ignored;

    return state->live &&
           (copy_plan_source(rule, key, state, &ignored) == COPY_NAMES_KEY || has_copies(rule, state));
}

/*
 * Whether the copies may have been refused because the dependent was too large. Entities may have
 * twice as many bytes by the formula of their size as they are stored with.
 */
static bool is_near_limits(const struct copy_rule *rule, const struct row_state *state)
{
    struct str rest = state->properties.bytes;
    struct property property;
    size_t count = 0;

    if (rest.len > LIMIT_ENTITY_BYTES / 4)
        return true;
    if (rest.len < (LIMIT_PROPERTIES / 2) * MIN_RECORD_BYTES)
        return false;
    while (property_next(&rest, &property))
        count++;
    return count + copy_plan_target_count(rule) > LIMIT_PROPERTIES;
}

bool copy_plan_asks(const struct copy_rule *rule, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after)
{
    struct entity_key old, new;
    enum copy_naming was, is;

    if (!after->live || !before->live)
        return concerns(rule, key, before) || concerns(rule, key, after);
    is = copy_plan_source(rule, key, after, &new);
    was = copy_plan_source(rule, key, before, &old);
    if (was != is || (is == COPY_NAMES_KEY && entity_key_compare(&old, &new) != 0))
        return true;
    for (size_t i = 0; i < copy_plan_target_count(rule); i++)
        if (!is_alike(before->properties, after->properties, copy_plan_target(rule, i)))
            return true;
    return is_near_limits(rule, before);
}

bool copy_plan_visits(const struct copy_rule *rule, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after)
{
    struct str ignored[2];

    if (!copy_plan_texts(rule, key, ignored))
        return false;
    if (before->live != after->live)
        return true;
    if (!after->live)
        return false;
    if (rule->version_property.len > 0)
        return before->version != after->version;
    for (size_t i = 0; i < rule->pair_count; i++)
        if (!is_alike(before->properties, after->properties, rule->pairs[i].from))
            return true;
    return false;
}
