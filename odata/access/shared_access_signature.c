/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_access_signature.c - see the header. The signed text is lines, and no value contains a line feed, so
 * the signed bytes can be read in one way only.
 */
#include "odata/access/shared_access_signature.h"

#include "api/json/json_forms.h"
#include "base/buf.h"
#include "base/macros.h"
#include "domain/catalogue/table_name.h"
#include "domain/properties/datetime.h"
#include "domain/ticks.h"
#include "odata/odata_uri.h"

/* The allowed range of sv. Versions are dates, compared as text. */
#define VERSION_FIRST STR_LITERAL("2012-02-12")
/* from this version on the resource begins with /table */
#define VERSION_OF_TABLE_PREFIX STR_LITERAL("2015-02-21")
#define VERSION_OF_ADDRESSES STR_LITERAL("2015-04-05") /* from this version on sip and spr are signed */
#define VERSION_OF_SCOPE STR_LITERAL("2020-12-06")     /* from this version on ses is signed */

enum field {
    FIELD_VERSION,
    FIELD_SIGNATURE,
    FIELD_PERMISSIONS,
    FIELD_START,
    FIELD_EXPIRY,
    FIELD_ADDRESSES,
    FIELD_PROTOCOL,
    FIELD_TABLE,
    FIELD_POLICY,
    FIELD_LOW_PARTITION,
    FIELD_LOW_ROW,
    FIELD_HIGH_PARTITION,
    FIELD_HIGH_ROW,
    FIELD_SERVICES,
    FIELD_RESOURCES,
    FIELD_SCOPE,
    FIELD_COUNT
};

static const struct str names[FIELD_COUNT] = { STR_LITERAL("sv"), STR_LITERAL("sig"), STR_LITERAL("sp"),
    STR_LITERAL("st"), STR_LITERAL("se"), STR_LITERAL("sip"), STR_LITERAL("spr"), STR_LITERAL("tn"),
    STR_LITERAL("si"), STR_LITERAL("spk"), STR_LITERAL("srk"), STR_LITERAL("epk"), STR_LITERAL("erk"),
    STR_LITERAL("ss"), STR_LITERAL("srt"), STR_LITERAL("ses") };

struct fields {
    struct str values[FIELD_COUNT]; /* decoded; empty: missing */
    bool given[FIELD_COUNT];
};

/* ---- the parameters ---- */

static int field_of(struct str name)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (str_equal(name, names[i]))
            return i;
    return -1;
}

bool shared_access_signature_is_in(struct str query)
{
    struct str name, value;

    while (odata_uri_take_parameter(&query, &name, &value))
        if (str_equal(name, names[FIELD_SIGNATURE]))
            return true;
    return false;
}

/*
 * A '+' of base64 is not decoded as a space, though the rules of queries say so: clients send it without
 * encoding.
 */
static bool read_fields(struct str query, struct arena *arena, struct fields *out)
{
    struct str name, value;

    while (odata_uri_take_parameter(&query, &name, &value)) {
        int field = field_of(name);
        enum odata_uri_part part = field == FIELD_SIGNATURE ? ODATA_URI_PATH : ODATA_URI_QUERY;

        if (field < 0)
            continue;
        if (out->given[field] || !odata_uri_decode(value, part, arena, &out->values[field]) ||
            !request_credential_is_line(out->values[field]))
            return false;
        out->given[field] = true;
    }
    return true;
}

/* ---- values ---- */

static bool is_from(const struct fields *fields, struct str version)
{
    return str_compare(fields->values[FIELD_VERSION], version) >= 0;
}

static bool version_is_valid(struct str version)
{
    static const char form[] = "0000-00-00";

    if (version.len != sizeof(form) - 1 || str_compare(version, VERSION_FIRST) < 0)
        return false;
    for (size_t i = 0; i < version.len; i++)
        if (form[i] == '-' ? version.data[i] != '-' : version.data[i] < '0' || version.data[i] > '9')
            return false;
    return true;
}

