/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_plan.c - each clause becomes a region of keys that contains all its matches. A `not` is
 * moved down to the tests; for keys this is exact, because every entity has them.
 */
#include <stdlib.h>

#include "domain/filter/filter_tree.h"
#include "domain/keys/key_axis.h"
#include "domain/limits.h"
#include "domain/properties/key_part.h"

/*
 * A region: a product of partition keys and row keys, or single keys; for single keys both axes
 * only enclose them.
 */
struct region {
    struct key_axis partition, row;
    const struct entity_key *points;
    size_t point_count;
    bool exact; /* every key in the region matches */
};

/* ---- the smallest and the largest region ---- */

static struct region whole_region(bool exact)
{
    return (struct region){ .partition = key_axis_all(), .row = key_axis_all(), .exact = exact };
}

static struct region empty_region(void)
{
    struct region region = { .exact = true };

    region.partition.is_finite = region.row.is_finite = true;
    return region;
}

static bool is_nothing(const struct region *region)
{
    return key_axis_is_empty(&region->partition) || key_axis_is_empty(&region->row);
}

static bool is_certain(const struct region *region)
{
    return region->exact && !region->points && key_axis_is_all(&region->partition) &&
           key_axis_is_all(&region->row);
}

/* ---- single keys ---- */

static struct region of_points(
    const struct entity_key *points, size_t count, const struct region *within, bool exact)
{
    struct region region = *within;

    if (count == 0)
        return empty_region();
    region.points = points;
    region.point_count = count;
    region.exact = exact;
    return region;
}

static bool has_points(const struct region *region)
{
    return region->points || (region->partition.is_finite && region->row.is_finite &&
                                 region->partition.count * region->row.count <= LIMIT_FILTER_POINTS);
}

/* List the single keys of a region for which has_points is true. */
static struct region list_points(const struct region *region, struct arena *arena)
{
    size_t count = region->partition.count * region->row.count;
    struct entity_key *points;

    if (region->points)
        return *region;
    points = ARENA_ARRAY(arena, struct entity_key, count + 1);
    for (size_t i = 0; i < count; i++)
        points[i] = (struct entity_key){ region->partition.values[i / region->row.count],
            region->row.values[i % region->row.count] };
    return of_points(points, count, region, region->exact);
}

static int compare_keys(const void *a, const void *b)
{
    return entity_key_compare(a, b);
}

static bool region_contains(const struct region *region, const struct entity_key *key)
{
    if (region->points)
        return bsearch(key, region->points, region->point_count, sizeof(*key), compare_keys) != NULL;
    return key_axis_contains(&region->partition, key->partition) && key_axis_contains(&region->row, key->row);
}

static struct key_axis hull_of(const struct key_axis *axis)
{
    return (struct key_axis){ .hull = axis->hull };
}

static struct region hull_of_both(const struct region *a, const struct region *b, struct arena *arena)
{
    struct key_axis axes[] = { hull_of(&a->partition), hull_of(&b->partition), hull_of(&a->row),
        hull_of(&b->row) };
    struct region region = { 0 };
    bool exact;

    region.partition = key_axis_unite(&axes[0], &axes[1], arena, &exact);
    region.row = key_axis_unite(&axes[2], &axes[3], arena, &exact);
    return region;
}

/* ---- and ---- */

static struct region intersect_regions(const struct region *a, const struct region *b, struct arena *arena)
{
    const struct region *single = a->points ? a : b, *other = a->points ? b : a;
    struct region region = { .exact = a->exact && b->exact };
    struct entity_key *points;
    size_t count = 0;

    if (single->points) {
        points = ARENA_ARRAY(arena, struct entity_key, single->point_count);
        for (size_t i = 0; i < single->point_count; i++)
            if (region_contains(other, &single->points[i]))
                points[count++] = single->points[i];
        return of_points(points, count, single, region.exact);
    }
    region.partition = key_axis_intersect(&a->partition, &b->partition, arena);
    region.row = key_axis_intersect(&a->row, &b->row, arena);
    return is_nothing(&region) ? empty_region() : region;
}

/* ---- or ---- */

static struct region unite_points(const struct region *a, const struct region *b, struct arena *arena)
{
    struct region x = list_points(a, arena), y = list_points(b, arena), hull = hull_of_both(a, b, arena);
    struct entity_key *points = ARENA_ARRAY(arena, struct entity_key, x.point_count + y.point_count);
    size_t count = 0, i = 0, j = 0;

    while (i < x.point_count || j < y.point_count) {
        int order = i == x.point_count   ? 1
                    : j == y.point_count ? -1
                                         : entity_key_compare(&x.points[i], &y.points[j]);

        points[count++] = order <= 0 ? x.points[i] : y.points[j];
        i += order <= 0;
        j += order >= 0;
    }
    if (count > LIMIT_FILTER_POINTS)
        return hull;
    return of_points(points, count, &hull, a->exact && b->exact);
}

static struct region unite_regions(const struct region *a, const struct region *b, struct arena *arena)
{
    struct region region = { 0 };
    bool exact;

