/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credential.c - the fields, in this order:
 *
 *   token      account, issued, expiry
 *   signature  account, table, issued, flags, and for each flag, lowest first, its field: start, expiry,
 *              permissions, policy, source (two addresses), low (partition key, row key), high's partition key,
 *              high's row key, TLS only (nothing more)
 *
 * Texts are counted, times and flags are varints. 32 bytes of HMAC-SHA256 end it.
 */
#include "domain/access/credential.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64url.h"
#include "base/buf.h"
#include "base/wire.h"
#include "domain/catalogue/access_policy.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"

enum { PREFIX_BYTES = 5, HASH_BYTES = CREDENTIAL_HASH_BYTES };

static const struct str prefixes[] = {
    [CREDENTIAL_TOKEN] = { "tvt1.", PREFIX_BYTES },
    [CREDENTIAL_SIGNATURE] = { "tvs1.", PREFIX_BYTES },
};

enum field {
    FIELD_START = 1,
    FIELD_EXPIRY = 2,
    FIELD_PERMISSIONS = 4,
    FIELD_POLICY = 8,
    FIELD_SOURCE = 16,
    FIELD_LOW = 32,
    FIELD_HIGH = 64,
    FIELD_HIGH_ROW = 128,
    FIELD_TLS = 256,
    FIELDS_ALL = 511,
};

/* ---- the rules of a credential, for encoding and decoding ---- */

static bool is_time(int64_t ticks)
{
    return ticks > 0 && ticks <= TICKS_MAX;
}

static enum status refuse_field(const char *what, struct error *err)
{
    return reason_set(err, REASON_INVALID_INPUT, "%s", what);
}

/*
 * A bound that is not a possible key is a mistake of the signer: it would neither allow nor exclude
 * any entity.
 */
static enum status check_bound(const char *which, const struct entity_key *bound, struct error *err)
{
    struct entity_key ignored;
    struct error found = { 0 };

    if (entity_key_parse(bound->partition, bound->row, &ignored, &found) == STATUS_OK)
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT, "the %s of the range: %s", which, found.message);
}

static enum status check_terms(const struct credential *credential, struct error *err)
{
    if (credential->start &&
        (!is_time(credential->start) || (credential->expiry && credential->expiry <= credential->start)))
        return refuse_field("the start lies after the expiry, or before 1601", err);
    if (credential->policy.len > 0 && !access_policy_id_is_valid(credential->policy))
        return refuse_field("the policy's id has 1 to 64 printable ASCII characters", err);
    if (credential->policy.len == 0 && (!credential->expiry || !credential->permissions))
        return refuse_field("without a stored policy, expiry and permissions must be given", err);
    return STATUS_OK;
}

static enum status check_signature(const struct credential *credential, struct error *err)
{
    const struct key_range *range = &credential->range;

    TRY(table_name_check(credential->table, err));
    if (!table_name_is(credential->table, credential->table))
        return refuse_field("the table's name must be in lower case", err);
    if (credential->permissions >= 1U << PERMISSION_COUNT)
        return refuse_field("unknown permissions", err);
    TRY(check_terms(credential, err));
    TRY(check_bound("start", &range->low, err));
    TRY(check_bound("end", &range->high, err));
    if (range->high_has_row && !range->has_high)
        return refuse_field("an end row key needs an end partition key", err);
    return STATUS_OK;
}

static bool is_undated(enum credential_kind kind)
{
    return kind == CREDENTIAL_TABLE_SIGNATURE || kind == CREDENTIAL_ACCOUNT_SIGNATURE ||
           kind == CREDENTIAL_BEARER;
}

static enum status check_account_signature(const struct credential *credential, struct error *err)
{
    if (!credential->resources)
        return refuse_field("an account signature names at least one type of resource", err);
    return check_terms(credential, err);
}

static enum status check_bearer(const struct credential *credential, struct error *err)
{
    if (!credential->expiry || credential->expiry <= credential->start)
        return refuse_field("a bearer token has an expiry, behind its start", err);
    if (credential->opens_account)
        return STATUS_OK;
    return credential->resources ? check_account_signature(credential, err)
                                 : check_signature(credential, err);
}

static enum status check_token(const struct credential *credential, struct error *err)
{
    if (credential->expiry <= credential->issued ||
        credential->expiry - credential->issued > LIMIT_TOKEN_LIFETIME_S * TICKS_PER_SECOND)
        return refuse_field("a token may be valid for at most 24 hours", err);
    return STATUS_OK;
}