/* Read a time in UTC: a date, or a date and a time that ends with Z. An empty text leaves the time unset. */
static bool read_time(struct str text, int64_t *out)
{
    int64_t seconds;
    int32_t nanos;

    if (text.len == 0)
        return true;
    if (text.len != sizeof("0000-00-00") - 1 && text.data[text.len - 1] != 'Z')
        return false;
    return datetime_parse(text, &seconds, &nanos) && ticks_from_timestamp(seconds, nanos, out);
}

static bool read_protocol(struct str text, bool *tls_only)
{
    *tls_only = str_equal(text, STR_LITERAL("https"));
    return *tls_only || text.len == 0 || str_equal(text, STR_LITERAL("https,http"));
}

/*
 * Read a text in which each character is one of the letters and stands once. out: a bit for each letter; the
 * bit of the first letter is 1.
 */
static bool read_letters(struct str text, const char *letters, unsigned *out)
{
    unsigned found = 0;

    for (size_t i = 0; i < text.len; i++) {
        const char *at = memchr(letters, text.data[i], strlen(letters));
        unsigned bit = at ? 1U << (at - letters) : 0;

        if (!bit || (found & bit))
            return false;
        found |= bit;
    }
    *out = found;
    return true;
}

static bool read_common(const struct fields *fields, struct arena *arena, struct credential *out)
{
    struct str addresses = fields->values[FIELD_ADDRESSES];

    out->has_source = addresses.len > 0;
    return version_is_valid(fields->values[FIELD_VERSION]) &&
           read_time(fields->values[FIELD_START], &out->start) &&
           read_time(fields->values[FIELD_EXPIRY], &out->expiry) &&
           (!out->has_source || network_range_parse(addresses, &out->source)) &&
           read_protocol(fields->values[FIELD_PROTOCOL], &out->tls_only) &&
           json_forms_read_bytes(fields->values[FIELD_SIGNATURE], arena, &out->signature) &&
           out->signature.len == CREDENTIAL_HASH_BYTES;
}

/* ---- the signature of a table ---- */

/*
 * Read the range of keys. A partition key without a row key bounds whole partitions. false: a row key is
 * given without its partition key.
 */
static bool read_range(const struct fields *fields, struct key_range *out)
{
    const struct str *values = fields->values;

    *out = (struct key_range){
        .has_low = values[FIELD_LOW_PARTITION].len > 0,
        .has_high = values[FIELD_HIGH_PARTITION].len > 0,
        .high_has_row = values[FIELD_HIGH_ROW].len > 0,
        .low = { values[FIELD_LOW_PARTITION], values[FIELD_LOW_ROW] },
        .high = { values[FIELD_HIGH_PARTITION], values[FIELD_HIGH_ROW] },
    };
    return (out->has_low || values[FIELD_LOW_ROW].len == 0) && (out->has_high || !out->high_has_row);
}

static struct str content_of_table(
    const struct fields *fields, struct str account, struct str table, struct arena *arena)
{
    static const enum field late[] = { FIELD_LOW_PARTITION, FIELD_LOW_ROW, FIELD_HIGH_PARTITION,
        FIELD_HIGH_ROW };
    const struct str *values = fields->values;
    struct buf out;

    buf_init(&out, arena);
    buf_format(&out, "%.*s\n%.*s\n%.*s\n%s/%.*s/%.*s\n%.*s\n", STR_ARG(values[FIELD_PERMISSIONS]),
        STR_ARG(values[FIELD_START]), STR_ARG(values[FIELD_EXPIRY]),
        is_from(fields, VERSION_OF_TABLE_PREFIX) ? "/table" : "", STR_ARG(account), STR_ARG(table),
        STR_ARG(values[FIELD_POLICY]));
    if (is_from(fields, VERSION_OF_ADDRESSES))
        buf_format(&out, "%.*s\n%.*s\n", STR_ARG(values[FIELD_ADDRESSES]), STR_ARG(values[FIELD_PROTOCOL]));
    buf_append(&out, values[FIELD_VERSION]);
    for (size_t i = 0; i < ARRAY_LEN(late); i++)
        BUF_JOIN(&out, STR_LITERAL("\n"), values[late[i]]);
    return buf_str(&out);
}

