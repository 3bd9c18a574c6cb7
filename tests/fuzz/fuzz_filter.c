/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_filter.c - any bytes as a filter: it is refused with a reason, or it compiles, and then what it answers for
 * some entities agrees with its plan, with the clause that it blames and with its own negation.
 */
#include "base/buf.h"
#include "domain/filter/filter.h"
#include "domain/limits.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_filter;

static const struct typed {
    struct str name;
    struct value value;
} properties[] = {
    { { "A", 1 }, { .type = PROPERTY_INT32, .integer = 5 } },
    { { "B", 1 }, { .type = PROPERTY_BOOLEAN, .integer = 1 } },
    { { "D", 1 }, { .type = PROPERTY_DOUBLE, .number = 1.5 } },
    { { "G", 1 }, { .type = PROPERTY_GUID, .bytes = { "c9da6455-213d-42c9-9a79-3e9149a57833", 36 } } },
    { { "L", 1 }, { .type = PROPERTY_INT64, .integer = -7 } },
    { { "S", 1 }, { .type = PROPERTY_STRING, .bytes = { "it's a\0b", 8 } } },
    { { "T", 1 }, { .type = PROPERTY_DATETIME, .integer = 132223104000000000 } },
    { { "X", 1 }, { .type = PROPERTY_BINARY, .bytes = { "\x0a\xff", 2 } } },
};

static const char *const keys[] = { "", "a", "ab", "b", "p", "\xC3\xA9", "\xF4\x8F\xBF\xBF" };

static struct property_list a_list(size_t count, struct arena *arena)
{
    struct buf out;
    struct property_builder builder = { .out = &out };

    buf_init(&out, arena);
    for (size_t i = 0; i < count; i++)
        property_build(&builder, properties[i].name, &properties[i].value);
    return (struct property_list){ .bytes = buf_str(&out) };
}

static bool is_planned(const struct key_plan *plan, const struct entity_key *key)
{
    if (!key_filter_matches(&plan->range, key))
        return false;
    for (size_t i = 0; i < plan->point_count; i++)
        if (entity_key_compare(&plan->points[i], key) == 0)
            return true;
    return !plan->points;
}

static void check_entity(const struct filter *filter, const struct filter *negation,
    const struct key_plan *plan, const struct entity *entity)
{
    bool matches = filter_matches(filter, entity), planned = is_planned(plan, &entity->key);

    fuzz_require(planned || !matches);
    fuzz_require(matches || !planned || !plan->exact);
    fuzz_require((filter_failing_clause(filter, entity).len == 0) == matches);
    if (negation)
        fuzz_require(filter_matches(negation, entity) != matches);
}

static void check_filter(const struct filter *filter, const struct filter *negation, struct arena *arena)
{
    struct key_plan plan;

    filter_key_plan(filter, arena, &plan);
    fuzz_require(plan.point_count <= LIMIT_FILTER_POINTS && !plan.points == !plan.point_count);
    for (size_t i = 1; i < plan.point_count; i++)
        fuzz_require(entity_key_compare(&plan.points[i - 1], &plan.points[i]) < 0);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            struct entity entity = {
                .key = { str_of(keys[i]), str_of(keys[k]) },
                .timestamp = 132223104000000000,
                .properties = a_list(k % 2 ? ARRAY_LEN(properties) : i, arena),
            };

            check_entity(filter, negation, &plan, &entity);
        }
}

void fuzz_filter(struct str input)
{
    const struct filter *filter, *negation = NULL;
    struct arena arena;
    struct error err = { 0 };

    arena_init(&arena);
    if (filter_compile(input, &arena, &filter, &err) != STATUS_OK) {
        fuzz_require(err.reason && err.meta_count > 0);
    } else if (filter) {
        struct buf text;

        buf_init(&text, &arena);
        buf_append(&text, STR_LITERAL("not("));
        buf_append(&text, input);
        buf_append(&text, STR_LITERAL(")"));
        if (filter_compile(buf_str(&text), &arena, &negation, NULL) != STATUS_OK)
            negation = NULL; /* one too deep, or too long */
        check_filter(filter, negation, &arena);
    }
    arena_cleanup(&arena);
}
