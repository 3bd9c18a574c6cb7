/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property_name.c - the rule for names, and how messages speak of a property.
 */
#include "domain/properties/property_name.h"

#include <stdio.h>

#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"

/* Ranges of characters above U+007F that are neither letters nor digits, sorted. */
static const struct range {
    uint32_t first, last;
} excluded[] = {
    { 0x0080, 0x00A9 }, /* controls, no-break space, signs of Latin-1 */
    { 0x00AB, 0x00B4 }, { 0x00B6, 0x00B9 }, { 0x00BB, 0x00BF }, { 0x00D7, 0x00D7 }, /* multiplication sign */
    { 0x00F7, 0x00F7 },                                                             /* division sign */
    { 0x037E, 0x037E },                                                             /* Greek question mark */
    { 0x1680, 0x1680 },                                                             /* Ogham space */
    { 0x2000, 0x206F }, /* general punctuation, spaces, direction marks */
    { 0x20A0, 0x20CF }, /* currency */
    { 0x2190, 0x2BFF }, /* arrows, operators, boxes, dingbats */
    { 0x2E00, 0x2E7F }, /* supplemental punctuation */
    { 0x3000, 0x3004 }, /* CJK punctuation; U+3005-U+3007 are letters */
    { 0x3008, 0x3020 }, { 0x3030, 0x3030 }, { 0x303D, 0x303F }, { 0x30FB, 0x30FB }, /* katakana middle dot */
    { 0xE000, 0xF8FF },                                                             /* private use */
    { 0xFDD0, 0xFDEF },                                                             /* noncharacters */
    { 0xFE10, 0xFE1F },                                                             /* vertical forms */
    { 0xFE30, 0xFE32 }, { 0xFE35, 0xFE4C }, { 0xFE50, 0xFE6F },
    { 0xFEFF, 0xFF0F }, /* byte order mark, full-width punctuation */
    { 0xFF1A, 0xFF20 }, { 0xFF3B, 0xFF3E }, { 0xFF40, 0xFF40 }, { 0xFF5B, 0xFF65 },
    { 0xFFE0, 0xFFFF },   /* full-width signs, specials */
    { 0x1F000, 0x1FAFF }, /* pictographs */
    { 0xE0000, 0xE0FFF }, /* tags */
    { 0xF0000, 0x10FFFF } /* private use */
};

static bool is_excluded(uint32_t character)
{
    size_t low = 0, high = ARRAY_LEN(excluded);

    if ((character & 0xFFFE) == 0xFFFE)
        return true; /* the noncharacters that end each plane */
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (character > excluded[middle].last)
            low = middle + 1;
        else if (character < excluded[middle].first)
            high = middle;
        else
            return true;
    }
    return false;
}

static bool may_stand(uint32_t character, bool first)
{
    if (character > 0x7F)
        return !is_excluded(character);
    if (character >= '0' && character <= '9')
        return !first;
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           character == '_';
}

/*
 * A fast check that accepts nearly all names: short, and only characters below U+0080 that
 * may_stand allows.
 */
static bool is_plain(struct str name)
{
    bool plain = name.len > 0 && name.len <= LIMIT_PROPERTY_NAME_UNITS;

    for (size_t i = 0; plain && i < name.len; i++) {
        uint8_t byte = (uint8_t)name.data[i];

        plain = byte < 0x80 && may_stand(byte, i == 0);
    }
    return plain;
}

static bool is_field_of_entity(struct str name)
{
    return str_equal(name, STR_LITERAL("PartitionKey")) || str_equal(name, STR_LITERAL("RowKey")) ||
           str_equal(name, STR_LITERAL("Timestamp"));
}

bool property_name_misfit(struct str name, size_t *position, uint32_t *character)
{
    if (is_plain(name))
        return false;
    for (struct str rest = name; rest.len > 0;) {
        size_t at = name.len - rest.len;
        uint32_t next = text_take(&rest);

        if (!may_stand(next, at == 0)) {
            *position = at;
            *character = next;
            return true;
        }
    }
    return false;
}

