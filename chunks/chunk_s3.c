/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_s3.c - see the header. Each request is signed. What may be a passing failure
 * is tried again, with growing pauses, while the caller waits. Objects have names that are never used again, so a
 * request that is carried out twice, or after its caller has given up, changes nothing that anything relies on.
 */
#include "chunks/chunk_s3.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/pem_file.h"
#include "base/random.h"
#include "chunks/s3_signature.h"
#include "http/object_calls.h"

enum {
    ATTEMPTS = 4,
    FIRST_PAUSE_MS = 100, /* about twice as long each time */
    SLICE_MS = 50,        /* between two looks whether the caller has given up */
    CODE_BYTES = 64,
    NOT_FOUND = 404,
    REQUEST_TIMEOUT = 408,
    TOO_MANY_REQUESTS = 429,
    FIRST_SERVER_ERROR = 500,
    HEADERS = 6,
};

struct chunk_s3 {
    struct chunk_store store; /* the first member */
    const struct chunk_settings *settings;
    struct object_calls *calls;
    struct arena arena; /* of the following texts */
    const char *host;   /* with the port, if the URL has one, and with the bucket, if that is named there */
    const char *path;   /* of the objects, without a '/' at its end */
    const char *origin; /* of the URL, up to its path */
};

/* One request with its answer. */
struct exchange {
    struct chunk_s3 *s3;
    const char *method, *name;
    struct str body;
    const struct chunk_wait *wait;
    struct arena *arena; /* of this exchange alone */
    struct object_reply reply;
};

/* ---- credentials ---- */

/* The next word of a text. */
static struct str take_word(struct str *text)
{
    size_t from = 0, len = 0;
    struct str word;

    while (from < text->len && strchr(" \t\r\n", text->data[from]))
        from++;
    *text = str_from(*text, from);
    while (len < text->len && !strchr(" \t\r\n", text->data[len]))
        len++;
    word = str_of_bytes(text->data, len);
    *text = str_from(*text, len);
    return word;
}

/* The file is read for each request, so that it may be replaced. */
static enum status read_file(
    const char *path, struct arena *arena, struct s3_request *request, struct error *err)
{
    struct pem_file file = { .path = NULL };
    enum status status = pem_file_open_text(path, &file, err);
    struct str text = status == STATUS_OK ? str_of(file.text) : STR_EMPTY;

    request->access_key = arena_copy(arena, take_word(&text));
    request->secret_key = arena_copy(arena, take_word(&text));
    request->session_token = arena_copy(arena, take_word(&text));
    if (status == STATUS_OK && (request->secret_key.len == 0 || take_word(&text).len > 0))
        status = error_set(err, STATUS_INVALID,
            "%s does not have two words, an access key and its secret, or three, with a session token", path);
    pem_file_cleanup(&file);
    return status;
}

static enum status read_credentials(
    const struct chunk_settings *settings, struct arena *arena, struct s3_request *request, struct error *err)
{
    if (settings->s3_credentials_file)
        return read_file(settings->s3_credentials_file, arena, request, err);
    request->access_key = str_of(settings->s3_access_key);
    request->secret_key = str_of(settings->s3_secret_key);
    request->session_token = settings->s3_session_token ? str_of(settings->s3_session_token) : STR_EMPTY;
    return STATUS_OK;
}

/* ---- one attempt ---- */

static void write_time(char out[S3_SIGNATURE_TIME_BYTES])
{
    time_t now = time(NULL);
    struct tm parts;

    (void)strftime(out, S3_SIGNATURE_TIME_BYTES, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &parts));
}

static enum status sign_request(
    const struct exchange *exchange, const char *path, const char *headers[HEADERS], struct error *err)
{
    struct s3_request request = { .method = exchange->method,
        .host = exchange->s3->host,
        .path = path,
        .query = "",
        .region = exchange->s3->settings->s3_region };
    struct arena *arena = exchange->arena;

    TRY(read_credentials(exchange->s3->settings, arena, &request, err));
    s3_signature_digest(exchange->body, request.digest);
    write_time(request.time);
    headers[0] = arena_format(arena, "Authorization: %s", s3_signature_make(&request, arena)).data;
    headers[1] = arena_format(arena, "x-amz-content-sha256: %s", request.digest).data;
    headers[2] = arena_format(arena, "x-amz-date: %s", request.time).data;
    headers[3] = "Content-Type: application/octet-stream";
    headers[4] = request.session_token.len > 0
                     ? arena_format(arena, "x-amz-security-token: %.*s", STR_ARG(request.session_token)).data
                     : NULL;
    headers[5] = NULL;
    return STATUS_OK;
}

static int64_t left_ms(const struct chunk_wait *wait)
{
    return (wait->until_us - clock_monotonic_us()) / 1000;
}

