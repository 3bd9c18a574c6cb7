/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_account.c - see the header. Requests with a key are signed as SharedKeyLite (odata/access/shared_key.h).
 */
#include "client/storage_account.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "base/buf.h"

/* The account of the public emulators, whose key is published in their documents. */
static const char development[] =
    "AccountName=devstoreaccount1;AccountKey="
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1";

/* ---- the connection string ---- */

static struct str part_of(struct str text, const char *name)
{
    while (text.len > 0) {
        struct str part = str_trim(str_take(&text, ';'), " \t\r\n");
        struct str key = str_take(&part, '=');

        if (str_equal_any_case(key, str_of(name)))
            return part;
    }
    return STR_EMPTY;
}

static enum status refuse_connection(const char *text, struct error *err)
{
    return error_set(err, STATUS_INVALID, "the connection string %s", text);
}

static struct str endpoint_of(struct str text, struct str name, struct arena *arena)
{
    struct str endpoint = part_of(text, "TableEndpoint"),
               protocol = part_of(text, "DefaultEndpointsProtocol"), suffix = part_of(text, "EndpointSuffix");

    if (endpoint.len == 0)
        endpoint = arena_format(arena, "%.*s://%.*s.table.%.*s",
            STR_ARG(protocol.len > 0 ? protocol : STR_LITERAL("https")), STR_ARG(name),
            STR_ARG(suffix.len > 0 ? suffix : STR_LITERAL("core.windows.net")));
    while (endpoint.len > 0 && endpoint.data[endpoint.len - 1] == '/')
        endpoint.len--;
    return endpoint;
}

static struct str path_of(struct str endpoint)
{
    const char *host = memmem(endpoint.data, endpoint.len, "://", 3);
    size_t begin = host ? (size_t)(host - endpoint.data) + 3 : endpoint.len;

    while (begin < endpoint.len && endpoint.data[begin] != '/')
        begin++;
    return str_from(endpoint, begin);
}

enum status storage_account_parse(
    struct str text, struct arena *arena, struct storage_account *out, struct error *err)
{
    struct storage_account account = { .key = STR_EMPTY };
    struct str key;

    text = arena_copy(arena, str_trim(text, " \t\r\n"));
    if (str_equal_any_case(part_of(text, "UseDevelopmentStorage"), STR_LITERAL("true")))
        text = str_of(development);
    account.name = part_of(text, "AccountName");
    account.signature = part_of(text, "SharedAccessSignature");
    if (account.signature.len > 0 && *account.signature.data == '?')
        account.signature = str_from(account.signature, 1);
    key = part_of(text, "AccountKey");
    account.endpoint = endpoint_of(text, account.name, arena);
    account.path = path_of(account.endpoint);
    if (account.name.len == 0 && part_of(text, "TableEndpoint").len == 0)
        return refuse_connection("has neither AccountName nor TableEndpoint", err);
    if (key.len == 0 && account.signature.len == 0)
        return refuse_connection("has neither AccountKey nor SharedAccessSignature", err);
    if (key.len > 0 && account.name.len == 0)
        return refuse_connection("has an AccountKey and no AccountName", err);
    if (key.len > 0 && !json_forms_read_bytes(key, arena, &account.key))
        return refuse_connection("has an AccountKey that is not base64", err);
    if (!str_starts_with(account.endpoint, STR_LITERAL("http://")) &&
        !str_starts_with(account.endpoint, STR_LITERAL("https://")))
        return refuse_connection("has an endpoint that is not of http or https", err);
    *out = account;
    return STATUS_OK;
}

/* ---- requests ---- */

const char *storage_account_url(
    const struct storage_account *account, struct str table, struct str position, struct arena *arena)
{
    struct str query = position;

    if (account->signature.len > 0)
        query = arena_format(
            arena, "%.*s%s%.*s", STR_ARG(position), position.len > 0 ? "&" : "", STR_ARG(account->signature));
    return arena_format(arena, "%.*s/%.*s()%s%.*s", STR_ARG(account->endpoint), STR_ARG(table),
        query.len > 0 ? "?" : "", STR_ARG(query))
        .data;
}

const char *storage_account_authorization(
    const struct storage_account *account, struct str table, struct str date, struct arena *arena)
{
    struct str content = arena_format(arena, "%.*s\n/%.*s%.*s/%.*s()", STR_ARG(date), STR_ARG(account->name),
        STR_ARG(account->path), STR_ARG(table));
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    struct buf code;

    if (account->key.len == 0)
        return NULL;
    if (!HMAC(EVP_sha256(), account->key.data, (int)account->key.len, (const unsigned char *)content.data,
            content.len, hash, &len))
        return NULL;
    buf_init(&code, arena);
    json_forms_write_bytes(&code, str_of_bytes(hash, len));
    return arena_format(
        arena, "Authorization: SharedKeyLite %.*s:%.*s", STR_ARG(account->name), STR_ARG(buf_str(&code)))
        .data;
}

static void append_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (isalnum((unsigned char)text.data[i]) || strchr("-._~", text.data[i]))
            buf_append_byte(out, (uint8_t)text.data[i]);
        else
            buf_format(out, "%%%02X", (unsigned char)text.data[i]);
}

struct str storage_account_position(struct str next_partition, struct str next_row, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    if (next_partition.len == 0 && next_row.len == 0)
        return STR_EMPTY;
    buf_append(&out, STR_LITERAL("NextPartitionKey="));
    append_escaped(&out, next_partition);
    if (next_row.len > 0) {
        buf_append(&out, STR_LITERAL("&NextRowKey="));
        append_escaped(&out, next_row);
    }
    return buf_str(&out);
}

/* ---- pages ---- */

/* The position behind a text in quotes that begins at `at`. */
static size_t behind_text(struct str page, size_t at)
{
    for (at++; at < page.len && page.data[at] != '"'; at++)
        if (page.data[at] == '\\')
            at++;
    return at + 1;
}

/* Move to the list of entities: the first "[" inside the object. false: there is none. */
static bool find_list(struct str page, size_t *at)
{
    while (*at < page.len && page.data[*at] != '[')
        *at = page.data[*at] == '"' ? behind_text(page, *at) : *at + 1;
    ++*at;
    return *at <= page.len;
}

bool storage_account_next(struct str page, size_t *at, struct str *entity, bool *is_page)
{
    size_t begin, depth = 0;

    *is_page = *at > 0 || find_list(page, at);
    while (*at < page.len && page.data[*at] != '{' && page.data[*at] != ']')
        ++*at;
    if (*at >= page.len || page.data[*at] == ']') {
        *is_page = *is_page && *at < page.len;
        return false;
    }
    for (begin = *at; *at < page.len;) {
        char c = page.data[*at];

        depth += c == '{';
        depth -= c == '}';
        *at = c == '"' ? behind_text(page, *at) : *at + 1;
        if (depth == 0) {
            *entity = str_of_bytes(page.data + begin, *at - begin);
            return true;
        }
    }
    *is_page = false; /* the text ends inside an entity */
    return false;
}