static enum status refuse_invalid(struct str name, size_t position, uint32_t character, struct error *err)
{
    char subject[PROPERTY_SUBJECT_BYTES];

    reason_set(err, REASON_PROPERTY_NAME_INVALID,
        "%s: U+%04X is not allowed at byte %zu of a property's name; allowed is " PROPERTY_NAME_ALLOWED,
        property_name_subject(name, subject), (unsigned)character, position);
    property_name_blame(err, name);
    error_add_meta_int(err, "position", (int64_t)position);
    error_add_meta(err, "allowed", STR_LITERAL(PROPERTY_NAME_ALLOWED));
    return STATUS_INVALID;
}

static enum status refuse_length(struct str name, size_t units, struct error *err)
{
    reason_set(err, REASON_PROPERTY_NAME_TOO_LONG,
        "a property's name has %zu UTF-16 code units, at most %d are allowed", units,
        LIMIT_PROPERTY_NAME_UNITS);
    property_name_blame(err, name);
    error_add_meta_int(err, "limit", LIMIT_PROPERTY_NAME_UNITS);
    error_add_meta_int(err, "actual", (int64_t)units);
    return STATUS_INVALID;
}

static enum status check_characters(struct str name, struct error *err)
{
    size_t units, bad, position;
    uint32_t character;

    if (!text_check(name, &units, &bad)) {
        reason_set(err, REASON_INVALID_INPUT, "a property's name is not UTF-8 at byte %zu", bad);
        error_add_meta_int(err, "position", (int64_t)bad);
        return STATUS_INVALID;
    }
    if (units > LIMIT_PROPERTY_NAME_UNITS)
        return refuse_length(name, units, err);
    if (name.len == 0) {
        reason_set(err, REASON_PROPERTY_NAME_INVALID,
            "a property's name is empty; allowed is " PROPERTY_NAME_ALLOWED);
        error_add_meta(err, "allowed", STR_LITERAL(PROPERTY_NAME_ALLOWED));
        return STATUS_INVALID;
    }
    if (property_name_misfit(name, &position, &character))
        return refuse_invalid(name, position, character, err);
    return STATUS_OK;
}

enum status property_name_check(struct str name, struct error *err)
{
    if (!is_plain(name))
        TRY(check_characters(name, err));
    if (is_field_of_entity(name)) {
        reason_set(err, REASON_PROPERTY_NAME_INVALID,
            "\"%.*s\" is a field of the entity and cannot be a property too", STR_ARG(name));
        property_name_blame(err, name);
        return STATUS_INVALID;
    }
    return STATUS_OK;
}

const char *property_name_subject(struct str name, char out[static PROPERTY_SUBJECT_BYTES])
{
    char shown[64];
    size_t len = 0;

    if (name.len == 0) {
        snprintf(out, PROPERTY_SUBJECT_BYTES, "the value");
        return out;
    }
    if (!text_check(name, NULL, NULL)) {
        snprintf(out, PROPERTY_SUBJECT_BYTES, "a property");
        return out;
    }
    for (struct str rest = name; rest.len > 0;) {
        const char *begin = rest.data;
        uint32_t character = text_take(&rest);
        size_t bytes = (size_t)(rest.data - begin);

        if (len + bytes >= sizeof(shown))
            break;
        if (character < 0x20 || (character >= 0x7F && character < 0xA0))
            shown[len++] = '?';
        else
            for (size_t i = 0; i < bytes; i++)
                shown[len++] = begin[i];
    }
    shown[len] = '\0';
    snprintf(out, PROPERTY_SUBJECT_BYTES, "property \"%s\"", shown);
    return out;
}

void property_name_blame(struct error *err, struct str name)
{
    if (name.len > 0 && text_check(name, NULL, NULL))
        error_add_meta(err, "property", name);
}

bool property_name_is_source(struct str name)
{
    return str_equal(name, PROPERTY_SOURCE_PARTITION) || str_equal(name, PROPERTY_SOURCE_ROW);
}
