/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_request_credential.c - any bytes as the parts of a REST request, one a line: method, path, query, Authorization,
 * date, Content-Type. The credential is refused, or can be checked; none is accepted without a key's signature. What is
 * signed has as many lines as its form, so no value of one line can pass for another.
 */
#include "domain/access/credential.h"
#include "odata/access/request_credential.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_request_credential;

static const struct account account = { .keys = { { { 1 } }, { { 2 } } } };

static size_t lines_of(struct str text)
{
    size_t lines = 1;

    for (size_t i = 0; i < text.len; i++)
        lines += text.data[i] == '\n';
    return lines;
}

static void check_signed_text(const struct credential *credential)
{
    size_t lines = lines_of(credential->fields);

    switch (credential->kind) {
    case CREDENTIAL_SIGNED_REQUEST:
        fuzz_require(lines == 2 || lines == 5);
        return;
    case CREDENTIAL_TABLE_SIGNATURE:
        fuzz_require(lines == 12 || (lines == 10 && !credential->has_source && !credential->tls_only));
        return;
    case CREDENTIAL_ACCOUNT_SIGNATURE:
        fuzz_require((lines == 10 || lines == 11) && credential->table.len == 0);
        return;
    case CREDENTIAL_TOKEN:
    case CREDENTIAL_SIGNATURE:
        return;
    case CREDENTIAL_BEARER:
        break;
    }
    fuzz_require(false);
}

void fuzz_request_credential(struct str input)
{
    struct str *parts[6];
    struct signed_request request = { .account = STR_LITERAL("acme") };
    struct request_credential read;
    struct arena arena;

    arena_init(&arena);
    parts[0] = &request.method;
    parts[1] = &request.path;
    parts[2] = &request.query;
    parts[3] = &request.authorization;
    parts[4] = &request.date;
    parts[5] = &request.content_type;
    for (size_t i = 0; i < 5; i++)
        *parts[i] = str_take(&input, '\n');
    *parts[5] = input;
    request.is_secondary = request.method.len > 0 && request.method.data[0] == 's';
    if (request_credential_read(&request, &arena, &read, NULL) == STATUS_OK &&
        read.form == PRESENTED_CREDENTIAL) {
        fuzz_require(credential_check(&read.credential, NULL) == STATUS_OK);
        fuzz_require(read.text.len > 0 && read.credential.signature.len == CREDENTIAL_HASH_BYTES);
        fuzz_require(!credential_is_genuine(&read.credential, &account));
        check_signed_text(&read.credential);
    }
    arena_cleanup(&arena);
}
