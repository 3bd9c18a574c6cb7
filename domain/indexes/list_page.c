/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_page.c - see the header.
 */
#include "domain/indexes/list_page.h"

#include <assert.h>

#include "domain/digest.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/text.h"

/* ---- addresses ---- */

/* Whether the text is a member: the last two parts of a row key. */
static bool is_member(const struct index_row_parts *row, struct str text, struct arena *arena)
{
    for (size_t i = row->declared; i < row->count; i++) {
        struct value ignored;

        if (!key_part_decode(row->parts[i], &text, i + 1 == row->count, arena, &ignored))
            return false;
    }
    return text.len == 0;
}

/*
 * Read the declared parts. If the last one is a property, it ends with an end mark in the row keys
 * of entries, and at the end of the row key in that of the first page.
 */
static bool take_value(
    const struct index_row_parts *row, struct str *rest, struct arena *arena, bool *first_page)
{
    struct value ignored;

    *first_page = false;
    for (size_t i = 0; i < row->declared; i++) {
        if (key_part_decode(row->parts[i], rest, false, arena, &ignored))
            continue;
        *first_page = i + 1 == row->declared;
        return *first_page && key_part_decode(row->parts[i], rest, true, arena, &ignored);
    }
    return true;
}

bool list_page_split_row_key(
    const struct index *index, struct str row_key, struct arena *arena, struct list_address *out)
{
    struct index_row_parts row = index_row_parts(index);
    bool separated = row.declared > 0 && !row.parts[row.declared - 1]->is_literal;
    struct list_address address = { .value = row_key, .member = STR_EMPTY };
    struct str rest = row_key;
    bool first_page;
    struct buf prefix;

    if (!take_value(&row, &rest, arena, &first_page))
        return false;
    if (first_page || (!separated && rest.len == 0)) {
        buf_init(&prefix, arena);
        buf_append(&prefix, row_key);
        if (separated)
            buf_append(&prefix, key_part_end);
        address.prefix = buf_str(&prefix);
        *out = address;
        return true;
    }
    if (!is_member(&row, rest, arena))
        return false;
    address.has_member = true;
    address.member = rest;
    address.prefix = str_of_bytes(row_key.data, row_key.len - rest.len);
    address.value = address.prefix;
    if (separated)
        address.value.len -= key_part_end.len;
    *out = address;
    return true;
}

/* ---- the page ---- */

static void append_json_string(struct buf *out, struct str text)
{
    buf_append_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.data[i];

        if (c == '"' || c == '\\')
            buf_append_byte(out, '\\');
        if (c < ' ')
            buf_format(out, "\\u%04x", c);
        else
            buf_append_byte(out, c);
    }
    buf_append_byte(out, '"');
}

/* As append_json_string writes it. */
static size_t json_units(struct str text)
{
    size_t units = 0;
    bool whole = text_check(text, &units, NULL);

    assert(whole && "keys are UTF-8");
    (void)whole;
    units += 2;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = (uint8_t)text.data[i];

        if (c == '"' || c == '\\')
            units++;
        if (c < ' ')
            units += 5;
    }
    return units;
}

bool list_page_room(size_t *units, const struct entity_key *member)
{
    size_t more = json_units(member->partition) + json_units(member->row) + 3; /* [ , ] */

    if (*units > LIST_PAGE_UNITS)
        more++; /* the comma before it */
    if (*units + more > LIMIT_MEMBERS_UNITS)
        return false;
    *units += more;
    return true;
}

void list_page_start(struct list_page *page, const struct entity_key *key, struct arena *arena)
{
    *page = (struct list_page){ .arena = arena, .key = *key, .last_row_key = STR_EMPTY };
    buf_init(&page->members, arena);
    buf_append_byte(&page->members, '[');
    page->units = LIST_PAGE_UNITS;
}

static void digest_member(struct list_page *page, const struct entity_key *member, int64_t version)
{
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(uint8_t)((uint64_t)version >> (8 * i));
    page->digest = digest_of(page->digest, member->partition);
    page->digest = digest_of(page->digest, member->row);
    page->digest = digest_of(page->digest, str_of_bytes(bytes, sizeof(bytes)));
}

bool list_page_add(struct list_page *page, struct str row_key, const struct entity_key *member,
    int64_t version, int64_t timestamp)
{
    assert(!page->more && "the page was not full");
    assert((!page->has_members || str_compare(page->last_row_key, row_key) < 0) && "entries come in order");
    if (!list_page_room(&page->units, member)) {
        page->more = true;
        return false;
    }
    if (page->has_members)
        buf_append_byte(&page->members, ',');
    buf_append_byte(&page->members, '[');
    append_json_string(&page->members, member->partition);
    buf_append_byte(&page->members, ',');
    append_json_string(&page->members, member->row);
    buf_append_byte(&page->members, ']');
    page->has_members = true;
    page->last_row_key = row_key;
    if (timestamp > page->timestamp)
        page->timestamp = timestamp;
    digest_member(page, member, version);
    return true;
}

static struct property_list page_properties(const struct list_page *page)
{
    struct value members = { .type = PROPERTY_STRING, .bytes = buf_str(&page->members) };
    struct value next = { .type = PROPERTY_STRING, .bytes = page->last_row_key };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, page->arena);
    buf_reserve(&out, members.bytes.len + next.bytes.len + 64);
    property_build(&builder, STR_LITERAL("Members"), &members);
    if (page->more)
        property_build(&builder, STR_LITERAL("NextRowKey"), &next);
    return (struct property_list){ .bytes = buf_str(&out) };
}

bool list_page_finish(struct list_page *page, int64_t table_id, struct entity *out)
{
    int64_t version;

    if (!page->has_members)
        return false;
    if (page->more)
        page->digest = digest_of(page->digest, page->last_row_key);
    version = (int64_t)(page->digest >> 1);
    buf_append_byte(&page->members, ']');
    *out = (struct entity){ .key = page->key,
        .etag = { .table_id = table_id, .version = version > 0 ? version : 1 },
        .timestamp = page->timestamp,
        .properties = page_properties(page) };
    return true;
}