static bool read_table_signature(
    const struct fields *fields, struct str account, struct arena *arena, struct credential *out)
{
    bool has_addresses = fields->given[FIELD_ADDRESSES] || fields->given[FIELD_PROTOCOL];

    out->kind = CREDENTIAL_TABLE_SIGNATURE;
    out->account = account;
    out->table = table_name_fold(fields->values[FIELD_TABLE], arena);
    out->policy = fields->values[FIELD_POLICY];
    if (!access_parse_permissions(fields->values[FIELD_PERMISSIONS], &out->permissions) ||
        !read_range(fields, &out->range) || !read_common(fields, arena, out) ||
        (has_addresses && !is_from(fields, VERSION_OF_ADDRESSES)))
        return false;
    out->fields = content_of_table(fields, account, out->table, arena);
    return true;
}

/* ---- the signature of an account ---- */

/*
 * Read the permissions. All letters that storage accounts know are accepted; letters that have no meaning for
 * tables allow nothing.
 */
static bool read_account_permissions(struct str text, unsigned *out)
{
    static const char letters[] = "rwdxylacuptfie";
    static const struct {
        char letter;
        enum permission permission;
    } known[] = { { 'r', PERMISSION_READ }, { 'w', PERMISSION_SET }, { 'd', PERMISSION_DELETE },
        { 'l', PERMISSION_LIST }, { 'a', PERMISSION_ADD }, { 'c', PERMISSION_CREATE },
        { 'u', PERMISSION_UPDATE } };
    unsigned ignored;

    if (!read_letters(text, letters, &ignored))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (text.len > 0 && memchr(text.data, known[i].letter, text.len))
            *out |= known[i].permission;
    return true;
}

static struct str content_of_account(const struct fields *fields, struct str account, struct arena *arena)
{
    static const enum field order[] = { FIELD_PERMISSIONS, FIELD_SERVICES, FIELD_RESOURCES, FIELD_START,
        FIELD_EXPIRY, FIELD_ADDRESSES, FIELD_PROTOCOL, FIELD_VERSION };
    struct buf out;

    buf_init(&out, arena);
    BUF_JOIN(&out, account, STR_LITERAL("\n"));
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        BUF_JOIN(&out, fields->values[order[i]], STR_LITERAL("\n"));
    if (is_from(fields, VERSION_OF_SCOPE))
        BUF_JOIN(&out, fields->values[FIELD_SCOPE], STR_LITERAL("\n"));
    return buf_str(&out);
}

static bool read_account_signature(
    const struct fields *fields, struct str account, struct arena *arena, struct credential *out)
{
    unsigned services;

    _Static_assert(
        RESOURCE_SERVICE == 1 && RESOURCE_CONTAINER == 2 && RESOURCE_OBJECT == 4, "the order of sco");
    out->kind = CREDENTIAL_ACCOUNT_SIGNATURE;
    out->account = account;
    if (!read_letters(fields->values[FIELD_SERVICES], "tbqf", &services) ||
        !read_letters(fields->values[FIELD_RESOURCES], "sco", &out->resources) ||
        !read_account_permissions(fields->values[FIELD_PERMISSIONS], &out->permissions) ||
        !read_common(fields, arena, out) || !is_from(fields, VERSION_OF_ADDRESSES))
        return false;
    out->is_for_tables = services & 1;
    out->fields = content_of_account(fields, account, arena);
    return true;
}

bool shared_access_signature_read(
    const struct signed_request *request, struct arena *arena, struct credential *out)
{
    struct fields fields = { 0 };
    struct credential credential = { 0 };
    bool is_of_table;

    if (!read_fields(request->query, arena, &fields))
        return false;
    is_of_table = fields.values[FIELD_TABLE].len > 0;
    if (is_of_table ? !read_table_signature(&fields, request->account, arena, &credential)
                    : !read_account_signature(&fields, request->account, arena, &credential))
        return false;
    if (credential_check(&credential, NULL) != STATUS_OK)
        return false;
    *out = credential;
    return true;
}