enum status credential_check(const struct credential *credential, struct error *err)
{
    if (!account_name_is_valid(credential->account))
        return refuse_field("an account's name has 3 to 63 lower-case letters and digits", err);
    if (!is_time(credential->issued) && !is_undated(credential->kind))
        return refuse_field("the time of issue lies outside the years 1601 to 9999", err);
    if (credential->expiry && !is_time(credential->expiry))
        return refuse_field("the expiry lies outside the years 1601 to 9999", err);
    switch (credential->kind) {
    case CREDENTIAL_TOKEN:
        return check_token(credential, err);
    case CREDENTIAL_SIGNATURE:
    case CREDENTIAL_TABLE_SIGNATURE:
        return check_signature(credential, err);
    case CREDENTIAL_ACCOUNT_SIGNATURE:
        return check_account_signature(credential, err);
    case CREDENTIAL_BEARER:
        return check_bearer(credential, err);
    case CREDENTIAL_SIGNED_REQUEST:
        break;
    }
    return STATUS_OK;
}

/* ---- writing ---- */

static void write_text(struct buf *out, struct str text)
{
    wire_write_varint(out, text.len);
    buf_append(out, text);
}

static unsigned fields_of(const struct credential *credential)
{
    const struct key_range *range = &credential->range;

    return (credential->start ? FIELD_START : 0u) | (credential->expiry ? FIELD_EXPIRY : 0u) |
           (credential->permissions ? FIELD_PERMISSIONS : 0u) |
           (credential->policy.len > 0 ? FIELD_POLICY : 0u) | (credential->has_source ? FIELD_SOURCE : 0u) |
           (range->has_low ? FIELD_LOW : 0u) | (range->has_high ? FIELD_HIGH : 0u) |
           (range->high_has_row ? FIELD_HIGH_ROW : 0u) | (credential->tls_only ? FIELD_TLS : 0u);
}

static void write_signature(const struct credential *credential, struct buf *out)
{
    unsigned fields = fields_of(credential);

    write_text(out, credential->table);
    wire_write_varint(out, (uint64_t)credential->issued);
    wire_write_varint(out, fields);
    if (fields & FIELD_START)
        wire_write_varint(out, (uint64_t)credential->start);
    if (fields & FIELD_EXPIRY)
        wire_write_varint(out, (uint64_t)credential->expiry);
    if (fields & FIELD_PERMISSIONS)
        wire_write_varint(out, credential->permissions);
    if (fields & FIELD_POLICY)
        write_text(out, credential->policy);
    if (fields & FIELD_SOURCE) {
        buf_append(out, str_of_bytes(credential->source.low.bytes, NETWORK_ADDRESS_BYTES));
        buf_append(out, str_of_bytes(credential->source.high.bytes, NETWORK_ADDRESS_BYTES));
    }
    if (fields & FIELD_LOW) {
        write_text(out, credential->range.low.partition);
        write_text(out, credential->range.low.row);
    }
    if (fields & FIELD_HIGH)
        write_text(out, credential->range.high.partition);
    if (fields & FIELD_HIGH_ROW)
        write_text(out, credential->range.high.row);
}

static struct str key_bytes(const struct account_key *key)
{
    return str_of_bytes(key->bytes, ACCOUNT_KEY_BYTES);
}

static void sign_content(struct str key, struct str fields, uint8_t out[static HASH_BYTES])
{
    unsigned len = HASH_BYTES;
    const uint8_t *done =
        HMAC(EVP_sha256(), key.data, (int)key.len, (const uint8_t *)fields.data, fields.len, out, &len);

    assert(done && len == HASH_BYTES && "HMAC-SHA256 is always there");
    (void)done;
}

struct str credential_sign(
    const struct credential *credential, const struct account_key *key, struct arena *arena)
{
    struct str prefix = prefixes[credential->kind];
    uint8_t hash[HASH_BYTES];
    struct buf out, text;

    buf_init(&out, arena);
    buf_append(&out, prefix);
    write_text(&out, credential->account);
    if (credential->kind == CREDENTIAL_SIGNATURE) {
        write_signature(credential, &out);
    } else {
        wire_write_varint(&out, (uint64_t)credential->issued);
        wire_write_varint(&out, (uint64_t)credential->expiry);
    }
    sign_content(key_bytes(key), buf_str(&out), hash);
    buf_append(&out, str_of_bytes(hash, HASH_BYTES));

    buf_init(&text, arena);
    buf_append(&text, prefix);
    buf_append(&text, base64url_encode(str_from(buf_str(&out), PREFIX_BYTES), arena));
    return buf_str(&text);
}

/* ---- reading ---- */

