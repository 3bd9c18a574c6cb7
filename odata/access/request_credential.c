/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_credential.c - see the header.
 */
#include "odata/access/request_credential.h"

#include <strings.h>

#include "base/buf.h"
#include "odata/access/shared_access_signature.h"
#include "odata/access/shared_key.h"

/*
 * Take the name of the scheme and the spaces behind it off the header. false: the header has another scheme.
 */
static bool take_scheme(struct str *header, const char *scheme)
{
    size_t len = strlen(scheme);

    if (header->len <= len || header->data[len] != ' ' || strncasecmp(header->data, scheme, len) != 0)
        return false;
    *header = str_from(*header, len);
    while (header->len > 0 && header->data[0] == ' ')
        *header = str_from(*header, 1);
    return true;
}

/*
 * A text that identifies the credential: the account, the signature and the signed text. It cannot be equal
 * to one of our own tokens: these begin with a word and a dot, and an account's name has no dot.
 */
static struct str text_of(const struct credential *credential, struct arena *arena)
{
    struct buf text;

    buf_init(&text, arena);
    buf_append(&text, credential->account);
    buf_append_byte(&text, '\n');
    buf_append(&text, credential->signature);
    buf_append(&text, credential->fields);
    return buf_str(&text);
}

bool request_credential_is_line(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (((unsigned char)text.data[i] < ' ' && text.data[i] != '\t') || text.data[i] == 0x7F)
            return false;
    return true;
}

static bool read_bearer(const struct signed_request *request, struct str token, struct arena *arena,
    struct request_credential *out)
{
    out->text = token;
    out->form = PRESENTED_BEARER;
    if (!credential_parse(token, arena, &out->credential))
        return token.len > 0;
    out->form = PRESENTED_CREDENTIAL;
    return str_equal(out->credential.account, request->account);
}

static bool read_header(
    const struct signed_request *request, struct arena *arena, struct request_credential *out)
{
    struct str text = request->authorization;
    bool is_lite;

    if (take_scheme(&text, "Bearer"))
        return read_bearer(request, text, arena, out);
    is_lite = take_scheme(&text, "SharedKeyLite");
    if (!is_lite && !take_scheme(&text, "SharedKey"))
        return false;
    out->form = PRESENTED_CREDENTIAL;
    if (!shared_key_read(request, is_lite ? SHARED_KEY_LITE : SHARED_KEY_FULL, text, arena, &out->credential))
        return false;
    out->text = text_of(&out->credential, arena);
    return true;
}

static bool read_query(
    const struct signed_request *request, struct arena *arena, struct request_credential *out)
{
    out->form = PRESENTED_CREDENTIAL;
    if (!shared_access_signature_read(request, arena, &out->credential))
        return false;
    out->text = text_of(&out->credential, arena);
    return true;
}

enum status request_credential_read(const struct signed_request *request, struct arena *arena,
    struct request_credential *out, struct error *err)
{
    bool has_header = request->authorization.len > 0;
    bool has_signature = shared_access_signature_is_in(request->query);

    *out = (struct request_credential){ .form = PRESENTED_NOTHING };
    if (!has_header && !has_signature)
        return STATUS_OK;
    if (has_header && has_signature)
        return credential_refuse(err);
    if (has_header ? !read_header(request, arena, out) : !read_query(request, arena, out))
        return credential_refuse(err);
    return STATUS_OK;
}