static enum status send_once(struct exchange *exchange, struct error *err)
{
    const struct chunk_s3 *s3 = exchange->s3;
    const char *path = arena_format(exchange->arena, "%s/%s", s3->path, exchange->name).data;
    const char *headers[HEADERS];
    int64_t timeout_ms = s3->settings->s3_timeout_s * 1000, left = left_ms(exchange->wait);
    const struct object_request request = { .method = exchange->method,
        .url = arena_format(exchange->arena, "%s%s", s3->origin, path).data,
        .headers = headers,
        .body = exchange->body,
        .max_bytes = CHUNK_STORE_MAX_BYTES,
        .timeout_ms = left < timeout_ms ? left : timeout_ms,
        .is_given_up = exchange->wait->is_given_up,
        .who = exchange->wait->who };

    if (left <= 0)
        return error_set(err, STATUS_CANCELLED, "no time is left");
    TRY(sign_request(exchange, path, headers, err));
    return object_calls_send(s3->calls, &request, exchange->arena, &exchange->reply, err);
}

/* ---- attempts ---- */

static bool is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || digits_is_decimal(c);
}

/* The error code in the body of an answer, of letters and digits; empty: it has none. */
static void read_code(struct str body, char out[CODE_BYTES])
{
    static const char mark[] = "<Code>";
    const char *found = body.len > 0 ? memmem(body.data, body.len, mark, sizeof(mark) - 1) : NULL;
    size_t len = 0;

    if (found)
        found += sizeof(mark) - 1;
    while (found && found < body.data + body.len && len < CODE_BYTES - 1 && is_plain(*found))
        out[len++] = *found++;
    out[len] = '\0';
}

static enum status refuse_answer(const struct object_reply *reply, struct error *err)
{
    char code[CODE_BYTES];

    read_code(reply->body, code);
    return error_set(err, STATUS_UNAVAILABLE, "TAVOLA_BLOB_S3_URL answers %d %s", reply->code, code);
}

static bool is_passing(int code)
{
    return code >= FIRST_SERVER_ERROR || code == REQUEST_TIMEOUT || code == TOO_MANY_REQUESTS;
}

/* false: the caller has given up, or its time is over. */
static bool pause_ms(const struct chunk_wait *wait, int64_t ms)
{
    int64_t until_us = clock_monotonic_us() + ms * 1000;

    while (clock_monotonic_us() < until_us) {
        if ((wait->is_given_up && wait->is_given_up(wait->who)) || left_ms(wait) <= 0)
            return false;
        clock_sleep(SLICE_MS * 1000);
    }
    return true;
}

/* Send until the answer is not a passing failure. The last failure is returned. */
static enum status send_all(struct exchange *exchange, struct error *err)
{
    enum status status = STATUS_UNAVAILABLE;
    int64_t pause = FIRST_PAUSE_MS;

    for (int i = 0; i < ATTEMPTS; i++) {
        arena_cleanup(exchange->arena); /* what earlier attempts have received */
        status = send_once(exchange, err);
        if (status == STATUS_OK && is_passing(exchange->reply.code))
            status = refuse_answer(&exchange->reply, err);
        else if (status != STATUS_UNAVAILABLE)
            break;
        if (i + 1 < ATTEMPTS && !pause_ms(exchange->wait, pause + (int64_t)(random_bits() % (uint64_t)pause)))
            break;
        pause *= 2;
    }
    return status;
}

static bool has_code(const struct object_reply *reply, const char *expected)
{
    char code[CODE_BYTES];

    read_code(reply->body, code);
    return strcmp(code, expected) == 0;
}

/* ---- the store ---- */

/* An answer that is not from a store, such as the page of a proxy, has no ETag. */
static enum status check_put(const struct exchange *exchange, struct error *err)
{
    if (exchange->reply.code != 200)
        return refuse_answer(&exchange->reply, err);
    return exchange->reply.has_etag
               ? STATUS_OK
               : error_set(err, STATUS_UNAVAILABLE, "the answer of TAVOLA_BLOB_S3_URL to a PUT has no ETag");
}

static enum status put_chunk(struct chunk_store *store, const char *name, struct str bytes,
    const struct chunk_wait *wait, struct error *err)
{
    struct arena arena;
    struct exchange exchange = { .s3 = (struct chunk_s3 *)store,
        .method = "PUT",
        .name = name,
        .body = bytes,
        .wait = wait,
        .arena = &arena };
    enum status status;

    arena_init(&arena);
    status = send_all(&exchange, err);
    if (status == STATUS_OK)
        status = check_put(&exchange, err);
    arena_cleanup(&arena);
    return status == STATUS_OK ? status : STATUS_UNAVAILABLE;
}