static bool read_text(struct str *rest, struct str *out)
{
    uint64_t len;

    if (!wire_read_varint(rest, &len) || len > rest->len)
        return false;
    *out = str_of_bytes(rest->data, (size_t)len);
    *rest = str_from(*rest, (size_t)len);
    return true;
}

static bool read_ticks(struct str *rest, int64_t *out)
{
    uint64_t ticks;

    if (!wire_read_varint(rest, &ticks) || ticks == 0 || ticks > TICKS_MAX)
        return false;
    *out = (int64_t)ticks;
    return true;
}

static bool read_address(struct str *rest, struct network_address *out)
{
    if (rest->len < NETWORK_ADDRESS_BYTES)
        return false;
    memcpy(out->bytes, rest->data, NETWORK_ADDRESS_BYTES);
    *rest = str_from(*rest, NETWORK_ADDRESS_BYTES);
    return true;
}

static bool read_permissions(struct str *rest, unsigned *out)
{
    uint64_t permissions;

    if (!wire_read_varint(rest, &permissions) || permissions == 0 || permissions >= 1U << PERMISSION_COUNT)
        return false;
    *out = (unsigned)permissions;
    return true;
}

static bool read_signature(struct str *rest, struct credential *out)
{
    uint64_t fields;

    if (!read_text(rest, &out->table) || !read_ticks(rest, &out->issued) ||
        !wire_read_varint(rest, &fields) || fields > FIELDS_ALL)
        return false;
    out->has_source = fields & FIELD_SOURCE;
    out->range.has_low = fields & FIELD_LOW;
    out->range.has_high = fields & FIELD_HIGH;
    out->range.high_has_row = fields & FIELD_HIGH_ROW;
    out->tls_only = fields & FIELD_TLS;
    return (!(fields & FIELD_START) || read_ticks(rest, &out->start)) &&
           (!(fields & FIELD_EXPIRY) || read_ticks(rest, &out->expiry)) &&
           (!(fields & FIELD_PERMISSIONS) || read_permissions(rest, &out->permissions)) &&
           (!(fields & FIELD_POLICY) || (read_text(rest, &out->policy) && out->policy.len > 0)) &&
           (!(fields & FIELD_SOURCE) ||
               (read_address(rest, &out->source.low) && read_address(rest, &out->source.high))) &&
           (!(fields & FIELD_LOW) ||
               (read_text(rest, &out->range.low.partition) && read_text(rest, &out->range.low.row))) &&
           (!(fields & FIELD_HIGH) || read_text(rest, &out->range.high.partition)) &&
           (!(fields & FIELD_HIGH_ROW) || read_text(rest, &out->range.high.row));
}

static bool read_fields(struct str rest, struct credential *out)
{
    if (!read_text(&rest, &out->account))
        return false;
    if (out->kind == CREDENTIAL_TOKEN ? !read_ticks(&rest, &out->issued) || !read_ticks(&rest, &out->expiry)
                                      : !read_signature(&rest, out))
        return false;
    return rest.len == 0;
}

static bool kind_of(struct str text, enum credential_kind *out)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts_with(text, prefixes[i])) {
            *out = (enum credential_kind)i;
            return true;
        }
    return false;
}

bool credential_parse(struct str text, struct arena *arena, struct credential *out)
{
    struct credential credential = { 0 };
    struct str bytes;
    struct buf fields;

    if (text.len > LIMIT_CREDENTIAL_BYTES || !kind_of(text, &credential.kind) ||
        !base64url_decode(str_from(text, PREFIX_BYTES), arena, &bytes) || bytes.len <= HASH_BYTES)
        return false;
    buf_init(&fields, arena);
    buf_append(&fields, prefixes[credential.kind]);
    buf_append(&fields, str_of_bytes(bytes.data, bytes.len - HASH_BYTES));
    credential.fields = buf_str(&fields);
    credential.signature = str_from(bytes, bytes.len - HASH_BYTES);
    if (!read_fields(str_from(credential.fields, PREFIX_BYTES), &credential) ||
        credential_check(&credential, NULL) != STATUS_OK)
        return false;
    *out = credential;
    return true;
}

bool credential_is_signed_with(const struct credential *credential, struct str key)
{
    uint8_t hash[HASH_BYTES];
    bool is_genuine;

    sign_content(key, credential->fields, hash);
    is_genuine = CRYPTO_memcmp(hash, credential->signature.data, HASH_BYTES) == 0;
    if (credential->other_fields.len == 0)
        return is_genuine;
    sign_content(key, credential->other_fields, hash);
    return (CRYPTO_memcmp(hash, credential->signature.data, HASH_BYTES) == 0) | is_genuine;
}

