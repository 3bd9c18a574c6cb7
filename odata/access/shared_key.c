/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_key.c - see the header.
 */
#include "odata/access/shared_key.h"

#include "api/json/json_forms.h"
#include "base/buf.h"
#include "odata/access/http_date.h"
#include "odata/odata_uri.h"

#define SECONDARY STR_LITERAL("-secondary")

static struct str date_of(const struct signed_request *request)
{
    return request->ms_date.len > 0 ? request->ms_date : request->date;
}

/* Append the path without "-secondary" behind the account, its first segment; false: it has no such suffix. */
static bool append_primary_path(struct buf *out, const struct signed_request *request)
{
    struct str rest = str_from(request->path, 1);
    struct str segment = str_take(&rest, '/');

    if (!request->is_secondary || segment.len != request->account.len + SECONDARY.len ||
        !str_starts_with(segment, request->account))
        return false;
    buf_format(out, "/%.*s", STR_ARG(request->account));
    buf_append(out, str_from(request->path, 1 + segment.len));
    return true;
}

static void append_comp(struct buf *out, struct str query, struct arena *arena)
{
    struct str name, value;

    while (odata_uri_take_parameter(&query, &name, &value))
        if (str_equal(name, STR_LITERAL("comp")) && odata_uri_decode(value, ODATA_URI_QUERY, arena, &value) &&
            request_credential_is_line(value)) {
            buf_format(out, "?comp=%.*s", STR_ARG(value));
            return;
        }
}

static void append_head(struct buf *out, const struct signed_request *request, enum shared_key_scheme scheme)
{
    if (scheme == SHARED_KEY_FULL)
        buf_format(out, "%.*s\n%.*s\n%.*s\n", STR_ARG(request->method), STR_ARG(request->content_md5),
            STR_ARG(request->content_type));
    buf_format(out, "%.*s\n/%.*s", STR_ARG(date_of(request)), STR_ARG(request->account));
}

struct str shared_key_content(
    const struct signed_request *request, enum shared_key_scheme scheme, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    append_head(&out, request, scheme);
    buf_append(&out, request->path.len > 0 ? request->path : STR_LITERAL("/"));
    append_comp(&out, request->query, arena);
    return buf_str(&out);
}

struct str shared_key_primary_content(
    const struct signed_request *request, enum shared_key_scheme scheme, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    append_head(&out, request, scheme);
    if (!append_primary_path(&out, request))
        return STR_EMPTY;
    append_comp(&out, request->query, arena);
    return buf_str(&out);
}

static bool has_lines_only(const struct signed_request *request)
{
    return request_credential_is_line(request->method) && request_credential_is_line(request->content_md5) &&
           request_credential_is_line(request->content_type) && request_credential_is_line(request->path);
}

bool shared_key_read(const struct signed_request *request, enum shared_key_scheme scheme, struct str text,
    struct arena *arena, struct credential *out)
{
    struct credential credential = { .kind = CREDENTIAL_SIGNED_REQUEST };

    credential.account = str_take(&text, ':');
    if (!str_equal(credential.account, request->account) ||
        !json_forms_read_bytes(text, arena, &credential.signature) ||
        credential.signature.len != CREDENTIAL_HASH_BYTES ||
        !http_date_parse(date_of(request), &credential.issued) || !has_lines_only(request))
        return false;
    credential.fields = shared_key_content(request, scheme, arena);
    credential.other_fields = shared_key_primary_content(request, scheme, arena);
    if (credential_check(&credential, NULL) != STATUS_OK)
        return false;
    *out = credential;
    return true;
}
