/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_parts.c - see the header.
 */
#include "domain/properties/property_parts.h"

#include <string.h>

void property_parts_want_all(struct property_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        parts->items[i].is_read = true;
}

void property_parts_want(struct property_parts *parts, struct property_list names)
{
    struct property property;
    size_t i = 0;

    while (parts->count > 0 && property_next(&names.bytes, &property)) {
        while (i + 1 < parts->count && str_compare(parts->items[i + 1].first_name, property.name) <= 0)
            i++;
        parts->items[i].is_read = true;
    }
}

void property_parts_want_name(struct property_parts *parts, struct str name)
{
    size_t low = 0, high = parts->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (str_compare(parts->items[middle].first_name, name) <= 0)
            low = middle;
        else
            high = middle;
    }
    if (parts->count > 0)
        parts->items[low].is_read = true;
}

bool property_parts_are_scattered(const struct property_parts *parts)
{
    size_t bytes = 0;

    for (size_t i = 0; i < parts->count; i++)
        bytes += parts->items[i].bytes;
    return parts->count > PARTS_MAX_SHORT && bytes / parts->count < PARTS_MIN_AVERAGE_BYTES;
}

struct property_list property_parts_join(const struct property_parts *parts, struct arena *arena)
{
    struct str *lists = ARENA_ARRAY(arena, struct str, parts->count);
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].is_read)
            lists[count++] = parts->items[i].properties.bytes;
    return (struct property_list){ count == 1 ? lists[0] : arena_join(arena, lists, count) };
}

struct property_rest property_parts_rest(const struct property_parts *parts, struct arena *arena)
{
    struct str *contents = ARENA_ARRAY(arena, struct str, parts->count);
    struct property_rest rest = { 0 };
    size_t holding = 0;

    for (size_t i = 0; i < parts->count; i++) {
        if (parts->items[i].is_read)
            continue;
        rest.bytes += parts->items[i].bytes;
        rest.count += parts->items[i].count;
        if (parts->items[i].contents.len > 0)
            contents[holding++] = parts->items[i].contents;
    }
    rest.contents = arena_join(arena, contents, holding);
    return rest;
}

/* ---- the pieces of which parts are made ---- */

/* A piece of the new list, which lies next to the piece before it in memory. */
struct piece {
    struct str first_name;
    struct str bytes;
    size_t count;
};

struct pieces {
    struct piece *items;
    size_t count, capacity;
    struct arena *arena;
};

static void append(struct pieces *pieces, struct piece piece)
{
    if (pieces->count == pieces->capacity) {
        struct piece *larger = ARENA_ARRAY(pieces->arena, struct piece, pieces->capacity * 2 + 8);

        if (pieces->count > 0)
            memcpy(larger, pieces->items, pieces->count * sizeof(*larger));
        pieces->items = larger;
        pieces->capacity = pieces->capacity * 2 + 8;
    }
    pieces->items[pieces->count++] = piece;
}

/* Append a piece, or join it with the last one if one of both is short. */
static void put_piece(struct pieces *pieces, size_t from, struct piece piece)
{
    struct piece *last = pieces->count > from ? &pieces->items[pieces->count - 1] : NULL;

    if (!last || (last->bytes.len >= PART_MIN_BYTES && piece.bytes.len >= PART_MIN_BYTES) ||
        last->bytes.len + piece.bytes.len > PART_MAX_BYTES) {
        append(pieces, piece);
        return;
    }
    if (last->bytes.len == 0)
        last->bytes.data = piece.bytes.data;
    last->bytes.len += piece.bytes.len;
    last->count += piece.count;
}

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* What a part begins with if its first property has this name: above the name before it. Whole characters. */
static struct str dividing_name(struct str before, struct str name)
{
    size_t len = 0;

    if (name.len <= PART_MAX_NAME_BYTES)
        return name;
    while (len < before.len && before.data[len] == name.data[len])
        len++;
    for (len++; len < name.len && continues_character(name.data[len]);)
        len++;
    return str_of_bytes(name.data, len);
}

bool property_parts_can_divide(struct str before, struct str name)
{
    return dividing_name(before, name).len <= PART_MAX_NAME_BYTES;
}

/* Cut what belongs to one part into pieces, of about equal size if it is too long. */
static void cut(struct pieces *pieces, size_t from, struct str first_name, struct str bytes)
{
    size_t number = bytes.len > PART_MAX_BYTES ? (bytes.len + PART_BYTES - 1) / PART_BYTES : 1;
    size_t wanted = bytes.len / number;
    struct piece piece = { .first_name = first_name, .bytes = { bytes.data, 0 } };
    struct property property;
    struct str before = STR_EMPTY;

    while (property_next(&bytes, &property)) {
        size_t longer = piece.bytes.len + property.record.len;

        if (number > 1 && piece.count > 0 && (longer > PART_MAX_BYTES || piece.bytes.len >= wanted) &&
            property_parts_can_divide(before, property.name)) {
            put_piece(pieces, from, piece);
            piece = (struct piece){ .first_name = dividing_name(before, property.name),
                .bytes = { property.record.data, 0 } };
        }
        piece.bytes.len += property.record.len;
        piece.count++;
        before = property.name;
    }
    put_piece(pieces, from, piece);
}

