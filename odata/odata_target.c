/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_target.c - see the header. The path is split at its slashes before it is decoded. So an encoded slash
 * belongs to a key, where it is refused, and never splits the path.
 */
#include "odata/odata_target.h"

#include <stddef.h>

#include "domain/reason.h"
#include "odata/odata_uri.h"

static const struct str secondary = STR_LITERAL("-secondary");

static enum status refuse_syntax(struct error *err)
{
    return reason_set(err, REASON_INVALID_INPUT, "Bad Request - Error in query syntax.");
}

/* ---- options ---- */

static const struct option {
    const char *name;
    size_t offset; /* offset of the option's member in struct odata_options */
} known_options[] = {
    { "$filter", offsetof(struct odata_options, filter) },
    { "$select", offsetof(struct odata_options, select) },
    { "$top", offsetof(struct odata_options, top) },
    { "$format", offsetof(struct odata_options, format) },
    { "timeout", offsetof(struct odata_options, timeout) },
    { "comp", offsetof(struct odata_options, comp) },
    { "restype", offsetof(struct odata_options, restype) },
    { "NextPartitionKey", offsetof(struct odata_options, next_partition_key) },
    { "NextRowKey", offsetof(struct odata_options, next_row_key) },
    { "NextTableName", offsetof(struct odata_options, next_table_name) },
};

static const char *const unsupported_options[] = { "$orderby", "$skip", "$count", "$inlinecount", "$expand",
    "$search" };

static struct str *find_option(struct str name, struct odata_options *options)
{
    for (size_t i = 0; i < ARRAY_LEN(known_options); i++)
        if (str_equal(name, str_of(known_options[i].name)))
            return (struct str *)(void *)((char *)options + known_options[i].offset);
    return NULL;
}

static enum status check_supported(struct str name, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(unsupported_options); i++)
        if (str_equal(name, str_of(unsupported_options[i])))
            return reason_set(
                err, REASON_NOT_IMPLEMENTED, "the option %s is not supported", unsupported_options[i]);
    return STATUS_OK;
}

static enum status parse_options(
    struct str query, struct arena *arena, struct odata_options *out, struct error *err)
{
    bool given[ARRAY_LEN(known_options)] = { false };
    struct str name, value, *option;

    while (odata_uri_take_parameter(&query, &name, &value)) {
        size_t number;

        if (!odata_uri_decode(name, ODATA_URI_QUERY, arena, &name))
            return refuse_syntax(err);
        TRY(check_supported(name, err));
        option = find_option(name, out);
        if (!option)
            continue;
        number = (size_t)(option - (struct str *)(void *)out);
        if (given[number])
            return reason_set(err, REASON_INVALID_INPUT, "the option %.*s is given twice", STR_ARG(name));
        given[number] = true;
        if (!odata_uri_decode(value, ODATA_URI_QUERY, arena, option))
            return reason_set(
                err, REASON_INVALID_INPUT, "the option %.*s is not percent-encoded UTF-8", STR_ARG(name));
    }
    return STATUS_OK;
}

_Static_assert(sizeof(struct odata_options) == ARRAY_LEN(known_options) * sizeof(struct str),
    "each member is an option");

/* ---- the resource ---- */

/* Take a quoted text off the front of the decoded text; a quote inside of it is doubled. */
static bool take_literal(struct str *text, struct arena *arena, struct str *out)
{
    struct buf value;
    size_t at = 1;

    if (text->len == 0 || text->data[0] != '\'')
        return false;
    buf_init(&value, arena);
    for (; at < text->len; at++) {
        if (text->data[at] == '\'' && (at + 1 == text->len || text->data[at + 1] != '\''))
            break;
        at += text->data[at] == '\'';
        buf_append_byte(&value, (uint8_t)text->data[at]);
    }
    if (at >= text->len)
        return false;
    *text = str_from(*text, at + 1);
    *out = buf_str(&value);
    return true;
}

static bool take_text(struct str *text, struct str what)
{
    if (!str_starts_with(*text, what))
        return false;
    *text = str_from(*text, what.len);
    return true;
}

static void skip_spaces(struct str *text)
{
    while (text->len > 0 && text->data[0] == ' ')
        *text = str_from(*text, 1);
}