int credential_signer(const struct credential *credential, const struct account *account)
{
    int signer = 0;

    for (int i = 0; i < ACCOUNT_KEYS; i++)
        signer |= credential_is_signed_with(credential, key_bytes(&account->keys[i])) * (i + 1);
    return signer;
}

bool credential_is_genuine(const struct credential *credential, const struct account *account)
{
    return credential_signer(credential, account) != 0;
}

/* ---- from a credential to an access ---- */

enum status credential_refuse(struct error *err)
{
    return reason_set(err, REASON_AUTHENTICATION_FAILED, "the token does not authenticate this call");
}

static bool is_current(int64_t start, int64_t expiry, int64_t now)
{
    return start <= now + LIMIT_CLOCK_SKEW_S * TICKS_PER_SECOND && now < expiry;
}

/*
 * Combine the fields of the signature with those of its policy; a field may be set by only one of
 * the two.
 */
static bool join_policy(
    const struct credential *credential, const struct credential_context *context, struct access_policy *out)
{
    const struct access_policy *policy;
    const struct table *table;

    *out = (struct access_policy){
        .start = credential->start, .expiry = credential->expiry, .permissions = credential->permissions
    };
    if (credential->policy.len == 0)
        return true;
    table = catalogue_find(context->catalogue, context->account->id, credential->table);
    policy = table ? access_policies_find(&table->policies, credential->policy) : NULL;
    if (!policy || (policy->start && out->start) || (policy->expiry && out->expiry) ||
        (policy->permissions && out->permissions))
        return false;
    out->start |= policy->start;
    out->expiry |= policy->expiry;
    out->permissions |= policy->permissions;
    return true;
}

static enum status check_origin(
    const struct credential *credential, const struct call_origin *origin, struct error *err)
{
    if (credential->has_source &&
        (!origin->has_address || !network_range_contains(&credential->source, &origin->address)))
        return reason_set(
            err, REASON_AUTHORIZATION_SOURCE_IP_MISMATCH, "the signature may not be used from this address");
    if (credential->tls_only && !origin->is_encrypted)
        return reason_set(
            err, REASON_AUTHORIZATION_PROTOCOL_MISMATCH, "the signature may be used over TLS only");
    return STATUS_OK;
}

static bool is_dated_now(int64_t date, int64_t now)
{
    return date - now <= LIMIT_SIGNED_DATE_S * TICKS_PER_SECOND &&
           now - date <= LIMIT_SIGNED_DATE_S * TICKS_PER_SECOND;
}

static bool opens_account(const struct credential *credential)
{
    return credential->kind == CREDENTIAL_TOKEN || credential->kind == CREDENTIAL_SIGNED_REQUEST ||
           (credential->kind == CREDENTIAL_BEARER && credential->opens_account);
}

static bool is_valid_at(const struct credential *credential, int64_t now)
{
    switch (credential->kind) {
    case CREDENTIAL_SIGNED_REQUEST:
        return is_dated_now(credential->issued, now);
    case CREDENTIAL_BEARER:
        return is_current(credential->start, credential->expiry, now);
    default:
        return is_current(credential->issued, credential->expiry, now);
    }
}

static enum status access_of_account(const struct credential *credential,
    const struct credential_context *context, struct access *out, struct error *err)
{
    if (!is_valid_at(credential, context->now))
        return credential_refuse(err);
    *out = (struct access){ .account = context->account->id,
        .whole_account = true,
        .administrator = context->account->administrator && credential->kind != CREDENTIAL_BEARER };
    return STATUS_OK;
}

enum status credential_access(const struct credential *credential, const struct credential_context *context,
    struct access *out, struct error *err)
{
    struct access_policy terms;
    int64_t now = context->now;

    if (opens_account(credential))
        return access_of_account(credential, context, out, err);
    if (!join_policy(credential, context, &terms) || !terms.permissions ||
        !is_current(credential->issued, terms.expiry, now) || !is_current(terms.start, terms.expiry, now))
        return credential_refuse(err);
    TRY(check_origin(credential, context->origin, err));
    if (credential->resources && !credential->is_for_tables)
        return reason_set(
            err, REASON_AUTHORIZATION_SERVICE_MISMATCH, "the account signature is not for the table service");
    *out = (struct access){
        .account = context->account->id,
        .resources = credential->resources,
        .table = credential->table,
        .permissions = terms.permissions,
        .range = credential->range,
        .signed_at = credential->issued,
    };
    return STATUS_OK;
}