    if (is_nothing(a) || is_certain(b))
        return *b;
    if (is_nothing(b) || is_certain(a))
        return *a;
    if (!a->points && !b->points && key_axis_equal(&a->partition, &b->partition)) {
        region.partition = a->partition;
        region.row = key_axis_unite(&a->row, &b->row, arena, &exact);
    } else if (!a->points && !b->points && key_axis_equal(&a->row, &b->row)) {
        region.partition = key_axis_unite(&a->partition, &b->partition, arena, &exact);
        region.row = a->row;
    } else if (has_points(a) && has_points(b)) {
        return unite_points(a, b, arena);
    } else {
        return hull_of_both(a, b, arena);
    }
    region.exact = exact && a->exact && b->exact;
    return region;
}

/* ---- tests ---- */

/* The values of a key whose ordering to the bound is one of the accepted ones. */
static struct region region_of_values(
    enum test_subject subject, unsigned accepts, struct str bound, struct arena *arena)
{
    struct region region = whole_region(true);
    struct key_axis *axis = subject == SUBJECT_ROW_KEY ? &region.row : &region.partition;
    const char *nul = bound.len ? memchr(bound.data, 0, bound.len) : NULL;
    bool less, equal, greater;

    /*
     * A key contains no U+0000, and the database refuses one. So what equals "a" is less than
     * "a\0b", and no key lies between the two.
     */
    if (nul) {
        bound.len = (size_t)(nul - bound.data);
        accepts = accepts & ORDER_LESS ? accepts | ORDER_EQUAL : accepts & ~(unsigned)ORDER_EQUAL;
    }
    less = (accepts & ORDER_LESS) != 0;
    equal = (accepts & ORDER_EQUAL) != 0;
    greater = (accepts & ORDER_GREATER) != 0;
    if (less && greater)
        return whole_region(equal);
    if (!less && !greater && !equal)
        return empty_region();
    *axis = key_axis_of(
        (struct interval){ !less, !greater, !equal, !equal, less ? STR_EMPTY : bound, bound }, arena);
    return is_nothing(&region) ? empty_region() : region;
}

static struct region region_of_prefix(enum test_subject subject, struct str prefix, struct arena *arena)
{
    struct region region = whole_region(true);
    struct key_axis *axis = subject == SUBJECT_ROW_KEY ? &region.row : &region.partition;
    struct str end;

    if (prefix.len == 0)
        return region;
    if (memchr(prefix.data, 0, prefix.len))
        return empty_region();
    end = key_part_prefix_end(prefix, arena);
    *axis = key_axis_of((struct interval){ true, end.len > 0, false, true, prefix, end }, arena);
    return region;
}

static struct region region_of_truth(bool truth)
{
    return truth ? whole_region(true) : empty_region();
}

static struct region region_of_test(const struct test *test, bool negated, struct arena *arena)
{
    const unsigned opposite = negated ? ORDER_LESS | ORDER_EQUAL | ORDER_GREATER : 0;

    if (test->kind == TEST_EXISTS && test->subject != SUBJECT_PROPERTY)
        return region_of_truth(!negated);
    if (test->subject != SUBJECT_PARTITION_KEY && test->subject != SUBJECT_ROW_KEY)
        return whole_region(false);
    if (test->kind == TEST_COMPARE && test->literal.type != PROPERTY_STRING)
        return region_of_truth(((test->accepts & ORDER_LESS) != 0) != negated);
    if (test->kind == TEST_COMPARE)
        return region_of_values(test->subject, test->accepts ^ opposite, test->literal.bytes, arena);
    if (test->kind == TEST_STARTS_WITH && !negated)
        return region_of_prefix(test->subject, test->literal.bytes, arena);
    return whole_region(false);
}

/* ---- the filter ---- */

static struct region region_of(
    const struct filter *filter, const struct clause *clause, bool negated, struct arena *arena)
{
    bool all;
    struct region region;

    if (clause->kind == CLAUSE_TEST)
        return region_of_test(&filter->tests[clause->test], negated, arena);
    if (clause->kind == CLAUSE_NOT)
        return region_of(filter, clause->first, !negated, arena);
    all = (clause->kind == CLAUSE_AND) != negated;
    region = region_of_truth(all);
    for (const struct clause *operand = clause->first; operand; operand = operand->next) {
        struct region next = region_of(filter, operand, negated, arena);

        region = all ? intersect_regions(&region, &next, arena) : unite_regions(&region, &next, arena);
    }
    return region;
}

void filter_key_plan(const struct filter *filter, struct arena *arena, struct key_plan *out)
{
    struct region region = filter ? region_of(filter, filter->root, false, arena) : whole_region(true);

    *out = (struct key_plan){ .range.nothing = is_nothing(&region), .exact = true };
    if (out->range.nothing)
        return;
    out->exact = region.exact && region.partition.count <= 1 && region.row.count <= 1;
    if (has_points(&region)) {
        region = list_points(&region, arena);
        out->points = region.points;
        out->point_count = region.point_count;
        out->exact = region.exact;
    }
    out->range.partition = region.partition.hull;
    out->range.row = region.row.hull;
}