static enum status check_get(const struct exchange *exchange, struct error *err)
{
    if (exchange->reply.code == NOT_FOUND && has_code(&exchange->reply, "NoSuchKey"))
        return error_set(err, STATUS_NOT_FOUND, "there is no such object");
    return exchange->reply.code == 200 ? STATUS_OK : refuse_answer(&exchange->reply, err);
}

static enum status get_chunk(struct chunk_store *store, const char *name, const struct chunk_wait *wait,
    struct arena *arena, struct str *out, struct error *err)
{
    struct arena own;
    struct exchange exchange = { .s3 = (struct chunk_s3 *)store,
        .method = "GET",
        .name = name,
        .body = STR_EMPTY,
        .wait = wait,
        .arena = &own };
    enum status status;

    arena_init(&own);
    status = send_all(&exchange, err);
    if (status == STATUS_OK)
        status = check_get(&exchange, err);
    if (status == STATUS_OK)
        *out = arena_copy(arena, exchange.reply.body);
    arena_cleanup(&own);
    return status == STATUS_CANCELLED || status == STATUS_INVALID ? STATUS_UNAVAILABLE : status;
}

static enum status remove_chunk(
    struct chunk_store *store, const char *name, const struct chunk_wait *wait, struct error *err)
{
    struct arena arena;
    struct exchange exchange = { .s3 = (struct chunk_s3 *)store,
        .method = "DELETE",
        .name = name,
        .body = STR_EMPTY,
        .wait = wait,
        .arena = &arena };
    enum status status;

    arena_init(&arena);
    status = send_all(&exchange, err);
    if (status == STATUS_OK && exchange.reply.code != 200 && exchange.reply.code != 204 &&
        !(exchange.reply.code == NOT_FOUND && has_code(&exchange.reply, "NoSuchKey")))
        status = refuse_answer(&exchange.reply, err);
    arena_cleanup(&arena);
    return status == STATUS_OK ? status : STATUS_UNAVAILABLE;
}

static void free_s3(struct chunk_store *store)
{
    struct chunk_s3 *s3 = (struct chunk_s3 *)store;

    object_calls_close(s3->calls);
    arena_cleanup(&s3->arena);
    free(s3);
}

static const struct chunk_store_calls calls = {
    .put = put_chunk, .get = get_chunk, .remove = remove_chunk, .close = free_s3
};

/* ---- opening ---- */

/* chunk_settings_is_s3_url has accepted it: SCHEME://HOST/BUCKET. */
static void split_url(struct chunk_s3 *s3, const char *url)
{
    const char *host = strstr(url, "://") + 3, *path = strchr(host, '/');
    size_t len = strlen(path);

    while (len > 0 && path[len - 1] == '/')
        len--;
    s3->host = arena_copy(&s3->arena, str_of_bytes(host, (size_t)(path - host))).data;
    s3->origin = arena_copy(&s3->arena, str_of_bytes(url, (size_t)(path - url))).data;
    s3->path = arena_copy(&s3->arena, str_of_bytes(path, len)).data;
}

/* The bucket, which is the first part of the path, becomes that of the host. */
static void move_bucket(struct chunk_s3 *s3)
{
    size_t len = strcspn(s3->path + 1, "/"), scheme = (size_t)(strstr(s3->origin, "://") + 3 - s3->origin);

    s3->host = arena_format(&s3->arena, "%.*s.%s", (int)len, s3->path + 1, s3->host).data;
    s3->origin = arena_format(&s3->arena, "%.*s%s", (int)scheme, s3->origin, s3->host).data;
    s3->path += 1 + len;
}

enum status chunk_s3_open(const struct chunk_settings *settings, struct chunk_store **out, struct error *err)
{
    bool has_keys = settings->s3_access_key && settings->s3_secret_key;
    struct chunk_s3 *s3;

    if (has_keys == (settings->s3_credentials_file != NULL) ||
        (settings->s3_access_key != NULL) != (settings->s3_secret_key != NULL) ||
        (settings->s3_session_token && !has_keys))
        return error_set(err, STATUS_INVALID,
            "TAVOLA_BLOB_S3_URL needs TAVOLA_BLOB_S3_CREDENTIALS_FILE, or TAVOLA_BLOB_S3_ACCESS_KEY and "
            "TAVOLA_BLOB_S3_SECRET_KEY, perhaps with TAVOLA_BLOB_S3_SESSION_TOKEN, and not both");
    s3 = xcalloc(1, sizeof(*s3));
    *s3 = (struct chunk_s3){
        .store = { &calls }, .settings = settings, .calls = object_calls_open(settings->s3_ca)
    };
    arena_init(&s3->arena);
    split_url(s3, settings->s3_url);
    if (settings->s3_addressing == S3_ADDRESSING_HOST)
        move_bucket(s3);
    *out = &s3->store;
    return STATUS_OK;
}