/* Take PartitionKey='p' or RowKey='r', in either order. */
static bool take_key(struct str *text, struct arena *arena, struct odata_target *out, int *seen)
{
    bool is_partition;

    skip_spaces(text);
    is_partition = take_text(text, STR_LITERAL("PartitionKey="));
    if (!is_partition && !take_text(text, STR_LITERAL("RowKey=")))
        return false;
    *seen |= is_partition ? 1 : 2;
    if (!take_literal(text, arena, is_partition ? &out->partition : &out->row))
        return false;
    skip_spaces(text);
    return true;
}

static bool is_end(struct str text)
{
    return str_equal(text, STR_LITERAL(")"));
}

static enum status parse_keys(
    struct str rest, struct arena *arena, struct odata_target *out, struct error *err)
{
    int seen = 0;

    out->resource = ODATA_RESOURCE_ENTITY;
    if (!take_key(&rest, arena, out, &seen) || !take_text(&rest, STR_LITERAL(",")) ||
        !take_key(&rest, arena, out, &seen) || !is_end(rest) || seen != 3)
        return refuse_syntax(err);
    return STATUS_OK;
}

static bool is_tables(struct str name)
{
    return str_equal_any_case(name, STR_LITERAL("Tables"));
}

/* Read the key or name in parentheses. rest: the text behind the opening parenthesis. */
static enum status parse_parentheses(
    struct str name, struct str rest, struct arena *arena, struct odata_target *out, struct error *err)
{
    out->resource = is_tables(name) ? ODATA_RESOURCE_TABLES : ODATA_RESOURCE_ENTITIES;
    out->table = name;
    if (is_end(rest))
        return STATUS_OK;
    if (!is_tables(name))
        return parse_keys(rest, arena, out, err);
    out->resource = ODATA_RESOURCE_TABLE;
    return take_literal(&rest, arena, &out->table) && is_end(rest) ? STATUS_OK : refuse_syntax(err);
}

static enum status parse_resource(
    struct str segment, struct arena *arena, struct odata_target *out, struct error *err)
{
    struct str text, rest, name;

    if (!odata_uri_decode(segment, ODATA_URI_PATH, arena, &text))
        return refuse_syntax(err);
    rest = text;
    name = str_take(&rest, '(');
    if (name.len < text.len)
        return parse_parentheses(name, rest, arena, out, err);
    out->table = name;
    out->resource = name.len == 0                            ? ODATA_RESOURCE_SERVICE
                    : str_equal(name, STR_LITERAL("$batch")) ? ODATA_RESOURCE_BATCH
                    : is_tables(name)                        ? ODATA_RESOURCE_TABLES
                                                             : ODATA_RESOURCE_ENTITIES;
    return STATUS_OK;
}

/* ---- the account ---- */

/* Whether the host is <account>.table.<domain>, with or without a port. */
static bool is_host_style(struct str host, struct str *account)
{
    struct str rest = host;

    *account = str_take(&rest, '.');
    return account->len > 0 && str_starts_with(rest, STR_LITERAL("table.")) && rest.len > 6;
}

static void set_account(struct str name, struct odata_target *out)
{
    size_t len = name.len - (name.len > secondary.len ? secondary.len : name.len);

    out->is_secondary = len > 0 && str_equal(str_from(name, len), secondary);
    out->account = out->is_secondary ? str_of_bytes(name.data, len) : name;
}

enum status odata_target_parse(
    struct str host, struct str target, struct arena *arena, struct odata_target *out, struct error *err)
{
    struct odata_target parsed = { .raw_query = target };
    struct str rest, account, segment;

    parsed.raw_path = str_take(&parsed.raw_query, '?');
    rest = str_from(parsed.raw_path, 1);
    if (parsed.raw_path.len == 0 || parsed.raw_path.data[0] != '/')
        return refuse_syntax(err);
    parsed.is_path_style = !is_host_style(host, &account);
    if (parsed.is_path_style && !odata_uri_decode(str_take(&rest, '/'), ODATA_URI_PATH, arena, &account))
        return refuse_syntax(err);
    set_account(account, &parsed);
    segment = str_take(&rest, '/');
    if (rest.len > 0)
        return refuse_syntax(err);
    TRY(parse_resource(segment, arena, &parsed, err));
    TRY(parse_options(parsed.raw_query, arena, &parsed.options, err));
    *out = parsed;
    return STATUS_OK;
}
