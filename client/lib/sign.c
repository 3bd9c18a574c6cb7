/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sign.c - credentials that are made without a call: tavola_sign.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "client/lib/call_error.h"
#include "domain/access/credential.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/ticks.h"

enum { US_PER_MS = 1000 };

static int64_t ticks_of(int64_t ms)
{
    return ms == 0 ? 0 : ticks_from_unix_us(ms * US_PER_MS);
}

/* The text; empty for NULL. */
static struct str text_of(const char *text)
{
    return str_of(text ? text : "");
}

static struct key_range range_of(const struct tavola_signature *signature)
{
    return (struct key_range){
        .has_low = signature->start_partition != NULL,
        .low = { text_of(signature->start_partition), text_of(signature->start_row) },
        .has_high = signature->end_partition != NULL,
        .high_has_row = signature->end_row != NULL,
        .high = { text_of(signature->end_partition), text_of(signature->end_row) },
    };
}

/* Check what credential_check cannot. Returns NULL, or what is wrong. */
static const char *read_texts(const struct tavola_signature *signature, struct credential *out)
{
    if (!signature->account || !signature->account_key)
        return "account and account_key are needed";
    if (signature->permissions &&
        !access_parse_permissions(str_of(signature->permissions), &out->permissions))
        return "permissions are letters out of \"raudit\", in this order";
    if (signature->source && !network_range_parse(str_of(signature->source), &out->source))
        return "source is an address, or two with a - between them, the lower one first";
    if (signature->start_row && !signature->start_partition)
        return "start_row needs start_partition";
    return NULL;
}

static struct credential credential_of(const struct tavola_signature *signature, struct arena *arena)
{
    return (struct credential){
        .kind = signature->table ? CREDENTIAL_SIGNATURE : CREDENTIAL_TOKEN,
        .account = text_of(signature->account),
        .issued = signature->issued_ms ? ticks_of(signature->issued_ms) : clock_ticks(),
        .start = ticks_of(signature->start_ms),
        .expiry = ticks_of(signature->expiry_ms),
        .table = signature->table ? table_name_fold(str_of(signature->table), arena) : STR_EMPTY,
        .policy = text_of(signature->policy),
        .has_source = signature->source != NULL,
        .range = range_of(signature),
        .tls_only = signature->tls_only,
    };
}

static enum tavola_code sign(
    const struct tavola_signature *signature, struct arena *arena, char **out, struct tavola_error *error)
{
    struct credential credential = credential_of(signature, arena);
    const char *mistake = read_texts(signature, &credential);
    struct account_key key;
    struct error err = { 0 };
    struct str text;

    if (mistake)
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT, "%s", mistake);
    if (!account_key_parse(str_of(signature->account_key), arena, &key))
        return call_error_set(error, TAVOLA_INVALID_ARGUMENT,
            "account_key is not a key as `tavola account create` prints it: \"tvk1.\" and 43 characters");
    if (credential_check(&credential, &err) != STATUS_OK)
        return call_error_of(&err, error);
    text = credential_sign(&credential, &key, arena);
    explicit_bzero(&key, sizeof(key));
    if (text.len > LIMIT_CREDENTIAL_BYTES)
        return call_error_set(
            error, TAVOLA_INVALID_ARGUMENT, "the signature is longer than the service accepts");
    *out = xmalloc(text.len + 1);
    memcpy(*out, text.data, text.len);
    (*out)[text.len] = '\0';
    return TAVOLA_OK;
}

enum tavola_code tavola_sign(const struct tavola_signature *signature, char **out, struct tavola_error *error)
{
    struct tavola_error own;
    struct arena arena;

    error = call_error_begin(error, &own);
    arena_init(&arena);
    (void)sign(signature, &arena, out, error);
    arena_cleanup(&arena);
    return error->code;
}
