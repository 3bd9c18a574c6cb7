/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web_token.c - see the header. An object with a name twice is refused: readers differ in which of the two
 * values they take.
 */
#include "api/jwt/web_token.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/base64url.h"
#include "base/digits.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/ticks.h"

#define MAX_SECONDS 253402300799.0 /* the end of the year 9999 */

enum { PARTS = 3, PART_HEADER = 0, PART_CLAIMS = 1 };

static bool is_token_byte(char c)
{
    return digits_is_decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static bool divide(struct str text, struct str parts[static PARTS])
{
    size_t part = 0;

    for (size_t i = 0; i < PARTS; i++)
        parts[i] = STR_EMPTY;
    for (size_t i = 0, begin = 0; i <= text.len; i++) {
        if (i < text.len && text.data[i] != '.') {
            if (!is_token_byte(text.data[i]))
                return false;
            continue;
        }
        if (part == PARTS || i == begin)
            return false;
        parts[part++] = str_of_bytes(text.data + begin, i - begin);
        begin = i + 1;
    }
    return part == PARTS;
}

bool web_token_is_one(struct str text)
{
    struct str parts[PARTS];

    return text.len > 0 && text.len <= LIMIT_CREDENTIAL_BYTES && divide(text, parts);
}

/* NULL: it is no object. */
static json_t *load_part(struct str text, int part, struct arena *arena)
{
    struct str parts[PARTS], json;
    json_t *object;

    if (text.len == 0 || text.len > LIMIT_CREDENTIAL_BYTES || !divide(text, parts) ||
        !base64url_decode(parts[part], arena, &json))
        return NULL;
    object = json_loadb(json.data, json.len, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(object))
        return object;
    json_decref(object);
    return NULL;
}

/* A text that is there, or none; false: it is no text. */
static bool read_text(const json_t *object, const char *name, struct arena *arena, struct str *out)
{
    const json_t *value = json_object_get(object, name);

    if (value && !json_is_string(value))
        return false;
    *out = value ? arena_copy(arena, str_of_bytes(json_string_value(value), json_string_length(value)))
                 : STR_EMPTY;
    return true;
}

bool web_token_read_header(struct str text, struct arena *arena, struct web_token_header *out)
{
    json_t *header = load_part(text, PART_HEADER, arena);
    bool is_read = header && !json_object_get(header, "crit") &&
                   read_text(header, "alg", arena, &out->algorithm) && out->algorithm.len > 0 &&
                   read_text(header, "kid", arena, &out->key_id);

    json_decref(header);
    return is_read;
}

/* ---- claims ---- */

/* Seconds since 1970 as ticks; 0: absent. */
static bool read_time(const json_t *claims, const char *name, int64_t *out)
{
    const json_t *value = json_object_get(claims, name);
    double seconds = value ? json_number_value(value) : 0;

    *out = 0;
    if (!value)
        return true;
    if (!json_is_number(value) || !(seconds > 0 && seconds <= MAX_SECONDS))
        return false;
    return ticks_from_timestamp((int64_t)floor(seconds), 0, out);
}

static bool read_times(const json_t *claims, int64_t now, struct credential *out)
{
    int64_t not_before, issued;

    if (!read_time(claims, "exp", &out->expiry) || !read_time(claims, "nbf", &not_before) ||
        !read_time(claims, "iat", &issued))
        return false;
    out->start = not_before > issued ? not_before : issued;
    return out->expiry && out->expiry - now <= LIMIT_TOKEN_LIFETIME_S * TICKS_PER_SECOND;
}

static bool is_text(const json_t *value, struct str text)
{
    return json_is_string(value) &&
           str_equal(str_of_bytes(json_string_value(value), json_string_length(value)), text);
}

static bool names_audience(const json_t *audience, struct str wanted)
{
    if (!json_is_array(audience))
        return is_text(audience, wanted);
    for (size_t i = 0; i < json_array_size(audience); i++)
        if (is_text(json_array_get(audience, i), wanted))
            return true;
    return false;
}

static bool follows(const json_t *claims, const struct web_token_rules *rules)
{
    return (rules->issuer.len == 0 || is_text(json_object_get(claims, "iss"), rules->issuer)) &&
           (rules->audience.len == 0 || names_audience(json_object_get(claims, "aud"), rules->audience));
}

static bool read_table(const json_t *claims, struct arena *arena, struct credential *out)
{
    struct str name, partition;
    bool has_partition = json_object_get(claims, "tavola_partition") != NULL;

    if (!read_text(claims, "tavola_table", arena, &name) ||
        !read_text(claims, "tavola_partition", arena, &partition))
        return false;
    if (name.len == 0)
        return !json_object_get(claims, "tavola_table") && !has_partition;
    out->table = table_name_fold(name, arena);
    if (!has_partition)
        return true;
    out->range = (struct key_range){ .has_low = true, .has_high = true };
    out->range.low.partition = out->range.high.partition = partition;
    return true;
}

static bool read_permissions(const json_t *claims, struct arena *arena, struct credential *out)
{
    const unsigned of_tables = (1U << PERMISSION_COUNT) - 1;
    const unsigned of_accounts = (1U << PERMISSION_ALL_COUNT) - 1 - PERMISSION_LOOK_UP - PERMISSION_TRANSACT;
    bool is_for_account = out->table.len == 0;
    struct str text;

    if (!read_text(claims, "tavola_permissions", arena, &text) || text.len == 0)
        return false;
    out->opens_account = is_for_account && str_equal(text, STR_LITERAL("*"));
    if (out->opens_account)
        return true;
    if (is_for_account) {
        out->resources = RESOURCE_SERVICE | RESOURCE_CONTAINER | RESOURCE_OBJECT;
        out->is_for_tables = true;
    }
    return access_parse_permissions_among(text, is_for_account ? of_accounts : of_tables, &out->permissions);
}

bool web_token_read(struct str text, const struct web_token_rules *rules, int64_t now, struct arena *arena,
    struct credential *out)
{
    struct credential credential = { .kind = CREDENTIAL_BEARER };
    json_t *claims = load_part(text, PART_CLAIMS, arena);
    bool is_read = claims && follows(claims, rules) && read_times(claims, now, &credential) &&
                   read_text(claims, "tavola_account", arena, &credential.account) &&
                   read_table(claims, arena, &credential) && read_permissions(claims, arena, &credential) &&
                   credential_check(&credential, NULL) == STATUS_OK;

    json_decref(claims);
    if (is_read)
        *out = credential;
    return is_read;
}
