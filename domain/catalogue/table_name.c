/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_name.c - see the header.
 */
#include "domain/catalogue/table_name.h"

#include "base/digits.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static char lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* ASCII only: names that pass the check are ASCII, and other names match none. */
static bool is_reserved(struct str name)
{
    static const char reserved[] = "tables";

    if (name.len != sizeof(reserved) - 1)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (lower_case(name.data[i]) != reserved[i])
            return false;
    return true;
}

static enum status refuse_length(size_t actual, struct error *err)
{
    reason_set(err, REASON_OUT_OF_RANGE_INPUT,
        "the name of a table or index has %d to %d characters, this one has %zu", LIMIT_TABLE_NAME_MIN,
        LIMIT_TABLE_NAME_MAX, actual);
    error_add_meta_int(err, "actual", (int64_t)actual);
    error_add_meta(err, "allowed", STR_LITERAL("3 to 63 characters"));
    return STATUS_OUT_OF_RANGE;
}

static enum status refuse_character(size_t position, struct error *err)
{
    reason_set(err, REASON_INVALID_RESOURCE_NAME,
        "the name of a table or index has letters A-Z and digits and begins with a letter; byte %zu is not "
        "allowed",
        position);
    error_add_meta_int(err, "position", (int64_t)position);
    error_add_meta(err, "allowed", STR_LITERAL("^[A-Za-z][A-Za-z0-9]{2,62}$"));
    return STATUS_INVALID;
}

enum status table_name_check(struct str name, struct error *err)
{
    size_t characters;

    /*
     * The length counts characters. Text that is not UTF-8 has no length; it fails at its first
     * wrong byte.
     */
    if (!text_check(name, &characters, NULL))
        characters = name.len;
    if (characters < LIMIT_TABLE_NAME_MIN || characters > LIMIT_TABLE_NAME_MAX)
        return refuse_length(characters, err);
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.data[i]) && (i == 0 || !digits_is_decimal(name.data[i])))
            return refuse_character(i, err);
    if (is_reserved(name))
        return reason_set(err, REASON_INVALID_INPUT, "the name \"tables\" is reserved");
    return STATUS_OK;
}

struct str table_name_fold(struct str name, struct arena *arena)
{
    char *folded = arena_alloc(arena, name.len + 1);

    for (size_t i = 0; i < name.len; i++)
        folded[i] = lower_case(name.data[i]);
    folded[name.len] = '\0';
    return str_of_bytes(folded, name.len);
}

bool table_name_is(struct str name, struct str folded)
{
    if (name.len != folded.len)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (lower_case(name.data[i]) != folded.data[i])
            return false;
    return true;
}