/* Take from the front what has names below `end`; end.data NULL: all. */
static struct str take_below(struct str *rest, struct str end)
{
    struct str taken = { rest->data, 0 };
    struct property property;

    if (!end.data) {
        taken = *rest;
        *rest = STR_EMPTY;
        return taken;
    }
    for (struct str next = *rest; property_next(&next, &property) && str_compare(property.name, end) < 0;)
        *rest = next;
    taken.len = (size_t)(rest->data - taken.data);
    return taken;
}

static bool is_kept(const struct property_part *part, struct property_rest rest)
{
    return !part->is_read && rest.bytes > 0;
}

/* ---- the plan ---- */

/* Changes have the capacity of the next power of two, so that appending copies each a few times at most. */
static void put_change(struct parts_plan *plan, struct part_change change, struct arena *arena)
{
    size_t count = plan->change_count;

    if ((count & (count - 1)) == 0) {
        struct part_change *larger = ARENA_ARRAY(arena, struct part_change, count > 0 ? 2 * count : 1);

        if (count > 0)
            memcpy(larger, plan->changes, count * sizeof(*larger));
        plan->changes = larger;
    }
    plan->changes[plan->change_count++] = change;
}

/* Compare parts `from` to `to` with the pieces that take their place, both in the order of names. */
static void plan_run(struct parts_plan *plan, const struct property_part *parts, size_t part_count,
    const struct piece *pieces, size_t piece_count, struct arena *arena)
{
    for (size_t i = 0, k = 0; i < part_count || k < piece_count;) {
        int order = i == part_count    ? 1
                    : k == piece_count ? -1
                                       : str_compare(parts[i].first_name, pieces[k].first_name);
        bool is_same = order == 0 && parts[i].is_read && parts[i].properties.bytes.data &&
                       str_equal(parts[i].properties.bytes, pieces[k].bytes);

        if (order < 0)
            put_change(
                plan, (struct part_change){ .first_name = parts[i].first_name, .is_removed = true }, arena);
        else if (!is_same)
            put_change(plan,
                (struct part_change){ .first_name = pieces[k].first_name,
                    .count = pieces[k].count,
                    .properties = { pieces[k].bytes } },
                arena);
        i += order <= 0;
        k += order >= 0;
    }
}

static void make_pieces(struct pieces *pieces, const struct property_part *parts, size_t part_count,
    struct str *now, struct str end)
{
    size_t from = pieces->count;

    for (size_t i = 0; i < part_count; i++) {
        struct str bytes = take_below(now, i + 1 < part_count ? parts[i + 1].first_name : end);

        if (bytes.len > 0 || i == 0)
            cut(pieces, from, parts[i].first_name, bytes);
    }
}

/* Plan runs of parts that are written anew; what lies between them is kept. */
static void plan_parts(struct parts_plan *plan, const struct property_parts *stored, struct str now,
    struct property_rest rest, struct arena *arena)
{
    static const struct property_part all = { .first_name = { "", 0 } };
    struct pieces pieces = { .arena = arena };
    size_t i = 0;

    plan->spread = (int64_t)(now.len + rest.bytes);
    if (stored->count == 0) {
        make_pieces(&pieces, &all, 1, &now, (struct str){ NULL, 0 });
        plan_run(plan, NULL, 0, pieces.items, pieces.count, arena);
        return;
    }
    while (i < stored->count) {
        size_t begin = i, from = pieces.count;

        while (i < stored->count && !is_kept(&stored->items[i], rest))
            i++;
        if (i > begin) {
            make_pieces(&pieces, &stored->items[begin], i - begin, &now,
                i < stored->count ? stored->items[i].first_name : (struct str){ NULL, 0 });
            plan_run(plan, &stored->items[begin], i - begin, &pieces.items[from], pieces.count - from, arena);
        }
        i += i < stored->count;
    }
}

void property_parts_plan(const struct property_parts *stored, struct property_list now,
    struct property_rest rest, struct arena *arena, struct parts_plan *out)
{
    size_t max = stored->count > 0 ? PARTS_MIN_SPREAD_BYTES : PARTS_MAX_WHOLE_BYTES;

    *out = (struct parts_plan){ .whole = { STR_EMPTY } };
    if (rest.bytes > 0 || now.bytes.len > max) {
        plan_parts(out, stored, now.bytes, rest, arena);
        return;
    }
    out->whole = now;
    for (size_t i = 0; i < stored->count; i++)
        put_change(out, (struct part_change){ .first_name = stored->items[i].first_name, .is_removed = true },
            arena);
}
